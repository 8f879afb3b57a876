"""Costs of nodes whose suppressed rows are known, and the cheapest of them.

Costs of class sizes and vectorized cost functions are computed for all nodes at once from sums over
their classes. For other costs nodes are counted in the order of their lower bounds, until a bound
exceeds the best cost.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from discreet.lattice.evaluated_lattice import EvaluatedLattice
from discreet.measures.cell_sums import cost_at
from discreet.measures.cost_kinds import ClassSizeCost, Cost, UserCost
from discreet.measures.node_statistics import LazyNodeStatistics, NodesStatistics, NodeStatistics
from discreet.model.frequency_set import has_one_row_per_subject
from discreet.model.lattice import LatticeNode
from discreet.model.search_result import Solution
from discreet.search.candidate_nodes import (
    CandidateLevels,
    CandidateRows,
    SubsetFilter,
    count_in_order,
    fails_by_size_only,
    open_subset_filter,
)
from discreet.search.node_counts import CandidateBatch, EvaluatedBatch, NodeBatch, StatisticsCounter
from discreet.search.search_problem import (
    Candidate,
    SearchProblem,
    children_within,
    exceeds_best,
    order_of_preference,
    preferred_node,
    preferred_of_two,
    solutions_of,
)


def costs_from_class_sums(
    task: SearchProblem, cost: Cost, levels: CandidateLevels, suppressed: CandidateRows, batch: NodeBatch
) -> NDArray[np.float64] | None:
    """Compute the costs of nodes from sums over their classes; None for a cost that needs more."""
    if isinstance(cost, ClassSizeCost):
        found = batch.sums(every=cost.of_all)
        costs: NDArray[np.float64] = cost.of_sizes(found.classes, found.squares, suppressed)
        return costs.astype(np.float64)
    if isinstance(cost, UserCost) and cost.over_nodes is not None:
        return cost.of_nodes(_batch_statistics(task, levels, suppressed, batch))
    return None


def _batch_statistics(
    task: SearchProblem, levels: CandidateLevels, suppressed: CandidateRows, batch: NodeBatch
) -> NodesStatistics:
    found = batch.sums()
    return NodesStatistics(
        levels, suppressed, found.classes, found.squares, task.rows, task.hierarchies, task.requirement
    )


def find_cheapest(
    task: SearchProblem,
    cost: Cost,
    levels: CandidateLevels,
    suppressed: CandidateRows,
    counter: StatisticsCounter,
    batch: NodeBatch | None = None,
) -> Candidate | None:
    """Return the preferred node within the limit, counting in the order of bounds; None without nodes.

    A user's cost function reads from ``batch``; a node is counted when the function reads more of it.
    """
    if isinstance(cost, UserCost) and cost.monotone:
        needed = np.flatnonzero(_needs_cost(levels, suppressed, all_same=task.suppression_never_rises))
        levels, suppressed = levels[needed], suppressed[needed]
        batch = None if batch is None else batch.only(needed)
    bounds = cost.lower_bounds(levels, suppressed)
    statistics_at = _statistics_reader(task, cost, levels, suppressed, counter, batch)
    best: Candidate | None = None
    for position in order_of_preference(levels, suppressed, bounds).tolist():
        if exceeds_best(cost_at(bounds, position), best):
            break
        node: LatticeNode = tuple(levels[position].tolist())
        exact = cost.known(node, int(suppressed[position]))
        if exact is None:
            exact = cost.of(statistics_at(position))
        best = preferred_of_two(best, Candidate(node, exact, int(suppressed[position])))
    return best


def _statistics_reader(
    task: SearchProblem,
    cost: Cost,
    levels: CandidateLevels,
    suppressed: CandidateRows,
    counter: StatisticsCounter,
    batch: NodeBatch | None,
) -> Callable[[int], NodeStatistics]:
    """Return the function that gives a cost the statistics of the node at a position.

    Every node is counted if the suppression of a class may depend on the other classes.
    """
    requirement = task.requirement
    by_itself = (
        not any(one.of_release or one.judges_suppressed_rows for one in requirement.criteria)
        and requirement.of_cells is None
    )
    if batch is None or not isinstance(cost, UserCost) or not by_itself or not len(levels):
        return lambda position: counter.count(tuple(levels[position].tolist()))
    nodes, of = _batch_statistics(task, levels, suppressed, batch), batch
    return lambda position: LazyNodeStatistics(nodes, position, of.sizes_of(position), counter.count)


def _needs_cost(levels: CandidateLevels, suppressed: CandidateRows, *, all_same: bool) -> NDArray[np.bool_]:
    """Mark the nodes for which a monotone cost must be computed: no child suppresses the same rows.

    Of two nodes, one above the other, both suppress the same rows if they suppress none and, with
    ``all_same``, if they suppress equally many.
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
class FilteredOptimum:
    """Optimum among the nodes that the subset filter retains; ``settled`` unless too many nodes remained."""

    task: SearchProblem
    cost: Cost
    counter: StatisticsCounter
    search: SubsetFilter
    settled: bool = True
    best: Candidate | None = field(init=False, default=None)

    @classmethod
    def of(cls, task: SearchProblem, cost: Cost, counter: StatisticsCounter) -> FilteredOptimum | None:
        """Search a problem by stages; None if no subset filter applies (``open_subset_filter``)."""
        search = open_subset_filter(task, cost, counter)
        if search is None:
            return None
        result = cls(task, cost, counter, search)
        left = search.run()
        if search.abandoned:
            result.settled = False
        else:
            result._decide(*left)
        return result

    @property
    def checked(self) -> int:
        """Number of counted nodes."""
        return self.search.checked + self.counter.counted

    @property
    def scans(self) -> int:
        """Number of frequency sets computed from the row types."""
        return self.search.scans + self.counter.scans

    def solutions(self) -> tuple[Solution, ...]:
        """Return the best node, if any; counts its children to see whether it is minimal."""
        if self.best is None:
            return ()
        lower = [n for n in children_within(self.best.node, self.task.low) if not self.search.exceeds(n)]
        rows = dict(zip(lower, self._suppressed(lower), strict=True))
        limit = self.task.limit
        return solutions_of(self.task, self.best, lambda node: rows.get(node, limit + 1) > limit)

    def _decide(self, levels: CandidateLevels, suppressed: CandidateRows) -> None:
        """Find the best of the remaining nodes."""
        if not len(levels):
            return
        if not fails_by_size_only(self.task):
            counted = count_in_order(self.task, self.cost, self.counter, levels, suppressed)
            self.settled = counted is not None
            self.best = None if counted is None else counted[0]
            return
        batch = CandidateBatch(self.task, self.search.sizes, levels)
        costs = costs_from_class_sums(self.task, self.cost, levels, suppressed, batch)
        if costs is not None:
            self.best = preferred_node(levels, suppressed, costs)
        else:
            self.best = find_cheapest(self.task, self.cost, levels, suppressed, self.counter, batch)

    def _suppressed(self, nodes: list[LatticeNode]) -> list[int]:
        if fails_by_size_only(self.task) and nodes:
            levels, least = np.array(nodes), self.task.requirement.least_rows
            rows: list[int] = self.search.sizes.count(range(levels.shape[1]), levels, least).below.tolist()
            return rows
        return [self.counter.count(node).suppressed for node in nodes]


