"""The order of an attribute's values: numbers by size, then texts with the numbers in them by size."""

from __future__ import annotations

import re
from collections.abc import Iterable
from decimal import Decimal
from typing import Any

from discreet.hierarchy.numbers import parse_number

_DIGITS = re.compile(r"([0-9]+)")


def in_order(values: Iterable[str]) -> list[str]:
    """Values sorted; the result does not depend on their order before.

    >>> in_order(["10", "9", "-1.5", "item 10", "item 9", "Äpfel"])
    ['-1.5', '9', '10', 'item 9', 'item 10', 'Äpfel']
    """
    return sorted(values, key=order_key)


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
