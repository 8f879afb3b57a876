"""Compiled losses of classes of local recoding: from bit spreads, on joining a class, and as dual slacks.

The exclusive or of two keys determines the level of their lowest common ancestor per attribute; the or of
these over a class is its spread. Used to join remaining row types to the cheapest class and to bound the
optimum from below.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.kernels.greedy_cover import mask_keys
from discreet.kernels.numba_jit import compiled, compiled_without_refcounts

Array = NDArray[Any]


class TreeArrays(NamedTuple):
    """Hierarchies of all attributes as arrays.

    ``word[j]`` is the word of attribute j's field. ``masks[first[j] … first[j + 1] - 1]`` are, from level 0
    on, the bits that must agree at that level: a spread that touches n of them means level n. A cell of level
    ``level`` above leaf ``code`` loses ``losses[base[j] + level * width[j] + code]``, infinite above the
    greatest level allowed.
    """

    word: Array
    first: Array
    masks: Array
    base: Array
    width: Array
    losses: Array


@compiled_without_refcounts
def compute_spread_loss(spread: Array, codes: Array, member: int, trees: TreeArrays) -> float:
    """Compute the loss of a row of a class with this spread; ``member`` is a member's row in ``codes``."""
    loss = 0.0
    for j in range(len(trees.word)):
        bits = spread[trees.word[j]]
        level = 0
        for m in range(trees.first[j], trees.first[j + 1]):
            level += (bits & trees.masks[m]) != 0
        loss += trees.losses[trees.base[j] + level * trees.width[j] + codes[member, j]]
    return loss


@compiled
def compute_spreads(
    keys: Array, rows: Array, codes: Array, class_of: Array, classes: int, trees: TreeArrays
) -> tuple[Array, Array, Array, Array]:
    """Compute each class's member, spread, rows and loss of one of its rows.

    ``keys`` has shape ``(row types, words)``; row types with a negative class are in none.
    """
    member = np.full(classes, -1, np.int64)
    spread = np.zeros((classes, keys.shape[1]), np.uint64)
    size = np.zeros(classes, np.int64)
    loss = np.zeros(classes, np.float64)
    for t in range(len(class_of)):
        c = class_of[t]
        if c >= 0:
            if member[c] < 0:
                member[c] = t
            size[c] += rows[t]
            for word in range(keys.shape[1]):
                spread[c, word] |= keys[t, word] ^ keys[member[c], word]
    for c in range(classes):
        if member[c] >= 0:
            loss[c] = compute_spread_loss(spread[c], codes, member[c], trees)
    return member, spread, size, loss


@compiled
def join_remaining(
    rest: Array,
    group: Array,
    keys: Array,
    rows: Array,
    codes: Array,
    class_of: Array,
    classes: int,
    trees: TreeArrays,
) -> None:
    """Put each row type of ``rest``, in turn, into the class whose loss it increases least.

    A class loses the loss of a row times its rows. Ties go to the first class. If every class would exceed
    the greatest levels allowed, the row type stays without a class. ``group`` numbers row types by their
    values at those levels; only classes of the same group are inspected.
    """
    member, spread, size, loss = compute_spreads(keys, rows, codes, class_of, classes, trees)
    # Chain the classes of each group in ascending order, so that ties go to the first.
    head = np.full(group.max() + 1, -1, np.int64)
    following = np.empty(classes, np.int64)
    for c in range(classes - 1, -1, -1):
        following[c] = head[group[member[c]]]
        head[group[member[c]]] = c
    wide = np.zeros(keys.shape[1], np.uint64)
    for t in rest:
        best = -1
        least = np.inf
        c = head[group[t]]
        while c >= 0:
            for word in range(keys.shape[1]):
                wide[word] = spread[c, word] | (keys[t, word] ^ keys[member[c], word])
            joined = compute_spread_loss(wide, codes, t, trees)
            more = joined * (size[c] + rows[t]) - loss[c] * size[c]
            if more < least:
                least = more
                best = c
            c = following[c]
        if best >= 0:
            for word in range(keys.shape[1]):
                spread[best, word] |= keys[t, word] ^ keys[member[best], word]
            size[best] += rows[t]
            loss[best] = compute_spread_loss(spread[best], codes, member[best], trees)
            class_of[t] = best


_SPREAD = np.uint64(0x9E3779B97F4A7C15)


class SlackScratch(NamedTuple):
    """Scratch of one pass: ``mixed`` and ``slot`` by row type, the others a table at least twice as long."""

    mixed: Array
    slot: Array
    key: Array
    node: Array
    first: Array
    total: Array
    left: Array


def allocate_slack_scratch(row_types: int) -> SlackScratch:
    """Allocate scratch for ``row_types`` row types."""
    wide = 1 << max(6, (2 * row_types - 1).bit_length())
    return SlackScratch(
        mixed=np.empty(row_types, np.uint64),
        slot=np.empty(row_types, np.int64),
        key=np.empty(wide, np.uint64),
        node=np.full(wide, -1, np.int64),
        first=np.empty(wide, np.int64),
        total=np.empty(wide, np.int64),
        left=np.empty(wide, np.float64),
    )


@compiled_without_refcounts
def find_slacks(
    masks: Array,
    levels: Array,
    need: int,
    keys: Array,
    rows: Array,
    codes: Array,
    values: Array,
    trees: TreeArrays,
    scratch: SlackScratch,
    slack: Array,
) -> None:
    """Lower ``slack`` (per row type) to the least that the classes of the nodes ``masks`` leave.

    A class of at least ``need`` rows, whose rows lose L each, leaves need · L minus the sum of its ``need``
    largest values; a class with fewer rows imposes nothing. Row types are in order of descending value in all
    arrays, ``keys`` has shape ``(words, row types)``, and ``levels`` (shape ``(nodes, attributes)``) are the
    nodes' levels in ``trees``. Cost: some ten nanoseconds per node and row type.
    """
    number = len(rows)
    last = len(scratch.key) - 1
    # The shift that leaves the bits of an index of the table, whose length is a power of two.
    shift = np.uint64(64)
    while last >> (64 - np.int64(shift)) > 0:
        shift -= np.uint64(1)
    for node in range(len(masks)):
        mask_keys(keys, masks, node, number, scratch.mixed)
        for i in range(number):
            key = scratch.mixed[i]
            at = np.int64((key * _SPREAD) >> shift)
            # A slot of another node is free: the table is never cleared.
            while scratch.node[at] == node and scratch.key[at] != key:
                at = (at + 1) & last
            if scratch.node[at] != node:
                scratch.node[at] = node
                scratch.key[at] = key
                scratch.first[at] = i
                scratch.total[at] = 0
                scratch.left[at] = 0.0
            scratch.slot[i] = at
            total = scratch.total[at]
            if total < need:
                scratch.left[at] -= min(rows[i], need - total) * values[i]
            scratch.total[at] = total + rows[i]
        for i in range(number):
            at = scratch.slot[i]
            if scratch.total[at] >= need:
                if scratch.first[at] == i:
                    scratch.left[at] += need * compute_node_loss(node, levels, codes, i, trees)
                slack[i] = min(slack[i], scratch.left[at])


@compiled_without_refcounts
def compute_node_loss(node: int, levels: Array, codes: Array, i: int, trees: TreeArrays) -> float:
    """Compute the loss of a row type's cells at the levels of a node."""
    loss = 0.0
    for j in range(levels.shape[1]):
        loss += trees.losses[trees.base[j] + levels[node, j] * trees.width[j] + codes[i, j]]
    return loss