@dataclass(frozen=True, eq=False)
class NodeCosts:
    """Costs of some nodes under a problem's requirement; ``levels`` has shape ``(nodes, attributes)``.

    ``bounds`` are lower bounds, or the costs themselves if ``exact``. Their shape is ``(nodes,)``, or
    ``(nodes, parts)`` for a cost of several parts, the most significant part first.
    """

    cost: Cost
    levels: NDArray[np.int64]
    suppressed: NDArray[np.int64]
    bounds: NDArray[np.float64]
    exact: bool
    counter: StatisticsCounter

    @classmethod
    def of(
        cls,
        task: SearchProblem,
        levels: NDArray[np.int64],
        suppressed: NDArray[np.int64],
        evaluated: EvaluatedLattice | None = None,
    ) -> NodeCosts:
        """Compute the costs or bounds of nodes.

        If ``evaluated`` is given, ``levels`` contains all of its nodes in its order.
        """
        cost = task.cost_or("height")
        counter = StatisticsCounter.of(task)
        costs = None
        if evaluated is not None and has_one_row_per_subject(task.frequency_set):
            nodes = np.arange(len(levels))
            exact = EvaluatedBatch(evaluated, task.requirement, nodes)
            costs = costs_from_class_sums(task, cost, levels, suppressed, exact)
        bounds = cost.lower_bounds(levels, suppressed) if costs is None else costs
        return cls(cost, levels, suppressed, bounds, costs is not None, counter)

    def at(self, position: int) -> float:
        """Return the cost of one node; count it if its levels and suppressed rows do not determine it."""
        if self.exact:
            return cost_at(self.bounds, position)
        node = tuple(self.levels[position].tolist())
        known = self.cost.known(node, int(self.suppressed[position]))
        return self.cost.of(self.counter.count(node)) if known is None else known
