"""Sums over the cells of each attribute by level, and their aggregation into one cost.

The cost of a cell depends only on its attribute, level and value, so a column's sum without suppression is
one table entry per level. The number of suppressed rows bounds their penalty from below. Aggregates (sum,
maximum, means, ARX's rank) increase with each part, so bounds of parts are bounds of the aggregate.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from math import fsum, prod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.measures.loss import leaf_counts
from discreet.model.frequency_set import FrequencySet
from discreet.model.search_result import RankedCost, cost_parts

_FloatArray = NDArray[np.float64]

_TEN_DECIMALS = 1e10
_NOISE = 1e-4
_ROUNDING = 1e-12


class CostAggregate(StrEnum):
    """Aggregation of the attributes' parts into one cost."""

    SUM = "sum"
    MAXIMUM = "maximum"
    ARITHMETIC_MEAN = "arithmetic-mean"
    GEOMETRIC_MEAN = "geometric-mean"
    RANK = "rank"


def clearly_less(first: float, second: float) -> bool:
    """Return whether a cost is less than another by more than rounding."""
    if isinstance(first, RankedCost) or isinstance(second, RankedCost):
        return cost_parts(first) < cost_parts(second)
    return first < second and second - first > min(rounding_tolerance(first), rounding_tolerance(second))


def rounding_tolerance(cost: float) -> float:
    """Return the difference up to which costs count as equal."""
    return _ROUNDING * (1.0 + abs(cost))


def rounding_tolerances(costs: _FloatArray) -> _FloatArray:
    """Return ``rounding_tolerance`` of each cost."""
    result: _FloatArray = _ROUNDING * (1.0 + np.abs(costs))
    return result


def aggregate_parts(aggregate: CostAggregate, parts: Sequence[float]) -> float:
    """Return the cost of a node; the order of the parts does not affect any bit of the result."""
    number = max(len(parts), 1)
    if aggregate is CostAggregate.SUM:
        return fsum(parts)
    if aggregate is CostAggregate.MAXIMUM:
        return float(max(parts, default=0.0))
    if aggregate is CostAggregate.ARITHMETIC_MEAN:
        return fsum(parts) / number
    if aggregate is CostAggregate.GEOMETRIC_MEAN:
        return float(prod(sorted(1.0 + part for part in parts)) ** (1.0 / number)) - 1.0
    descending = np.array(sorted(parts, reverse=True), dtype=np.float64)
    return RankedCost(_truncate_decimals(descending).tolist())


def aggregate_columns(aggregate: CostAggregate, columns: Sequence[Any], nodes: int) -> _FloatArray:
    """Return the costs of several nodes, shape ``(nodes,)``, or ``(nodes, parts)`` for rank."""
    parts = np.stack(columns, axis=1).astype(np.float64) if columns else np.zeros((nodes, 0))
    number = max(len(columns), 1)
    result: _FloatArray
    if aggregate is CostAggregate.SUM:
        result = parts.sum(axis=1)
    elif aggregate is CostAggregate.MAXIMUM:
        result = parts.max(axis=1, initial=0.0)
    elif aggregate is CostAggregate.ARITHMETIC_MEAN:
        result = parts.sum(axis=1) / number
    elif aggregate is CostAggregate.GEOMETRIC_MEAN:
        result = np.prod(1.0 + parts, axis=1) ** (1.0 / number) - 1.0
    else:
        result = _truncate_decimals(-np.sort(-parts, axis=1))
    return result


def cost_at(costs: _FloatArray, position: int) -> float:
    """Return one of the costs that ``aggregate_columns`` returned."""
    return float(costs[position]) if costs.ndim == 1 else RankedCost(costs[position].tolist())


def _truncate_decimals(parts: _FloatArray) -> _FloatArray:
    """Truncate the parts to ten decimals; parts just below a step because of rounding count as on it."""
    cut: _FloatArray = np.floor(parts * _TEN_DECIMALS + _NOISE) / _TEN_DECIMALS
    return cut


class Factors(NamedTuple):
    """Weights of published and suppressed cells; integers where they are 1, so that sums remain integers."""

    published: float = 1
    suppressed: float = 1

    @classmethod
    def of(cls, gs_factor: float) -> Factors:
        """Build from ARX's single number: 0 makes suppression free, 1 generalization, 0.5 neither.

        Up to 0.5 suppression counts ``2 g``, above it generalization counts ``2 (1 − g)``.
        """
        published = 1 if gs_factor <= 0.5 else 2.0 * (1.0 - gs_factor)
        return cls(published, 1 if gs_factor >= 0.5 else 2.0 * gs_factor)


_EQUAL_FACTORS = Factors()


