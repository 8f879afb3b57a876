"""Compiled minimal sample uniques (SUDA2; Manning, Haglin and Keane 2008) by refining classes.

Column sets are bit masks in numeric order; a child adds a column before the parent's first. Twin:
``numpy_twins``.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.kernels.numba_jit import compiled

Array = NDArray[Any]


class ColumnSetWalk(NamedTuple):
    """Stack of the depth-first walk: the remaining classes of row types by depth.

    Class c of depth d is ``members[d, starts[d, c]:starts[d, c + 1]]``.
    """

    members: Array
    starts: Array
    classes: Array


class CodeSlots(NamedTuple):
    """Scratch of one class by code: row types, row types of one row, target positions; and ``seen`` codes."""

    counts: Array
    singles: Array
    places: Array
    seen: Array


class MinimalSets(NamedTuple):
    """Minimal sets found: pairs of a row type and a mask; ``before`` chains those of one row type."""

    rows: Array
    masks: Array
    before: Array
    newest: Array


@compiled
def find_minimal_uniques(
    codes: Array, single: Array, sizes: Array, largest: int, room: int, most: int
) -> tuple[Array, Array, int]:
    """Find all minimal sets of up to ``largest`` columns; return row types, masks and their number.

    ``codes``, shape ``(columns, row types)``, are in ``0 … sizes[column] - 1``; ``single`` marks row types of
    one row. ``room`` is the initial capacity, doubled as needed. The number is -1 if there are more than
    ``most``.
    """
    width, number = codes.shape
    walk = ColumnSetWalk(
        np.empty((largest + 1, number), np.int32),
        np.empty((largest + 1, number + 1), np.int32),
        np.zeros(largest + 1, np.int64),
    )
    widest = max(1, sizes.max())
    slots = CodeSlots(
        np.zeros(widest, np.int32),
        np.zeros(widest, np.int32),
        np.zeros(widest, np.int32),
        np.empty(widest, np.int32),
    )
    sets = MinimalSets(
        np.empty(room, np.int64),
        np.empty(room, np.int64),
        np.empty(room, np.int64),
        np.full(number, -1, np.int64),
    )
    mask, column = np.zeros(largest + 1, np.int64), np.zeros(largest + 1, np.int64)
    first = np.full(largest + 1, width, np.int64)
    for i in range(number):
        walk.members[0, i] = i
    walk.starts[0, 0], walk.starts[0, 1] = 0, number
    walk.classes[0] = 1
    found, depth = 0, 0
    while depth >= 0:
        j = column[depth]
        if j >= first[depth] or walk.classes[depth] == 0 or depth == largest:
            depth -= 1
            continue
        column[depth] += 1
        child = mask[depth] | (np.int64(1) << j)
        if found + number > len(sets.rows):
            if len(sets.rows) > most:
                return sets.rows, sets.masks, -1
            sets = MinimalSets(_double(sets.rows), _double(sets.masks), _double(sets.before), sets.newest)
        found = _part(walk, depth, codes[j], single, child, slots, sets, found)
        depth += 1
        mask[depth], first[depth], column[depth] = child, j, 0
    return sets.rows, sets.masks, found


@compiled
def _part(
    walk: ColumnSetWalk,
    depth: int,
    code: Array,
    single: Array,
    child: int,
    slots: CodeSlots,
    sets: MinimalSets,
    found: int,
) -> int:
    """Split the classes of a depth by one more column, into the next depth; return the number of sets."""
    members, into, starts = walk.members[depth], walk.members[depth + 1], walk.starts[depth + 1]
    count, end = 0, 0
    for c in range(walk.classes[depth]):
        low, high = walk.starts[depth, c], walk.starts[depth, c + 1]
        different = 0
        for at in range(low, high):
            value = code[members[at]]
            if slots.counts[value] == 0:
                slots.seen[different] = value
                different += 1
            slots.counts[value] += 1
            slots.singles[value] += single[members[at]]
        # Only classes with a single row among several row types can contain further uniques.
        for s in range(different):
            value = slots.seen[s]
            if slots.counts[value] > 1 and slots.singles[value] > 0:
                starts[count] = end
                count += 1
                slots.places[value] = end
                end += slots.counts[value]
            else:
                slots.places[value] = -1 if slots.singles[value] == 1 else -2
        for at in range(low, high):
            member = members[at]
            slot = slots.places[code[member]]
            if slot >= 0:
                into[slot] = member
                slots.places[code[member]] = slot + 1
            # All subsets of ``child`` were visited before (numeric order), so containment decides minimality.
            elif slot == -1 and not _within(sets.newest[member], sets, child):
                sets.rows[found], sets.masks[found] = member, child
                sets.before[found] = sets.newest[member]
                sets.newest[member] = found
                found += 1
        for s in range(different):
            slots.counts[slots.seen[s]] = 0
            slots.singles[slots.seen[s]] = 0
    starts[count] = end
    walk.classes[depth + 1] = count
    return found


@compiled
def _within(last: int, sets: MinimalSets, mask: int) -> bool:
    """Return whether one of a row's minimal sets is a subset of ``mask``."""
    at = last
    while at >= 0:
        if sets.masks[at] & mask == sets.masks[at]:
            return True
        at = sets.before[at]
    return False


@compiled
def _double(array: Array) -> Array:
    result = np.empty(2 * len(array), array.dtype)
    for i in range(len(array)):
        result[i] = array[i]
    return result
