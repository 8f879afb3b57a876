"""Cuts that not every place allows: under distinct l, and between children of a hierarchy's value only."""

from __future__ import annotations

import numpy as np

from discreet.kernels.jit import compiled
from discreet.kernels.mondrian_median import median_place, rows_up_to
from discreet.kernels.mondrian_records import Array, ClassColumn, Fields, Needs, Scratch, Whole


@compiled
def restricted_cut(
    column: ClassColumn,
    low: Whole,
    high: Whole,
    total: Whole,
    attribute: Whole,
    fields: Fields,
    needs: Needs,
    scratch: Scratch,
) -> tuple[Whole, Whole]:
    """Where to cut under l, or between children of a hierarchy's value only; 0 rows for nowhere."""
    offset = fields.offsets[attribute]
    strengths = fields.strengths[offset + low : offset + high]
    strongest = np.int64(0)
    for x in range(len(strengths)):
        strongest = max(strongest, strengths[x])
    median = median_place(column, low, high, total, scratch.rows)[0]
    first, last = low, high - 1
    cut, left = nearest_cut(column, first, last, low, total, median, strengths, strongest, needs.best)
    if left < needs.k or total - left < needs.k:
        return 0, np.int64(0)
    if len(needs.least) == 0:
        return cut, left
    on_left, on_right = diverse(column, cut, needs, scratch)
    if on_left and on_right:
        return cut, left
    # The cut at the median is this one and no other.
    if not needs.best:
        return 0, np.int64(0)
    first, last = allowable(column, first, last, total, needs, scratch)
    if first > last:
        return 0, np.int64(0)
    return nearest_cut(column, first, last, low, total, median, strengths, strongest, True)


@compiled
def nearest_cut(
    column: ClassColumn,
    first: Whole,
    last: Whole,
    low: Whole,
    total: Whole,
    median: Whole,
    strengths: Array,
    strongest: Whole,
    best: bool,
) -> tuple[Whole, Whole]:
    """The strongest boundary from ``first`` to ``last`` that is nearest to the half, and the rows before it.

    Without ``best``: the first at or behind the median, else the last before it. 0 rows where there is none.
    """
    after, before = max(first, median), min(last, median - 1)
    while after <= last and strengths[after - low] != strongest:
        after += 1
    while before >= first and strengths[before - low] != strongest:
        before -= 1
    upto_after = np.int64(0)
    if after <= last:
        upto_after = rows_up_to(column, after)
        if not best:
            return after, upto_after
    if before >= first:
        upto_before = rows_up_to(column, before)
        if after > last or abs(2 * upto_before - total) <= abs(2 * upto_after - total):
            return before, upto_before
    return after, upto_after


@compiled
def allowable(
    column: ClassColumn, first: Whole, last: Whole, total: Whole, needs: Needs, scratch: Scratch
) -> tuple[Whole, Whole]:
    """The first and last cut that leave both sides k rows and l values: what lies between does too.

    A side that grows keeps what it has, so each end is found by bisection.
    """
    low, high = first, last + 1
    while low < high:
        middle = (low + high) // 2
        if rows_up_to(column, middle) >= needs.k and diverse(column, middle, needs, scratch)[0]:
            high = middle
        else:
            low = middle + 1
    start = low
    low, high = first - 1, last
    while low < high:
        middle = (low + high + 1) // 2
        if total - rows_up_to(column, middle) >= needs.k and diverse(column, middle, needs, scratch)[1]:
            low = middle
        else:
            high = middle - 1
    return start, low


@compiled
def diverse(column: ClassColumn, last: Whole, needs: Needs, scratch: Scratch) -> tuple[bool, bool]:
    """Whether the left and the right side of a cut have enough distinct codes; stops when both have."""
    seen, short, counts = scratch.seen, scratch.short, column.counts
    # The last place of ``seen`` counts the calls, so that nothing needs to be cleared between them.
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
        for place in range(needs.offsets[row_type], needs.offsets[row_type + 1]):
            code = needs.codes[place]
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
