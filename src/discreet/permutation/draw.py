"""Random orders from the operating system's generator, which keeps no seed.

Whoever knows how values were permuted can undo it, and a seed is a way to know. Each place gets 64 random
bits, of which those that its number does not take are its sort key: 40 of ten million places. Among places
of equal keys, which would leave the old order standing, an order is drawn again.
"""

from __future__ import annotations

import os
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from discreet.frequency.placed_sort import sort_numbers
from discreet.permutation.narrow import Whole, narrow

Draw = Callable[[int], Whole]
"""From n to an order of 0, …, n - 1, each as likely as any other."""

_BYTES, _HALF = 8, 4
_ALL = (1 << 64) - 1


def random_words(number: int) -> NDArray[np.uint32]:
    """Words of 32 random bits; nothing that could repeat them is kept."""
    return np.frombuffer(os.urandom(number * _HALF), dtype=np.uint32)


def draw_order(n: int) -> Whole:
    """An order of 0, …, n - 1, each as likely as any other; nothing that could repeat it is kept.

    Places are sorted in the low bits of their keys, which takes half the time of sorting them by their keys.
    """
    bits = n.bit_length()
    place = (1 << bits) - 1
    keys = np.frombuffer(os.urandom(n * _BYTES), dtype=np.uint64) & np.uint64(_ALL ^ place)
    keys |= np.arange(n, dtype=np.uint64)
    sort_numbers(keys, bits)
    tied = (keys[1:] ^ keys[:-1]) <= place
    keys &= np.uint64(place)
    order = keys.astype(narrow(n + 1))
    if tied.any():
        _draw_ties(order, tied)
    return order


def _draw_ties(order: Whole, tied: NDArray[np.bool_]) -> None:
    """Draw the order among neighbours of one key; ``tied`` (n - 1,) says which have the key before theirs."""
    several = np.flatnonzero(np.append(tied, False) | np.insert(tied, 0, False))
    runs = np.cumsum(~tied[several[1:] - 1])
    runs = np.insert(runs, 0, 0)
    drawn = draw_order(len(several))
    drawn = drawn[np.argsort(runs[drawn], kind="stable")]
    order[several] = order[several[drawn]]
