"""Candidate nodes of least cost within the suppression limit, found without evaluating the lattice.

A node with some attributes at their top levels suppresses no more rows than any node with the same levels of
the other attributes. So nodes over a few attributes are counted first in a small table; every node that
exceeds the limit there, or whose bound exceeds the incumbent's cost, is removed for all levels of the other
attributes (as in Incognito; LeFevre et al. 2005; with suppression). The rest is joined with the
levels of the next attributes.

Cost: the states of the counted nodes, a small part of the lattice's.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from discreet.lattice.size_counter import SizeCounter
from discreet.measures.cell_sums import cost_at
from discreet.measures.cost_kinds import Cost, UserCost
from discreet.model.criteria.registry import SIZE_SCORE
from discreet.model.frequency_set import has_one_row_per_subject
from discreet.model.lattice import LatticeNode
from discreet.search.incumbent import find_incumbent
from discreet.search.node_counts import StatisticsCounter
from discreet.search.search_problem import (
    Candidate,
    SearchProblem,
    exceed_best,
    exceeds_best,
    fits_memory,
    levels_of_nodes,
    order_of_preference,
    preferred_of_two,
    solution_indices,
)

CandidateLevels = NDArray[np.int64]
"""Levels of nodes, shape ``(nodes, attributes)``."""
CandidateRows = NDArray[np.int64]
"""Suppressed rows of nodes, shape ``(nodes,)``."""

_FEWEST = 4
"""A stage costs a sort and some passes over its nodes; with fewer attributes it removes too few nodes."""
_PROBE_ATTRIBUTES = 3
_USEFUL_SHARE = 0.98
"""If a stage retains a larger share, bounds remove little, and only the last stage follows."""
_WORTHWHILE_SHARE = 0.93
"""If a stage retains a larger share and bounds remove little, evaluating the lattice is as fast."""
_WORTHWHILE_SHARE_PER_NODE = 0.5
"""The same for a cost function of one node, for which the lattice is evaluated if many nodes remain."""


@dataclass(frozen=True, eq=False)
class _CountedStage:
    """Nodes over some attributes, and the rows that each suppresses for k."""

    attributes: tuple[int, ...]
    levels: CandidateLevels
    suppressed: CandidateRows


@dataclass(eq=False)
class SubsetFilter:
    """Filter of the nodes of one problem by subsets of attributes; ``best`` is a known node within the limit.

    ``abandoned``: evaluating the lattice is faster. ``checked`` counts nodes over all subsets of attributes,
    ``scans`` the tables that were made.
    """

    task: SearchProblem
    cost: Cost
    sizes: SizeCounter
    best: Candidate | None
    abandoned: bool = False
    checked: int = 0
    scans: int = 0
    _stages: list[_CountedStage] = field(default_factory=list)

    def run(self) -> tuple[CandidateLevels, CandidateRows]:
        """Return the remaining nodes and the rows that each suppresses for k; unusable if ``abandoned``."""
        levels, suppressed = np.array([self.task.low]), np.zeros(1, np.int64)
        previous: tuple[int, ...] = ()
        parts, of_use = self._parts(), True
        by_one = isinstance(self.cost, UserCost) and self.cost.over_nodes is None
        worth = _WORTHWHILE_SHARE_PER_NODE if by_one else _WORTHWHILE_SHARE
        for number, attributes in enumerate(parts, 1):
            self.task.advance(number, len(parts))
            if not of_use and number < len(parts):
                continue
            added = [a for a in attributes if a not in previous]
            levels, suppressed = self._joined(levels, suppressed, added)
            levels, suppressed = _select(self._may_win(levels, suppressed), levels, suppressed)
            previous = attributes
            if not len(levels):
                break
            least = self.task.requirement.least_rows
            most = np.full(len(levels), self.task.limit)
            suppressed = self.sizes.count(attributes, levels[:, list(attributes)], least, most).below
            self.checked += len(levels)
            self.scans += 1
            self._stages.append(_CountedStage(attributes, levels, suppressed))
            left = self._may_win(levels, suppressed)
            number_left = int(left.sum())
            if number < len(parts) and not self.cost.prunes_by_levels and number_left > worth * len(levels):
                self.abandoned = True
                break
            of_use = number_left <= _USEFUL_SHARE * len(levels)
            levels, suppressed = _select(left, levels, suppressed)
        return levels, suppressed

    def exceeds(self, node: LatticeNode) -> bool:
        """Check whether a stage has shown that a node exceeds the suppression limit."""
        for stage in self._stages:
            at = [node[a] for a in stage.attributes]
            same = (stage.levels[:, list(stage.attributes)] == at).all(axis=1)
            if (stage.suppressed[same] > self.task.limit).any():
                return True
        return False

    def _parts(self) -> list[tuple[int, ...]]:
        """Return ever larger sets of attributes, each ascending."""
        order, heights = self.sizes.order, self.task.lattice.heights
        always = [a for a in order if not heights[a]]
        growing = [a for a in order if heights[a]]
        numbers = [len(growing)]
        while _smaller_subset_size(numbers[-1]) >= _FEWEST:
            numbers.append(_smaller_subset_size(numbers[-1]))
        if len(numbers) == 1 and len(growing) > _PROBE_ATTRIBUTES and not self.cost.prunes_by_levels:
            numbers.append(
                _PROBE_ATTRIBUTES
            )  # probe whether the limit removes anything before all attributes are counted
        return [tuple(sorted([*always, *growing[:number]])) for number in reversed(numbers)]

    def _joined(
        self, levels: CandidateLevels, suppressed: CandidateRows, added: list[int]
    ) -> tuple[CandidateLevels, CandidateRows]:
        """Combine every node with all levels of the added attributes."""
        for attribute in added:
            choices = np.arange(self.task.low[attribute], self.task.high[attribute] + 1)
            levels = np.repeat(levels, len(choices), axis=0)
            levels[:, attribute] = np.tile(choices, len(suppressed))
            suppressed = np.repeat(suppressed, len(choices))
        return levels, suppressed

    def _may_win(self, levels: CandidateLevels, suppressed: CandidateRows) -> NDArray[np.bool_]:
        """Check whether each node, or one above it that suppresses as many rows or more, may be preferred."""
        result = suppressed <= self.task.limit
        if self.best is not None and result.any():
            bounds = self.cost.cheap_lower_bounds(levels[result], suppressed[result])
            result[result] = ~exceed_best(bounds, self.best)
        return result


def _smaller_subset_size(attributes: int) -> int:
    """Return the size of the subset before one of ``attributes`` attributes: three fifths of it."""
    return (3 * attributes + 1) // 5


def _select(
    found: NDArray[np.bool_], levels: CandidateLevels, suppressed: CandidateRows
) -> tuple[CandidateLevels, CandidateRows]:
    return levels[found], suppressed[found]


MOST_SINGLE_COUNTS = 64
"""Maximal number of nodes counted one by one if classes can fail for more than their rows."""


def find_candidate_nodes(task: SearchProblem, cost: Cost) -> tuple[CandidateLevels, CandidateRows] | None:
    """Return nodes within the limit, among them every one of least cost, and the rows that each suppresses.

    Shapes ``(nodes, attributes)`` and ``(nodes,)``, in mixed-radix order. A known lattice is looked up.
    Returns None if the lattice should be evaluated: no ``SubsetFilter`` applies, or it would count many
    nodes.
    """
    if task.known is not None:
        suppressed = task.known.suppression(task.requirement)
        nodes = solution_indices(task, suppressed)
        return levels_of_nodes(task, nodes), suppressed[nodes]
    if not fits_memory(task):
        return None
    counter = StatisticsCounter.of(task)
    search = open_subset_filter(task, cost, counter)
    if search is None:
        return None
    levels, suppressed = search.run()
    if search.abandoned:
        return None
    if not fails_by_size_only(task):
        counted = count_in_order(task, cost, counter, levels, suppressed)
        if counted is None:
            return None
        suppressed = counted[1]
        levels, suppressed = _select(suppressed <= task.limit, levels, suppressed)
    order = np.lexsort(levels.T[::-1])
    return levels[order], suppressed[order]


def open_subset_filter(task: SearchProblem, cost: Cost, counter: StatisticsCounter) -> SubsetFilter | None:
    """Build the subset filter of a problem, or return None.

    None if classes of any size may pass, if no compiled kernel applies, or if a criterion judges the release
    as a whole: which classes remain then depends on all of them.
    """
    requirement = task.requirement
    if requirement.least_rows < 2 or any(criterion.of_release for criterion in requirement.criteria):
        return None
    sizes = SizeCounter.of(task.frequency_set, task.settings, task.notice)
    if sizes is None:
        return None
    if not cost.prunes_by_levels:
        return SubsetFilter(task, cost, sizes, None)
    return SubsetFilter(task, cost, sizes, find_incumbent(task, cost, counter))


def fails_by_size_only(task: SearchProblem) -> bool:
    """Check whether a class fails only for its number of rows."""
    requirement = task.requirement
    if not all(criterion.counted == SIZE_SCORE for criterion in requirement.criteria):
        return False
    if not has_one_row_per_subject(task.frequency_set):
        return False
    return requirement.thresholds((SIZE_SCORE,), ()) == (requirement.least_rows,)


def count_in_order(
    task: SearchProblem,
    cost: Cost,
    counter: StatisticsCounter,
    levels: CandidateLevels,
    suppressed: CandidateRows,
) -> tuple[Candidate | None, CandidateRows] | None:
    """Count nodes in the order of their bounds until none can win; None if there are many.

    Returns the preferred node, and each node's suppressed rows, more than the limit where not counted.
    """
    rows = np.full(len(levels), task.limit + 1)
    best: Candidate | None = None
    bounds = cost.cheap_lower_bounds(levels, suppressed)
    for position in order_of_preference(levels, suppressed, bounds).tolist():
        if exceeds_best(cost_at(bounds, position), best):
            break
        if counter.counted > MOST_SINGLE_COUNTS:
            return None
        statistics = counter.count(tuple(levels[position].tolist()))
        rows[position] = statistics.suppressed
        if statistics.suppressed <= task.limit:
            best = preferred_of_two(
                best, Candidate(statistics.node, cost.of(statistics), statistics.suppressed)
            )
    return best, rows
