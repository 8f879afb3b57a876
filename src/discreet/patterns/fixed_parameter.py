"""Exact solution by enumeration of cell sets and minimum-cost flow (Bredereck et al. 2013, Theorem 3).

Each set of at most 20 output row types is tried, cheapest cells first, with bounds on rows and cost;
rows are assigned to a set by a minimum-cost flow with lower bounds (network simplex of networkx, in
whole numbers). It shares only the list of cells with the integer program, and is its oracle.

Cost: 2 to the number of cells, and a flow per set.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError, LimitReached, NoSolution
from discreet.model.class_recoding import OutlierPolicy, PatternMask
from discreet.model.frequency_set import FrequencySet
from discreet.model.requirement import Requirement
from discreet.patterns.exact_problem import (
    ExactPlan,
    ExactProblem,
    ExactResult,
    ExactSize,
    PatternTable,
    find_cells,
)
from discreet.settings import Settings

_SINK = "sink"


@dataclass(frozen=True, eq=False)
class FlowAssignment:
    """Rows of each pair of row type and cell, in the order of the pairs, remaining rows, and the cost."""

    rows: NDArray[np.int64]
    left: NDArray[np.int64]
    cost: int


def assign_by_flow(
    counts: NDArray[np.int64],
    pairs: list[tuple[int, int]],
    costs: NDArray[np.int64],
    k: int,
    outlier_cost: int | None,
) -> FlowAssignment | None:
    """Find the cheapest assignment that gives each cell at least k rows; None if there is none.

    ``counts`` contains the rows of each row type, ``pairs`` the row type and cell of each possible
    assignment, ``costs`` the cost of a row in each cell. Rows may remain at ``outlier_cost`` each, or must
    not if it is None.
    """
    networkx = _load_networkx()
    spare = int(counts.sum()) - k * len(costs)
    if spare < 0:
        return None
    graph = networkx.DiGraph()
    graph.add_node(_SINK, demand=spare)
    for row_type, rows in enumerate(counts.tolist()):
        graph.add_node(("row type", row_type), demand=-rows)
        if outlier_cost is not None:
            graph.add_edge(("row type", row_type), _SINK, weight=outlier_cost)
    for cell in range(len(costs)):
        graph.add_node(("cell", cell), demand=k)
        graph.add_edge(("cell", cell), _SINK, weight=0)
    for row_type, cell in pairs:
        graph.add_edge(("row type", row_type), ("cell", cell), weight=int(costs[cell]))
    try:
        cost, flow = networkx.network_simplex(graph)
    except networkx.NetworkXUnfeasible:
        return None
    taken = [flow["row type", row_type]["cell", cell] for row_type, cell in pairs]
    left = [flow["row type", row_type].get(_SINK, 0) for row_type in range(len(counts))]
    return FlowAssignment(np.array(taken, np.int64), np.array(left, np.int64), int(cost))


def _load_networkx() -> Any:
    try:
        import networkx
    except ImportError:
        raise InputError(
            "row assignment needs networkx, which is not installed",
            advice="Install discreet[exact], or use the greedy.",
        ) from None
    return networkx


MOST_CELLS = 20
_STARS = -1


def solve_by_subsets(
    frequency_set: FrequencySet,
    mask: PatternMask,
    requirement: Requirement,
    settings: Settings,
    *,
    publish_all: bool = True,
) -> ExactResult:
    """Find the assignment of rows to patterns of least cost by trying every set of output row types.

    Parameters
    ----------
    mask, requirement, publish_all
        As in ``exact.solve_exactly``.

    Raises
    ------
    InputError
        For a requirement other than k.
    NoSolution
        If rows fit no cell and outliers are not allowed.
    LimitReached
        Above ``MOST_CELLS`` cells of at least k rows.

    Notes
    -----
    Cost: 2 to the number of cells, and a minimum-cost flow per set.

    References
    ----------
    Bredereck, Nichterlein and Niedermeier (2013), *Pattern-Guided k-Anonymity*. Algorithms 6(4), 678–701.
    Theorem 3.
    """
    problem = ExactProblem.of(frequency_set, mask, requirement, publish_all=publish_all)
    left_over = mask.outliers is OutlierPolicy.DELETE or not problem.must_publish_all
    star_class = mask.all_star is not None and not left_over
    search = _SubsetSearch.of(problem.table, problem.k, star_class, left_over, settings.memory_limit)
    search.decide(0, ())
    if search.best is None:
        raise NoSolution(
            f"k={problem.k}: the patterns cannot place all rows",
            advice="Allow more patterns, lower k, or give a policy for outliers.",
        )
    return problem.recode(search.plan(search.best))


@dataclass
class _SubsetSearch:
    """Search over sets of cells (``_STARS``: that of all stars), and the best solution so far."""

    counts: NDArray[np.int64]
    k: int
    patterns: list[int]
    costs: list[int]
    members: list[list[int]]
    outlier_cost: int | None
    best: FlowAssignment | None = None
    chosen: tuple[int, ...] = ()
    least: NDArray[np.int64] = field(init=False)

    def __post_init__(self) -> None:
        dearest = self.outlier_cost if self.outlier_cost is not None else max(self.costs, default=0)
        self.least = np.full((len(self.costs) + 1, len(self.counts)), dearest, np.int64)
        for cell in range(len(self.costs) - 1, -1, -1):
            self.least[cell] = self.least[cell + 1]
            inside = self.members[cell]
            self.least[cell, inside] = np.minimum(self.least[cell, inside], self.costs[cell])

    @classmethod
    def of(cls, table: PatternTable, k: int, star_class: bool, outliers: bool, memory: int) -> _SubsetSearch:
        cover = find_cells(table, k, memory)
        patterns, costs = cover.patterns.tolist(), cover.costs.tolist()
        bounds = pairwise(cover.offsets.tolist())
        members = [cover.members[low:high].tolist() for low, high in bounds]
        if len(patterns) > MOST_CELLS:
            raise LimitReached(
                f"{len(patterns)} cells of at least {k} rows have 2^{len(patterns)} subsets",
                allowed=f"{MOST_CELLS} cells",
                advice="Use the integer program.",
            )
        if star_class and table.rows >= k:
            patterns, costs = [*patterns, _STARS], [*costs, table.outlier_cost]
            members = [*members, list(range(len(table.counts)))]
        return cls(table.counts, k, patterns, costs, members, table.outlier_cost if outliers else None)

    def decide(self, cell: int, chosen: tuple[int, ...]) -> None:
        """Try every set that begins with ``chosen`` and continues with cells from ``cell``."""
        if len(chosen) * self.k > int(self.counts.sum()):
            return
        cheapest = self.least[cell].copy()
        for other in chosen:
            inside = self.members[other]
            cheapest[inside] = np.minimum(cheapest[inside], self.costs[other])
        if self.best is not None and int((cheapest * self.counts).sum()) >= self.best.cost:
            return
        if cell < len(self.costs):
            self.decide(cell + 1, (*chosen, cell))
            self.decide(cell + 1, chosen)
            return
        pairs = [(i, index) for index, c in enumerate(chosen) for i in self.members[c]]
        costs = np.array([self.costs[c] for c in chosen], np.int64)
        found = assign_by_flow(self.counts, pairs, costs, self.k, self.outlier_cost)
        if found is not None and (self.best is None or found.cost < self.best.cost):
            self.best, self.chosen = found, chosen

    def plan(self, best: FlowAssignment) -> ExactPlan:
        """Build the plan of the best solution."""
        row_types = [np.array(self.members[c], np.int64) for c in self.chosen]
        patterns = [np.full(len(self.members[c]), self.patterns[c], np.int64) for c in self.chosen]
        everyone = np.arange(len(self.counts))
        cells = len(self.costs)
        pairs = sum(map(len, self.members))
        return ExactPlan(
            row_types=np.concatenate([*row_types, everyone]),
            patterns=np.concatenate([*patterns, np.full(len(everyone), -1, np.int64)]),
            rows=np.concatenate([best.rows, best.left]),
            cost=best.cost,
            bound=best.cost,
            start_cost=best.cost,
            size=ExactSize(cells, cells, pairs, 1, pairs),
        )
