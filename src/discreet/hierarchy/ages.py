"""Hierarchies of dates of birth: the age at a reference date, then intervals of ages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import MISSING, dataclass, replace
from datetime import date
from typing import ClassVar

from discreet.errors import InputError
from discreet.hierarchy.dates import DATE_PARTS, FORMATS_ALLOWED, DateParser
from discreet.hierarchy.intervals import IntervalHierarchy
from discreet.hierarchy.level_table import hierarchy_with_others
from discreet.hierarchy.messages import quote_value, quote_values
from discreet.model.hierarchy import GeneralizationHierarchy, PublicPart
from discreet.model.option import spec_key

AGE_LEVEL = 1
"""Level of the age in whole years, above the date of birth."""


@dataclass(frozen=True)
class AgeHierarchy:
    """Ages: level 1 is the age in whole years on the ``reference`` date, further levels are intervals.

    Level 0, the date of birth itself, is published only if a request says so: ``least_level`` is 1. Persons
    born on 29 February turn a year older on 1 March of a year without that day. Ends of the ``intervals``
    (bottom and top coding) also apply to level 1. ``format`` and ``others`` are those of ``DateHierarchy``; a
    time of day is cut off.
    """

    reference: date = spec_key(
        "The day on which the age is counted.",
        '"2026-11-23"',
        'the date on which the age is counted, such as "2026-11-23"',
        default=MISSING,
    )
    intervals: IntervalHierarchy | None = None
    format: str | tuple[str, ...] | None = spec_key(
        "Formats of the dates of birth, if not as in 1980-02-29.", '"%d.%m.%Y"', FORMATS_ALLOWED
    )
    others: tuple[str, ...] = ()
    from_data: ClassVar[bool] = False
    """False: the reference date and the intervals are independent of the data."""
    public_part: ClassVar[PublicPart] = PublicPart.LEVELS
    """The levels are public, the occurring dates are not."""

    def __post_init__(self) -> None:
        if self.intervals is not None and self.intervals.from_data:
            raise InputError('ages with an end "data"', allowed="numbers as lower and upper")
        self._reader  # noqa: B018 - checks the formats

    @property
    def origin(self) -> str:
        """Short description, such as ``age on 2026-11-23, intervals of 5 and 10``."""
        text = f"age on {self.reference}"
        return text if self.intervals is None else f"{text}, {self.intervals.origin}"

    @property
    def least_level(self) -> int:
        """Least level if a request names none: the age."""
        return AGE_LEVEL

    def build(
        self, attribute: str, values: Sequence[str], counts: Sequence[int] | None = None
    ) -> GeneralizationHierarchy:
        """Build the hierarchy of the data's dates of birth.

        Raises ``InputError`` for a value that is not a date, and for a date after the reference.
        """
        born = self._reader.days(attribute, values, set(self.others))
        late = [value for day, value in born if day > self.reference]
        if late:
            raise InputError(
                f"attribute {quote_value(attribute)}: {quote_values(late)} of the data "
                f"{'is' if len(late) == 1 else 'are'} after the reference date {self.reference}",
                allowed="dates of birth up to the reference date",
                advice="Choose a later reference, or list the value under others, or in null_values.",
            )
        levels = self._levels([str(compute_age(self.reference, day)) for day, _ in born])
        found = hierarchy_with_others(
            attribute,
            [[value for _, value in born], *levels],
            self.others,
            origin=self.origin,
            level_nouns=["an age", *["an interval"] * (len(levels) - 1)],
            advice="Leave it out of others.",
        )
        note = (
            f"Level 0 of {quote_value(attribute)} is the date of birth itself: its least level is "
            f"{AGE_LEVEL}, the age, unless min_level is 0."
        )
        return replace(found, notes=(*found.notes, note))

    def _levels(self, ages: Sequence[str]) -> list[list[str]]:
        """Return the labels of each age by level: the age, coded at the ends, and its intervals."""
        intervals = self.intervals
        if intervals is None:
            return [list(ages)]
        levels = _interval_labels(intervals, ages)
        if not (intervals.widths or intervals.breaks):
            return levels
        if intervals.lower is None and intervals.upper is None:
            return [list(ages), *levels]
        return [
            *_interval_labels(IntervalHierarchy(lower=intervals.lower, upper=intervals.upper), ages),
            *levels,
        ]

    @property
    def _reader(self) -> DateParser:
        return DateParser.of(self.format, tuple(DATE_PARTS), "an age")


def compute_age(reference: date, born: date) -> int:
    """Return the age in whole years.

    >>> compute_age(date(2023, 2, 28), date(2004, 2, 29)), compute_age(date(2023, 3, 1), date(2004, 2, 29))
    (18, 19)
    """
    before_birthday = (reference.month, reference.day) < (born.month, born.day)
    return reference.year - born.year - before_birthday


def _interval_labels(intervals: IntervalHierarchy, ages: Sequence[str]) -> list[list[str]]:
    """Return the interval labels of each age, level by level."""
    hierarchy = intervals.build("age", list(dict.fromkeys(ages)))
    codes = [hierarchy.code_of_leaf[age] for age in ages]
    return [
        [hierarchy.labels[level][int(hierarchy.ancestors[level][code])] for code in codes]
        for level in range(1, hierarchy.height)
    ]
