"""Single-dimension ordered-set partitioning at its optimum by C_DM or C_AVG, or with a proven gap.

The definition stands in ``taxonomy.ordered_single``; what is least here is a cost of the classes, not the
loss of the cells, since single-dimensional and multidimensional partitionings are compared by it (LeFevre et
al. 2006). A strong start (``optimal_start``) comes first, then branch and bound (``optimal_division``) until
the optimum is proven or the budget is spent. Ties are not told apart.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError, InternalError
from discreet.frequency.kernel_choice import choose_kernels
from discreet.model.class_recoding import ClassRecoding
from discreet.model.evaluator import Evaluator
from discreet.model.frequency_set import FrequencySet
from discreet.model.requirement import Requirement
from discreet.taxonomy.class_costs import MOST_ROWS, ClassCost, CostRule
from discreet.taxonomy.class_counts import ClassCounts
from discreet.taxonomy.divided_table import DividedTable
from discreet.taxonomy.optimal_division import BestDivision, best_division
from discreet.taxonomy.optimal_start import Division, good_division
from discreet.taxonomy.ordered_single import OrderedValues, recoding_of_starts
from discreet.taxonomy.pair_solver import PairSolver

OPTIMAL = "optimal"
TIME_LIMIT = 60.0
"""Seconds that are taken where no budget is given."""

_START_SHARE = 0.3
_PART = "interval-pairs"
_MOST_PLAIN = 10
"""Values of an attribute whose divisions plain Python can still try; beyond it the kernels are compiled."""

Whole = NDArray[np.int64]


@dataclass(frozen=True)
class Budget:
    """When a search ends without a proof: after so many seconds, or nodes; None: not for that reason.

    ``rounds`` is how often the start is disturbed and improved, for at most a part of the seconds.
    The result depends on the seconds that the machine needs, but on nothing else where only nodes are given.
    """

    seconds: float | None = TIME_LIMIT
    nodes: int | None = None
    rounds: int = 60


@dataclass(frozen=True, eq=False)
class OptimalSingle:
    """The recoding, its C_DM or C_AVG, which no recoding of the model has below ``bound``, and the division.

    ``division`` holds by attribute the numbers of the values, in order, that start intervals.
    """

    recoding: ClassRecoding
    cost: ClassCost
    value: float
    bound: float
    nodes: int
    division: Division

    @property
    def gap(self) -> float:
        """The share of the value that is not proven necessary: (value − bound) / value, 0 for an optimum."""
        return (self.value - self.bound) / self.value if self.value else 0.0

    @property
    def status(self) -> str:
        """``optimal`` where that is proven, else the gap as in ``gap 3.20 %``, rounded up."""
        return OPTIMAL if self.gap <= 0 else f"gap {np.ceil(self.gap * 10_000) / 100:.2f} %"

    def as_json(self) -> dict[str, Any]:
        """What is proven of the recoding."""
        found = {"method": "optimal", "cost": str(self.cost), "value": self.value, "bound": self.bound}
        return found | {"gap": self.gap, "status": self.status, "nodes": self.nodes}


def optimal_single(
    frequency_set: FrequencySet,
    requirement: Requirement,
    *,
    limit: int = 0,
    cost: ClassCost = ClassCost.C_DM,
    budget: Budget | None = None,
    start: Division | None = None,
    evaluator: Evaluator = Evaluator.AUTO,
    progress: Callable[[int, int], None] | None = None,
    notice: Callable[[str], None] | None = None,
) -> OptimalSingle:
    """The recoding of the model of least C_DM or C_AVG with at most ``limit`` rows suppressed.

    ``start`` is a division to begin with, as in a former result for the same table. ``progress`` is told the
    proven and the found cost. ``NoSolution`` where there is none; ``InputError`` for more than k, for
    suppressed rows beside C_AVG, and for tables of more than 2^24 rows.
    """
    counts = ClassCounts(frequency_set, requirement)
    rule = _rule(frequency_set, requirement, cost, limit)
    counts.require_solution(rule.limit)
    values = [
        OrderedValues(hierarchy, frequency_set.codes[:, i], frequency_set.counts, 1.0)
        for i, hierarchy in enumerate(frequency_set.hierarchies)
    ]
    ordered = _Ordered.of(values, frequency_set.counts)
    compiled = choose_kernels(
        [_PART], "division", worth=frequency_set.row_types > 100, evaluator=evaluator, notice=notice
    )
    solver = PairSolver(rule, compiled or max(ordered.table.sizes) > _MOST_PLAIN)
    found = _searched(ordered, solver, budget or Budget(), start, progress)
    division = ordered.restored(found.division)
    recoding = recoding_of_starts(
        frequency_set, counts, values, [np.array(starts, np.int64) for starts in division]
    )
    if _cost_of(recoding, rule) != found.cost:
        raise InternalError("the classes of the division do not cost what its search says")
    return OptimalSingle(
        recoding, cost, rule.value(found.cost), rule.value(found.lower), found.nodes, division
    )


@dataclass(frozen=True, eq=False)
class _Ordered:
    """The table by attributes from few values to many, since the last two are divided exactly.

    ``order`` holds their places in the frequency set. A table of one attribute has another of one value.
    """

    table: DividedTable
    order: tuple[int, ...]

    @classmethod
    def of(cls, values: Sequence[OrderedValues], counts: Whole) -> _Ordered:
        order = sorted(range(len(values)), key=lambda i: values[i].size)
        places = [values[i].place.astype(np.int64) for i in order]
        sizes = [values[i].size for i in order]
        if len(order) == 1:
            places, sizes = [np.zeros_like(places[0]), *places], [1, *sizes]
        return cls(DividedTable.of(places, sizes, counts), tuple(order))

    def arranged(self, division: Division) -> Division:
        """A division in the table's order."""
        spare = ((0,),) * (len(self.table.sizes) - len(self.order))
        return (*spare, *(division[i] for i in self.order))

    def restored(self, division: Division) -> Division:
        """A division in the frequency set's order."""
        found = dict(zip(self.order, division[len(division) - len(self.order) :], strict=True))
        return tuple(found[i] for i in range(len(self.order)))


