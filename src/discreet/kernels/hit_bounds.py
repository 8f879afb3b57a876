"""What the hits of groups stand for, key by key.

Of a group's values any h may be those of its h hits: between the h least and the h largest, whose sums are
differences of running ones. Compare ``queries.rewriting``, which asks the same of the help table.

Hits come nearly by group, so counting them by group and laying their keys out by it stays near the processor.
"""

from __future__ import annotations

from math import floor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.kernels.hit_bounds_twin import GroupedValues, HitBounds
from discreet.kernels.jit import compiled, inlined

Array = NDArray[Any]


@inlined
def add_sums(key: int, group: int, hits: int, grouped: GroupedValues, found: HitBounds) -> None:
    """Add to ``found`` what sums of some hits of a group can be."""
    upto, begin, end = grouped.upto, grouped.starts[group], grouped.starts[group + 1]
    found.hits[key] += hits
    found.sum_lower[key] += upto[begin + hits] - upto[begin]
    found.sum_upper[key] += upto[end] - upto[end - hits]
    found.expected[key] += hits * float(upto[end] - upto[begin]) / (end - begin)


@inlined
def add_ends(key: int, group: int, hits: int, grouped: GroupedValues, ends: Array) -> None:
    """Add to ``ends`` what the least and the largest of some hits of a group can be."""
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
def bound_hits(packed: Array, bits: int, with_ends: bool, grouped: GroupedValues, found: HitBounds) -> None:
    """Add to ``found`` what hits stand for; least and largest values where asked.

    ``packed`` has for each hit, in any order, its group's number before ``bits`` bits of its key.
    """
    groups = len(grouped.starts) - 1
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
    hits = np.zeros(len(found.hits), np.int64)
    met = np.zeros(len(found.hits), np.int32)
    begin = 0
    for group in range(groups):
        number, end = 0, last[group] if bits > 0 else last[group + 1]
        if bits == 0 and begin < end:
            number, hits[0] = 1, end - begin
        for place in range(begin, end if bits > 0 else begin):
            key = keys[place]
            if hits[key] == 0:
                met[number] = key
                number += 1
            hits[key] += 1
        begin = end
        for place in range(number):
            key = met[place]
            add_sums(key, group, hits[key], grouped, found)
            if with_ends:
                add_ends(key, group, hits[key], grouped, found.ends)
            hits[key] = 0
