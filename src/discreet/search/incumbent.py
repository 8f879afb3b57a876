"""Descents to good nodes: the initial incumbent of branch and bound, and its improvement.

On a chain from the lowest node to the highest, suppression never rises, so bisection finds the lowest
node of the chain within the suppression limit. From there attributes are specialized one level at a time
in the order of a guide while the limit is met (greedy specialization). Raising some attributes of the
best node and descending again leads to further local optima.

Cost: about one count per attribute and step.
"""

from __future__ import annotations

from collections.abc import Collection
from itertools import pairwise

import numpy as np

from discreet.measures.cost_kinds import Cost
from discreet.model.lattice import LatticeNode
from discreet.search.branch_and_bound import BranchAndBound, Guide, bits_guide, guided_chain, steps_down
from discreet.search.node_counts import StatisticsCounter
from discreet.search.search_problem import Candidate, SearchProblem, preferred_of_two

_MOST_RAISED = 4


def descend_from_chain(search: BranchAndBound | IncumbentSearch, guide: Guide) -> LatticeNode:
    """Return the end of a descent from a guide's chain; the problem's highest node must keep the limit."""
    task = search.task
    nodes = guided_chain(guide, task.low, task.high)
    fails, keeps = -1, len(nodes) - 1
    while keeps - fails > 1:
        middle = (fails + keeps) // 2
        if search.keeps_limit(nodes[middle]):
            keeps = middle
        else:
            fails = middle
    return descend(search, nodes[keeps], guide)


def descend(
    search: BranchAndBound | IncumbentSearch,
    start: LatticeNode,
    guide: Guide,
    fixed: Collection[int] = (),
) -> LatticeNode:
    """Return the end of a descent from a node that keeps the limit; attributes in ``fixed`` stay."""
    low, node, closed = search.task.low, start, set(fixed)
    moved = True
    while moved:
        moved = False
        for attribute in steps_down(guide, node, low):
            if attribute in closed:
                continue
            child = (*node[:attribute], node[attribute] - 1, *node[attribute + 1 :])
            if search.keeps_limit(child):
                node, moved = child, True
                break
            closed.add(attribute)
    search.keeps_limit(node, exactly=True)
    return node


class RestartedDescents:
    """Descents from around the best node: first each attribute raised in turn, then a few random ones.

    The seed of the generator is fixed, so a search with a given number of counts is reproducible.
    """

    def __init__(self, search: BranchAndBound, guides: list[Guide]) -> None:
        self._search = search
        self._guides = guides
        self._around: LatticeNode | None = None
        self._raised = 0
        self._random = np.random.default_rng(0)

    def step(self) -> None:
        """Make one descent, if there is a best node; the problem's highest node must keep the limit."""
        search = self._search
        if search.best is None:
            return
        if search.best.node != self._around:
            self._around, self._raised = search.best.node, 0
        free = [i for i, level in enumerate(self._around) if level < search.task.high[i]]
        if not free:
            return
        if self._raised < len(free):
            fixed, guide = [free[self._raised]], self._guides[0]
            self._raised += 1
        else:
            number = min(int(self._random.integers(1, _MOST_RAISED + 1)), len(free))
            fixed = self._random.choice(free, size=number, replace=False).tolist()
            guide = self._guides[int(self._random.integers(0, len(self._guides)))]
        node = tuple(level + (i in fixed) for i, level in enumerate(self._around))
        descend(search, node, guide, fixed)


_TIE = 1e-9


class IncumbentSearch:
    """Counted nodes and the best of them."""

    def __init__(self, task: SearchProblem, cost: Cost, counter: StatisticsCounter) -> None:
        self.task = task
        self.best: Candidate | None = None
        self._cost = cost
        self._counter = counter
        self._keeps: dict[LatticeNode, bool] = {}

    def keeps_limit(self, node: LatticeNode, *, exactly: bool = False) -> bool:  # noqa: ARG002
        """Count a node, which may become the best one, and check whether it keeps the suppression limit."""
        if node not in self._keeps:
            statistics = self._counter.count(node)
            self._keeps[node] = statistics.suppressed <= self.task.limit
            if self._keeps[node]:
                found = Candidate(node, self._cost.of(statistics), statistics.suppressed)
                self.best = preferred_of_two(self.best, found)
        return self._keeps[node]


def find_incumbent(task: SearchProblem, cost: Cost, counter: StatisticsCounter) -> Candidate | None:
    """Return the best node of a descent; None if the highest node exceeds the suppression limit."""
    counted = IncumbentSearch(task, cost, counter)
    if counted.keeps_limit(task.high):
        descend_from_chain(counted, _cost_guide(task, cost))
    return counted.best


def _cost_guide(task: SearchProblem, cost: Cost) -> Guide:
    """Score each step by the cost's own bounds; ties by the bits of identity that it removes."""
    table = task.frequency_set
    bits = bits_guide(table)
    heights = task.lattice.heights
    axes = np.zeros((sum(heights) + len(heights), len(heights)), np.int64)
    starts = np.cumsum([0, *(height + 1 for height in heights)])
    for i, height in enumerate(heights):
        axes[starts[i] : starts[i + 1], i] = np.arange(height + 1)
    bounds = cost.cheap_lower_bounds(axes, np.zeros(len(axes), np.int64))
    bounds = bounds.sum(axis=1) if bounds.ndim > 1 else bounds
    if not np.isfinite(bounds).all() or (bounds == bounds[0]).all():
        return bits
    guide = []
    for i, gains in enumerate(bits):
        costs = bounds[starts[i] : starts[i + 1]].tolist()
        steps = [up - down for down, up in pairwise(costs)]
        guide.append(tuple(step + _TIE * gain for step, gain in zip(steps, gains, strict=True)))
    return tuple(guide)
