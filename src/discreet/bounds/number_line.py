"""The meaning of labels that tell numbers: the line, cut where a label ends and where the query compares.

Between two neighbouring cuts all numbers lie in the same labels and compare alike, so they are one code; each
cut is a code of its own. Whole numbers have codes where there are any, and each its own where a query needs
the values themselves. Behind them is one code for whatever is no number.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import ROUND_FLOOR, Context, Decimal

import numpy as np
from numpy.typing import NDArray

from discreet.bounds.meaning import UNBOUNDED, Ends, Meaning
from discreet.queries.uses import Use
from discreet.workload.labels import cells_of_codes
from discreet.workload.number_labels import NumberRange

MOST_WHOLE = 1 << 16
_NO_NUMBER = "no number"
_EXACT = Context(prec=1400)
_ONE = Decimal(1)

ToldNumbers = tuple[NumberRange, ...] | None
"""The numbers that a label tells, none where it stands for itself and is no number; None: anything."""


@dataclass(frozen=True, eq=False)
class NumberLine:
    """What the labels of one column tell; ``told`` lacks NULL. ``whole``: all its numbers are whole.

    ``occurring`` are numbers that occur in every class of a label; each is an end of what the label tells.
    """

    attribute: str
    told: Mapping[str, ToldNumbers]
    whole: bool
    nullable: bool
    occurring: Mapping[str, tuple[Decimal, ...]] = field(default_factory=dict)

    def meaning(self, labels: Sequence[str | None], use: Use) -> Meaning | None:
        """The codes for a query that uses the column so; None where it needs values that are not told."""
        cuts = self._cuts(use)
        places = self._places(cuts)
        pieces = [piece for piece in places if piece is not None]
        number = np.cumsum([piece is not None for piece in places]) - 1
        number[[piece is None for piece in places]] = -1
        place = {cut: 2 * i + 1 for i, cut in enumerate(cuts)}
        codes = [self._codes(label, place, number) for label in labels]
        if use.wholly and self._untold(pieces, codes):
            return None
        texts = (*(piece.text for piece in pieces), _NO_NUMBER)
        ends: tuple[Ends, ...] = (*(piece.ends for piece in pieces), None)
        weights = np.array([*(piece.weight for piece in pieces), 0.0, 0.0])
        cells = cells_of_codes(self.attribute, len(texts), labels, codes, weights)
        known = {
            label: tuple(int(number[place[one]]) for one in numbers)
            for label, numbers in self.occurring.items()
            if numbers and all(number[place[one]] >= 0 for one in numbers)
        }
        return Meaning(cells, texts, ends, occurring=known)

    def _cuts(self, use: Use) -> list[Decimal]:
        ranges = [one for told in self.told.values() for one in told or ()]
        ends = {end for one in ranges for end in (one.low, one.high) if end is not None}
        found = sorted(ends | use.numbers)
        if not (self.whole and use.wholly and ends):
            return found
        first, last = _floor(min(ends)), _floor(max(ends))
        if last - first >= MOST_WHOLE:
            return found
        return [Decimal(number) for number in range(int(first), int(last) + 1)]

    def _places(self, cuts: Sequence[Decimal]) -> list[_Piece | None]:
        """What lies between cuts, at even places, and the cuts; None where it holds no number."""
        found: list[_Piece | None] = []
        for low, high in zip([UNBOUNDED[0], *cuts], [*cuts, UNBOUNDED[1]], strict=True):
            found += [_between(low, high, whole=self.whole), _point(high, whole=self.whole)]
        return found[:-1]

    def _codes(
        self, label: str | None, place: Mapping[Decimal, int], number: NDArray[np.int64]
    ) -> NDArray[np.int64]:
        """The codes of a label, by the place of each cut and the code of each place."""
        null = int(number.max(initial=-1)) + 2
        if label is None:
            return np.array([null])
        told = self.told[label]
        if told is None:
            return np.arange(null + self.nullable)
        held = [number[_span(one, place, len(number))] for one in told]
        found = np.unique(np.concatenate(held)) if held else np.empty(0, dtype=np.int64)
        found = found[found >= 0]
        return found if len(found) else np.array([null - 1])

    def _untold(self, pieces: Sequence[_Piece], codes: Sequence[NDArray[np.int64]]) -> bool:
        """Whether a label may stand for values that are not listed one by one."""
        listed = np.array([*(piece.single for piece in pieces), False, True])
        return any(not listed[covered].all() for covered in codes)


@dataclass(frozen=True)
class _Piece:
    """A number, or the numbers between two cuts; ``text`` is one of them, ``ends`` bound them."""

    text: str
    ends: tuple[Decimal, Decimal]
    weight: float

    @property
    def single(self) -> bool:
        return self.ends[0] == self.ends[1]


def _span(held: NumberRange, place: Mapping[Decimal, int], places: int) -> slice:
    """The places of a range, whose ends are cuts."""
    first = 0 if held.low is None else place[held.low] + (not held.with_low)
    last = places - 1 if held.high is None else place[held.high] - (not held.with_high)
    return slice(first, last + 1)


def _point(number: Decimal, *, whole: bool) -> _Piece | None:
    if not number.is_finite() or (whole and number != _floor(number)):
        return None
    return _Piece(format(number, "f"), (number, number), 1.0 if whole else 0.0)


def _between(low: Decimal, high: Decimal, *, whole: bool) -> _Piece | None:
    """The numbers between two cuts, ends left out; None where there is none."""
    first, last = low, high
    if whole:
        first = _EXACT.add(_floor(low), _ONE) if low.is_finite() else low
        ceiling = _floor(high.copy_negate()).copy_negate() if high.is_finite() else high
        last = _EXACT.subtract(ceiling, _ONE) if high.is_finite() else high
        if first > last:
            return None
    inside = _inside(first, last, whole)
    finite = low.is_finite() and high.is_finite()
    weight = float(last - first) + (1.0 if whole else 0.0) if finite else 0.0
    return _Piece(format(inside, "f"), (first, last), weight)


def _inside(first: Decimal, last: Decimal, whole: bool) -> Decimal:
    if first.is_finite() and (whole or not last.is_finite()):
        return first if whole else _EXACT.add(first, _ONE)
    if not first.is_finite():
        return Decimal(0) if not last.is_finite() else last if whole else _EXACT.subtract(last, _ONE)
    return _EXACT.divide(_EXACT.add(first, last), Decimal(2))


def _floor(number: Decimal) -> Decimal:
    return number.to_integral_value(ROUND_FLOOR, _EXACT)
