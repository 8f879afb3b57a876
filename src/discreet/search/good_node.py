"""A good node soon, for a search to compare bounds with: one descent, each node counted.

Nothing is concluded from one node to another, so that it serves criteria that are not monotone, too; the node
that it ends at keeps the suppression limit in any case. Where sizes tell which nodes do, the kernels count
the others' sizes alone (``lattice.some_nodes``). Cost: about one count per attribute, and a few.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from discreet.lattice.some_nodes import SizeCounter
from discreet.measures.cost_kinds import Cost
from discreet.model.lattice import LatticeNode
from discreet.search.descent import first_answer
from discreet.search.level_guides import Guide, bits_guide
from discreet.search.node_statistics import StatisticsCounter
from discreet.search.preference import Candidate, better, order_of_preference
from discreet.search.task import SearchTask

_TIE = 1e-9


class CountedNodes:
    """Nodes that were counted, and the best of them; where ``sizes`` tell enough, most by these."""

    def __init__(
        self, task: SearchTask, cost: Cost, counter: StatisticsCounter, sizes: SizeCounter | None = None
    ) -> None:
        self.task = task
        self.best: Candidate | None = None
        self._cost = cost
        self._counter = counter
        self._sizes = None if sizes is None else sizes.by_turns()
        self._keeps: dict[LatticeNode, bool] = {}
        self._told: dict[LatticeNode, int] = {}

    @property
    def told(self) -> int:
        """The nodes whose sizes alone were counted."""
        return len(self._told)

    def keeps_limit(self, node: LatticeNode, *, exactly: bool = False) -> bool:  # noqa: ARG002
        """Whether a node keeps the suppression limit; then it may be the best, unless sizes told so."""
        if self._sizes is None:
            return self._counted(node)
        if node not in self._told:
            self._told[node] = self._sizes.rows_below(node, self.task.requirement.least_rows)
        return self._told[node] <= self.task.limit

    def count_likeliest(self) -> None:
        """Count the told node of least bound, which is the best then: it is not always the lowest."""
        within = {node: rows for node, rows in self._told.items() if rows <= self.task.limit}
        if within:
            levels, rows = np.array(list(within)), np.array(list(within.values()))
            order = order_of_preference(levels, rows, self._cost.least_from(levels, rows))
            self._counted(tuple(levels[order[0]].tolist()))

    def _counted(self, node: LatticeNode) -> bool:
        if node not in self._keeps:
            statistics = self._counter.count(node)
            self._keeps[node] = statistics.suppressed <= self.task.limit
            if self._keeps[node]:
                found = Candidate(node, self._cost.of(statistics), statistics.suppressed)
                self.best = better(self.best, found)
        return self._keeps[node]


def good_node(
    task: SearchTask, cost: Cost, counter: StatisticsCounter, sizes: SizeCounter | None = None
) -> tuple[Candidate | None, int]:
    """The best node of a descent, None where the highest node exceeds the suppression limit.

    And the nodes that ``sizes`` told: they are to be given where a class fails for its rows alone.
    """
    counted = CountedNodes(task, cost, counter, sizes)
    if counted.keeps_limit(task.high):
        first_answer(counted, _guide(task, cost))
        counted.count_likeliest()
    return counted.best, counted.told


def _guide(task: SearchTask, cost: Cost) -> Guide:
    """What each step costs by the cost's own bounds; where these are equal, the bits that it takes away."""
    table = task.frequency_set
    bits = bits_guide(table)
    heights = task.lattice.heights
    axes = np.zeros((sum(heights) + len(heights), len(heights)), np.int64)
    starts = np.cumsum([0, *(height + 1 for height in heights)])
    for i, height in enumerate(heights):
        axes[starts[i] : starts[i + 1], i] = np.arange(height + 1)
    bounds = cost.least_from(axes, np.zeros(len(axes), np.int64))
    bounds = bounds.sum(axis=1) if bounds.ndim > 1 else bounds
    if not np.isfinite(bounds).all() or (bounds == bounds[0]).all():
        return bits
    guide = []
    for i, gains in enumerate(bits):
        costs = bounds[starts[i] : starts[i + 1]].tolist()
        steps = [up - down for down, up in pairwise(costs)]
        guide.append(tuple(step + _TIE * gain for step, gain in zip(steps, gains, strict=True)))
    return tuple(guide)
