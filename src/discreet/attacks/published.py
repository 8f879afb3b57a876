"""A release as an attacker has it: classes of rows that look alike, and the sensitive values beside them.

Only the published file is read. Rows that agree in all quasi-identifiers are one class, whatever recoding
made them; a starred row is in none. Where a release permutes its sensitive values within groups, what can be
learnt of a person is what the person's group holds, so that values are then counted by group and not by
class.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from discreet.engines.base import Engine, SourceTable
from discreet.engines.connect import engine_for
from discreet.engines.scratch import opened
from discreet.errors import InputError
from discreet.measures.generalized_table import merged
from discreet.model.hierarchy import TOP
from discreet.model.starred_cells import is_star
from discreet.model.table_spec import SourceSpec
from discreet.settings import Settings
from discreet.workload.answerable import source_of
from discreet.workload.counting import CountedColumns, count_columns, count_starred

NO_VALUE = -1


@dataclass(frozen=True, eq=False)
class ValueCounts:
    """How often each sensitive value stands in each unit, a class or a group.

    Entry j says that ``rows[j]`` rows of unit ``units[j]`` have value ``values[j]``, a place in ``texts`` or
    ``NO_VALUE``; entries are distinct pairs. ``unit_rows`` holds the rows of each unit.
    """

    attribute: str
    texts: tuple[str, ...]
    units: NDArray[np.int64]
    values: NDArray[np.int64]
    rows: NDArray[np.int64]
    unit_rows: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class PublishedTable:
    """What a release shows.

    Class c shows ``labels[i][shown[c, i]]`` for quasi-identifier i, the last label of each being NULL, in
    ``rows[c]`` rows. ``by_group`` says that ``sensitive`` counts values by group. ``starred`` rows are in no
    class.
    """

    attributes: tuple[str, ...]
    labels: tuple[tuple[str | None, ...], ...]
    shown: NDArray[np.int64]
    rows: NDArray[np.int64]
    sensitive: tuple[ValueCounts, ...]
    starred: int = 0
    by_group: bool = False

    @property
    def total(self) -> int:
        """The rows that are in a class."""
        return int(self.rows.sum())

    @property
    def classes(self) -> int:
        """The number of classes."""
        return len(self.rows)


@dataclass(frozen=True)
class PublishedColumns:
    """Which columns of a release are what.

    ``starred`` says whether the release may have rows of stars alone. ``group`` is the column of groups
    within which the sensitive values are permuted; ``values_source`` is where they lie
    apart. ``table`` names the release's table in a database file.
    """

    quasi_identifiers: tuple[str, ...]
    sensitive: tuple[str, ...]
    starred: bool = True
    group: str | None = None
    values_source: SourceSpec | None = None
    table: str | None = None


def read_published(
    engine: Engine,
    release: Path | SourceSpec,
    columns: PublishedColumns,
    settings: Settings,
    null_values: Sequence[str] = (),
) -> PublishedTable:
    """Read a release, a file or a table of a database; one scan, two where sensitive values lie apart.

    ``InputError`` for a file that cannot be read, a column that it lacks, or no quasi-identifier at all.
    """
    if not columns.quasi_identifiers:
        raise InputError(
            "no quasi-identifier was named, so nobody can be singled out",
            advice="Name the columns that an attacker may know, each by --quasi-identifier COLUMN.",
        )
    names = columns.quasi_identifiers
    beside = (*columns.sensitive, *([columns.group] if columns.group else []))
    apart = columns.values_source is not None
    source = source_of(release, null_values)
    if columns.table is not None:
        source = replace(source, table=columns.table)
    with engine_for(engine, settings, source) as reader, opened(reader, source) as table:
        counted, starred = _count(reader, table, (*names, *(() if apart else beside)), columns, settings)
    keys, class_of = _numbered(counted.codes[:, : len(names)])
    rows = np.bincount(class_of, counted.rows, minlength=len(keys)).astype(np.int64)
    return PublishedTable(
        attributes=names,
        labels=tuple((*texts, None) for texts in counted.texts[: len(names)]),
        shown=keys,
        rows=rows,
        sensitive=_sensitive(engine, columns, counted, class_of, settings, null_values),
        starred=starred,
        by_group=columns.group is not None,
    )


def _count(
    engine: Engine,
    table: SourceTable,
    names: Sequence[str],
    columns: PublishedColumns,
    settings: Settings,
) -> tuple[CountedColumns, int]:
    """The groups of rows by some columns without the starred rows, and how many those are."""
    counted = count_columns(engine, table, names, settings)
    starred = count_starred(engine, table) if columns.starred else 0
    if not starred:
        return counted, 0
    stars = np.ones(len(counted.rows), dtype=np.bool_)
    for i, texts in enumerate(counted.texts):
        stars &= counted.codes[:, i] == (texts.index(TOP) if TOP in texts else -1)
    rows = counted.rows.copy()
    rows[stars] -= np.minimum(rows[stars], starred)
    kept = rows > 0
    return CountedColumns(counted.columns, counted.texts, counted.codes[kept], rows[kept]), starred


def _sensitive(
    engine: Engine,
    columns: PublishedColumns,
    counted: CountedColumns,
    class_of: NDArray[np.int64],
    settings: Settings,
    null_values: Sequence[str],
) -> tuple[ValueCounts, ...]:
    """The values of each sensitive attribute by class, or by group."""
    if columns.group is None:
        return tuple(_values(counted, name, class_of) for name in columns.sensitive)
    if columns.values_source is not None:
        source = source_of(columns.values_source, null_values)
        with engine_for(engine, settings, source) as reader, opened(reader, source) as table:
            counted = count_columns(reader, table, (columns.group, *columns.sensitive), settings)
    _, group_of = _numbered(counted.codes[:, [counted.columns.index(columns.group)]])
    return tuple(_values(counted, name, group_of) for name in columns.sensitive)


def _values(counted: CountedColumns, name: str, unit_of: NDArray[np.int64]) -> ValueCounts:
    place = counted.columns.index(name)
    told = counted.texts[place]
    texts = tuple(text for text in told if not is_star(text))
    place_of = {text: code for code, text in enumerate(texts)}
    codes = np.array([*(place_of.get(text, NO_VALUE) for text in told), NO_VALUE])[counted.codes[:, place]]
    pairs, rows = merged(np.column_stack([unit_of, codes]), counted.rows)
    return ValueCounts(
        attribute=name,
        texts=texts,
        units=pairs[:, 0],
        values=pairs[:, 1],
        rows=rows,
        unit_rows=np.bincount(pairs[:, 0], rows).astype(np.int64),
    )


def _numbered(codes: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The distinct rows of ``codes`` in lexicographic order, and the place of each row among them."""
    if not len(codes):
        return codes, np.empty(0, dtype=np.int64)
    order = np.lexsort(codes.T[::-1])
    ordered = codes[order]
    starts = np.concatenate(([True], (ordered[1:] != ordered[:-1]).any(axis=1)))
    place = np.empty(len(codes), dtype=np.int64)
    place[order] = np.cumsum(starts) - 1
    return ordered[starts], place
