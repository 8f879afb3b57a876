"""Generalization hierarchies from a table of levels: one row per leaf, ``(leaf, level 1, …, top)``.

Every hierarchy is built here, also those of the other builders, so that all pass the same checks: rows of
equal length, unique leaves, one top value, nested levels. ``LevelsHierarchy`` takes such rows unchanged;
``FlatHierarchy`` has one step from each value to ``*``. Cost: one pass per level over the rows and one sort.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import ne
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError
from discreet.hierarchy.cell_values import sort_values
from discreet.hierarchy.messages import quote_value, quote_values
from discreet.model.hierarchy import TOP, GeneralizationHierarchy, PublicPart


@dataclass(frozen=True, eq=False)
class LevelColumn:
    """One column of the table: its values in order of first appearance, and the code of each row."""

    labels: tuple[str, ...]
    codes: NDArray[np.int64]

    @classmethod
    def of(cls, column: Sequence[str]) -> LevelColumn:
        """Encode a column given row by row."""
        differs = np.fromiter(map(ne, column[1:], column), np.bool_, max(len(column) - 1, 0))
        if differs.all():
            return cls.of_runs(column, np.arange(len(column)), len(column))
        starts = np.concatenate(([0], np.flatnonzero(differs) + 1))
        return cls.of_runs([column[start] for start in starts.tolist()], starts, len(column))

    @classmethod
    def of_runs(cls, values: Sequence[str], starts: NDArray[np.int64], rows: int) -> LevelColumn:
        """Encode a column given as runs of equal values and their starts; each run is looked up once."""
        labels = tuple(dict.fromkeys(values))
        codes = np.arange(len(values))
        if len(labels) < len(values):
            positions = dict(zip(labels, range(len(labels)), strict=True))
            codes = np.fromiter(map(positions.__getitem__, values), np.int64, len(values))
        if len(values) < rows:
            codes = np.repeat(codes, np.diff(starts, append=rows))
        return cls(labels, codes)

    def value(self, row: int) -> str:
        """Return the value of a row."""
        return self.labels[int(self.codes[row])]


RowLocator = Callable[[int], str]
"""Function that names a row of the table for messages: ``hierarchies/age.csv, line 7``."""


def hierarchy_from_rows(
    attribute: str,
    rows: Sequence[Sequence[str]],
    *,
    origin: str,
    from_data: bool = False,
    where: RowLocator | None = None,
) -> GeneralizationHierarchy:
    """Build the hierarchy of a table given row by row, leaf first; see ``hierarchy_from_columns``.

    A row that is repeated cell by cell counts once, and a note reports it, since the copy contradicts
    nothing. Also raises ``InputError`` if there is no row, or if rows differ in their number of levels.
    """
    locate_row = where or _default_row_locator(attribute)
    if not rows:
        raise InputError(f"{origin} has no row", advice="Give one row per value: leaf, level 1, …, *.")
    for number, row in enumerate(rows):
        if len(row) != len(rows[0]):
            raise InputError(
                f"{locate_row(number)}: {_column_count_text(len(row))} with leaf "
                f"{quote_value(row[0] if row else '')}, but {locate_row(0)} has {len(rows[0])}",
                allowed="the same number of levels in every row",
                advice="Repeat a value where it is not generalized further at a level.",
            )
    if rows[0] and len({row[0] for row in rows}) == len(rows):
        columns = [list(column) for column in zip(*rows, strict=True)]
        return hierarchy_from_columns(
            attribute, columns, origin=origin, from_data=from_data, where=locate_row
        )
    first: dict[tuple[str, ...], int] = {}
    for number, row in enumerate(rows):
        first.setdefault(tuple(row), number)
    row_numbers = list(first.values())
    columns = [list(column) for column in zip(*first, strict=True)]
    found = hierarchy_from_columns(
        attribute, columns, origin=origin, from_data=from_data, where=lambda row: locate_row(row_numbers[row])
    )
    return replace(found, notes=(*found.notes, *_repeated_rows_note(rows, first, locate_row)))


def _repeated_rows_note(
    rows: Sequence[Sequence[str]], first: Mapping[tuple[str, ...], int], where: RowLocator
) -> tuple[str, ...]:
    """Return a note about the repeated rows that were left out; it names the first of them."""
    number = len(rows) - len(first)
    if not number:
        return ()
    row = next(i for i, row in enumerate(rows) if first[tuple(row)] != i)
    more = f"; so are {number - 1:,} more" if number > 1 else ""
    return (f"{where(row)}: the same as {where(first[tuple(rows[row])])}, and left out{more}.",)


def hierarchy_from_columns(
    attribute: str,
    columns: Sequence[Sequence[str]],
    *,
    origin: str,
    from_data: bool = False,
    where: RowLocator | None = None,
) -> GeneralizationHierarchy:
    """Build the hierarchy of a table given level by level: ``columns[level][row]``, leaves first, top last.

    Raises ``InputError`` unless there is at least one level above the leaves, no empty value, no repeated
    leaf and one top value, and levels nest (each value of a level has one parent); the message names the row
    by ``where``, the column and the value. Leaves are renumbered depth first, siblings in their order of
    first appearance; ``leaf_ranks`` keeps the order of the rows. A table without rows (a column without
    values) has no leaf and the top ``*``. Cost: one pass per level over the rows and one sort of the rows.
    """
    where = where or _default_row_locator(attribute)
    if len(columns) < 2:
        raise InputError(
            f"{origin} has {_column_count_text(len(columns))}",
            allowed="a leaf and at least one level above it, such as Male;*",
            advice="Check the delimiter: ; or ,.",
        )
    levels = [LevelColumn.of(column) for column in columns]
    return hierarchy_from_levels(attribute, levels, origin=origin, from_data=from_data, where=where)


def hierarchy_from_levels(
    attribute: str, levels: Sequence[LevelColumn], *, origin: str, from_data: bool = False, where: RowLocator
) -> GeneralizationHierarchy:
    """Build the hierarchy of a table of two or more encoded columns."""
    _check_texts(levels, where)
    _check_leaves(levels[0], where)
    _check_top(levels, where)
    for lower in range(len(levels) - 1):
        _check_nesting(levels, lower, where)
    labels, ancestors, ranks = _depth_first(levels)
    return GeneralizationHierarchy(
        attribute=attribute,
        labels=labels,
        ancestors=ancestors,
        origin=origin,
        from_data=from_data,
        notes=_top_note(attribute, labels[-1][0]),
        leaf_ranks=ranks,
    )


def check_coverage(
    hierarchy: GeneralizationHierarchy, values: Sequence[str], *, origin: str | None = None
) -> None:
    """Raise ``InputError`` unless every value is a leaf; ``origin`` overrides the hierarchy's own name."""
    leaves = hierarchy.code_of_leaf
    missing = sort_values([value for value in values if value not in leaves])
    if not missing:
        return
    number = f"{len(missing)} values of the data have" if len(missing) > 1 else "a value of the data has"
    raise InputError(
        f"attribute {quote_value(hierarchy.attribute)}: {number} no leaf in {origin or hierarchy.origin}: "
        f"{quote_values(missing)}",
        allowed=f"its {len(leaves)} leaves, such as {quote_values(hierarchy.leaves, 3)}",
        advice=_coverage_advice(missing[0], hierarchy.leaves),
    )


