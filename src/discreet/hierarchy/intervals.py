"""Hierarchies of numbers: intervals of one or more widths or with irregular bounds, and open ends.

Numbers and bounds are whole numbers of one unit (a power of ten), so that nothing is rounded. Cost: linear in
the values, apart from sorting; each interval's label is made once.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import pairwise
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError
from discreet.hierarchy.bands import Band, parse_band
from discreet.hierarchy.cell_values import (
    decimal_places,
    format_number,
    parse_number,
    scale_down,
    scaled_floor,
    to_decimal,
)
from discreet.hierarchy.level_table import hierarchy_with_others, ordered_leaves
from discreet.hierarchy.messages import OTHERS_ALLOWED, quote_value, quote_values
from discreet.model.hierarchy import GeneralizationHierarchy, PublicPart
from discreet.model.option import spec_key
from discreet.model.published_cells import LabelForm, LabelKind

DATA_END = "data"
"""End that is taken from the data: the first (or last) occupied interval of the first width is open."""

IntervalEnd = Decimal | Literal["data"] | None

UnitInterval = tuple[int | None, int | None]
"""Start and end of an interval, in units; None for an open side."""


@dataclass(frozen=True)
class IntervalCuts:
    """Bounds of intervals, level by level: by widths, then at breaks; and the open ends."""

    widths: tuple[Decimal, ...] = spec_key(
        "The widths of the intervals, level by level.",
        "[5, 10, 20]",
        "a list of numbers, each a multiple of the one before",
        default=(),
    )
    breaks: tuple[tuple[Decimal, ...], ...] = spec_key(
        "Bounds at which intervals start; optionally level by level.",
        "[18, 25, 35, 50, 65]",
        "a list of ascending numbers, or a list of such lists, each of numbers of the one before",
        default=(),
    )
    anchor: Decimal = spec_key(
        "A number at which an interval starts.",
        "0",
        "a number at which an interval starts",
        default=Decimal(0),
    )
    lower: IntervalEnd = spec_key(
        "Below this, numbers are one interval: bottom coding.", "20", 'a number, or "data"'
    )
    upper: IntervalEnd = spec_key(
        "From this on, numbers are one interval: top coding.", "90", 'a number, or "data"'
    )


@dataclass(frozen=True, eq=False)
class IntervalGrid:
    """Numbers and ends of a column as whole numbers in units of ``10**-scale``.

    Numbers are rounded down; this does not change their interval, since every bound is a whole number of
    units.
    """

    cuts: IntervalCuts
    numbers: NDArray[Any]
    scale: int
    is_integral: bool
    lower: int | None
    upper: int | None

    @classmethod
    def of(cls, cuts: IntervalCuts, numbers: Sequence[Decimal]) -> IntervalGrid:
        """Build the grid of a column's numbers; ends that depend on the data are resolved."""
        ends = [end for end in (cuts.lower, cuts.upper) if isinstance(end, Decimal)]
        bounds = [*cuts.widths, cuts.anchor, *ends, *(bound for level in cuts.breaks for bound in level)]
        scale = max(decimal_places(number) for number in bounds)
        floored = [scaled_floor(number, scale) for number in numbers]
        grid = cls(
            cuts=cuts,
            numbers=_integer_array(floored, max(abs(scaled_floor(number, scale)) for number in bounds)),
            scale=scale,
            is_integral=scale == 0 and all(n == integer for n, integer in zip(numbers, floored, strict=True)),
            lower=scaled_floor(cuts.lower, scale) if isinstance(cuts.lower, Decimal) else None,
            upper=scaled_floor(cuts.upper, scale) if isinstance(cuts.upper, Decimal) else None,
        )
        return grid._with_ends_of_data() if DATA_END in (cuts.lower, cuts.upper) and floored else grid

    def _with_ends_of_data(self) -> IntervalGrid:
        width, anchor = self._units(self.cuts.widths[0]), self._units(self.cuts.anchor)
        lower, upper = self.lower, self.upper
        if self.cuts.lower == DATA_END:
            lower = anchor + (int(self.numbers.min()) - anchor) // width * width + width
        if self.cuts.upper == DATA_END:
            upper = anchor + (int(self.numbers.max()) - anchor) // width * width
        if lower is not None and upper is not None and lower > upper:
            lower = None if self.cuts.lower == DATA_END else lower
            upper = None if self.cuts.upper == DATA_END else upper
        return replace(self, lower=lower, upper=upper)

    def columns(self, leaves: Sequence[str]) -> list[list[str]]:
        """Return the labels of each level of intervals, leaf by leaf."""
        below = np.zeros(len(self.numbers), bool) if self.lower is None else self.numbers < self.lower
        above = np.zeros(len(self.numbers), bool) if self.upper is None else self.numbers >= self.upper
        levels = [self._regular(self._units(width)) for width in self.cuts.widths]
        levels += [self._irregular([self._units(bound) for bound in level]) for level in self.cuts.breaks]
        if not levels:
            return [self._coded(list(leaves), below, above)]
        dashed = self.is_integral and self._lowest(levels) >= 0
        result = []
        for intervals, inverse in levels:
            labels = [self._label(interval, dashed) for interval in intervals]
            result.append(self._coded([labels[index] for index in inverse.tolist()], below, above))
        return result

    def _regular(self, width: int) -> tuple[list[UnitInterval], NDArray[np.int64]]:
        """Return the intervals of one width, and the index of the interval of each number."""
        anchor = self._units(self.cuts.anchor)
        unique, inverse = np.unique(anchor + (self.numbers - anchor) // width * width, return_inverse=True)
        return [(int(start), int(start) + width) for start in unique], inverse

    def _irregular(self, bounds: Sequence[int]) -> tuple[list[UnitInterval], NDArray[np.int64]]:
        """Return the intervals between bounds, the outer ones open, and each number's interval index."""
        intervals: list[UnitInterval] = list(pairwise([None, *bounds, None]))
        return intervals, np.searchsorted(_integer_array(bounds, 0), self.numbers, side="right")

    def _lowest(self, levels: Iterable[tuple[list[UnitInterval], NDArray[np.int64]]]) -> int:
        """Return the lowest end that a label may show; 0 if there is none."""
        ends = [end for intervals, _ in levels for interval in intervals[:1] for end in interval]
        lowest = min((end for end in ends if end is not None), default=0)
        return lowest if self.lower is None else max(lowest, self.lower)

    def _units(self, number: Decimal) -> int:
        return scaled_floor(number, self.scale)

    def _coded(self, labels: list[str], below: NDArray[Any], above: NDArray[Any]) -> list[str]:
        """Replace the labels of numbers beyond the ends by ``<lower`` and ``≥upper``."""
        for index in np.flatnonzero(below).tolist():
            labels[index] = f"<{self._text(self.lower)}"
        for index in np.flatnonzero(above).tolist():
            labels[index] = f"≥{self._text(self.upper)}"
        return labels

    def _label(self, interval: UnitInterval, dashed: bool) -> str:
        start = max((end for end in (interval[0], self.lower) if end is not None), default=None)
        end = min((end for end in (interval[1], self.upper) if end is not None), default=None)
        if start is None or end is None:
            return f"<{self._text(end)}" if start is None else f"≥{self._text(start)}"
        if not dashed:
            return f"[{self._text(start)}, {self._text(end)}["
        return f"{start}-{end - 1}" if end - start > 1 else f"{start}"

    def _text(self, units: int | None) -> str:
        return format_number(scale_down(units or 0, self.scale))


def _integer_array(numbers: Sequence[int], largest: int) -> NDArray[Any]:
    """Return machine integers if the numbers and their sums with widths and ends fit, else objects."""
    fits = max(largest, *(abs(number) for number in numbers), 0) < 2**60
    return np.array(numbers, dtype=np.int64 if fits else object)


@dataclass(frozen=True)
class IntervalHierarchy(IntervalCuts):
    """Intervals: level i has intervals of ``widths[i - 1]``, closed below and open above, from ``anchor``.

    Each width is a multiple of the one before, so intervals nest. After the widths follow levels with
    irregular bounds, ``breaks``; the bounds of each level are bounds of the level before. Numbers below the
    first bound form one value, ``<18``, and so do those from the last bound on, ``≥65``. Numbers below
    ``lower`` form one value ``<lower`` at every level (bottom coding), those from ``upper`` on ``≥upper``
    (top coding), and intervals are cut there. If only ends are given, the numbers between them are unchanged,
    in one level. Texts that name an open end (``90+``, ``under 1 year``) belong to the value of the end that
    contains them. ``others`` are values that are not numbers (or codes such as 99 for unknown): they are
    unchanged below the top. Decimals are exact. If all numbers are whole and not negative, an interval is
    written ``20-24``, else ``[20, 25[``.
    """

    others: tuple[str, ...] = spec_key(
        "Values that are not numbers, and are kept unchanged.", '["unknown"]', OTHERS_ALLOWED, default=()
    )

    def __post_init__(self) -> None:
        ends = self.lower is not None or self.upper is not None
        if not self.widths and (self.from_data or not (ends or self.breaks)):
            raise InputError(
                "intervals without a width",
                allowed="width = 5, widths = [5, 10, 20], breaks = [18, 35, 65], …",
            )
        for number, width in enumerate(self.widths):
            if width <= 0:
                raise InputError(f"width {format_number(width)}", allowed="numbers above 0")
            if number and not _is_multiple(self.widths[number - 1], width):
                before = format_number(self.widths[number - 1])
                raise InputError(
                    f"width {format_number(width)} after width {before}: such intervals do not nest",
                    allowed=f"a multiple of {before}, larger than it",
                )
        self._check_breaks()
        if isinstance(self.lower, Decimal) and isinstance(self.upper, Decimal) and self.lower > self.upper:
            raise InputError(
                f"lower = {format_number(self.lower)} above upper = {format_number(self.upper)}",
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
        breaks: Iterable[object] = (),
    ) -> IntervalHierarchy:
        """Build the hierarchy from plain numbers.

        ``lower`` and ``upper`` may be ``"data"``; ``breaks`` is a list of numbers or a list of such lists.
        Raises ``InputError`` for anything that is not a number.
        """
        if isinstance(widths, int | float | Decimal | str):
            widths = (widths,)
        return cls(
            widths=tuple(to_decimal("width", width) for width in widths),
            anchor=to_decimal("anchor", anchor),
            lower=_parse_end("lower", lower),
            upper=_parse_end("upper", upper),
            others=tuple(others),
            breaks=_break_levels(breaks),
        )

    @property
    def origin(self) -> str:
        """Short description: ``intervals of 5, 10 and 20``, ``intervals cut at 18, 35 and 65``."""
        of = f" of {_joined_numbers(self.widths)}" if self.widths else ""
        cut = "".join(f" cut at {_joined_numbers(level)}" for level in self.breaks[:1])
        return f"intervals{of}{',' if of and cut else ''}{cut}" if of or cut else "open ends"

    @property
    def from_data(self) -> bool:
        """True if an end is taken from the data."""
        return DATA_END in (self.lower, self.upper)

    @property
    def public_part(self) -> PublicPart:
        """The widths are public, the occurring numbers are not."""
        return PublicPart.LEVELS

    @property
    def label_form(self) -> LabelForm:
        """Form of the labels: intervals of numbers."""
        return LabelForm(LabelKind.INTERVALS)

    def build(
        self, attribute: str, values: Sequence[str], counts: Sequence[int] | None = None
    ) -> GeneralizationHierarchy:
        """Build intervals over the data's numbers; raise ``InputError`` for a value that is not a number.

        Cost: linear in the values, apart from sorting them; labels are made once per interval.
        """
        other_values = set(self.others)
        number_texts = [value for value in ordered_leaves(attribute, values) if value not in other_values]
        leaves, numbers = self._numbers(attribute, number_texts)
        levels = IntervalGrid.of(self, numbers).columns(leaves)
        return hierarchy_with_others(
            attribute,
            [leaves, *levels],
            self.others,
            origin=self.origin,
            level_nouns=["an interval"] * len(levels),
            advice="Leave it out of others, or choose other widths.",
            from_data=self.from_data,
        )

    def _check_breaks(self) -> None:
        """Raise ``InputError`` unless each level's bounds rise and are also bounds of the level before."""
        for number, level in enumerate(self.breaks):
            if not level or any(high <= low for low, high in pairwise(level)):
                raise InputError(
                    f"breaks = [{_comma_list(level)}]",
                    allowed="numbers that rise, such as [18, 35, 65], or a list of such lists",
                )
            for bound in level:
                self._check_break(bound, self.breaks[number - 1] if number else None)

    def _check_break(self, bound: Decimal, before: Sequence[Decimal] | None) -> None:
        """Raise ``InputError`` for a bound inside an interval of the level before: it would break nesting."""
        text = format_number(bound)
        if before is not None and bound not in before:
            raise InputError(
                f"breaks: the bound {text} is not a bound of the level before, so intervals would not nest",
                allowed=_comma_list(before),
            )
        if (
            before is None
            and self.widths
            and not _is_multiple(self.widths[-1], bound - self.anchor, equal=True)
        ):
            width = format_number(self.widths[-1])
            raise InputError(
                f"breaks: the bound {text} is inside an interval of width {width}, so intervals would not "
                "nest",
                allowed=f"{format_number(self.anchor)}, and multiples of {width} below and above it",
                advice="Omit the widths, or choose narrower ones.",
            )

    def _numbers(self, attribute: str, leaves: Sequence[str]) -> tuple[list[str], list[Decimal]]:
        """Return the leaves in the order of their numbers, open ends outside, and their numbers.

        The number of an open end is one beyond the end that contains it.
        """
        numbers: dict[str, Decimal] = {}
        low: list[str] = []
        high: list[str] = []
        wrong: list[str] = []
        for leaf in leaves:
            number = parse_number(leaf)
            if number is not None:
                numbers[leaf] = number
                continue
            band = parse_band(leaf)
            if band is None or not band.is_open:
                wrong.append(leaf)
                continue
            self._check_open_end(attribute, leaf, band)
            (low if band.low is None else high).append(leaf)
        if wrong:
            raise InputError(
                f"attribute {quote_value(attribute)}: {quote_values(wrong)} of the data "
                + ("is not a number" if len(wrong) == 1 else "are not numbers"),
                allowed="numbers such as 17, -3.5 or 1e3, open ends such as 90+, and the values under others",
                advice=f"List it in the hierarchy as others = [{_toml_text(wrong[0])}], "
                f"or in [source] as null_values = [{_toml_text(wrong[0])}].",
            )
        below = self.lower - 1 if isinstance(self.lower, Decimal) else Decimal(0)
        above = self.upper if isinstance(self.upper, Decimal) else Decimal(0)
        return [*low, *numbers, *high], [*([below] * len(low)), *numbers.values(), *([above] * len(high))]

    def _check_open_end(self, attribute: str, leaf: str, band: Band) -> None:
        """Raise ``InputError`` unless the lower or upper end contains every possible value of an open end."""
        if band.low is not None:
            name, bound, end = "upper", band.low, self.upper
            inside = isinstance(end, Decimal) and end <= bound
            known = f"at most {format_number(bound)}"
        else:
            name, bound, end = "lower", band.high or Decimal(0), self.lower
            inside = isinstance(end, Decimal) and (end > bound if band.high_closed else end >= bound)
            known = f"{'above' if band.high_closed else 'at least'} {format_number(bound)}"
        if not inside:
            raise InputError(
                f"attribute {quote_value(attribute)}: {quote_value(leaf)} of the data has an open end, and "
                + (
                    f"{name} is missing"
                    if end is None
                    else f"{name} is {format_number(end) if isinstance(end, Decimal) else end}"
                ),
                allowed=f"{name}, {known}; or the text under others",
                advice=f"Write {name} = "
                f"{format_number(bound + (name == 'lower' and band.high_closed))} in the hierarchy, or "
                f"others = [{_toml_text(leaf)}].",
            )


def _is_multiple(width: Decimal, number: Decimal, *, equal: bool = False) -> bool:
    """Return whether a number is a multiple of a width; a larger one unless ``equal``."""
    scale = max(decimal_places(width), decimal_places(number))
    return (equal or number > width) and scaled_floor(number, scale) % scaled_floor(width, scale) == 0


def _break_levels(breaks: Iterable[object]) -> tuple[tuple[Decimal, ...], ...]:
    """Return levels of bounds from a list of numbers, which is one level, or from a list of lists."""
    break_levels = list(breaks)
    nested = [list(level) for level in break_levels if isinstance(level, list | tuple)]
    levels = nested if len(nested) == len(break_levels) else [break_levels]
    return tuple(tuple(to_decimal("break", bound) for bound in level) for level in levels)


def _comma_list(numbers: Iterable[Decimal]) -> str:
    return ", ".join(format_number(number) for number in numbers)


def _joined_numbers(numbers: Sequence[Decimal]) -> str:
    texts = [format_number(number) for number in numbers]
    return f"{', '.join(texts[:-1])} and {texts[-1]}" if texts[1:] else texts[0]


def _parse_end(name: str, value: object) -> IntervalEnd:
    if value is None:
        return None
    return "data" if value == DATA_END else to_decimal(name, value)


def _toml_text(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
