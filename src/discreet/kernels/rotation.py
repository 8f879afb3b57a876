"""Compiled evaluation of every lattice node for k: the rotation of sorted, packed row types.

Why it is fast: each attribute's field keeps its place in the key, leaves are numbered depth first, so a level
is rolled up by one linear pass over neighbours, and bringing the next attribute to the end of the sort order
is one stable counting sort by a small digit. Nothing is hashed or compared-sorted, and a prefix of levels is
built once for all nodes below it. Beyond the plan of ``kernels.program``, groups that share their head with
no other group (*isolated*) can merge with nothing below: they are tallied once for all nodes there.

Cost: about 1.5 to 5 ns per group visited; the numpy twin (``kernels.rotation_twin``) is the oracle.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.kernels.bit_sets import BitSets, clear_set, copy_set, join_set
from discreet.kernels.jit import compiled

Array = NDArray[Any]


@compiled
def roll_up(
    keys: Array, counts: Array, bits: BitSets, groups: int, keep: Any, shift: Any, step: Array
) -> int:
    """One level up in place: replace the field outside ``keep`` by ``step`` of it, merge equal neighbours."""
    if groups == 0:
        return 0
    field = ~keep
    # Typed like the counts: an unsigned number and a plain 0 add up to a floating-point one here.
    zero = counts.dtype.type(0)
    last = 0
    previous = (keys[0] & keep) | step[(keys[0] & field) >> shift]
    total = counts[0]
    keys[0] = previous
    for i in range(1, groups):
        key = (keys[i] & keep) | step[(keys[i] & field) >> shift]
        fresh = key != previous
        last += fresh
        # Without a branch: half of them would be guessed wrongly.
        total = counts[i] + (zero if fresh else total)
        keys[last] = key
        counts[last] = total
        join_set(bits, i, bits, last, fresh)
        previous = key
    return last + 1


@compiled
def rotate(
    keys: Array,
    counts: Array,
    bits: BitSets,
    groups: int,
    to_keys: Array,
    to_counts: Array,
    to_bits: BitSets,
    field: Any,
    shift: Any,
    place: Array,
) -> None:
    """Stable counting sort by one field into other arrays; ``place`` is scratch, one above the ordinals."""
    place[:] = 0
    for i in range(groups):
        place[((keys[i] & field) >> shift) + 1] += 1
    for digit in range(1, len(place)):
        place[digit] += place[digit - 1]
    for i in range(groups):
        key = keys[i]
        digit = (key & field) >> shift
        to = place[digit]
        place[digit] = to + 1
        to_keys[to] = key
        to_counts[to] = counts[i]
        copy_set(bits, i, to_bits, to)


@compiled
def isolate(keys: Array, groups: int, head: Any, kept_at: Array, alone_at: Array) -> tuple[int, int]:
    """Part the positions of groups whose ``head`` fields no neighbour shares from those of the others."""
    kept = 0
    isolated = 0
    shares_previous = False
    for i in range(groups):
        shares_next = i + 1 < groups and (keys[i + 1] & head) == (keys[i] & head)
        keep = shares_previous | shares_next
        kept_at[kept] = i
        alone_at[isolated] = i
        kept += keep
        isolated += not keep
        shares_previous = shares_next
    return kept, isolated


@compiled
def compact(keys: Array, counts: Array, bits: BitSets, at: Array, groups: int) -> None:
    """Keep the groups ``at`` ascending positions, in place."""
    for n in range(groups):
        i = at[n]
        keys[n] = keys[i]
        counts[n] = counts[i]
        copy_set(bits, i, bits, n)


@compiled
def recode(
    keys: Array, groups: int, head: Any, later: Any, later_shift: Any, fields: Array, head_shift: Any
) -> None:
    """Bring keys into the next section, in place: heads are numbered, ``later`` tuples become ``fields``."""
    # Typed like the keys: numbers of other types would make the keys floating-point ones.
    number = keys.dtype.type(0)
    one = keys.dtype.type(1)
    previous = keys[0] & head
    for i in range(groups):
        key = keys[i]
        if (key & head) != previous:
            number += one
            previous = key & head
        keys[i] = fields[(key & later) >> later_shift] | (number << head_shift)


@compiled
def build_rows(
    keys: Array,
    counts: Array,
    bits: BitSets,
    at: Array,
    groups: int,
    shift: Any,
    cells: Any,
    to_keys: Array,
    to_cells: Array,
    to_bits: BitSets,
) -> int:
    """The groups ``at`` some positions: those that differ in their cell fields only become one row.

    A row has four cells; returns the number of rows.
    """
    if groups == 0:
        return 0
    keep = ~(cells << shift)
    row = -1
    # Unlike any first key, so that it opens a row.
    previous = ~keys[0]
    to_cells[0] = 0
    to_cells[1] = 0
    to_cells[2] = 0
    to_cells[3] = 0
    for first in range(4):
        clear_set(to_bits, first)
    for n in range(groups):
        i = at[n]
        key = keys[i] & keep
        row += key != previous
        to_keys[row] = key
        base = 4 * row
        cell = base + np.int64((keys[i] >> shift) & cells)
        to_cells[cell] = counts[i]
        # The row after this one is cleared, since its cells are of an earlier use.
        to_cells[base + 4] = 0
        to_cells[base + 5] = 0
        to_cells[base + 6] = 0
        to_cells[base + 7] = 0
        copy_set(bits, i, to_bits, cell)
        for later in range(4):
            clear_set(to_bits, base + 4 + later)
        previous = key
    return row + 1


@compiled
def merge_rows(
    keys: Array,
    cells: Array,
    bits: BitSets,
    rows: int,
    keep: Any,
    shift: Any,
    step: Array,
    to_keys: Array,
    to_cells: Array,
    to_bits: BitSets,
) -> int:
    """One level up in the outer attribute: neighbouring rows with equal keys add their cells."""
    if rows == 0:
        return 0
    field = ~keep
    # Typed like the cells, as in ``roll_up``.
    zero = cells.dtype.type(0)
    a = zero
    b = zero
    c = zero
    d = zero
    row = -1
    previous = keys[0]
    for i in range(rows):
        key = (keys[i] & keep) | step[(keys[i] & field) >> shift]
        # No key was raised before the first, so its place makes it fresh.
        fresh = (key != previous) | (i == 0)
        row += fresh
        a = cells[4 * i] + (zero if fresh else a)
        b = cells[4 * i + 1] + (zero if fresh else b)
        c = cells[4 * i + 2] + (zero if fresh else c)
        d = cells[4 * i + 3] + (zero if fresh else d)
        to_keys[row] = key
        to_cells[4 * row] = a
        to_cells[4 * row + 1] = b
        to_cells[4 * row + 2] = c
        to_cells[4 * row + 3] = d
        for cell in range(4):
            join_set(bits, 4 * i + cell, to_bits, 4 * row + cell, fresh)
        previous = key
    return row + 1
