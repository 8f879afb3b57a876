"""The partition into neighbours with the least maximum error (Zhang et al. 2007, section 6.3).

Definition. Sorted rows are cut into groups of at least k distinct values and a range of at least e, so that
the largest range is least. Two groups may share one value: rows are cut, not values.

Differences from the paper. Its dynamic program takes a square of the rows. Whether a bound on the ranges can
be kept is decided by one pass over the distinct values: those that may begin a group are counted, and a
group can end with a value where one of the beginnings within reach is allowed. The least bound is found by
bisection over whole numbers of units. Under it the partition of the least sum of errors is taken, and of
those one with the most groups, because a single wide group should not excuse the others.

Cost: values · log2(range in units).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from discreet.permutation.loops import Loops
from discreet.permutation.min_sum import Need
from discreet.permutation.parts import Parts
from discreet.permutation.value_runs import ValueRuns

LOOPS = ("can-cut", "cut-bounded")


def contiguous_least_maximum(runs: ValueRuns, need: Need, loops: Loops) -> tuple[Parts, int]:
    """The partition, and its largest range in units."""
    bound = least_bound(runs, need, loops)
    return cut_within(runs, need, bound, loops), bound


def least_bound(runs: ValueRuns, need: Need, loops: Loops) -> int:
    """The least maximum error of groups of neighbours, in units."""
    values, shared = loops.numbers(runs.integers), loops.numbers(runs.counts > 1)
    reached = loops.filled(runs.distinct + 1)
    low, high = min(need.e, need.first_e), runs.span
    while low < high:
        middle = (low + high) // 2
        if loops.run("can-cut", values, shared, need.units, middle, reached):
            high = middle
        else:
            low = middle + 1
    return low


def cut_within(runs: ValueRuns, need: Need, bound: int, loops: Loops) -> Parts:
    """The least sum of errors, and of those the most groups, where ``bound`` can be kept and is."""
    size = runs.distinct
    values, shared = loops.numbers(runs.integers), loops.numbers(runs.counts > 1)
    work = [loops.filled(size) for _ in range(2)]
    inside, back, queue = (loops.filled(size) for _ in range(3))
    loops.run("cut-bounded", values, shared, need.units, bound, *work, inside, back, queue)
    begins: list[tuple[int, bool]] = []
    right = size - 1
    while int(back[right]) >= 0:
        left = int(back[right])
        begins.append((left, bool(inside[left])))
        right = left if inside[left] else left - 1
    begins.reverse()
    return Parts.of_cuts(runs.counts, _places(runs, begins))


def _places(runs: ValueRuns, begins: list[tuple[int, bool]]) -> NDArray[np.int64]:
    """Places of cuts among sorted rows; a value cut inside is shared so that its neighbours become alike."""
    starts = np.cumsum(runs.counts) - runs.counts
    places = [int(starts[left]) for left, _ in begins]
    ends = [0, *places, runs.rows]
    for number, (left, inside) in enumerate(begins):
        if inside:
            rows = int(runs.counts[left])
            middle = (ends[number] + ends[number + 2]) // 2
            places[number] = min(max(middle, int(starts[left]) + 1), int(starts[left]) + rows - 1)
            ends[number + 1] = places[number]
    return np.array(places, dtype=np.int64)
