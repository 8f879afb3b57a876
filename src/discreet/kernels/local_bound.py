"""Compiled slacks of a dual solution: how far each row type's value may rise before a class is overdrawn.

See ``local.bound`` for what they are for; ``kernels.local_bound_twin`` counts the same plainly.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.kernels.local_greedy import mask_keys
from discreet.kernels.local_jit import compiled_lean
from discreet.kernels.local_trees import Trees

Array = NDArray[Any]
_SPREAD = np.uint64(0x9E3779B97F4A7C15)


class SlackScratch(NamedTuple):
    """Room for one pass: ``mixed`` and ``place`` by row type, the others a table at least twice as long."""

    mixed: Array
    place: Array
    key: Array
    node: Array
    first: Array
    total: Array
    left: Array


def slack_scratch(row_types: int) -> SlackScratch:
    """Room for so many row types."""
    wide = 1 << max(6, (2 * row_types - 1).bit_length())
    return SlackScratch(
        mixed=np.empty(row_types, np.uint64),
        place=np.empty(row_types, np.int64),
        key=np.empty(wide, np.uint64),
        node=np.full(wide, -1, np.int64),
        first=np.empty(wide, np.int64),
        total=np.empty(wide, np.int64),
        left=np.empty(wide, np.float64),
    )


@compiled_lean
def find_slacks(
    masks: Array,
    levels: Array,
    need: int,
    keys: Array,
    rows: Array,
    codes: Array,
    values: Array,
    trees: Trees,
    scratch: SlackScratch,
    slack: Array,
) -> None:
    """Lower ``slack`` (per row type) to what the classes of the nodes ``masks`` leave.

    A class of at least ``need`` rows, whose rows lose L each, leaves need · L less the sum of its ``need``
    largest values; one with fewer rows leaves anything. Row types come by falling value in all arrays,
    ``keys`` has shape ``(words, row types)``, and ``levels`` (shape ``(nodes, attributes)``) are the nodes'
    places in ``trees``. Cost: some ten nanoseconds per node and row type.
    """
    number = len(rows)
    last = len(scratch.key) - 1
    shift = np.uint64(64)
    while last >> (64 - np.int64(shift)) > 0:
        shift -= np.uint64(1)
    for node in range(len(masks)):
        mask_keys(keys, masks, node, number, scratch.mixed)
        for i in range(number):
            key = scratch.mixed[i]
            at = np.int64((key * _SPREAD) >> shift)
            # A place that another node filled is free: the table is never cleared.
            while scratch.node[at] == node and scratch.key[at] != key:
                at = (at + 1) & last
            if scratch.node[at] != node:
                scratch.node[at] = node
                scratch.key[at] = key
                scratch.first[at] = i
                scratch.total[at] = 0
                scratch.left[at] = 0.0
            scratch.place[i] = at
            total = scratch.total[at]
            if total < need:
                scratch.left[at] -= min(rows[i], need - total) * values[i]
            scratch.total[at] = total + rows[i]
        for i in range(number):
            at = scratch.place[i]
            if scratch.total[at] >= need:
                if scratch.first[at] == i:
                    scratch.left[at] += need * loss_at(node, levels, codes, i, trees)
                slack[i] = min(slack[i], scratch.left[at])


@compiled_lean
def loss_at(node: int, levels: Array, codes: Array, i: int, trees: Trees) -> float:
    """The loss of a row type's cells at the places of a node."""
    loss = 0.0
    for j in range(levels.shape[1]):
        loss += trees.losses[trees.base[j] + levels[node, j] * trees.width[j] + codes[i, j]]
    return loss
