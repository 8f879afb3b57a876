"""Codes of the values that a column's labels may represent, for one query.

Values that a query does not distinguish share a code. Numbers: the line is cut at the ends of labels and at
the numbers that the query compares; each interval between two cuts is one code, each cut is one, and whole
numbers have their own if the query needs the values. Dates: ISO 8601 texts are ordered as texts, so a
period is a range of texts. Texts: ``531**`` represents the texts with that prefix, and the codes are a tree
of the texts and prefixes that the query compares.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import MAXYEAR, date, timedelta
from decimal import ROUND_FLOOR, Context, Decimal

import numpy as np
from numpy.typing import NDArray

from discreet.model.hierarchy import GeneralizationHierarchy, parse_decimal
from discreet.model.published_cells import Cells
from discreet.queries.select_query import ColumnUse
from discreet.workload.published_labels import NumberRange, build_cells_of_codes, occurring_leaves, read_cells

UNBOUNDED = (Decimal("-Infinity"), Decimal("Infinity"))
CodeEnds = tuple[Decimal, Decimal] | None
"""Least and greatest number of a code, infinite if unbounded; None if the code is not a number."""


@dataclass(frozen=True, eq=False)
class ColumnMeaning:
    """Codes of a column, and the codes that each of its labels covers.

    ``texts[c]`` represents all values of code c; NULL has the code after the last. ``ends[c]`` bounds the
    numbers of code c. ``note`` states an assumption. ``means`` contains, by label that states a mean, the
    mean and half a unit of its last digit. ``occurring`` contains, by label, the codes that occur in every
    class with that label: the ends of a range, the members of a set; labels of one value have none.
    """

    cells: Cells
    texts: tuple[str, ...]
    ends: tuple[CodeEnds, ...]
    note: str | None = None
    means: dict[str, tuple[Decimal, float]] = field(default_factory=dict)
    occurring: Mapping[str, tuple[int, ...]] = field(default_factory=dict)

    @property
    def numbers(self) -> NDArray[np.bool_]:
        """Mask of the codes that are numbers, NULL last."""
        return np.array([*(end is not None for end in self.ends), False], dtype=np.bool_)


def meaning_of_values(name: str, labels: Sequence[str | None]) -> ColumnMeaning:
    """Return the meaning of a column whose labels are values."""
    texts = tuple(label for label in labels if label is not None)
    code_of = {text: code for code, text in enumerate(texts)}
    codes = [np.array([len(texts) if label is None else code_of[label]]) for label in labels]
    return ColumnMeaning(build_cells_of_codes(name, len(texts), labels, codes), texts, _ends_of_texts(texts))


def meaning_by_hierarchy(
    hierarchy: GeneralizationHierarchy,
    labels: Sequence[str | None],
    *,
    nullable: bool,
    summary: str | None = None,
) -> ColumnMeaning:
    """Return the meaning of a column with a known hierarchy.

    Raises ``InputError`` for labels that cover none of its values.
    """
    read = read_cells(hierarchy, labels, nullable=nullable)
    means = {
        label: (Decimal(str(mean)), half)
        for label, mean, half in zip(labels, read.means.tolist(), read.half_units.tolist(), strict=True)
        if label is not None and mean == mean  # not NaN
    }
    own = _ends_of_texts(hierarchy.leaves)
    known = {
        label: tuple(hierarchy.code_of_leaf[leaf] for leaf in leaves)
        for label in labels
        if label is not None and (leaves := occurring_leaves(label, summary, hierarchy))
    }
    return ColumnMeaning(read.cells, hierarchy.leaves, own, means=means, occurring=known)


def _ends_of_texts(texts: Sequence[str]) -> tuple[CodeEnds, ...]:
    numbers = (parse_decimal(text) for text in texts)
    return tuple(None if number is None else (number, number) for number in numbers)


MOST_INTEGER_CODES = 1 << 16
_NO_NUMBER = "no number"
_EXACT = Context(prec=1400)
_ONE = Decimal(1)

LabelNumbers = tuple[NumberRange, ...] | None
"""Ranges of a label's numbers; empty for a label that is a value but not a number, None for any value."""


