"""Compiled forms of ``group_partitions``, and the compiled shuffle of the rows in each group.

Below 100 lines: the half of ``group_partitions`` that needs numba.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.kernels.group_partitions import (
    can_cut,
    chain_groups,
    close_groups,
    cut_bounded,
    cut_least_sum,
    cut_least_weight,
    trace_cuts,
)
from discreet.kernels.numba_jit import compiled

COMPILED: dict[str, Callable[..., Any]] = {
    "cut-least-sum": compiled(cut_least_sum),
    "cut-least-weight": compiled(cut_least_weight),
    "walk-cuts": compiled(trace_cuts),
    "can-cut": compiled(can_cut),
    "cut-bounded": compiled(cut_bounded),
    "chain-groups": compiled(chain_groups),
    "close-groups": compiled(close_groups),
}


_BITS = 32


@compiled
def shuffle_groups(
    groups: NDArray[Any], count: int, words: NDArray[np.uint32], sources: NDArray[Any]
) -> bool:
    """Fill ``sources`` with the row of its group from which each row gets its value; False if words run out.

    ``groups`` are numbers 0, …, ``count`` - 1. Each row is exchanged with an earlier row or itself
    (Durstenfeld 1964), with equal probability: a random word times the number of choices, shifted right;
    words that would favour some positions are rejected (Lemire 2019).
    """
    # Counting sort of the rows by group; afterwards ``ends`` are the groups' ends in ``order``.
    ends = np.zeros(count + 1, np.int64)
    for group in groups:
        ends[group + 1] += 1
    for group in range(count):
        ends[group + 1] += ends[group]
    order = np.empty_like(sources)
    for row in range(len(groups)):
        group = groups[row]
        order[ends[group]] = row
        ends[group] += 1
    moved = order.copy()
    used, begin = 0, 0
    for group in range(count):
        for slot in range(ends[group] - 1, begin, -1):
            choices = slot - begin + 1
            # The rejection bound is a division and computed only in the rare case that it may be needed.
            unfair = -1
            while True:
                if used == len(words):
                    return False
                drawn = np.int64(words[used]) * choices
                used += 1
                rest = drawn & ((1 << _BITS) - 1)
                if rest >= choices:
                    break
                if unfair < 0:
                    unfair = ((1 << _BITS) - choices) % choices
                if rest >= unfair:
                    break
            other = begin + (drawn >> _BITS)
            moved[slot], moved[other] = moved[other], moved[slot]
        begin = ends[group]
    for slot in range(len(order)):
        sources[order[slot]] = moved[slot]
    return True