def ordered_leaves(attribute: str, values: Sequence[str]) -> list[str]:
    """Return the data's values in order (numbers by size, texts naturally), as a builder's leaves.

    Raises ``InputError`` for an empty text, which a release could not distinguish from NULL.
    """
    if "" in values:
        raise InputError(
            f"attribute {quote_value(attribute)}: the data contains an empty text, which cannot be "
            "generalized",
            allowed="texts of at least one character, and NULL",
            advice='Add "" to null_values in [source], so that it is read as NULL.',
        )
    return sort_values(values)


def _column_count_text(number: int) -> str:
    return f"{number} column" if number == 1 else f"{number} columns"


def _default_row_locator(attribute: str) -> RowLocator:
    return lambda row: f"the hierarchy of {quote_value(attribute)}, row {row + 1}"


def _cell_location(row: int, level: int, where: RowLocator) -> str:
    return f"{where(row)}, column {level + 1} (level {level})"


def _check_texts(levels: Sequence[LevelColumn], where: RowLocator) -> None:
    for level, column in enumerate(levels):
        if "" in column.labels:
            row = int(np.argmax(column.codes == column.labels.index("")))
            leaf = "" if level == 0 else f" (leaf {quote_value(levels[0].value(row))})"
            raise InputError(
                f"{_cell_location(row, level, where)}: an empty value ''{leaf}",
                allowed="a text of at least one character",
                advice="Remove a delimiter at the end of the line, or name the value.",
            )


