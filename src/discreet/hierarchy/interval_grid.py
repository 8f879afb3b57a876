"""Numbers and their intervals as whole numbers of one unit, so that nothing is rounded."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import pairwise
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from discreet.hierarchy.numbers import decimals, number_text, scaled_floor, unscaled

DATA = "data"
"""An end that is taken from the data: the first (or last) occupied interval of the first width is open."""

End = Decimal | Literal["data"] | None

Interval = tuple[int | None, int | None]
"""The start and the end, in units; None for an open side."""


@dataclass(frozen=True)
class Cuts:
    """Where numbers are cut into intervals, level by level: by widths, then at bounds; and the open ends."""

    widths: tuple[Decimal, ...] = ()
    anchor: Decimal = Decimal(0)
    lower: End = None
    upper: End = None
    breaks: tuple[tuple[Decimal, ...], ...] = ()


@dataclass(frozen=True, eq=False)
class IntervalGrid:
    """The numbers and the ends as whole numbers in units of ``10**-scale``, floored, which no end notices."""

    cuts: Cuts
    numbers: NDArray[Any]
    scale: int
    whole: bool
    lower: int | None
    upper: int | None

    @classmethod
    def of(cls, cuts: Cuts, numbers: Sequence[Decimal]) -> IntervalGrid:
        """The grid of a column's numbers, ends of the data told."""
        ends = [end for end in (cuts.lower, cuts.upper) if isinstance(end, Decimal)]
        given = [*cuts.widths, cuts.anchor, *ends, *(bound for level in cuts.breaks for bound in level)]
        scale = max(decimals(number) for number in given)
        floored = [scaled_floor(number, scale) for number in numbers]
        grid = cls(
            cuts=cuts,
            numbers=_array(floored, max(abs(scaled_floor(number, scale)) for number in given)),
            scale=scale,
            whole=scale == 0 and all(n == whole for n, whole in zip(numbers, floored, strict=True)),
            lower=scaled_floor(cuts.lower, scale) if isinstance(cuts.lower, Decimal) else None,
            upper=scaled_floor(cuts.upper, scale) if isinstance(cuts.upper, Decimal) else None,
        )
        return grid._with_ends_of_data() if DATA in (cuts.lower, cuts.upper) and floored else grid

    def _with_ends_of_data(self) -> IntervalGrid:
        width, anchor = self._units(self.cuts.widths[0]), self._units(self.cuts.anchor)
        lower, upper = self.lower, self.upper
        if self.cuts.lower == DATA:
            lower = anchor + (int(self.numbers.min()) - anchor) // width * width + width
        if self.cuts.upper == DATA:
            upper = anchor + (int(self.numbers.max()) - anchor) // width * width
        if lower is not None and upper is not None and lower > upper:
            lower = None if self.cuts.lower == DATA else lower
            upper = None if self.cuts.upper == DATA else upper
        return replace(self, lower=lower, upper=upper)

    def columns(self, leaves: Sequence[str]) -> list[list[str]]:
        """The labels of each level of intervals, leaf by leaf."""
        below = np.zeros(len(self.numbers), bool) if self.lower is None else self.numbers < self.lower
        above = np.zeros(len(self.numbers), bool) if self.upper is None else self.numbers >= self.upper
        levels = [self._regular(self._units(width)) for width in self.cuts.widths]
        levels += [self._irregular([self._units(bound) for bound in level]) for level in self.cuts.breaks]
        if not levels:
            return [self._coded(list(leaves), below, above)]
        dashed = self.whole and self._lowest(levels) >= 0
        found = []
        for intervals, inverse in levels:
            labels = [self._label(interval, dashed) for interval in intervals]
            found.append(self._coded([labels[place] for place in inverse.tolist()], below, above))
        return found

    def _regular(self, width: int) -> tuple[list[Interval], NDArray[np.int64]]:
        """Intervals of one width, and which of them each number lies in."""
        anchor = self._units(self.cuts.anchor)
        unique, inverse = np.unique(anchor + (self.numbers - anchor) // width * width, return_inverse=True)
        return [(int(start), int(start) + width) for start in unique], inverse

    def _irregular(self, bounds: Sequence[int]) -> tuple[list[Interval], NDArray[np.int64]]:
        """The same for intervals between bounds, the first and the last of them open."""
        intervals: list[Interval] = list(pairwise([None, *bounds, None]))
        return intervals, np.searchsorted(_array(bounds, 0), self.numbers, side="right")

    def _lowest(self, levels: Iterable[tuple[list[Interval], NDArray[np.int64]]]) -> int:
        """The lowest end that a label may show; 0 where there is none."""
        ends = [end for intervals, _ in levels for interval in intervals[:1] for end in interval]
        lowest = min((end for end in ends if end is not None), default=0)
        return lowest if self.lower is None else max(lowest, self.lower)

    def _units(self, number: Decimal) -> int:
        return scaled_floor(number, self.scale)

    def _coded(self, labels: list[str], below: NDArray[Any], above: NDArray[Any]) -> list[str]:
        """The labels with ``<lower`` and ``≥upper`` where numbers lie beyond the ends."""
        for place in np.flatnonzero(below).tolist():
            labels[place] = f"<{self._text(self.lower)}"
        for place in np.flatnonzero(above).tolist():
            labels[place] = f"≥{self._text(self.upper)}"
        return labels

    def _label(self, interval: Interval, dashed: bool) -> str:
        start = max((end for end in (interval[0], self.lower) if end is not None), default=None)
        end = min((end for end in (interval[1], self.upper) if end is not None), default=None)
        if start is None or end is None:
            return f"<{self._text(end)}" if start is None else f"≥{self._text(start)}"
        if not dashed:
            return f"[{self._text(start)}, {self._text(end)}["
        return f"{start}-{end - 1}" if end - start > 1 else f"{start}"

    def _text(self, units: int | None) -> str:
        return number_text(unscaled(units or 0, self.scale))


def _array(numbers: Sequence[int], largest: int) -> NDArray[Any]:
    """Machine integers where they and their sums with widths and ends fit, else Python's integers."""
    fits = max(largest, *(abs(number) for number in numbers), 0) < 2**60
    return np.array(numbers, dtype=np.int64 if fits else object)
