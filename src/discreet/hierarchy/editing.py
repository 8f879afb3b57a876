"""Changes of a hierarchy by hand: group values, ungroup, rename, move, add and remove levels.

A hierarchy under edit is its table ``(leaf, level 1, …, top)``. Every change gives a new table that is sound
again (levels nest, one top, the same leaves), or an ``InputError`` that says why not and leaves the table as
it was. So undoing is going back to an earlier table.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from discreet.errors import InputError
from discreet.hierarchy.messages import shown
from discreet.model.hierarchy import TOP, GeneralizationHierarchy

Rows = tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class HierarchyDraft:
    """A sound table under edit. The order of its leaves never changes; new leaves are added at the end."""

    rows: Rows

    @classmethod
    def of(cls, hierarchy: GeneralizationHierarchy) -> HierarchyDraft:
        """The table of a hierarchy."""
        return cls(tuple(hierarchy.path(code) for code in hierarchy.codes_in_order.tolist()))

    @property
    def height(self) -> int:
        """The level of the top."""
        return len(self.rows[0]) - 1 if self.rows else 1

    def members(self, level: int, labels: Iterable[str]) -> list[int]:
        """The rows below some values of a level; ``InputError`` for a value that is not there."""
        self._check_level(level, 0, self.height)
        wanted = set(labels)
        found = [number for number, row in enumerate(self.rows) if row[level] in wanted]
        absent = wanted - {self.rows[number][level] for number in found}
        if absent or not wanted:
            raise InputError(
                f"level {level} has no value {shown(min(absent))}" if absent else "no value is chosen",
                allowed="values of one level",
            )
        return found

    def group(self, level: int, labels: Sequence[str], name: str) -> HierarchyDraft:
        """Values of a level under a new group.

        The group is a value of the next level; where that is the top, a level is put between.
        """
        chosen = self.members(level, labels)
        self._check_level(level, 0, self.height - 1)
        draft = self if level + 1 < self.height else self.add_level(level)
        above = level + 1
        draft._check_name(above, name, {row[above] for row in (draft.rows[i] for i in chosen)}, chosen)
        first = draft.rows[chosen[0]]
        return draft._placed(chosen, above, (name, *first[above + 1 :]))

    def move(self, level: int, labels: Sequence[str], target: str) -> HierarchyDraft:
        """Values of a level into an existing group of the next level."""
        chosen = self.members(level, labels)
        self._check_level(level, 0, self.height - 2)
        host = self.rows[self.members(level + 1, [target])[0]]
        return self._placed(chosen, level + 1, host[level + 1 :])

    def rename(self, level: int, label: str, name: str) -> HierarchyDraft:
        """Another name for a group; leaves keep theirs, as they are the data's values."""
        self._check_level(level, 1, self.height - 1)
        chosen = self.members(level, [label])
        self._check_name(level, name, {label}, chosen)
        return self._placed(chosen, level, (name, *self.rows[chosen[0]][level + 1 :]))

    def ungroup(self, level: int, label: str) -> HierarchyDraft:
        """Dissolve a group: each of its values stands by itself at this level."""
        self._check_level(level, 1, self.height - 1)
        chosen = set(self.members(level, [label]))
        freed = {self.rows[number][level - 1] for number in chosen}
        others = {row[level] for number, row in enumerate(self.rows) if number not in chosen}
        if freed & others:
            taken = min(freed & others)
            raise InputError(
                f"level {level} has a group {shown(taken)} already",
                advice="Rename that group first: its name is that of a value that would stand beside it.",
            )
        rows = [
            (*row[:level], row[level - 1], *row[level + 1 :]) if number in chosen else row
            for number, row in enumerate(self.rows)
        ]
        return HierarchyDraft(tuple(rows))

    def add_level(self, level: int) -> HierarchyDraft:
        """A new level above ``level``, in which each value stands by itself."""
        self._check_level(level, 0, self.height - 1)
        return HierarchyDraft(tuple((*row[: level + 1], row[level], *row[level + 1 :]) for row in self.rows))

    def remove_level(self, level: int) -> HierarchyDraft:
        """Without one level between the leaves and the top."""
        self._check_level(level, 1, self.height - 1)
        return HierarchyDraft(tuple((*row[:level], *row[level + 1 :]) for row in self.rows))

    def add_values(self, values: Sequence[str]) -> HierarchyDraft:
        """Leaves for values that have none, each by itself up to the top."""
        leaves = {row[0] for row in self.rows}
        new = [value for value in dict.fromkeys(values) if value not in leaves]
        top = self.rows[0][-1] if self.rows else TOP
        for level in range(1, self.height):
            taken = {row[level] for row in self.rows} & set(new)
            if taken:
                raise InputError(
                    f"level {level} has a group {shown(min(taken))}, which is the name of a new value",
                    advice="Rename that group first.",
                )
        rows = (*self.rows, *((*(value for _ in range(self.height)), top) for value in new))
        return HierarchyDraft(rows)

    def _placed(self, chosen: Sequence[int], level: int, path: Sequence[str]) -> HierarchyDraft:
        """The chosen rows with other values from a level upwards."""
        moved = set(chosen)
        rows = [(*row[:level], *path) if number in moved else row for number, row in enumerate(self.rows)]
        return HierarchyDraft(tuple(rows))

    def _check_level(self, level: int, least: int, most: int) -> None:
        if not least <= level <= most:
            allowed = f"levels {least} to {most}" if least <= most else "no level of this hierarchy"
            raise InputError(f"level {level} cannot be changed so", allowed=allowed)

    def _check_name(self, level: int, name: str, own: set[str], chosen: Sequence[int]) -> None:
        """Raise unless a name is free at a level, but for the groups that vanish whole."""
        if name.strip() == "" or name != name.strip():
            raise InputError(f"the name {shown(name)}", allowed="a text without blanks at its ends")
        inside = set(chosen)
        taken = any(row[level] == name for number, row in enumerate(self.rows) if number not in inside)
        if taken:
            raise InputError(
                f"level {level} has a value {shown(name)} already",
                allowed="a name that is new at its level",
                advice="Choose another name, or move the values into that group.",
            )
        if name == TOP and name not in own:
            raise InputError(f"the name {TOP}", allowed=f"any other text: {TOP} is the top")


def least_level_after(
    before: GeneralizationHierarchy, least: int, after: GeneralizationHierarchy, removed: int | None = None
) -> int:
    """The least level of a hierarchy that was changed, so that no leaf shows at it that did not before.

    ``removed`` is the level that the change took out. A leaf that is new counts as one that did not show.
    """
    if not least:
        return 0
    place = min(least, before.height)
    shown_before = {leaf for code, leaf in enumerate(before.leaves) if before.path(code)[place] == leaf}
    hidden = [code for code, leaf in enumerate(after.leaves) if leaf not in shown_before]
    first = max(1, least - (removed is not None and removed <= least))
    for level in range(first, after.height):
        if all(after.path(code)[level] != after.leaves[code] for code in hidden):
            return level
    return after.height
