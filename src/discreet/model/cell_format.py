"""Cell formats: numbers with marks and units, dates by patterns, blanks and stars.

A format is declared once per column and applied where a source becomes rows of an engine
(``sql.format_parsing``); after that there are only canonical texts such as ``9116.5`` and ``2023-04-01``. A
cell of stars is a suppressed cell (decision 0016).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from discreet.errors import InputError
from discreet.model.option import spec_key

BLANKS = " \t\n\r\f\v\u00a0\u2007\u202f\u3000\u200b\u2060\ufeff"
"""Blanks that are stripped from cells and column names, including no-break, ideographic and zero-width ones.
"""


def is_star(text: str) -> bool:
    """Return whether a text consists of stars, optionally with blanks around them.

    >>> is_star("*"), is_star(" ** "), is_star("81***"), is_star("")
    (True, True, False, False)
    """
    return "*" in text and not text.replace("*", "").strip(BLANKS)


DIRECTIVES = {
    "Y": "the year in four digits",
    "y": "the year in two digits",
    "m": "the month as a number",
    "b": "the month's name in three letters",
    "B": "the month's name",
    "d": "the day of the month",
    "H": "the hour, 0 to 23",
    "I": "the hour, 1 to 12",
    "p": "AM or PM",
    "M": "the minute",
    "S": "the second",
    "f": "a fraction of the second",
    "z": "the offset of the time zone",
}
"""Directives of a pattern, after ``%``, and their meanings."""

_REQUIRED_FIELDS = (("year", "Yy"), ("month", "mbB"), ("day", "d"))
_DIGITS = "YymdHIMSf"
_PART = re.compile(r"%(.?)|([^%]+)", re.DOTALL)


@dataclass(frozen=True)
class PatternPart:
    """A directive, or a literal text (``directive`` is empty).

    ``padded`` marks a day, month or hour that always has two digits because another number is adjacent to it.
    """

    directive: str = ""
    text: str = ""
    padded: bool = False


@dataclass(frozen=True)
class DatePattern:
    """A parsed date pattern; ``text`` is its source."""

    text: str
    parts: tuple[PatternPart, ...]

    @classmethod
    def parse(cls, text: str) -> DatePattern:
        """Parse a pattern; raise ``InputError`` for one that does not determine a day.

        >>> [part.directive or part.text for part in DatePattern.parse("%d.%m.%Y").parts]
        ['d', '.', 'm', '.', 'Y']
        """
        raw: list[tuple[str, str]] = []
        for directive, plain in (m.groups() for m in _PART.finditer(text)):
            if plain is not None or directive == "%":
                raw.append(("", plain or "%"))
            elif directive in DIRECTIVES:
                raw.append((directive, ""))
            else:
                raise _pattern_error(text, f"holds %{directive}", f"{_format_directives(DIRECTIVES)}, and %%")
        _check_directives([directive for directive, _ in raw if directive], text)
        touching = {
            position
            for first in range(len(raw) - 1)
            if all(d and d in _DIGITS for d, _ in raw[first : first + 2])
            for position in (first, first + 1)
        }
        return cls(text, tuple(PatternPart(d, t, i in touching) for i, (d, t) in enumerate(raw)))

    @property
    def directives(self) -> tuple[str, ...]:
        """Directives, in order."""
        return tuple(part.directive for part in self.parts if part.directive)

    @property
    def has_time(self) -> bool:
        """True if it contains a time of the day."""
        return "H" in self.directives or "I" in self.directives


def _check_directives(directives: Sequence[str], text: str) -> None:
    """Raise unless the directives determine one day, and either a complete time or none."""
    twice = next((d for i, d in enumerate(directives) if d in directives[:i]), None)
    if twice is not None:
        raise _pattern_error(text, f"holds %{twice} twice", "each directive once")
    for name, choice in _REQUIRED_FIELDS:
        used = [d for d in directives if d in choice]
        if len(used) != 1:
            fact = f"has no {name}" if not used else f"has the {name} twice"
            raise _pattern_error(text, fact, f"one of {_format_directives(choice)}")
    if ("I" in directives) != ("p" in directives) or {"H", "I"} <= set(directives):
        raise _pattern_error(text, "must have the hour once", "%H, or %I with %p")
    order = ["M" in directives, "S" in directives, "f" in directives]
    if (any(order) and not {"H", "I"} & set(directives)) or order != sorted(order, reverse=True):
        raise _pattern_error(text, "has an incomplete time", "hours, then minutes, then seconds")


def _pattern_error(text: str, fact: str, allowed: str) -> InputError:
    return InputError(f"the date pattern '{text}' {fact}", allowed=allowed)


def _format_directives(directives: Sequence[str] | dict[str, str]) -> str:
    return " ".join(f"%{directive}" for directive in directives)


DECIMAL_MARKS = (",", ".")
"""Marks before a number's decimals."""

THOUSANDS_MARKS = (".", ",", " ", "'", "’", "\u00a0", "\u202f", "_")
"""Marks between a number's thousands; a blank also matches the no-break blanks."""

