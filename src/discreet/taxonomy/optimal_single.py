"""Optimal single-dimension ordered-set partitioning by C_DM or C_AVG, or one with a proven gap.

``ordered_single`` contains the definition; the cost here is that of the classes, by which LeFevre et al.
(2006) compare single-dimensional and multidimensional partitionings. The search follows K-Optimize (Bayardo
and Agrawal 2005): branch and bound over a tree of sets of cuts. It differs in three ways. Nodes are bounded
by boxes of intervals, each divided separately, which accounts for the cuts of all attributes at once. The
last two attributes are divided exactly. The node of least bound is visited first, so the least bound of the
waiting nodes is a proven bound of the optimum.

Cost: exponential in the attributes before the last two, in the worst case; memory, the waiting nodes.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError, InternalError
from discreet.frequency.kernel_choice import choose_kernels
from discreet.model.class_recoding import ClassRecoding
from discreet.model.frequency_set import FrequencySet
from discreet.model.request import Backend
from discreet.model.requirement import Requirement
from discreet.taxonomy.class_counts import (
    IMPOSSIBLE_COST,
    MOST_SQUARED_ROWS,
    ClassCost,
    ClassCostRule,
    ClassCounts,
)
from discreet.taxonomy.interval_division import (
    DividedTable,
    IntervalDivision,
    IntervalStarts,
    PairSolver,
    enumerate_intervals,
    find_good_division,
    interval_numbers,
    sum_over_intervals,
)
from discreet.taxonomy.ordered_single import OrderedValues, recoding_of_starts

_Integers = NDArray[np.int64]
_MOST_CELLS = 1 << 23
_MOST_BOXES = 1 << 20
_PAIR_STEPS = 1 << 28
_BOX_NODES = 2000


def compute_nested_bounds(table: DividedTable, solver: PairSolver) -> list[_Integers]:
    """Compute lower bounds by box; entry d has one axis per interval number of the first d attributes.

    The first entry is the bound of the whole table. The list ends where there would be too many boxes.
    """
    above = table.sizes[:-2]
    numbers = [size * (size + 1) // 2 for size in table.sizes]
    depth, boxes = 0, 1
    while depth < len(above) and boxes * numbers[depth] <= _MOST_BOXES:
        boxes *= numbers[depth]
        depth += 1
    pair = table.sizes[-2] * table.sizes[-1]
    exact = depth == len(above) and boxes * pair <= _MOST_CELLS
    exact = exact and boxes * numbers[-1] * numbers[-2] <= _PAIR_STEPS
    deepest = _bound_by_pairs(table, solver) if exact else _bound_by_rows(table, solver.rule, depth)
    found = [deepest]
    for size in reversed(table.sizes[: deepest.ndim]):
        found.append(least_costs_of_divisions(found[-1], size)[..., 0])
    return found[::-1]


def least_costs_of_divisions(costs: _Integers, size: int) -> _Integers:
    """Return, by v (last axis), the least cost of dividing the values from v on, from the costs of intervals.

    The cost is ``IMPOSSIBLE_COST`` if every division contains an impossible interval.
    """
    least = np.zeros((*costs.shape[:-1], size + 1), np.int64)
    first, end = enumerate_intervals(size)
    for v in range(size - 1, -1, -1):
        at = np.flatnonzero(first == v)
        least[..., v] = np.minimum((costs[..., at] + least[..., end[at]]).min(axis=-1), IMPOSSIBLE_COST)
    return least


def _bound_by_pairs(table: DividedTable, solver: PairSolver) -> _Integers:
    cube = _sum_over_boxes(table.cube(len(table.sizes))[0], len(table.sizes) - 2)
    shape = cube.shape[:-2]
    return solver.bound_boxes(cube.reshape(-1, *cube.shape[-2:]), _BOX_NODES).reshape(shape)


def _bound_by_rows(table: DividedTable, rule: ClassCostRule, depth: int) -> _Integers:
    sizes = _sum_over_boxes(table.cube(depth)[0], depth)
    finest = _sum_over_boxes(table.cube(depth, rule.leaf_costs(table.counts))[0], depth)
    return rule.bound(sizes, finest)


def _sum_over_boxes(cube: _Integers, axes: int) -> _Integers:
    for axis in range(axes):
        cube = sum_over_intervals(cube, axis)
    return cube


def sum_box_bounds(bounds: Sequence[_Integers], chosen: Sequence[_Integers]) -> _Integers:
    """Sum the bounds by interval of the next attribute over the boxes of the ``chosen`` intervals."""
    depth = len(chosen)
    boxes = bounds[depth + 1][np.ix_(*chosen)] if depth else bounds[1]
    return np.asarray(np.minimum(boxes.reshape(-1, boxes.shape[-1]).sum(axis=0), IMPOSSIBLE_COST))


_FIRST_PAIR_NODES = 20_000
_MOST_WAITING = 2_000_000


class BestDivision(NamedTuple):
    """Best division, its cost, a proven lower bound of the least cost, and the nodes visited."""

    cost: int
    division: IntervalDivision
    lower: int
    nodes: int


class _DividedPrefix:
    """Division of the first attributes; its table is built on demand, since most nodes need none."""

    def __init__(self, division: IntervalDivision, above: _DividedPrefix | DividedTable) -> None:
        self.division = division
        self._above = above
        self._table: DividedTable | None = None

    @property
    def table(self) -> DividedTable:
        """Table divided by the attributes of the prefix."""
        if isinstance(self._above, DividedTable):
            return self._above
        if self._table is None:
            self._table = self._above.table.divide(self.division[-1])
        return self._table


@dataclass(frozen=True, eq=False)
class _AttributeDivision:
    """Prefix with cost bounds of its next attribute: ``costs`` by interval, ``rest`` from each value on."""

    prefix: _DividedPrefix
    size: int
    costs: _Integers
    rest: _Integers


def find_best_division(
    table: DividedTable,
    solver: PairSolver,
    start: tuple[int, IntervalDivision],
    *,
    nodes: int | None,
    is_over: Callable[[], bool],
    progress: Callable[[int, int], None] | None = None,
) -> BestDivision:
    """Search the best division within ``nodes`` nodes or until ``is_over``, with a proven bound.

    ``start`` is a division with its cost. ``progress`` receives the bound and the cost as they converge.
    """
    search = _BranchAndBound(table, solver, start)
    while search.waiting and search.lower < search.cost and not is_over():
        if (nodes is not None and search.nodes >= nodes) or len(search.waiting) > _MOST_WAITING:
            break
        search.step()
        if progress is not None and search.nodes % 256 == 0:
            progress(search.lower, search.cost)
    return BestDivision(search.cost, search.division, search.lower, search.nodes)


class _BranchAndBound:
    """Branch-and-bound tree: waiting nodes in a heap by bound, the latest first among equal bounds."""

    def __init__(self, table: DividedTable, solver: PairSolver, start: tuple[int, IntervalDivision]) -> None:
        self.solver = solver
        self.cost, self.division = start
        self.sizes = table.sizes
        self.bounds = compute_nested_bounds(table, solver)
        self.nodes = 0
        self._entered = 0
        self._unproven = IMPOSSIBLE_COST
        self.waiting: list[tuple[int, int, _DividedPrefix | _AttributeDivision, IntervalStarts, int]] = []
        self._enter(int(self.bounds[0]), _DividedPrefix((), table), (), _FIRST_PAIR_NODES)

    @property
    def lower(self) -> int:
        """Proven lower bound of the cost of any division."""
        return min(self.cost, self._unproven, *(node[0] for node in self.waiting[:1]))

    def step(self) -> None:
        """Visit the node of least bound."""
        bound, _, prefix, starts, number = heappop(self.waiting)
        self.nodes += 1
        if isinstance(prefix, _AttributeDivision):
            self._cut(bound, prefix, starts, number)
        elif len(prefix.division) == len(self.sizes) - 2:
            self._finish(bound, prefix, number)
        else:
            self._begin(bound, prefix)

    def _enter(
        self, bound: int, prefix: _DividedPrefix | _AttributeDivision, starts: IntervalStarts, number: int
    ) -> None:
        """Add a waiting node: a prefix, or cuts ``starts`` of an attribute with their cost ``number``.

        For a prefix, ``number`` is the budget of the exact division of its last two attributes.
        """
        if bound < self.cost:
            self._entered += 1
            heappush(self.waiting, (bound, -self._entered, prefix, starts, number))

    def _begin(self, bound: int, prefix: _DividedPrefix) -> None:
        """Compute the bounds of the next attribute's intervals and add its first node."""
        costs, size = self._weighed(prefix), self.sizes[len(prefix.division)]
        rest = least_costs_of_divisions(costs, size)
        self._enter(max(bound, int(rest[0])), _AttributeDivision(prefix, size, costs, rest), (0,), 0)

    def _weighed(self, prefix: _DividedPrefix) -> _Integers:
        depth = len(prefix.division)
        if depth + 1 < len(self.bounds):
            divided = zip(prefix.division, self.sizes[:depth], strict=True)
            return sum_box_bounds(self.bounds, [interval_numbers(*each) for each in divided])
        table = prefix.table
        rows = sum_over_intervals(table.cube(1), 1)
        finest = sum_over_intervals(table.cube(1, self.solver.rule.leaf_costs(table.counts)), 1)
        return np.asarray(np.minimum(self.solver.rule.bound(rows, finest).sum(axis=0), IMPOSSIBLE_COST))

    def _cut(self, bound: int, begun: _AttributeDivision, starts: IntervalStarts, known: int) -> None:
        """Add a node for every next cut of the attribute, and one for no further cut."""
        size, first = begun.size, starts[-1]
        # Intervals are numbered by start, then by end; each start has one interval fewer than the one before.
        offset = first * size - first * (first - 1) // 2
        for end in range(first + 1, size + 1):
            cost = known + int(begun.costs[offset + end - first - 1])
            child = max(bound, min(cost + int(begun.rest[end]), IMPOSSIBLE_COST))
            if child >= self.cost:
                continue
            if end < size:
                self._enter(child, begun, (*starts, end), cost)
            else:
                above = begun.prefix
                self._enter(child, _DividedPrefix((*above.division, starts), above), (), _FIRST_PAIR_NODES)

    def _finish(self, bound: int, prefix: _DividedPrefix, budget: int) -> None:
        """Divide the last two attributes."""
        found = self.solver.divide(prefix.table.cube(2), self.cost, budget)
        if found.cost < self.cost:
            self.cost, self.division = found.cost, (*prefix.division, found.x, found.y)
        if found.is_over:
            self._unproven = min(self._unproven, max(bound, found.lower))
        else:
            # The node waits again with its better bound, and gets a larger budget when it is next visited.
            self._enter(max(bound, found.lower), prefix, (), 4 * budget)


