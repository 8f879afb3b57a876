"""Groups without an objective, and groups of values that have no distance.

Random (Zhang et al. 2007, section 7.2). Rows are taken in an order that is drawn, and a group closes as
soon as it has k distinct values and a range of e. What is left over joins the last group, which the paper
leaves open.

Finest. Where values are no numbers every error is 0, and what is left to ask for is many groups. There are t
groups of k distinct values exactly if the values, each counted at most t times, come to k·t. They are made by
dealing rows out one by one, value by value, frequent values first: a value of fewer than t rows then meets
different groups, and group sizes differ by one row at most. The largest t is found by bisection, as a smaller
number of groups is possible too (any two can be merged).
"""

from __future__ import annotations

import numpy as np

from discreet.errors import InternalError
from discreet.permutation.draw import Draw
from discreet.permutation.loops import Loops
from discreet.permutation.min_sum import Need
from discreet.permutation.narrow import Whole, narrow
from discreet.permutation.parts import spread_rest
from discreet.permutation.value_runs import ValueRuns

LOOPS = ("close-groups",)


def random_groups(runs: ValueRuns, need: Need, loops: Loops, draw: Draw) -> Whole:
    """The group of each row, groups being closed along a drawn order of the rows."""
    valued = np.flatnonzero(runs.codes >= 0)
    order = valued[draw(len(valued))]
    found = loops.filled(len(order))
    units = runs.array if loops.compiled and runs.array is not None else runs.integers
    count = loops.run(
        "close-groups",
        *(loops.numbers(runs.codes[order]), loops.numbers(units), need.k, need.e),
        *(loops.filled(runs.distinct, -1), found),
    )
    if not count:
        raise InternalError("no group closed where the whole column is one")
    groups = np.full(len(runs.codes), -1, dtype=narrow(len(runs.codes) + 1))
    groups[order] = found
    return spread_rest(groups, draw)


def finest_groups(runs: ValueRuns, k: int, draw: Draw) -> Whole:
    """The group of each row, as many groups as can have ``k`` distinct values."""
    count = most_groups(runs.counts, k)
    valued = np.flatnonzero(runs.codes >= 0)
    order = valued[draw(len(valued))]
    by_frequency = np.argsort(-runs.counts, kind="stable")
    rank = np.empty(runs.distinct, dtype=np.int64)
    rank[by_frequency] = np.arange(runs.distinct)
    order = order[np.argsort(rank[runs.codes[order]], kind="stable")]
    groups = np.full(len(runs.codes), -1, dtype=narrow(len(runs.codes) + 1))
    groups[order] = np.arange(len(order)) % count
    return spread_rest(groups, draw)


def most_groups(counts: Whole, k: int) -> int:
    """The most groups of ``k`` distinct values that rows with these counts by value allow."""
    low, high = 0, int(counts.sum()) // k
    while low < high:
        middle = (low + high + 1) // 2
        if int(np.minimum(counts, middle).sum()) >= k * middle:
            low = middle
        else:
            high = middle - 1
    return low
