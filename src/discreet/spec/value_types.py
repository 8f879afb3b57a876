"""Values of a hierarchy's table as they are read: numbers exactly, bounds by level, dates, patterns."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal
from typing import Annotated, Literal

from pydantic import BeforeValidator

from discreet.errors import InputError
from discreet.hierarchy.numbers import exact_decimal
from discreet.spec.problems import (
    Wrong,
)


def _number(value: object) -> object:
    if not isinstance(value, int | float | Decimal):
        raise Wrong((), value)
    try:
        return exact_decimal("number", value)
    except InputError:
        raise Wrong((), value) from None


def _end(value: object) -> object:
    return value if value == "data" else _number(value)


def _whole_numbers(value: object) -> object:
    """A whole number, or a tuple of them."""
    for place, number in enumerate(value if isinstance(value, list | tuple) else [value]):
        if not isinstance(number, int) or isinstance(number, bool):
            raise Wrong((place,) if isinstance(value, list | tuple) else (), number)
    return tuple(value) if isinstance(value, list | tuple) else value


def _breaks(value: object) -> object:
    """Bounds by level: a list of numbers is one level."""
    if not isinstance(value, list | tuple):
        raise Wrong((), value)
    nested = bool(value) and all(isinstance(level, list | tuple) for level in value)
    found = []
    for place, level in enumerate(value if nested else [value]):
        for number, bound in enumerate(level):
            try:
                _number(bound)
            except Wrong:
                raise Wrong((place, number) if nested else (number,), bound) from None
        found.append(tuple(_number(bound) for bound in level))
    return tuple(found) if value else ()


def _date(value: object) -> object:
    """A date, as TOML has it or as a text."""
    if isinstance(value, str):
        try:
            return date.fromisoformat(value)
        except ValueError:
            raise Wrong((), value) from None
    if not isinstance(value, date) or isinstance(value, datetime):
        raise Wrong((), value)
    return value


def _formats(value: object) -> object:
    """A pattern, or a tuple of them."""
    for place, text in enumerate(value if isinstance(value, list | tuple) else ()):
        if not isinstance(text, str):
            raise Wrong((place,), text)
    return tuple(value) if isinstance(value, list | tuple) else value


def _sequence(value: object) -> object:
    return list(value) if isinstance(value, tuple) else value


Number = Annotated[Decimal, BeforeValidator(_number)]
End = Annotated[Decimal | Literal["data"], BeforeValidator(_end)]
Breaks = Annotated[tuple[tuple[Decimal, ...], ...], BeforeValidator(_breaks)]
Formats = Annotated[str | tuple[str, ...] | None, BeforeValidator(_formats)]
WholeNumbers = Annotated[int | tuple[int, ...], BeforeValidator(_whole_numbers)]
Numbers = Annotated[list[Number], BeforeValidator(_sequence)]
Sizes = Annotated[list[int], BeforeValidator(_sequence)]
Day = Annotated[date, BeforeValidator(_date)]
