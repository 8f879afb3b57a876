"""Published labels and the values that they cover: a cell reader for releases of any tool.

A label is read, in this order, as

- NULL, which covers NULL only, and ``*`` or the hierarchy's top value, which cover everything;
- a value of the hierarchy, at any level: the leaves under it;
- ``a … b`` (as discreet writes it), or ``[a, b]``, ``[a, b[``, ``(a, b]``, ``a-b`` and the like: the
  numbers between two ends, or the leaves between two leaves;
- ``<a``, ``<=a``, ``≤a``, ``>a``, ``>=a``, ``≥a``: the numbers on one side;
- ``{a, b, c}``: a set of leaves, each of which may be a JSON string;
- ``m (range or set)``: a mean with the range or set that it is the mean of;
- ``537**``: the leaves with that prefix.

A label that covers nothing is an error. If a hierarchy uses a label twice, the leaves of both are covered.
In summaries by ranges, means and sets, the ends or members of a label occur in every class with that label.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError
from discreet.frequency.class_summary import Summary
from discreet.model.hierarchy import TOP, GeneralizationHierarchy, LeafOrder, order_leaves, parse_decimal
from discreet.model.published_cells import Cells, parse_range_label

_NUMBER = r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d{1,3})?"
_NUMBER_RANGE = re.compile(
    rf"(?P<open>[\[\](])?\s*(?P<low>{_NUMBER})\s*(?P<sign>,|;|-|–|—|…|\.\.|to)\s*(?P<high>{_NUMBER})\s*(?P<close>[\[\])])?"
)
_ONE_SIDED_RANGE = re.compile(rf"(?P<sign><=|>=|<|>|≤|≥)\s*(?P<end>{_NUMBER})")
_MEAN = re.compile(rf"(?P<mean>{_NUMBER})\s*\((?P<rest>.+)\)")
_WHOLE_ENDS = re.compile(r"\d+-\d+")


@dataclass(frozen=True)
class NumberRange:
    """Numbers between two ends, each included or excluded; None means unbounded."""

    low: Decimal | None
    high: Decimal | None
    with_low: bool = True
    with_high: bool = True

    def holds(self, number: Decimal) -> bool:
        """Check whether the range contains a number."""
        above = self.low is None or (number >= self.low if self.with_low else number > self.low)
        return above and (
            self.high is None or (number <= self.high if self.with_high else number < self.high)
        )


def parse_number_range(label: str) -> NumberRange | None:
    """Parse ``a … b``, ``[a, b]``, ``[a, b[``, ``(a, b]``, ``a-b`` etc., ``<a`` and ``≥a``; else None."""
    side = _ONE_SIDED_RANGE.fullmatch(label)
    if side is not None:
        end, sign = parse_decimal(side["end"]), side["sign"]
        if end is None:
            return None
        is_closed = sign not in ("<", ">")
        below = sign in ("<", "<=", "≤")
        return (
            NumberRange(None, end, with_high=is_closed)
            if below
            else NumberRange(end, None, with_low=is_closed)
        )
    match = _NUMBER_RANGE.fullmatch(label)
    low, high = (parse_decimal(match["low"]), parse_decimal(match["high"])) if match else (None, None)
    if match is None or low is None or high is None:
        return None
    return NumberRange(low, high, match["open"] not in ("(", "]"), match["close"] not in (")", "["))


def is_integer_range(label: str) -> bool:
    """Check whether a label has the form ``20-24``, which implies that no value is between 24 and 25."""
    return _WHOLE_ENDS.fullmatch(label) is not None


def parse_mean_label(label: str) -> tuple[Decimal, str] | None:
    """Parse ``m (range or set)`` into the mean and the range or set; return None for another label."""
    match = _MEAN.fullmatch(label)
    mean = parse_decimal(match["mean"]) if match else None
    return None if match is None or mean is None else (mean, match["rest"])


def half_unit_of_last_digit(number: Decimal) -> float:
    """Return half a unit of the last written digit of a number."""
    exponent = number.as_tuple().exponent
    return 0.5 * 10.0 ** (exponent if isinstance(exponent, int) else 0)


_STARS = re.compile(r"(?P<prefix>[^*]+)\*+")
READABLE_LABELS = "values of the hierarchy, a … b, [a, b], [a, b[, a-b, <a, ≥a, {a, b}, 537**, *, NULL"


@dataclass(frozen=True, eq=False)
class ReadCells:
    """Cells of a column, and the mean that each label states, with half a unit of its last digit.

    ``means`` and ``half_units`` have shape ``(cells,)``, NaN if a label states no mean.
    """

    cells: Cells
    means: NDArray[np.float64]
    half_units: NDArray[np.float64]


def read_cells(
    hierarchy: GeneralizationHierarchy, labels: Sequence[str | None], *, nullable: bool
) -> ReadCells:
    """Read the cells of distinct labels of one quasi-identifier.

    ``nullable`` is True if the original contains NULL, which a top value may then represent. Raises
    ``InputError`` with the column and the number of labels if some cover no leaf.
    """
    reader = _LabelReader(hierarchy, nullable)
    found = [reader.codes(label) for label in labels]
    unknown = sum(1 for codes in found if not len(codes))
    if unknown:
        raise InputError(
            f"column '{hierarchy.attribute}' of the release: {unknown:,} of {len(labels):,} labels cover no "
            "value of its hierarchy",
            allowed=READABLE_LABELS,
            advice="Use the spec of the release.",
        )
    means: list[Decimal | None] = []
    for label in labels:
        stated = None if label is None or label in reader.named else parse_mean_label(label.strip())
        means.append(None if stated is None else stated[0])
    return ReadCells(
        cells=build_cells_of_codes(hierarchy.attribute, len(hierarchy.leaves), labels, found),
        means=np.array([np.nan if m is None else float(m) for m in means], dtype=np.float64),
        half_units=np.array(
            [np.nan if m is None else half_unit_of_last_digit(m) for m in means], dtype=np.float64
        ),
    )


def build_cells_of_codes(
    attribute: str,
    leaves: int,
    labels: Sequence[str | None],
    codes: Sequence[NDArray[np.int64]],
    weights: NDArray[np.float64] | None = None,
) -> Cells:
    """Build cells from the ascending codes that each label covers."""
    firsts, lasts, offsets = [], [], [0]
    for covered in codes:
        breaks = np.flatnonzero(np.diff(covered) > 1)
        firsts.append(covered[np.concatenate(([0], breaks + 1))])
        lasts.append(covered[np.concatenate((breaks, [len(covered) - 1]))])
        offsets.append(offsets[-1] + len(breaks) + 1)
    empty = np.empty(0, dtype=np.int64)
    return Cells(
        attribute=attribute,
        leaves=leaves,
        labels=tuple(labels),
        offsets=np.array(offsets, dtype=np.int64),
        first=np.concatenate(firsts) if firsts else empty,
        last=np.concatenate(lasts) if lasts else empty,
        weights=weights,
    )


@dataclass(frozen=True, eq=False)
class _LabelReader:
    hierarchy: GeneralizationHierarchy
    nullable: bool

    @cached_property
    def named(self) -> dict[str, list[tuple[int, int]]]:
        """Levels and positions of every value of the hierarchy."""
        found: dict[str, list[tuple[int, int]]] = defaultdict(list)
        for level, values in enumerate(self.hierarchy.labels):
            for position, value in enumerate(values):
                found[value].append((level, position))
        return dict(found)

    @cached_property
    def order(self) -> LeafOrder:
        return order_leaves(self.hierarchy)

    @cached_property
    def everything(self) -> NDArray[np.int64]:
        return np.arange(len(self.hierarchy.leaves) + self.nullable)

    def codes(self, label: str | None) -> NDArray[np.int64]:
        """Return the ascending codes that a label covers; empty if the label cannot be read."""
        if label is None:
            return np.array([self.hierarchy.null_code])
        if label in self.named:
            return self._named(label)
        if label.strip() == TOP:
            return self.everything
        for read in (self._ellipsis, self._numbers, self._set, self._mean, self._stars):
            found = read(label.strip())
            if found is not None:
                return np.sort(found)
        return np.empty(0, dtype=np.int64)

    def _named(self, label: str) -> NDArray[np.int64]:
        places = self.named[label]
        if any(level == self.hierarchy.height for level, _ in places):
            return self.everything
        covered = [np.flatnonzero(self.hierarchy.ancestors[level] == index) for level, index in places]
        return covered[0] if len(covered) == 1 else np.unique(np.concatenate(covered))

    def _ellipsis(self, label: str) -> NDArray[np.int64] | None:
        """Read ``a … b`` of leaves; if leaves contain the sign, use the first split into two leaves."""
        tried = (self._leaves_between(low, high) for low, high in parse_range_label(label))
        return next((found for found in tried if found is not None), None)

    def _leaves_between(self, low: str, high: str) -> NDArray[np.int64] | None:
        codes = self.hierarchy.code_of_leaf
        if low not in codes or high not in codes:
            return None
        first, last = (int(self.order.rank[codes[end]]) for end in (low, high))
        return self.order.code[first : last + 1] if first <= last else None

    def _numbers(self, label: str) -> NDArray[np.int64] | None:
        """Read the numbers of a label, or the leaves between two leaves in brackets."""
        number_range = parse_number_range(label)
        if number_range is None:
            inner = re.fullmatch(r"[\[(](.+?)(?:, |; )(.+)[\])]", label)
            return self._leaves_between(inner.group(1), inner.group(2)) if inner else None
        inside = [
            code
            for code, number in enumerate(self._decimals)
            if number is not None and number_range.holds(number)
        ]
        return np.array(inside, dtype=np.int64) if inside else None

    @cached_property
    def _decimals(self) -> tuple[Decimal | None, ...]:
        return self.order.numbers or tuple(parse_decimal(leaf) for leaf in self.hierarchy.leaves)

    def _set(self, label: str) -> NDArray[np.int64] | None:
        if not (label.startswith("{") and label.endswith("}")):
            return None
        members = parse_set_members(label[1:-1], self.named)
        if members is None:
            return None
        return np.unique(np.concatenate([self._named(member) for member in members]))

    def _mean(self, label: str) -> NDArray[np.int64] | None:
        mean_label = parse_mean_label(label)
        if mean_label is None:
            return None
        found = self.codes(mean_label[1])
        return found if len(found) else None

    def _stars(self, label: str) -> NDArray[np.int64] | None:
        match = _STARS.fullmatch(label)
        if match is None:
            return None
        inside = [code for code, leaf in enumerate(self.hierarchy.leaves) if leaf.startswith(match["prefix"])]
        return np.array(inside, dtype=np.int64) if inside else None


def parse_set_members(text: str, named: Mapping[str, object]) -> list[str] | None:
    """Parse the members of a set, each a value of the hierarchy; values may contain commas.

    Works backwards: for each position, it finds the longest member that starts there and that the rest can
    follow.
    """
    pieces = _split_at_commas(text)
    longest = 1 + max((name.count(",") for name in named), default=0)
    member_at: list[tuple[str, int] | None] = [None] * len(pieces)
    for start in range(len(pieces) - 1, -1, -1):
        for end in range(min(start + longest, len(pieces)), start, -1):
            member = _join_pieces(pieces[start:end])
            if member is not None and member in named and (end == len(pieces) or member_at[end] is not None):
                member_at[start] = (member, end)
                break
    found: list[str] = []
    start = 0
    while start < len(pieces):
        here = member_at[start]
        if here is None:
            return None
        found.append(here[0])
        start = here[1]
    return found or None


def _split_at_commas(text: str) -> list[tuple[str, bool]]:
    """Split at commas; return pieces, and JSON strings decoded and marked with True."""
    result: list[tuple[str, bool]] = []
    rest = text.strip()
    while rest:
        if rest.startswith('"'):
            with suppress(ValueError):
                member, end = json.JSONDecoder().raw_decode(rest)
                behind = rest[end:].lstrip()
                if not behind or behind.startswith(","):
                    result.append((member, True))
                    rest = behind[1:].strip()
                    continue
        piece, _, rest = rest.partition(",")
        result.append((piece, False))
    return result


def _join_pieces(pieces: Sequence[tuple[str, bool]]) -> str | None:
    """Join several pieces to one member; a JSON string is always a separate member."""
    if any(quoted for _, quoted in pieces):
        return pieces[0][0] if len(pieces) == 1 else None
    return ",".join(text for text, _ in pieces).strip()


SUMMARIES_WITH_OCCURRING_VALUES = (Summary.RANGES, Summary.MEANS, Summary.SETS)
"""Summaries whose ends or members occur in each class."""

_ELLIPSIS = " … "


def occurring_leaves(label: str, summary: str | None, hierarchy: GeneralizationHierarchy) -> tuple[str, ...]:
    """Return the occurring leaves in order; empty for a single leaf or a label that implies none."""
    leaves = hierarchy.code_of_leaf
    if summary not in SUMMARIES_WITH_OCCURRING_VALUES or label in leaves:
        return ()
    inner = _without_mean(label, summary)
    if inner.startswith("{") and inner.endswith("}"):
        members = parse_set_members(inner[1:-1], leaves) or []
    else:
        rank = order_leaves(hierarchy).rank
        pairs = ((a, b) for a, b in parse_range_label(inner) if a in leaves and b in leaves)
        members = list(next((pair for pair in pairs if rank[leaves[pair[0]]] < rank[leaves[pair[1]]]), ()))
    return tuple(dict.fromkeys(members))


def occurring_numbers(
    label: str, summary: str | None, members: tuple[str, ...] | None
) -> tuple[Decimal, ...]:
    """Return the occurring numbers, ascending; ``members`` are those of a label that is a set."""
    if summary not in SUMMARIES_WITH_OCCURRING_VALUES:
        return ()
    if members is not None:
        numbers = {parse_decimal(member) for member in members}
        return (
            tuple(sorted(number for number in numbers if number is not None)) if None not in numbers else ()
        )
    inner = _without_mean(label, summary)
    number_range = parse_number_range(inner) if _ELLIPSIS in inner else None
    if (
        number_range is None
        or number_range.low is None
        or number_range.high is None
        or number_range.low >= number_range.high
    ):
        return ()
    return (number_range.low, number_range.high)


def _without_mean(label: str, summary: str | None) -> str:
    """Return the range or set of a label that states a mean, else the label."""
    mean_label = parse_mean_label(label) if summary == Summary.MEANS else None
    return label if mean_label is None else mean_label[1]
