"""Compiled: two ordered attributes divided into intervals at least cost, all other attributes being divided.

The classes of the other attributes are divided further by every pair of an interval of x and one of y, the
same in each class. What a pair of intervals costs is a table, so a division costs the sum of its entries;
given the intervals of x those of y are found by dynamic programming, and the intervals of x by a search from
left to right: the least cost of what is decided, plus what the rest costs if each of its intervals may divide
y by itself, is a lower bound. ``kernels.interval_pairs_twin`` tries every division in plain Python.

An interval of values ``first … end − 1`` of ``size`` values has the number ``interval_of(first, end, size)``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.kernels.jit import compiled

Array = NDArray[Any]
BIG = 1 << 50
"""More than anything costs: what stands for an impossible interval, and can be added up."""

LABELS = 64


@compiled
def interval_of(first: int, end: int, size: int) -> int:
    """The number of an interval, from 0 to size · (size + 1) / 2 − 1."""
    return first * size - first * (first - 1) // 2 + end - first - 1


@compiled
def pair_costs(counts: Array, k: int, penalty: int, costs: Array, fails: Array) -> None:
    """Fill in what each pair of intervals costs, and the rows of it that are in classes below k.

    ``counts`` are rows by class, x and y; ``costs`` and ``fails``, shape ``(intervals of x, intervals of
    y)``, are written. A class of n rows costs n² where ``penalty``, the cost of a suppressed row, is
    positive, and −1 where it is 0: then cost counts classes. O(classes · intervals of x · those of y).
    """
    classes, wide, high = counts.shape
    costs[:] = 0
    fails[:] = 0
    row = np.empty(high, np.int64)
    for c in range(classes):
        for first in range(wide):
            row[:] = 0
            for end in range(first + 1, wide + 1):
                i = interval_of(first, end, wide)
                for v in range(high):
                    row[v] += counts[c, end - 1, v]
                j = 0
                for low in range(high):
                    held = 0
                    for v in range(low, high):
                        held += row[v]
                        short = 0 < held < k
                        costs[i, j] += penalty * held if short else (held * held if penalty else -(held > 0))
                        fails[i, j] += held * short
                        j += 1


@compiled
def divide_line(costs: Array, fails: Array, size: int, limit: int, least: Array, back: Array) -> int:
    """The least cost of dividing one attribute, each interval by itself within the limit; BIG where none is.

    ``least[v]`` becomes that of the first v values, ``back[v]`` where their last interval begins.
    """
    least[0] = 0
    for v in range(1, size + 1):
        least[v] = BIG
        back[v] = 0
        for u in range(v):
            i = interval_of(u, v, size)
            if fails[i] <= limit and least[u] < BIG and least[u] + costs[i] < least[v]:
                least[v] = least[u] + costs[i]
                back[v] = u
    return int(least[size])


@compiled
def divide_within(costs: Array, fails: Array, size: int, limit: int, starts: Array) -> tuple[int, bool]:
    """The least cost of dividing one attribute with at most ``limit`` rows failing in all.

    Of the first v values those divisions are kept that no other beats in cost and failing rows both. True
    says that there were more than fit, so that the cost is a lower bound alone; else ``starts`` is written.
    """
    cost = np.empty((size + 1, LABELS), np.int64)
    fail = np.empty((size + 1, LABELS), np.int64)
    back = np.empty((size + 1, LABELS, 2), np.int64)
    held = np.zeros(size + 1, np.int64)
    held[0], cost[0, 0], fail[0, 0] = 1, 0, 0
    crowded = False
    for v in range(1, size + 1):
        for u in range(v):
            i = interval_of(u, v, size)
            for label in range(held[u]):
                more, lost = cost[u, label] + costs[i], fail[u, label] + fails[i]
                if lost > limit:
                    continue
                beaten = False
                kept = 0
                for other in range(held[v]):
                    if cost[v, other] <= more and fail[v, other] <= lost:
                        beaten = True
                        break
                if beaten:
                    continue
                for other in range(held[v]):
                    if cost[v, other] < more or fail[v, other] < lost:
                        cost[v, kept], fail[v, kept] = cost[v, other], fail[v, other]
                        back[v, kept, 0], back[v, kept, 1] = back[v, other, 0], back[v, other, 1]
                        kept += 1
                if kept == LABELS:
                    crowded = True
                    kept -= 1
                    more, lost = min(more, cost[v, kept]), min(lost, fail[v, kept])
                cost[v, kept], fail[v, kept] = more, lost
                back[v, kept, 0], back[v, kept, 1] = u, label
                held[v] = kept + 1
    if held[size] == 0:
        return BIG, False
    best = 0
    for label in range(held[size]):
        if cost[size, label] < cost[size, best]:
            best = label
    at, label = size, best
    starts[:] = False
    while at > 0:
        at, label = back[at, label, 0], back[at, label, 1]
        starts[at] = True
    return int(cost[size, best]), crowded


@compiled
def _divide_apart(
    costs: Array, fails: Array, wide: int, high: int, limit: int, alone: Array, rest: Array
) -> None:
    """Fill in the cost of each interval of x that divides y by itself, and of the values of x from v on."""
    least, back = np.empty(high + 1, np.int64), np.empty(high + 1, np.int64)
    for i in range(costs.shape[0]):
        alone[i] = divide_line(costs[i], fails[i], high, limit, least, back)
    rest[wide] = 0
    for first in range(wide - 1, -1, -1):
        rest[first] = BIG
        for end in range(first + 1, wide + 1):
            i = interval_of(first, end, wide)
            if alone[i] < BIG and rest[end] < BIG:
                rest[first] = min(rest[first], alone[i] + rest[end])


@compiled
def _close(
    cost: Array, fail: Array, high: int, limit: int, back: Array, marks: Array, found: int
) -> tuple[int, bool]:
    """The cost of a whole division of x, ``found`` without a limit, and the starts of y in ``marks``."""
    if limit:
        return divide_within(cost, fail, high, limit, marks)
    marks[:] = False
    at = high
    while at > 0:
        at = back[at]
        marks[at] = True
    return found, False


@compiled
def divide_pair(
    costs: Array,
    fails: Array,
    wide: int,
    high: int,
    limit: int,
    below: int,
    budget: int,
    x_starts: Array,
    y_starts: Array,
) -> tuple[int, int, int]:
    """The least cost of dividing x and y that is less than ``below``, a lower bound, and the nodes visited.

    Cost BIG: nothing below was found. After ``budget`` nodes the search ends; the bound is then less than
    the cost and than ``below``. The values that start intervals are marked in ``x_starts`` and ``y_starts``.
    """
    lines = costs.shape[1]
    least, back = np.empty(high + 1, np.int64), np.empty(high + 1, np.int64)
    alone, rest = np.empty(costs.shape[0], np.int64), np.empty(wide + 1, np.int64)
    _divide_apart(costs, fails, wide, high, limit, alone, rest)
    lower, best, nodes, crowded = rest[0], BIG, 0, False
    if lower >= below:
        return BIG, int(lower), nodes
    cost, fail = np.zeros((wide + 1, lines), np.int64), np.zeros((wide + 1, lines), np.int64)
    begin, end_of = np.zeros(wide + 1, np.int64), np.zeros(wide + 1, np.int64)
    marks = np.zeros(high, np.bool_)
    depth = 0
    end_of[0] = 0
    while depth >= 0:
        end_of[depth] += 1
        end = end_of[depth]
        if end > wide:
            depth -= 1
            continue
        i = interval_of(begin[depth], end, wide)
        if alone[i] >= BIG or rest[end] >= BIG:
            continue
        nodes += 1
        if nodes > budget:
            return int(best), int(min(lower, best, below)), nodes
        for j in range(lines):
            cost[depth + 1, j] = cost[depth, j] + costs[i, j]
            fail[depth + 1, j] = fail[depth, j] + fails[i, j]
        found = divide_line(cost[depth + 1], fail[depth + 1], high, limit, least, back)
        if found >= BIG or found + rest[end] >= min(below, best):
            continue
        if end < wide:
            depth += 1
            begin[depth] = end
            end_of[depth] = end
            continue
        found, over = _close(cost[depth + 1], fail[depth + 1], high, limit, back, marks, found)
        crowded |= over and found < min(below, best)
        if over or found >= min(below, best):
            continue
        best = found
        for j in range(high):
            y_starts[j] = marks[j]
        x_starts[:] = False
        for d in range(depth + 1):
            x_starts[begin[d]] = True
    if crowded:
        return int(best), int(min(lower, best, below)), nodes
    return int(best), int(min(best, below)), nodes


@compiled
def divide_boxes(counts: Array, k: int, penalty: int, limit: int, budget: int, found: Array) -> None:
    """Fill in a lower bound of each box's cost by itself, x and y being divided without regard to others.

    ``counts`` are rows by box, x and y; ``found`` is written. Suppressed rows of a box are not limited but
    for those of one pair of intervals. Where the search ends within ``budget`` nodes and ``limit`` is 0, it
    is the least cost.
    """
    boxes, wide, high = counts.shape
    costs = np.empty((wide * (wide + 1) // 2, high * (high + 1) // 2), np.int64)
    fails = np.empty_like(costs)
    x_starts, y_starts = np.empty(wide, np.bool_), np.empty(high, np.bool_)
    alone, rest = np.empty(costs.shape[0], np.int64), np.empty(wide + 1, np.int64)
    for b in range(boxes):
        rows = counts[b].sum()
        if rows == 0:
            found[b] = 0
        elif rows < k:
            found[b] = rows * penalty if rows <= limit else BIG
        elif rows < 2 * k and limit == 0:
            found[b] = rows * rows if penalty else -1
        else:
            pair_costs(counts[b : b + 1], k, penalty, costs, fails)
            if limit:
                _divide_apart(costs, fails, wide, high, limit, alone, rest)
                found[b] = rest[0]
            else:
                found[b] = divide_pair(costs, fails, wide, high, 0, BIG, budget, x_starts, y_starts)[1]
