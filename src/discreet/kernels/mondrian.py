"""Strict Mondrian on weighted row types, for k and distinct l: the compiled loop (LeFevre et al. 2006).

A row type is a few words: bit fields with its place in each attribute's order, then a word with its rows
(high half) and its number (low half). Words lie plane by plane in one of two buffers, and a cut moves a
class's row types from one to the other, so that each side is contiguous. Smallest and largest places come
from masked words without unpacking, which compiles to a few vector instructions.

Cost per row type and level of the tree of cuts: a handful of nanoseconds, most of them for moving.
"""

from __future__ import annotations

import numpy as np

from discreet.kernels.jit import compiled
from discreet.kernels.mondrian_median import median_place
from discreet.kernels.mondrian_records import Array, ClassColumn, Fields, Needs, Scratch, Whole
from discreet.kernels.mondrian_restricted import restricted_cut

_BLOCK = 2048
_FEW = 12


@compiled
def mark_occurring(codes: Array, offsets: Array, seen: Array) -> None:
    """Set ``seen[offsets[j] + code]`` for every code of each column j."""
    for i in range(len(codes)):
        for j in range(len(offsets)):
            seen[offsets[j] + codes[i, j]] = 1


@compiled
def pack(codes: Array, counts: Array, offsets: Array, words: Array, fields: Array, planes: Array) -> None:
    """Fill the words of the row types; ``fields[offsets[j] + code]`` is a code's place, shifted."""
    for i in range(len(codes)):
        for plane in range(len(planes) - 1):
            planes[plane, i] = np.uint64(0)
        for j in range(len(offsets)):
            planes[words[j], i] |= fields[offsets[j] + codes[i, j]]
        # Rows above, the row type's number below: one copy moves both.
        planes[len(planes) - 1, i] = np.uint64(counts[i]) << np.uint64(32) | np.uint64(i)


@compiled
def cut_down(
    buffers: Array,
    begins: Array,
    segment: Array,
    once: bool,
    fields: Fields,
    needs: Needs,
    scratch: Scratch,
) -> Array:
    """Cut one segment and all that comes of it; with ``once``, cut it once.

    ``segment`` is (first, end, buffer, rows). Where a final class starts, ``begins`` gets 1 + its buffer.
    Returns the segments left to cut, shape (0 or 2, 4).
    """
    # Deep enough for any segment, since the smaller side is always cut first.
    stack = np.empty((128, 4), np.int64)
    put(stack, 0, (segment[0], segment[1], segment[2], segment[3]))
    depth = 1
    words, masks, shifts = fields.words, fields.masks, fields.shifts
    low, high, widths = scratch.low, scratch.high, scratch.widths
    diversity = len(needs.least) > 0
    least_rows = 2 * needs.k
    for threshold in needs.least:
        least_rows = max(least_rows, 2 * threshold)
    while depth > 0:
        depth -= 1
        first, end, buffer, total = stack[depth]
        # Typed like the sums of rows that it becomes.
        chosen, last, left = 0, 0, np.int64(0)
        if end - first > 1 and total >= least_rows:
            planes = buffers[buffer]
            find_ends(planes, first, end, words, masks, low, high)
            set_widths(low, high, fields, widths)
            chosen = widest(widths)
            while chosen >= 0:
                column = ClassColumn(
                    planes[words[chosen], first:end],
                    planes[len(planes) - 1, first:end],
                    masks[chosen],
                    shifts[chosen],
                )
                lowest, highest = np.int64(low[chosen]), np.int64(high[chosen])
                if fields.nested[chosen] or diversity:
                    last, left = restricted_cut(
                        column, lowest, highest, total, chosen, fields, needs, scratch
                    )
                else:
                    last, left = plain_cut(column, lowest, highest, total, needs.k, needs.best, scratch.rows)
                if left > 0:
                    break
                widths[chosen] = -1.0
                chosen = widest(widths)
        if left == 0:
            begins[first] = 1 + buffer
            continue
        bound = np.uint64(last) << shifts[chosen]
        middle = move(buffers[buffer], buffers[1 - buffer], first, end, words[chosen], masks[chosen], bound)
        # The smaller side is cut first, so the stack stays as deep as a number of halvings.
        right = 1 if middle - first > end - middle else 0
        put(stack, depth + right, (middle, end, 1 - buffer, total - left))
        put(stack, depth + 1 - right, (first, middle, 1 - buffer, left))
        depth += 2
        if once:
            break
    return stack[:depth].copy()