def _rule(frequency_set: FrequencySet, requirement: Requirement, cost: ClassCost, limit: int) -> CostRule:
    if requirement.k is None or len(requirement.criteria) > 1:
        raise InputError(
            f"the optimal division for {requirement}",
            allowed="a requirement of k alone",
            advice="Use --method greedy for l." if requirement.l is not None else "Use --method greedy.",
        )
    if cost is ClassCost.C_AVG and limit:
        raise InputError(
            "suppressed rows beside the cost c-avg, which does not count them",
            allowed="--max-suppressed 0, or --cost c-dm",
        )
    if frequency_set.rows > MOST_ROWS:
        raise InputError(
            f"the optimal division of {frequency_set.rows:,} rows",
            allowed=f"at most {MOST_ROWS:,} rows",
            advice="Use --method greedy.",
        )
    return CostRule(cost, requirement.k, min(limit, frequency_set.rows), frequency_set.rows)


def _searched(
    ordered: _Ordered,
    solver: PairSolver,
    budget: Budget,
    start: Division | None,
    progress: Callable[[int, int], None] | None,
) -> BestDivision:
    begun = time.monotonic()
    share = _START_SHARE * budget.seconds if budget.seconds is not None else np.inf
    known = good_division(
        ordered.table,
        solver,
        None if start is None else ordered.arranged(start),
        budget.rounds,
        lambda: time.monotonic() - begun > share,
    )
    seconds = np.inf if budget.seconds is None else budget.seconds
    found = best_division(
        ordered.table,
        solver,
        known,
        nodes=budget.nodes,
        ended=lambda: time.monotonic() - begun > seconds,
        progress=progress,
    )
    if solver.compiled:
        from discreet.kernels.readiness import mark_compiled

        mark_compiled(_PART)
    return found


def _cost_of(recoding: ClassRecoding, rule: CostRule) -> int:
    """What the classes cost, counted anew."""
    sizes = recoding.class_rows()
    if rule.cost is ClassCost.C_AVG:
        return -len(sizes)
    return int((sizes * sizes).sum()) + recoding.suppressed * rule.rows
