"""Ages and dates in the groups that statistics use."""

from __future__ import annotations

import re

from discreet.hierarchy.builtin.declaration import Builtin, Labels
from discreet.hierarchy.date_reading import DateReader
from discreet.hierarchy.dates import LABELS, DateHierarchy

_OLDEST = 90
_YEARS = (5, 10, 20)


def _age(value: str) -> Labels | None:
    """Groups of 5, 10 and 20 years of an age in whole years; 90 and above are one group."""
    text = value.strip()
    if not re.fullmatch(r"[0-9]{1,3}", text):
        return None
    age = int(text)
    if age >= _OLDEST:
        return (f"≥{_OLDEST}",) * len(_YEARS)
    starts = [age // years * years for years in _YEARS]
    return tuple(
        f"{start}-{min(start + years, _OLDEST) - 1}" for start, years in zip(starts, _YEARS, strict=True)
    )


def _date(value: str) -> Labels | None:
    day = DateReader().day(value)
    return None if day is None else tuple(LABELS[level](day) for level in DateHierarchy().levels)


AGE = Builtin(
    "age",
    "Ages in whole years, 90 and above together",
    tuple(f"{years}-years" for years in _YEARS),
    "United Nations, Provisional guidelines on standard international age classifications, 1982; ages over "
    "89 together as in 45 CFR 164.514(b), 2013",
    "41",
    _age,
)
DATE = Builtin(
    "date",
    "Dates and times in ISO 8601 by the calendar",
    DateHierarchy().levels,
    "ISO 8601, 2019",
    "2020-03-17",
    _date,
)
