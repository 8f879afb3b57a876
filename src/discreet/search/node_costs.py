"""The cost of each node of a lattice whose suppressed rows are known: a bound of all, the cost of any."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.lattice.evaluated import EvaluatedLattice
from discreet.measures.aggregates import cost_at
from discreet.measures.cost_kinds import Cost
from discreet.model.subject_rows import one_row_each
from discreet.search.node_statistics import StatisticsCounter
from discreet.search.staged_optimum import costs_of_sums
from discreet.search.task import SearchTask
from discreet.search.told_nodes import EvaluatedNodes


@dataclass(frozen=True, eq=False)
class NodeCosts:
    """The costs of some nodes under a task's requirement; ``levels`` has shape ``(nodes, attributes)``.

    ``bounds`` are lower bounds, where ``told`` the costs themselves: shape ``(nodes,)``, or a column for each
    part of a cost, the first to be compared in front.
    """

    cost: Cost
    levels: NDArray[np.int64]
    suppressed: NDArray[np.int64]
    bounds: NDArray[np.float64]
    told: bool
    counter: StatisticsCounter

    @classmethod
    def of(
        cls,
        task: SearchTask,
        levels: NDArray[np.int64],
        suppressed: NDArray[np.int64],
        evaluated: EvaluatedLattice | None = None,
    ) -> NodeCosts:
        """The costs of nodes; of an evaluated lattice all of its nodes, in its order, else any."""
        cost = task.cost_or("height")
        counter = StatisticsCounter(task.frequency_set, task.requirement, task.settings.memory_limit // 4)
        costs = None
        if evaluated is not None and one_row_each(task.frequency_set):
            nodes = np.arange(len(levels))
            told = EvaluatedNodes(evaluated, task.requirement, nodes)
            costs = costs_of_sums(task, cost, levels, suppressed, told)
        bounds = cost.least_of(levels, suppressed) if costs is None else costs
        return cls(cost, levels, suppressed, bounds, costs is not None, counter)

    def at(self, position: int) -> float:
        """The cost of one of the nodes, counted where its levels and suppressed rows do not tell it."""
        if self.told:
            return cost_at(self.bounds, position)
        node = tuple(self.levels[position].tolist())
        known = self.cost.known(node, int(self.suppressed[position]))
        return self.cost.of(self.counter.count(node)) if known is None else known