@dataclass(frozen=True, eq=False)
class LevelSum:
    """Sum of the cells of one attribute at one level.

    ``total`` is the sum over all rows with none suppressed; ``penalty`` (by leaf code, NULL last) is the
    amount that one suppressed row adds to it; ``rows_of_code`` is the number of rows of each leaf code. All
    are integers if the cost's cells are integers.
    """

    total: int | float
    penalty: NDArray[Any]
    rows_of_code: NDArray[np.int64]

    @property
    def uniform(self) -> bool:
        """True if all rows have the same penalty, so that the number of suppressed rows fixes the sum."""
        return len(self._rows_by_penalty[0]) <= 1

    @cached_property
    def knots(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Knots of the least penalty: cumulative rows and cumulative penalty, the cheapest rows first."""
        each, rows = self._rows_by_penalty
        rows_so_far, so_far = np.zeros(len(rows) + 1), np.zeros(len(rows) + 1)
        rows_so_far[1:] = np.cumsum(rows)
        so_far[1:] = np.cumsum(rows * each)
        return rows_so_far, so_far

    @cached_property
    def _rows_by_penalty(self) -> tuple[NDArray[Any], NDArray[np.int64]]:
        """Distinct penalties of rows, ascending, and the rows of each; they are few even for many leaves."""
        integral = self.penalty.dtype.kind == "i" and len(self.penalty) and self.penalty.min() >= 0
        if integral and self.penalty.max() <= 2 * len(self.penalty):
            rows = np.bincount(self.penalty, self.rows_of_code).astype(np.int64)
            each = np.flatnonzero(rows)
            return each, rows[each]
        found = np.flatnonzero(self.rows_of_code)
        each, which = np.unique(self.penalty[found], return_inverse=True)
        return each, np.bincount(which, self.rows_of_code[found], len(each)).astype(np.int64)

    @cached_property
    def _least_from(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Knots of the least penalty if more rows may be suppressed, which may add a negative amount."""
        rows, penalties = self.knots
        return rows, np.minimum.accumulate(penalties[::-1])[::-1]

    @cached_property
    def rises(self) -> bool:
        """True if no additional suppressed row ever adds a negative amount."""
        return bool((self._rows_by_penalty[0] >= 0).all())

    def least_penalty(self, suppressed: Any) -> Any:
        """Return a lower bound of the penalty of ``suppressed`` rows; a number or an array."""
        return np.interp(suppressed, *self.knots)

    def least_penalty_from(self, suppressed: Any) -> Any:
        """Return a lower bound of the penalty of ``suppressed`` or more rows; a number or an array."""
        result = np.interp(suppressed, *self.knots)
        if self.rises:
            return result
        return np.minimum(result, np.interp(suppressed, *self._least_from))

    def of(self, codes: NDArray[np.int64], sizes: NDArray[np.int64]) -> int | float:
        """Return the sum with classes of these leaf codes and sizes suppressed.

        The order of the classes does not affect the result: rows are first added up by penalty.
        """
        if not len(sizes):
            return self.total
        rows = np.bincount(codes, weights=sizes, minlength=len(self.penalty)).astype(np.int64)
        found = np.flatnonzero(rows)
        if self.penalty.dtype.kind == "i":
            return self.total + int((rows[found] * self.penalty[found]).sum())
        return fsum([float(self.total), *(rows[found] * self.penalty[found]).tolist()])


@dataclass(frozen=True, eq=False)
class SuppressedEntropySum(LevelSum):
    """Level sum in which suppressed rows hide their values only from each other.

    With S rows suppressed, of which c have one value of the level (``positions`` by leaf code), each of these
    c rows adds ``factor`` · log2(S / c). The only certain lower bound for a number of rows is 0.
    """

    positions: NDArray[np.int64]
    factor: float

    @property
    def uniform(self) -> bool:
        """True if the choice of suppressed rows has no effect: they have one value, or are free."""
        return not self.factor or len(np.unique(self.positions[self.rows_of_code > 0])) <= 1

    def of(self, codes: NDArray[np.int64], sizes: NDArray[np.int64]) -> int | float:
        """Return the sum with classes of these leaf codes and sizes suppressed."""
        if not len(sizes):
            return self.total
        rows = np.bincount(self.positions[codes], weights=sizes)
        rows = rows[rows > 0]
        return fsum([float(self.total), *(self.factor * rows * np.log2(rows.sum() / rows)).tolist()])


LevelSums = tuple[tuple[LevelSum, ...], ...]
"""Sums per attribute, per level."""


@dataclass(frozen=True, eq=False)
class LowerBoundSums:
    """Lower bounds of one attribute's sums at its levels, for a number of suppressed rows or more.

    If no additional row ever adds a negative amount, one curve of ``rows`` and ``added`` contains all levels,
    ``width`` apart, so that one interpolation serves all. Otherwise ``width`` is 0, and each level is
    interpolated separately.
    """

    levels: tuple[LevelSum, ...]
    totals: NDArray[np.float64]
    width: float
    rows: NDArray[np.float64]
    added: NDArray[np.float64]

    @classmethod
    def of(cls, levels: tuple[LevelSum, ...]) -> LowerBoundSums:
        """Build from an attribute's levels."""
        totals, nothing = np.array([float(each.total) for each in levels]), np.zeros(0)
        if not all(each.rises for each in levels):
            return cls(levels, totals, 0, nothing, nothing)
        knots = [each.knots for each in levels]
        width = max(rows[-1] for rows, _ in knots) + 1
        rows = np.concatenate([rows + level * width for level, (rows, _) in enumerate(knots)])
        return cls(levels, totals, width, rows, np.concatenate([added for _, added in knots]))

    def at(
        self, chosen: NDArray[np.int64], suppressed: NDArray[np.int64], persistent_share: float = 1
    ) -> NDArray[np.float64]:
        """Return a lower bound for each of the chosen levels with ``suppressed`` rows, shape as ``chosen``.

        ``persistent_share`` is the share of the rows' penalty that counts.
        """
        if self.width:
            at = np.minimum(suppressed, self.width - 1) + chosen * self.width
            sums: NDArray[np.float64] = self.totals[chosen] + persistent_share * np.interp(
                at, self.rows, self.added
            )
            return sums
        result = np.empty(len(chosen))
        for level, each in enumerate(self.levels):
            at = np.flatnonzero(chosen == level)
            if len(at):
                result[at] = each.total + persistent_share * each.least_penalty_from(suppressed[at])
        return result


def domain_sums(frequency_set: FrequencySet, factors: Factors = _EQUAL_FACTORS) -> LevelSums:
    """Return sums of cells that cost the number of leaves under their value; integers.

    A suppressed cell costs all leaves. If suppression weighs less than 1, it costs only that share of the way
    from its value's leaves to all leaves.
    """
    sums = []
    for i, hierarchy in enumerate(frequency_set.hierarchies):
        rows, every = frequency_set.rows_by_code[i], len(hierarchy.leaves)
        levels = []
        for level in range(hierarchy.height + 1):
            leaves = leaf_counts(hierarchy, level)
            weighted = every if factors.suppressed == 1 else leaves + factors.suppressed * (every - leaves)
            total = factors.published * int((rows * leaves).sum())
            levels.append(LevelSum(total, weighted - factors.published * leaves, rows))
        sums.append(tuple(levels))
    return tuple(sums)


def information_sums(frequency_set: FrequencySet, factors: Factors = _EQUAL_FACTORS) -> LevelSums:
    """Return sums of cells that cost the bits by which their value leaves the leaf open.

    Frequencies are those of the table. A suppressed cell additionally costs, multiplied by its factor, the
    bits by which the domain leaves the value open.
    """
    sums = []
    for i, hierarchy in enumerate(frequency_set.hierarchies):
        rows = frequency_set.rows_by_code[i]
        found = np.flatnonzero(rows)
        levels = []
        for level in range(hierarchy.height + 1):
            positions = hierarchy.level_map(level)
            rows_of_value = np.bincount(positions, weights=rows).astype(np.int64)[positions]
            lost = factors.published * rows[found] * np.log2(rows_of_value[found] / rows[found])
            penalty = np.zeros(len(rows))
            occurring = rows_of_value > 0
            penalty[occurring] = factors.suppressed * np.log2(rows.sum() / rows_of_value[occurring])
            levels.append(LevelSum(fsum(lost.tolist()), penalty, rows))
        sums.append(tuple(levels))
    return tuple(sums)


def without_penalties(sums: LevelSums) -> LevelSums:
    """Return the sums without penalties: a suppressed row costs the same as a published one."""
    return tuple(
        tuple(LevelSum(level.total, np.zeros_like(level.penalty), level.rows_of_code) for level in levels)
        for levels in sums
    )


def penalized_among_suppressed(frequency_set: FrequencySet, sums: LevelSums, factor: float) -> LevelSums:
    """Return the sums in which suppressed rows hide their values only from each other."""
    return tuple(
        tuple(
            SuppressedEntropySum(
                each.total, np.zeros(len(each.penalty)), each.rows_of_code, hierarchy.level_map(level), factor
            )
            for level, each in enumerate(levels)
        )
        for hierarchy, levels in zip(frequency_set.hierarchies, sums, strict=True)
    )
