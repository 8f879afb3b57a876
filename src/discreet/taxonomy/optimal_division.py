"""The division of all attributes into intervals at least cost: branch and bound over sets of cuts.

After K-Optimize (Bayardo and Agrawal 2005): the cuts of all ordered domains are one list, of which every
recoding of the model is a subset, and subsets are visited as a tree. A node holds the cuts of the first
attributes and, of the next one, those up to a value; a child adds the next cut of it. Cuts that leave a class
below k with nowhere to go are useless and never tried: their intervals have an infinite bound. Three things
differ. Nodes are bounded by ``nested_bounds``, which see the cuts of all attributes at once; the last two
attributes are divided exactly (``kernels.interval_pairs``); and the node of the least bound is visited first,
so that at any moment the least bound of the waiting nodes is a proven lower bound of the optimum, and the
distance from the best division a proven gap.

Cost: exponential in the attributes before the last two, in the worst case; memory, the waiting nodes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from heapq import heappop, heappush

import numpy as np
from numpy.typing import NDArray

from discreet.taxonomy.class_costs import BIG
from discreet.taxonomy.divided_table import DividedTable, Starts, numbers_of, over_intervals
from discreet.taxonomy.nested_bounds import divided_least, nested_bounds, summed
from discreet.taxonomy.optimal_start import Division
from discreet.taxonomy.pair_solver import PairSolver

Whole = NDArray[np.int64]
_FIRST_NODES = 20_000
_MOST_WAITING = 2_000_000


@dataclass(frozen=True)
class BestDivision:
    """The best division, its cost, a proven lower bound of the least, and the nodes visited."""

    cost: int
    division: Division
    lower: int
    nodes: int


class _Prefix:
    """Some first attributes divided; the table is made where it is asked for, since most nodes need none."""

    def __init__(self, division: Division, above: _Prefix | DividedTable) -> None:
        self.division = division
        self._above = above
        self._table: DividedTable | None = None

    @property
    def table(self) -> DividedTable:
        """The table divided by the attributes of the prefix."""
        if isinstance(self._above, DividedTable):
            return self._above
        if self._table is None:
            self._table = self._above.table.divide(self.division[-1])
        return self._table


@dataclass(frozen=True, eq=False)
class _Begun:
    """A prefix, what intervals of its next attribute cost at least, and what the values from v on do."""

    prefix: _Prefix
    size: int
    costs: Whole
    rest: Whole


def best_division(
    table: DividedTable,
    solver: PairSolver,
    start: tuple[int, Division],
    *,
    nodes: int | None,
    ended: Callable[[], bool],
    progress: Callable[[int, int], None] | None = None,
) -> BestDivision:
    """The best division that is found in so many ``nodes`` or until ``ended``, and what is proven of it.

    ``start`` is a division with its cost. ``progress`` is told the bound and the cost as they come closer.
    """
    search = _Search(table, solver, start)
    while search.waiting and search.lower < search.cost and not ended():
        if (nodes is not None and search.nodes >= nodes) or len(search.waiting) > _MOST_WAITING:
            break
        search.step()
        if progress is not None and search.nodes % 256 == 0:
            progress(search.lower, search.cost)
    return BestDivision(search.cost, search.division, search.lower, search.nodes)


class _Search:
    """The tree: waiting nodes by their bound, of equal bounds the latest first."""

    def __init__(self, table: DividedTable, solver: PairSolver, start: tuple[int, Division]) -> None:
        self.solver = solver
        self.cost, self.division = start
        self.sizes = table.sizes
        self.bounds = nested_bounds(table, solver)
        self.nodes = 0
        self._entered = 0
        self._unproven = BIG
        self.waiting: list[tuple[int, int, _Prefix | _Begun, Starts, int]] = []
        self._enter(int(self.bounds[0]), _Prefix((), table), (), _FIRST_NODES)

    @property
    def lower(self) -> int:
        """No division costs less."""
        return min(self.cost, self._unproven, *(node[0] for node in self.waiting[:1]))

    def step(self) -> None:
        """Visit the node of the least bound."""
        bound, _, place, starts, number = heappop(self.waiting)
        self.nodes += 1
        if isinstance(place, _Begun):
            self._cut(bound, place, starts, number)
        elif len(place.division) == len(self.sizes) - 2:
            self._finish(bound, place, number)
        else:
            self._begin(bound, place)

    def _enter(self, bound: int, place: _Prefix | _Begun, starts: Starts, number: int) -> None:
        """A node that waits: cuts ``starts`` of an attribute at ``number``, what they cost; or a prefix."""
        if bound < self.cost:
            self._entered += 1
            heappush(self.waiting, (bound, -self._entered, place, starts, number))

    def _begin(self, bound: int, prefix: _Prefix) -> None:
        """Begin with the next attribute: weigh its intervals."""
        costs, size = self._weighed(prefix), self.sizes[len(prefix.division)]
        rest = divided_least(costs, size)
        self._enter(max(bound, int(rest[0])), _Begun(prefix, size, costs, rest), (0,), 0)

    def _weighed(self, prefix: _Prefix) -> Whole:
        depth = len(prefix.division)
        if depth + 1 < len(self.bounds):
            divided = zip(prefix.division, self.sizes[:depth], strict=True)
            return summed(self.bounds, [numbers_of(*each) for each in divided])
        table = prefix.table
        rows = over_intervals(table.cube(1), 1)
        finest = over_intervals(table.cube(1, self.solver.rule.leaf_costs(table.counts)), 1)
        return np.asarray(np.minimum(self.solver.rule.bound(rows, finest).sum(axis=0), BIG))

    def _cut(self, bound: int, begun: _Begun, starts: Starts, known: int) -> None:
        """Try every next cut of the attribute, and none."""
        size, first = begun.size, starts[-1]
        # Intervals are numbered by where they begin, then by their end; one fewer begin at each next place.
        offset = first * size - first * (first - 1) // 2
        for end in range(first + 1, size + 1):
            cost = known + int(begun.costs[offset + end - first - 1])
            child = max(bound, min(cost + int(begun.rest[end]), BIG))
            if child >= self.cost:
                continue
            if end < size:
                self._enter(child, begun, (*starts, end), cost)
            else:
                above = begun.prefix
                self._enter(child, _Prefix((*above.division, starts), above), (), _FIRST_NODES)

    def _finish(self, bound: int, prefix: _Prefix, budget: int) -> None:
        """Divide the last two attributes."""
        found = self.solver.divide(prefix.table.cube(2), self.cost, budget)
        if found.cost < self.cost:
            self.cost, self.division = found.cost, (*prefix.division, found.x, found.y)
        if found.ended:
            self._unproven = min(self._unproven, max(bound, found.lower))
        else:
            # It waits again by its better bound, and gets more time if it is still the best to look into.
            self._enter(max(bound, found.lower), prefix, (), 4 * budget)
