"""What an exact method answers: the recoding, its cost, and a bound that says how good it is."""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError, InternalError, NoSolution
from discreet.model.class_recoding import ClassRecoding
from discreet.model.frequency_set import FrequencySet
from discreet.model.pattern import OUTLIER, PatternMask
from discreet.model.recoding import SuppressionPolicy
from discreet.model.requirement import Requirement
from discreet.patterns.assignment import recode_assignment
from discreet.patterns.exact_cells import PatternTable

OPTIMAL = "optimal"
TIME_LIMIT = "time limit"
_SAME_COST = 1e-9


@dataclass(frozen=True)
class ExactSize:
    """How large the problem was, and what was left of it.

    ``cells`` are those of at least k rows, ``kept`` the ones that no other dominates; ``pairs`` counts pairs
    of alike row types and cells, ``largest`` those of the largest of the ``components``. All are 0 where a
    greedy met the bound of counting, and there was nothing to solve.
    """

    cells: int
    kept: int
    pairs: int
    components: int
    largest: int


@dataclass(frozen=True, eq=False)
class ExactResult:
    """The best solution found, and a proven bound.

    Part p says that ``rows[p]`` rows of ``row_types[p]`` go under ``patterns[p]`` (a place in the mask, or
    ``OUTLIER``). ``cost`` is the sum of the mask's costs over all rows, ``start_cost`` that of the greedy
    start (None where that may not be published); no solution costs less than ``bound``. ``status`` is
    ``"optimal"`` or ``"time limit"``.
    """

    recoding: ClassRecoding
    row_types: NDArray[np.int64]
    patterns: NDArray[np.int64]
    rows: NDArray[np.int64]
    cost: float
    bound: float
    start_cost: float | None
    status: str
    size: ExactSize
    seconds: float

    @property
    def gap(self) -> float:
        """The share of the cost that is not proven necessary: (cost − bound) / cost, 0 for an optimum."""
        return (self.cost - self.bound) / self.cost if self.cost > 0 else 0.0


@dataclass(frozen=True, eq=False)
class Plan:
    """A solution in the table's terms, before it is a recoding.

    Rows by row type and pattern of the table (−1: outliers); ``cost``, ``bound`` and ``start_cost`` in steps.
    """

    row_types: NDArray[np.int64]
    patterns: NDArray[np.int64]
    rows: NDArray[np.int64]
    cost: int
    bound: int
    start_cost: int | None
    size: ExactSize


def only_k(requirement: Requirement) -> int:
    """The k of a requirement of k alone; ``InputError`` for any other."""
    if requirement.k is None or len(requirement.criteria) > 1:
        raise InputError(
            f"the exact solution for {requirement}",
            allowed="a requirement of k alone",
            advice="Use the greedy for other requirements.",
        )
    return requirement.k


def finished(
    frequency_set: FrequencySet,
    mask: PatternMask,
    requirement: Requirement,
    plan: Plan,
    *,
    table: PatternTable,
    places: NDArray[np.int64],
    begun: float,
    suppression: SuppressionPolicy,
) -> ExactResult:
    """The plan as a recoding: its classes and its cost counted anew from the rows.

    ``places`` holds the place in the mask of each of the table's patterns, ``begun`` when the work began.
    ``NoSolution`` where every row would be deleted.
    """
    patterns = np.append(places, OUTLIER)[plan.patterns]
    outliers = patterns == OUTLIER
    if mask.all_star is not None and int(plan.rows[outliers].sum()) >= only_k(requirement):
        patterns[outliers] = mask.all_star
    cost = float((np.append(mask.pattern_costs, mask.top_cost)[patterns] * plan.rows).sum())
    rounding = rounding_of(mask, table) * table.rows
    if abs(cost - plan.cost / table.steps) > rounding + _SAME_COST * max(1.0, cost):
        raise InternalError("the rows of the solution do not cost what the solver says")
    recoding = recode_assignment(
        frequency_set,
        mask,
        requirement,
        patterns,
        row_types=plan.row_types,
        rows=plan.rows,
        suppression=suppression,
    )
    if not recoding.class_count:
        raise NoSolution(
            f"{requirement}: no pattern can hold any of the {table.rows:,} rows",
            advice="Lower k, or allow patterns with more stars.",
        )
    proven = plan.bound >= plan.cost
    return ExactResult(
        recoding=recoding,
        row_types=plan.row_types,
        patterns=patterns,
        rows=plan.rows,
        cost=cost,
        bound=cost if proven and not rounding else min(cost, plan.bound / table.steps - rounding),
        start_cost=None if plan.start_cost is None else plan.start_cost / table.steps,
        status=OPTIMAL if proven else TIME_LIMIT,
        size=plan.size,
        seconds=time.monotonic() - begun,
    )


def rounding_of(mask: PatternMask, table: PatternTable) -> float:
    """The most by which a row's cost in steps differs from its cost; 0 where arithmetic alone does it."""
    exact = np.append(mask.pattern_costs, mask.top_cost)
    error = float(np.abs(np.rint(exact * table.steps) / table.steps - exact).max())
    return 0.0 if error <= _SAME_COST * max(1.0, mask.top_cost) else error
