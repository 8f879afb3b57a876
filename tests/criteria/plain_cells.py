"""Oracle for LKC-privacy in plain Python, group by group, with the classes that it suppresses."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

from discreet.model.criteria.lkc_privacy import LKCPrivacy


@dataclass(frozen=True)
class PlainClass:
    """A class: its cells, and the sensitive values of each row (None is no value)."""

    cells: tuple[object, ...]
    rows: tuple[tuple[object, ...], ...]


def groups_of(classes: Sequence[PlainClass], known: int, fewest: int | None = None) -> list[list[int]]:
    """Return the classes of each group that an attacker finds by knowing ``fewest`` to ``known`` cells."""
    width = len(classes[0].cells) if classes else 0
    found = []
    for number in range(fewest or known, known + 1):
        for places in combinations(range(width), min(number, width)):
            groups = defaultdict(list)
            for i, one in enumerate(classes):
                groups[tuple(one.cells[p] for p in places)].append(i)
            found += list(groups.values())
    return found


def score_of(rows: Sequence[tuple[object, ...]], confidence: float) -> int:
    """Return the row count of a group, or 0 if one of their values is too likely or no value is known."""
    if confidence < 1:
        for values in zip(*rows, strict=True):
            known_values = Counter(value for value in values if value is not None)
            if not known_values or Fraction(max(known_values.values()), known_values.total()) > Fraction(
                str(confidence)
            ):
                return 0
    return len(rows)


def plain_score(criterion: LKCPrivacy, classes: Sequence[PlainClass]) -> int | None:
    """Return the least score over the groups of the published classes, or None if there is no class."""
    scores = [
        score_of([row for i in group for row in classes[i].rows], criterion.confidence)
        for group in groups_of(classes, criterion.known, 1)
    ]
    return min(scores, default=None)


def plain_left(criterion: LKCPrivacy, classes: Sequence[PlainClass], value: int | None = None) -> list[int]:
    """Return the positions of the classes that remain.

    Groups that fail are suppressed together, from the smallest value of the criterion upwards.
    """
    left = [i for i, one in enumerate(classes) if one.rows]
    for least in range(1, (criterion.value if value is None else value) + 1):
        while True:
            some = [classes[i] for i in left]
            gone: set[int] = set()
            for group in groups_of(some, criterion.known):
                if score_of([row for i in group for row in some[i].rows], criterion.confidence) < least:
                    gone |= set(group)
            if not gone:
                break
            left = [i for place, i in enumerate(left) if place not in gone]
    return left