@dataclass(frozen=True, eq=False)
class NumberLine:
    """Numbers of the labels of one column, without NULL, as pieces of the number line.

    ``integers`` is True if all numbers are integers. ``occurring`` contains numbers that occur in every class
    of a label; each is an end of one of the label's ranges.
    """

    attribute: str
    label_values: Mapping[str, LabelNumbers]
    integers: bool
    nullable: bool
    occurring: Mapping[str, tuple[Decimal, ...]] = field(default_factory=dict)

    def meaning(self, labels: Sequence[str | None], use: ColumnUse) -> ColumnMeaning | None:
        """Return the codes for a query's use of the column; None if it needs values that are unknown."""
        cuts = self._cuts(use)
        places = self._places(cuts)
        pieces = [piece for piece in places if piece is not None]
        number = np.cumsum([piece is not None for piece in places]) - 1
        number[[piece is None for piece in places]] = -1
        position_of = {cut: 2 * i + 1 for i, cut in enumerate(cuts)}
        codes = [self._codes(label, position_of, number) for label in labels]
        if use.needs_values and self._has_unlisted_values(pieces, codes):
            return None
        texts = (*(piece.text for piece in pieces), _NO_NUMBER)
        ends: tuple[CodeEnds, ...] = (*(piece.ends for piece in pieces), None)
        weights = np.array([*(piece.weight for piece in pieces), 0.0, 0.0])
        cells = build_cells_of_codes(self.attribute, len(texts), labels, codes, weights)
        known = {
            label: tuple(int(number[position_of[one]]) for one in numbers)
            for label, numbers in self.occurring.items()
            if numbers and all(number[position_of[one]] >= 0 for one in numbers)
        }
        return ColumnMeaning(cells, texts, ends, occurring=known)

    def _cuts(self, use: ColumnUse) -> list[Decimal]:
        ranges = [one for label_values in self.label_values.values() for one in label_values or ()]
        ends = {end for one in ranges for end in (one.low, one.high) if end is not None}
        result = sorted(ends | use.numbers)
        if not (self.integers and use.needs_values and ends):
            return result
        first, last = _floor(min(ends)), _floor(max(ends))
        if last - first >= MOST_INTEGER_CODES:
            return result
        return [Decimal(number) for number in range(int(first), int(last) + 1)]

    def _places(self, cuts: Sequence[Decimal]) -> list[_NumberPiece | None]:
        """Return intervals between cuts, at even positions, and cuts; None for one without a number."""
        found: list[_NumberPiece | None] = []
        for low, high in zip([UNBOUNDED[0], *cuts], [*cuts, UNBOUNDED[1]], strict=True):
            found += [
                _piece_between(low, high, integers=self.integers),
                _piece_at(high, integers=self.integers),
            ]
        return found[:-1]

    def _codes(
        self, label: str | None, position_of: Mapping[Decimal, int], number: NDArray[np.int64]
    ) -> NDArray[np.int64]:
        """Return the codes of a label from the position of each cut and the code of each position."""
        null = int(number.max(initial=-1)) + 2
        if label is None:
            return np.array([null])
        label_values = self.label_values[label]
        if label_values is None:
            return np.arange(null + self.nullable)
        covered = [number[_positions_of_range(one, position_of, len(number))] for one in label_values]
        found = np.unique(np.concatenate(covered)) if covered else np.empty(0, dtype=np.int64)
        found = found[found >= 0]
        return found if len(found) else np.array([null - 1])

    def _has_unlisted_values(
        self, pieces: Sequence[_NumberPiece], codes: Sequence[NDArray[np.int64]]
    ) -> bool:
        """Check whether a label may represent values that are not listed one by one."""
        listed = np.array([*(piece.single for piece in pieces), False, True])
        return any(not listed[covered].all() for covered in codes)


@dataclass(frozen=True)
class _NumberPiece:
    """Number, or interval between two cuts; ``text`` is a number of it, ``ends`` are its bounds."""

    text: str
    ends: tuple[Decimal, Decimal]
    weight: float

    @property
    def single(self) -> bool:
        return self.ends[0] == self.ends[1]


def _positions_of_range(number_range: NumberRange, position_of: Mapping[Decimal, int], places: int) -> slice:
    """Return the positions of a range whose ends are cuts."""
    first = 0 if number_range.low is None else position_of[number_range.low] + (not number_range.with_low)
    last = (
        places - 1
        if number_range.high is None
        else position_of[number_range.high] - (not number_range.with_high)
    )
    return slice(first, last + 1)


