"""The divisions of ``kernels.interval_pairs`` in plain numpy, with fewer bounds."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Interval = tuple[int, int]
_BIG = 1 << 50


def intervals_twin(size: int) -> list[Interval]:
    """Every interval, by its number."""
    return [(first, end) for first in range(size) for end in range(first + 1, size + 1)]


def divisions(size: int) -> Iterator[tuple[int, ...]]:
    """The starts of every division of ``size`` values into intervals."""
    for cuts in range(size):
        for chosen in combinations(range(1, size), cuts):
            yield (0, *chosen)


def pair_costs_twin(counts: Array, k: int, penalty: int) -> tuple[Array, Array]:
    """Costs and failing rows by interval of x and interval of y, as ``pair_costs`` writes them."""
    _, wide, high = counts.shape
    x, y = intervals_twin(wide), intervals_twin(high)
    held = np.array([[counts[:, a:b, u:v].sum(axis=(1, 2)) for u, v in y] for a, b in x])
    failing = (held > 0) & (held < k)
    kept = held * held if penalty else -(held >= k).astype(np.int64)
    return np.where(failing, held * penalty, kept).sum(axis=2), (held * failing).sum(axis=2)


def divide_pair_twin(
    costs: Array, fails: Array, wide: int, high: int, limit: int, below: int
) -> tuple[int, tuple[int, ...], tuple[int, ...]]:
    """The least cost below ``below`` and its starts of x and y; cost 2^50 where there is none."""
    numbers = {interval: i for i, interval in enumerate(intervals_twin(wide))}
    best: tuple[int, tuple[int, ...], tuple[int, ...]] = (_BIG, (), ())
    for x in divisions(wide):
        chosen = [numbers[interval] for interval in pairwise((*x, wide))]
        found = _divide_line(costs[chosen].sum(axis=0), fails[chosen].sum(axis=0), high, limit)
        if found is not None and found[0] < min(below, best[0]):
            best = found[0], x, found[1]
    return best


def _divide_line(costs: Array, fails: Array, size: int, limit: int) -> tuple[int, tuple[int, ...]] | None:
    """The least cost of one attribute with at most ``limit`` rows failing, and its starts."""
    kept: list[dict[int, tuple[int, tuple[int, ...]]]] = [{0: (0, ())}, *({} for _ in range(size))]
    for i, (first, end) in sorted(enumerate(intervals_twin(size)), key=lambda each: each[1][0]):
        for lost, (cost, starts) in kept[first].items():
            now, more = lost + int(fails[i]), cost + int(costs[i])
            if now <= limit and (now not in kept[end] or more < kept[end][now][0]):
                kept[end][now] = more, (*starts, first)
    return min(kept[size].values(), default=None)
