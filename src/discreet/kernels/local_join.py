"""Compiled last step of a greedy: each row type that no class took joins the class that it harms least."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.kernels.jit import compiled
from discreet.kernels.local_trees import Trees, loss_of_spread

Array = NDArray[Any]


@compiled
def spreads(
    keys: Array, rows: Array, codes: Array, class_of: Array, classes: int, trees: Trees
) -> tuple[Array, Array, Array, Array]:
    """Of each class: a member, its spread, its rows and the loss of one of its rows.

    ``keys`` has shape ``(row types, words)``; row types whose class is negative are in none.
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
            loss[c] = loss_of_spread(spread[c], codes, member[c], trees)
    return member, spread, size, loss


@compiled
def join_rest(
    rest: Array,
    group: Array,
    keys: Array,
    rows: Array,
    codes: Array,
    class_of: Array,
    classes: int,
    trees: Trees,
) -> None:
    """Put each row type of ``rest``, in turn, into the class whose loss it raises least.

    What a class loses is the loss of a row times its rows. Ties go to the first class; where every class
    would have to rise above the greatest levels allowed, the row type stays without one. ``group`` numbers
    row types by what they are at those levels; only classes of its own group are looked at.
    """
    member, spread, size, loss = spreads(keys, rows, codes, class_of, classes, trees)
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
            joined = loss_of_spread(wide, codes, t, trees)
            more = joined * (size[c] + rows[t]) - loss[c] * size[c]
            if more < least:
                least = more
                best = c
            c = following[c]
        if best >= 0:
            for word in range(keys.shape[1]):
                spread[best, word] |= keys[t, word] ^ keys[member[best], word]
            size[best] += rows[t]
            loss[best] = loss_of_spread(spread[best], codes, member[best], trees)
            class_of[t] = best
