"""Relaxed Mondrian on weighted row types, for k: the compiled loop (LeFevre et al. 2006).

Words are laid out as for strict Mondrian. Classes that wait to be divided lie on top of one another in one
buffer. Each is divided in the middle of the one on top: its right half stays, its left half is put above
it. A cut splits at most one row type, and halves the rows, so the buffer grows by one entry per level at
most.
"""

from __future__ import annotations

import numpy as np

from discreet.kernels.jit import compiled
from discreet.kernels.mondrian import find_ends, put, set_widths, widest
from discreet.kernels.mondrian_median import median_place
from discreet.kernels.mondrian_records import Array, ClassColumn, Fields, Whole


@compiled
def divide_down(
    words: Array,
    total: Whole,
    k: Whole,
    fields: Fields,
    rows: Array,
    ends: Array,
    widths: Array,
    parts: Array,
    begins: Array,
) -> tuple[Whole, Whole]:
    """Divide a class until each has fewer than 2k rows.

    ``words`` has shape (planes, parts) and is kept. ``parts`` gets the last plane's words of the final
    classes, class by class, and ``begins`` where each begins. Returns the numbers of parts and of classes.
    ``rows``, ``ends`` and ``widths`` are work arrays.
    """
    planes = len(words)
    buffer = _with_room(words, 130)
    aside = np.empty(buffer.shape, np.uint64)
    stack = np.empty((130, 3), np.int64)
    put(stack, 0, (0, words.shape[1], total))
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
        middle, top = divide(buffer, aside, first, end, here, fields, rows, ends, widths)
        half = here // 2
        put(stack, depth - 1, (first, middle, here - half))
        put(stack, depth, (middle, top, half))
        depth += 1
    return used, classes


@compiled
def divide_once(
    words: Array, total: Whole, fields: Fields, rows: Array, ends: Array, widths: Array
) -> tuple[Array, Array]:
    """The left and the right half of a class, each laid out as ``words``."""
    buffer = _with_room(words, 1)
    aside = np.empty(buffer.shape, np.uint64)
    middle, top = divide(buffer, aside, 0, words.shape[1], total, fields, rows, ends, widths)
    return buffer[:, middle:top].copy(), buffer[:, :middle].copy()


@compiled
def _with_room(words: Array, more: Whole) -> Array:
    """The words of a class, and room for more parts, copied as ``put`` does."""
    buffer = np.empty((len(words), words.shape[1] + more), np.uint64)
    for plane in range(len(words)):
        for part in range(words.shape[1]):
            buffer[plane, part] = words[plane, part]
    return buffer


@compiled
def divide(
    buffer: Array,
    aside: Array,
    first: Whole,
    end: Whole,
    total: Whole,
    fields: Fields,
    rows: Array,
    ends: Array,
    widths: Array,
) -> tuple[Whole, Whole]:
    """Put the right half in place of a class and the left half behind it; where the left begins and ends."""
    planes = len(buffer)
    last_plane = planes - 1
    find_ends(buffer, first, end, fields.words, fields.masks, ends[0], ends[1])
    set_widths(ends[0], ends[1], fields, widths)
    chosen = max(widest(widths), 0)
    mask, word = fields.masks[chosen], fields.words[chosen]
    column = ClassColumn(buffer[word, first:end], buffer[last_plane, first:end], mask, fields.shifts[chosen])
    half = total // 2
    low, high = np.int64(ends[0, chosen]), np.int64(ends[1, chosen])
    # Twice the half, not the total: of an odd number the left side gets the fewer.
    place, _, below = median_place(column, low, high, 2 * half, rows)
    bound = np.uint64(place) << fields.shifts[chosen]
    wanted = half - below
    left, right = 0, first
    for i in range(first, end):
        key = buffer[word, i] & mask
        count = np.int64(buffer[last_plane, i] >> np.uint64(32))
        goes_left = count if key < bound else np.int64(0)
        if key == bound:
            goes_left = min(count, wanted)
            wanted -= goes_left
        # A row type that is divided keeps its number on both sides.
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