def _piece_at(number: Decimal, *, integers: bool) -> _NumberPiece | None:
    if not number.is_finite() or (integers and number != _floor(number)):
        return None
    return _NumberPiece(format(number, "f"), (number, number), 1.0 if integers else 0.0)


def _piece_between(low: Decimal, high: Decimal, *, integers: bool) -> _NumberPiece | None:
    """Return the numbers between two cuts, without the ends; None if there is none."""
    first, last = low, high
    if integers:
        first = _EXACT.add(_floor(low), _ONE) if low.is_finite() else low
        ceiling = _floor(high.copy_negate()).copy_negate() if high.is_finite() else high
        last = _EXACT.subtract(ceiling, _ONE) if high.is_finite() else high
        if first > last:
            return None
    inside = _number_inside(first, last, integers)
    finite = low.is_finite() and high.is_finite()
    weight = float(last - first) + (1.0 if integers else 0.0) if finite else 0.0
    return _NumberPiece(format(inside, "f"), (first, last), weight)


def _number_inside(first: Decimal, last: Decimal, integers: bool) -> Decimal:
    if first.is_finite() and (integers or not last.is_finite()):
        return first if integers else _EXACT.add(first, _ONE)
    if not first.is_finite():
        return Decimal(0) if not last.is_finite() else last if integers else _EXACT.subtract(last, _ONE)
    return _EXACT.divide(_EXACT.add(first, last), Decimal(2))


def _floor(number: Decimal) -> Decimal:
    return number.to_integral_value(ROUND_FLOOR, _EXACT)


_DAY = re.compile(r"(\d{4})-(\d{2})-(\d{2})", re.ASCII)
_WEEK = re.compile(r"(\d{4})-W(\d{2})", re.ASCII)
_MONTHS_OF_PERIODS = {
    re.compile(r"(\d{4})-(\d{2})", re.ASCII): 1,
    re.compile(r"(\d{4})-Q([1-4])", re.ASCII): 3,
    re.compile(r"(\d{4})-H([12])", re.ASCII): 6,
    re.compile(r"(\d{4})()", re.ASCII): 12,
}
"""Labels of periods, year and number in the year, with the length in months."""
_YEARS = re.compile(r"(\d{4})-(\d{4})", re.ASCII)
_ELLIPSIS = " … "
_LAST_TEXT = "~"

TextRange = tuple[str, str, bool]
"""First text, last text, and whether the last one belongs to the range."""


def parse_period(label: str, *, own: bool) -> TextRange | None:
    """Parse a label as a range of ISO texts; None if it is no period.

    With ``own``, a day represents only that text, without times of the day.
    """
    if _ELLIPSIS in label:
        low, _, high = label.partition(_ELLIPSIS)
        return (low, high, True) if _is_date(low) and _is_date(high) and low <= high else None
    if own and _is_date(label):
        return label, label, True
    try:
        days = _parse_days(label)
    except (ValueError, OverflowError):
        return None
    if days is None:
        return (label, label, True) if _is_date(label) else None
    first, after = days
    return first.isoformat(), after.isoformat() if after is not None else _LAST_TEXT, False


def _parse_days(label: str) -> tuple[date, date | None] | None:
    """Return the first day of a period and the first day after it."""
    if (found := _DAY.fullmatch(label)) is not None:
        day = date(*map(int, found.groups()))
        return day, day + timedelta(days=1)
    if (found := _WEEK.fullmatch(label)) is not None:
        day = date.fromisocalendar(int(found[1]), int(found[2]), 1)
        return day, day + timedelta(days=7)
    for pattern, months in _MONTHS_OF_PERIODS.items():
        if (found := pattern.fullmatch(label)) is not None:
            return _months(int(found[1]), months * (int(found[2] or 1) - 1) + 1, months)
    if (found := _YEARS.fullmatch(label)) is not None and found[1] <= found[2]:
        return _months(int(found[1]), 1, 12 * (int(found[2]) - int(found[1]) + 1))
    return None


def _months(year: int, month: int, number: int) -> tuple[date, date | None]:
    years, behind = divmod(month - 1 + number, 12)
    first = date(max(year, 1), month, 1)
    return first, None if year + years > MAXYEAR else date(year + years, behind + 1, 1)


def _is_date(text: str) -> bool:
    """Check whether a text is an ISO date, with or without a time of day."""
    try:
        date.fromisoformat(text[:10])
    except ValueError:
        return False
    return len(text) == 10 or (len(text) > 10 and text[10] in "T ")


