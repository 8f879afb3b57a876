"""Sensitive values in groups, and what any rows of a group can have of them (Zhang et al. 2007).

Of a group's rows at least ``certain`` and at most ``possible`` are selected, which ones is not known. Among
them are between f = max(0, certain - NULLs) and t = min(possible, values) values. So a SUM is least for the j
least values, for the best j in f … t; AVG adds to the f least values of every group further ones, the least
first, as long as they lower it; MIN and MAX follow from the ends. Numbers are whole, in units of 10^-scale,
and exact.

Cost: one pass over groups, and for AVG a sort of the values that may be selected.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.bounds.answer import Number, rounded
from discreet.queries.query import Aggregate
from discreet.workload.class_rows import ByRow

Bounds = tuple[Number | None, Number | None, Number | None]
"""Lower, upper, estimate."""
Whole = NDArray[Any]
"""Whole numbers: 64 bits where they suffice, else Python's own."""

_WIDEST = 1 << 62
_EXACT = 1 << 53


@dataclass(frozen=True, eq=False)
class Selected:
    """How many rows of each group are selected: surely, possibly, and as is expected; shape ``(groups,)``."""

    certain: NDArray[np.int64]
    possible: NDArray[np.int64]
    expected: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class ValueGroups:
    """The values of each group in ascending order, one group behind the other.

    ``rows`` and ``values`` are the rows of each group and those with a value, shape ``(groups,)``;
    ``ordered`` is None where values are no numbers. A value is ``ordered`` · 10^-``scale``.
    """

    rows: NDArray[np.int64]
    values: NDArray[np.int64]
    ordered: Whole | None
    scale: int = 0

    @classmethod
    def of(
        cls,
        group: NDArray[np.int64],
        rows: NDArray[np.int64],
        numbers: Sequence[Decimal | None],
        groups: int,
    ) -> ValueGroups:
        """Groups of ``rows[i]`` rows each with ``numbers[i]`` (None is NULL) in group ``group[i]``."""
        known = np.array([number is not None for number in numbers], dtype=np.bool_)
        found = [number for number in numbers if number is not None]
        scale = max((-int(n.as_tuple().exponent) for n in found), default=0)
        scale = max(scale, 0)
        units = np.array([int(n.scaleb(scale)) for n in found], dtype=object)
        if sum(abs(u) * r for u, r in zip(units.tolist(), rows[known].tolist(), strict=True)) < _WIDEST:
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
        """Groups of values that are no numbers; ``known`` says which rows have one."""
        all_rows = np.bincount(group, weights=rows, minlength=groups).astype(np.int64)
        values = np.bincount(group[known], weights=rows[known], minlength=groups).astype(np.int64)
        return cls(all_rows, values, None)

    def by_row(self) -> ByRow | None:
        """The values with their rows, by group; None where doubles do not hold their sums exactly."""
        groups = np.arange(len(self.rows))
        if self.ordered is None:
            unit, amount, rows = groups, np.ones(len(groups)), self.values
        else:
            of_group = np.repeat(groups, self.values)
            first = np.append(True, (np.diff(of_group) != 0) | (self.ordered[1:] != self.ordered[:-1]))
            starts = np.flatnonzero(first[: len(of_group)])
            rows = np.diff(np.append(starts, len(of_group)))
            if sum(abs(int(v)) * int(n) for v, n in zip(self.ordered[starts], rows, strict=True)) >= _EXACT:
                return None
            unit, amount = of_group[starts], self.ordered[starts].astype(np.float64)
        nulls = self.rows - self.values
        units = np.concatenate((unit, groups)).astype(np.int64)
        all_rows = np.concatenate((rows, nulls)).astype(np.int64)
        amounts = np.concatenate((amount, np.zeros(len(groups)))).astype(np.float64)
        numbers = np.concatenate((np.ones(len(unit)), np.zeros(len(groups))))
        order = np.argsort(units, kind="stable")
        kept = order[all_rows[order] > 0]
        return ByRow(units[kept], all_rows[kept], amounts[kept], numbers[kept])

    def told(self, aggregate: Aggregate, ends: tuple[float | None, float | None]) -> tuple[Any, Any]:
        """Bounds in units as numbers: exact ones but for an average."""
        lower, upper = ends
        if lower is None or upper is None:
            return None, None
        if aggregate is Aggregate.COUNT:
            return int(lower), int(upper)
        if aggregate is Aggregate.AVG:
            return lower / 10.0**self.scale, upper / 10.0**self.scale
        return self._numbers(lower, upper)

    def bounds(self, aggregate: Aggregate, selected: Selected) -> Bounds:
        """The answer of one aggregate of the values."""
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
    def _ordered(self) -> Whole:
        assert self.ordered is not None
        return self.ordered

    @cached_property
    def _starts(self) -> NDArray[np.int64]:
        return np.concatenate(([0], np.cumsum(self.values)[:-1])).astype(np.int64)

    @cached_property
    def _upto(self) -> Whole:
        """Sums of the values before each place, over all groups, shape ``(values + 1,)``."""
        return np.concatenate((np.zeros(1, dtype=self._ordered.dtype), np.cumsum(self._ordered)))

    @cached_property
    def _below_and_above(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The negative and the positive values of each group."""
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
        place = np.arange(len(of_group)) - np.repeat(np.cumsum(most) - most, most)
        sure = place < forced[of_group]
        least = self._ordered[self._starts[of_group] + place]
        largest = self._ordered[(self._starts + self.values - 1)[of_group] - place]
        return self._least_average(least, sure), -self._least_average(-largest, sure)

    def _least_average(self, values: Whole, sure: NDArray[np.bool_]) -> float:
        """The sure values, then the others, the least first, as long as they lower the average."""
        optional = np.sort(values[~sure], kind="stable")
        forced = int(sure.sum())
        totals = values[sure].sum() + np.concatenate(([0], np.cumsum(optional)))
        numbers = forced + np.arange(len(totals))
        begin = 0 if forced else 1
        averages = (totals[begin:] / numbers[begin:]).astype(np.float64)
        return float(averages.min()) / 10.0**self.scale

    def _rank(self, expected: NDArray[np.float64], least: bool) -> NDArray[np.int64]:
        """The place of the value that is expected to be the least, or the largest, of those selected."""
        rank = np.floor((self.values + 1) / (expected + 1) + 0.5).astype(np.int64)
        rank = np.clip(rank, 1, np.maximum(self.values, 1))
        return self._starts + rank - 1 if least else self._starts + self.values - rank

    def _expected_sum(self, selected: Selected) -> float:
        totals = self._upto[self._starts + self.values] - self._upto[self._starts]
        shares = selected.expected / np.maximum(self.rows, 1)
        return float((totals.astype(np.float64) * shares).sum()) / 10.0**self.scale

    def _average(self, selected: Selected) -> float | None:
        rows = float((selected.expected * self.values / np.maximum(self.rows, 1)).sum())
        return self._expected_sum(selected) / rows if rows > 0 else None

    def _numbers(self, lower: Any, upper: Any) -> tuple[Number, Number]:
        low, high = (Decimal(int(units)).scaleb(-self.scale) for units in (lower, upper))
        return rounded(low, upwards=False), rounded(high, upwards=True)

    def _float(self, units: Any) -> float:
        return float(Decimal(int(units)).scaleb(-self.scale))
