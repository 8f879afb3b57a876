"""How far a release's levels can be undone by one (downcoding, Cohen 2022), simulated.

The attacker knows no person, only how common each value is, as statistics tell, and that every finer node was
refused. In each class each generalized value is replaced by one a level finer. Without minimality the best
guess is the commonest finer value. With it, worlds are drawn by how common values are, independently of each
other, and those are kept in which every finer node fails; rows keep the sensitive values that the release
shows. Of local recodings ``attacks.least_cells`` tells what their cells give away.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.attacks.declaration import Attack, Need
from discreet.attacks.finding import Finding, FoundTable, Value, ValueKind, columns
from discreet.attacks.grounds import Grounds
from discreet.attacks.least_cells import found_of, least_cells, shows_least_cells
from discreet.attacks.minimal_release import (
    KeptWorlds,
    MinimalRelease,
    OfMinimalRelease,
    Whole,
    minimal_release,
    surer,
)


@dataclass(frozen=True, eq=False)
class Undone:
    """One quasi-identifier: cells that are guessed right one level finer, without and with minimality."""

    attribute: str
    right_before: int
    right: int


@dataclass(frozen=True, eq=False)
class Children:
    """The values of one quasi-identifier one level finer: of rows, and by how common they are.

    ``parents`` has the generalized value of each child; children go by their parents. ``common``
    are the rows of the table that have each; ``of_row`` is the true child of each row.
    """

    attribute: str
    parents: Whole
    common: Whole
    of_row: Whole

    def drawn(self, random: np.random.Generator) -> Whole:
        """A child for each row, among those of its cell, by how common they are."""
        ends = np.cumsum(self.common)
        cells = self.parents[self.of_row]
        first = np.searchsorted(self.parents, cells)
        last = np.searchsorted(self.parents, cells, side="right") - 1
        low, high = ends[first] - self.common[first], ends[last]
        at = low + random.random(len(cells)) * (high - low)
        return np.minimum(np.searchsorted(ends, at, side="right"), last)

    @property
    def commonest(self) -> Whole:
        """The commonest child of each row's cell."""
        order = np.lexsort((-self.common, self.parents))
        first = np.searchsorted(self.parents[order], self.parents[self.of_row])
        return order[first]


@dataclass(frozen=True)
class Downcoding(OfMinimalRelease):
    """Finer values of generalized cells, from the knowledge that finer nodes failed."""

    name: ClassVar[str] = "downcoding"
    title: ClassVar[str] = "Undoing a level"
    text: ClassVar[str] = (
        "An attacker knows how common values are, and that the release is as fine as it could be: "
        "which cells can be told one level finer?"
    )
    source: ClassVar[str] = "Cohen 2022"
    needs: ClassVar[tuple[Need, ...]] = (Need.ORIGINAL, Need.CLASSES)

    def lacks(self, grounds: Grounds) -> tuple[str, str] | None:
        """The release must be one by levels, or a local recoding that shows least common values."""
        if shows_least_cells(grounds):
            return Attack.lacks(self, grounds)
        return super().lacks(grounds)

    def run(self, grounds: Grounds) -> Finding:
        """Cells guessed right one level finer, with and without minimality."""
        if shows_least_cells(grounds):
            figures, told = found_of(least_cells(grounds))
            return self.found(grounds, figures, (told,))
        release = minimal_release(grounds, self.could_suppress)
        original = grounds.ground.original
        assert original is not None
        counted = original.frequency_set
        below = [children_of(release, i, counted.codes[:, i], counted.counts) for i in release.raised]
        worlds, undone = undone_by(release, below, release.draws(self.worlds))
        rows: list[tuple[Value, ...]] = [
            (each.attribute, each.right_before / release.rows, each.right / release.rows) for each in undone
        ]
        table = FoundTable(
            "Cells guessed right one level finer",
            columns("column", ("right without it", ValueKind.CHANCE), ("right with it", ValueKind.CHANCE)),
            tuple(rows if worlds.kept else ()),
            note="Without it each cell is taken for its commonest finer value.",
        )
        return self.found(grounds, worlds.figures, (table,), worlds.notes)


def children_of(release: MinimalRelease, place: int, codes: Whole, rows: Whole) -> Children:
    """The children of a quasi-identifier; ``codes`` and ``rows`` tell how common they are in the table."""
    hierarchy, level = release.hierarchies[place], release.node[place]
    below, above = hierarchy.level_map(level - 1), hierarchy.level_map(level)
    size = int(below.max()) + 1
    parents = np.full(size, -1, dtype=np.int64)
    parents[below] = above
    common = np.bincount(below[codes], rows, minlength=size).astype(np.int64)
    order = np.argsort(parents, kind="stable")
    rank = np.empty(size, dtype=np.int64)
    rank[order] = np.arange(size)
    return Children(hierarchy.attribute, parents[order], common[order], rank[release.children(place)])


def undone_by(
    release: MinimalRelease, below: Sequence[Children], draws: int, seed: int = 0
) -> tuple[KeptWorlds, tuple[Undone, ...]]:
    """The worlds, and cells guessed right."""
    random = np.random.default_rng(seed)
    told = [
        np.zeros((int(release.classes.max(initial=-1)) + 1, len(c.parents)), dtype=np.int64) for c in below
    ]
    kept = 0
    for _ in range(draws):
        world = [children.drawn(random) for children in below]
        if not all(release.refused(each, release.values) for each in world):
            continue
        kept += 1
        for counts, each in zip(told, world, strict=True):
            np.add.at(counts, (release.classes, each), 1)
    refused = sum(release.refused(children.of_row, release.values) for children in below)
    undone = tuple(_undone(release, *each) for each in zip(below, told, strict=True))
    return KeptWorlds(draws, kept, len(below), refused), undone


def _undone(release: MinimalRelease, children: Children, told: Whole) -> Undone:
    plain = children.commonest
    first = np.zeros(len(told), dtype=np.int64)
    first[release.classes] = plain
    guess: NDArray[np.int64] = surer(told, first)[release.classes]
    return Undone(
        children.attribute,
        right_before=int((plain == children.of_row).sum()),
        right=int((guess == children.of_row).sum()),
    )
