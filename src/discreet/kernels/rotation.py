"""Compiled rotation of sorted, packed row types, and the records that its kernels share.

A level is rolled up by one linear pass over neighbours; the next attribute is brought to the end of the
sort order by one stable counting sort. Groups that share their head with no other group are isolated: they
are tallied once for all nodes below. Cost: 1.5 to 5 ns per visited group. Twin: ``rotation_twin``.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.kernels.numba_jit import compiled
from discreet.kernels.packed_values import BitSets, clear_set, copy_set, union_set

Array = NDArray[Any]


class PlanArrays(NamedTuple):
    """What the program needs to know of the plan; numbers that meet keys are of the keys' type.

    ``steps[step_starts[p, l] : step_starts[p, l + 1]]`` is position p's step to level l, shifted into its
    field; ``sizes[p, l]`` is its number of ordinals. ``heads[p]`` is the mask of the positions up to p.
    Groups that share them with no other are set apart behind position p where ``apart[p]``. ``section[p]``
    is the section that ends with p, or -1: ``laters``, ``later_shifts`` and ``head_shifts`` say of each how
    to code keys again, with ``codes[code_starts[s] : code_starts[s + 1]]``.

    ``marginals[q]`` bounds the tables that make up cell node q, and
    ``node_of_marginal`` says the reverse, -1 for a marginal that belongs to no node. ``words`` are the bounds
    of each sensitive attribute's words in a bit set, ``widths`` the bits that its number of values takes.
    """

    shifts: Array
    fields: Array
    steps: Array
    step_starts: Array
    sizes: Array
    heads: Array
    apart: Array
    section: Array
    laters: Array
    later_shifts: Array
    head_shifts: Array
    codes: Array
    code_starts: Array
    head: int
    base: int
    head_fields: Any
    cell_mask: Any
    cell_strides: Array
    marginals: Array
    node_of_marginal: Array
    words: Array
    widths: Array
    outer_levels: int
    outer_stride: int
    limit: Any


class RotationScratch(NamedTuple):
    """One thread's working arrays for class sizes.

    ``kept_at`` and ``alone_at`` are positions of groups in a state, ``row_at`` of each row's first cell.
    ``tables`` and ``big`` hold what was tallied, small sizes counted and big ones listed.

    Groups that were set apart behind a position count at every node below: ``alone_tables[p + 1]`` holds the
    small sizes of those of positions up to p, ``alone_big[: alone_ends[p + 1]]`` the big ones. Those of the
    tail come last.
    """

    slot: Array
    shared_at: Array
    isolated_at: Array
    row_at: Array
    row_keys: Array
    row_cells: Array
    big: Array
    bigs: Array
    merged: Array
    tables: Array
    isolated_tables: Array
    isolated_big: Array
    isolated_ends: Array
    sizes: Array


class SetScratch(NamedTuple):
    """The working arrays that sets of sensitive values take besides.

    ``tables[q, size, distinct]`` and ``listed[q, :lengths[q]]`` (packed signatures) hold what was tallied for
    cell node q; q = nodes is for rows of a single cell (its table takes in the isolated groups too). Groups
    that were set apart are tallied as in ``Scratch``.
    """

    row_bits: Array
    tables: Array
    listed: Array
    lengths: Array
    isolated_tables: Array
    isolated_listed: Array
    isolated_ends: Array
    merged: Array
    packed: Array


class HistogramOutput(NamedTuple):
    """The nodes' histograms, shared by all tasks; each node is written by one."""

    small: Array
    classes: Array
    starts: Array
    stops: Array


@compiled
def grow_entries(entries: Array, used: int, needed: int) -> Array:
    """The array ``(columns, entries)``, or a larger copy of it, with room for ``needed`` entries."""
    columns, room = entries.shape
    if needed <= room:
        return entries
    larger = np.empty((columns, max(needed, 2 * room)), entries.dtype)
    for column in range(columns):
        for i in range(used):
            larger[column, i] = entries[column, i]
    return larger


@compiled
def sort_ascending(values: Array) -> None:
    """Sort in place (Shell's method: short lists, and a fraction of the library sort's compile time)."""
    gap = 1
    while gap < len(values) // 3:
        gap = 3 * gap + 1
    while gap > 0:
        for i in range(gap, len(values)):
            value = values[i]
            j = i
            while j >= gap and values[j - gap] > value:
                values[j] = values[j - gap]
                j -= gap
            values[j] = value
        gap //= 3


