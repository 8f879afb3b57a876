"""The order of an attribute's values: numbers by size, then texts with the numbers in them by size."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from decimal import Decimal
from typing import Any

from discreet.hierarchy.numbers import parse_number

_DIGITS = re.compile(r"([0-9]+)")
_ZEROS = str.maketrans("123456789", "0" * 9)


def in_order(values: Iterable[str]) -> list[str]:
    """Values sorted; the result does not depend on their order before.

    >>> in_order(["10", "9", "-1.5", "item 10", "item 9", "Äpfel"])
    ['-1.5', '9', '10', 'item 9', 'item 10', 'Äpfel']
    """
    found = list(values)
    return sorted(found) if _of_one_form(found) else sorted(found, key=order_key)


def _of_one_form(values: Sequence[str]) -> bool:
    """Whether values differ in their digits only, as times do: the order is then that of the texts.

    Not where the values are numbers with a minus or an exponent, which reverse or change the order.
    """
    if not values:
        return True
    form = values[0].translate(_ZEROS)
    if parse_number(form) is not None and not {*form} <= {*"0.+ "}:
        return False
    return all(value.translate(_ZEROS) == form for value in values)


def order_key(value: str) -> tuple[Any, ...]:
    """The sort key of one value; values that are different texts have different keys."""
    number = parse_number(value)
    if number is not None:
        return (0, number, (), value)
    return (1, Decimal(0), _natural(value), value)


def _natural(text: str) -> tuple[Any, ...]:
    """Text and runs of digits by turns; a run compares by its size, whatever its length."""
    parts = _DIGITS.split(text.casefold())
    return tuple(_size(part) if place % 2 else part for place, part in enumerate(parts))


def _size(digits: str) -> tuple[int, str]:
    stripped = digits.lstrip("0")
    return len(stripped), stripped
