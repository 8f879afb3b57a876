"""Compiled search for near row types: who shares a class of a cheap node with whom."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.kernels.jit import compiled
from discreet.kernels.local_greedy import mask_keys

Array = NDArray[Any]
_SPREAD = np.uint64(0x9E3779B97F4A7C15)


@compiled
def find_near(masks: Array, keys: Array, near: Array) -> None:
    """Fill ``near`` (shape ``(row types, most)``, -1 where there are fewer): near row types, nearest first.

    Walks the nodes ``masks`` in turn. A row type whose list is not full looks at those that follow it in its
    class of the node, in the order of the row types and around the end, at twice as many as the list holds at
    most, and notes the ones that are new. ``keys`` has shape ``(words, row types)``. Cost: some nanoseconds
    per node and row type.
    """
    number, most = near.shape
    bits = 6
    while (1 << bits) < 2 * number:
        bits += 1
    shift = np.uint64(64 - bits)
    mixed = np.empty(number, np.uint64)
    slot = np.empty(number, np.int64)
    starts = np.empty((1 << bits) + 1, np.int64)
    listed = np.empty(number, np.int64)
    place = np.empty(number, np.int64)
    found = np.zeros(number, np.int64)
    near[:] = -1
    for node in range(len(masks)):
        mask_keys(keys, masks, node, number, mixed)
        starts[:] = 0
        for i in range(number):
            slot[i] = np.int64((mixed[i] * _SPREAD) >> shift)
            starts[slot[i] + 1] += 1
        for s in range(len(starts) - 1):
            starts[s + 1] += starts[s]
        for i in range(number):
            listed[starts[slot[i]]] = i
            place[i] = starts[slot[i]]
            starts[slot[i]] += 1
        # Now starts[s] is the end of slot s, and of slot s - 1 the start of slot s.
        for i in range(number):
            if found[i] < most:
                first = starts[slot[i] - 1] if slot[i] > 0 else 0
                found[i] = look_around(i, first, starts[slot[i]], place[i], listed, mixed, near, found[i])


@compiled
def look_around(
    i: int, first: int, end: int, at: int, listed: Array, mixed: Array, near: Array, found: int
) -> int:
    """Note the new ones among those that follow row type ``i`` in its slot; how many its list then holds."""
    most = near.shape[1]
    looked = 0
    for _ in range(end - first - 1):
        at += 1
        if at == end:
            at = first
        other = listed[at]
        if mixed[other] != mixed[i]:
            continue
        known = False
        for m in range(found):
            known |= near[i, m] == other
        if not known:
            near[i, found] = other
            found += 1
        looked += 1
        if found == most or looked == 2 * most:
            break
    return found
