"""Everything that is wrong with a hierarchy's table, at once: for an editor that checks while one types.

``hierarchy.table`` refuses a table at the first fault; here each fault is told with its place.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from discreet.hierarchy.messages import listed, shown
from discreet.hierarchy.value_order import in_order

MOST_PROBLEMS = 50


@dataclass(frozen=True)
class RowProblem:
    """A fault: row and level of the cell (None: of the whole table), what is wrong, what to do."""

    row: int | None
    level: int | None
    message: str
    advice: str


def problems_of(rows: Sequence[Sequence[str]], values: Sequence[str] = ()) -> tuple[RowProblem, ...]:
    """The faults of a table ``(leaf, level 1, …, top)``, at most ``MOST_PROBLEMS``; empty where it is sound.

    ``values`` are the data's, each of which needs a leaf. A table is sound here where
    ``hierarchy_from_rows`` and ``check_coverage`` take it.
    """
    found: list[RowProblem] = []
    for problem in _problems(rows, values):
        found.append(problem)
        if len(found) == MOST_PROBLEMS:
            break
    return tuple(found)


def _problems(rows: Sequence[Sequence[str]], values: Sequence[str]) -> Iterator[RowProblem]:
    if not rows:
        yield RowProblem(None, None, "the table has no row", "Give one row per value: leaf, level 1, …, *.")
        return
    ragged = list(_ragged(rows))
    yield from ragged
    yield from _empty_cells(rows)
    yield from _repeated_leaves(rows)
    if not ragged:
        yield from _several_tops(rows)
        yield from _not_nested(rows)
    yield from _missing(rows, values)


def _ragged(rows: Sequence[Sequence[str]]) -> Iterator[RowProblem]:
    width = len(rows[0])
    if width < 2:
        yield RowProblem(0, None, "there is no level above the leaves", "End every row with *.")
    for number, row in enumerate(rows):
        if len(row) != width:
            yield RowProblem(
                number,
                None,
                f"{len(row)} cell{'s' * (len(row) != 1)} where the first row has {width}",
                "Repeat a value where it is not generalized further at a level.",
            )


def _empty_cells(rows: Sequence[Sequence[str]]) -> Iterator[RowProblem]:
    for number, row in enumerate(rows):
        for level, cell in enumerate(row):
            if cell == "":
                yield RowProblem(number, level, "an empty cell", "Name the value, or remove the delimiter.")


def _repeated_leaves(rows: Sequence[Sequence[str]]) -> Iterator[RowProblem]:
    first: dict[str, int] = {}
    for number, row in enumerate(rows):
        if row and first.setdefault(row[0], number) != number and list(row) != list(rows[first[row[0]]]):
            line = first[row[0]] + 1
            yield RowProblem(
                number, 0, f"the leaf {shown(row[0])} stands in row {line} already", "Remove one of them."
            )


def _several_tops(rows: Sequence[Sequence[str]]) -> Iterator[RowProblem]:
    top = rows[0][-1]
    for number, row in enumerate(rows):
        if row[-1] != top:
            yield RowProblem(
                number,
                len(row) - 1,
                f"a second top value {shown(row[-1])} beside {shown(top)}",
                "End every row with the same value, *.",
            )


def _not_nested(rows: Sequence[Sequence[str]]) -> Iterator[RowProblem]:
    """A value of a level with two parents; the top is left to the check of its own."""
    for level in range(1, len(rows[0]) - 2):
        first: dict[str, tuple[int, str]] = {}
        for number, row in enumerate(rows):
            line, parent = first.setdefault(row[level], (number, row[level + 1]))
            if parent != row[level + 1]:
                yield RowProblem(
                    number,
                    level + 1,
                    f"{shown(row[level])} lies under {shown(row[level + 1])}, but under {shown(parent)} in "
                    f"row {line + 1}",
                    "Give both rows the same parent, or name the two values differently.",
                )


def _missing(rows: Sequence[Sequence[str]], values: Sequence[str]) -> Iterator[RowProblem]:
    leaves = {row[0] for row in rows if row}
    missing = in_order([value for value in values if value not in leaves])
    if missing:
        number = (
            f"{len(missing):,} values of the data have" if len(missing) > 1 else "a value of the data has"
        )
        yield RowProblem(
            None, 0, f"{number} no leaf: {listed(missing)}", "Add a row for each, or read them as NULL."
        )
