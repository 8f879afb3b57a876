"""Compiled optimal division of two ordered attributes into intervals, given the division of all others.

Intervals of y by dynamic programming, intervals of x by branch and bound. Twin: ``numpy_twins``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.kernels.numba_jit import compiled

Array = NDArray[Any]
INFEASIBLE_COST = 1 << 50
"""Cost of an impossible interval: above any cost, and small enough to be added up."""

LABEL_LIMIT = 64


@compiled
def number_interval(first: int, end: int, size: int) -> int:
    """Return the number of an interval, from 0 to size · (size + 1) / 2 − 1."""
    return first * size - first * (first - 1) // 2 + end - first - 1


@compiled
def compute_pair_costs(counts: Array, k: int, penalty: int, costs: Array, fails: Array) -> None:
    """Fill in the cost of each pair of intervals, and its rows in classes below k.

    ``counts`` are rows by class, x and y; ``costs`` and ``fails``, shape ``(intervals of x, intervals of
    y)``, are written. A class of n rows costs n² if ``penalty``, the cost of a suppressed row, is positive,
    and −1 if it is 0: then the cost counts classes. O(classes · intervals of x · intervals of y).
    """
    classes, wide, high = counts.shape
    costs[:] = 0
    fails[:] = 0
    row = np.empty(high, np.int64)
    for c in range(classes):
        for first in range(wide):
            row[:] = 0
            for end in range(first + 1, wide + 1):
                i = number_interval(first, end, wide)
                for v in range(high):
                    row[v] += counts[c, end - 1, v]
                j = 0
                for low in range(high):
                    class_rows = 0
                    for v in range(low, high):
                        class_rows += row[v]
                        short = 0 < class_rows < k
                        costs[i, j] += (
                            penalty * class_rows
                            if short
                            else (class_rows * class_rows if penalty else -(class_rows > 0))
                        )
                        fails[i, j] += class_rows * short
                        j += 1


@compiled
def divide_line(costs: Array, fails: Array, size: int, limit: int, least: Array, back: Array) -> int:
    """Return the least cost of dividing one attribute, each interval within the limit separately.

    ``INFEASIBLE_COST`` if no division is. ``least[v]`` becomes the cost of the first v values, ``back[v]``
    the begin of their last interval.
    """
    least[0] = 0
    for v in range(1, size + 1):
        least[v] = INFEASIBLE_COST
        back[v] = 0
        for u in range(v):
            i = number_interval(u, v, size)
            if fails[i] <= limit and least[u] < INFEASIBLE_COST and least[u] + costs[i] < least[v]:
                least[v] = least[u] + costs[i]
                back[v] = u
    return int(least[size])


@compiled
def divide_within(costs: Array, fails: Array, size: int, limit: int, starts: Array) -> tuple[int, bool]:
    """Return the least cost of dividing one attribute with at most ``limit`` failing rows in total.

    Of the first v values the divisions are kept that no other beats in both cost and failing rows. The second
    result is true if they did not fit, so that the cost is only a lower bound; else ``starts`` is written.
    """
    cost = np.empty((size + 1, LABEL_LIMIT), np.int64)
    fail = np.empty((size + 1, LABEL_LIMIT), np.int64)
    back = np.empty((size + 1, LABEL_LIMIT, 2), np.int64)
    previous = np.zeros(size + 1, np.int64)
    previous[0], cost[0, 0], fail[0, 0] = 1, 0, 0
    crowded = False
    for v in range(1, size + 1):
        for u in range(v):
            i = number_interval(u, v, size)
            for label in range(previous[u]):
                more, lost = cost[u, label] + costs[i], fail[u, label] + fails[i]
                if lost > limit:
                    continue
                beaten = False
                count = 0
                for other in range(previous[v]):
                    if cost[v, other] <= more and fail[v, other] <= lost:
                        beaten = True
                        break
                if beaten:
                    continue
                for other in range(previous[v]):
                    if cost[v, other] < more or fail[v, other] < lost:
                        cost[v, count], fail[v, count] = cost[v, other], fail[v, other]
                        back[v, count, 0], back[v, count, 1] = back[v, other, 0], back[v, other, 1]
                        count += 1
                # The list is full: merge the new label with the last one, optimistically, which keeps a lower
                # bound.
                if count == LABEL_LIMIT:
                    crowded = True
                    count -= 1
                    more, lost = min(more, cost[v, count]), min(lost, fail[v, count])
                cost[v, count], fail[v, count] = more, lost
                back[v, count, 0], back[v, count, 1] = u, label
                previous[v] = count + 1
    if previous[size] == 0:
        return INFEASIBLE_COST, False
    best = 0
    for label in range(previous[size]):
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
    costs: Array, fails: Array, wide: int, high: int, limit: int, separate: Array, rest: Array
) -> None:
    """Fill in the cost of each interval of x that divides y separately, and of the values of x from v on."""
    least, back = np.empty(high + 1, np.int64), np.empty(high + 1, np.int64)
    for i in range(costs.shape[0]):
        separate[i] = divide_line(costs[i], fails[i], high, limit, least, back)
    rest[wide] = 0
    for first in range(wide - 1, -1, -1):
        rest[first] = INFEASIBLE_COST
        for end in range(first + 1, wide + 1):
            i = number_interval(first, end, wide)
            if separate[i] < INFEASIBLE_COST and rest[end] < INFEASIBLE_COST:
                rest[first] = min(rest[first], separate[i] + rest[end])


@compiled
def _close(
    cost: Array, fail: Array, high: int, limit: int, back: Array, marks: Array, result: int
) -> tuple[int, bool]:
    """Return the cost of a whole division of x (``result`` without a limit); mark y's starts in ``marks``."""
    if limit:
        return divide_within(cost, fail, high, limit, marks)
    marks[:] = False
    at = high
    while at > 0:
        at = back[at]
        marks[at] = True
    return result, False


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
    """Find the least cost below ``below`` of dividing x and y; return it, a lower bound, and visited nodes.

    The cost is ``INFEASIBLE_COST`` if nothing below was found. After ``budget`` nodes the search ends; the
    bound is then less than the cost and than ``below``. The values that start intervals are marked in
    ``x_starts`` and ``y_starts``.
    """
    lines = costs.shape[1]
    least, back = np.empty(high + 1, np.int64), np.empty(high + 1, np.int64)
    separate, rest = np.empty(costs.shape[0], np.int64), np.empty(wide + 1, np.int64)
    _divide_apart(costs, fails, wide, high, limit, separate, rest)
    lower, best, nodes, crowded = rest[0], INFEASIBLE_COST, 0, False
    if lower >= below:
        return INFEASIBLE_COST, int(lower), nodes
    cost, fail = np.zeros((wide + 1, lines), np.int64), np.zeros((wide + 1, lines), np.int64)
    begin, end_of = np.zeros(wide + 1, np.int64), np.zeros(wide + 1, np.int64)
    marks = np.zeros(high, np.bool_)
    # Depth-first search over the intervals of x, with an explicit stack of begins and ends.
    depth = 0
    end_of[0] = 0
    while depth >= 0:
        end_of[depth] += 1
        end = end_of[depth]
        if end > wide:
            depth -= 1
            continue
        i = number_interval(begin[depth], end, wide)
        if separate[i] >= INFEASIBLE_COST or rest[end] >= INFEASIBLE_COST:
            continue
        nodes += 1
        if nodes > budget:
            return int(best), int(min(lower, best, below)), nodes
        for j in range(lines):
            cost[depth + 1, j] = cost[depth, j] + costs[i, j]
            fail[depth + 1, j] = fail[depth, j] + fails[i, j]
        result = divide_line(cost[depth + 1], fail[depth + 1], high, limit, least, back)
        if result >= INFEASIBLE_COST or result + rest[end] >= min(below, best):
            continue
        if end < wide:
            depth += 1
            begin[depth] = end
            end_of[depth] = end
            continue
        result, over = _close(cost[depth + 1], fail[depth + 1], high, limit, back, marks, result)
        crowded |= over and result < min(below, best)
        if over or result >= min(below, best):
            continue
        best = result
        for j in range(high):
            y_starts[j] = marks[j]
        x_starts[:] = False
        for d in range(depth + 1):
            x_starts[begin[d]] = True
    if crowded:
        return int(best), int(min(lower, best, below)), nodes
    return int(best), int(min(best, below)), nodes


