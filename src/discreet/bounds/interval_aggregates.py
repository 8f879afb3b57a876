"""Bounds of aggregates over grouped values and over columns with ranges (Zhang et al. 2007).

Groups: at least ``certain`` and at most ``possible`` rows of a group are selected, with between f = max(0,
certain - NULLs) and t = min(possible, values) values. SUM is least for the j least values with the best j
in f … t; AVG adds values to the f least of every group while they lower it; MIN and MAX follow directly.
Ranges: values that are known to occur in each class, and stated means, tighten the bounds (LeFevre et al.
2006).

Numbers are whole, in units of 10^-scale, and exact; doubles contain them up to 2^53. Cost: one pass over
groups, and for AVG a sort of the values that may be selected.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.bounds.label_codes import ColumnMeaning
from discreet.queries.aggregate_query import Aggregate
from discreet.queries.region import Box, restrict_region
from discreet.workload.class_bounds import ClassBounds
from discreet.workload.interval_bounds import GroupEnds, bound_aggregate, extremes_of_cells
from discreet.workload.item_cover import ClassRows, CodeMeasure, RowMeasure
from discreet.workload.query_answer import RegionSpread

Number = int | float
Key = str | int | float | bool | None


@dataclass(frozen=True)
class BoundRow:
    """Bounds ``lower`` and ``upper`` and the ``estimate`` of one aggregate of one group.

    ``group`` contains the values of the keys. None means NULL: no row can be selected, or none with a
    value. If this is only possible, the bounds are those of the other cases, except that a SUM may then be
    0.
    """

    group: tuple[Key, ...]
    aggregate: str
    lower: Number | None
    upper: Number | None
    estimate: Number | None

    @classmethod
    def of(
        cls,
        group: tuple[Key, ...],
        aggregate: str,
        lower: Number | None,
        upper: Number | None,
        estimate: Number | None,
    ) -> BoundRow:
        """Build a row and clip the estimate to the bounds, which rounding may have exceeded."""
        if lower is None or upper is None:
            return cls(group, aggregate, lower, upper, None)
        if estimate is not None:
            estimate = min(max(estimate, lower), upper)
        return cls(group, aggregate, lower, upper, estimate)

    @property
    def width(self) -> Number | None:
        """Distance between the bounds."""
        return None if self.lower is None or self.upper is None else self.upper - self.lower


def round_outwards(value: Decimal, *, upwards: bool | None = None) -> Number:
    """Convert an exact number for JSON: to an integer, or to the nearest double in the safe direction.

    A lower bound is rounded down and an upper one up if the nearest double is on the other side.
    """
    if value == value.to_integral_value():
        return int(value)
    result = float(value)
    if upwards is True and Decimal(result) < value:
        return math.nextafter(result, math.inf)
    if upwards is False and Decimal(result) > value:
        return math.nextafter(result, -math.inf)
    return result


AggregateBounds = tuple[Number | None, Number | None, Number | None]
"""Lower bound, upper bound, estimate."""
ExactIntegers = NDArray[Any]
"""Integers of 64 bits if they suffice, else Python integers."""

_MOST_INTEGER_SUM = 1 << 62
_MOST_EXACT_DOUBLE = 1 << 53


@dataclass(frozen=True, eq=False)
class SelectedRows:
    """Certain, possible and expected number of selected rows of each group; shape ``(groups,)``."""

    certain: NDArray[np.int64]
    possible: NDArray[np.int64]
    expected: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class ValueGroups:
    """Values of each group in ascending order, concatenated by group.

    ``rows`` and ``values`` are the number of rows and of non-NULL values of each group, shape
    ``(groups,)``; ``ordered`` is None if values are not numbers. A value is ``ordered`` · 10^-``scale``.
    """

    rows: NDArray[np.int64]
    values: NDArray[np.int64]
    ordered: ExactIntegers | None
    scale: int = 0

    @classmethod
    def of(
        cls,
        group: NDArray[np.int64],
        rows: NDArray[np.int64],
        numbers: Sequence[Decimal | None],
        groups: int,
    ) -> ValueGroups:
        """Build groups: ``rows[i]`` rows with ``numbers[i]`` (None is NULL) are in group ``group[i]``."""
        known = np.array([number is not None for number in numbers], dtype=np.bool_)
        found = [number for number in numbers if number is not None]
        scale = max((-int(n.as_tuple().exponent) for n in found), default=0)
        scale = max(scale, 0)
        units = np.array([int(n.scaleb(scale)) for n in found], dtype=object)
        if (
            sum(abs(u) * r for u, r in zip(units.tolist(), rows[known].tolist(), strict=True))
            < _MOST_INTEGER_SUM
        ):
            units = units.astype(np.int64)
        all_rows = np.bincount(group, weights=rows, minlength=groups).astype(np.int64)
        values = np.bincount(group[known], weights=rows[known], minlength=groups).astype(np.int64)
        repeated = np.repeat(units, rows[known])
        of_group = np.repeat(group[known], rows[known])
        by_value = np.argsort(repeated, kind="stable")
        order = by_value[np.argsort(of_group[by_value], kind="stable")]
        return cls(all_rows, values, repeated[order], scale)

    @classmethod
    def of_counts(
        cls, group: NDArray[np.int64], rows: NDArray[np.int64], known: NDArray[np.bool_], groups: int
    ) -> ValueGroups:
        """Build groups of non-numeric values; ``known`` marks the rows with a value."""
        all_rows = np.bincount(group, weights=rows, minlength=groups).astype(np.int64)
        values = np.bincount(group[known], weights=rows[known], minlength=groups).astype(np.int64)
        return cls(all_rows, values, None)

    def by_row(self) -> RowMeasure | None:
        """Return the values with their rows, by group; None if doubles do not contain their sums exactly."""
        groups = np.arange(len(self.rows))
        if self.ordered is None:
            unit, amount, rows = groups, np.ones(len(groups)), self.values
        else:
            of_group = np.repeat(groups, self.values)
            first = np.append(True, (np.diff(of_group) != 0) | (self.ordered[1:] != self.ordered[:-1]))
            starts = np.flatnonzero(first[: len(of_group)])
            rows = np.diff(np.append(starts, len(of_group)))
            if (
                sum(abs(int(v)) * int(n) for v, n in zip(self.ordered[starts], rows, strict=True))
                >= _MOST_EXACT_DOUBLE
            ):
                return None
            unit, amount = of_group[starts], self.ordered[starts].astype(np.float64)
        nulls = self.rows - self.values
        units = np.concatenate((unit, groups)).astype(np.int64)
        all_rows = np.concatenate((rows, nulls)).astype(np.int64)
        amounts = np.concatenate((amount, np.zeros(len(groups)))).astype(np.float64)
        numbers = np.concatenate((np.ones(len(unit)), np.zeros(len(groups))))
        order = np.argsort(units, kind="stable")
        ordered = order[all_rows[order] > 0]
        return RowMeasure(units[ordered], all_rows[ordered], amounts[ordered], numbers[ordered])

    def convert_ends(self, aggregate: Aggregate, ends: tuple[float | None, float | None]) -> tuple[Any, Any]:
        """Convert bounds in units to numbers, which are exact except for an average."""
        lower, upper = ends
        if lower is None or upper is None:
            return None, None
        if aggregate is Aggregate.COUNT:
            return int(lower), int(upper)
        if aggregate is Aggregate.AVG:
            return lower / 10.0**self.scale, upper / 10.0**self.scale
        return self._numbers(lower, upper)

    def bounds(self, aggregate: Aggregate, selected: SelectedRows) -> AggregateBounds:
        """Compute lower bound, upper bound and estimate of one aggregate of the values."""
        forced = np.maximum(0, selected.certain - (self.rows - self.values))
        most = np.minimum(selected.possible, self.values)
        expected = selected.expected * self.values / np.maximum(self.rows, 1)
        if aggregate is Aggregate.COUNT:
            return int(forced.sum()), int(most.sum()), float(expected.sum())
        if not most.any():
            return None, None, None
        if aggregate is Aggregate.MIN:
            lower, upper = self._least(forced, most)
        elif aggregate is Aggregate.MAX:
            lower, upper = self._largest(forced, most)
        elif aggregate is Aggregate.SUM:
            lower, upper = self._sums(forced, most)
        else:
            return (*self._averages(forced, most), self._average(selected))
        if aggregate is Aggregate.SUM:
            return (*self._numbers(lower, upper), self._expected_sum(selected))
        rank = self._rank(expected, aggregate is Aggregate.MIN)
        likely = expected >= min(0.5, float(expected.max()))
        at = self._ordered[rank[likely & (most > 0)]]
        estimate = None if not len(at) else at.min() if aggregate is Aggregate.MIN else at.max()
        return (*self._numbers(lower, upper), None if estimate is None else self._float(estimate))

    @property
    def _ordered(self) -> ExactIntegers:
        assert self.ordered is not None
        return self.ordered

    @cached_property
    def _starts(self) -> NDArray[np.int64]:
        return np.concatenate(([0], np.cumsum(self.values)[:-1])).astype(np.int64)

    @cached_property
    def _upto(self) -> ExactIntegers:
        """Sums of the values before each position, over all groups, shape ``(values + 1,)``."""
        return np.concatenate((np.zeros(1, dtype=self._ordered.dtype), np.cumsum(self._ordered)))

    @cached_property
    def _below_and_above(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Number of negative and of positive values of each group."""
        of_group = np.repeat(np.arange(len(self.values)), self.values)
        groups = len(self.values)
        negative = np.bincount(of_group[(self._ordered < 0).astype(np.bool_)], minlength=groups)
        positive = np.bincount(of_group[(self._ordered > 0).astype(np.bool_)], minlength=groups)
        return negative, positive

    def _sums(self, forced: NDArray[np.int64], most: NDArray[np.int64]) -> tuple[Any, Any]:
        negative, positive = self._below_and_above
        ends = self._starts + self.values
        low = np.clip(negative, forced, most)
        high = np.clip(positive, forced, most)
        lower = (self._upto[self._starts + low] - self._upto[self._starts]).sum()
        return lower, (self._upto[ends] - self._upto[ends - high]).sum()

    def _least(self, forced: NDArray[np.int64], most: NDArray[np.int64]) -> tuple[Any, Any]:
        some, sure = most > 0, forced > 0
        ends = self._starts + self.values
        lower = self._ordered[self._starts[some]].min()
        if sure.any():
            return lower, self._ordered[(ends - forced)[sure]].min()
        return lower, self._ordered[(ends - 1)[some]].max()

    def _largest(self, forced: NDArray[np.int64], most: NDArray[np.int64]) -> tuple[Any, Any]:
        some, sure = most > 0, forced > 0
        ends = self._starts + self.values
        upper = self._ordered[(ends - 1)[some]].max()
        if sure.any():
            return self._ordered[(self._starts + forced - 1)[sure]].max(), upper
        return self._ordered[self._starts[some]].min(), upper

    def _averages(self, forced: NDArray[np.int64], most: NDArray[np.int64]) -> tuple[float, float]:
        of_group = np.repeat(np.arange(len(most)), most)
        step = np.arange(len(of_group)) - np.repeat(np.cumsum(most) - most, most)
        sure = step < forced[of_group]
        least = self._ordered[self._starts[of_group] + step]
        largest = self._ordered[(self._starts + self.values - 1)[of_group] - step]
        return self._least_average(least, sure), -self._least_average(-largest, sure)

    def _least_average(self, values: ExactIntegers, sure: NDArray[np.bool_]) -> float:
        """Return the least average: the certain values, then the least others while they lower it."""
        optional = np.sort(values[~sure], kind="stable")
        forced = int(sure.sum())
        totals = values[sure].sum() + np.concatenate(([0], np.cumsum(optional)))
        numbers = forced + np.arange(len(totals))
        begin = 0 if forced else 1
        averages = (totals[begin:] / numbers[begin:]).astype(np.float64)
        return float(averages.min()) / 10.0**self.scale

    def _rank(self, expected: NDArray[np.float64], least: bool) -> NDArray[np.int64]:
        """Return the position of the expected minimum, or maximum, of the selected values."""
        rank = np.floor((self.values + 1) / (expected + 1) + 0.5).astype(np.int64)
        rank = np.clip(rank, 1, np.maximum(self.values, 1))
        return self._starts + rank - 1 if least else self._starts + self.values - rank

    def _expected_sum(self, selected: SelectedRows) -> float:
        totals = self._upto[self._starts + self.values] - self._upto[self._starts]
        shares = selected.expected / np.maximum(self.rows, 1)
        return float((totals.astype(np.float64) * shares).sum()) / 10.0**self.scale

    def _average(self, selected: SelectedRows) -> float | None:
        rows = float((selected.expected * self.values / np.maximum(self.rows, 1)).sum())
        return self._expected_sum(selected) / rows if rows > 0 else None

    def _numbers(self, lower: Any, upper: Any) -> tuple[Number, Number]:
        low, high = (Decimal(int(units)).scaleb(-self.scale) for units in (lower, upper))
        return round_outwards(low, upwards=False), round_outwards(high, upwards=True)

    def _float(self, units: Any) -> float:
        return float(Decimal(int(units)).scaleb(-self.scale))


