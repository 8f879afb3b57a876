"""The cheapest of the nodes that ``search.staged`` leaves over, where these settle it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from discreet.measures.aggregates import cost_at
from discreet.measures.cost_kinds import ClassSizeCost, Cost, OwnCost
from discreet.measures.node_statistics import NodesStatistics, NodeStatistics
from discreet.measures.told_statistics import ToldStatistics
from discreet.model.lattice import LatticeNode
from discreet.model.search_result import Solution
from discreet.search.contenders import FEW, sizes_tell, staged_search
from discreet.search.node_statistics import StatisticsCounter
from discreet.search.preference import Candidate, better, beyond, order_of_preference, preferred
from discreet.search.staged import StagedSearch
from discreet.search.task import SearchTask
from discreet.search.told_nodes import StagedNodes, ToldNodes
from discreet.search.walk import children_within

Levels = NDArray[np.int64]
Rows = NDArray[np.int64]


def costs_of_sums(
    task: SearchTask, cost: Cost, levels: Levels, suppressed: Rows, told: ToldNodes
) -> NDArray[np.float64] | None:
    """The costs of nodes that the sums of their classes tell; None of a cost that asks for more."""
    if isinstance(cost, ClassSizeCost):
        found = told.sums(every=cost.of_all)
        costs: NDArray[np.float64] = cost.of_sizes(found.classes, found.squares, suppressed)
        return costs.astype(np.float64)
    if isinstance(cost, OwnCost) and cost.over_nodes is not None:
        return cost.of_nodes(_statistics(task, levels, suppressed, told))
    return None


def _statistics(task: SearchTask, levels: Levels, suppressed: Rows, told: ToldNodes) -> NodesStatistics:
    found = told.sums()
    return NodesStatistics(
        levels, suppressed, found.classes, found.squares, task.rows, task.hierarchies, task.requirement
    )


def cheapest(
    task: SearchTask,
    cost: Cost,
    levels: Levels,
    suppressed: Rows,
    counter: StatisticsCounter,
    told: ToldNodes | None = None,
) -> Candidate | None:
    """The preferred of some nodes within the limit, counted in the order of their bounds; None of none.

    A function of one's own is given what is ``told``, and nodes are counted when it reads more of them.
    """
    if isinstance(cost, OwnCost) and cost.monotone:
        asked = np.flatnonzero(_asked(levels, suppressed, all_same=task.rises_nowhere))
        levels, suppressed = levels[asked], suppressed[asked]
        told = None if told is None else told.only(asked)
    bounds = cost.least_of(levels, suppressed)
    statistics_at = _reader(task, cost, levels, suppressed, counter, told)
    best: Candidate | None = None
    for position in order_of_preference(levels, suppressed, bounds).tolist():
        if beyond(cost_at(bounds, position), best):
            break
        node: LatticeNode = tuple(levels[position].tolist())
        exact = cost.known(node, int(suppressed[position]))
        if exact is None:
            exact = cost.of(statistics_at(position))
        best = better(best, Candidate(node, exact, int(suppressed[position])))
    return best


def _reader(
    task: SearchTask,
    cost: Cost,
    levels: Levels,
    suppressed: Rows,
    counter: StatisticsCounter,
    told: ToldNodes | None,
) -> Callable[[int], NodeStatistics]:
    """How a cost gets the statistics of the node at a position.

    Where a class may stay or go for what the other classes are, every node is counted.
    """
    asked = task.requirement
    by_itself = not any(one.of_release or one.of_rest for one in asked.criteria) and asked.of_cells is None
    if told is None or not isinstance(cost, OwnCost) or not by_itself or not len(levels):
        return lambda position: counter.count(tuple(levels[position].tolist()))
    nodes, of = _statistics(task, levels, suppressed, told), told
    return lambda position: ToldStatistics(nodes, position, of.sizes_of(position), counter.count)


def _asked(levels: Levels, suppressed: Rows, *, all_same: bool) -> NDArray[np.bool_]:
    """Which nodes a monotone cost must be asked of: none of whose children suppresses the same rows.

    Two nodes of which one lies above the other suppress the same rows where they suppress none; and, with
    ``all_same``, where they suppress as many.
    """
    rows = dict(zip(map(tuple, levels.tolist()), suppressed.tolist(), strict=True))
    return np.array(
        [
            not any(
                rows.get(child) == number and (all_same or not number)
                for child in children_within(node, (0,) * len(node))
            )
            for node, number in rows.items()
        ]
    )


@dataclass(eq=False)
class StagedOptimum:
    """The answer of one task; ``settled`` where the nodes that are left are few enough to judge."""

    task: SearchTask
    cost: Cost
    counter: StatisticsCounter
    search: StagedSearch
    settled: bool = True
    best: Candidate | None = field(init=False, default=None)

    @classmethod
    def of(cls, task: SearchTask, cost: Cost, counter: StatisticsCounter) -> StagedOptimum | None:
        """For a task; None where the lattice is not to be searched by stages (``staged_search``)."""
        search = staged_search(task, cost, counter)
        if search is None:
            return None
        found = cls(task, cost, counter, search)
        left = search.run()
        if search.gave_up:
            found.settled = False
        else:
            found._decide(*left)
        return found

    @property
    def checked(self) -> int:
        """The nodes counted."""
        return self.search.checked + self.counter.counted

    @property
    def scans(self) -> int:
        """The frequency sets made from the row types."""
        return self.search.scans + self.counter.scans

    def solution(self) -> Solution | None:
        """The best node; whether it is minimal may take more counts."""
        best = self.best
        if best is None:
            return None
        lower = [n for n in children_within(best.node, self.task.low) if not self.search.exceeds(n)]
        minimal = all(rows > self.task.limit for rows in self._suppressed(lower))
        return Solution(best.node, best.suppressed, minimal, best.cost)

    def _decide(self, levels: Levels, suppressed: Rows) -> None:
        """Find the best of the nodes that are left."""
        if not len(levels):
            return
        if not sizes_tell(self.task):
            self._decide_by_counting(levels, suppressed)
            return
        told = StagedNodes(self.task, self.search.sizes, levels)
        costs = costs_of_sums(self.task, self.cost, levels, suppressed, told)
        if costs is not None:
            self.best = preferred(levels, suppressed, costs)
        else:
            self.best = cheapest(self.task, self.cost, levels, suppressed, self.counter, told)

    def _decide_by_counting(self, levels: Levels, suppressed: Rows) -> None:
        """Count the nodes that are left, in the order of their bounds, unless there are many of them."""
        bounds = self.cost.least_from(levels, suppressed)
        for position in order_of_preference(levels, suppressed, bounds).tolist():
            if beyond(cost_at(bounds, position), self.best):
                break
            if self.counter.counted > FEW:
                self.settled = False
                return
            statistics = self.counter.count(tuple(levels[position].tolist()))
            if statistics.suppressed <= self.task.limit:
                exact = self.cost.of(statistics)
                self.best = better(self.best, Candidate(statistics.node, exact, statistics.suppressed))

    def _suppressed(self, nodes: list[LatticeNode]) -> list[int]:
        if sizes_tell(self.task) and nodes:
            levels, least = np.array(nodes), self.task.requirement.least_rows
            rows: list[int] = self.search.sizes.count(range(levels.shape[1]), levels, least).below.tolist()
            return rows
        return [self.counter.count(node).suppressed for node in nodes]
