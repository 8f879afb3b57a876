"""Whole numbers sorted in place, alone or with their places in the low bits: faster than ``argsort``."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.frequency.kernel_choice import choose_kernels

_WORD, _HALF = 64, 32
_MANY = 1 << 20
"""Numbers that are sorted by digits: of fewer, numpy's sort is over before the compiler is loaded."""
_WORTH = 1 << 22
_PART = "radix-sort"


def sort_numbers(numbers: NDArray[np.uint64] | NDArray[np.int64], low: int = 0) -> None:
    """Sort whole numbers from 0 in place; those that differ in the ``low`` last bits alone ascend already.

    Cost: linear, and as much memory again.
    """
    if len(numbers) < _MANY or not choose_kernels([_PART], "sort", worth=len(numbers) > _WORTH):
        numbers.sort()
        return
    from discreet.kernels.radix_sort import sort_by_bits
    from discreet.kernels.readiness import mark_compiled

    whole: NDArray[Any] = numbers.view(np.int64)
    sort_by_bits(whole, np.empty_like(whole), low, int(numbers.max()).bit_length())
    mark_compiled(_PART)


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
    sort_numbers(numbers, bits)
    return bits
