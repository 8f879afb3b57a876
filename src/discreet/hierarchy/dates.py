"""Hierarchies of dates: day, week, month, quarter, half-year, year, five years, decade; and date parsing.

Cells are read as ISO 8601 or by patterns of ``strptime``; the time of day is cut off.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import ClassVar

from discreet.errors import InputError
from discreet.hierarchy.level_table import hierarchy_with_others, ordered_leaves
from discreet.hierarchy.messages import OTHERS_ALLOWED, quote_value, quote_values
from discreet.model.hierarchy import GeneralizationHierarchy, PublicPart
from discreet.model.option import spec_key
from discreet.model.published_cells import LabelForm, LabelKind

_ISO = re.compile(
    r"(\d{4}-\d{2}-\d{2})(?:[T ]\d{2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?(?: ?(?:Z|[+-]\d{2}(?::?\d{2})?))?)?",
    re.ASCII,
)
_YEARS, _MONTHS, _DAYS, _TIMES = "Yy", "mbBj", "dj", "HIMSfpzZaA%"
DATE_PARTS = {"year": _YEARS, "month": _MONTHS, "day": _DAYS}
"""Directives of ``strptime`` that give each part of a date."""
FORMATS_ALLOWED = 'a pattern such as "%d.%m.%Y", or a list of them'


@dataclass(frozen=True)
class DateParser:
    """Parser of dates in ISO 8601 (no format), in one format, or in any one of several.

    Formats are patterns of ``strptime``'s ``%Y %y %m %b %B %d %j`` with times and text between. A time of day
    is cut off without conversion, in the zone it is written in.
    """

    formats: tuple[str, ...] | None = None

    @classmethod
    def of(cls, formats: str | Sequence[str] | None, parts: Sequence[str], reason: str) -> DateParser:
        """Return a parser for formats that contain the given parts of a date, needed for a ``reason``.

        Raises ``InputError`` for other formats.
        """
        if formats is None:
            return cls()
        reader = cls((formats,) if isinstance(formats, str) else tuple(formats))
        if not reader.formats:
            raise InputError("dates with an empty list of formats", allowed='a pattern such as "%d.%m.%Y"')
        for text in reader.formats:
            _check_format(text, parts, reason)
        return reader

    def day(self, text: str) -> date | None:
        """Return the day of a text by the first format that matches, or None."""
        return next(iter(self._days(text)), None)

    def days(
        self, attribute: str, values: Sequence[str], other_values: Collection[str]
    ) -> list[tuple[date, str]]:
        """Return the data's values with their days, sorted by day, without ``other_values``.

        Raises ``InputError`` for a value that is not a date, or that two formats read as different days.
        """
        by_day: dict[date, list[str]] = {}
        known: dict[str, date] = {}
        wrong = []
        for value in ordered_leaves(attribute, values):
            if value in other_values:
                continue
            # Times of one day share the text of their date, which is parsed once.
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
        """Return the possible days of a text, each with the first format that matches."""
        result: dict[date, str] = {}
        for pattern in self.formats or ("",):
            day = _parse_date(text.strip(), pattern)
            if day is not None:
                result.setdefault(day, pattern)
        return result

    def _ambiguous(self, attribute: str, value: str, days: dict[date, str]) -> InputError:
        read = " and ".join(f"{day} by {pattern}" for day, pattern in list(days.items())[:2])
        return InputError(
            f"attribute {quote_value(attribute)}: {quote_value(value)} of the data is {read}",
            allowed="formats of which only one reads a value, or which agree",
            advice="Leave out the format that the column does not have.",
        )

    def _no_dates(self, attribute: str, wrong: Sequence[str]) -> InputError:
        form = "ISO 8601, such as 2020-03-17"
        if self.formats is not None:
            form = f"the format{'s' * (len(self.formats) > 1)} {', '.join(self.formats)}"
        return InputError(
            f"attribute {quote_value(attribute)}: {quote_values(wrong)} of the data "
            + ("is not a date" if len(wrong) == 1 else "are not dates"),
            allowed=f"dates in {form}, and the values under others",
            advice='Give the hierarchy a format, or several, as in format = ["%d.%m.%Y", "%Y-%m-%d"]; list '
            "the value under others, or in [source] in null_values.",
        )


def _parse_date(text: str, pattern: str) -> date | None:
    """Parse a day by one pattern; an empty pattern means ISO 8601."""
    try:
        if pattern:
            return datetime.strptime(text, pattern).date()
        match = _ISO.fullmatch(text)
        return date.fromisoformat(match.group(1)) if match else None
    except ValueError:
        return None


def _check_format(text: str, parts: Sequence[str], reason: str) -> None:
    """Raise ``InputError`` unless the format has only known directives, and those of every required part."""
    directives = re.findall(r"%(.?)", text, re.DOTALL)
    known = _YEARS + _MONTHS + _DAYS + _TIMES
    unknown = [d for d in directives if d not in known or not d]
    if unknown:
        raise InputError(
            f"date format {quote_value(text)} contains %{unknown[0]}",
            allowed=" ".join(f"%{d}" for d in dict.fromkeys(known)),
        )
    for name in parts:
        choice = DATE_PARTS[name]
        if not set(directives) & set(choice):
            raise InputError(
                f"date format {quote_value(text)} has no {name}, which {reason} needs",
                allowed=f"one of {' '.join(f'%{d}' for d in choice)} in the format",
            )


def _week_label(day: date) -> str:
    year, week, _ = day.isocalendar()
    return f"{year:04}-W{week:02}"


def _year_span_label(number: int) -> Callable[[date], str]:
    """Return the label function for spans of years that begin with a multiple of ``number``.

    For 5 years it labels 2023 as ``2020-2024``.
    """

    def label(day: date) -> str:
        start = day.year // number * number
        return f"{start:04}-{start + number - 1:04}"

    return label


DATE_LABELS: dict[str, Callable[[date], str]] = {
    "day": date.isoformat,
    "week": _week_label,
    "month": lambda day: f"{day.year:04}-{day.month:02}",
    "quarter": lambda day: f"{day.year:04}-Q{(day.month + 2) // 3}",
    "half-year": lambda day: f"{day.year:04}-H{(day.month + 5) // 6}",
    "year": lambda day: f"{day.year:04}",
    "five-years": _year_span_label(5),
    "decade": _year_span_label(10),
}
"""Label of a day at each granularity, from fine to coarse; weeks are those of ISO 8601."""

GRANULARITIES = tuple(DATE_LABELS)
_YEAR_AND_COARSER = GRANULARITIES[GRANULARITIES.index("year") :]
_COARSER_THAN: Mapping[str, tuple[str, ...]] = {
    "year": (),
    "month": _YEAR_AND_COARSER,
    "day": GRANULARITIES[GRANULARITIES.index("month") :],
}
"""Granularities that do not need a part of the date."""


@dataclass(frozen=True)
class DateHierarchy:
    """Calendar periods: each level is one of ``levels``, from fine to coarse; the last step is ``*``.

    Days nest in weeks, months, quarters, half-years, years, periods of five years and decades, in this order;
    but a week does not belong to a single month, quarter or year, so only ``*`` may follow it. ``format`` is
    a pattern of ``strptime``'s ``%Y %y %m %b %B %d %j`` with times and text between, or several, any of which
    a value may have; None is ISO 8601 (``2020-03-17``). A value that two formats read as different days is
    refused. A time of day is cut off without conversion, in the zone it is written in. ``others`` are values
    that are not dates; they are unchanged below the top.
    """

    levels: tuple[str, ...] = spec_key(
        "The periods, from fine to coarse.",
        '["month", "year", "decade"]',
        f"a list of granularities from fine to coarse: {', '.join(GRANULARITIES)}",
        default=("month", "quarter", "year", "decade"),
    )
    format: str | tuple[str, ...] | None = spec_key(
        "Formats of the dates, if not as in 2026-11-23.", '["%d.%m.%Y", "%Y-%m-%d"]', FORMATS_ALLOWED
    )
    others: tuple[str, ...] = spec_key(
        "Values that are not dates, and are kept unchanged.", '["unknown"]', OTHERS_ALLOWED, default=()
    )
    from_data: ClassVar[bool] = False
    """False: the calendar is independent of the data."""
    public_part: ClassVar[PublicPart] = PublicPart.LEVELS
    """The periods are public, the occurring dates are not."""

    def __post_init__(self) -> None:
        if not self.levels:
            raise InputError("dates without levels", allowed=", ".join(GRANULARITIES))
        for level in self.levels:
            if level not in GRANULARITIES:
                raise InputError(f"date level {quote_value(level)}", allowed=", ".join(GRANULARITIES))
        for fine, coarse in zip(self.levels, self.levels[1:], strict=False):
            _check_nesting(fine, coarse)
        self._reader  # noqa: B018 - checks the formats

    @property
    def origin(self) -> str:
        """Short description, such as ``dates by month, year``."""
        return f"dates by {', '.join(self.levels)}"

    @property
    def label_form(self) -> LabelForm:
        """Form of the labels: calendar periods."""
        format_text = (
            self.format if self.format is None or isinstance(self.format, str) else " | ".join(self.format)
        )
        return LabelForm(LabelKind.DATES, format=format_text)

    def build(
        self, attribute: str, values: Sequence[str], counts: Sequence[int] | None = None
    ) -> GeneralizationHierarchy:
        """Build the data's dates under their periods; raise ``InputError`` for a value that is not a date."""
        days = self._reader.days(attribute, values, set(self.others))
        labels = [_period_labels(level, [day for day, _ in days]) for level in self.levels]
        return hierarchy_with_others(
            attribute,
            [[value for _, value in days], *labels],
            self.others,
            origin=self.origin,
            level_nouns=[f"a {level}" for level in self.levels],
            advice="Leave it out of others, or leave out that level.",
        )

    def is_date(self, text: str) -> bool:
        """Return whether a text is a date in this format."""
        return self._reader.day(text) is not None

    @property
    def _reader(self) -> DateParser:
        parts = [part for part in DATE_PARTS if self.levels[0] not in _COARSER_THAN[part]]
        return DateParser.of(self.format, parts, f"level {self.levels[0]}")


def _period_labels(level: str, days: Sequence[date]) -> list[str]:
    """Return the label of each day; equal days are formatted once."""
    label = DATE_LABELS[level]
    known = {day: label(day) for day in dict.fromkeys(days)}
    return [known[day] for day in days]


def _check_nesting(fine: str, coarse: str) -> None:
    after = GRANULARITIES[GRANULARITIES.index(fine) + 1 :]
    if fine == "week":
        plural = coarse if coarse.endswith("s") else f"{coarse}s"
        raise InputError(
            f"date level {coarse} after week: a week may belong to two {plural}",
            allowed="nothing after week, which the top follows",
            advice='Omit week, as in ["day", "month", "year"], or end with it, as in ["day", "week"].',
        )
    if coarse not in after:
        raise InputError(
            f"date level {coarse} after {fine}", allowed=", ".join(after) or f"nothing after {fine}"
        )
