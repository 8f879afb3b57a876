"""A recoding by classes in the engine: what each class shows, and which class each row type goes to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.engines.base import Engine
from discreet.engines.scratch import TemporaryTables
from discreet.model.cells import Cells
from discreet.model.class_recoding import SUPPRESSED, ClassRecoding
from discreet.model.frequency_set import FrequencySet
from discreet.recoding.stored_classes import CountedTable, StoredClasses
from discreet.recoding.words import pack_words, packed
from discreet.sql import recode
from discreet.sql import recode_classes as sql


@dataclass(frozen=True)
class Loaded:
    """The tables of a recoding.

    ``labels`` has what each published class shows, ``numbers`` the rows that it should have, ``row_types``
    the published class of each row type by its ``words``, ``parts`` those of row types that are split.
    """

    labels: str
    numbers: str
    words: tuple[sql.Word, ...]
    row_types: str
    parts: str | None


def load_recoding(
    engine: Engine,
    tables: TemporaryTables,
    counted: CountedTable,
    recoding: ClassRecoding | StoredClasses,
) -> Loaded:
    """Load a recoding; classes that show the same texts get one number.

    Arrays speak of the row types of ``counted``, which is their frequency set then.
    """
    words = pack_words([hierarchy.null_code + 1 for hierarchy in counted.hierarchies])
    parts: dict[str, NDArray[np.int64]] | None = None
    if isinstance(recoding, StoredClasses):
        shown = tables.create(sql.stored_shown(recoding.shown, len(recoding.attributes)))
        row_types = tables.create(sql.stored_row_types(engine.dialect, recoding.row_types, words))
        texts = [sql.Labels(table) for table in recoding.labels]
    else:
        assert isinstance(counted, FrequencySet)
        labels, shown_columns = _shown_columns(recoding)
        texts = [sql.Labels(_load_texts(tables, held)) for held in labels]
        shown = tables.load(shown_columns)
        class_of, parts = _split(recoding, counted.row_types)
        columns = {sql.word_name(i): packed(counted.codes, word) for i, word in enumerate(words)}
        row_types = tables.load({**columns, sql.CLASS: class_of})
    keys = len(recoding.attributes)
    dialect = engine.dialect
    published = tables.create(sql.number_classes(dialect, shown, keys))
    labelled = tables.create(sql.labels_table(dialect, published, texts))

    def numbered(table: str, kept: Sequence[str]) -> str:
        name = tables.create(sql.with_numbers(dialect, table, shown, published, keys, kept))
        tables.drop(table)
        return name

    return Loaded(
        labels=labelled,
        numbers=published,
        words=words,
        row_types=numbered(row_types, [sql.word_name(i) for i in range(len(words))]),
        parts=None if parts is None else numbered(tables.load(parts), ["split", sql.FIRST, sql.ROWS]),
    )


def _shown_columns(recoding: ClassRecoding) -> tuple[list[list[str | None]], dict[str, NDArray[np.int64]]]:
    """The texts of each attribute by number, and the numbers that each class shows, with its rows."""
    columns: dict[str, NDArray[np.int64]] = {sql.CLASS: np.arange(recoding.class_count)}
    labels = []
    for i, cells in enumerate(recoding.cells):
        numbers, texts = labels_by_text(cells)
        columns[recode.key_name(i)] = numbers[recoding.shown[:, i]]
        labels.append(texts)
    columns[sql.ROWS] = recoding.class_rows()
    present = columns[sql.ROWS] > 0
    return labels, {name: column[present] for name, column in columns.items()}


def _load_texts(tables: TemporaryTables, texts: list[str | None]) -> str:
    return tables.load({recode.POSITION: np.arange(len(texts), dtype=np.int64), recode.LABEL: texts})


def labels_by_text(cells: Cells) -> tuple[NDArray[np.int64], list[str | None]]:
    """Each cell's number by its text, and the texts by number: cells of one text are one."""
    number: dict[str | None, int] = {}
    numbers = [number.setdefault(label, len(number)) for label in cells.labels]
    return np.array(numbers, dtype=np.int64), list(number)


def _split(
    recoding: ClassRecoding, row_types: int
) -> tuple[NDArray[np.int64], dict[str, NDArray[np.int64]] | None]:
    """The class of each row type, a number of its own from ``FIRST_SPLIT`` down where it has several parts.

    Then those parts: the split's number, the place of its first row from 1, and its class.
    """
    types = recoding.row_types
    class_of = np.full(row_types, SUPPRESSED, dtype=np.int64)
    class_of[types] = recoding.classes
    split = np.flatnonzero(np.bincount(types, minlength=row_types) > 1)
    if not len(split):
        return class_of, None
    number = np.zeros(row_types, dtype=np.int64)
    number[split] = sql.FIRST_SPLIT - np.arange(len(split))
    class_of[split] = number[split]
    inside = number[types] < 0
    before = np.cumsum(recoding.rows) - recoding.rows
    starts = before[np.searchsorted(types, types[inside])]
    return class_of, {
        "split": number[types[inside]],
        sql.FIRST: before[inside] - starts + 1,
        sql.ROWS: recoding.rows[inside],
        sql.CLASS: recoding.classes[inside],
    }
