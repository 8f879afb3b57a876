"""Downcoding attack (Cohen 2022) on full-domain and local recodings.

Full-domain: the attacker guesses each generalized value one level finer, with and without the knowledge that
finer nodes failed; worlds are drawn by the frequency of values. Local: a cell that is the least common
ancestor of its class implies that not all of its n rows are below one child, so a row is below child j with
chance (p_j − p_j^n) / (1 − Σ p_i^n); two rows over two occurring children are certain.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.attacks.declaration import Attack, AttackInput, AttackRequirement
from discreet.attacks.finding import Figure, Finding, FoundTable, ValueKind, columns, count
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
    """Result for one quasi-identifier of a local recoding.

    ``rows`` counts the rows in cells that are least common ancestors, ``right`` and ``right_before`` the
    expected right guesses with and without that knowledge, and ``sure`` the classes that are split for
    certain.
    """

    attribute: str
    rows: int = 0
    right_before: float = 0.0
    right: float = 0.0
    sure: int = 0

    def with_cell(self, shares: FloatArray, rows: int) -> LocalDowncoding:
        """Return the result with a further cell: shares of its children, and the rows of the class."""
        before, after = compute_child_chances(shares, rows)
        return LocalDowncoding(
            self.attribute,
            self.rows + rows,
            self.right_before + rows * before,
            self.right + rows * after,
            self.sure + (rows == 2 and len(shares) == 2),
        )


def compute_child_chances(shares: FloatArray, rows: int) -> tuple[float, float]:
    """Compute the chance of a right guess below a cell: for the most common child, and for the best guess.

    >>> compute_child_chances(np.array([0.8, 0.2]), 2)
    (0.5, 0.5)
    """
    # Bayes: subtract the event that all rows are below child j, which a least common ancestor excludes.
    powers = shares**rows
    conditional = (shares - powers) / (1.0 - powers.sum())
    return float(conditional[shares.argmax()].round(12)), float(conditional.max().round(12))


def shows_least_common_ancestors(attack_input: AttackInput) -> bool:
    """Return true if a release is a local recoding whose cells are least common ancestors."""
    manifest = attack_input.manifest
    if manifest is None:
        return False
    return manifest.model == RecodingModel.CELL_GENERALIZATION and manifest.summary == _LCA


def compute_local_downcoding(attack_input: AttackInput) -> tuple[LocalDowncoding, ...]:
    """Compute the result for each quasi-identifier.

    Cells that a minimum level may have raised imply nothing and are not counted.
    """
    original, published = attack_input.original_table, attack_input.published
    counted = original.frequency_set
    found = []
    for i, name in enumerate(published.attributes):
        attribute_index = counted.attributes.index(name)
        hierarchy = counted.hierarchies[attribute_index]
        nullable = bool((counted.codes[:, attribute_index] == hierarchy.null_code).any())
        cells = read_cells(hierarchy, published.labels[i], nullable=nullable).cells
        common = np.bincount(
            counted.codes[:, attribute_index], counted.counts, minlength=hierarchy.null_code + 1
        )
        least = original.spec.request.min_level.get(name, 0)
        result = LocalDowncoding(name)
        for cell in np.unique(published.shown[:, i]).tolist():
            codes = np.flatnonzero(cells.cover(np.full(len(common), cell), np.arange(len(common))))
            shares = compute_child_shares(hierarchy, codes, common, least)
            if shares is not None:
                for rows in published.rows[published.shown[:, i] == cell].tolist():
                    result = result.with_cell(shares, rows)
        found.append(result)
    return tuple(found)


def compute_child_shares(
    hierarchy: GeneralizationHierarchy, codes: NDArray[np.int64], common: NDArray[Any], least: int
) -> FloatArray | None:
    """Return the shares of the children of the value that covers some leaves; None where nothing follows.

    ``common`` is the frequency of each leaf; ``least`` is the minimum level of cells.
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
    """Build the figures and the table of a local downcoding."""
    figures = (
        count("cells", "rows in a cell that is as fine as its class allows", sum(c.rows for c in cells)),
        count("sure", "classes that are certainly split, by column", sum(c.sure for c in cells)),
    )
    table = FoundTable(
        "Cells guessed right one value finer, expected",
        columns(
            "column",
            ("rows", ValueKind.COUNT),
            ("right without it", ValueKind.CHANCE),
            ("right with it", ValueKind.CHANCE),
            ("classes certainly split", ValueKind.COUNT),
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
    """Cells of one quasi-identifier that are guessed right one level finer, with and without minimality."""

    attribute: str
    right_before: int
    right: int


@dataclass(frozen=True, eq=False)
class ChildValues:
    """Values of one quasi-identifier one level finer, per row and by frequency.

    ``parents`` contains the generalized value of each child; children are sorted by parent. ``common`` is the
    number of rows of the table per child; ``of_row`` is the true child of each row.
    """

    attribute: str
    parents: IntArray
    common: IntArray
    of_row: IntArray

    def drawn(self, random: np.random.Generator) -> IntArray:
        """Draw a child for each row from the children of its cell, by frequency."""
        # Children are sorted by parent, so a cell is an interval of the cumulated frequencies.
        ends = np.cumsum(self.common)
        cells = self.parents[self.of_row]
        first = np.searchsorted(self.parents, cells)
        last = np.searchsorted(self.parents, cells, side="right") - 1
        low, high = ends[first] - self.common[first], ends[last]
        at = low + random.random(len(cells)) * (high - low)
        return np.minimum(np.searchsorted(ends, at, side="right"), last)

    @property
    def commonest(self) -> IntArray:
        """Most common child of each row's cell."""
        order = np.lexsort((-self.common, self.parents))
        first = np.searchsorted(self.parents[order], self.parents[self.of_row])
        return order[first]


@dataclass(frozen=True)
class Downcoding(MinimalityAttack):
    """Attack on generalized cells through the knowledge that finer nodes failed."""

    name: ClassVar[str] = "downcoding"
    title: ClassVar[str] = "Undoing a level"
    text: ClassVar[str] = (
        "An attacker knows how common values are, and that the release is as fine as it could be: which "
        "cells can be guessed one level finer?"
    )
    source: ClassVar[str] = "Cohen 2022"
    requirements: ClassVar[tuple[AttackRequirement, ...]] = (
        AttackRequirement.ORIGINAL,
        AttackRequirement.CLASSES,
    )

    def missing_requirement(self, attack_input: AttackInput) -> tuple[str, str] | None:
        """Return the missing requirement.

        The release must be full-domain, or a local recoding that shows least common ancestors.
        """
        if shows_least_common_ancestors(attack_input):
            return Attack.missing_requirement(self, attack_input)
        return super().missing_requirement(attack_input)

    def run(self, attack_input: AttackInput) -> Finding:
        """Report the cells that are guessed right one level finer, with and without minimality."""
        if shows_least_common_ancestors(attack_input):
            figures, downcoding = report_local_downcoding(compute_local_downcoding(attack_input))
            return self.build_finding(attack_input, figures, (downcoding,))
        release = read_minimal_release(attack_input, self.could_suppress)
        original = attack_input.original_table
        counted = original.frequency_set
        below = [build_child_values(release, i, counted.codes[:, i], counted.counts) for i in release.raised]
        worlds, undone = simulate_downcoding(release, below, release.draws(self.worlds))
        rows = [
            (each.attribute, each.right_before / release.rows, each.right / release.rows) for each in undone
        ]
        table = FoundTable(
            "Cells guessed right one level finer",
            columns("column", ("right without it", ValueKind.CHANCE), ("right with it", ValueKind.CHANCE)),
            tuple(rows if worlds.accepted else ()),
            note="Without it each cell is taken for its commonest finer value.",
        )
        return self.build_finding(attack_input, worlds.figures, (table,), worlds.notes)


def build_child_values(
    release: MinimalRelease, attribute_index: int, codes: IntArray, rows: IntArray
) -> ChildValues:
    """Build the children of a quasi-identifier; ``codes`` and ``rows`` give their frequency in the table."""
    hierarchy, level = release.hierarchies[attribute_index], release.node[attribute_index]
    below, above = hierarchy.level_map(level - 1), hierarchy.level_map(level)
    size = int(below.max()) + 1
    parents = np.full(size, -1, dtype=np.int64)
    parents[below] = above
    common = np.bincount(below[codes], rows, minlength=size).astype(np.int64)
    order = np.argsort(parents, kind="stable")
    rank = np.empty(size, dtype=np.int64)
    rank[order] = np.arange(size)
    return ChildValues(
        hierarchy.attribute, parents[order], common[order], rank[release.children(attribute_index)]
    )


def simulate_downcoding(
    release: MinimalRelease, below: Sequence[ChildValues], draws: int, seed: int = 0
) -> tuple[WorldSample, tuple[DowncodingGain, ...]]:
    """Draw worlds; return their sample and the cells guessed right per quasi-identifier."""
    random = np.random.default_rng(seed)
    answer_counts = [
        np.zeros((int(release.classes.max(initial=-1)) + 1, len(c.parents)), dtype=np.int64) for c in below
    ]
    accepted = 0
    for _ in range(draws):
        world = [children.drawn(random) for children in below]
        if not all(release.refused(each, release.values) for each in world):
            continue
        accepted += 1
        for counts, each in zip(answer_counts, world, strict=True):
            np.add.at(counts, (release.classes, each), 1)
    refused = sum(release.refused(children.of_row, release.values) for children in below)
    undone = tuple(_measure_downcoding(release, *each) for each in zip(below, answer_counts, strict=True))
    return WorldSample(draws, accepted, len(below), refused), undone


def _measure_downcoding(
    release: MinimalRelease, children: ChildValues, answer_counts: IntArray
) -> DowncodingGain:
    plain = children.commonest
    first = np.zeros(len(answer_counts), dtype=np.int64)
    first[release.classes] = plain
    guess: NDArray[np.int64] = choose_significant_guess(answer_counts, first)[release.classes]
    return DowncodingGain(
        children.attribute,
        right_before=int((plain == children.of_row).sum()),
        right=int((guess == children.of_row).sum()),
    )
