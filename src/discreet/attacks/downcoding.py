"""Downcoding attack (Cohen 2022) on full-domain and local recodings.

Full-domain: each generalized value is guessed one level finer, with and without the knowledge that finer
nodes failed; worlds are drawn by how common values are. Local: a cell that is the least common ancestor of
its class says that not all of its n rows are below one child, so a row is below child j with chance (p_j −
p_j^n) / (1 − Σ p_i^n); two rows over two occurring children are certain.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.attacks.declaration import Attack, Grounds, Need
from discreet.attacks.finding import Figure, Finding, FoundTable, Value, ValueKind, columns, count
from discreet.attacks.minimality import (
    IntArray,
    MinimalityAttack,
    MinimalRelease,
    WorldSample,
    choose_significant_guess,
    read_minimal_release,
)
from discreet.model.class_recoding import RecodingModel
from discreet.model.hierarchy import GeneralizationHierarchy
from discreet.workload.published_labels import read_cells

FloatArray = NDArray[np.float64]
_LCA = "lca"


@dataclass(frozen=True)
class LocalDowncoding:
    """One quasi-identifier: rows in such cells, how many are guessed right, classes split for sure."""

    attribute: str
    rows: int = 0
    right_before: float = 0.0
    right: float = 0.0
    sure: int = 0

    def with_cell(self, shares: FloatArray, rows: int) -> LocalDowncoding:
        """With a further cell, whose values below it have these shares, shown by so many rows of a class."""
        before, after = compute_child_chances(shares, rows)
        return LocalDowncoding(
            self.attribute,
            self.rows + rows,
            self.right_before + rows * before,
            self.right + rows * after,
            self.sure + (rows == 2 and len(shares) == 2),
        )


def compute_child_chances(shares: FloatArray, rows: int) -> tuple[float, float]:
    """The chance that a guess of a row's value below the cell is right: the commonest value, and the best.

    >>> compute_child_chances(np.array([0.8, 0.2]), 2)
    (0.5, 0.5)
    """
    powers = shares**rows
    conditional = (shares - powers) / (1.0 - powers.sum())
    return float(conditional[shares.argmax()].round(12)), float(conditional.max().round(12))


def shows_least_common_ancestors(grounds: Grounds) -> bool:
    """Whether a release is a local recoding whose classes show least common values."""
    manifest = grounds.manifest
    if manifest is None:
        return False
    return manifest.model == RecodingModel.CELL_GENERALIZATION and manifest.summary == _LCA


def compute_local_downcoding(grounds: Grounds) -> tuple[LocalDowncoding, ...]:
    """What each quasi-identifier's cells tell; those that a least level may have raised tell nothing."""
    original, published = grounds.ground.original, grounds.published
    assert original is not None
    counted = original.frequency_set
    found = []
    for i, name in enumerate(published.attributes):
        place = counted.attributes.index(name)
        hierarchy = counted.hierarchies[place]
        nullable = bool((counted.codes[:, place] == hierarchy.null_code).any())
        cells = read_cells(hierarchy, published.labels[i], nullable=nullable).cells
        common = np.bincount(counted.codes[:, place], counted.counts, minlength=hierarchy.null_code + 1)
        least = original.spec.request.min_level.get(name, 0)
        told = LocalDowncoding(name)
        for cell in np.unique(published.shown[:, i]).tolist():
            codes = np.flatnonzero(cells.cover(np.full(len(common), cell), np.arange(len(common))))
            shares = compute_child_shares(hierarchy, codes, common, least)
            if shares is not None:
                for rows in published.rows[published.shown[:, i] == cell].tolist():
                    told = told.with_cell(shares, rows)
        found.append(told)
    return tuple(found)


def compute_child_shares(
    hierarchy: GeneralizationHierarchy, codes: NDArray[np.int64], common: NDArray[Any], least: int
) -> FloatArray | None:
    """The shares of the values below the one that covers some leaves; None where there is nothing to tell.

    ``common`` is how common each leaf is, ``least`` the level that no cell is below.
    """
    for level in range(hierarchy.height - 1, least - 1, -1):
        values = hierarchy.level_map(level)[codes]
        rows = np.bincount(values, common[codes])
        if (rows > 0).sum() > 1:
            shares: FloatArray = rows[rows > 0] / rows.sum()
            return shares
        if len(np.unique(values)) > 1:
            return None
    return None


