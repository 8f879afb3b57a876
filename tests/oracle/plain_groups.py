"""Oracle: partitions into groups by enumeration: over subsets of rows, sets of cuts, and set partitions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import combinations, pairwise
from typing import Any

Rank = tuple[Any, ...]
Demand = tuple[int, int]


def meets(group: Sequence[int], demand: Demand) -> bool:
    return len(set(group)) >= demand[0] and max(group) - min(group) >= demand[1]


def set_partitions(rows: list[int]) -> Iterator[list[list[int]]]:
    """Return every partition of the rows; rows of one value are different rows."""
    if not rows:
        yield []
        return
    first, rest = rows[0], rows[1:]
    for size in range(len(rest) + 1):
        for chosen in combinations(range(len(rest)), size):
            others = [value for place, value in enumerate(rest) if place not in chosen]
            for partition in set_partitions(others):
                yield [[first, *(rest[place] for place in chosen)], *partition]


def by_sum(groups: Sequence[Sequence[int]]) -> Rank:
    """Rank by the least sum of ranges, then the most groups, then the least sum of squared sizes."""
    return (sum(max(g) - min(g) for g in groups), -len(groups), sum(len(g) ** 2 for g in groups))


def best_partition(values: Sequence[int], demand: Demand, first: Demand, objective: str) -> Rank | None:
    """Return the best of all set partitions, by recursion over the subsets of remaining rows.

    ``objective`` is ``sum`` (ranked as ``by_sum``) or ``max``. The group of the first of the smallest rows
    needs ``first``, all others ``demand``.
    """
    rows = sorted(values)
    size = len(rows)
    groups: list[tuple[int, bool, bool]] = [(0, False, False)] * (1 << size)
    for mask in range(1, 1 << size):
        own = [rows[i] for i in range(size) if mask >> i & 1]
        groups[mask] = (own[-1] - own[0], meets(own, demand), meets(own, first))
    best: list[Rank | None] = [None] * (1 << size)
    best[0] = (0, 0, 0) if objective == "sum" else (0,)
    full = (1 << size) - 1
    for mask in range(1, full + 1):
        lowest = mask & -mask
        rest = mask ^ lowest
        part = rest
        while True:
            group, other = part | lowest, best[rest ^ part]
            if other is not None and groups[group][2 if lowest == 1 else 1]:
                width = groups[group][0]
                if objective == "sum":
                    found: Rank = (other[0] + width, other[1] - 1, other[2] + group.bit_count() ** 2)
                else:
                    found = (max(other[0], width),)
                if best[mask] is None or found < best[mask]:  # type: ignore[operator]
                    best[mask] = found
            if part == 0:
                break
            part = (part - 1) & rest
    return best[full]


def best_cuts(
    values: Sequence[int], demand: Demand, first: Demand, rank: Callable[[list[list[int]]], Rank]
) -> Rank | None:
    """Return the best of all ways to cut the sorted rows."""
    rows = sorted(values)
    best: Rank | None = None
    for mask in range(1 << (len(rows) - 1)):
        places = [0, *(i for i in range(1, len(rows)) if mask >> (i - 1) & 1), len(rows)]
        groups = [rows[i:j] for i, j in pairwise(places)]
        if meets(groups[0], first) and all(meets(group, demand) for group in groups[1:]):
            found = rank(groups)
            best = found if best is None else min(best, found)
    return best


def by_maximum(groups: Sequence[Sequence[int]]) -> Rank:
    """Rank by the least maximum range, then the least sum, then the most groups."""
    spans = [max(g) - min(g) for g in groups]
    return (max(spans), sum(spans), -len(groups))


def by_weight(groups: Sequence[Sequence[int]]) -> Rank:
    """Rank by the least sum of ranges, each times the group's rows."""
    return (sum(len(g) * (max(g) - min(g)) for g in groups),)
