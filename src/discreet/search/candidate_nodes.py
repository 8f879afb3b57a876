"""Candidate nodes of least cost within the suppression limit, found without evaluating the lattice.

With some attributes at their top levels a node suppresses no more rows than any node of the same other
levels. So nodes over a few attributes are counted first in a small table; whatever exceeds the limit
there, or whose bound exceeds the incumbent's cost, is removed for all levels of the other attributes
(the subsets of Incognito, LeFevre et al. 2005, with suppression). The rest is joined with the levels of
the next attributes.

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

StageLevels = NDArray[np.int64]
StageRows = NDArray[np.int64]

_FEWEST = 4
"""A stage costs a sort and some passes over its nodes: of fewer attributes it leaves too few out."""
_PROBE_ATTRIBUTES = 3
_USEFUL_SHARE = 0.98
"""Where a stage leaves more than that, bounds say little, and only the last stage follows."""
_WORTHWHILE_SHARE = 0.93
"""Where it leaves more than that, and bounds will leave little out, the lattice is as soon evaluated."""
_WORTHWHILE_SHARE_PER_NODE = 0.5
"""The same under a function of one node, for which the lattice is evaluated where many nodes are left."""
_FAR, _HALVINGS = 2, 8


@dataclass(frozen=True, eq=False)
class _CountedStage:
    """The nodes over some attributes, and the rows that each of them suppresses for k."""

    attributes: tuple[int, ...]
    levels: StageLevels
    suppressed: StageRows


@dataclass(eq=False)
class SubsetFilter:
    """The nodes of one task that no bound leaves out; ``best`` is a node that is known.

    ``gave_up``: the lattice is better evaluated.
    ``checked`` are the nodes counted, over all sets of attributes; ``scans`` the tables that were made.
    """

    task: SearchProblem
    cost: Cost
    sizes: SizeCounter
    best: Candidate | None
    abandoned: bool = False
    checked: int = 0
    scans: int = 0
    _stages: list[_CountedStage] = field(default_factory=list)

    def run(self) -> tuple[StageLevels, StageRows]:
        """The nodes that are left, and the rows that each suppresses for k; nothing of use if it gave up."""
        levels, suppressed = np.array([self.task.low]), np.zeros(1, np.int64)
        kept: tuple[int, ...] = ()
        parts, of_use = self._parts(), True
        by_one = isinstance(self.cost, UserCost) and self.cost.over_nodes is None
        worth = _WORTHWHILE_SHARE_PER_NODE if by_one else _WORTHWHILE_SHARE
        for number, attributes in enumerate(parts, 1):
            self.task.advance(number, len(parts))
            if not of_use and number < len(parts):
                continue
            added = [a for a in attributes if a not in kept]
            levels, suppressed = self._joined(levels, suppressed, added)
            levels, suppressed = _select(self._may_win(levels, suppressed), levels, suppressed)
            kept = attributes
            if not len(levels):
                break
            least = self.task.requirement.least_rows
            most = self._most(levels)
            suppressed = self.sizes.count(attributes, levels[:, list(attributes)], least, most).below
            self.checked += len(levels)
            self.scans += 1
            self._stages.append(_CountedStage(attributes, levels, suppressed))
            left = self._may_win(levels, suppressed) & (suppressed <= most)
            number_left = int(left.sum())
            if number < len(parts) and not self.cost.prunes_by_levels and number_left > worth * len(levels):
                self.abandoned = True
                break
            of_use = number_left <= _USEFUL_SHARE * len(levels)
            levels, suppressed = _select(left, levels, suppressed)
        return levels, suppressed

    def exceeds(self, node: LatticeNode) -> bool:
        """Whether a node is known to exceed the suppression limit."""
        for stage in self._stages:
            at = [node[a] for a in stage.attributes]
            same = (stage.levels[:, list(stage.attributes)] == at).all(axis=1)
            if (stage.suppressed[same] > self.task.limit).any():
                return True
        return False

    def _parts(self) -> list[tuple[int, ...]]:
        """Ever larger sets of attributes, ascending."""
        order, heights = self.sizes.order, self.task.lattice.heights
        always = [a for a in order if not heights[a]]
        growing = [a for a in order if heights[a]]
        numbers = [len(growing)]
        while _smaller_subset_size(numbers[-1]) >= _FEWEST:
            numbers.append(_smaller_subset_size(numbers[-1]))
        if len(numbers) == 1 and len(growing) > _PROBE_ATTRIBUTES and not self.cost.prunes_by_levels:
            numbers.append(
                _PROBE_ATTRIBUTES
            )  # a look at whether the limit leaves anything out, before all is counted
        return [tuple(sorted([*always, *growing[:number]])) for number in reversed(numbers)]

    def _joined(
        self, levels: StageLevels, suppressed: StageRows, added: list[int]
    ) -> tuple[StageLevels, StageRows]:
        """Every node with every combination of the levels of some attributes."""
        for attribute in added:
            choices = np.arange(self.task.low[attribute], self.task.high[attribute] + 1)
            levels = np.repeat(levels, len(choices), axis=0)
            levels[:, attribute] = np.tile(choices, len(suppressed))
            suppressed = np.repeat(suppressed, len(choices))
        return levels, suppressed

    def _most(self, levels: StageLevels) -> StageRows:
        """The most rows that a node may suppress and still win, it or one above it; or some more.

        What the costs say is asked where the limit alone would leave few nodes out.
        """
        most = np.full(len(levels), self.task.limit)
        if self.best is None or self.task.limit <= _FAR * self.best.suppressed:
            return most
        enough = np.zeros(len(levels), np.int64)
        for _ in range(_HALVINGS):
            middle = (enough + most + 1) // 2
            beyond = exceed_best(self.cost.cheap_lower_bounds(levels, middle), self.best)
            most = np.where(beyond, middle - 1, most)
            enough = np.where(beyond, enough, middle)
        return most

    def _may_win(self, levels: StageLevels, suppressed: StageRows) -> NDArray[np.bool_]:
        """Whether a node, or one above it that suppresses as many rows or more, may be preferred."""
        found = suppressed <= self.task.limit
        if self.best is not None and found.any():
            bounds = self.cost.cheap_lower_bounds(levels[found], suppressed[found])
            found[found] = ~exceed_best(bounds, self.best)
        return found


def _smaller_subset_size(attributes: int) -> int:
    """How many the set of attributes before one of so many has: three fifths of them."""
    return (3 * attributes + 1) // 5


def _select(
    found: NDArray[np.bool_], levels: StageLevels, suppressed: StageRows
) -> tuple[StageLevels, StageRows]:
    return levels[found], suppressed[found]


MOST_SINGLE_COUNTS = 64
"""Where classes may fail for more than their rows, no more nodes are counted one by one."""

CandidateLevels = NDArray[np.int64]
CandidateRows = NDArray[np.int64]


def find_candidate_nodes(task: SearchProblem, cost: Cost) -> tuple[CandidateLevels, CandidateRows] | None:
    """Nodes within the limit, among them every one of least cost, and the rows that each suppresses.

    Shapes ``(nodes, attributes)`` and ``(nodes,)``, in mixed-radix order. Looked up where the lattice is
    known; None where it is to be evaluated (``search.candidate_nodes`` does not serve, or would count many
    nodes).
    """
    if task.known is not None:
        suppressed = task.known.suppression(task.requirement)
        nodes = solution_indices(task, suppressed)
        return levels_of_nodes(task, nodes), suppressed[nodes]
    if not fits_memory(task):
        return None
    counter = StatisticsCounter(task.frequency_set, task.requirement, task.settings.memory_limit // 4)
    search = open_subset_filter(task, cost, counter)
    if search is None:
        return None
    levels, suppressed = search.run()
    if search.abandoned:
        return None
    if not fails_by_size_only(task):
        return _count_candidates(task, cost, counter, levels, suppressed)
    return _in_order(levels, suppressed)


def open_subset_filter(task: SearchProblem, cost: Cost, counter: StatisticsCounter) -> SubsetFilter | None:
    """For a task; None where classes of any size may pass, or no compiled kernel serves.

    None as well where the release is judged as a whole: which classes stay depends on all of them.
    """
    asked = task.requirement
    if asked.least_rows < 2 or any(criterion.of_release for criterion in asked.criteria):
        return None
    sizes = SizeCounter.of(task.frequency_set, task.settings, task.notice)
    if sizes is None:
        return None
    if not cost.prunes_by_levels:
        return SubsetFilter(task, cost, sizes, None)
    best, told = find_incumbent(task, cost, counter, sizes if fails_by_size_only(task) else None)
    return SubsetFilter(task, cost, sizes, best, checked=told)


def fails_by_size_only(task: SearchProblem) -> bool:
    """Whether a class fails for its number of rows alone."""
    requirement = task.requirement
    if not all(criterion.counted == SIZE_SCORE for criterion in requirement.criteria):
        return False
    if not has_one_row_per_subject(task.frequency_set):
        return False
    return requirement.thresholds((SIZE_SCORE,), ()) == (requirement.least_rows,)


def _count_candidates(
    task: SearchProblem,
    cost: Cost,
    counter: StatisticsCounter,
    levels: CandidateLevels,
    suppressed: CandidateRows,
) -> tuple[CandidateLevels, CandidateRows] | None:
    """Those within the limit, counted in the order of their bounds until none may win; None if many."""
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
    within = rows <= task.limit
    return _in_order(levels[within], rows[within])


def _in_order(levels: CandidateLevels, suppressed: CandidateRows) -> tuple[CandidateLevels, CandidateRows]:
    order = np.lexsort(levels.T[::-1])
    return levels[order], suppressed[order]
