"""Hierarchies under edit: manual changes of the level table, and all its errors at once.

``HierarchyDraft`` groups values, renames, moves, adds and removes levels; each change returns a new valid
table or raises ``InputError``. ``find_row_problems`` lists every error of a table with its row and level, for
an editor that checks during typing; ``level_table`` refuses a table at the first error.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from discreet.errors import InputError
from discreet.hierarchy.cell_values import sort_values
from discreet.hierarchy.messages import quote_value, quote_values
from discreet.model.hierarchy import TOP, GeneralizationHierarchy

LevelRows = tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class HierarchyDraft:
    """A valid table under edit. The order of its leaves never changes; new leaves are added at the end."""

    rows: LevelRows

    @classmethod
    def of(cls, hierarchy: GeneralizationHierarchy) -> HierarchyDraft:
        """Return the table of a hierarchy."""
        return cls(tuple(hierarchy.path(code) for code in hierarchy.codes_in_order.tolist()))

    @property
    def height(self) -> int:
        """Level of the top."""
        return len(self.rows[0]) - 1 if self.rows else 1

    def members(self, level: int, labels: Iterable[str]) -> list[int]:
        """Return the rows below some values of a level; raise ``InputError`` for an unknown value."""
        self._check_level(level, 0, self.height)
        wanted = set(labels)
        result = [number for number, row in enumerate(self.rows) if row[level] in wanted]
        absent = wanted - {self.rows[number][level] for number in result}
        if absent or not wanted:
            raise InputError(
                f"level {level} has no value {quote_value(min(absent))}" if absent else "no value is chosen",
                allowed="values of one level",
            )
        return result

    def group(self, level: int, labels: Sequence[str], name: str) -> HierarchyDraft:
        """Put values of a level into a new group.

        The group is a value of the next level; if that is the top, a level is inserted.
        """
        chosen = self.members(level, labels)
        self._check_level(level, 0, self.height - 1)
        draft = self if level + 1 < self.height else self.add_level(level)
        above = level + 1
        draft._check_name(above, name, {row[above] for row in (draft.rows[i] for i in chosen)}, chosen)
        first = draft.rows[chosen[0]]
        return draft._with_path(chosen, above, (name, *first[above + 1 :]))

    def move(self, level: int, labels: Sequence[str], target: str) -> HierarchyDraft:
        """Move values of a level into an existing group of the next level."""
        chosen = self.members(level, labels)
        self._check_level(level, 0, self.height - 2)
        host = self.rows[self.members(level + 1, [target])[0]]
        return self._with_path(chosen, level + 1, host[level + 1 :])

    def rename(self, level: int, label: str, name: str) -> HierarchyDraft:
        """Rename a group; leaves keep their names, since they are the data's values."""
        self._check_level(level, 1, self.height - 1)
        chosen = self.members(level, [label])
        self._check_name(level, name, {label}, chosen)
        return self._with_path(chosen, level, (name, *self.rows[chosen[0]][level + 1 :]))

    def ungroup(self, level: int, label: str) -> HierarchyDraft:
        """Dissolve a group: each of its values is its own group at this level."""
        self._check_level(level, 1, self.height - 1)
        chosen = set(self.members(level, [label]))
        freed = {self.rows[number][level - 1] for number in chosen}
        others = {row[level] for number, row in enumerate(self.rows) if number not in chosen}
        if freed & others:
            taken = min(freed & others)
            raise InputError(
                f"level {level} has a group {quote_value(taken)} already",
                advice="Rename that group first: its name equals that of a value at the same level.",
            )
        rows = [
            (*row[:level], row[level - 1], *row[level + 1 :]) if number in chosen else row
            for number, row in enumerate(self.rows)
        ]
        return HierarchyDraft(tuple(rows))

    def add_level(self, level: int) -> HierarchyDraft:
        """Add a level above ``level``, in which each value is its own group."""
        self._check_level(level, 0, self.height - 1)
        return HierarchyDraft(tuple((*row[: level + 1], row[level], *row[level + 1 :]) for row in self.rows))

    def remove_level(self, level: int) -> HierarchyDraft:
        """Remove a level between the leaves and the top."""
        self._check_level(level, 1, self.height - 1)
        return HierarchyDraft(tuple((*row[:level], *row[level + 1 :]) for row in self.rows))

    def add_values(self, values: Sequence[str]) -> HierarchyDraft:
        """Add leaves for values that have none, each in its own group up to the top."""
        leaves = {row[0] for row in self.rows}
        new = [value for value in dict.fromkeys(values) if value not in leaves]
        top = self.rows[0][-1] if self.rows else TOP
        for level in range(1, self.height):
            taken = {row[level] for row in self.rows} & set(new)
            if taken:
                raise InputError(
                    f"level {level} has a group {quote_value(min(taken))}, which is the name of a new value",
                    advice="Rename that group first.",
                )
        rows = (*self.rows, *((*(value for _ in range(self.height)), top) for value in new))
        return HierarchyDraft(rows)

    def _with_path(self, chosen: Sequence[int], level: int, path: Sequence[str]) -> HierarchyDraft:
        """Return the table with other values from a level upwards in the chosen rows."""
        moved = set(chosen)
        rows = [(*row[:level], *path) if number in moved else row for number, row in enumerate(self.rows)]
        return HierarchyDraft(tuple(rows))

    def _check_level(self, level: int, least: int, most: int) -> None:
        if not least <= level <= most:
            allowed = f"levels {least} to {most}" if least <= most else "no level of this hierarchy"
            raise InputError(f"level {level} cannot be changed this way", allowed=allowed)

    def _check_name(self, level: int, name: str, replaced_names: set[str], chosen: Sequence[int]) -> None:
        """Raise ``InputError`` unless a name is free at a level; groups that vanish entirely do not count."""
        if name.strip() == "" or name != name.strip():
            raise InputError(f"the name {quote_value(name)}", allowed="a text without blanks at its ends")
        inside = set(chosen)
        taken = any(row[level] == name for number, row in enumerate(self.rows) if number not in inside)
        if taken:
            raise InputError(
                f"level {level} has a value {quote_value(name)} already",
                allowed="a name that is new at its level",
                advice="Choose another name, or move the values into that group.",
            )
        if name == TOP and name not in replaced_names:
            raise InputError(f"the name {TOP}", allowed=f"any other text: {TOP} is the top")


