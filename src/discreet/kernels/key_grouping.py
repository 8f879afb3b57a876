"""Compiled grouping of equal keys by hashing.

Hashing compares whole keys on every hit and numbers classes by first occurrence, so the result is exact and
the same on every machine. Twin: the sort of ``frequency.packed_keys``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.kernels.numba_jit import compiled

Array = NDArray[Any]

# Odd multiplier without a bit pattern: multiplying spreads keys that differ in few bits.
_ODD = np.uint64(0x9E3779B97F4A7C15)
_FOLD = np.uint64(32)


@compiled
def number_key_classes(
    keys: Array, counts: Array, table: Array, class_of: Array, first: Array, sizes: Array
) -> int:
    """Number the classes of keys (shape ``(words, keys)``) and sum their counts; return their number.

    ``table`` must be filled with -1 and have a power of two of slots, at least two per key. ``class_of`` is
    filled for every key, ``first`` (the position of a class's first key) and ``sizes`` for every class.
    """
    words, number = keys.shape
    mask = np.int64(len(table) - 1)
    classes = 0
    for i in range(number):
        mixed = np.uint64(0)
        for word in range(words):
            mixed = (mixed ^ keys[word, i]) * _ODD
            # A product carries upwards only; the shift brings the high bits down to where the slot is read.
            mixed ^= mixed >> _FOLD
        slot = np.int64(mixed) & mask
        while True:
            found = table[slot]
            if found < 0:
                table[slot] = classes
                first[classes] = i
                sizes[classes] = counts[i]
                class_of[i] = classes
                classes += 1
                break
            same = True
            for word in range(words):
                same &= keys[word, i] == keys[word, first[found]]
            if same:
                sizes[found] += counts[i]
                class_of[i] = found
                break
            slot = (slot + 1) & mask
    return classes


@compiled
def exchange_field(word: Array, shift: np.uint64, mask: np.uint64, change: Array) -> None:
    """Change one field of keys in place: xor the word with ``change[field]``, which is already shifted."""
    for i in range(len(word)):
        word[i] ^= change[(word[i] >> shift) & mask]


def group_equal_keys(
    keys: NDArray[np.uint64], counts: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Return the class of each key, each class's first key, and each class's sum of counts."""
    number = keys.shape[1]
    table = np.full(1 << (2 * max(number, 1) - 1).bit_length(), -1, dtype=np.int32)
    class_of, first, sizes = (np.empty(number, dtype=np.int64) for _ in range(3))
    classes = number_key_classes(np.ascontiguousarray(keys), counts, table, class_of, first, sizes)
    return class_of, first[:classes].copy(), sizes[:classes].copy()
