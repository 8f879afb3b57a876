"""Published classes of a recoding: decided from arrays, and loaded into tables of the engine.

``ClassDecision`` contains the published values of each class and the class of each row type, decided from
arrays. Classes are numbered in the order of their published values, so that sorting by number reveals nothing
else. ``load_recoding`` creates the tables of labels, rows and row types, with leaf codes packed into words of
at most 62 bits. A recoding by classes is checked first: its parts must be the rows of the table, and every
cell must cover the leaves of its rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeGuard

import numpy as np
from numpy.typing import NDArray

from discreet.engines.base import Engine
from discreet.engines.source_tables import TemporaryTables
from discreet.errors import InputError, InternalError
from discreet.frequency.fact_counter import find_failing_classes
from discreet.frequency.rollup import count_matching_people
from discreet.model.class_recoding import SUPPRESSED, ClassRecoding
from discreet.model.frequency_set import FrequencySet
from discreet.model.hierarchy import GeneralizationHierarchy
from discreet.model.published_cells import Cells, has_only_leaves
from discreet.model.search_result import FullDomainRecoding
from discreet.model.table_spec import TableSpec
from discreet.recoding.stored_classes import CountedTable, StoredClasses
from discreet.sql import recoded_classes as sql
from discreet.sql import recoded_rows
from discreet.sql.recoded_classes import Word
from discreet.sql.recoded_rows import STAR

_WORD_VALUES = 1 << 62


def pack_words(sizes: Sequence[int]) -> tuple[tuple[tuple[int, int], ...], ...]:
    """Assign columns of ``0 … size - 1`` in order to words of at most 62 bits, each with its factor."""
    words: list[list[tuple[int, int]]] = [[]]
    span = 1
    for i, size in enumerate(sizes):
        if span * size > _WORD_VALUES:
            words.append([])
            span = 1
        words[-1].append((i, span))
        span *= size
    return tuple(tuple(word) for word in words)


def pack_codes(codes: NDArray[np.int64], word: Word) -> NDArray[np.int64]:
    """Compute the word of each row of codes, shape ``(rows,)``."""
    result = np.zeros(len(codes), dtype=np.int64)
    for i, factor in word:
        result += codes[:, i] * factor
    return result


@dataclass(frozen=True)
class LoadedRecoding:
    """Tables of a recoding.

    ``labels`` contains the labels of each published class, ``numbers`` its expected rows, ``row_types`` the
    published class of each row type by its ``words``, ``parts`` the classes of row types that are split.
    """

    labels: str
    numbers: str
    words: tuple[sql.Word, ...]
    row_types: str
    parts: str | None


def load_recoding(
    engine: Engine, tables: TemporaryTables, counted: CountedTable, recoding: ClassRecoding | StoredClasses
) -> LoadedRecoding:
    """Load a recoding; classes with the same labels get one number.

    The arrays of a ``ClassRecoding`` refer to the row types of ``counted``, which must be a frequency set.
    """
    words = pack_words([hierarchy.null_code + 1 for hierarchy in counted.hierarchies])
    parts: dict[str, NDArray[np.int64]] | None = None
    if isinstance(recoding, StoredClasses):
        class_cells = tables.create(sql.stored_class_cells(recoding.class_cells, len(recoding.attributes)))
        row_types = tables.create(sql.stored_row_types(engine.dialect, recoding.row_types, words))
        texts = [sql.AttributeLabels(table) for table in recoding.labels]
    else:
        assert isinstance(counted, FrequencySet)
        labels, shown_columns = _class_columns(recoding)
        texts = [sql.AttributeLabels(load_texts(tables, column_labels)) for column_labels in labels]
        class_cells = tables.load(shown_columns)
        class_of, parts = _split_row_types(recoding, counted.row_types)
        columns = {sql.word_name(i): pack_codes(counted.codes, word) for i, word in enumerate(words)}
        row_types = tables.load({**columns, sql.CLASS_COLUMN: class_of})
    keys = len(recoding.attributes)
    dialect = engine.dialect
    published = tables.create(sql.published_class_numbers(dialect, class_cells, keys))
    labelled = tables.create(sql.labels_table(dialect, published, texts))

    def numbered(table: str, other_columns: Sequence[str]) -> str:
        name = tables.create(sql.with_numbers(dialect, table, class_cells, published, keys, other_columns))
        tables.drop(table)
        return name

    return LoadedRecoding(
        labels=labelled,
        numbers=published,
        words=words,
        row_types=numbered(row_types, [sql.word_name(i) for i in range(len(words))]),
        parts=None
        if parts is None
        else numbered(tables.load(parts), ["split", sql.FIRST_PLACE, sql.CLASS_ROWS]),
    )


def _class_columns(recoding: ClassRecoding) -> tuple[list[list[str | None]], dict[str, NDArray[np.int64]]]:
    """Return the texts of each attribute by number, and the columns of the classes: text numbers and rows."""
    columns: dict[str, NDArray[np.int64]] = {sql.CLASS_COLUMN: np.arange(recoding.class_count)}
    labels = []
    for i, cells in enumerate(recoding.cells):
        numbers, texts = number_labels(cells)
        columns[recoded_rows.key_name(i)] = numbers[recoding.shown[:, i]]
        labels.append(texts)
    columns[sql.CLASS_ROWS] = recoding.class_rows()
    present = columns[sql.CLASS_ROWS] > 0
    return labels, {name: column[present] for name, column in columns.items()}


def load_texts(tables: TemporaryTables, texts: Sequence[str | None]) -> str:
    """Load texts with their positions into a table, and return its name."""
    return tables.load({recoded_rows.POSITION: np.arange(len(texts)), recoded_rows.LABEL_TEXT: list(texts)})


def number_labels(cells: Cells) -> tuple[NDArray[np.int64], list[str | None]]:
    """Number the cells by their texts, and return the texts by number; cells of equal text share one."""
    number: dict[str | None, int] = {}
    numbers = [number.setdefault(label, len(number)) for label in cells.labels]
    return np.array(numbers, dtype=np.int64), list(number)


def _split_row_types(
    recoding: ClassRecoding, row_types: int
) -> tuple[NDArray[np.int64], dict[str, NDArray[np.int64]] | None]:
    """Return the class of each row type and the parts of the row types that are split, or None.

    A split row type gets a number of its own, from ``FIRST_SPLIT`` down. Each part has the split's number,
    the position of its first row from 1, its rows and its class.
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
        sql.FIRST_PLACE: before[inside] - starts + 1,
        sql.CLASS_ROWS: recoding.rows[inside],
        sql.CLASS_COLUMN: recoding.classes[inside],
    }


