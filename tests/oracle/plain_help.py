"""Oracle: the content of a help table, by enumerating every set of a group's rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

Value = Fraction | None


@dataclass(frozen=True)
class Hits:
    """Bounds of any ``hits`` rows of a group: the least and the largest, None if there is none."""

    values: tuple[int, int]
    sums: tuple[Fraction, Fraction]
    least: tuple[Value, Value]
    most: tuple[Value, Value]


def help_rows(group: Sequence[Value]) -> list[Hits]:
    """Return one entry for each number of rows from 1, by enumeration; NULL is None."""
    return [_bounds(list(combinations(group, hits))) for hits in range(1, len(group) + 1)]


def _bounds(choices: Sequence[Sequence[Value]]) -> Hits:
    known = [[v for v in choice if v is not None] for choice in choices]
    counts, sums = [len(k) for k in known], [sum(k, Fraction(0)) for k in known]
    least, most = [min(k) for k in known if k], [max(k) for k in known if k]
    return Hits(
        (min(counts), max(counts)),
        (min(sums), max(sums)),
        (min(least, default=None), max(least, default=None)),
        (min(most, default=None), max(most, default=None)),
    )


def ordered(group: Sequence[Value], *, largest_first: bool = False) -> list[Value]:
    """Sort the values in ascending, or descending, order with NULLs at the end."""
    known = sorted((v for v in group if v is not None), reverse=largest_first)
    return [*known, *[None] * (len(group) - len(known))]
