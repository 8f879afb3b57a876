"""Compiled cuts of a Mondrian class along one attribute, and the records that Mondrian's kernels share.

The median by counting or bisection; cuts restricted to boundaries of a hierarchy and to sides that keep l
distinct values (LeFevre et al. 2006).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.kernels.numba_jit import compiled

Array = NDArray[Any]
Int64 = Any
"""Integer of 64 bits: numba distinguishes integers by their width, Python does not."""


class AttributeFields(NamedTuple):
    """Position of each attribute in the words; attributes are in the order that decides ties.

    ``values`` and ``strengths`` run over all attributes' places, those of attribute j from ``offsets[j]`` on.
    ``nested[j]`` states that only the strongest boundaries of a class may be cut.
    """

    words: Array
    masks: Array
    shifts: Array
    offsets: Array
    values: Array
    spans: Array
    strengths: Array
    nested: Array


class ClassNeeds(NamedTuple):
    """Least rows of a class, and least distinct codes of each sensitive attribute.

    Row type t has the codes ``codes[offsets[t]:offsets[t + 1]]``; code c belongs to attribute
    ``attribute[c]``. ``least`` is empty if only rows count. ``best`` requests the nearest allowable cut
    instead of only the median.
    """

    k: int
    best: bool
    least: Array
    offsets: Array
    codes: Array
    attribute: Array


class CutScratch(NamedTuple):
    """Work arrays of one thread: rows by place, least and greatest places, and last visit of each code."""

    rows: Array
    low: Array
    high: Array
    widths: Array
    seen: Array
    short: Array


class ClassColumn(NamedTuple):
    """One attribute of the row types of a class: keys, rows with row type numbers, mask and shift."""

    keys: Array
    counts: Array
    mask: Int64
    shift: Int64


@compiled
def find_median(
    column: ClassColumn, low: Int64, high: Int64, total: Int64, rows: Array
) -> tuple[Int64, Int64, Int64]:
    """Return the smallest place up to which at least half of the rows are, and the rows up to and below it.

    Counts rows by place, or bisects if there are many places and few row types.
    """
    keys, counts = column.keys, column.counts
    # Bisection reads the keys several times; counting clears an entry for every place.
    if high - low > 8 * len(keys) + 64:
        while low < high:
            middle = (low + high) // 2
            if 2 * count_rows_up_to(column, middle) >= total:
                high = middle
            else:
                low = middle + 1
        return low, count_rows_up_to(column, low), count_rows_up_to(column, low - 1)
    base = np.uint64(low)
    for x in range(high - low + 1):
        rows[x] = 0
    for i in range(len(keys)):
        slot = ((keys[i] & column.mask) >> column.shift) - base
        rows[slot] += np.int64(counts[i] >> np.uint64(32))
    upto = np.int64(0)
    for x in range(high - low):
        upto += rows[x]
        if 2 * upto >= total:
            return low + x, upto, upto - rows[x]
    return high, total, upto


@compiled
def count_rows_up_to(column: ClassColumn, last: Int64) -> Int64:
    """Count the rows of the class whose place is at most ``last``."""
    if last < 0:
        return np.int64(0)
    # Places are compared as masked fields: shifting the bound once saves a shift per key.
    keys, counts, mask = column.keys, column.counts, column.mask
    bound = np.uint64(last) << column.shift
    rows = np.uint64(0)
    for i in range(len(keys)):
        rows += counts[i] >> np.uint64(32) if keys[i] & mask <= bound else np.uint64(0)
    return np.int64(rows)


@compiled
def find_restricted_cut(
    column: ClassColumn,
    low: Int64,
    high: Int64,
    total: Int64,
    attribute: Int64,
    fields: AttributeFields,
    needs: ClassNeeds,
    scratch: CutScratch,
) -> tuple[Int64, Int64]:
    """Find a cut under l or between children of a hierarchy's value; 0 rows if there is none."""
    offset = fields.offsets[attribute]
    strengths = fields.strengths[offset + low : offset + high]
    strongest = np.int64(0)
    for x in range(len(strengths)):
        strongest = max(strongest, strengths[x])
    median = find_median(column, low, high, total, scratch.rows)[0]
    first, last = low, high - 1
    cut, left = find_nearest_cut(column, first, last, low, total, median, strengths, strongest, needs.best)
    if left < needs.k or total - left < needs.k:
        return 0, np.int64(0)
    if len(needs.least) == 0:
        return cut, left
    on_left, on_right = are_sides_diverse(column, cut, needs, scratch)
    if on_left and on_right:
        return cut, left
    # The only allowed cut is the one at the median.
    if not needs.best:
        return 0, np.int64(0)
    first, last = find_allowable_cuts(column, first, last, total, needs, scratch)
    if first > last:
        return 0, np.int64(0)
    return find_nearest_cut(column, first, last, low, total, median, strengths, strongest, True)