@dataclass(frozen=True, eq=False)
class ClassDecision:
    """Published classes, numbered from 0, and the class of each combination of quasi-identifiers.

    ``codes`` are the leaf codes of the combinations, shape ``(combinations, quasi-identifiers)``; attributes
    that are not in ``deciding`` have code 0, and a row's value does not matter. ``class_of`` is the class of
    each combination, ``SUPPRESSED`` for none. Class c shows ``labels[i][shown[c, i]]`` (None is NULL) for
    attribute i. ``leaves`` marks the attributes for which each row shows its own value. ``class_rows`` are
    the rows of each class, shape ``(classes,)``, ``rows`` those of the table, ``suppressed`` those without
    class.
    """

    hierarchies: tuple[GeneralizationHierarchy, ...]
    deciding: tuple[int, ...]
    codes: NDArray[np.int64]
    class_of: NDArray[np.int64]
    shown: NDArray[np.int64]
    labels: tuple[tuple[str | None, ...], ...]
    leaves: tuple[bool, ...]
    class_rows: NDArray[np.int64]
    rows: int
    suppressed: int

    @property
    def published_rows(self) -> int:
        """Number of rows that are published with their values."""
        return self.rows - self.suppressed


def decide_classes_of_node(frequency_set: FrequencySet, recoding: FullDomainRecoding) -> ClassDecision:
    """Decide the classes of a full-domain recoding; classes that fail its requirement are suppressed.

    For tables without subjects. ``frequency_set`` must contain the sensitive attributes of the requirement.
    """
    places = [frequency_set.attributes.index(name) for name in recoding.attributes]
    hierarchies = tuple(frequency_set.hierarchies[index] for index in places)
    levels = list(zip(hierarchies, recoding.node, strict=True))
    codes, place_of, fails = _judge_node(frequency_set, recoding, places)
    numbers = np.where(fails, SUPPRESSED, np.cumsum(~fails) - 1)
    cell_codes, labels = _used_labels(
        codes[~fails], [(*h.labels[level], *((None,) if level < h.height else ())) for h, level in levels]
    )
    deciding = tuple(i for i, (hierarchy, level) in enumerate(levels) if level < hierarchy.height)
    label_codes = np.zeros_like(frequency_set.codes)
    label_codes[:, deciding] = frequency_set.codes[:, [places[i] for i in deciding]]
    first, _ = find_distinct_rows(label_codes)
    return ClassDecision(
        hierarchies=hierarchies,
        deciding=deciding,
        codes=label_codes[first],
        class_of=numbers[place_of[first]],
        shown=cell_codes,
        labels=labels,
        leaves=tuple(level == 0 and h.height > 0 for h, level in levels),
        class_rows=sum_rows(place_of, frequency_set.counts, len(fails))[~fails],
        rows=frequency_set.rows,
        suppressed=int(frequency_set.counts[fails[place_of]].sum()),
    )