@compiled
def roll_up_state(
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
        union_set(bits, i, bits, last, fresh)
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
    slot: Array,
) -> None:
    """Stable counting sort by one field into other arrays; ``place`` is scratch, one above the ordinals."""
    slot[:] = 0
    for i in range(groups):
        slot[((keys[i] & field) >> shift) + 1] += 1
    for digit in range(1, len(slot)):
        slot[digit] += slot[digit - 1]
    for i in range(groups):
        key = keys[i]
        digit = (key & field) >> shift
        to = slot[digit]
        slot[digit] = to + 1
        to_keys[to] = key
        to_counts[to] = counts[i]
        copy_set(bits, i, to_bits, to)


@compiled
def split_isolated(
    keys: Array, groups: int, head: Any, shared_at: Array, isolated_at: Array
) -> tuple[int, int]:
    """Part the positions of groups whose ``head`` fields no neighbour shares from those of the others."""
    kept = 0
    isolated = 0
    shares_previous = False
    for i in range(groups):
        shares_next = i + 1 < groups and (keys[i + 1] & head) == (keys[i] & head)
        keep = shares_previous | shares_next
        shared_at[kept] = i
        isolated_at[isolated] = i
        kept += keep
        isolated += not keep
        shares_previous = shares_next
    return kept, isolated


@compiled
def compact_groups(keys: Array, counts: Array, bits: BitSets, at: Array, groups: int) -> None:
    """Keep the groups ``at`` ascending positions, in place."""
    for n in range(groups):
        i = at[n]
        keys[n] = keys[i]
        counts[n] = counts[i]
        copy_set(bits, i, bits, n)


@compiled
def recode_keys(
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
            union_set(bits, 4 * i + cell, to_bits, 4 * row + cell, fresh)
        previous = key
    return row + 1


@compiled
def rotate_buffer(
    shape: PlanArrays,
    scratch: RotationScratch,
    position: int,
    level: int,
    groups: int,
    keys: Array,
    counts: Array,
    bits: BitSets,
    buffer: int,
    to: int,
) -> None:
    """Rotate the state of one buffer by an attribute's ordinals of a level, into another buffer."""
    field, shift = shape.fields[position], shape.shifts[position]
    slot = scratch.slot[: shape.sizes[position, level] + 1]
    if bits is None:
        rotate(keys[buffer], counts[buffer], None, groups, keys[to], counts[to], None, field, shift, slot)
    else:
        held = bits[buffer]
        rotate(keys[buffer], counts[buffer], held, groups, keys[to], counts[to], bits[to], field, shift, slot)


@compiled
def build_first_rows(
    shape: PlanArrays,
    scratch: RotationScratch,
    keys: Array,
    counts: Array,
    bits: BitSets,
    groups: int,
    row_bits: BitSets,
) -> tuple[int, int]:
    """Set isolated groups apart (``scratch.alone_at``), build rows of the others; the number of each."""
    kept, isolated = split_isolated(keys, groups, shape.head_fields, scratch.shared_at, scratch.isolated_at)
    rows = build_rows(
        keys,
        counts,
        bits,
        scratch.shared_at,
        kept,
        shape.shifts[shape.head],
        shape.cell_mask,
        scratch.row_keys[0],
        scratch.row_cells[0],
        row_bits,
    )
    return rows, isolated


@compiled
def raise_outer_rows(
    shape: PlanArrays, scratch: RotationScratch, level: int, rows: int, row_bits: BitSets, to_bits: BitSets
) -> int:
    """Raise the outer attribute to ``level``; rows of even levels stand in buffer 0, of odd ones in 1."""
    outer = len(shape.shifts) - 1
    to = level & 1
    return merge_rows(
        scratch.row_keys[1 - to],
        scratch.row_cells[1 - to],
        row_bits,
        rows,
        ~shape.fields[outer],
        shape.shifts[outer],
        shape.steps[shape.step_starts[outer, level] : shape.step_starts[outer, level + 1]],
        scratch.row_keys[to],
        scratch.row_cells[to],
        to_bits,
    )
