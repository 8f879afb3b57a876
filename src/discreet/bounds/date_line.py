"""The meaning of labels that tell periods of days: texts in order, cut where periods end and at constants.

ISO 8601 dates, with or without a time of the day, are in order as texts. So a period is the texts from its
first day up to the day after its last, and what a query compares with cuts the line.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import MAXYEAR, date, timedelta

import numpy as np
from numpy.typing import NDArray

from discreet.bounds.meaning import Meaning
from discreet.queries.uses import Use
from discreet.workload.labels import cells_of_codes

_DAY = re.compile(r"(\d{4})-(\d{2})-(\d{2})", re.ASCII)
_WEEK = re.compile(r"(\d{4})-W(\d{2})", re.ASCII)
_MONTH = re.compile(r"(\d{4})-(\d{2})", re.ASCII)
_QUARTER = re.compile(r"(\d{4})-Q([1-4])", re.ASCII)
_YEAR = re.compile(r"(\d{4})", re.ASCII)
_HALF_YEAR = re.compile(r"(\d{4})-H([12])", re.ASCII)
_YEARS = re.compile(r"(\d{4})-(\d{4})", re.ASCII)
_ELLIPSIS = " … "
_LAST_TEXT = "~"

TextRange = tuple[str, str, bool]
"""From a text up to another, which belongs to it or not."""


def period(label: str, *, own: bool) -> TextRange | None:
    """The texts that a label stands for; None where it tells no period. ``own``: a day is that text alone."""
    if _ELLIPSIS in label:
        low, _, high = label.partition(_ELLIPSIS)
        return (low, high, True) if _is_date(low) and _is_date(high) and low <= high else None
    if own and _is_date(label):
        return label, label, True
    try:
        days = _days(label)
    except (ValueError, OverflowError):
        return None
    if days is None:
        return (label, label, True) if _is_date(label) else None
    first, after = days
    return first.isoformat(), after.isoformat() if after is not None else _LAST_TEXT, False


def _days(label: str) -> tuple[date, date | None] | None:
    """The first day of a period, and the first one behind it."""
    if (found := _DAY.fullmatch(label)) is not None:
        day = date(*map(int, found.groups()))
        return day, day + timedelta(days=1)
    if (found := _WEEK.fullmatch(label)) is not None:
        day = date.fromisocalendar(int(found[1]), int(found[2]), 1)
        return day, day + timedelta(days=7)
    if (found := _MONTH.fullmatch(label)) is not None:
        return _months(int(found[1]), int(found[2]), 1)
    if (found := _QUARTER.fullmatch(label)) is not None:
        return _months(int(found[1]), 3 * int(found[2]) - 2, 3)
    if (found := _HALF_YEAR.fullmatch(label)) is not None:
        return _months(int(found[1]), 6 * int(found[2]) - 5, 6)
    if (found := _YEAR.fullmatch(label)) is not None:
        return _months(int(found[1]), 1, 12)
    if (found := _YEARS.fullmatch(label)) is not None and found[1] <= found[2]:
        return _months(int(found[1]), 1, 12 * (int(found[2]) - int(found[1]) + 1))
    return None


def _months(year: int, month: int, number: int) -> tuple[date, date | None]:
    years, behind = divmod(month - 1 + number, 12)
    first = date(max(year, 1), month, 1)
    return first, None if year + years > MAXYEAR else date(year + years, behind + 1, 1)


def _is_date(text: str) -> bool:
    """Whether a text is an ISO date, whatever time of the day stands behind it."""
    try:
        date.fromisoformat(text[:10])
    except ValueError:
        return False
    return len(text) == 10 or (len(text) > 10 and text[10] in "T ")


@dataclass(frozen=True, eq=False)
class DateLine:
    """What the labels of one column tell, without NULL: ranges of texts, or anything (None).

    ``occurring`` are texts that occur in every class of a label.
    """

    attribute: str
    told: Mapping[str, tuple[TextRange, ...] | None]
    nullable: bool
    occurring: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def meaning(self, labels: Sequence[str | None], use: Use) -> Meaning | None:
        """The codes for a query that uses the column so; None where it needs values that are not told."""
        cuts = self._cuts(use)
        pieces = _pieces(cuts)
        covered = [self._codes(label, pieces) for label in labels]
        if use.numbers or (use.wholly and self._untold(covered, pieces)):
            return None
        weights = np.array([*(_weight(low, high) for low, high, _ in pieces), 0.0])
        texts = tuple(text for _, _, text in pieces)
        cells = cells_of_codes(self.attribute, len(texts), labels, covered, weights)
        place = {low: code for code, (low, high, _) in enumerate(pieces) if low == high}
        known = {label: tuple(place[text] for text in ends) for label, ends in self.occurring.items()}
        return Meaning(cells, texts, (None,) * len(texts), occurring=known)

    def _cuts(self, use: Use) -> list[str]:
        ranges = [one for told in self.told.values() for one in told or ()]
        found = {end for low, high, _ in ranges for end in (low, high)} | use.texts
        found |= {text for texts in self.occurring.values() for text in texts}
        for prefix in use.prefixes:
            found |= {prefix, prefix[:-1] + chr(ord(prefix[-1]) + 1)} if prefix else set()
        return sorted(text for text in found if text)

    def _codes(self, label: str | None, pieces: Sequence[_Piece]) -> NDArray[np.int64]:
        if label is None:
            return np.array([len(pieces)])
        told = self.told[label]
        if told is None:
            return np.arange(len(pieces) + self.nullable)
        lows = [low for low, _, _ in pieces]  # a cut stands before what lies behind it
        held: set[int] = set()
        for first, last, with_last in told:
            behind = bisect_left(lows, last)
            held.update(range(bisect_left(lows, first), behind), [behind] if with_last else ())
        return np.array(sorted(held))

    def _untold(self, covered: Sequence[NDArray[np.int64]], pieces: Sequence[_Piece]) -> bool:
        listed = np.array([*(low == high for low, high, _ in pieces), True])
        return any(not listed[codes].all() for codes in covered)


_Piece = tuple[str, str, str]
"""Texts between two cuts, which do not belong to them, or one cut; and one of those texts."""


def _pieces(cuts: Sequence[str]) -> list[_Piece]:
    found = []
    for low, high in zip(["", *cuts], [*cuts, "\U0010ffff"], strict=True):
        inside = next((text for end in " \x01" if low < (text := low + end) < high), None)
        if inside is not None:
            found.append((low, high, inside))
        found.append((high, high, high))
    return found[:-1]


def _weight(low: str, high: str) -> float:
    first, last = _ordinal(low), _ordinal(high)
    return 0.0 if first is None or last is None else max(0.0, float(last - first))


def _ordinal(text: str) -> int | None:
    """The day at which a text stands among dates, as far as it says one."""
    try:
        return date.fromisoformat(text[:10] + "0001-01-01"[len(text[:10]) :]).toordinal()
    except ValueError:
        return None