def positions_of_failing(frequency_set: FrequencySet, recoding: FullDomainRecoding) -> NDArray[np.int64]:
    """Return the failing classes as positions in their levels, shape ``(classes, quasi-identifiers)``."""
    places = [frequency_set.attributes.index(name) for name in recoding.attributes]
    codes, _, fails = _judge_node(frequency_set, recoding, places)
    return codes[fails]


def _judge_node(
    frequency_set: FrequencySet, recoding: FullDomainRecoding, places: Sequence[int]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.bool_]]:
    """Return the values of each class, the class of each row type, and the classes that fail."""
    positions = [
        frequency_set.hierarchies[index].level_map(level)[frequency_set.codes[:, index]]
        for index, level in zip(places, recoding.node, strict=True)
    ]
    generalized = np.column_stack(positions)
    first, place_of = find_distinct_rows(generalized)
    cell_codes, order = generalized[first], np.argsort(places)
    population = count_matching_people(
        frequency_set, [recoding.node[index] for index in order.tolist()], cell_codes[:, order]
    )
    return (
        cell_codes,
        place_of,
        find_failing_classes(
            frequency_set, place_of, len(first), recoding.requirement, population, cell_codes
        ),
    )


def decide_classes_of_recoding(frequency_set: FrequencySet, recoding: ClassRecoding) -> ClassDecision:
    """Decide the classes of a recoding that does not split row types; classes with equal labels are merged.

    Raises ``InternalError`` if a class, counted by its labels, fails the requirement.
    """
    texts, columns = [], []
    for i, cells in enumerate(recoding.cells):
        numbers, labels = number_labels(cells)
        texts.append(labels)
        columns.append(numbers[recoding.shown[:, i]])
    retained = recoding.classes != SUPPRESSED
    present, inverse = np.unique(recoding.classes[retained], return_inverse=True)
    every = np.column_stack(columns)[present]
    first, same = find_distinct_rows(every)
    cell_codes = every[first]
    class_of = np.full(frequency_set.row_types, SUPPRESSED, dtype=np.int64)
    class_of[recoding.row_types[retained]] = same[inverse]
    fails = find_failing_classes(
        frequency_set, class_of, len(cell_codes), recoding.requirement, cells=cell_codes
    )
    if fails.any():
        raise InternalError(
            f"{int(fails.sum()):,} classes of the {recoding.model} recoding fail {recoding.requirement}, "
            "counted by their labels",
            advice="Nothing was published. Please report this, with the spec if it is not confidential.",
        )
    positions, used = _used_labels(cell_codes, texts)
    return ClassDecision(
        hierarchies=frequency_set.hierarchies,
        deciding=tuple(range(len(frequency_set.hierarchies))),
        codes=frequency_set.codes,
        class_of=class_of,
        shown=positions,
        labels=used,
        leaves=tuple(map(has_only_leaves, recoding.cells, frequency_set.hierarchies)),
        class_rows=sum_rows(same[inverse], recoding.rows[retained], len(cell_codes)),
        rows=frequency_set.rows,
        suppressed=recoding.suppressed,
    )


