"""Domains of attributes, and the region of a predicate: disjoint boxes of attribute values.

A number compares with the number that a value's text states (``20`` equals ``20.0``), a text with the text.
Values are ranked once by number and by text; a comparison is two bisections and one pass over ranks. A box
has the selected codes of some attributes, and every code of the others. AND intersects boxes, OR unites
them, NOT is pushed down to the comparisons, where it selects the codes for which the comparison is false,
so NULL is excluded. Boxes are disjoint, so sums over them count nothing twice; more than a thousand are
rejected.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError
from discreet.model.hierarchy import parse_decimal
from discreet.queries.aggregate_query import (
    And,
    Atom,
    Everything,
    Interval,
    IsNull,
    Members,
    Not,
    Or,
    Predicate,
)


@dataclass(frozen=True, eq=False)
class AttributeDomain:
    """Texts of an attribute's values, by code; NULL has the code after the last."""

    attribute: str
    texts: tuple[str, ...]

    @property
    def null_code(self) -> int:
        """Code of NULL."""
        return len(self.texts)

    @cached_property
    def numbers(self) -> NDArray[np.float64]:
        """Number that each text states, NaN for none, shape ``(values,)``."""
        return np.array([np.nan if n is None else float(n) for n in self._decimals], dtype=np.float64)

    @cached_property
    def is_numeric(self) -> bool:
        """True if there is a value, and every text states a number."""
        return bool(self.texts) and None not in self._decimals

    def selected(self, atom: Atom) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Return masks of the codes for which a comparison is true, and for which it is false.

        Both have shape ``(values + 1,)``, NULL last.
        """
        true = np.zeros(self.null_code + 1, dtype=np.bool_)
        if isinstance(atom, IsNull):
            true[-1] = True
            return true, ~true
        if isinstance(atom, Members):
            known = self._select_members(atom, true)
        else:
            known = self._select_interval(atom, true)
        return true, known & ~true

    def _select_members(self, atom: Members, true: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Mark values equal to a member in ``true``; return a mask of those comparable with every member."""
        known = np.ones_like(true)
        known[-1] = False
        for value in atom.values:
            ordered = self._by_text if isinstance(value, str) else self._by_number
            index = bisect_left(ordered.values, value)
            if index < len(ordered.values) and ordered.values[index] == value:
                true[:-1] |= ordered.ranks == index
            known[:-1] &= ordered.ranks >= 0
        return known | true

    def _select_interval(self, atom: Interval, true: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Mark values between the ends in ``true``; return a mask of the values comparable with them."""
        is_text = isinstance(atom.low if atom.low is not None else atom.high, str)
        ordered = self._by_text if is_text else self._by_number
        first, last = 0, len(ordered.values)
        if atom.low is not None:
            first = (bisect_left if atom.low_closed else bisect_right)(ordered.values, atom.low)
        if atom.high is not None:
            last = (bisect_right if atom.high_closed else bisect_left)(ordered.values, atom.high)
        true[:-1] = (first <= ordered.ranks) & (ordered.ranks < last)
        return np.append(ordered.ranks >= 0, False)

    @cached_property
    def _decimals(self) -> tuple[Decimal | None, ...]:
        return tuple(parse_decimal(text) for text in self.texts)

    @cached_property
    def _by_text(self) -> _RankedValues:
        return _RankedValues.of(self.texts)

    @cached_property
    def _by_number(self) -> _RankedValues:
        return _RankedValues.of(self._decimals)


@dataclass(frozen=True, eq=False)
class _RankedValues:
    """Distinct values in order, and the rank of each code; -1 for none."""

    values: Sequence[Any]
    ranks: NDArray[np.int64]

    @classmethod
    def of(cls, values: Sequence[Any]) -> _RankedValues:
        ordered = sorted({value for value in values if value is not None})
        rank = {value: index for index, value in enumerate(ordered)}
        ranks = [-1 if value is None else rank[value] for value in values]
        return cls(ordered, np.array(ranks, dtype=np.int64))


Mask = NDArray[np.bool_]
Box = Mapping[str, Mask]
"""Selected codes by attribute, shape ``(values + 1,)``, NULL last; missing attributes are unrestricted."""

MOST_BOXES = 1000


def find_region(predicate: Predicate, domains: Mapping[str, AttributeDomain]) -> tuple[Box, ...]:
    """Return the disjoint boxes of a predicate; empty if it is never true.

    Raises ``InputError`` for an attribute without a domain, or for more than a thousand boxes.
    """
    return tuple(_boxes_of_predicate(predicate, domains, True))


def restrict_region(region: Sequence[Box], attribute: str, mask: Mask) -> tuple[Box, ...]:
    """Restrict a region to selected codes of an attribute."""
    return tuple(unite_boxes(intersect_regions(region, [{attribute: mask}])))


def _boxes_of_predicate(
    predicate: Predicate, domains: Mapping[str, AttributeDomain], wanted: bool
) -> list[Box]:
    """Return disjoint boxes in which a predicate is true, or false if ``wanted`` is False."""
    if isinstance(predicate, Everything):
        return [{}] if wanted else []
    if isinstance(predicate, Not):
        return _boxes_of_predicate(predicate.of, domains, not wanted)
    if isinstance(predicate, And | Or):
        parts = [_boxes_of_predicate(part, domains, wanted) for part in predicate.parts]
        if isinstance(predicate, And) == wanted:
            result: list[Box] = [{}]
            for part in parts:
                result = intersect_regions(result, part)
            return result
        return unite_boxes([box for part in parts for box in part])
    true, false = _domain_of(predicate, domains).selected(predicate)
    mask = true if wanted else false
    return [{predicate.attribute: mask}] if mask.any() else []


def _domain_of(atom: Atom, domains: Mapping[str, AttributeDomain]) -> AttributeDomain:
    if atom.attribute not in domains:
        raise InputError(
            f"a query refers to the unknown column '{atom.attribute}'", allowed=", ".join(domains)
        )
    return domains[atom.attribute]


def intersect_regions(first: Sequence[Box], second: Sequence[Box]) -> list[Box]:
    """Return the nonempty pairwise intersections of disjoint boxes."""
    result: list[Box] = []
    for a in first:
        for b in second:
            box = {**a, **{name: a[name] & mask if name in a else mask for name, mask in b.items()}}
            if all(mask.any() for mask in box.values()):
                result.append(box)
                _check_box_count(len(result))
    return result


def unite_boxes(boxes: Sequence[Box]) -> list[Box]:
    """Return disjoint boxes with the same union."""
    result: list[Box] = []
    for box in boxes:
        rest = [box]
        for earlier in result:
            rest = [piece for part in rest for piece in _subtract_box(part, earlier)]
            _check_box_count(len(result) + len(rest))
        result += rest
    return result


def _subtract_box(box: Box, other: Box) -> list[Box]:
    """Subtract a box from another; return disjoint boxes, one per attribute with a remainder."""
    if any(not (box[name] & mask).any() for name, mask in other.items() if name in box):
        return [box]
    result: list[Box] = []
    inside = dict(box)
    for name, mask in other.items():
        here = inside.get(name, np.ones_like(mask))
        outside = here & ~mask
        if outside.any():
            result.append({**inside, name: outside})
        inside[name] = here & mask
    return result


def _check_box_count(boxes: int) -> None:
    if boxes > MOST_BOXES:
        raise InputError(
            f"the query's OR yields more than {MOST_BOXES:,} boxes",
            advice="Split it into several queries with fewer alternatives.",
        )
