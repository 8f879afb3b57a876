"""The exact problem of pattern-guided k-anonymity and its result (Bredereck et al. 2013).

A *cell* is a pattern with values for the columns that it shows; rows that agree with it may be published
as that output row type. Only cells of at least k rows are usable, which removes most of them. Costs are
whole steps. An ``ExactPlan`` is a solution in the table's terms; ``ExactResult`` is its recoding with a cost
and a proven bound.

Cost: one grouping of the row types per pattern.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError, InternalError, LimitReached, NoSolution
from discreet.frequency.class_requirement import require_one_row_per_subject
from discreet.model.class_recoding import OUTLIER, ClassRecoding, OutlierPolicy, PatternMask
from discreet.model.frequency_set import FrequencySet
from discreet.model.requirement import Requirement
from discreet.patterns.pattern_assignment import recode_assignment

_MOST_STEPS = 10**6
_SAME_FRACTION = 1e-12
_LARGEST_KEY = 2**62
_BYTES_PER_PAIR = 200


@dataclass(frozen=True, eq=False)
class PatternTable:
    """Row types, patterns and the cost of a row under each pattern.

    ``columns[j][level]`` contains the value of attribute j at a level for each row type, as codes from 0;
    levels below the top only, since all values agree at the top. ``counts`` contains rows. ``levels`` has
    shape ``(patterns, attributes)`` and omits the pattern of all stars; ``costs`` contains the cost of one
    row under each pattern in whole steps, ``outlier_cost`` that of a row of all stars; a cost of 1 has
    ``steps`` steps.
    """

    columns: tuple[tuple[NDArray[np.int64], ...], ...]
    counts: NDArray[np.int64]
    levels: NDArray[np.int16]
    costs: NDArray[np.int64]
    outlier_cost: int
    steps: int = 1

    @property
    def rows(self) -> int:
        """Number of rows of the table."""
        return int(self.counts.sum())

    def values(self, pattern: int) -> list[NDArray[np.int64]]:
        """Return the columns that a pattern shows, at its levels."""
        levels_of_columns = zip(self.columns, self.levels[pattern].tolist(), strict=True)
        return [column[level] for column, level in levels_of_columns if level < len(column)]


def build_pattern_table(
    frequency_set: FrequencySet, mask: PatternMask
) -> tuple[PatternTable, NDArray[np.int64]]:
    """Build the table of a mask, and the position in the mask of each of its patterns; costs are whole steps.

    Costs are converted exactly if they are fractions with a small common denominator; otherwise they are
    rounded to a millionth of the cost of all stars.
    """
    columns = tuple(
        tuple(hierarchy.level_map(level)[codes].astype(np.int64) for level in range(hierarchy.height))
        for hierarchy, codes in zip(frequency_set.hierarchies, frequency_set.codes.T, strict=True)
    )
    mask_positions = np.flatnonzero(np.arange(len(mask)) != (-1 if mask.all_star is None else mask.all_star))
    every = np.append(mask.pattern_costs[mask_positions], mask.top_cost)
    steps = _denominator(every)
    costs = np.rint(every * steps).astype(np.int64)
    levels = mask.levels[mask_positions]
    return PatternTable(
        columns, frequency_set.counts, levels, costs[:-1], int(costs[-1]), steps
    ), mask_positions


def _denominator(costs: NDArray[np.float64]) -> int:
    """Return the least common denominator of the costs up to a million, or one for rounding."""
    result = 1
    for cost in np.unique(costs):
        fraction = Fraction(float(cost)).limit_denominator(1000)
        if abs(float(fraction) - float(cost)) > _SAME_FRACTION * max(1.0, float(cost)):
            return math.ceil(_MOST_STEPS / max(float(costs.max()), 1.0))
        result = math.lcm(result, fraction.denominator)
        if result > _MOST_STEPS:
            return math.ceil(_MOST_STEPS / max(float(costs.max()), 1.0))
    return result


@dataclass(frozen=True, eq=False)
class CellCover:
    """Cells in order of (cost, pattern), and the row types that fit each.

    Cell c belongs to pattern ``patterns[c]``, costs ``costs[c]`` per row, and its row types are
    ``members[offsets[c]:offsets[c + 1]]``, ascending; together they have ``sizes[c]`` rows.
    """

    patterns: NDArray[np.int64]
    costs: NDArray[np.int64]
    sizes: NDArray[np.int64]
    offsets: NDArray[np.int64]
    members: NDArray[np.int64]

    @property
    def cell_count(self) -> int:
        """Number of cells."""
        return len(self.patterns)

    def cell_of_pair(self) -> NDArray[np.int64]:
        """Return the cell of each entry of ``members``."""
        return np.repeat(np.arange(self.cell_count), np.diff(self.offsets))

    def restrict(self, keep: NDArray[np.bool_]) -> CellCover:
        """Return the cover with only the cells of ``keep``."""
        lengths = np.diff(self.offsets)
        return CellCover(
            self.patterns[keep],
            self.costs[keep],
            self.sizes[keep],
            np.concatenate([[0], np.cumsum(lengths[keep])]).astype(np.int64),
            self.members[np.repeat(keep, lengths)],
        )


def group_row_types(columns: list[NDArray[np.int64]], row_types: int) -> NDArray[np.int64]:
    """Number the groups of row types that agree in every column, from 0. Shape ``(row types,)``."""
    key = np.zeros(row_types, np.int64)
    groups = 1
    for column in columns:
        size = int(column.max(initial=0)) + 1
        # Rank the keys before a product would exceed 62 bits.
        if groups * size >= _LARGEST_KEY:
            key = np.unique(key, return_inverse=True)[1].astype(np.int64)
            groups = int(key.max(initial=0)) + 1
        key = key * size + column
        groups *= size
    return np.unique(key, return_inverse=True)[1].astype(np.int64)


def find_cells(table: PatternTable, k: int, memory_limit: int) -> CellCover:
    """Find every cell of at least k rows; raise ``LimitReached`` if they would not fit ``memory_limit``."""
    order = np.argsort(table.costs, kind="stable")
    patterns, sizes, lengths, members = [], [], [], []
    pairs = 0
    for pattern in order:
        group = group_row_types(table.values(int(pattern)), len(table.counts))
        rows = np.bincount(group, weights=table.counts).astype(np.int64)
        large = rows >= k
        number = np.cumsum(large) - 1
        inside = np.flatnonzero(large[group])
        inside = inside[np.argsort(number[group[inside]], kind="stable")]
        pairs += len(inside)
        if pairs * _BYTES_PER_PAIR > memory_limit:
            raise LimitReached(
                f"the cells of {len(order):,} patterns with at least {k} rows hold more than "
                f"{pairs:,} row types",
                allowed=f"about {memory_limit // _BYTES_PER_PAIR:,} within the memory limit",
                advice="Allow fewer patterns, raise the memory limit, or use the greedy.",
            )
        members.append(inside)
        lengths.append(np.bincount(number[group[inside]], minlength=int(large.sum())))
        sizes.append(rows[large])
        patterns.append(np.full(int(large.sum()), pattern, np.int64))
    found = np.concatenate([np.zeros(0, np.int64), *patterns])
    return CellCover(
        found,
        table.costs[found],
        np.concatenate([np.zeros(0, np.int64), *sizes]),
        np.concatenate([[0], np.cumsum(np.concatenate([np.zeros(0, np.int64), *lengths]))]).astype(np.int64),
        np.concatenate([np.zeros(0, np.int64), *members]).astype(np.int64),
    )


STATUS_OPTIMAL = "optimal"
STATUS_TIME_LIMIT = "time limit"
_SAME_COST = 1e-9


@dataclass(frozen=True)
class ExactSize:
    """Size of the problem before and after reduction.

    ``cells`` are those of at least k rows, ``undominated_cells`` those that no other dominates; ``pairs``
    counts pairs of part types and cells, ``largest`` those of the largest of the ``components``. All are 0 if
    a greedy solution met the bound of counting and nothing had to be solved.
    """

    cells: int
    undominated_cells: int
    pairs: int
    components: int
    largest: int


@dataclass(frozen=True, eq=False)
class ExactResult:
    """Best solution found, and a proven bound.

    Part p means that ``rows[p]`` rows of ``row_types[p]`` have ``patterns[p]`` (a position in the mask, or
    ``OUTLIER``). ``cost`` is the sum of the mask's costs over all rows, ``start_cost`` that of the greedy
    start (None if that may not be published); no solution costs less than ``bound``. ``status`` is
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
        """Share of the cost that is not proven necessary: (cost − bound) / cost, 0 for an optimum."""
        return (self.cost - self.bound) / self.cost if self.cost > 0 else 0.0