def has_sensitive_values(counted: CountedTable, spec: TableSpec) -> TypeGuard[FrequencySet]:
    """Check whether classes can be judged from arrays: row types with every sensitive attribute's values.

    A criterion of all sensitive attributes would otherwise judge only those that were counted.
    """
    names = tuple(attribute.name for attribute in spec.sensitive)
    return isinstance(counted, FrequencySet) and counted.sensitive_attributes == names


def splits_row_types(recoding: ClassRecoding) -> bool:
    """Check whether rows of one row type belong to several classes."""
    return bool((np.diff(recoding.row_types) == 0).any())


def find_distinct_rows(table: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Find the distinct rows of an array of nonnegative integers.

    Returns the index of one row of each kind, and the kind of each row.
    """
    # Each word is replaced by its rank before it is combined, so that products stay within 64 bits.
    words = pack_words([int(column.max(initial=0)) + 1 for column in table.T])
    inverse = np.zeros(len(table), dtype=np.int64)
    first = np.zeros(min(len(table), 1), dtype=np.int64)
    for word in words:
        _, values = np.unique(pack_codes(table, word), return_inverse=True)
        _, first, inverse = np.unique(
            inverse * (int(values.max(initial=0)) + 1) + values, return_index=True, return_inverse=True
        )
    return first, inverse


def sum_rows(numbers: NDArray[np.int64], rows: NDArray[np.int64], classes: int) -> NDArray[np.int64]:
    """Sum ``rows`` by number, for the numbers below ``classes``."""
    result = np.zeros(classes, dtype=np.int64)
    np.add.at(result, numbers, rows)
    return result


def _used_labels(
    cell_codes: NDArray[np.int64], labels: Sequence[Sequence[str | None]]
) -> tuple[NDArray[np.int64], tuple[tuple[str | None, ...], ...]]:
    """Reduce labels to those that some class shows, and translate the positions."""
    positions = np.empty_like(cell_codes)
    texts = []
    for i, of_attribute in enumerate(labels):
        used, positions[:, i] = np.unique(cell_codes[:, i], return_inverse=True)
        texts.append(tuple(of_attribute[position] for position in used.tolist()))
    return positions, tuple(texts)


def number_in_value_order(decided: ClassDecision, attributes: Sequence[str]) -> ClassDecision:
    """Renumber classes by their texts in the order of ``attributes``, by code points with NULL last.

    Classes with equal texts are merged. Cost: a sort of the classes.
    """
    positions = {hierarchy.attribute: i for i, hierarchy in enumerate(decided.hierarchies)}
    keys = [
        _ranks(decided.labels[index])[decided.shown[:, index]]
        for index in map(positions.__getitem__, attributes)
    ]
    order = np.lexsort(keys[::-1])
    new = np.zeros(len(order), dtype=np.bool_)
    new[:1] = True
    for key in keys:
        new[1:] |= np.diff(key[order]) != 0
    number = np.empty(len(order), dtype=np.int64)
    number[order] = np.cumsum(new) - 1
    class_of = decided.class_of.copy()
    retained = class_of != SUPPRESSED
    class_of[retained] = number[class_of[retained]]
    return replace(
        decided,
        class_of=class_of,
        shown=decided.shown[order[new]],
        class_rows=sum_rows(number, decided.class_rows, int(new.sum())),
    )


def find_star_class(decided: ClassDecision) -> int:
    """Return the class that shows only stars, as suppressed rows do; ``SUPPRESSED`` if there is none."""
    stars = np.ones(len(decided.shown), dtype=np.bool_)
    for i, labels in enumerate(decided.labels):
        stars &= np.array([text == STAR for text in labels], dtype=np.bool_)[decided.shown[:, i]]
    found = np.flatnonzero(stars)
    return int(found[0]) if len(found) else SUPPRESSED


def _ranks(labels: Sequence[str | None]) -> NDArray[np.int64]:
    """Rank the texts, NULL last."""
    ordered = sorted({text for text in labels if text is not None})
    positions: dict[str | None, int] = {text: index for index, text in enumerate(ordered)}
    return np.array([positions.get(text, len(ordered)) for text in labels], dtype=np.int64)


def check_class_recoding(recoding: ClassRecoding, counted: CountedTable) -> None:
    """Raise ``InternalError`` if parts are not the table's rows, or cells do not cover their rows.

    Each row type's parts must add up to its rows, parts must ascend, each class must show an existing cell,
    and every cell must cover the leaves of the rows that show it. O(parts · quasi-identifiers).

    Raises ``InputError`` if subjects have several rows and equal rows are divided over classes: the class of
    a subject's row would be a guess.
    """
    if not isinstance(counted, FrequencySet):
        raise InternalError("a recoding of row types was applied without their frequency set")
    frequency_set = counted
    several = frequency_set.subjects is not None and frequency_set.subjects.size != frequency_set.rows
    if several and splits_row_types(recoding):
        raise InputError(
            f"the {recoding.model} recoding divides equal rows over classes, which needs one row per "
            f"subject, but subjects have several of the {frequency_set.rows:,} rows",
            allowed="a table with one row per subject, or a recoding that keeps equal rows together",
            advice="Choose another model, or combine the rows of each subject into one.",
        )
    if recoding.attributes != frequency_set.attributes:
        raise InputError(
            f"the recoding is of {', '.join(recoding.attributes)}",
            allowed=", ".join(frequency_set.attributes),
        )
    faults = [
        (_has_wrong_parts(recoding, frequency_set), "its parts are not the rows of the table"),
        (_has_wrong_classes(recoding), "a class shows an undefined cell"),
    ]
    fault = next((text for wrong, text in faults if wrong), None) or _uncovered_attribute(
        recoding, frequency_set
    )
    if fault is not None:
        raise InternalError(
            f"the {recoding.model} recoding contradicts itself: {fault}",
            advice="Nothing was published. Please report this, with the spec if it is not confidential.",
        )


def _has_wrong_parts(recoding: ClassRecoding, frequency_set: FrequencySet) -> bool:
    types, classes, rows = recoding.row_types, recoding.classes, recoding.rows
    number = frequency_set.row_types
    if not len(types) == len(classes) == len(rows) or (rows < 1).any():
        return True
    if ((types < 0) | (types >= number)).any():
        return True
    steps, same = np.diff(types), np.diff(types) == 0
    if (steps < 0).any() or (np.diff(classes)[same] <= 0).any():
        return True
    counted = np.zeros(number, dtype=np.int64)
    np.add.at(counted, types, rows)
    return not np.array_equal(counted, frequency_set.counts)


def _has_wrong_classes(recoding: ClassRecoding) -> bool:
    shape = (recoding.class_count, len(recoding.attributes))
    if recoding.shown.shape != shape or len(recoding.cells) != len(recoding.attributes):
        return True
    if ((recoding.classes < SUPPRESSED) | (recoding.classes >= recoding.class_count)).any():
        return True
    sizes = np.array([len(cells.labels) for cells in recoding.cells], dtype=np.int64)
    return bool(((recoding.shown < 0) | (recoding.shown >= sizes)).any())


def _uncovered_attribute(recoding: ClassRecoding, frequency_set: FrequencySet) -> str | None:
    """Name the attribute of which a row shows a cell that does not cover its leaf; None if there is none."""
    retained = recoding.classes != SUPPRESSED
    types, classes = recoding.row_types[retained], recoding.classes[retained]
    for i, cells in enumerate(recoding.cells):
        codes = frequency_set.codes[types, i]
        if not cells.cover(recoding.shown[classes, i], codes).all():
            return f"a cell of '{recoding.attributes[i]}' does not cover a row that shows it"
    return None