def _check_leaves(leaves: LevelColumn, where: RowLocator) -> None:
    if len(leaves.labels) == len(leaves.codes):
        return
    first = np.unique(leaves.codes, return_index=True)[1]
    row = int(np.setdiff1d(np.arange(len(leaves.codes)), first)[0])
    raise InputError(
        f"{_cell_location(row, 0, where)}: leaf {quote_value(leaves.value(row))} is repeated; first "
        f"at {where(int(first[leaves.codes[row]]))}",
        allowed="each leaf once",
        advice="Remove one of the two.",
    )


def _check_top(levels: Sequence[LevelColumn], where: RowLocator) -> None:
    top = levels[-1]
    if len(top.labels) <= 1:
        return
    row = int(np.argmax(top.codes == 1))
    raise InputError(
        f"{_cell_location(row, len(levels) - 1, where)}: a second top value {quote_value(top.labels[1])}; "
        f"{where(0)} has {quote_value(top.labels[0])}",
        allowed="exactly one top value, the same in every row",
        advice=f"End every row with {TOP}.",
    )


def _check_nesting(levels: Sequence[LevelColumn], lower: int, where: RowLocator) -> None:
    """Raise ``InputError`` unless every value of level ``lower`` has one parent."""
    below, above = levels[lower], levels[lower + 1]
    first = np.unique(below.codes, return_index=True)[1]
    wrong = np.flatnonzero(above.codes != above.codes[first][below.codes])
    if len(wrong) == 0:
        return
    row = int(wrong[0])
    earlier = int(first[below.codes[row]])
    raise InputError(
        f"{_cell_location(row, lower + 1, where)}: {quote_value(below.value(row))} of level {lower} has "
        f"the parent {quote_value(above.value(row))} here, but {quote_value(above.value(earlier))} at "
        f"{where(earlier)}",
        allowed="one parent for each value of a level",
        advice="Give both rows the same parent, or name the two values differently.",
    )


def _depth_first(
    levels: Sequence[LevelColumn],
) -> tuple[tuple[tuple[str, ...], ...], tuple[NDArray[np.int64], ...], NDArray[np.int64] | None]:
    """Return labels and ancestors with the leaves renumbered so that every level's groups are contiguous.

    The third result is the row of each leaf, None if the rows are already in this order.
    """
    rows = len(levels[0].codes)
    if rows == 0:
        labels = ((),) * (len(levels) - 1) + ((TOP,),)
        return labels, tuple(np.empty(0, dtype=np.int64) for _ in levels), None
    if all((level.codes[1:] >= level.codes[:-1]).all() for level in levels):
        # Codes are numbered by first appearance, so ascending codes mean depth-first order.
        return tuple(level.labels for level in levels), tuple(level.codes for level in levels), None
    # lexsort takes its last key first: the rows are sorted by the top, then by each level below it.
    order = np.lexsort(tuple(level.codes for level in levels))
    every_label, ancestors = [], []
    for level in levels:
        codes = level.codes[order]
        starts = np.append(True, codes[1:] != codes[:-1])
        every_label.append(tuple(level.labels[code] for code in codes[starts].tolist()))
        ancestors.append(np.cumsum(starts, dtype=np.int64) - 1)
    return tuple(every_label), tuple(ancestors), order.astype(np.int64, copy=False)


def _top_note(attribute: str, top: str) -> tuple[str, ...]:
    if top == TOP:
        return ()
    return (f"The top value of {quote_value(attribute)} is {quote_value(top)}, not '{TOP}'.",)


def _coverage_advice(value: str, leaves: Sequence[str]) -> str:
    if value == "":
        return 'Add "" to null_values in [source], so that an empty text is read as NULL.'
    for leaf in leaves:
        if _normalized_value(leaf) == _normalized_value(value):
            return (
                f"Values match leaves exactly, and {quote_value(leaf)} differs in blanks, case, zeros or "
                "decimals."
            )
    return "Add a row for each, or read them as NULL by null_values in [source]."