@dataclass(frozen=True, eq=False)
class DateLine:
    """Text ranges of the labels of one column, without NULL; None for any value.

    ``occurring`` contains texts that occur in every class of a label.
    """

    attribute: str
    label_values: Mapping[str, tuple[TextRange, ...] | None]
    nullable: bool
    occurring: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def meaning(self, labels: Sequence[str | None], use: ColumnUse) -> ColumnMeaning | None:
        """Return the codes for a query's use of the column; None if it needs values that are unknown."""
        cuts = self._cuts(use)
        pieces = _pieces_of_cuts(cuts)
        covered = [self._codes(label, pieces) for label in labels]
        if use.numbers or (use.needs_values and self._has_unlisted_values(covered, pieces)):
            return None
        weights = np.array([*(_days_between(low, high) for low, high, _ in pieces), 0.0])
        texts = tuple(text for _, _, text in pieces)
        cells = build_cells_of_codes(self.attribute, len(texts), labels, covered, weights)
        position_of = {low: code for code, (low, high, _) in enumerate(pieces) if low == high}
        known = {label: tuple(position_of[text] for text in ends) for label, ends in self.occurring.items()}
        return ColumnMeaning(cells, texts, (None,) * len(texts), occurring=known)

    def _cuts(self, use: ColumnUse) -> list[str]:
        ranges = [one for label_values in self.label_values.values() for one in label_values or ()]
        found = {end for low, high, _ in ranges for end in (low, high)} | use.texts
        found |= {text for texts in self.occurring.values() for text in texts}
        for prefix in use.prefixes:
            found |= {prefix, prefix[:-1] + chr(ord(prefix[-1]) + 1)} if prefix else set()
        return sorted(text for text in found if text)

    def _codes(self, label: str | None, pieces: Sequence[_TextPiece]) -> NDArray[np.int64]:
        if label is None:
            return np.array([len(pieces)])
        label_values = self.label_values[label]
        if label_values is None:
            return np.arange(len(pieces) + self.nullable)
        lows = [low for low, _, _ in pieces]  # a cut precedes the piece after it
        covered: set[int] = set()
        for first, last, with_last in label_values:
            behind = bisect_left(lows, last)
            covered.update(range(bisect_left(lows, first), behind), [behind] if with_last else ())
        return np.array(sorted(covered))

    def _has_unlisted_values(
        self, covered: Sequence[NDArray[np.int64]], pieces: Sequence[_TextPiece]
    ) -> bool:
        listed = np.array([*(low == high for low, high, _ in pieces), True])
        return any(not listed[codes].all() for codes in covered)


_TextPiece = tuple[str, str, str]
"""Exclusive ends of the texts between two cuts, or twice the same cut; and one of the texts."""


def _pieces_of_cuts(cuts: Sequence[str]) -> list[_TextPiece]:
    found = []
    for low, high in zip(["", *cuts], [*cuts, "\U0010ffff"], strict=True):
        inside = next((text for end in " \x01" if low < (text := low + end) < high), None)
        if inside is not None:
            found.append((low, high, inside))
        found.append((high, high, high))
    return found[:-1]


def _days_between(low: str, high: str) -> float:
    first, last = _day_number(low), _day_number(high)
    return 0.0 if first is None or last is None else max(0.0, float(last - first))


def _day_number(text: str) -> int | None:
    """Return the ordinal of a text that begins as a date, completed from 0001-01-01; None for others."""
    try:
        return date.fromisoformat(text[:10] + "0001-01-01"[len(text[:10]) :]).toordinal()
    except ValueError:
        return None


_CODE_CHARACTERS = 36.0
"""Number of distinct characters of codes, used to estimate the number of texts of a prefix."""


@dataclass(frozen=True)
class TextPrefix:
    """Texts longer than ``prefix`` that begin with it, of ``length`` characters if that is known."""

    prefix: str
    length: int | None = None


LabelTexts = tuple[str | TextPrefix, ...] | None
"""Texts that a label represents; None for any."""