@dataclass(frozen=True, eq=False)
class ExactPlan:
    """Solution in terms of the pattern table, before recoding.

    Rows by row type and pattern of the table (−1: outliers); ``cost``, ``bound`` and ``start_cost`` in steps.
    """

    row_types: NDArray[np.int64]
    patterns: NDArray[np.int64]
    rows: NDArray[np.int64]
    cost: int
    bound: int
    start_cost: int | None
    size: ExactSize


def require_only_k(requirement: Requirement) -> int:
    """Return the k of a requirement of only k; raise ``InputError`` for any other."""
    if requirement.k is None or len(requirement.criteria) > 1:
        raise InputError(
            f"the exact solution for {requirement}",
            allowed="a requirement with only k",
            advice="Use the greedy for other requirements.",
        )
    return requirement.k


@dataclass(frozen=True, eq=False)
class ExactProblem:
    """Table of a mask, and what recoding a plan of it needs; built when the work begins.

    ``mask_positions`` contains the position in the mask of each of the table's patterns.
    """

    frequency_set: FrequencySet
    mask: PatternMask
    requirement: Requirement
    k: int
    table: PatternTable
    mask_positions: NDArray[np.int64]
    must_publish_all: bool
    start_time: float

    @classmethod
    def of(
        cls, frequency_set: FrequencySet, mask: PatternMask, requirement: Requirement, *, publish_all: bool
    ) -> ExactProblem:
        """Build the problem; raise ``InputError`` for a requirement other than k."""
        start_time = time.monotonic()
        k = require_only_k(requirement)
        counted = require_one_row_per_subject(frequency_set)
        must_publish_all = publish_all or mask.outliers is OutlierPolicy.ERROR
        parts = build_pattern_table(counted, mask)
        return cls(counted, mask, requirement, k, *parts, must_publish_all, start_time)

    def recode(self, plan: ExactPlan) -> ExactResult:
        """Recode a plan; its classes and its cost are counted again from the rows.

        Raises ``NoSolution`` if every row would be deleted.
        """
        mask, table = self.mask, self.table
        patterns = np.append(self.mask_positions, OUTLIER)[plan.patterns]
        outliers = patterns == OUTLIER
        if mask.all_star is not None and int(plan.rows[outliers].sum()) >= self.k:
            patterns[outliers] = mask.all_star
        cost = float((np.append(mask.pattern_costs, mask.top_cost)[patterns] * plan.rows).sum())
        rounding = cost_rounding(mask, table) * table.rows
        if abs(cost - plan.cost / table.steps) > rounding + _SAME_COST * max(1.0, cost):
            raise InternalError("the cost of the solution's rows differs from the solver's cost")
        recoding = recode_assignment(
            self.frequency_set, mask, self.requirement, patterns, row_types=plan.row_types, rows=plan.rows
        )
        if not recoding.class_count:
            raise NoSolution(
                f"{self.requirement}: no pattern can hold any of the {table.rows:,} rows",
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
            status=STATUS_OPTIMAL if proven else STATUS_TIME_LIMIT,
            size=plan.size,
            seconds=time.monotonic() - self.start_time,
        )


def cost_rounding(mask: PatternMask, table: PatternTable) -> float:
    """Return the largest rounding error of a row's cost in steps; 0 if it is only floating-point error."""
    exact = np.append(mask.pattern_costs, mask.top_cost)
    error = float(np.abs(np.rint(exact * table.steps) / table.steps - exact).max())
    return 0.0 if error <= _SAME_COST * max(1.0, mask.top_cost) else error
