"""Dates as people write them, told from shapes: texts of which every digit has become a 0."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from discreet.sql.written_dates import month_names

_TIME = re.compile(
    r"(?P<gap>[T ])0{1,2}:00(?P<seconds>:00(?P<fraction>\.0{1,9})?)?(?P<late> ?[AaPp][Mm])?"
    r"(?P<zone> ?(?:Z|UTC|GMT|[-+]00(?::?00)?))?"
)
_NUMERIC = re.compile(r"0{1,2}(?P<mark>[./-] ?)0{1,2}(?P=mark)(?P<year>0000|00)")
_YEAR_FIRST = re.compile(r"0000(?P<mark>[./-])0{1,2}(?P=mark)0{1,2}")
_NAMED = re.compile(
    r"0{1,2}(?P<first>\.? |-|/|\.|)(?P<month>[^\W\d_]{3,9})(?P<second> |-|/|\.|)(?P<year>0000|00)"
)
_MONTH_FIRST = re.compile(r"(?P<month>[^\W\d_]{3,9})(?P<first>\.? )0{1,2}(?P<second>,? )(?P<year>0000|00)")
_MONTH = re.compile(r"(?P<month>[^\W\d_]{3,9})\.?[ /-]?(0000|00)")
_PACKED = "00000000"


@dataclass
class DateShapes:
    """The patterns that a column's shapes have.

    ``sure`` have one meaning. ``open_`` have two, the day first or the month, keyed by the mark between, the
    year's directive and what follows; with the rows of each. ``strange`` are other shapes and their values,
    ``words`` those of them that stay as they are.
    """

    sure: dict[str, int] = field(default_factory=dict)
    open_: dict[tuple[str, str, str], int] = field(default_factory=dict)
    strange: dict[str, int] = field(default_factory=dict)
    values: int = 0
    words: tuple[str, ...] = ()


def date_shapes(shapes: Mapping[str, tuple[int, int]]) -> DateShapes:
    """What shapes say, each with its number of values and of rows.

    >>> date_shapes({"00.00.0000": (2, 3), "0000-00-00": (1, 1)}).open_
    {('.', '%Y', ''): 3}
    """
    found = DateShapes()
    for shape, (values, rows) in shapes.items():
        day, time = _split(shape)
        pattern = None if day is None else _pattern(day)
        if pattern is None or time is None:
            found.strange[shape] = values
            continue
        found.values += values
        if isinstance(pattern, str):
            found.sure[pattern + time] = found.sure.get(pattern + time, 0) + rows
        else:
            key = (*pattern, time)
            found.open_[key] = found.open_.get(key, 0) + rows
    _join_names(found, shapes)
    return found


def _join_names(found: DateShapes, shapes: Mapping[str, tuple[int, int]]) -> None:
    """Take patterns of short names into those of whole ones, where all short ones are whole, too: May."""
    short = {name.casefold() for name in month_names(short=True)}
    short -= {name.casefold() for name in month_names(short=False)}
    if any(word.casefold() in short for shape in shapes for word in re.findall(r"[^\W\d_]+", shape)):
        return
    for pattern in [pattern for pattern in found.sure if "%b" in pattern]:
        whole = pattern.replace("%b", "%B")
        if whole in found.sure:
            found.sure[whole] += found.sure.pop(pattern)


def are_months(shapes: Collection[str]) -> bool:
    """Whether texts are months without a day, the year behind them.

    >>> are_months({"00/0000"}), are_months({"0000-00"}), are_months({"Aug 00", "May 00"})
    (True, False, True)
    """
    return bool(shapes) and all(
        re.fullmatch(r"0{1,2}[./-]0000", shape) is not None
        or ((match := _MONTH.fullmatch(shape)) is not None and _month(match["month"]) is not None)
        for shape in shapes
    )


def ordered(key: tuple[str, str, str], *, day_first: bool) -> str:
    """The pattern of an open key.

    >>> ordered(("/", "%Y", " %H:%M"), day_first=False)
    '%m/%d/%Y %H:%M'
    """
    mark, year, time = key
    return mark.join(("%d", "%m", year) if day_first else ("%m", "%d", year)) + time


def _split(shape: str) -> tuple[str | None, str | None]:
    """The part of the day, and the pattern of the time behind it; None for what is none."""
    for place in range(6, len(shape)):
        match = _TIME.fullmatch(shape[place:])
        if match is not None and shape[place - 1] != " ":
            return shape[:place], _time(match)
    return shape, ""


def _time(match: re.Match[str]) -> str:
    late = match["late"] or ""
    text = match["gap"] + ("%I:%M" if late else "%H:%M")
    text += ":%S" if match["seconds"] else ""
    text += ".%f" if match["fraction"] else ""
    zone = match["zone"] or ""
    text += late[: len(late) - len(late.lstrip())] + "%p" if late else ""
    return text + (zone[: len(zone) - len(zone.lstrip())] + "%z" if zone else "")


def _pattern(day: str) -> str | tuple[str, str] | None:
    """The pattern of a day; mark and year where day and month may change places."""
    match = _YEAR_FIRST.fullmatch(day)
    if match is not None:
        return match["mark"].join(("%Y", "%m", "%d"))
    match = _NUMERIC.fullmatch(day)
    if match is not None:
        return match["mark"], _year(match["year"])
    match = _NAMED.fullmatch(day)
    if match is not None:
        directive = _month(match["month"])
        return directive and f"%d{match['first']}{directive}{match['second']}{_year(match['year'])}"
    match = _MONTH_FIRST.fullmatch(day)
    if match is not None:
        directive = _month(match["month"])
        return directive and f"{directive}{match['first']}%d{match['second']}{_year(match['year'])}"
    return "%Y%m%d" if day == _PACKED else None


def _year(text: str) -> str:
    return "%y" if len(text) == len("yy") else "%Y"


def _month(name: str) -> str | None:
    for directive, short in (("%b", True), ("%B", False)):
        if name.casefold() in {known.casefold() for known in month_names(short=short)}:
            return directive
    return None
