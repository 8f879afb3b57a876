"""Compiled loops of strict and relaxed Mondrian on weighted row types (LeFevre et al. 2006).

Row types are a few words in planes of two buffers; a cut moves a class so that each side is contiguous. Cost:
a few nanoseconds per row type and level of the tree of cuts.
"""

from __future__ import annotations

import numpy as np

from discreet.kernels.mondrian_cuts import (
    Array,
    AttributeFields,
    ClassColumn,
    ClassNeeds,
    CutScratch,
    Int64,
    find_median,
    find_restricted_cut,
)
from discreet.kernels.numba_jit import compiled

_BLOCK = 2048
_FEW = 12


@compiled
def mark_occurring(codes: Array, offsets: Array, seen: Array) -> None:
    """Set ``seen[offsets[j] + code]`` for every code of each column j."""
    for i in range(len(codes)):
        for j in range(len(offsets)):
            seen[offsets[j] + codes[i, j]] = 1


@compiled
def pack_row_types(
    codes: Array, counts: Array, offsets: Array, words: Array, fields: Array, planes: Array
) -> None:
    """Fill the words of the row types; ``fields[offsets[j] + code]`` is a code's place, shifted."""
    for i in range(len(codes)):
        for plane in range(len(planes) - 1):
            planes[plane, i] = np.uint64(0)
        for j in range(len(offsets)):
            planes[words[j], i] |= fields[offsets[j] + codes[i, j]]
        # Rows in the high half, the row type's number in the low half: one copy moves both.
        planes[len(planes) - 1, i] = np.uint64(counts[i]) << np.uint64(32) | np.uint64(i)


@compiled
def cut_segment(
    buffers: Array,
    begins: Array,
    segment: Array,
    once: bool,
    fields: AttributeFields,
    needs: ClassNeeds,
    scratch: CutScratch,
) -> Array:
    """Cut a segment recursively until no cut is allowed; with ``once``, cut it once.

    ``segment`` is (first, end, buffer, rows). For each final class ``begins`` at its start is set to 1 + its
    buffer. Returns the segments left to cut, shape (0 or 2, 4).
    """
    # Deep enough for any segment, because the smaller side is always cut first.
    stack = np.empty((128, 4), np.int64)
    write_segment(stack, 0, (segment[0], segment[1], segment[2], segment[3]))
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
        # Typed like the row sums that are assigned later; numba would not unify a literal 0 with them.
        chosen, last, left = 0, 0, np.int64(0)
        if end - first > 1 and total >= least_rows:
            planes = buffers[buffer]
            find_ends(planes, first, end, words, masks, low, high)
            set_widths(low, high, fields, widths)
            chosen = find_widest(widths)
            while chosen >= 0:
                values, counts = planes[words[chosen], first:end], planes[len(planes) - 1, first:end]
                column = ClassColumn(values, counts, masks[chosen], shifts[chosen])
                lowest, highest = np.int64(low[chosen]), np.int64(high[chosen])
                if fields.nested[chosen] or diversity:
                    last, left = find_restricted_cut(
                        column, lowest, highest, total, chosen, fields, needs, scratch
                    )
                else:
                    last, left = find_plain_cut(
                        column, lowest, highest, total, needs.k, needs.best, scratch.rows
                    )
                if left > 0:
                    break
                widths[chosen] = -1.0
                chosen = find_widest(widths)
        if left == 0:
            begins[first] = 1 + buffer
            continue
        bound = np.uint64(last) << shifts[chosen]
        middle = move_segment(
            buffers[buffer], buffers[1 - buffer], first, end, words[chosen], masks[chosen], bound
        )
        # The smaller side is on top, so the depth of the stack is at most the number of halvings.
        right = 1 if middle - first > end - middle else 0
        write_segment(stack, depth + right, (middle, end, 1 - buffer, total - left))
        write_segment(stack, depth + 1 - right, (first, middle, 1 - buffer, left))
        depth += 2
        if once:
            break
    return stack[:depth].copy()


