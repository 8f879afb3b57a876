"""Compiled questions about a pattern: how many rows would it place, which row types could it hold at all?

Both count classes as ``kernels.local_greedy`` does; ``kernels.pattern_cover_twin`` is the same in numpy.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.kernels.jit import compiled
from discreet.kernels.local_greedy import (
    Rest,
    Slots,
    Values,
    count_exactly,
    count_slots,
    mask_keys,
    refuse_uniform,
)

Array = NDArray[Any]


@compiled
def placed_rows(
    masks: Array,
    node: int,
    need: Any,
    rest: Rest,
    remaining: int,
    counts: Array,
    values: Values,
    slots: Slots,
) -> int:
    """The rows of the ``remaining`` row types in classes of ``masks[node]`` that may be published."""
    mask_keys(rest.keys, masks, node, remaining, slots.mixed)
    if count_slots(slots.mixed, rest.rows, remaining, need, slots) < need:
        return 0
    members = count_exactly(rest, remaining, need, slots)
    if len(values.least) > 0:
        refuse_uniform(rest, members, need, slots, values)
    placed = 0
    for m in range(members):
        if slots.sums[slots.places[slots.chosen[m]]] >= need:
            placed += counts[rest.types[slots.chosen[m]]]
    return placed


@compiled
def mark_wanted(waiting: Array, number: int, need: Any, slots: Slots) -> bool:
    """Count one row more in large slots that hold a waiting row type; whether there are any."""
    wanted = False
    for w in range(number):
        place = slots.places[waiting[w]]
        if slots.counts[place] >= need:
            slots.counts[place] = need + 1
            wanted = True
    return wanted


@compiled
def first_holding(masks: Array, need: Any, rest: Rest, values: Values, first: Array, slots: Slots) -> None:
    """For each row type the first of ``masks`` in whose class of all row types it may be published.

    Row types wait where ``first`` is negative, and stay so where there is none. Exact counts are made only of
    slots in which somebody waits: those are counted above ``need``, at which the others end.
    """
    row_types = len(first)
    waiting = np.empty(row_types, np.int64)
    number = 0
    for i in range(row_types):
        if first[i] < 0:
            waiting[number] = i
            number += 1
    for node in range(len(masks)):
        if number == 0:
            break
        mask_keys(rest.keys, masks, node, row_types, slots.mixed)
        if count_slots(slots.mixed, rest.rows, row_types, need, slots) < need:
            continue
        if not mark_wanted(waiting, number, need, slots):
            continue
        members = count_exactly(rest, row_types, np.int32(need + 1), slots)
        if len(values.least) > 0:
            refuse_uniform(rest, members, need, slots, values)
        for m in range(members):
            i = slots.chosen[m]
            if first[i] < 0 and slots.sums[slots.places[i]] >= need:
                first[i] = node
        kept = 0
        for w in range(number):
            if first[waiting[w]] < 0:
                waiting[kept] = waiting[w]
                kept += 1
        number = kept
