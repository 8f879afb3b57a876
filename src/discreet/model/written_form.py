"""How the cells of a column are written: numbers with marks and units, dates by patterns, blanks around both.

A form is declared once, for a column, and applied where a source becomes an engine's rows (``sql.written``):
behind that there are canonical texts alone, such as ``9116.5`` and ``2023-04-01``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from discreet.errors import InputError
from discreet.model.date_pattern import DatePattern

DECIMAL_MARKS = (",", ".")
"""What may stand before a number's decimals."""

THOUSANDS_MARKS = (".", ",", " ", "'", "’", "\u00a0", "\u202f", "_")
"""What may part a number's thousands; a blank stands for those that do not break lines, too."""

_NEVER_IN_UNITS = frozenset("0123456789+-−()[]\\^,\"'\n\r\t\u00a0\u202f")


@dataclass(frozen=True)
class WrittenForm:
    """How a column's cells are written; blanks around them are no part of a value.

    Numbers have the ``decimal`` mark, may have ``thousands`` parted, and one of ``units`` (a currency, ``%``,
    ``kg``) before or behind them: it is taken off, and the number stays as it is. Dates have one of the
    patterns ``dates``, the first that fits; ``pivot`` is the latest year that two digits may mean. Without
    any of these the cells are texts whose blanks are stripped. ``others`` are texts that stay as they are.
    With ``lenient`` so does what has not the form, without the blanks around it where ``strip`` says so.
    """

    decimal: str | None = None
    thousands: str | None = None
    units: tuple[str, ...] = ()
    dates: tuple[str, ...] = ()
    pivot: int | None = None
    others: tuple[str, ...] = ()
    lenient: bool = False
    strip: bool = True

    def __post_init__(self) -> None:
        if self.dates and (self.decimal or self.thousands or self.units):
            raise InputError("dates beside a decimal mark, thousands or a unit", allowed="one of the two")
        if self.decimal is not None and self.decimal not in DECIMAL_MARKS:
            raise InputError(f"decimal = '{self.decimal}'", allowed='"," or "."')
        if self.thousands is not None and self.thousands not in THOUSANDS_MARKS:
            marks = ", ".join(f'"{mark}"' for mark in THOUSANDS_MARKS if mark.isprintable())
            raise InputError(f"thousands = '{self.thousands}'", allowed=marks)
        if self.thousands is not None and self.thousands == self.decimal_mark:
            raise InputError(
                f"thousands and decimals are both marked by '{self.thousands}'",
                advice='Give the other mark, too, as in {decimal = ",", thousands = "."}.',
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
            raise InputError(f"pivot = {self.pivot}", allowed="a year in four digits, beside dates")

    @property
    def is_number(self) -> bool:
        """Whether the cells are numbers."""
        return bool(self.decimal or self.thousands or self.units)

    @property
    def decimal_mark(self) -> str:
        """What stands before a number's decimals."""
        return self.decimal or "."

    @property
    def patterns(self) -> tuple[DatePattern, ...]:
        """The patterns of dates, taken apart."""
        return tuple(DatePattern.parse(text) for text in self.dates)

    @property
    def refuses(self) -> bool:
        """Whether there are cells that have not the form."""
        return not self.lenient and (self.is_number or bool(self.dates))

    def as_json(self) -> dict[str, Any]:
        """The form as the spec writes it, without the values that it lets through."""
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
        """The form in a few words, for messages."""
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