_NEVER_IN_UNITS = frozenset("0123456789+-−()[]\\^,\"'\n\r\t\u00a0\u202f")


@dataclass(frozen=True)
class CellFormat:
    """The format of a column's cells; blanks around cells are not part of values.

    Without marks, units and dates the cells are texts whose blanks are stripped. With ``lenient``, cells of
    another format also remain unchanged, without the blanks around them if ``strip``.
    """

    decimal: str | None = spec_key(
        "The mark before decimals.", '","', 'the mark before decimals in quotes: "," or "."'
    )
    thousands: str | None = spec_key(
        "Thousands separator.", '"."', 'the thousands separator in quotes, such as "." or " "'
    )
    units: tuple[str, ...] = spec_key(
        "A currency or another unit before or after the number, which is removed.",
        '"€"',
        'a text or texts in quotes, such as "€"',
        default=(),
        alias="unit",
    )
    dates: tuple[str, ...] = spec_key(
        "Formats of dates: the first pattern that matches.",
        '["%d.%m.%Y", "%Y-%m-%d"]',
        'a pattern or patterns in quotes, such as "%d.%m.%Y"',
        default=(),
    )
    pivot: int | None = spec_key(
        "The latest year that two digits may mean.",
        "2030",
        "the latest year that two digits may mean, such as 2030",
    )
    strip: bool = spec_key(
        "Whether blanks around values are removed.",
        "true",
        "true: blanks around texts are removed",
        default=True,
    )
    others: tuple[str, ...] = spec_key(
        "Texts that are not numbers or dates, and are kept unchanged.",
        '["unknown"]',
        'a list of texts that are kept unchanged, such as ["unknown"]',
        default=(),
    )
    lenient: bool = False

    def __post_init__(self) -> None:
        if self.dates and (self.decimal or self.thousands or self.units):
            raise InputError(
                "dates together with a decimal mark, thousands or a unit", allowed="one of the two"
            )
        if self.decimal is not None and self.decimal not in DECIMAL_MARKS:
            raise InputError(f"decimal = '{self.decimal}'", allowed='"," or "."')
        if self.thousands is not None and self.thousands not in THOUSANDS_MARKS:
            marks = ", ".join(f'"{mark}"' for mark in THOUSANDS_MARKS if mark.isprintable())
            raise InputError(f"thousands = '{self.thousands}'", allowed=marks)
        if self.thousands is not None and self.thousands == self.decimal_mark:
            raise InputError(
                f"thousands and decimals are both marked by '{self.thousands}'",
                advice='Also give the other mark, as in {decimal = ",", thousands = "."}.',
            )
        for unit in self.units:
            _check_unit(unit)
        for pattern in self.patterns:
            if "y" in pattern.directives and self.pivot is None:
                raise InputError(
                    f"the date pattern '{pattern.text}' has a year in two digits, and pivot is missing",
                    allowed="pivot, the latest year that two digits may mean, such as pivot = 2030",
                )
        if self.pivot is not None and not (self.dates and 99 <= self.pivot <= 9999):
            raise InputError(f"pivot = {self.pivot}", allowed="a year in four digits, together with dates")

    @property
    def is_number(self) -> bool:
        """True if the cells are numbers."""
        return bool(self.decimal or self.thousands or self.units)

    @property
    def decimal_mark(self) -> str:
        """Mark before a number's decimals."""
        return self.decimal or "."

    @property
    def patterns(self) -> tuple[DatePattern, ...]:
        """Parsed patterns of dates."""
        return tuple(DatePattern.parse(text) for text in self.dates)

    @property
    def refuses(self) -> bool:
        """True if cells of another format are errors."""
        return not self.lenient and (self.is_number or bool(self.dates))

    def as_json(self) -> dict[str, Any]:
        """Return the format as the spec's keys, without the values that it exempts."""
        unit = self.units[0] if len(self.units) == 1 else list(self.units)
        keys: Mapping[str, Any] = {
            "decimal": self.decimal_mark if self.is_number else None,
            "thousands": self.thousands,
            "unit": unit or None,
            "dates": list(self.dates) or None,
            "pivot": self.pivot,
            "strip": True if (self.lenient and self.strip) or not (self.is_number or self.dates) else None,
        }
        return {key: value for key, value in keys.items() if value is not None}

    @property
    def words(self) -> str:
        """Description of the format in a few words, for messages."""
        if self.dates:
            pivot = "" if self.pivot is None else f", two digits of a year up to {self.pivot}"
            return "dates in the form " + " or ".join(self.dates) + pivot
        if not self.is_number:
            return "texts without blanks around them"
        thousands = f", thousands by '{self.thousands}'" if self.thousands else ""
        units = f", with or without {' or '.join(self.units)}" if self.units else ""
        return f"numbers with decimals behind '{self.decimal_mark}'{thousands}{units}"


def _check_unit(unit: str) -> None:
    if not unit.strip() or unit != unit.strip() or unit in ("e", "E") or not _NEVER_IN_UNITS.isdisjoint(unit):
        raise InputError(
            f"the unit '{unit}'", allowed='a text such as "€", "EUR", "%" or "kg", without digits and signs'
        )
