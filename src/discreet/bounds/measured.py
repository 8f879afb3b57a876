"""Aggregates of a column of which rows show ranges: each row's number is anywhere in what its label covers.

So SUM is least where every row that is surely selected has its least number, and possible ones are selected
where that is negative; AVG, MIN and MAX likewise (``workload.bounds``). Where labels say which values occur
in each class, one of its rows has each of them (``workload.occurring_values``); a mean that a class states
is known but for its last digit (LeFevre et al. 2006, range and mean statistics).

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
from discreet.queries.query import Aggregate
from discreet.queries.region import Box, restricted
from discreet.workload.answer import Spread
from discreet.workload.bounds import Ends, bounds_of
from discreet.workload.cell_codes import extreme
from discreet.workload.class_rows import ByCode, ClassRows
from discreet.workload.occurring_values import Meeting

_MOST_PLACES = 12
Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class RangedRows:
    """Units of rows by the label that they show: ``shown`` and ``rows`` have shape ``(units,)``.

    ``place`` is that of the column in ``classes``, the rows by class where values are known to occur in each,
    else None; ``spread`` says how the units meet a region.
    """

    meaning: Meaning
    shown: NDArray[np.int64]
    rows: NDArray[np.int64]
    place: int
    classes: ClassRows | None
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
            if self.classes is not None:
                return (*Meeting(self.classes, tuple(inside)).counts, float(expected.sum()))
            sure, most = int(self.rows[spread.certain].sum()), int(self.rows[spread.possible].sum())
            return sure, most, float(expected.sum())
        low, high = self._ends(inside, spread)
        if self.classes is not None:
            lower, upper = Meeting(self.classes, tuple(inside), self.place).bounds(aggregate, self._by_code())
        else:
            lower, upper = bounds_of(
                aggregate, Ends(self.rows, spread.certain, spread.possible, low, high, self._no)
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

    def _by_code(self) -> ByCode:
        """What rows may have of the column, in units, by code; and the means that labels state."""
        unit = self._scale
        ends = [(Decimal(0), Decimal(0)) if e is None else e for e in self.meaning.ends]
        low, high = (np.array([float(e[i].scaleb(unit)) for e in ends]) for i in (0, 1))
        told = [self.meaning.means.get(label or "") for label in self.meaning.cells.labels]
        if not any(told):
            return ByCode(self.place, low, high)
        means = np.array([np.nan if m is None else float(m[0]) * 10.0**unit for m in told])
        halves = np.array([0.0 if m is None else m[1] * 10.0**unit for m in told])
        return ByCode(self.place, low, high, (means, halves))

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