@compiled
def divide_boxes(counts: Array, k: int, penalty: int, limit: int, budget: int, result: Array) -> None:
    """Fill in a lower bound of each box's cost, dividing x and y without regard to other boxes.

    ``counts`` are rows by box, x and y; ``result`` is written. Suppressed rows of a box are limited only per
    pair of intervals. If the search ends within ``budget`` nodes and ``limit`` is 0, the bound is the least
    cost.
    """
    boxes, wide, high = counts.shape
    costs = np.empty((wide * (wide + 1) // 2, high * (high + 1) // 2), np.int64)
    fails = np.empty_like(costs)
    x_starts, y_starts = np.empty(wide, np.bool_), np.empty(high, np.bool_)
    separate, rest = np.empty(costs.shape[0], np.int64), np.empty(wide + 1, np.int64)
    for b in range(boxes):
        rows = counts[b].sum()
        if rows == 0:
            result[b] = 0
        elif rows < k:
            result[b] = rows * penalty if rows <= limit else INFEASIBLE_COST
        elif rows < 2 * k and limit == 0:
            result[b] = rows * rows if penalty else -1
        else:
            compute_pair_costs(counts[b : b + 1], k, penalty, costs, fails)
            if limit:
                _divide_apart(costs, fails, wide, high, limit, separate, rest)
                result[b] = rest[0]
            else:
                result[b] = divide_pair(
                    costs, fails, wide, high, 0, INFEASIBLE_COST, budget, x_starts, y_starts
                )[1]