@compiled
def find_nearest_cut(
    column: ClassColumn,
    first: Int64,
    last: Int64,
    low: Int64,
    total: Int64,
    median: Int64,
    strengths: Array,
    strongest: Int64,
    best: bool,
) -> tuple[Int64, Int64]:
    """Return the strongest boundary from ``first`` to ``last`` that is nearest to the half, and its rows.

    Without ``best`` it is the first boundary at or after the median, else the last one before it. The rows
    before the boundary are 0 if there is none.
    """
    after, before = max(first, median), min(last, median - 1)
    while after <= last and strengths[after - low] != strongest:
        after += 1
    while before >= first and strengths[before - low] != strongest:
        before -= 1
    upto_after = np.int64(0)
    if after <= last:
        upto_after = count_rows_up_to(column, after)
        if not best:
            return after, upto_after
    if before >= first:
        upto_before = count_rows_up_to(column, before)
        if after > last or abs(2 * upto_before - total) <= abs(2 * upto_after - total):
            return before, upto_before
    return after, upto_after


@compiled
def find_allowable_cuts(
    column: ClassColumn, first: Int64, last: Int64, total: Int64, needs: ClassNeeds, scratch: CutScratch
) -> tuple[Int64, Int64]:
    """Return the first and last cut that leave both sides k rows and l values; cuts between do too.

    A growing side keeps its rows and values, so each end is found by bisection.
    """
    low, high = first, last + 1
    while low < high:
        middle = (low + high) // 2
        if (
            count_rows_up_to(column, middle) >= needs.k
            and are_sides_diverse(column, middle, needs, scratch)[0]
        ):
            high = middle
        else:
            low = middle + 1
    start = low
    low, high = first - 1, last
    while low < high:
        middle = (low + high + 1) // 2
        if (
            total - count_rows_up_to(column, middle) >= needs.k
            and are_sides_diverse(column, middle, needs, scratch)[1]
        ):
            low = middle
        else:
            high = middle - 1
    return start, low


@compiled
def are_sides_diverse(
    column: ClassColumn, last: Int64, needs: ClassNeeds, scratch: CutScratch
) -> tuple[bool, bool]:
    """Return whether the left and the right side of a cut have enough distinct codes.

    Stops as soon as both have.
    """
    seen, short, counts = scratch.seen, scratch.short, column.counts
    # The last entry of ``seen`` counts the calls, so that nothing has to be cleared between them.
    clock = seen.shape[1] - 1
    seen[0, clock] += 1
    now = seen[0, clock]
    waiting_left, waiting_right = 0, 0
    for a in range(len(needs.least)):
        short[0, a] = short[1, a] = needs.least[a]
        waiting_left += 1
        waiting_right += 1
    bound = np.uint64(last) << column.shift
    for i in range(len(counts)):
        side = 0 if column.keys[i] & column.mask <= bound else 1
        row_type = np.int64(counts[i] & np.uint64(0xFFFFFFFF))
        for slot in range(needs.offsets[row_type], needs.offsets[row_type + 1]):
            code = needs.codes[slot]
            if seen[side, code] != now:
                seen[side, code] = now
                a = needs.attribute[code]
                short[side, a] -= 1
                if short[side, a] == 0:
                    waiting_left -= 1 - side
                    waiting_right -= side
        if waiting_left + waiting_right == 0:
            break
    return waiting_left == 0, waiting_right == 0