def report_local_downcoding(cells: tuple[LocalDowncoding, ...]) -> tuple[tuple[Figure, ...], FoundTable]:
    """What is told of them."""
    figures = (
        count("cells", "rows in a cell that is as fine as its class allows", sum(c.rows for c in cells)),
        count("sure", "classes whose rows are told apart for sure, by column", sum(c.sure for c in cells)),
    )
    table = FoundTable(
        "Cells guessed right one value finer, expected",
        columns(
            "column",
            ("rows", ValueKind.COUNT),
            ("right without it", ValueKind.CHANCE),
            ("right with it", ValueKind.CHANCE),
            ("classes split for sure", ValueKind.COUNT),
        ),
        tuple(
            (c.attribute, c.rows, c.right_before / c.rows, c.right / c.rows, c.sure) for c in cells if c.rows
        ),
        note=(
            "A cell is the least value that covers its class: not all of its rows are under one value below."
        ),
    )
    return figures, table


@dataclass(frozen=True, eq=False)
class DowncodingGain:
    """One quasi-identifier: cells that are guessed right one level finer, without and with minimality."""

    attribute: str
    right_before: int
    right: int


@dataclass(frozen=True, eq=False)
class ChildValues:
    """The values of one quasi-identifier one level finer: of rows, and by how common they are.

    ``parents`` has the generalized value of each child; children go by their parents. ``common``
    are the rows of the table that have each; ``of_row`` is the true child of each row.
    """

    attribute: str
    parents: IntArray
    common: IntArray
    of_row: IntArray

    def drawn(self, random: np.random.Generator) -> IntArray:
        """A child for each row, among those of its cell, by how common they are."""
        ends = np.cumsum(self.common)
        cells = self.parents[self.of_row]
        first = np.searchsorted(self.parents, cells)
        last = np.searchsorted(self.parents, cells, side="right") - 1
        low, high = ends[first] - self.common[first], ends[last]
        at = low + random.random(len(cells)) * (high - low)
        return np.minimum(np.searchsorted(ends, at, side="right"), last)

    @property
    def commonest(self) -> IntArray:
        """The commonest child of each row's cell."""
        order = np.lexsort((-self.common, self.parents))
        first = np.searchsorted(self.parents[order], self.parents[self.of_row])
        return order[first]


@dataclass(frozen=True)
class Downcoding(MinimalityAttack):
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
        if shows_least_common_ancestors(grounds):
            return Attack.lacks(self, grounds)
        return super().lacks(grounds)

    def run(self, grounds: Grounds) -> Finding:
        """Cells guessed right one level finer, with and without minimality."""
        if shows_least_common_ancestors(grounds):
            figures, told = report_local_downcoding(compute_local_downcoding(grounds))
            return self.found(grounds, figures, (told,))
        release = read_minimal_release(grounds, self.could_suppress)
        original = grounds.ground.original
        assert original is not None
        counted = original.frequency_set
        below = [build_child_values(release, i, counted.codes[:, i], counted.counts) for i in release.raised]
        worlds, undone = simulate_downcoding(release, below, release.draws(self.worlds))
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


def build_child_values(release: MinimalRelease, place: int, codes: IntArray, rows: IntArray) -> ChildValues:
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
    return ChildValues(hierarchy.attribute, parents[order], common[order], rank[release.children(place)])


def simulate_downcoding(
    release: MinimalRelease, below: Sequence[ChildValues], draws: int, seed: int = 0
) -> tuple[WorldSample, tuple[DowncodingGain, ...]]:
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
    undone = tuple(_measure_downcoding(release, *each) for each in zip(below, told, strict=True))
    return WorldSample(draws, kept, len(below), refused), undone


def _measure_downcoding(release: MinimalRelease, children: ChildValues, told: IntArray) -> DowncodingGain:
    plain = children.commonest
    first = np.zeros(len(told), dtype=np.int64)
    first[release.classes] = plain
    guess: NDArray[np.int64] = choose_significant_guess(told, first)[release.classes]
    return DowncodingGain(
        children.attribute,
        right_before=int((plain == children.of_row).sum()),
        right=int((guess == children.of_row).sum()),
    )
