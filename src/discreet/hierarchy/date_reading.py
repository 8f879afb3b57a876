"""Dates in cells: ISO 8601, or patterns of ``strptime``."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import date, datetime

from discreet.errors import InputError
from discreet.hierarchy.messages import listed, shown
from discreet.hierarchy.table import checked_leaves

_ISO = re.compile(
    r"(\d{4}-\d{2}-\d{2})(?:[T ]\d{2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?(?: ?(?:Z|[+-]\d{2}(?::?\d{2})?))?)?",
    re.ASCII,
)
_YEARS, _MONTHS, _DAYS, _TIMES = "Yy", "mbBj", "dj", "HIMSfpzZaA%"
PARTS = {"year": _YEARS, "month": _MONTHS, "day": _DAYS}
"""The directives of ``strptime`` that tell each part of a date."""


@dataclass(frozen=True)
class DateReader:
    """Reads dates in ISO 8601 (no format), in one format, or in any one of several.

    Formats are patterns of ``strptime``'s ``%Y %y %m %b %B %d %j`` with times and text between. A time of the
    day is cut off as it stands, in the zone it was written in.
    """

    formats: tuple[str, ...] | None = None

    @classmethod
    def of(cls, formats: str | Sequence[str] | None, parts: Sequence[str], reason: str) -> DateReader:
        """Formats that tell the given parts of a date, needed for a ``reason``; ``InputError`` for others."""
        if formats is None:
            return cls()
        reader = cls((formats,) if isinstance(formats, str) else tuple(formats))
        if not reader.formats:
            raise InputError("dates with an empty list of formats", allowed='a pattern such as "%d.%m.%Y"')
        for text in reader.formats:
            _check_format(text, parts, reason)
        return reader

    def day(self, text: str) -> date | None:
        """The day that a text tells, None where it tells none; the first format that reads it counts."""
        return next(iter(self._days(text)), None)

    def days(self, attribute: str, values: Sequence[str], apart: Collection[str]) -> list[tuple[date, str]]:
        """The data's values with their days, by day, those of ``apart`` left out.

        ``InputError`` for a value that is no date, or that two formats read as different days.
        """
        by_day: dict[date, list[str]] = {}
        known: dict[str, date] = {}
        wrong = []
        for value in checked_leaves(attribute, values):
            if value in apart:
                continue
            # Times of one day share the text of their date, which is read once.
            match = _ISO.fullmatch(value) if self.formats is None else None
            day = None if match is None else known.get(match.group(1))
            if day is None:
                days = self._days(value)
                if len(days) > 1:
                    raise self._ambiguous(attribute, value, days)
                day = next(iter(days), None)
                if match is not None and day is not None:
                    known[match.group(1)] = day
            if day is None:
                wrong.append(value)
            else:
                by_day.setdefault(day, []).append(value)
        if wrong:
            raise self._no_dates(attribute, wrong)
        return [(day, value) for day in sorted(by_day) for value in sorted(by_day[day])]

    def _days(self, text: str) -> dict[date, str]:
        """The days that a text may tell, each with the first format that says so."""
        found: dict[date, str] = {}
        for pattern in self.formats or ("",):
            day = _parsed(text.strip(), pattern)
            if day is not None:
                found.setdefault(day, pattern)
        return found

    def _ambiguous(self, attribute: str, value: str, days: dict[date, str]) -> InputError:
        read = " and ".join(f"{day} by {pattern}" for day, pattern in list(days.items())[:2])
        return InputError(
            f"attribute {shown(attribute)}: {shown(value)} of the data is {read}",
            allowed="formats of which only one reads a value, or which agree",
            advice="Leave out the format that the column does not have.",
        )

    def _no_dates(self, attribute: str, wrong: Sequence[str]) -> InputError:
        form = "ISO 8601, such as 2020-03-17"
        if self.formats is not None:
            form = f"the format{'s' * (len(self.formats) > 1)} {', '.join(self.formats)}"
        return InputError(
            f"attribute {shown(attribute)}: {listed(wrong)} of the data "
            + ("is no date" if len(wrong) == 1 else "are no dates"),
            allowed=f"dates in {form}, and the values under others",
            advice='Give the hierarchy a format, or several, as in format = ["%d.%m.%Y", "%Y-%m-%d"]; list '
            "the value under others, or in [source] in null_values.",
        )


def _parsed(text: str, pattern: str) -> date | None:
    """The day by one pattern; an empty one is ISO 8601."""
    try:
        if pattern:
            return datetime.strptime(text, pattern).date()
        match = _ISO.fullmatch(text)
        return date.fromisoformat(match.group(1)) if match else None
    except ValueError:
        return None


def _check_format(text: str, parts: Sequence[str], reason: str) -> None:
    """Raise unless the format has known directives only, and those of every part that is needed."""
    directives = re.findall(r"%(.?)", text, re.DOTALL)
    known = _YEARS + _MONTHS + _DAYS + _TIMES
    unknown = [d for d in directives if d not in known or not d]
    if unknown:
        raise InputError(
            f"date format {shown(text)} holds %{unknown[0]}",
            allowed=" ".join(f"%{d}" for d in dict.fromkeys(known)),
        )
    for name in parts:
        choice = PARTS[name]
        if not set(directives) & set(choice):
            raise InputError(
                f"date format {shown(text)} has no {name}, which {reason} needs",
                allowed=f"one of {' '.join(f'%{d}' for d in choice)} in the format",
            )