@dataclass(frozen=True, eq=False)
class TextTree:
    """Texts and prefixes of the labels of one column, without NULL."""

    attribute: str
    label_values: Mapping[str, LabelTexts]
    nullable: bool

    def meaning(self, labels: Sequence[str | None], use: ColumnUse) -> ColumnMeaning | None:
        """Return the codes for a query's use of the column; None if it needs values that are unknown."""
        members = [part for label_values in self.label_values.values() for part in label_values or ()]
        open_ended = None in self.label_values.values() or any(
            isinstance(part, TextPrefix) for part in members
        )
        if open_ended and (use.needs_values or use.ordered or use.numbers):
            return None
        plain_texts = {part for part in members if isinstance(part, str)}
        begins = {part for part in members if isinstance(part, TextPrefix)}
        all_texts = sorted(plain_texts | use.texts | use.prefixes)
        rest = _remaining_prefixes(begins, use.prefixes) if open_ended else []
        fill = _unused_character("".join([*all_texts, *use.prefixes, *(part.prefix for part in begins)]))
        texts = (*all_texts, *(_example_text(part, fill) for part in rest))
        position_of = {text: code for code, text in enumerate(all_texts)}
        codes = [self._codes(label, position_of, rest) for label in labels]
        most = max((part.length or 1 for part in begins), default=1)
        weights = [1.0] * len(all_texts) + [
            _CODE_CHARACTERS ** min(most - len(part.prefix), 8) for part in rest
        ]
        cells = build_cells_of_codes(self.attribute, len(texts), labels, codes, np.array([*weights, 0.0]))
        numbers = tuple(parse_decimal(text) for text in all_texts)
        ends = tuple(None if number is None else (number, number) for number in numbers)
        return ColumnMeaning(cells, texts, (*ends, *[None] * len(rest)))

    def _codes(
        self, label: str | None, code_of: Mapping[str, int], rest: Sequence[TextPrefix]
    ) -> NDArray[np.int64]:
        size = len(code_of) + len(rest)
        if label is None:
            return np.array([size])
        label_values = self.label_values[label]
        if label_values is None:
            return np.arange(size + self.nullable)
        covered = {code_of[part] for part in label_values if isinstance(part, str)}
        for outer in (part for part in label_values if isinstance(part, TextPrefix)):
            covered.update(code for text, code in code_of.items() if _matches_prefix(outer, text))
            covered.update(
                code for code, part in enumerate(rest, start=len(code_of)) if _contains_prefix(outer, part)
            )
        return np.array(sorted(covered))


def _matches_prefix(part: TextPrefix, text: str) -> bool:
    longer = len(text) > len(part.prefix)
    return text.startswith(part.prefix) and (longer if part.length is None else len(text) == part.length)


def _contains_prefix(outer: TextPrefix, inner: TextPrefix) -> bool:
    return outer.length == inner.length and inner.prefix.startswith(outer.prefix)


def _remaining_prefixes(begins: set[TextPrefix], beginnings: frozenset[str]) -> list[TextPrefix]:
    """Return a code's texts for each relevant prefix without the longer ones, by known length or any."""
    prefixes = {"", *beginnings, *(part.prefix for part in begins)}
    lengths = {part.length for part in begins} | {None}
    found = [
        TextPrefix(prefix, length)
        for length in lengths
        for prefix in prefixes
        if length is None or len(prefix) < length
    ]
    return sorted(found, key=lambda part: (part.length or 0, part.prefix))


def _example_text(part: TextPrefix, fill: str) -> str:
    return part.prefix + fill * (1 if part.length is None else part.length - len(part.prefix))


def _unused_character(text: str) -> str:
    """Return a character that does not occur in the text, neither a digit nor an ASCII letter."""
    return next(chr(code) for code in (*range(0xA1, 0x250), *range(0x4E00, 0x9FFF)) if chr(code) not in text)


def parse_set_label(label: str) -> tuple[str, ...] | None:
    """Parse the members of ``{a, b, "c, d"}`` as discreet writes sets; None for another label."""
    if not (label.startswith("{") and label.endswith("}")):
        return None
    found = tuple(_iterate_members(label[1:-1]))
    return found if len(found) > 1 else None


def _iterate_members(text: str) -> Iterator[str]:
    rest = text
    while rest:
        member, behind = None, ""
        if rest.startswith('"'):
            with suppress(ValueError):
                member, end = json.JSONDecoder().raw_decode(rest)
                behind = rest[end:].removeprefix(", ")
        if not isinstance(member, str):
            member, _, behind = rest.partition(", ")
        yield member
        rest = behind