OPTIMAL_STATUS = "optimal"
DEFAULT_BUDGET_SECONDS = 60.0
"""Time limit in seconds if no budget is given."""

_START_SHARE = 0.3
_KERNEL_PART = "interval-pairs"
_MOST_VALUES_OF_TWIN = 10
"""Most values of an attribute that plain Python divides in reasonable time; above it kernels are compiled."""


@dataclass(frozen=True)
class SearchBudget:
    """Limits of a search that ends without a proof, in seconds or nodes; None means no limit.

    ``rounds`` is the number of perturbed rounds of the start, which takes at most a part of the seconds.
    The result depends on the speed of the machine, unless only nodes are limited.
    """

    seconds: float | None = DEFAULT_BUDGET_SECONDS
    nodes: int | None = None
    rounds: int = 60


@dataclass(frozen=True, eq=False)
class OptimalPartitioning:
    """Recoding with its C_DM or C_AVG, ``value``, and a proven lower ``bound`` of the optimum.

    ``division`` contains by attribute the ascending numbers of the values that start intervals.
    """

    recoding: ClassRecoding
    cost: ClassCost
    value: float
    bound: float
    nodes: int
    division: IntervalDivision

    @property
    def gap(self) -> float:
        """Share of the value that is not proven necessary: (value − bound) / value, 0 for an optimum."""
        return (self.value - self.bound) / self.value if self.value else 0.0

    @property
    def status(self) -> str:
        """``optimal`` if proven, else the gap as in ``gap 3.20 %``, rounded up."""
        return OPTIMAL_STATUS if self.gap <= 0 else f"gap {np.ceil(self.gap * 10_000) / 100:.2f} %"

    def as_json(self) -> dict[str, Any]:
        """Return the method, cost, value, bound and gap as a JSON document."""
        found = {"method": "optimal", "cost": str(self.cost), "value": self.value, "bound": self.bound}
        return found | {"gap": self.gap, "status": self.status, "nodes": self.nodes}


