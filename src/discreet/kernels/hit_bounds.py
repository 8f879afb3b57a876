"""Compiled bounds of sums, minima and maxima over query hits in permuted groups.

Any h of a group's values may belong to its h hits, so a sum is between those of the h smallest and the h
largest values. Below 100 lines: the half that needs numba; the records and the twin are in ``numpy_twins``.
"""

from __future__ import annotations

from math import floor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.kernels.numba_jit import compiled, inlined
from discreet.kernels.numpy_twins import HitBounds, SortedGroupValues

Array = NDArray[Any]


@inlined
def add_sums(key: int, group: int, hits: int, grouped: SortedGroupValues, bounds: HitBounds) -> None:
    """Add the bounds and the expectation of the sum of some hits of a group to ``bounds``."""
    upto, begin, end = grouped.upto, grouped.starts[group], grouped.starts[group + 1]
    bounds.hits[key] += hits
    bounds.sum_lower[key] += upto[begin + hits] - upto[begin]
    bounds.sum_upper[key] += upto[end] - upto[end - hits]
    bounds.expected[key] += hits * float(upto[end] - upto[begin]) / (end - begin)


@inlined
def add_ends(key: int, group: int, hits: int, grouped: SortedGroupValues, ends: Array) -> None:
    """Update ``ends`` with the bounds and expectations of the least and largest of some hits of a group.

    The expected least of h out of n ranks is rank (n + 1) / (h + 1), rounded.
    """
    values, begin, end = grouped.values, grouped.starts[group], grouped.starts[group + 1]
    rows = end - begin
    rank = floor((rows + 1.0) / (hits + 1) + 0.5)
    rank = max(1, min(rows, rank))
    ends[key, 0] = min(ends[key, 0], values[begin])
    ends[key, 1] = min(ends[key, 1], values[end - hits])
    ends[key, 2] = min(ends[key, 2], values[begin + rank - 1])
    ends[key, 3] = max(ends[key, 3], values[begin + hits - 1])
    ends[key, 4] = max(ends[key, 4], values[end - 1])
    ends[key, 5] = max(ends[key, 5], values[end - rank])


@compiled
def bound_hits(
    packed: Array, bits: int, with_ends: bool, grouped: SortedGroupValues, bounds: HitBounds
) -> None:
    """Add the bounds of hits to ``bounds``; ``with_ends`` includes least and largest values.

    ``packed`` contains for each hit, in any order, its group's number above ``bits`` bits of its key.
    """
    groups = len(grouped.starts) - 1
    # Counting sort of the hits by group; without key bits only the counts are needed.
    last = np.zeros(groups + 1, np.int64)
    for pair in packed:
        last[(pair >> bits) - grouped.first + 1] += 1
    for group in range(groups):
        last[group + 1] += last[group]
    keys = np.empty(len(packed) if bits > 0 else 0, np.int32)
    if bits > 0:
        mask = (1 << bits) - 1
        for pair in packed:
            group = (pair >> bits) - grouped.first
            keys[last[group]] = pair & mask
            last[group] += 1
    # ``hits`` stays 0 between groups; ``met`` lists the keys to reset, so that no group clears all keys.
    hits = np.zeros(len(bounds.hits), np.int64)
    met = np.zeros(len(bounds.hits), np.int32)
    begin = 0
    for group in range(groups):
        number, end = 0, last[group] if bits > 0 else last[group + 1]
        if bits == 0 and begin < end:
            number, hits[0] = 1, end - begin
        for slot in range(begin, end if bits > 0 else begin):
            key = keys[slot]
            if hits[key] == 0:
                met[number] = key
                number += 1
            hits[key] += 1
        begin = end
        for slot in range(number):
            key = met[slot]
            add_sums(key, group, hits[key], grouped, bounds)
            if with_ends:
                add_ends(key, group, hits[key], grouped, bounds.ends)
            hits[key] = 0
