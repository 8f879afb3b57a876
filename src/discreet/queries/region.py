"""The region of a predicate: disjoint boxes of attribute values, the rows of which the predicate is true.

A box holds, for some attributes, the codes that are selected, and every code of all others. AND intersects
boxes and OR joins them; NOT is pushed down to the comparisons, where it selects what the comparison is false
of (so NULL, of which it is unknown, stays out, as in SQL). Boxes are kept disjoint: what a box adds to the
boxes before it is cut into boxes. So sums over boxes count nothing twice. Nested OR can make many boxes; more
than a thousand are refused.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError
from discreet.queries.domain import Domain
from discreet.queries.predicate import And, Atom, Everything, Not, Or, Predicate

Mask = NDArray[np.bool_]
Box = Mapping[str, Mask]
"""Selected codes by attribute, shape ``(values + 1,)`` with NULL last; an attribute left out is unbounded."""

MOST_BOXES = 1000


def region_of(predicate: Predicate, domains: Mapping[str, Domain]) -> tuple[Box, ...]:
    """The disjoint boxes of a predicate, none where it is true of nothing.

    ``InputError`` for an attribute without a domain, or where there would be over a thousand boxes.
    """
    return tuple(_boxes(predicate, domains, True))


def restricted(region: Sequence[Box], attribute: str, mask: Mask) -> tuple[Box, ...]:
    """A region in which an attribute has selected codes only."""
    return tuple(union(intersection(region, [{attribute: mask}])))


def _boxes(predicate: Predicate, domains: Mapping[str, Domain], wanted: bool) -> list[Box]:
    """Disjoint boxes where a predicate is true, or false where not ``wanted``."""
    if isinstance(predicate, Everything):
        return [{}] if wanted else []
    if isinstance(predicate, Not):
        return _boxes(predicate.of, domains, not wanted)
    if isinstance(predicate, And | Or):
        parts = [_boxes(part, domains, wanted) for part in predicate.parts]
        if isinstance(predicate, And) == wanted:
            found: list[Box] = [{}]
            for part in parts:
                found = intersection(found, part)
            return found
        return union([box for part in parts for box in part])
    true, false = _domain_of(predicate, domains).selected(predicate)
    mask = true if wanted else false
    return [{predicate.attribute: mask}] if mask.any() else []


def _domain_of(atom: Atom, domains: Mapping[str, Domain]) -> Domain:
    if atom.attribute not in domains:
        raise InputError(
            f"a query names '{atom.attribute}', of which nothing is known", allowed=", ".join(domains)
        )
    return domains[atom.attribute]


def intersection(first: Sequence[Box], second: Sequence[Box]) -> list[Box]:
    """The pairwise intersections of disjoint boxes, empty ones left out."""
    found: list[Box] = []
    for a in first:
        for b in second:
            box = {**a, **{name: a[name] & mask if name in a else mask for name, mask in b.items()}}
            if all(mask.any() for mask in box.values()):
                found.append(box)
                _check(len(found))
    return found


def union(boxes: Sequence[Box]) -> list[Box]:
    """Disjoint boxes with the same union."""
    found: list[Box] = []
    for box in boxes:
        rest = [box]
        for earlier in found:
            rest = [piece for part in rest for piece in _without(part, earlier)]
            _check(len(found) + len(rest))
        found += rest
    return found


def _without(box: Box, other: Box) -> list[Box]:
    """A box less another, as disjoint boxes: attribute by attribute, what lies outside the other."""
    if any(not (box[name] & mask).any() for name, mask in other.items() if name in box):
        return [box]
    found: list[Box] = []
    inside = dict(box)
    for name, mask in other.items():
        here = inside.get(name, np.ones_like(mask))
        outside = here & ~mask
        if outside.any():
            found.append({**inside, name: outside})
        inside[name] = here & mask
    return found


def _check(boxes: int) -> None:
    if boxes > MOST_BOXES:
        raise InputError(
            f"a query's OR makes more than {MOST_BOXES:,} boxes",
            advice="Ask several queries with fewer alternatives each.",
        )