@compiled
def write_segment(stack: Array, slot: Int64, segment: tuple[Int64, ...]) -> None:
    """Write a segment to the stack.

    Element by element: an assignment of the whole row would compile numba's error messages for shapes that
    differ, which takes longer than the cutting.
    """
    for i in range(len(segment)):
        stack[slot, i] = segment[i]


@compiled
def find_ends(
    planes: Array, first: Int64, end: Int64, words: Array, masks: Array, low: Array, high: Array
) -> None:
    """Fill the least and greatest masked word of each attribute in a segment, block by block."""
    for j in range(len(low)):
        low[j] = masks[j]
        high[j] = np.uint64(0)
    at = first
    # For a few row types blocks cost more than they save.
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
def set_widths(low: Array, high: Array, fields: AttributeFields, widths: Array) -> None:
    """Convert least and greatest masked words to places, and fill the normalized ranges."""
    for j in range(len(low)):
        low[j] >>= fields.shifts[j]
        high[j] >>= fields.shifts[j]
        offset = fields.offsets[j]
        least, most = fields.values[offset + np.int64(low[j])], fields.values[offset + np.int64(high[j])]
        widths[j] = (most - least) / fields.spans[j]


@compiled
def find_widest(widths: Array) -> Int64:
    """Return the first attribute with the greatest normalized range above 0; -1 if there is none."""
    chosen, width = -1, 0.0
    for j in range(len(widths)):
        if widths[j] > width:
            chosen, width = j, widths[j]
    return chosen


@compiled
def find_plain_cut(
    column: ClassColumn, low: Int64, high: Int64, total: Int64, k: Int64, best: bool, rows: Array
) -> tuple[Int64, Int64]:
    """Find a cut for k only, between any two places; return it and the left side's rows, 0 if none.

    The nearest cut to the half is just after the median or just before it; if it leaves fewer than k rows on
    a side, every other cut does too.
    """
    median, upto, below = find_median(column, low, high, total, rows)
    last, left = median, upto
    if median == high or (best and median > low and total - 2 * below <= 2 * upto - total):
        last, left = median - 1, below
    if left < k or total - left < k:
        return 0, np.int64(0)
    return last, left


@compiled
def move_segment(
    source: Array, target: Array, first: Int64, end: Int64, word: Int64, mask: Int64, bound: Int64
) -> Int64:
    """Copy a segment, the left side from its start and the right side from its end; return the boundary."""
    last_plane = len(source) - 1
    keys = source[word, first:end]
    left: Int64 = 0
    for plane in range(last_plane):
        if plane == word:
            continue
        # Each value is written to both sides and only one position advances: no branch to be mispredicted.
        values, out = source[plane, first:end], target[plane, first:end]
        left, right = 0, len(keys) - 1
        for i in range(len(keys)):
            goes_left: Int64 = np.int64(keys[i] & mask <= bound)
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
def number_final_classes(buffers: Array, begins: Array, classes: Array) -> Int64:
    """Fill the class of each row type, numbering classes by position; return their number."""
    last = buffers.shape[1] - 1
    number = -1
    buffer = 0
    for i in range(len(begins)):
        if begins[i] > 0:
            number += 1
            buffer = begins[i] - 1
        classes[np.int64(buffers[buffer, last, i] & np.uint64(0xFFFFFFFF))] = number
    return number + 1


