"""What ``kernels.local_join`` does, in plain numpy: its tests' oracle, and the fallback without numba."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


class TreeTables:
    """Hierarchies as plain lists: the losses of spreads, without a compiler.

    ``masks[j]`` are attribute j's level masks in word ``word[j]``, ``losses[j]`` its table by level and leaf.
    """

    def __init__(
        self, word: Sequence[int], masks: Sequence[Sequence[int]], losses: Sequence[NDArray[np.float64]]
    ) -> None:
        self.word = word
        self.masks = [np.array(of_attribute, np.uint64) for of_attribute in masks]
        self.losses = losses

    def losses_of(self, spread: Array, codes: Array) -> NDArray[np.float64]:
        """The loss of one row of each class, from spreads ``(classes, words)`` and a member's leaf codes."""
        found = np.zeros(len(spread))
        for j, (word, masks, losses) in enumerate(zip(self.word, self.masks, self.losses, strict=True)):
            level = np.zeros(len(spread), np.int64)
            for mask in masks:
                level += (spread[:, word] & mask) != 0
            found += losses[level, codes[:, j]]
        return found


def spreads_twin(
    keys: Array, rows: Array, codes: Array, class_of: Array, classes: int, tables: TreeTables
) -> tuple[Array, Array, Array, Array]:
    """Of each class: a member, its spread, its rows and the loss of one of its rows; none may be empty."""
    order = np.argsort(class_of, kind="stable")
    order = order[int((class_of < 0).sum()) :]
    sizes = np.bincount(class_of[order], minlength=classes)
    starts = np.cumsum([0, *sizes[:-1]])
    member = order[starts] if classes else np.zeros(0, np.int64)
    spread = np.zeros((classes, keys.shape[1]), np.uint64)
    size = np.zeros(classes, np.int64)
    if classes:
        differences = keys[order] ^ keys[member][class_of[order]]
        spread = np.bitwise_or.reduceat(differences, starts, axis=0)
        size = np.add.reduceat(rows[order], starts)
    return member, spread, size, tables.losses_of(spread, codes[member])


def join_rest_twin(
    rest: Array, keys: Array, rows: Array, codes: Array, class_of: Array, classes: int, tables: TreeTables
) -> None:
    """Put each row type of ``rest``, in turn, into the class whose loss it raises least; see the kernel."""
    member, spread, size, loss = spreads_twin(keys, rows, codes, class_of, classes, tables)
    for t in rest.tolist():
        wide = spread | (keys[t] ^ keys[member])
        joined = tables.losses_of(wide, np.broadcast_to(codes[t], (classes, codes.shape[1])))
        more = joined * (size + rows[t]) - loss * size
        best = int(np.argmin(more)) if classes else -1
        if best >= 0 and np.isfinite(more[best]):
            spread[best] = wide[best]
            size[best] += rows[t]
            loss[best] = joined[best]
            class_of[t] = best