@compiled
def put(stack: Array, place: Whole, segment: tuple[Whole, ...]) -> None:
    """Write a segment to its place.

    One by one: an assignment of all would compile the words of an error, which take longer than the cutting.
    """
    for i in range(len(segment)):
        stack[place, i] = segment[i]


@compiled
def find_ends(
    planes: Array, first: Whole, end: Whole, words: Array, masks: Array, low: Array, high: Array
) -> None:
    """Fill the smallest and largest masked word of each attribute in a segment, block by block."""
    for j in range(len(low)):
        low[j] = masks[j]
        high[j] = np.uint64(0)
    at = first
    # The blocks of a few row types cost more than they save.
    if end - first <= _FEW:
        for j in range(len(low)):
            mask, word = masks[j], words[j]
            least, most = mask, np.uint64(0)
            for i in range(first, end):
                value = planes[word, i] & mask
                least = min(least, value)
                most = max(most, value)
            low[j], high[j] = least, most
        at = end
    # Attribute by attribute within a block, which stays in the cache meanwhile.
    while at < end:
        until = min(at + _BLOCK, end)
        for j in range(len(low)):
            block = planes[words[j], at:until]
            mask = masks[j]
            least, most = low[j], high[j]
            for i in range(len(block)):
                value = block[i] & mask
                least = min(least, value)
                most = max(most, value)
            low[j], high[j] = least, most
        at = until


@compiled
def set_widths(low: Array, high: Array, fields: Fields, widths: Array) -> None:
    """Turn smallest and largest masked words into places, and fill the normalized ranges."""
    for j in range(len(low)):
        low[j] >>= fields.shifts[j]
        high[j] >>= fields.shifts[j]
        offset = fields.offsets[j]
        least, most = fields.values[offset + np.int64(low[j])], fields.values[offset + np.int64(high[j])]
        widths[j] = (most - least) / fields.spans[j]


@compiled
def widest(widths: Array) -> Whole:
    """The first attribute of the largest normalized range above 0; -1 where there is none."""
    chosen, width = -1, 0.0
    for j in range(len(widths)):
        if widths[j] > width:
            chosen, width = j, widths[j]
    return chosen


@compiled
def plain_cut(
    column: ClassColumn, low: Whole, high: Whole, total: Whole, k: Whole, best: bool, rows: Array
) -> tuple[Whole, Whole]:
    """Where to cut for k alone, between any two places, and the left side's rows; 0 rows for nowhere.

    The nearest cut to the half is just behind the median or just before it, and where it leaves fewer than k
    rows on a side, every other cut does.
    """
    median, upto, below = median_place(column, low, high, total, rows)
    last, left = median, upto
    if median == high or (best and median > low and total - 2 * below <= 2 * upto - total):
        last, left = median - 1, below
    if left < k or total - left < k:
        return 0, np.int64(0)
    return last, left


@compiled
def move(
    source: Array, target: Array, first: Whole, end: Whole, word: Whole, mask: Whole, bound: Whole
) -> Whole:
    """Copy a segment, the left side from its start and the right side from its end; where they meet."""
    last_plane = len(source) - 1
    keys = source[word, first:end]
    left: Whole = 0
    for plane in range(last_plane):
        if plane == word:
            continue
        values, out = source[plane, first:end], target[plane, first:end]
        left, right = 0, len(keys) - 1
        for i in range(len(keys)):
            goes_left: Whole = np.int64(keys[i] & mask <= bound)
            out[left] = values[i]
            out[right] = values[i]
            left += goes_left
            right -= 1 - goes_left
    counts = source[last_plane, first:end]
    out_keys, out_counts = target[word, first:end], target[last_plane, first:end]
    left, right = 0, len(keys) - 1
    for i in range(len(keys)):
        key, count = keys[i], counts[i]
        goes_left = np.int64(key & mask <= bound)
        out_keys[left] = key
        out_keys[right] = key
        out_counts[left] = count
        out_counts[right] = count
        left += goes_left
        right -= 1 - goes_left
    return first + left


@compiled
def number_classes(buffers: Array, begins: Array, classes: Array) -> Whole:
    """Fill the class of each row type; classes are numbered as they lie. How many there are."""
    last = buffers.shape[1] - 1
    number = -1
    buffer = 0
    for i in range(len(begins)):
        if begins[i] > 0:
            number += 1
            buffer = begins[i] - 1
        classes[np.int64(buffers[buffer, last, i] & np.uint64(0xFFFFFFFF))] = number
    return number + 1
