"""Hierarchies of numbers: intervals of one or several widths, with open ends."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError
from discreet.hierarchy.messages import listed, shown
from discreet.hierarchy.numbers import (
    decimals,
    exact_decimal,
    number_text,
    parse_number,
    scaled_floor,
    unscaled,
)
from discreet.hierarchy.table import checked_leaves, hierarchy_from_columns
from discreet.hierarchy.value_order import in_order
from discreet.model.hierarchy import TOP, GeneralizationHierarchy, Given

DATA = "data"
"""An end that is taken from the data: the first (or last) occupied interval of the first width is open."""

End = Decimal | Literal["data"] | None


@dataclass(frozen=True)
class IntervalHierarchy:
    """Level i holds intervals of ``widths[i - 1]``, closed below and open above, that start at ``anchor``.

    Each width is a multiple of the one before, so intervals nest. Numbers below ``lower`` form one value
    ``<lower`` at every level (bottom coding), those from ``upper`` on ``≥upper`` (top coding), and intervals
    are cut there. Without widths there is one level, in which the numbers between the ends stay as they are.
    ``others`` are values that are no numbers (or codes such as 99 for unknown): they stay as they are below
    the top. Decimals are exact. Where all numbers are whole and not negative an interval reads ``20-24``,
    else ``[20, 25[``.
    """

    widths: tuple[Decimal, ...] = ()
    anchor: Decimal = Decimal(0)
    lower: End = None
    upper: End = None
    others: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not self.widths and ((self.lower is None and self.upper is None) or self.from_data):
            raise InputError("intervals without a width", allowed="width = 5, widths = [5, 10, 20], …")
        for number, width in enumerate(self.widths):
            if width <= 0:
                raise InputError(f"width {number_text(width)}", allowed="numbers above 0")
            if number and not _divides(self.widths[number - 1], width):
                before = number_text(self.widths[number - 1])
                raise InputError(
                    f"width {number_text(width)} after width {before}: such intervals do not nest",
                    allowed=f"a multiple of {before}, larger than it",
                )
        if isinstance(self.lower, Decimal) and isinstance(self.upper, Decimal) and self.lower > self.upper:
            raise InputError(
                f"lower = {number_text(self.lower)} above upper = {number_text(self.upper)}",
                allowed="a lower end at or below the upper end",
            )

    @classmethod
    def of(
        cls,
        widths: Iterable[object] | int | float | Decimal | str = (),
        *,
        anchor: object = 0,
        lower: object = None,
        upper: object = None,
        others: Iterable[str] = (),
    ) -> IntervalHierarchy:
        """From plain numbers; ``lower`` and ``upper`` may be ``"data"``. ``InputError`` for a non-number."""
        if isinstance(widths, int | float | Decimal | str):
            widths = (widths,)
        return cls(
            widths=tuple(exact_decimal("width", width) for width in widths),
            anchor=exact_decimal("anchor", anchor),
            lower=_end("lower", lower),
            upper=_end("upper", upper),
            others=tuple(others),
        )

    @property
    def origin(self) -> str:
        """``intervals of 5, 10 and 20``."""
        texts = [number_text(width) for width in self.widths]
        if not texts:
            return "open ends"
        return "intervals of " + (f"{', '.join(texts[:-1])} and {texts[-1]}" if texts[1:] else texts[0])

    @property
    def from_data(self) -> bool:
        """Whether an end is taken from the data."""
        return DATA in (self.lower, self.upper)

    @property
    def given(self) -> Given:
        """The widths, not which numbers there are."""
        return Given.LEVELS

    def build(
        self, attribute: str, values: Sequence[str], counts: Sequence[int] | None = None
    ) -> GeneralizationHierarchy:
        """Intervals over the data's numbers; ``InputError`` for a value that is no number.

        Cost: linear in the values, apart from sorting them; labels are made once per interval.
        """
        apart = set(self.others)
        leaves = [value for value in checked_leaves(attribute, values) if value not in apart]
        numbers = self._numbers(attribute, leaves)
        grid = _Grid.of(self, numbers)
        columns = [leaves, *grid.columns(leaves)]
        others = in_order(apart)
        for level in columns:
            clash = apart.intersection(level)
            if clash:
                raise InputError(
                    f"attribute {shown(attribute)}: {shown(min(clash))} under others reads like an interval",
                    advice="Leave it out of others, or choose other widths.",
                )
        columns = [[*level, *others] for level in columns]
        columns.append([TOP] * len(columns[0]))
        return hierarchy_from_columns(attribute, columns, origin=self.origin, from_data=self.from_data)

    def _numbers(self, attribute: str, leaves: Sequence[str]) -> list[Decimal]:
        numbers, wrong = [], []
        for leaf in leaves:
            number = parse_number(leaf)
            if number is None:
                wrong.append(leaf)
            else:
                numbers.append(number)
        if wrong:
            raise InputError(
                f"attribute {shown(attribute)}: {listed(wrong)} of the data "
                + ("is no number" if len(wrong) == 1 else "are no numbers"),
                allowed="numbers such as 17, -3.5 or 1e3, and the values under others",
                advice=f"List it in the hierarchy as others = [{_quoted(wrong[0])}], "
                f"or in [source] as null_values = [{_quoted(wrong[0])}].",
            )
        return numbers


@dataclass(frozen=True, eq=False)
class _Grid:
    """The numbers and the ends as whole numbers in units of ``10**-scale``, floored, which no end notices."""

    source: IntervalHierarchy
    numbers: NDArray[Any]
    scale: int
    whole: bool
    lower: int | None
    upper: int | None

    @classmethod
    def of(cls, source: IntervalHierarchy, numbers: Sequence[Decimal]) -> _Grid:
        given = [end for end in (source.lower, source.upper) if isinstance(end, Decimal)]
        scale = max(decimals(number) for number in (*source.widths, source.anchor, *given))
        floored = [scaled_floor(number, scale) for number in numbers]
        largest = max(abs(scaled_floor(number, scale)) for number in (*source.widths, source.anchor, *given))
        grid = cls(
            source=source,
            numbers=_array(floored, largest),
            scale=scale,
            whole=scale == 0 and all(n == whole for n, whole in zip(numbers, floored, strict=True)),
            lower=scaled_floor(source.lower, scale) if isinstance(source.lower, Decimal) else None,
            upper=scaled_floor(source.upper, scale) if isinstance(source.upper, Decimal) else None,
        )
        return grid._with_ends_of_data() if source.from_data and floored else grid

    def _with_ends_of_data(self) -> _Grid:
        width, anchor = self._units(self.source.widths[0]), self._units(self.source.anchor)
        lower, upper = self.lower, self.upper
        if self.source.lower == DATA:
            lower = anchor + (int(self.numbers.min()) - anchor) // width * width + width
        if self.source.upper == DATA:
            upper = anchor + (int(self.numbers.max()) - anchor) // width * width
        if lower is not None and upper is not None and lower > upper:
            lower = None if self.source.lower == DATA else lower
            upper = None if self.source.upper == DATA else upper
        return replace(self, lower=lower, upper=upper)

    def columns(self, leaves: Sequence[str]) -> list[list[str]]:
        """The labels of each level of intervals, leaf by leaf."""
        below = np.zeros(len(self.numbers), bool) if self.lower is None else self.numbers < self.lower
        above = np.zeros(len(self.numbers), bool) if self.upper is None else self.numbers >= self.upper
        widths = [self._units(width) for width in self.source.widths]
        if not widths:
            return [self._coded(list(leaves), below, above)]
        anchor = self._units(self.source.anchor)
        starts = [anchor + (self.numbers - anchor) // width * width for width in widths]
        lowest = int(starts[-1].min()) if len(self.numbers) else 0
        dashed = self.whole and (lowest if self.lower is None else max(lowest, self.lower)) >= 0
        found = []
        for start, width in zip(starts, widths, strict=True):
            unique, inverse = np.unique(start, return_inverse=True)
            labels = [self._label(int(s), width, dashed) for s in unique]
            found.append(self._coded([labels[p] for p in inverse.tolist()], below, above))
        return found

    def _units(self, number: Decimal) -> int:
        return scaled_floor(number, self.scale)

    def _coded(self, labels: list[str], below: NDArray[Any], above: NDArray[Any]) -> list[str]:
        """The labels with ``<lower`` and ``≥upper`` where numbers lie beyond the ends."""
        for place in np.flatnonzero(below).tolist():
            labels[place] = f"<{self._text(self.lower)}"
        for place in np.flatnonzero(above).tolist():
            labels[place] = f"≥{self._text(self.upper)}"
        return labels

    def _label(self, start: int, width: int, dashed: bool) -> str:
        end = start + width
        start = start if self.lower is None else max(start, self.lower)
        end = end if self.upper is None else min(end, self.upper)
        if not dashed:
            return f"[{self._text(start)}, {self._text(end)}["
        return f"{start}-{end - 1}" if end - start > 1 else f"{start}"

    def _text(self, units: int | None) -> str:
        return number_text(unscaled(units or 0, self.scale))


def _array(numbers: Sequence[int], largest: int) -> NDArray[Any]:
    """Machine integers where they and their sums with widths and ends fit, else Python's integers."""
    fits = max(largest, *(abs(number) for number in numbers), 0) < 2**60
    return np.array(numbers, dtype=np.int64 if fits else object)


def _divides(width: Decimal, wider: Decimal) -> bool:
    scale = max(decimals(width), decimals(wider))
    return wider > width and scaled_floor(wider, scale) % scaled_floor(width, scale) == 0


def _end(name: str, value: object) -> End:
    if value is None:
        return None
    return "data" if value == DATA else exact_decimal(name, value)


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