def _normalized_value(text: str) -> str:
    text = text.strip().casefold()
    return re.sub(r"\.0+$", "", text).lstrip("0") or "0"


def hierarchy_with_others(
    attribute: str,
    columns: Sequence[Sequence[str]],
    others: Iterable[str],
    *,
    origin: str,
    level_nouns: Sequence[str],
    advice: str,
    from_data: bool = False,
) -> GeneralizationHierarchy:
    """Build the hierarchy of columns (leaves first, without the top) and ``others``, unchanged up to ``*``.

    ``level_nouns`` describe a value of each level above the leaves. Raises ``InputError``, with the advice,
    if one of the others equals such a value.
    """
    other_values = sort_values(set(others))
    for level, what in zip(columns[1:], level_nouns, strict=True):
        clash = set(other_values).intersection(level)
        if clash:
            raise InputError(
                f"attribute {quote_value(attribute)}: {quote_value(min(clash))} under others equals {what}",
                advice=advice,
            )
    full_columns = [[*column, *other_values] for column in columns]
    return hierarchy_from_columns(
        attribute, [*full_columns, [TOP] * len(full_columns[0])], origin=origin, from_data=from_data
    )


@dataclass(frozen=True)
class LevelsHierarchy:
    """Hierarchy of given rows ``(leaf, level 1, …, top)``."""

    rows: tuple[tuple[str, ...], ...]
    from_data: ClassVar[bool] = False
    """False: the levels are given."""
    public_part: ClassVar[PublicPart] = PublicPart.HIERARCHY
    """The whole hierarchy is public."""

    @classmethod
    def of(cls, levels: Mapping[str, Iterable[str]] | Iterable[Iterable[str]]) -> LevelsHierarchy:
        """Build from a mapping leaf → ``[level 1, …, top]`` or from rows; whole numbers are read as text.

        Raises ``InputError`` for values that are not texts.
        """
        if isinstance(levels, Mapping):
            rows = [(leaf, *_row_values(leaf, row)) for leaf, row in levels.items()]
        else:
            rows = [_row_values(None, row) for row in levels]
        return cls(tuple(tuple(_level_text(value) for value in row) for row in rows))

    @property
    def origin(self) -> str:
        """Short description: ``levels given one by one``."""
        return "levels given one by one"

    def build(
        self, attribute: str, values: Sequence[str], counts: Sequence[int] | None = None
    ) -> GeneralizationHierarchy:
        """Build the hierarchy of the rows; raise ``InputError`` if they are wrong or miss a value."""
        hierarchy = hierarchy_from_rows(attribute, self.rows, origin=self.origin)
        check_coverage(hierarchy, values)
        return hierarchy


def _row_values(leaf: object, row: object) -> tuple[object, ...]:
    if isinstance(row, Iterable) and not isinstance(row, str | bytes | Mapping):
        return tuple(row)
    row_name = "a row" if leaf is None else f"leaf {quote_value(leaf)}"
    raise InputError(
        f"{row_name}: {quote_value(row)} is not a list", allowed='a list of texts, such as ["20-29", "*"]'
    )


def _level_text(value: object) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    raise InputError(f"level value {quote_value(value)} is not a text", allowed="texts, and whole numbers")


@dataclass(frozen=True)
class FlatHierarchy:
    """Hierarchy of height 1: each value of the data, and one step to ``*``."""

    from_data: ClassVar[bool] = False
    """False: ``*`` reveals nothing about the data."""
    public_part: ClassVar[PublicPart] = PublicPart.LEVELS
    """The one step is public, the occurring values are not."""

    @property
    def origin(self) -> str:
        """Short description: ``value → *``."""
        return f"value → {TOP}"

    def build(
        self, attribute: str, values: Sequence[str], counts: Sequence[int] | None = None
    ) -> GeneralizationHierarchy:
        """Build the hierarchy of the values in order, under ``*``; raise ``InputError`` for an empty text."""
        leaves = ordered_leaves(attribute, values)
        return hierarchy_from_columns(attribute, [leaves, [TOP] * len(leaves)], origin=self.origin)
