"""Distinct numbers of an array, by a table where their range is small and by a sort where it is not."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

_TABLE = 1 << 16


def distinct(values: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The distinct values, ascending, and the place of each value among them; values are at least 0."""
    size = int(values.max(initial=0)) + 1
    if size > 4 * len(values) + _TABLE:
        kinds, places = np.unique(values, return_inverse=True)
        return kinds, places
    table = np.zeros(size, np.int64)
    table[values] = 1
    kinds = np.flatnonzero(table)
    table[kinds] = np.arange(len(kinds))
    return kinds, table[values]
