"""Exact decimal numbers in cells, and the natural order of values.

Numbers are ``Decimal``, never binary fractions; nothing is rounded. Values are sorted with numbers first, by
size, then texts, in which runs of digits compare by size (natural sort).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from decimal import ROUND_FLOOR, Context, Decimal
from typing import Any

from discreet.errors import InputError
from discreet.hierarchy.messages import quote_value

_NUMBER = re.compile(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d{1,4})?", re.ASCII)
_MOST_DIGITS = 400
_EXACT = Context(prec=4 * _MOST_DIGITS, rounding=ROUND_FLOOR)
"""Context wide enough for numbers of at most 400 digits and a scale of at most 800: nothing is rounded."""


def parse_number(text: str) -> Decimal | None:
    """Parse a cell's text as a number, or return None: ``17``, ``-3.5``, ``1e3``.

    Surrounding blanks are ignored. Not numbers: ``1,000``, ``NaN``, infinities, digits of other scripts, and
    texts of over 400 digits.
    """
    stripped = text.strip()
    if len(stripped) > _MOST_DIGITS or not _NUMBER.fullmatch(stripped):
        return None
    number = Decimal(stripped)
    return number if abs(number.adjusted()) <= _MOST_DIGITS else None


def to_decimal(name: str, value: object) -> Decimal:
    """Convert an option's number to a decimal; a float means its shortest text (0.1 is a tenth).

    Raises ``InputError`` for anything that is not a number.
    """
    if isinstance(value, int | float | Decimal | str) and not isinstance(value, bool):
        number = parse_number(str(value))
        if number is not None:
            return number
    raise InputError(
        f"{name} = {quote_value(value)} is not a number", allowed="a number such as 5, 2.5 or -10"
    )


def decimal_places(number: Decimal) -> int:
    """Return the number of digits after the point that a number needs.

    >>> decimal_places(Decimal("2.50")), decimal_places(Decimal("1E+3"))
    (1, 0)
    """
    text = format_number(number)
    return len(text.partition(".")[2])


def scaled_floor(number: Decimal, scale: int) -> int:
    """Return the largest whole number at or below ``number · 10**scale``, exactly.

    >>> scaled_floor(Decimal("-2.55"), 1)
    -26
    """
    return int(number.scaleb(scale, _EXACT).to_integral_value(ROUND_FLOOR, _EXACT))


def floor_quotient(number: Decimal, width: Decimal) -> int:
    """Return ``floor(number / width)``, exactly.

    >>> floor_quotient(Decimal("-0.3"), Decimal("0.1")), floor_quotient(Decimal("-0.31"), Decimal("0.1"))
    (-3, -4)
    """
    scale = decimal_places(width)
    return scaled_floor(number, scale) // scaled_floor(width, scale)


def scale_down(number: int, scale: int) -> Decimal:
    """Return ``number / 10**scale``, exactly."""
    return Decimal(number).scaleb(-scale, _EXACT)


def format_number(number: Decimal) -> str:
    """Format a number in plain digits, without trailing zeros.

    >>> format_number(Decimal("2.50")), format_number(Decimal("1E+3")), format_number(Decimal("-0.0"))
    ('2.5', '1000', '0')
    """
    text = format(number, "f")
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


_DIGITS = re.compile(r"([0-9]+)")
_ZEROS = str.maketrans("123456789", "0" * 9)


def sort_values(values: Iterable[str]) -> list[str]:
    """Sort values; the result does not depend on their previous order.

    >>> sort_values(["10", "9", "-1.5", "item 10", "item 9", "Äpfel"])
    ['-1.5', '9', '10', 'item 9', 'item 10', 'Äpfel']
    """
    found = list(values)
    return sorted(found) if _differ_in_digits_only(found) else sorted(found, key=value_sort_key)


def _differ_in_digits_only(values: Sequence[str]) -> bool:
    """Return whether values differ only in their digits, as times do, so that they can be sorted as texts.

    False for numbers with a minus or an exponent, which reverse or change the order.
    """
    if not values:
        return True
    form = values[0].translate(_ZEROS)
    if parse_number(form) is not None and not {*form} <= {*"0.+ "}:
        return False
    return all(value.translate(_ZEROS) == form for value in values)


def value_sort_key(value: str) -> tuple[Any, ...]:
    """Return the sort key of a value; different texts have different keys."""
    number = parse_number(value)
    if number is not None:
        return (0, number, (), value)
    return (1, Decimal(0), _natural_key(value), value)


def _natural_key(text: str) -> tuple[Any, ...]:
    """Split a text into alternating texts and runs of digits; a run compares by size, whatever its length."""
    parts = _DIGITS.split(text.casefold())
    return tuple(_digit_run_key(part) if index % 2 else part for index, part in enumerate(parts))


def _digit_run_key(digits: str) -> tuple[int, str]:
    stripped = digits.lstrip("0")
    return len(stripped), stripped
