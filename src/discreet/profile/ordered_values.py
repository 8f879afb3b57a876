"""Hierarchies of columns whose texts have an order: numbers with open ends, bands, levels of education.

Neighbours are joined, whatever their frequency. Texts such as ``prefer not to say`` have no place in the
order: they stay as they are, where they are few.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from discreet.hierarchy.bands import Band, bands_of, parse_band
from discreet.hierarchy.known_orders import education_order
from discreet.hierarchy.numbers import number_text, parse_number
from discreet.hierarchy.order import known_order

_FEWEST_VALUES = 4
_MOST_OTHERS = 3
_OTHERS_SHARE = 0.25
_MOST_LEVELS = 3
_NUMBERS_SHARE = 0.5


@dataclass(frozen=True)
class OpenNumbers:
    """Numbers with texts for their open ends: ``lower`` and ``upper`` are the ends as the spec writes them.

    ``numbers`` are those between the ends, ``texts`` the open ends as the column writes them.
    """

    numbers: tuple[float, ...]
    texts: tuple[str, ...]
    lower: int | float | None
    upper: int | float | None
    others: tuple[str, ...]

    @property
    def fixed(self) -> tuple[tuple[str, Any], ...]:
        """The keys of an interval hierarchy for the ends and the other texts."""
        keys = {"lower": self.lower, "upper": self.upper, "others": list(self.others) or None}
        return tuple((name, value) for name, value in keys.items() if value is not None)


@dataclass(frozen=True)
class OrderedTexts:
    """Texts in their order, and the ``others`` that have no place in it."""

    values: tuple[str, ...]
    others: tuple[str, ...]

    @property
    def sizes(self) -> tuple[int, ...]:
        """How many neighbours make a group, level by level; at least two groups are left."""
        found = [2**level for level in range(1, _MOST_LEVELS + 1)]
        return tuple(size for size in found if 2 * size <= len(self.values) or size == 2)

    @property
    def fixed(self) -> tuple[tuple[str, Any], ...]:
        """The keys of an order hierarchy for the values and the others."""
        others = (("others", list(self.others)),) if self.others else ()
        return (("values", list(self.values)), *others)


def open_numbers(values: Sequence[str]) -> OpenNumbers | None:
    """Return the numbers and open ends of a column; None without an open end, or with much of neither."""
    numbers: dict[str, Decimal] = {}
    ends: dict[str, Band] = {}
    others: list[str] = []
    for value in values:
        number, band = parse_number(value), parse_band(value)
        if number is not None:
            numbers[value] = number
        elif band is not None and band.is_open:
            ends[value] = band
        else:
            others.append(value)
    mostly = len(numbers) >= max(_FEWEST_VALUES, _NUMBERS_SHARE * len(values))
    if not ends or not mostly or not _few(others, values) or bands_of(ends) is None:
        return None
    low = [_lower_end(band) for band in ends.values() if band.low is None]
    high = [band.low for band in ends.values() if band.low is not None]
    lower, upper = max(low, default=None), min(high, default=None)
    if lower is not None and upper is not None and lower > upper:
        return None
    inside = [
        float(n) for n in numbers.values() if (lower is None or n >= lower) and (upper is None or n < upper)
    ]
    return OpenNumbers(tuple(inside), tuple(ends), _plain(lower), _plain(upper), tuple(others))


def ordered_texts(values: Sequence[str]) -> OrderedTexts | None:
    """Return the values in the order of their meaning; None where no order is known, or too few have one."""
    others = tuple(value for value in values if parse_band(value) is None)
    if len(others) == len(values) or not _few(others, values):
        others = tuple(value for value in values if education_order([value, *_SCHOOLS]) is None)
    placed = [value for value in values if value not in others]
    if len(placed) < _FEWEST_VALUES or not _few(others, values) or all(map(_is_number, placed)):
        return None
    order = known_order(placed)
    return None if order is None else OrderedTexts(order, others)


def open_end_rows(texts: Sequence[str], counts: Mapping[str, int]) -> str:
    """Return open ends with their rows, for a message.

    >>> open_end_rows(["90+"], {"90+": 12})
    "'90+' (12 rows)"
    """
    named = (f"'{text}' ({counts[text]:,} row{'s' * (counts[text] != 1)})" for text in texts)
    return ", ".join(named)


_SCHOOLS = ("primary school", "bachelor", "doctorate")
"""Three levels of education: with them a single text is one, or not."""


def _is_number(text: str) -> bool:
    return parse_number(text) is not None


def _few(others: Sequence[str], values: Sequence[str]) -> bool:
    return len(others) <= min(_MOST_OTHERS, _OTHERS_SHARE * len(values))


def _lower_end(band: Band) -> Decimal:
    """Return the least ``lower`` that contains a band that is open below: up to 17 is below 18."""
    high = band.high or Decimal(0)
    return high + 1 if band.high_closed else high


def _plain(number: Decimal | None) -> int | float | None:
    if number is None:
        return None
    return int(number) if number == number.to_integral_value() else float(number_text(number))
