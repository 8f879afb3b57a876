"""Hierarchies of dates: day, week, month, quarter, half-year, year, five years, decade."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import ClassVar

from discreet.errors import InputError
from discreet.hierarchy.date_reading import PARTS, DateReader
from discreet.hierarchy.messages import shown
from discreet.hierarchy.others import hierarchy_with_others
from discreet.model.hierarchy import GeneralizationHierarchy, Given
from discreet.model.label_form import LabelForm, LabelKind


def _week(day: date) -> str:
    year, week, _ = day.isocalendar()
    return f"{year:04}-W{week:02}"


def _years(number: int) -> Callable[[date], str]:
    """The label of as many years, which begin with a multiple of them: ``2020-2024``."""

    def label(day: date) -> str:
        start = day.year // number * number
        return f"{start:04}-{start + number - 1:04}"

    return label


LABELS: dict[str, Callable[[date], str]] = {
    "day": date.isoformat,
    "week": _week,
    "month": lambda day: f"{day.year:04}-{day.month:02}",
    "quarter": lambda day: f"{day.year:04}-Q{(day.month + 2) // 3}",
    "half-year": lambda day: f"{day.year:04}-H{(day.month + 5) // 6}",
    "year": lambda day: f"{day.year:04}",
    "five-years": _years(5),
    "decade": _years(10),
}
"""The label of a day at each granularity, from fine to coarse; weeks are those of ISO 8601."""

GRANULARITIES = tuple(LABELS)
_YEARS = GRANULARITIES[GRANULARITIES.index("year") :]
_COARSER_THAN: Mapping[str, tuple[str, ...]] = {
    "year": (),
    "month": _YEARS,
    "day": GRANULARITIES[GRANULARITIES.index("month") :],
}
"""The granularities for which a part of a date need not be known."""


@dataclass(frozen=True)
class DateHierarchy:
    """Each level is one of ``levels``, from fine to coarse; the last step is ``*``.

    Days nest in weeks, months, quarters, half-years, years, fives of years and decades, in this order, but a
    week lies in no single month, quarter or year, so nothing but ``*`` may follow it. ``format`` is a pattern
    of ``strptime``'s ``%Y %y %m %b %B %d %j`` with times and text between, or several, of which a value may
    have any one; None is ISO 8601 (``2020-03-17``). A value that two of the formats read as different days is
    refused. A time of the day is cut off as it stands, in the zone it was written in. ``others`` are values
    that are no dates; they stay as they are below the top.
    """

    levels: tuple[str, ...] = ("month", "quarter", "year", "decade")
    format: str | tuple[str, ...] | None = None
    others: tuple[str, ...] = ()
    from_data: ClassVar[bool] = False
    """The calendar was there before the data."""
    given: ClassVar[Given] = Given.LEVELS
    """The periods, not which dates there are."""

    def __post_init__(self) -> None:
        if not self.levels:
            raise InputError("dates without levels", allowed=", ".join(GRANULARITIES))
        for level in self.levels:
            if level not in GRANULARITIES:
                raise InputError(f"date level {shown(level)}", allowed=", ".join(GRANULARITIES))
        for fine, coarse in zip(self.levels, self.levels[1:], strict=False):
            _check_nesting(fine, coarse)
        self._reader  # noqa: B018 - checks the formats

    @property
    def origin(self) -> str:
        """``dates by month, year``."""
        return f"dates by {', '.join(self.levels)}"

    @property
    def label_form(self) -> LabelForm:
        """Labels tell periods of the calendar."""
        told = self.format if self.format is None or isinstance(self.format, str) else " | ".join(self.format)
        return LabelForm(LabelKind.DATES, format=told)

    def build(
        self, attribute: str, values: Sequence[str], counts: Sequence[int] | None = None
    ) -> GeneralizationHierarchy:
        """The data's dates under their periods; ``InputError`` for a value that is no date."""
        days = self._reader.days(attribute, values, set(self.others))
        labels = [_labels(level, [day for day, _ in days]) for level in self.levels]
        return hierarchy_with_others(
            attribute,
            [[value for _, value in days], *labels],
            self.others,
            origin=self.origin,
            like=[f"a {level}" for level in self.levels],
            advice="Leave it out of others, or leave out that level.",
        )

    def is_date(self, text: str) -> bool:
        """Whether a text is a date in this format."""
        return self._reader.day(text) is not None

    @property
    def _reader(self) -> DateReader:
        parts = [part for part in PARTS if self.levels[0] not in _COARSER_THAN[part]]
        return DateReader.of(self.format, parts, f"level {self.levels[0]}")


def _labels(level: str, days: Sequence[date]) -> list[str]:
    """The label of each day; the same day's is made once."""
    label = LABELS[level]
    known = {day: label(day) for day in dict.fromkeys(days)}
    return [known[day] for day in days]


def _check_nesting(fine: str, coarse: str) -> None:
    after = GRANULARITIES[GRANULARITIES.index(fine) + 1 :]
    if fine == "week":
        plural = coarse if coarse.endswith("s") else f"{coarse}s"
        raise InputError(
            f"date level {coarse} after week: a week may lie in two {plural}",
            allowed="nothing after week, which the top follows",
            advice='Leave week out, as in ["day", "month", "year"], or end with it, as in ["day", "week"].',
        )
    if coarse not in after:
        raise InputError(
            f"date level {coarse} after {fine}", allowed=", ".join(after) or f"nothing after {fine}"
        )
