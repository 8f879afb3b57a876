"""Single-dimension full-subtree recoding: each attribute is cut across its tree of values.

Definition (LeFevre et al. 2005, section 5.1.1): where a value is generalized to g, every value under g is. So
a recoding is one *cut* per attribute, a set of values such that each leaf is under exactly one of them.

The optimum is NP-hard to find (with two-level trees it is attribute suppression). The search is top-down
specialization (Fung, Wang and Yu 2005, with loss in place of their classifier's gain): it starts with every
attribute at its root and replaces, again and again, one value of a cut by its children, the one that saves
most loss first. A specialization that leaves too many rows in failing classes never becomes possible again,
since classes only shrink; so each value is tried once.

Which value is tried first decides where a run ends. So it is run from the roots, from the roots with savings
disturbed at random (a fixed seed), and from the best full-domain recoding, which is never undercut then. The
best result is improved: a value whose children are all in the cut is put back, the rest is specialized
further, and the result is kept where it loses less.

Cost: a pass over the row types under a value for each trial, at most one trial per value and run; the
improvement makes a run for each value of the cut, for at most ``_ROUNDS`` rounds.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from discreet.model.class_recoding import ClassRecoding, RecodingModel
from discreet.model.frequency_set import FrequencySet
from discreet.model.lattice import LatticeNode
from discreet.taxonomy.class_counts import ClassCounts, classes_of_columns
from discreet.taxonomy.single_dimension import lost_by_columns, recoding_of_columns
from discreet.taxonomy.value_tree import ValueTree

_ROUNDS = 3
_DISTURBED_RUNS = 12
_SEED = 4

Score = Callable[[float], float]
"""How eagerly a specialization is tried, from the loss that it saves."""


class Cut:
    """A cut of every attribute, as the value that each row type shows; specialized in place."""

    def __init__(self, frequency_set: FrequencySet, trees: Sequence[ValueTree], counts: ClassCounts) -> None:
        self.trees = trees
        self.counts = counts
        self.leaves = [tree.leaf_of[frequency_set.codes[:, i]] for i, tree in enumerate(trees)]
        self.columns = [np.full(frequency_set.row_types, tree.root) for tree in trees]
        self.recount()

    def recount(self) -> None:
        """Count the classes anew, after ``columns`` were set."""
        self.class_of = classes_of_columns(self.columns, [len(tree.labels) for tree in self.trees])
        self.failing = self.counts.failing(self.class_of, int(self.class_of.max(initial=-1)) + 1)
        self.failing_rows = int(self.counts.rows[self.failing[self.class_of]].sum())

    def under(self, i: int, value: int) -> NDArray[np.int64]:
        """The row types that show the value."""
        return np.flatnonzero(self.columns[i] == value)

    def saved(self, i: int, value: int, types: NDArray[np.int64]) -> float:
        """The loss that specializing the value saves."""
        tree = self.trees[i]
        shown = self.trees[i].child_above(value, self.leaves[i][types])
        return float(((tree.cost[value] - tree.cost[shown]) * self.counts.rows[types]).sum())

    def specialize(self, i: int, value: int, types: NDArray[np.int64], limit: int) -> bool:
        """Replace a value by its children, unless more than ``limit`` rows would be in failing classes."""
        shown = self.trees[i].child_above(value, self.leaves[i][types])
        size = len(self.trees[i].labels)
        keys, divided = np.unique(self.class_of[types] * size + shown, return_inverse=True)
        failing = self.counts.failing(divided, len(keys), types)
        before = int(self.counts.rows[types][self.failing[self.class_of[types]]].sum())
        after = self.failing_rows - before + int(self.counts.rows[types][failing[divided]].sum())
        if after > limit:
            return False
        self.columns[i] = self.columns[i].copy()
        self.columns[i][types] = shown
        self.failing = np.concatenate([self.failing, failing])
        self.class_of = self.class_of.copy()
        self.class_of[types] = len(self.failing) - len(failing) + divided
        self.failing_rows = after
        return True

    def lost(self) -> float:
        """The loss as it is now."""
        return lost_by_columns(self.counts, self.trees, self.columns)


def specialize_all(cut: Cut, limit: int, score: Score, put_off: tuple[int, int] | None = None) -> None:
    """Specialize as long as anything can be; ``put_off`` names a value that is tried last."""
    waiting: list[tuple[float, int, int]] = []
    last: list[tuple[int, int]] = []

    def offer(i: int, value: int) -> None:
        if not cut.trees[i].children[value]:
            return
        if (i, value) == put_off:
            last.append((i, value))
            return
        types = cut.under(i, value)
        heapq.heappush(waiting, (-score(cut.saved(i, value, types)), i, value))

    for i, column in enumerate(cut.columns):
        for value in np.unique(column).tolist():
            offer(i, value)
    while waiting or last:
        i, value = heapq.heappop(waiting)[1:] if waiting else last.pop()
        if (i, value) == put_off and not waiting:
            put_off = None
        if cut.specialize(i, value, cut.under(i, value), limit):
            for child in cut.trees[i].children[value]:
                offer(i, child)


def best_cut(
    frequency_set: FrequencySet,
    trees: Sequence[ValueTree],
    counts: ClassCounts,
    limit: int,
    start: LatticeNode | None = None,
) -> Cut:
    """The best cut that the runs find; ``start`` is the node of one of them."""
    counts.require_solution(limit)
    random = np.random.default_rng(_SEED)

    def disturbed(saved: float) -> float:
        return saved * float(np.exp(random.normal()))

    runs: list[tuple[LatticeNode | None, Score]] = [(None, _as_it_is)]
    runs += [(None, disturbed)] * _DISTURBED_RUNS
    runs += [] if start is None else [(start, _as_it_is)]
    best, least = None, np.inf
    for node, score in runs:
        cut = Cut(frequency_set, trees, counts)
        if node is not None:
            cut.columns = _columns_at(frequency_set, trees, node)
            cut.recount()
        specialize_all(cut, limit, score)
        lost = cut.lost()
        if lost < least:
            best, least = cut, lost
    assert best is not None
    return _improved(best, limit)


def full_subtree(
    frequency_set: FrequencySet,
    trees: Sequence[ValueTree],
    counts: ClassCounts,
    limit: int,
    start: LatticeNode | None = None,
) -> ClassRecoding:
    """A recoding of the model with at most ``limit`` rows suppressed; ``NoSolution`` where there is none.

    It loses no more than full-domain recoding at ``start``, a node within the limit.
    """
    cut = best_cut(frequency_set, trees, counts, limit, start)
    cells = [tree.cells() for tree in trees]
    return recoding_of_columns(frequency_set, counts, cut.columns, cells, RecodingModel.FULL_SUBTREE)


def _improved(cut: Cut, limit: int) -> Cut:
    """Put values back, one at a time, and specialize the rest; keep what loses less."""
    best = cut.lost()
    for _ in range(_ROUNDS):
        before = best
        for i, value in _inner_values(cut):
            columns = list(cut.columns)
            below = np.isin(cut.columns[i], cut.trees[i].children[value])
            if not below.any():
                continue
            cut.columns[i] = np.where(below, value, cut.columns[i])
            cut.recount()
            specialize_all(cut, limit, _as_it_is, put_off=(i, value))
            lost = cut.lost()
            if lost < best - 1e-9 * (1 + best):
                best = lost
            else:
                cut.columns = columns
                cut.recount()
        if best >= before:
            break
    return cut


def _inner_values(cut: Cut) -> list[tuple[int, int]]:
    """The values whose children are all shown, where they occur."""
    found = []
    for i, (tree, column) in enumerate(zip(cut.trees, cut.columns, strict=True)):
        shown = set(np.unique(column).tolist())
        found += [(i, value) for value, kids in enumerate(tree.children) if kids and shown.issuperset(kids)]
    return found


def _as_it_is(saved: float) -> float:
    return saved


def _columns_at(
    frequency_set: FrequencySet, trees: Sequence[ValueTree], node: LatticeNode
) -> list[NDArray[np.int64]]:
    """The value that each row type shows at a node, by attribute."""
    return [
        tree.at_level[level][frequency_set.codes[:, i]]
        for i, (tree, level) in enumerate(zip(trees, node, strict=True))
    ]
