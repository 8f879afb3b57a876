"""Numbers in cells and in the spec, exactly: decimals, never binary fractions."""

from __future__ import annotations

import re
from decimal import ROUND_FLOOR, Context, Decimal

from discreet.errors import InputError
from discreet.hierarchy.messages import shown

_NUMBER = re.compile(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d{1,4})?", re.ASCII)
_LONGEST = 400
_EXACT = Context(prec=4 * _LONGEST, rounding=ROUND_FLOOR)
"""Wide enough for every number of at most 400 digits and a scale of at most 800: nothing is rounded."""


def parse_number(text: str) -> Decimal | None:
    """The number that a cell's text says, or None: ``17``, ``-3.5``, ``1e3``; blanks around it are ignored.

    Not numbers: ``1,000``, ``NaN``, infinities, digits of other scripts, and what has over 400 digits.
    """
    stripped = text.strip()
    if len(stripped) > _LONGEST or not _NUMBER.fullmatch(stripped):
        return None
    number = Decimal(stripped)
    return number if abs(number.adjusted()) <= _LONGEST else None


def exact_decimal(name: str, value: object) -> Decimal:
    """An option's number as a decimal; a float means its shortest text (0.1 is a tenth)."""
    if isinstance(value, int | float | Decimal | str) and not isinstance(value, bool):
        number = parse_number(str(value))
        if number is not None:
            return number
    raise InputError(f"{name} = {shown(value)} is no number", allowed="a number such as 5, 2.5 or -10")


def decimals(number: Decimal) -> int:
    """How many digits after the point a number needs.

    >>> decimals(Decimal("2.50")), decimals(Decimal("1E+3"))
    (1, 0)
    """
    text = number_text(number)
    return len(text.partition(".")[2])


def scaled_floor(number: Decimal, scale: int) -> int:
    """The largest whole number at or below ``number · 10**scale``, exactly.

    >>> scaled_floor(Decimal("-2.55"), 1)
    -26
    """
    return int(number.scaleb(scale, _EXACT).to_integral_value(ROUND_FLOOR, _EXACT))


def floor_quotient(number: Decimal, width: Decimal) -> int:
    """How many whole widths lie between 0 and a number: ``floor(number / width)``, exactly.

    >>> floor_quotient(Decimal("-0.3"), Decimal("0.1")), floor_quotient(Decimal("-0.31"), Decimal("0.1"))
    (-3, -4)
    """
    scale = decimals(width)
    return scaled_floor(number, scale) // scaled_floor(width, scale)


def unscaled(number: int, scale: int) -> Decimal:
    """``number / 10**scale``, exactly."""
    return Decimal(number).scaleb(-scale, _EXACT)


def number_text(number: Decimal) -> str:
    """A number in plain digits, without zeros at the end.

    >>> number_text(Decimal("2.50")), number_text(Decimal("1E+3")), number_text(Decimal("-0.0"))
    ('2.5', '1000', '0')
    """
    text = format(number, "f")
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    return "0" if text == "-0" else text