def find_optimal_single(
    frequency_set: FrequencySet,
    requirement: Requirement,
    *,
    limit: int = 0,
    cost: ClassCost = ClassCost.C_DM,
    budget: SearchBudget | None = None,
    start: IntervalDivision | None = None,
    evaluator: Backend = Backend.AUTO,
    progress: Callable[[int, int], None] | None = None,
    notice: Callable[[str], None] | None = None,
) -> OptimalPartitioning:
    """Find the single-dimension recoding of least C_DM or C_AVG, or the best one within a budget.

    Parameters
    ----------
    frequency_set
        The counted table, of at most 2^24 rows.
    requirement
        A requirement of k only.
    limit
        Greatest number of suppressed rows; 0 for C_AVG.
    cost
        The minimized metric.
    budget
        Seconds or nodes after which the search ends.
    start
        A division to begin with, such as one of a former result for the same table.
    evaluator
        Kernels, numpy twin, or the choice between them.
    progress
        Callback that receives the proven and the found cost.
    notice
        Callback that receives one line about the cause of a delay.

    Returns
    -------
    OptimalPartitioning
        The recoding, its cost and the proven bound.

    Raises
    ------
    NoSolution
        If there is no solution.
    InputError
        For more than k, for suppressed rows with C_AVG, and for tables of more than 2^24 rows.
    InternalError
        If the recounted classes do not have the cost of the division.

    References
    ----------
    Bayardo and Agrawal, "Data privacy through optimal k-anonymization", ICDE 2005.
    """
    counts = ClassCounts(frequency_set, requirement)
    rule = _build_cost_rule(frequency_set, requirement, cost, limit)
    counts.require_solution(rule.limit)
    values = [
        OrderedValues(hierarchy, frequency_set.codes[:, i], frequency_set.counts, 1.0)
        for i, hierarchy in enumerate(frequency_set.hierarchies)
    ]
    ordered = _OrderedTable.of(values, frequency_set.counts)
    compiled = choose_kernels(
        [_KERNEL_PART], "division", worth=frequency_set.row_types > 100, evaluator=evaluator, notice=notice
    )
    solver = PairSolver(rule, compiled or max(ordered.table.sizes) > _MOST_VALUES_OF_TWIN)
    found = _search_division(ordered, solver, budget or SearchBudget(), start, progress)
    division = ordered.restored(found.division)
    recoding = recoding_of_starts(counts, values, [np.array(starts, np.int64) for starts in division])
    if _recount_cost(recoding, rule) != found.cost:
        raise InternalError("recounted classes differ from the search's cost")
    return OptimalPartitioning(
        recoding, cost, rule.value(found.cost), rule.value(found.lower), found.nodes, division
    )


