"""Hierarchies of numbers: intervals of one or several widths, with open ends."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import pairwise

from discreet.errors import InputError
from discreet.hierarchy.bands import Band, parse_band
from discreet.hierarchy.interval_grid import DATA, Cuts, End, IntervalGrid
from discreet.hierarchy.messages import listed, shown
from discreet.hierarchy.numbers import (
    decimals,
    exact_decimal,
    number_text,
    parse_number,
    scaled_floor,
)
from discreet.hierarchy.others import hierarchy_with_others
from discreet.hierarchy.table import checked_leaves
from discreet.model.hierarchy import GeneralizationHierarchy, Given
from discreet.model.label_form import LabelForm, LabelKind


@dataclass(frozen=True)
class IntervalHierarchy(Cuts):
    """Level i holds intervals of ``widths[i - 1]``, closed below and open above, that start at ``anchor``.

    Each width is a multiple of the one before, so intervals nest. After the widths follow levels that are cut
    at irregular bounds, ``breaks``, each level at some of the bounds of the one before: numbers below the
    first bound form one value, ``<18``, and so do those from the last on, ``≥65``. Numbers below ``lower``
    form one value ``<lower`` at every level (bottom coding), those from ``upper`` on ``≥upper`` (top coding),
    and intervals are cut there. With ends alone the numbers between them stay as they are, in one level.
    Texts that name an open end (``90+``, ``under 1 year``) are in the value of the end that contains them.
    ``others`` are values that are no numbers (or codes such as 99 for unknown): they stay as they are below
    the top. Decimals are exact. Where all numbers are whole and not negative an interval reads ``20-24``,
    else ``[20, 25[``.
    """

    others: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        ends = self.lower is not None or self.upper is not None
        if not self.widths and (self.from_data or not (ends or self.breaks)):
            raise InputError(
                "intervals without a width",
                allowed="width = 5, widths = [5, 10, 20], breaks = [18, 35, 65], …",
            )
        for number, width in enumerate(self.widths):
            if width <= 0:
                raise InputError(f"width {number_text(width)}", allowed="numbers above 0")
            if number and not _divides(self.widths[number - 1], width):
                before = number_text(self.widths[number - 1])
                raise InputError(
                    f"width {number_text(width)} after width {before}: such intervals do not nest",
                    allowed=f"a multiple of {before}, larger than it",
                )
        self._check_breaks()
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
        breaks: Iterable[object] = (),
    ) -> IntervalHierarchy:
        """From plain numbers; ``lower`` and ``upper`` may be ``"data"``, ``breaks`` a list or a list of them.

        ``InputError`` for a non-number.
        """
        if isinstance(widths, int | float | Decimal | str):
            widths = (widths,)
        return cls(
            widths=tuple(exact_decimal("width", width) for width in widths),
            anchor=exact_decimal("anchor", anchor),
            lower=_end("lower", lower),
            upper=_end("upper", upper),
            others=tuple(others),
            breaks=_levels_of(breaks),
        )

    @property
    def origin(self) -> str:
        """``intervals of 5, 10 and 20``, ``intervals cut at 18, 35 and 65``."""
        of = f" of {_in_words(self.widths)}" if self.widths else ""
        cut = "".join(f" cut at {_in_words(level)}" for level in self.breaks[:1])
        return f"intervals{of}{',' if of and cut else ''}{cut}" if of or cut else "open ends"

    @property
    def from_data(self) -> bool:
        """Whether an end is taken from the data."""
        return DATA in (self.lower, self.upper)

    @property
    def given(self) -> Given:
        """The widths, not which numbers there are."""
        return Given.LEVELS

    @property
    def label_form(self) -> LabelForm:
        """Labels tell the ends of intervals of numbers."""
        return LabelForm(LabelKind.INTERVALS)

    def build(
        self, attribute: str, values: Sequence[str], counts: Sequence[int] | None = None
    ) -> GeneralizationHierarchy:
        """Intervals over the data's numbers; ``InputError`` for a value that is no number.

        Cost: linear in the values, apart from sorting them; labels are made once per interval.
        """
        apart = set(self.others)
        given = [value for value in checked_leaves(attribute, values) if value not in apart]
        leaves, numbers = self._numbers(attribute, given)
        levels = IntervalGrid.of(self, numbers).columns(leaves)
        return hierarchy_with_others(
            attribute,
            [leaves, *levels],
            self.others,
            origin=self.origin,
            like=["an interval"] * len(levels),
            advice="Leave it out of others, or choose other widths.",
            from_data=self.from_data,
        )

    def _check_breaks(self) -> None:
        """Raise unless the bounds of each level rise, and are bounds of the level before, too."""
        for number, level in enumerate(self.breaks):
            if not level or any(high <= low for low, high in pairwise(level)):
                raise InputError(
                    f"breaks = [{_listed(level)}]",
                    allowed="numbers that rise, such as [18, 35, 65], or a list of such lists",
                )
            for bound in level:
                self._check_break(bound, self.breaks[number - 1] if number else None)

    def _check_break(self, bound: Decimal, before: Sequence[Decimal] | None) -> None:
        """Raise for a bound that lies within an interval of the level before, as intervals would not nest."""
        text = number_text(bound)
        if before is not None and bound not in before:
            raise InputError(
                f"breaks: the bound {text} is none of the level before: such intervals do not nest",
                allowed=_listed(before),
            )
        if before is None and self.widths and not _divides(self.widths[-1], bound - self.anchor, equal=True):
            width = number_text(self.widths[-1])
            raise InputError(
                f"breaks: the bound {text} lies within an interval of {width}: such intervals do not nest",
                allowed=f"{number_text(self.anchor)}, and multiples of {width} below and above it",
                advice="Leave the widths out, or choose narrower ones.",
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
                f"attribute {shown(attribute)}: {listed(wrong)} of the data "
                + ("is no number" if len(wrong) == 1 else "are no numbers"),
                allowed="numbers such as 17, -3.5 or 1e3, open ends such as 90+, and the values under others",
                advice=f"List it in the hierarchy as others = [{_quoted(wrong[0])}], "
                f"or in [source] as null_values = [{_quoted(wrong[0])}].",
            )
        below = self.lower - 1 if isinstance(self.lower, Decimal) else Decimal(0)
        above = self.upper if isinstance(self.upper, Decimal) else Decimal(0)
        return [*low, *numbers, *high], [*([below] * len(low)), *numbers.values(), *([above] * len(high))]

    def _check_open_end(self, attribute: str, leaf: str, band: Band) -> None:
        """Raise ``InputError`` unless the lower or the upper end contains all that an open end may mean."""
        if band.low is not None:
            name, bound, end = "upper", band.low, self.upper
            inside = isinstance(end, Decimal) and end <= bound
            known = f"at most {number_text(bound)}"
        else:
            name, bound, end = "lower", band.high or Decimal(0), self.lower
            inside = isinstance(end, Decimal) and (end > bound if band.high_closed else end >= bound)
            known = f"{'above' if band.high_closed else 'at least'} {number_text(bound)}"
        if not inside:
            raise InputError(
                f"attribute {shown(attribute)}: {shown(leaf)} of the data has an open end, and "
                + (
                    f"{name} is missing"
                    if end is None
                    else f"{name} is {number_text(end) if isinstance(end, Decimal) else end}"
                ),
                allowed=f"{name}, {known}; or the text under others",
                advice=f"Write {name} = {number_text(bound + (name == 'lower' and band.high_closed))} in the "
                f"hierarchy, or others = [{_quoted(leaf)}].",
            )


def _divides(width: Decimal, number: Decimal, *, equal: bool = False) -> bool:
    """Whether a number is a multiple of a width; unless ``equal``, one that is larger."""
    scale = max(decimals(width), decimals(number))
    return (equal or number > width) and scaled_floor(number, scale) % scaled_floor(width, scale) == 0


def _levels_of(breaks: Iterable[object]) -> tuple[tuple[Decimal, ...], ...]:
    """Levels of bounds from a list of numbers, which is one level, or from a list of lists."""
    given = list(breaks)
    nested = [list(level) for level in given if isinstance(level, list | tuple)]
    levels = nested if len(nested) == len(given) else [given]
    return tuple(tuple(exact_decimal("break", bound) for bound in level) for level in levels)


def _listed(numbers: Iterable[Decimal]) -> str:
    return ", ".join(number_text(number) for number in numbers)


def _in_words(numbers: Sequence[Decimal]) -> str:
    texts = [number_text(number) for number in numbers]
    return f"{', '.join(texts[:-1])} and {texts[-1]}" if texts[1:] else texts[0]


def _end(name: str, value: object) -> End:
    if value is None:
        return None
    return "data" if value == DATA else exact_decimal(name, value)


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