@compiled
def divide_fully(
    words: Array,
    total: Int64,
    k: Int64,
    fields: AttributeFields,
    rows: Array,
    ends: Array,
    widths: Array,
    parts: Array,
    begins: Array,
) -> tuple[Int64, Int64]:
    """Divide a class until each has fewer than 2k rows.

    ``words`` has shape (planes, parts) and is not modified. ``parts`` receives the last plane's words of the
    final classes, class by class, and ``begins`` the start of each. Returns the numbers of parts and of
    classes. ``rows``, ``ends`` and ``widths`` are scratch.
    """
    # Each of up to 130 open classes may divide one row type, which adds one part.
    planes = len(words)
    buffer = _with_room(words, 130)
    aside = np.empty(buffer.shape, np.uint64)
    stack = np.empty((130, 3), np.int64)
    write_segment(stack, 0, (0, words.shape[1], total))
    depth, used, classes = 1, 0, 0
    while depth > 0:
        first, end, here = stack[depth - 1]
        if here < 2 * k or here < 2:
            depth -= 1
            begins[classes] = used
            classes += 1
            for i in range(first, end):
                parts[used + i - first] = buffer[planes - 1, i]
            used += end - first
            continue
        middle, top = divide_class(buffer, aside, first, end, here, fields, rows, ends, widths)
        half = here // 2
        write_segment(stack, depth - 1, (first, middle, here - half))
        write_segment(stack, depth, (middle, top, half))
        depth += 1
    return used, classes


@compiled
def divide_once(
    words: Array, total: Int64, fields: AttributeFields, rows: Array, ends: Array, widths: Array
) -> tuple[Array, Array]:
    """Return the left and the right half of a class, each in the layout of ``words``."""
    buffer = _with_room(words, 1)
    aside = np.empty(buffer.shape, np.uint64)
    middle, top = divide_class(buffer, aside, 0, words.shape[1], total, fields, rows, ends, widths)
    return buffer[:, middle:top].copy(), buffer[:, :middle].copy()


@compiled
def _with_room(words: Array, more: Int64) -> Array:
    """Copy the words of a class into a buffer with capacity for ``more`` parts."""
    buffer = np.empty((len(words), words.shape[1] + more), np.uint64)
    for plane in range(len(words)):
        for part in range(words.shape[1]):
            buffer[plane, part] = words[plane, part]
    return buffer


@compiled
def divide_class(
    buffer: Array,
    aside: Array,
    first: Int64,
    end: Int64,
    total: Int64,
    fields: AttributeFields,
    rows: Array,
    ends: Array,
    widths: Array,
) -> tuple[Int64, Int64]:
    """Replace a class by its right half, followed by its left half; return the left's start and end."""
    planes = len(buffer)
    last_plane = planes - 1
    find_ends(buffer, first, end, fields.words, fields.masks, ends[0], ends[1])
    set_widths(ends[0], ends[1], fields, widths)
    chosen = max(find_widest(widths), 0)
    mask, word = fields.masks[chosen], fields.words[chosen]
    column = ClassColumn(buffer[word, first:end], buffer[last_plane, first:end], mask, fields.shifts[chosen])
    half = total // 2
    low, high = np.int64(ends[0, chosen]), np.int64(ends[1, chosen])
    # Twice the half, not the total: the left side gets the smaller half of an odd number.
    slot, _, below = find_median(column, low, high, 2 * half, rows)
    bound = np.uint64(slot) << fields.shifts[chosen]
    wanted = half - below
    left, right = 0, first
    for i in range(first, end):
        key = buffer[word, i] & mask
        count = np.int64(buffer[last_plane, i] >> np.uint64(32))
        goes_left = count if key < bound else np.int64(0)
        if key == bound:
            goes_left = min(count, wanted)
            wanted -= goes_left
        # A divided row type keeps its number on both sides.
        number = buffer[last_plane, i] & np.uint64(0xFFFFFFFF)
        if goes_left > 0:
            for plane in range(last_plane):
                aside[plane, left] = buffer[plane, i]
            aside[last_plane, left] = np.uint64(goes_left) << np.uint64(32) | number
            left += 1
        if goes_left < count:
            for plane in range(last_plane):
                buffer[plane, right] = buffer[plane, i]
            buffer[last_plane, right] = np.uint64(count - goes_left) << np.uint64(32) | number
            right += 1
    for plane in range(planes):
        for i in range(left):
            buffer[plane, right + i] = aside[plane, i]
    return right, right + left
