"""Sure bounds from classes in which known values occur: the ends of ranges, the members of sets.

A class of three rows that shows ``1 … 7`` has a row at 1 and a row at 7. So at most one of its rows is
between 2 and 5, whatever the third is. Values of several attributes may occur in the same row or in
different ones. The rows of a class are independent otherwise: each has any combination of the values that
its cells cover.

For each class the least (or largest) total of its selected rows is found exactly
(``workload.class_parts``), with the known values of up to four attributes on which the selection depends,
and of up to eight values together; of more, the first and the last of each attribute, which is still a
bound. Where one attribute matters and rows are alike, any number of values is exact. AVG is a ratio, solved
by the iteration of Dinkelbach (1967) over totals of amount − factor · number. MIN and MAX follow by bisection
over the values.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from discreet.queries.query import Aggregate
from discreet.queries.region import Box
from discreet.workload.class_parts import ClassPart, class_parts
from discreet.workload.class_rows import BOUNDLESS, ByCode, ByRow, ClassRows, Measure
from discreet.workload.covering import Floats, Totals

Bound = float | None


@dataclass(frozen=True, eq=False)
class Meeting:
    """The classes of some rows and a region of disjoint boxes."""

    rows: ClassRows
    region: tuple[Box, ...]
    measured: int | None = None

    @cached_property
    def counts(self) -> tuple[int, int]:
        """The least and the largest number of selected rows."""
        counted = self.rows.counted
        return int(self._total(counted)), -int(self._total(counted.mirrored()))

    def bounds(self, aggregate: Aggregate, measure: Measure) -> tuple[Bound, Bound]:
        """The least and the largest answer; None where no row with a value can be selected."""
        if aggregate is Aggregate.COUNT:
            counted = self._counted(measure)
            return self._total(counted), -self._total(counted.mirrored())
        if self._total(self._counted(measure).mirrored()) == 0:
            return None, None
        mirrored = measure.mirrored()
        if aggregate is Aggregate.SUM:
            return self._sum(measure), -self._sum(mirrored)
        if aggregate is Aggregate.AVG:
            return self._average(measure), -self._average(mirrored)
        if aggregate is Aggregate.MIN:
            return self._least(measure), self._surely_least(measure)
        return -self._surely_least(mirrored), -self._least(mirrored)

    def _counted(self, measure: Measure) -> Measure:
        if isinstance(measure, ByRow):
            return replace(measure, amounts=measure.numbers)
        return self.rows.counted

    def _total(self, measure: Measure) -> float:
        return float(self._totals(measure, 0.0).amounts.sum())

    def _sum(self, measure: Measure) -> float:
        totals = self._totals(measure, 0.0).amounts
        return -np.inf if (totals < -BOUNDLESS / 2).any() else float(totals.sum())

    def _average(self, measure: Measure) -> float:
        """The least average of at least one row."""
        if self._sum(measure) == -np.inf:
            return -np.inf
        amounts = measure.low if isinstance(measure, ByCode) else measure.amounts
        finite = amounts[np.isfinite(amounts) & (np.abs(amounts) < BOUNDLESS)]
        factor = float(finite.max(initial=0.0)) + 1.0
        while True:
            totals = self._totals(measure, factor)
            number = float(totals.numbers.sum())
            if not number:
                return factor
            lower = float(totals.amounts.sum()) / number
            if lower >= factor:
                return lower
            factor = lower

    def _least(self, measure: Measure) -> float:
        """The least value that a selected row may have."""
        values = np.unique(_lows(measure))

        def reached(value: float) -> bool:
            hits = _weighed(measure, lambda low: np.where(low <= value, -1.0, 0.0), _lows)
            return bool(self._total(hits) < 0)

        return float(values[_first(len(values), lambda i: reached(values[i]))])

    def _surely_least(self, measure: Measure) -> float:
        """The largest value that the least of the selected rows may have, of which there is at least one."""
        values = np.unique(_highs(measure))
        most = float(self.rows.rows.sum()) + 1

        def passed(value: float) -> bool:
            below = _weighed(measure, lambda high: np.where(high < value, 1.0, 0.0), _highs)
            if self._total(below) > 0:
                return False
            some = _weighed(measure, lambda high: np.where(high < value, most, -1.0), _highs)
            return bool((self._totals(some, 0.0).amounts < 0).any())

        failing = _first(len(values), lambda i: not passed(values[i]))
        return float(values[max(failing - 1, 0)])

    def _totals(self, measure: Measure, factor: float) -> Totals:
        """The cheapest totals of each class."""
        amounts, numbers = np.zeros(self.rows.number), np.zeros(self.rows.number)
        for part in self.parts:
            found = part.totals(measure, factor)
            amounts[part.classes], numbers[part.classes] = found.amounts, found.numbers
        return Totals(amounts, numbers)

    @cached_property
    def parts(self) -> list[ClassPart]:
        """The classes by the attributes whose values matter, and how many of them occur."""
        return list(class_parts(self.rows, self.region, self.measured))


def _lows(measure: Measure) -> Floats:
    return measure.low if isinstance(measure, ByCode) else measure.amounts[measure.numbers > 0]


def _highs(measure: Measure) -> Floats:
    return measure.high if isinstance(measure, ByCode) else measure.amounts[measure.numbers > 0]


def _weighed(
    measure: Measure, weight: Callable[[Floats], Floats], ends: Callable[[Measure], Floats]
) -> Measure:
    """The measure with a weight in place of each value."""
    if isinstance(measure, ByCode):
        weights = weight(ends(measure))
        return ByCode(measure.place, weights, weights)
    return replace(measure, amounts=np.where(measure.numbers > 0, weight(measure.amounts), 0.0))


def _first(number: int, holds: Callable[[int], bool]) -> int:
    """The first place from which on something holds; ``number`` where it never does."""
    low, high = 0, number
    while low < high:
        middle = (low + high) // 2
        if holds(middle):
            high = middle
        else:
            low = middle + 1
    return low
