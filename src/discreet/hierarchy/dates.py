"""Hierarchies of dates: day, week, month, quarter, year, decade."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, datetime

from discreet.errors import InputError
from discreet.hierarchy.messages import listed, shown
from discreet.hierarchy.table import checked_leaves, hierarchy_from_columns
from discreet.hierarchy.value_order import in_order
from discreet.model.hierarchy import TOP, GeneralizationHierarchy, Given

_ISO = re.compile(
    r"(\d{4}-\d{2}-\d{2})(?:[T ]\d{2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?(?: ?(?:Z|[+-]\d{2}(?::?\d{2})?))?)?",
    re.ASCII,
)
_YEARS, _MONTHS, _DAYS, _TIMES = "Yy", "mbBj", "dj", "HIMSfpzZaA%"


def _week(day: date) -> str:
    year, week, _ = day.isocalendar()
    return f"{year:04}-W{week:02}"


def _decade(day: date) -> str:
    start = day.year // 10 * 10
    return f"{start:04}-{start + 9:04}"


LABELS: dict[str, Callable[[date], str]] = {
    "day": date.isoformat,
    "week": _week,
    "month": lambda day: f"{day.year:04}-{day.month:02}",
    "quarter": lambda day: f"{day.year:04}-Q{(day.month + 2) // 3}",
    "year": lambda day: f"{day.year:04}",
    "decade": _decade,
}
"""The label of a day at each granularity, from fine to coarse; weeks are those of ISO 8601."""

GRANULARITIES = tuple(LABELS)


@dataclass(frozen=True)
class DateHierarchy:
    """Each level is one of ``levels``, from fine to coarse; the last step is ``*``.

    Days nest in weeks, months, quarters, years and decades, in this order, but a week lies in no single
    month, quarter, year or decade, so nothing but ``*`` may follow it. ``format`` is a pattern of
    ``strptime``'s ``%Y %y %m %b %B %d %j`` with times and text between; None is ISO 8601 (``2020-03-17``).
    A time of the day is cut off as it stands, in the zone it was written in. ``others`` are values that are
    no dates; they stay as they are below the top.
    """

    levels: tuple[str, ...] = ("month", "quarter", "year", "decade")
    format: str | None = None
    others: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not self.levels:
            raise InputError("dates without levels", allowed=", ".join(GRANULARITIES))
        for level in self.levels:
            if level not in GRANULARITIES:
                raise InputError(f"date level {shown(level)}", allowed=", ".join(GRANULARITIES))
        for fine, coarse in zip(self.levels, self.levels[1:], strict=False):
            _check_nesting(fine, coarse)
        if self.format is not None:
            _check_format(self.format, self.levels[0])

    @property
    def origin(self) -> str:
        """``dates by month, year``."""
        return f"dates by {', '.join(self.levels)}"

    @property
    def from_data(self) -> bool:
        """False: the calendar was there before the data."""
        return False

    @property
    def given(self) -> Given:
        """The periods, not which dates there are."""
        return Given.LEVELS

    def build(
        self, attribute: str, values: Sequence[str], counts: Sequence[int] | None = None
    ) -> GeneralizationHierarchy:
        """The data's dates under their periods; ``InputError`` for a value that is no date."""
        apart = set(self.others)
        dated = [
            (self._day(value), value) for value in checked_leaves(attribute, values) if value not in apart
        ]
        wrong = [value for day, value in dated if day is None]
        if wrong:
            raise self._no_dates(attribute, wrong)
        days = sorted((day, value) for day, value in dated if day is not None)
        others = in_order(apart)
        columns = [[value for _, value in days] + others]
        for level in self.levels:
            labels = [LABELS[level](day) for day, _ in days]
            clash = apart.intersection(labels)
            if clash:
                raise InputError(
                    f"attribute {shown(attribute)}: {shown(min(clash))} under others reads like a {level}",
                    advice="Leave it out of others, or leave out that level.",
                )
            columns.append(labels + others)
        columns.append([TOP] * len(columns[0]))
        return hierarchy_from_columns(attribute, columns, origin=self.origin)

    def is_date(self, text: str) -> bool:
        """Whether a text is a date in this format."""
        return self._day(text) is not None

    def _day(self, text: str) -> date | None:
        try:
            if self.format is not None:
                return datetime.strptime(text.strip(), self.format).date()
            match = _ISO.fullmatch(text.strip())
            return date.fromisoformat(match.group(1)) if match else None
        except ValueError:
            return None

    def _no_dates(self, attribute: str, wrong: Sequence[str]) -> InputError:
        form = "ISO 8601, such as 2020-03-17" if self.format is None else f"the format {self.format}"
        return InputError(
            f"attribute {shown(attribute)}: {listed(wrong)} of the data "
            + ("is no date" if len(wrong) == 1 else "are no dates"),
            allowed=f"dates in {form}, and the values under others",
            advice="Give the hierarchy a format, list the value under others, or in [source] in null_values.",
        )


def _check_nesting(fine: str, coarse: str) -> None:
    after = GRANULARITIES[GRANULARITIES.index(fine) + 1 :]
    if fine == "week":
        raise InputError(
            f"date level {coarse} after week: a week may lie in two {coarse}s",
            allowed="nothing after week, which the top follows",
            advice='Leave week out, as in ["day", "month", "year"], or end with it, as in ["day", "week"].',
        )
    if coarse not in after:
        raise InputError(
            f"date level {coarse} after {fine}", allowed=", ".join(after) or f"nothing after {fine}"
        )


def _check_format(text: str, finest: str) -> None:
    """Raise unless the format tells the year, and month and day as far as the finest level needs them."""
    directives = re.findall(r"%(.?)", text, re.DOTALL)
    known = _YEARS + _MONTHS + _DAYS + _TIMES
    unknown = [d for d in directives if d not in known or not d]
    if unknown:
        raise InputError(
            f"date format {shown(text)} holds %{unknown[0]}",
            allowed=" ".join(f"%{d}" for d in dict.fromkeys(known)),
        )
    needed = [("year", _YEARS)]
    if finest in ("day", "week", "month", "quarter"):
        needed.append(("month", _MONTHS))
    if finest in ("day", "week"):
        needed.append(("day", _DAYS))
    for name, choice in needed:
        if not set(directives) & set(choice):
            raise InputError(
                f"date format {shown(text)} has no {name}, which level {finest} needs",
                allowed=f"one of {' '.join(f'%{d}' for d in choice)} in the format",
            )
