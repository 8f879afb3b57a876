"""Numpy twins of the kernels ``hit_bounds``, ``interval_pairs`` and ``minimal_uniques``.

Oracles of the tests and fallback without numba. Imported at start by ``bounds`` and ``taxonomy``, so that
nothing here imports numba.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import combinations, pairwise
from math import comb
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

NO_HIT = (1 << 63) - 1
"""Initial least value of a key without hits; its negative is the initial largest."""


class SortedGroupValues(NamedTuple):
    """Sorted values of every group, one group after the other.

    Group ``first`` + i has ``values[starts[i]:starts[i + 1]]``, ascending; ``upto[j]`` is the sum of the
    first j values of all.
    """

    first: int
    starts: Array
    values: Array
    upto: Array


class HitBounds(NamedTuple):
    """Bounds of aggregates over hits, by key: arrays of shape ``(keys,)``; ``ends`` of ``(keys, 6)``.

    ``sum_lower`` and ``sum_upper`` bound the sum, ``expected`` is its expectation. ``ends`` contains the
    lower bound, upper bound and expectation of the least value among the hits, then those of the largest
    value.
    """

    hits: Array
    sum_lower: Array
    sum_upper: Array
    expected: Array
    ends: Array

    @classmethod
    def of_none(cls, keys: int) -> HitBounds:
        """Return the bounds of keys without hits."""
        hits, lower, upper = np.zeros((3, keys), dtype=np.int64)
        return cls(hits, lower, upper, np.zeros(keys), np.tile([NO_HIT] * 3 + [-NO_HIT] * 3, (keys, 1)))


def bound_hits_twin(packed: Array, bits: int, grouped: SortedGroupValues, bounds: HitBounds) -> None:
    """Add the bounds of hits as ``hit_bounds.bound_hits`` does; hits may be in any order."""
    pairs, hits = np.unique(packed.astype(np.int64), return_counts=True)
    group, key = (pairs >> bits) - grouped.first, pairs & ((1 << bits) - 1)
    begin, end = grouped.starts[group], grouped.starts[group + 1]
    rows, upto, values = end - begin, grouped.upto, grouped.values
    total = (upto[end] - upto[begin]).astype(np.float64)
    np.add.at(bounds.hits, key, hits)
    np.add.at(bounds.sum_lower, key, upto[begin + hits] - upto[begin])
    np.add.at(bounds.sum_upper, key, upto[end] - upto[end - hits])
    np.add.at(bounds.expected, key, hits * total / rows)
    rank = np.floor((rows + 1.0) / (hits + 1) + 0.5).astype(np.int64)
    rank = np.clip(rank, 1, rows)
    for slot, line in enumerate((begin, end - hits, begin + rank - 1)):
        np.minimum.at(bounds.ends[:, slot], key, values[line])
    for slot, line in enumerate((begin + hits - 1, end - 1, end - rank)):
        np.maximum.at(bounds.ends[:, 3 + slot], key, values[line])


ValueInterval = tuple[int, int]
_INFEASIBLE_COST = 1 << 50


def list_intervals(size: int) -> list[ValueInterval]:
    """Return every interval, in the order of their numbers."""
    return [(first, end) for first in range(size) for end in range(first + 1, size + 1)]


def list_divisions(size: int) -> Iterator[tuple[int, ...]]:
    """Yield the starts of every division of ``size`` values into intervals."""
    for cuts in range(size):
        for chosen in combinations(range(1, size), cuts):
            yield (0, *chosen)


def compute_pair_costs_twin(counts: Array, k: int, penalty: int) -> tuple[Array, Array]:
    """Return costs and failing rows by interval of x and of y, as ``compute_pair_costs`` writes them."""
    _, wide, high = counts.shape
    x, y = list_intervals(wide), list_intervals(high)
    class_rows = np.array([[counts[:, a:b, u:v].sum(axis=(1, 2)) for u, v in y] for a, b in x])
    failing = (class_rows > 0) & (class_rows < k)
    cost = class_rows * class_rows if penalty else -(class_rows >= k).astype(np.int64)
    return np.where(failing, class_rows * penalty, cost).sum(axis=2), (class_rows * failing).sum(axis=2)


def divide_pair_twin(
    costs: Array, fails: Array, wide: int, high: int, limit: int, below: int
) -> tuple[int, tuple[int, ...], tuple[int, ...]]:
    """Return the least cost below ``below`` and its starts of x and y; cost 2^50 if there is none."""
    numbers = {interval: i for i, interval in enumerate(list_intervals(wide))}
    best: tuple[int, tuple[int, ...], tuple[int, ...]] = (_INFEASIBLE_COST, (), ())
    for x in list_divisions(wide):
        chosen = [numbers[interval] for interval in pairwise((*x, wide))]
        found = _divide_line(costs[chosen].sum(axis=0), fails[chosen].sum(axis=0), high, limit)
        if found is not None and found[0] < min(below, best[0]):
            best = found[0], x, found[1]
    return best


def _divide_line(costs: Array, fails: Array, size: int, limit: int) -> tuple[int, tuple[int, ...]] | None:
    """Return the least cost of one attribute with at most ``limit`` failing rows, and its starts."""
    best: list[dict[int, tuple[int, tuple[int, ...]]]] = [{0: (0, ())}, *({} for _ in range(size))]
    for i, (first, end) in sorted(enumerate(list_intervals(size)), key=lambda each: each[1][0]):
        for lost, (cost, starts) in best[first].items():
            now, more = lost + int(fails[i]), cost + int(costs[i])
            if now <= limit and (now not in best[end] or more < best[end][now][0]):
                best[end][now] = more, (*starts, first)
    return min(best[size].values(), default=None)


def find_minimal_uniques_twin(
    codes: Array, single: Array, largest: int, progress: Callable[[int, int], None] | None = None
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Find all minimal sets of up to ``largest`` columns; return row types and masks.

    ``codes`` has shape ``(columns, row types)``; ``single`` marks row types of one row.
    """
    width = len(codes)
    alone_by: dict[tuple[int, ...], Array] = {}
    rows, masks = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
    total, done = sum(comb(width, size) for size in range(1, largest + 1)), 0
    for size in range(1, largest + 1):
        for chosen in combinations(range(width), size):
            uniques = _find_unique(codes[list(chosen)], single)
            minimal = uniques.copy()
            for smaller in combinations(chosen, size - 1):
                if smaller:
                    minimal &= ~alone_by[smaller]
            alone_by[chosen] = uniques
            places = np.flatnonzero(minimal)
            rows.append(places)
            masks.append(np.full(len(places), sum(1 << column for column in chosen)))
            done += 1
            if progress is not None:
                progress(done, total)
        for smaller in combinations(range(width), size - 1):
            alone_by.pop(smaller, None)
    return np.concatenate(rows), np.concatenate(masks)


def _find_unique(codes: Array, single: Array) -> NDArray[np.bool_]:
    """Return the row types of one row that share these columns' values with no other row type."""
    order = np.lexsort(codes)
    ordered = codes[:, order]
    differs = (ordered[:, 1:] != ordered[:, :-1]).any(axis=0)
    edge = np.concatenate(([True], differs, [True]))
    result = np.empty(codes.shape[1], dtype=np.bool_)
    result[order] = edge[:-1] & edge[1:]
    result &= single.astype(np.bool_)
    return result
