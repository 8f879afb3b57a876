"""Whole numbers sorted with their places in the low bits: several times as fast as ``argsort``, stable."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

_WORD, _HALF = 64, 32


def sort_with_places(numbers: NDArray[np.uint64]) -> int | None:
    """Sort numbers in place, each followed by its place in as many low bits as are returned.

    Equal numbers stay in the order in which they came. None, and nothing is done, where 64 bits do not hold
    the largest number and a place.
    """
    bits = max(len(numbers) - 1, 0).bit_length()
    if int(numbers.max(initial=0)).bit_length() + bits > _WORD:
        return None
    numbers <<= np.uint64(bits)
    if bits <= _HALF:
        numbers |= np.arange(len(numbers), dtype=np.uint32)
    else:
        numbers |= np.arange(len(numbers), dtype=np.uint64)
    numbers.sort()
    return bits