def least_level_after(
    before: GeneralizationHierarchy, least: int, after: GeneralizationHierarchy, removed: int | None = None
) -> int:
    """Return the least level of an edited hierarchy at which no leaf shows that did not show before.

    ``removed`` is the level that the edit removed. A new leaf counts as one that did not show.
    """
    if not least:
        return 0
    position = min(least, before.height)
    shown_before = {leaf for code, leaf in enumerate(before.leaves) if before.path(code)[position] == leaf}
    hidden = [code for code, leaf in enumerate(after.leaves) if leaf not in shown_before]
    first = max(1, least - (removed is not None and removed <= least))
    for level in range(first, after.height):
        if all(after.path(code)[level] != after.leaves[code] for code in hidden):
            return level
    return after.height


MOST_PROBLEMS = 50


@dataclass(frozen=True)
class RowProblem:
    """An error of a table: row and level of the cell (None: the whole table), message and advice."""

    row: int | None
    level: int | None
    message: str
    advice: str


def find_row_problems(rows: Sequence[Sequence[str]], values: Sequence[str] = ()) -> tuple[RowProblem, ...]:
    """Return the errors of a table ``(leaf, level 1, …, top)``, at most ``MOST_PROBLEMS``.

    ``values`` are the data's values; each needs a leaf. A table is valid here if ``hierarchy_from_rows`` and
    ``check_coverage`` accept it.
    """
    found: list[RowProblem] = []
    for problem in _iterate_problems(rows, values):
        found.append(problem)
        if len(found) == MOST_PROBLEMS:
            break
    return tuple(found)


def _iterate_problems(rows: Sequence[Sequence[str]], values: Sequence[str]) -> Iterator[RowProblem]:
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
    yield from _values_without_leaf(rows, values)


def _ragged(rows: Sequence[Sequence[str]]) -> Iterator[RowProblem]:
    width = len(rows[0])
    if width < 2:
        yield RowProblem(0, None, "the levels above the leaves are missing", "End every row with *.")
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
                number,
                0,
                f"the leaf {quote_value(row[0])} is already in row {line}",
                "Remove one of them.",
            )


def _several_tops(rows: Sequence[Sequence[str]]) -> Iterator[RowProblem]:
    top = rows[0][-1]
    for number, row in enumerate(rows):
        if row[-1] != top:
            yield RowProblem(
                number,
                len(row) - 1,
                f"a second top value {quote_value(row[-1])}; the first is {quote_value(top)}",
                "End every row with the same value, *.",
            )


def _not_nested(rows: Sequence[Sequence[str]]) -> Iterator[RowProblem]:
    """Yield values of a level with two parents; the top has a check of its own."""
    for level in range(1, len(rows[0]) - 2):
        first: dict[str, tuple[int, str]] = {}
        for number, row in enumerate(rows):
            line, parent = first.setdefault(row[level], (number, row[level + 1]))
            if parent != row[level + 1]:
                yield RowProblem(
                    number,
                    level + 1,
                    f"{quote_value(row[level])} has the parent {quote_value(row[level + 1])} here, "
                    f"but {quote_value(parent)} in row {line + 1}",
                    "Give both rows the same parent, or name the two values differently.",
                )


def _values_without_leaf(rows: Sequence[Sequence[str]], values: Sequence[str]) -> Iterator[RowProblem]:
    leaves = {row[0] for row in rows if row}
    missing = sort_values([value for value in values if value not in leaves])
    if missing:
        number = (
            f"{len(missing):,} values of the data have" if len(missing) > 1 else "a value of the data has"
        )
        yield RowProblem(
            None, 0, f"{number} no leaf: {quote_values(missing)}", "Add a row for each, or read them as NULL."
        )
