"""The median of a class along one attribute, and the rows up to a place."""

from __future__ import annotations

import numpy as np

from discreet.kernels.jit import compiled
from discreet.kernels.mondrian_records import Array, ClassColumn, Whole


@compiled
def median_place(
    column: ClassColumn, low: Whole, high: Whole, total: Whole, rows: Array
) -> tuple[Whole, Whole, Whole]:
    """The smallest place up to which at least half of the rows lie, and the rows up to it and below it.

    By counting rows by place; by bisection where places are many and row types few.
    """
    keys, counts = column.keys, column.counts
    # Bisection reads the keys some times over, counting clears an entry for every place.
    if high - low > 8 * len(keys) + 64:
        while low < high:
            middle = (low + high) // 2
            if 2 * rows_up_to(column, middle) >= total:
                high = middle
            else:
                low = middle + 1
        return low, rows_up_to(column, low), rows_up_to(column, low - 1)
    base = np.uint64(low)
    for x in range(high - low + 1):
        rows[x] = 0
    for i in range(len(keys)):
        place = ((keys[i] & column.mask) >> column.shift) - base
        rows[place] += np.int64(counts[i] >> np.uint64(32))
    upto = np.int64(0)
    for x in range(high - low):
        upto += rows[x]
        if 2 * upto >= total:
            return low + x, upto, upto - rows[x]
    return high, total, upto


@compiled
def rows_up_to(column: ClassColumn, last: Whole) -> Whole:
    """Rows of the class whose place is at most ``last``."""
    if last < 0:
        return np.int64(0)
    keys, counts, mask = column.keys, column.counts, column.mask
    bound = np.uint64(last) << column.shift
    rows = np.uint64(0)
    for i in range(len(keys)):
        rows += counts[i] >> np.uint64(32) if keys[i] & mask <= bound else np.uint64(0)
    return np.int64(rows)
