"""A generalization hierarchy from its table: one row per leaf, ``(leaf, level 1, …, top)``.

Every hierarchy is made here, those of the builders too, so every hierarchy passes the same checks.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError
from discreet.hierarchy.levels_of_rows import Level
from discreet.hierarchy.messages import listed, shown
from discreet.hierarchy.value_order import in_order
from discreet.model.hierarchy import TOP, GeneralizationHierarchy

Where = Callable[[int], str]
"""Names a row of the table for messages: ``hierarchies/age.csv, line 7``."""


def hierarchy_from_rows(
    attribute: str,
    rows: Sequence[Sequence[str]],
    *,
    origin: str,
    from_data: bool = False,
    where: Where | None = None,
) -> GeneralizationHierarchy:
    """The hierarchy of a table given row by row, leaf first; see ``hierarchy_from_columns``.

    A row that stands there twice, cell by cell, counts once, and a note says so: nothing in it contradicts
    the other. ``InputError`` too where there is no row, or where rows differ in their number of levels.
    """
    place = where or _row_of(attribute)
    if not rows:
        raise InputError(f"{origin} has no row", advice="Give one row per value: leaf, level 1, …, *.")
    for number, row in enumerate(rows):
        if len(row) != len(rows[0]):
            raise InputError(
                f"{place(number)}: {_columns(len(row))} with leaf {shown(row[0] if row else '')}, "
                f"but {place(0)} has {len(rows[0])}",
                allowed="the same number of levels in every row",
                advice="Repeat a value where it is not generalized further at a level.",
            )
    if rows[0] and len({row[0] for row in rows}) == len(rows):
        columns = [list(column) for column in zip(*rows, strict=True)]
        return hierarchy_from_columns(attribute, columns, origin=origin, from_data=from_data, where=place)
    first: dict[tuple[str, ...], int] = {}
    for number, row in enumerate(rows):
        first.setdefault(tuple(row), number)
    kept = list(first.values())
    columns = [list(column) for column in zip(*first, strict=True)]
    found = hierarchy_from_columns(
        attribute, columns, origin=origin, from_data=from_data, where=lambda row: place(kept[row])
    )
    return replace(found, notes=(*found.notes, *_repeats(rows, first, place)))


def _repeats(
    rows: Sequence[Sequence[str]], first: Mapping[tuple[str, ...], int], where: Where
) -> tuple[str, ...]:
    """A note of the rows that were left out, by the first of them."""
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
    where: Where | None = None,
) -> GeneralizationHierarchy:
    """The hierarchy of a table given level by level: ``columns[level][row]``, leaves first, the top last.

    Checked: at least one level above the leaves, no empty value, no leaf twice, one top value, and that
    levels nest (a value of a level has one parent). ``InputError`` names the row by ``where``, the column and
    the value. Leaves are renumbered depth first, siblings in their order of first appearance; the order of
    the rows stays in ``leaf_ranks``. A table without rows (a column without values) has no leaf and the top
    ``*``. Cost: one pass per level over the rows and one sort of the rows.
    """
    where = where or _row_of(attribute)
    if len(columns) < 2:
        raise InputError(
            f"{origin} has {_columns(len(columns))}",
            allowed="a leaf and at least one level above it, such as Male;*",
            advice="Check the delimiter: ; or ,.",
        )
    levels = [Level.of(column) for column in columns]
    return hierarchy_from_levels(attribute, levels, origin=origin, from_data=from_data, where=where)


def hierarchy_from_levels(
    attribute: str, levels: Sequence[Level], *, origin: str, from_data: bool = False, where: Where
) -> GeneralizationHierarchy:
    """The hierarchy of a table whose two or more columns are looked up already."""
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
        notes=_notes(attribute, labels[-1][0]),
        leaf_ranks=ranks,
    )


def check_coverage(
    hierarchy: GeneralizationHierarchy, values: Sequence[str], *, origin: str | None = None
) -> None:
    """Raise ``InputError`` unless every value is a leaf, text by text; ``origin`` in place of its own."""
    leaves = hierarchy.code_of_leaf
    missing = in_order([value for value in values if value not in leaves])
    if not missing:
        return
    number = f"{len(missing)} values of the data have" if len(missing) > 1 else "a value of the data has"
    raise InputError(
        f"attribute {shown(hierarchy.attribute)}: {number} no leaf in {origin or hierarchy.origin}: "
        f"{listed(missing)}",
        allowed=f"its {len(leaves)} leaves, such as {listed(hierarchy.leaves, 3)}",
        advice=_advice_for(missing[0], hierarchy.leaves),
    )


def checked_leaves(attribute: str, values: Sequence[str]) -> list[str]:
    """The data's values in order (numbers by size, text naturally), for a builder's leaves.

    ``InputError`` for an empty text, which no release could tell from NULL.
    """
    if "" in values:
        raise InputError(
            f"attribute {shown(attribute)}: the data has an empty text, which is no value to generalize",
            allowed="texts of at least one character, and NULL",
            advice='Add "" to null_values in [source], so that it is read as NULL.',
        )
    return in_order(values)


def _columns(number: int) -> str:
    return f"{number} column" if number == 1 else f"{number} columns"


def _row_of(attribute: str) -> Where:
    return lambda row: f"the hierarchy of {shown(attribute)}, row {row + 1}"


def _cell(row: int, level: int, where: Where) -> str:
    return f"{where(row)}, column {level + 1} (level {level})"


def _check_texts(levels: Sequence[Level], where: Where) -> None:
    for level, column in enumerate(levels):
        if "" in column.labels:
            row = int(np.argmax(column.codes == column.labels.index("")))
            leaf = "" if level == 0 else f" (leaf {shown(levels[0].value(row))})"
            raise InputError(
                f"{_cell(row, level, where)}: an empty value ''{leaf}",
                allowed="a text of at least one character",
                advice="Remove a delimiter at the end of the line, or name the value.",
            )


def _check_leaves(leaves: Level, where: Where) -> None:
    if len(leaves.labels) == len(leaves.codes):
        return
    first = np.unique(leaves.codes, return_index=True)[1]
    row = int(np.setdiff1d(np.arange(len(leaves.codes)), first)[0])
    raise InputError(
        f"{_cell(row, 0, where)}: leaf {shown(leaves.value(row))} stands there again, "
        f"after {where(int(first[leaves.codes[row]]))}",
        allowed="each leaf once",
        advice="Remove one of the two.",
    )


def _check_top(levels: Sequence[Level], where: Where) -> None:
    top = levels[-1]
    if len(top.labels) <= 1:
        return
    row = int(np.argmax(top.codes == 1))
    raise InputError(
        f"{_cell(row, len(levels) - 1, where)}: a second top value {shown(top.labels[1])}, "
        f"beside {shown(top.labels[0])} of {where(0)}",
        allowed="exactly one top value, the same in every row",
        advice=f"End every row with {TOP}.",
    )


def _check_nesting(levels: Sequence[Level], lower: int, where: Where) -> None:
    """Raise unless every value of level ``lower`` has one parent."""
    below, above = levels[lower], levels[lower + 1]
    first = np.unique(below.codes, return_index=True)[1]
    wrong = np.flatnonzero(above.codes != above.codes[first][below.codes])
    if len(wrong) == 0:
        return
    row = int(wrong[0])
    earlier = int(first[below.codes[row]])
    raise InputError(
        f"{_cell(row, lower + 1, where)}: {shown(below.value(row))} of level {lower} lies under "
        f"{shown(above.value(row))}, but under {shown(above.value(earlier))} at {where(earlier)}",
        allowed="one parent for each value of a level",
        advice="Give both rows the same parent, or name the two values differently.",
    )


def _depth_first(
    levels: Sequence[Level],
) -> tuple[tuple[tuple[str, ...], ...], tuple[NDArray[np.int64], ...], NDArray[np.int64] | None]:
    """Labels and ancestors with the leaves renumbered so that every level's groups are contiguous.

    Then the row of each leaf, None where the rows are in this order already.
    """
    rows = len(levels[0].codes)
    if rows == 0:
        labels = ((),) * (len(levels) - 1) + ((TOP,),)
        return labels, tuple(np.empty(0, dtype=np.int64) for _ in levels), None
    if all((level.codes[1:] >= level.codes[:-1]).all() for level in levels):
        # Values count from their first appearance, so the rows lie depth first already.
        return tuple(level.labels for level in levels), tuple(level.codes for level in levels), None
    order = np.lexsort(tuple(level.codes for level in levels))
    every_label, ancestors = [], []
    for level in levels:
        codes = level.codes[order]
        starts = np.append(True, codes[1:] != codes[:-1])
        every_label.append(tuple(level.labels[code] for code in codes[starts].tolist()))
        ancestors.append(np.cumsum(starts, dtype=np.int64) - 1)
    return tuple(every_label), tuple(ancestors), order.astype(np.int64, copy=False)


def _notes(attribute: str, top: str) -> tuple[str, ...]:
    if top == TOP:
        return ()
    return (f"The top value of {shown(attribute)} is {shown(top)}, not '{TOP}'.",)


def _advice_for(value: str, leaves: Sequence[str]) -> str:
    if value == "":
        return 'Add "" to null_values in [source], so that an empty text is read as NULL.'
    for leaf in leaves:
        if _loosely(leaf) == _loosely(value):
            return (
                f"Values match leaves exactly, and {shown(leaf)} differs in blanks, case, zeros or decimals."
            )
    return "Add a row for each, or read them as NULL by null_values in [source]."


def _loosely(text: str) -> str:
    text = text.strip().casefold()
    return re.sub(r"\.0+$", "", text).lstrip("0") or "0"
