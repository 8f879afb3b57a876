"""Aggregates of a column of which rows show ranges: each row's number is anywhere in what its label covers.

So SUM is least where every row that is surely selected has its least number, and possible ones are selected
where that is negative; AVG, MIN and MAX likewise (``workload.bounds``). Where ranges end at values that occur
in each class, and a class is selected whole, one of its rows has the least number and another the largest; a
mean that it states is known but for its last digit (LeFevre et al. 2006, range and mean statistics).

Numbers are whole, in units of 10^-scale, which doubles hold exactly up to 2^53; infinite where a label has no
end.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal

import numpy as np
from numpy.typing import NDArray

from discreet.bounds.answer import Number, rounded
from discreet.bounds.meaning import Meaning
from discreet.bounds.value_groups import Bounds
from discreet.model.hierarchy import TOP
from discreet.queries.query import Aggregate
from discreet.queries.region import Box, restricted
from discreet.workload.answer import Spread, extreme
from discreet.workload.bounds import Ends, bounds_of

_MOST_PLACES = 12
Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class RangedRows:
    """Units of rows by the label that they show: ``shown`` and ``rows`` have shape ``(units,)``.

    ``classes`` number the units' classes where ends occur in each, else None; ``spread`` says how the units
    meet a region.
    """

    meaning: Meaning
    shown: NDArray[np.int64]
    rows: NDArray[np.int64]
    classes: NDArray[np.int64] | None
    spread: Callable[[Sequence[Box]], Spread]

    def bounds(self, aggregate: Aggregate, region: Sequence[Box]) -> Bounds:
        """Lower, upper and estimate of the rows in a region."""
        name = self.meaning.cells.attribute
        values = np.append(np.ones(len(self.meaning.texts), dtype=np.bool_), False)
        wanted = values if aggregate is Aggregate.COUNT else self.meaning.numbers
        inside = restricted(region, name, wanted)
        spread = self.spread(inside)
        share = sum(spread.share) if spread.share else np.zeros(len(self.rows))
        expected: Floats = (self.rows * share).astype(np.float64)
        if aggregate is Aggregate.COUNT:
            sure, most = int(self.rows[spread.certain].sum()), int(self.rows[spread.possible].sum())
            return sure, most, float(expected.sum())
        low, high = self._ends(inside, spread)
        ends = self._classed(Ends(self.rows, spread.certain, spread.possible, low, high, self._no), aggregate)
        lower, upper = bounds_of(aggregate, ends)
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

    def _ends(self, region: Sequence[Box], spread: Spread) -> tuple[Floats, Floats]:
        """The least and the largest number of each unit's rows in a region."""
        cells, scale = self.meaning.cells, max(self._scale, 0)
        least = np.array([np.nan if e is None else float(e[0].scaleb(scale)) for e in self.meaning.ends])
        largest = np.array([np.nan if e is None else float(e[1].scaleb(scale)) for e in self.meaning.ends])
        low, high = np.full(len(self.rows), np.inf), np.full(len(self.rows), -np.inf)
        for box, hit in zip(region, spread.hits_anything, strict=True):
            known = box[cells.attribute][:-1]
            lows = extreme(cells, np.where(known, least, np.inf), np.minimum)[self.shown]
            highs = extreme(cells, np.where(known, largest, -np.inf), np.maximum)[self.shown]
            low = np.where(hit, np.minimum(low, lows), low)
            high = np.where(hit, np.maximum(high, highs), high)
        return low, high

    def _classed(self, ends: Ends, aggregate: Aggregate) -> Ends:
        """With what is known of classes that are selected whole: a row at each end, and the mean."""
        if self.classes is None:
            return ends
        labels = self.meaning.cells.labels
        told = np.array([label is not None and label != TOP for label in labels])[self.shown]
        outside = np.bincount(self.classes, weights=~ends.certain)
        whole = told & (outside[self.classes] == 0)
        found = [
            (
                ends.rows[~whole],
                ends.certain[~whole],
                ends.possible[~whole],
                ends.low[~whole],
                ends.high[~whole],
            )
        ]
        _, first, of_class = np.unique(self.classes[whole], return_index=True, return_inverse=True)
        rows = np.bincount(of_class.reshape(-1), weights=ends.rows[whole], minlength=len(first)).astype(
            np.int64
        )
        low, high = ends.low[whole][first], ends.high[whole][first]
        if aggregate in (Aggregate.MIN, Aggregate.MAX):
            parts = [(np.ones_like(rows), low, low), (np.ones_like(rows), high, high)]
        else:
            parts = [(rows, *self._averages(rows, low, high, self.shown[whole][first]))]
        for number, lows, highs in parts:
            yes = np.ones(len(number), dtype=np.bool_)
            found.append((number, yes, yes, lows, highs))
        rows_of, certain, possible, least, largest = (
            np.concatenate(columns) for columns in zip(*found, strict=True)
        )
        return Ends(rows_of, certain, possible, least, largest, np.zeros(len(rows_of), dtype=np.bool_))

    def _averages(
        self, rows: NDArray[np.int64], low: Floats, high: Floats, shown: NDArray[np.int64]
    ) -> tuple[Floats, Floats]:
        """Between which numbers the mean of each class lies: one row at each end, others anywhere."""
        number = np.maximum(rows, 1)
        apart = (rows > 1) & (high > low)
        least = np.where(apart, ((number - 1) * low + high) / number, low)
        largest = np.where(apart, ((number - 1) * high + low) / number, high)
        unit = 10.0**self._scale
        stated = [self.meaning.means.get(label or "") for label in self.meaning.cells.labels]
        means = np.array([np.nan if m is None else float(m[0]) * unit for m in stated])[shown]
        halves = np.array([0.0 if m is None else m[1] * unit for m in stated])[shown]
        known = ~np.isnan(means)
        least = np.where(known, np.maximum(least, means - halves), least)
        return least, np.where(known, np.minimum(largest, means + halves), largest)

    def _estimate(
        self, aggregate: Aggregate, expected: Floats, low: Floats, high: Floats, certain: NDArray[np.bool_]
    ) -> float | None:
        """Rows spread evenly over their ranges."""
        some = (expected > 0) & (np.isfinite(low) | np.isfinite(high))
        if not some.any():
            return None
        rows = expected[some]
        least = np.where(np.isfinite(low[some]), low[some], high[some])
        largest = np.where(np.isfinite(high[some]), high[some], low[some])
        if aggregate in (Aggregate.SUM, Aggregate.AVG):
            means = [self.meaning.means.get(label or "") for label in self.meaning.cells.labels]
            stated = np.array([np.nan if m is None else float(m[0]) * 10.0**self._scale for m in means])
            of_unit = np.where(certain, stated[self.shown], np.nan)[some]
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
        return rounded(Decimal(units).scaleb(-self._scale), upwards=upwards)