@dataclass(frozen=True, eq=False)
class _OrderedTable:
    """Table with attributes sorted from few values to many, since the last two are divided exactly.

    ``order`` contains their indices in the frequency set. A table of one attribute gets a second one with
    one value.
    """

    table: DividedTable
    order: tuple[int, ...]

    @classmethod
    def of(cls, values: Sequence[OrderedValues], counts: _Integers) -> _OrderedTable:
        order = sorted(range(len(values)), key=lambda i: values[i].size)
        places = [values[i].value_index.astype(np.int64) for i in order]
        sizes = [values[i].size for i in order]
        if len(order) == 1:
            places, sizes = [np.zeros_like(places[0]), *places], [1, *sizes]
        return cls(DividedTable.of(places, sizes, counts), tuple(order))

    def arranged(self, division: IntervalDivision) -> IntervalDivision:
        """Return a division in the table's order."""
        spare = ((0,),) * (len(self.table.sizes) - len(self.order))
        return (*spare, *(division[i] for i in self.order))

    def restored(self, division: IntervalDivision) -> IntervalDivision:
        """Return a division in the frequency set's order."""
        found = dict(zip(self.order, division[len(division) - len(self.order) :], strict=True))
        return tuple(found[i] for i in range(len(self.order)))


def _build_cost_rule(
    frequency_set: FrequencySet, requirement: Requirement, cost: ClassCost, limit: int
) -> ClassCostRule:
    if requirement.k is None or len(requirement.criteria) > 1:
        raise InputError(
            f"the optimal division for {requirement}",
            allowed="a requirement with only k",
            advice="Use --method greedy for l." if requirement.l is not None else "Use --method greedy.",
        )
    if cost is ClassCost.C_AVG and limit:
        raise InputError(
            "c-avg does not count suppressed rows, so none may be suppressed",
            allowed="--max-suppressed 0, or --cost c-dm",
        )
    if frequency_set.rows > MOST_SQUARED_ROWS:
        raise InputError(
            f"the optimal division of {frequency_set.rows:,} rows",
            allowed=f"at most {MOST_SQUARED_ROWS:,} rows",
            advice="Use --method greedy.",
        )
    return ClassCostRule(cost, requirement.k, min(limit, frequency_set.rows), frequency_set.rows)


def _search_division(
    ordered: _OrderedTable,
    solver: PairSolver,
    budget: SearchBudget,
    start: IntervalDivision | None,
    progress: Callable[[int, int], None] | None,
) -> BestDivision:
    begun = time.monotonic()
    share = _START_SHARE * budget.seconds if budget.seconds is not None else np.inf
    known = find_good_division(
        ordered.table,
        solver,
        None if start is None else ordered.arranged(start),
        budget.rounds,
        lambda: time.monotonic() - begun > share,
    )
    seconds = np.inf if budget.seconds is None else budget.seconds
    result = find_best_division(
        ordered.table,
        solver,
        known,
        nodes=budget.nodes,
        is_over=lambda: time.monotonic() - begun > seconds,
        progress=progress,
    )
    if solver.compiled:
        from discreet.kernels.precompilation import mark_compiled

        mark_compiled(_KERNEL_PART)
    return result


def _recount_cost(recoding: ClassRecoding, rule: ClassCostRule) -> int:
    """Compute the cost of the classes from the recoding, independently of the search."""
    sizes = recoding.class_rows()
    if rule.cost is ClassCost.C_AVG:
        return -len(sizes)
    return int((sizes * sizes).sum()) + recoding.suppressed * rule.rows
