"""Unrestricted single-dimension recoding: each value shows itself or any value above it, alone.

Definition (LeFevre et al. 2005, section 5.1.1): the only restriction is that a value shows itself or an
ancestor. Siblings need not follow, which the paper warns of: where "Male" shows "Person" and "Female" stays,
whoever reads "Person" knows better.

The search moves values down: a group of values that show g to a value h below g that is above them all, or
one value by itself, those that save most loss first. A move is kept where no more rows than the limit are in
failing classes afterwards; unlike a specialization it may become possible later, since classes grow too, so
rounds are made until none is kept. It is run from the roots and from a full-subtree recoding, which is one of
the model and never undercut then.

Cost: a pass over the row types that show g or h for each move that is tried; at most (leaves · levels) moves
a round and ``_ROUNDS`` rounds a run.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from discreet.model.class_recoding import ClassRecoding, RecodingModel
from discreet.model.frequency_set import FrequencySet
from discreet.model.lattice import LatticeNode
from discreet.taxonomy.class_counts import ClassCounts, classes_of_columns
from discreet.taxonomy.full_subtree import best_cut
from discreet.taxonomy.single_dimension import lost_by_columns, recoding_of_columns
from discreet.taxonomy.value_tree import ValueTree

_ROUNDS = 6

Move = tuple[float, int, int, int, tuple[int, ...]]
"""The loss saved; the attribute, the value shown and the value to show; the leaves that are to."""


class _Images:
    """What each leaf of each attribute shows."""

    def __init__(
        self, trees: Sequence[ValueTree], counts: ClassCounts, leaves: list[NDArray[np.int64]], limit: int
    ) -> None:
        self.trees = trees
        self.counts = counts
        self.leaves = leaves
        self.limit = limit
        self.rows_of = [
            np.bincount(column, counts.rows, minlength=tree.root + 1)
            for tree, column in zip(trees, leaves, strict=True)
        ]
        self.images: list[NDArray[np.int64]] = []
        self.columns: list[NDArray[np.int64]] = []

    def start(self, columns: Sequence[NDArray[np.int64]]) -> None:
        """Take over what row types show."""
        self.columns = [column.copy() for column in columns]
        self.images = []
        for tree, leaves, column in zip(self.trees, self.leaves, columns, strict=True):
            image = np.full(tree.root + 1, -1, dtype=np.int64)
            image[leaves] = column
            self.images.append(image)
        self.failing = self.counts.failing_types(self._classes(None))
        self.failing_rows = int(self.counts.rows[self.failing].sum())

    def _classes(self, types: NDArray[np.int64] | None) -> NDArray[np.int64]:
        columns = self.columns if types is None else [column[types] for column in self.columns]
        return classes_of_columns(columns, [len(tree.labels) for tree in self.trees])

    def moves(self) -> list[Move]:
        """Every move downwards, the one that saves most first."""
        found: set[Move] = set()
        for i, (tree, image) in enumerate(zip(self.trees, self.images, strict=True)):
            shown_by: dict[tuple[int, int], list[int]] = {}
            for leaf in np.flatnonzero(image >= 0).tolist():
                path = tree.above(leaf)
                for value in path[: path.index(int(image[leaf]))]:
                    shown_by.setdefault((int(image[leaf]), value), []).append(leaf)
            for (shown, value), leaves in shown_by.items():
                for group in {tuple(leaves), *((leaf,) for leaf in leaves)}:
                    rows = float(self.rows_of[i][list(group)].sum())
                    saved = rows * float(tree.cost[shown] - tree.cost[value])
                    if saved > 0:
                        found.add((saved, i, shown, value, group))
        return sorted(found, key=lambda move: (-move[0], *move[1:]))

    def make(self, move: Move) -> bool:
        """Make a move, unless too many rows would be in failing classes or it is out of date."""
        _, i, shown, value, group = move
        leaves = np.array(group)
        if (self.images[i][leaves] != shown).any():
            return False
        column = self.columns[i]
        moved = np.flatnonzero(np.isin(self.leaves[i], leaves))
        alone = not (self.images[i] == value).any()
        if alone and self.counts.failing_rows(self._classes(moved), moved) > self.limit:
            return False
        types = np.flatnonzero((column == shown) | (column == value))
        column[moved] = value
        failing = self.counts.failing_types(self._classes(types), types)
        rows = self.counts.rows[types]
        after = self.failing_rows - int(rows[self.failing[types]].sum()) + int(rows[failing].sum())
        if after > self.limit:
            column[moved] = shown
            return False
        self.images[i][leaves] = value
        self.failing[types] = failing
        self.failing_rows = after
        return True


def unrestricted_single(
    frequency_set: FrequencySet,
    trees: Sequence[ValueTree],
    counts: ClassCounts,
    limit: int,
    start: LatticeNode | None = None,
) -> ClassRecoding:
    """A recoding of the model with at most ``limit`` rows suppressed; ``NoSolution`` where there is none.

    ``start`` is the node that the full-subtree recoding starts with (see ``full_subtree``).
    """
    counts.require_solution(limit)
    cut = best_cut(frequency_set, trees, counts, limit, start)
    roots = [np.full(frequency_set.row_types, tree.root) for tree in trees]
    found = [cut.columns]
    for columns in (cut.columns, roots):
        images = _Images(trees, counts, cut.leaves, limit)
        images.start(columns)
        for _ in range(_ROUNDS):
            if not sum(images.make(move) for move in images.moves()):
                break
        found.append(images.columns)
    best = min(found, key=lambda columns: lost_by_columns(counts, trees, columns))
    cells = [tree.cells() for tree in trees]
    return recoding_of_columns(frequency_set, counts, best, cells, RecodingModel.UNRESTRICTED_SINGLE)