_MOST_PLACES = 12
_Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class RangedRows:
    """Units of rows by their label: ``cell_codes`` and ``rows`` have shape ``(units,)``.

    ``index`` is the column's index in ``classes``. ``classes`` contains the rows by class if values are
    known to occur in each, else None; ``spread`` computes how the units meet a region.
    """

    meaning: ColumnMeaning
    cell_codes: NDArray[np.int64]
    rows: NDArray[np.int64]
    index: int
    classes: ClassRows | None
    spread: Callable[[Sequence[Box]], RegionSpread]

    def bounds(self, aggregate: Aggregate, region: Sequence[Box]) -> AggregateBounds:
        """Compute lower bound, upper bound and estimate of the rows in a region."""
        name = self.meaning.cells.attribute
        values = np.append(np.ones(len(self.meaning.texts), dtype=np.bool_), False)
        wanted = values if aggregate is Aggregate.COUNT else self.meaning.numbers
        inside = restrict_region(region, name, wanted)
        spread = self.spread(inside)
        share = sum(spread.share) if spread.share else np.zeros(len(self.rows))
        expected: _Floats = (self.rows * share).astype(np.float64)
        if aggregate is Aggregate.COUNT:
            if self.classes is not None:
                return (*ClassBounds(self.classes, tuple(inside)).counts, float(expected.sum()))
            sure, most = int(self.rows[spread.certain].sum()), int(self.rows[spread.possible].sum())
            return sure, most, float(expected.sum())
        low, high = self._ends(inside, spread)
        if self.classes is not None:
            lower, upper = ClassBounds(self.classes, tuple(inside), self.index).bounds(
                aggregate, self._by_code()
            )
        else:
            lower, upper = bound_aggregate(
                aggregate, GroupEnds(self.rows, spread.certain, spread.possible, low, high, self._no)
            )
        estimate = self._estimate(aggregate, expected, low, high, spread.certain)
        return self._number(lower, False), self._number(upper, True), self._number(estimate, None)

    @property
    def _no(self) -> NDArray[np.bool_]:
        return np.zeros(len(self.rows), dtype=np.bool_)

    @property
    def _scale(self) -> int:
        finite = (end for ends in self.meaning.ends if ends is not None for end in ends if end.is_finite())
        return min(
            max((-int(end.normalize().as_tuple().exponent) for end in finite), default=0), _MOST_PLACES
        )

    def _ends(self, region: Sequence[Box], spread: RegionSpread) -> tuple[_Floats, _Floats]:
        """Return the least and the greatest number of each unit's rows in a region."""
        cells, scale = self.meaning.cells, max(self._scale, 0)
        least = np.array([np.nan if e is None else float(e[0].scaleb(scale)) for e in self.meaning.ends])
        largest = np.array([np.nan if e is None else float(e[1].scaleb(scale)) for e in self.meaning.ends])
        low, high = np.full(len(self.rows), np.inf), np.full(len(self.rows), -np.inf)
        for box, hit in zip(region, spread.hits_anything, strict=True):
            known = box[cells.attribute][:-1]
            lows = extremes_of_cells(cells, np.where(known, least, np.inf), np.minimum)[self.cell_codes]
            highs = extremes_of_cells(cells, np.where(known, largest, -np.inf), np.maximum)[self.cell_codes]
            low = np.where(hit, np.minimum(low, lows), low)
            high = np.where(hit, np.maximum(high, highs), high)
        return low, high

    def _by_code(self) -> CodeMeasure:
        """Return the possible values of the column by code, in units, and the means that labels state."""
        unit = self._scale
        ends = [(Decimal(0), Decimal(0)) if e is None else e for e in self.meaning.ends]
        low, high = (np.array([float(e[i].scaleb(unit)) for e in ends]) for i in (0, 1))
        stated_means = [self.meaning.means.get(label or "") for label in self.meaning.cells.labels]
        if not any(stated_means):
            return CodeMeasure(self.index, low, high)
        means = np.array([np.nan if m is None else float(m[0]) * 10.0**unit for m in stated_means])
        halves = np.array([0.0 if m is None else m[1] * 10.0**unit for m in stated_means])
        return CodeMeasure(self.index, low, high, (means, halves))

    def _estimate(
        self, aggregate: Aggregate, expected: _Floats, low: _Floats, high: _Floats, certain: NDArray[np.bool_]
    ) -> float | None:
        """Estimate the aggregate from rows that are evenly spread over their ranges."""
        some = (expected > 0) & (np.isfinite(low) | np.isfinite(high))
        if not some.any():
            return None
        rows = expected[some]
        least = np.where(np.isfinite(low[some]), low[some], high[some])
        largest = np.where(np.isfinite(high[some]), high[some], low[some])
        if aggregate in (Aggregate.SUM, Aggregate.AVG):
            means = [self.meaning.means.get(label or "") for label in self.meaning.cells.labels]
            means_of_groups = np.array(
                [np.nan if m is None else float(m[0]) * 10.0**self._scale for m in means]
            )
            of_unit = np.where(certain, means_of_groups[self.cell_codes], np.nan)[some]
            middle = np.where(np.isnan(of_unit), (least + largest) / 2, of_unit)
            total = float((rows * middle).sum())
            return total if aggregate is Aggregate.SUM else total / float(rows.sum())
        likely = rows >= min(0.5, float(rows.max()))
        step = (largest - least) / (rows + 1)
        found = least + step if aggregate is Aggregate.MIN else largest - step
        return float(found[likely].min() if aggregate is Aggregate.MIN else found[likely].max())

    def _number(self, units: float | None, upwards: bool | None) -> Number | None:
        if units is None or not np.isfinite(units):
            return units
        return round_outwards(Decimal(units).scaleb(-self._scale), upwards=upwards)
