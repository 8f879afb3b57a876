"""Compiled rotation of sorted, packed row types, and the records that its kernels share.

A level is rolled up by one linear pass over neighbours; the next attribute is brought to the end of the sort
order by one stable counting sort. Groups that share their head with no other group are isolated: they are
tallied once for all nodes below. Cost: 1.5 to 5 ns per visited group. Twin: ``lattice_rotation_twin``.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.kernels.numba_jit import compiled, inlined
from discreet.kernels.packed_values import clear_set, copy_set, union_set

Array = NDArray[Any]


class GroupState(NamedTuple):
    """Groups: keys, counts and sensitive values (``packed_values``); or several buffers of them."""

    keys: Array
    counts: Array
    bits: Array


class PlanArrays(NamedTuple):
    """Rotation plan as the kernels read it; numbers that are combined with keys have the keys' type.

    ``steps[step_starts[p, l] : step_starts[p, l + 1]]`` is position p's step to level l, shifted into its
    field; ``sizes[p, l]`` is its number of ordinals. ``heads[p]`` is the mask of the positions up to p. Where
    ``apart[p]``, groups with a unique head are set apart after position p. ``section[p]`` is the section that
    ends with p, or -1; ``laters``, ``later_shifts`` and ``head_shifts`` recode the keys at its end, with
    ``codes[code_starts[s] : code_starts[s + 1]]``.

    ``marginals[q]`` is the range of the tables that make up cell node q; ``node_of_marginal`` is the reverse,
    -1 for a marginal without a node. ``words`` are the bounds of each sensitive attribute's words in a bit
    set, ``widths`` the bits of its number of values.
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
    """Working arrays of one thread for class sizes.

    ``shared_at`` and ``isolated_at`` are positions of groups in a state, ``row_at`` of each row's first cell.
    ``tables`` and ``big`` contain the tallied classes: small sizes counted, big ones listed.

    Groups that were set apart after a position count at every node below. ``isolated_tables[p + 1]`` contains
    the small sizes of those of positions up to p, ``isolated_big[: isolated_ends[p + 1]]`` the big ones.
    Those of the tail are last.
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
    """Additional working arrays of one thread for sets of sensitive values.

    ``tables[q, size, distinct]`` and ``listed[q, :lengths[q]]`` (packed signatures) contain the tallied
    classes of cell node q. q = nodes is for rows of a single cell; its table includes the isolated groups.
    Groups set apart are tallied as in ``RotationScratch``.
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
    """Histograms of the nodes, shared by all tasks; each node is written by exactly one task."""

    small: Array
    classes: Array
    starts: Array
    stops: Array


@compiled
def grow_entries(entries: Array, used: int, needed: int) -> Array:
    """Return the array ``(columns, entries)``, or a larger copy with room for ``needed`` entries."""
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
    """Sort in place by Shell's method.

    The lists are short, and it compiles in a fraction of the library sort's time.
    """
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


@inlined
def view_buffer(buffers: GroupState, i: int) -> GroupState:
    """Return the state in buffer i."""
    return GroupState(buffers.keys[i], buffers.counts[i], buffers.bits[i])


@compiled
def roll_up_state(state: GroupState, groups: int, keep: Any, shift: Any, step: Array) -> int:
    """Roll up one level in place: map the field outside ``keep`` by ``step``, merge equal neighbours.

    Returns the number of groups.
    """
    if groups == 0:
        return 0
    keys, counts, bits = state
    field = ~keep
    # Typed like the counts: numba adds an unsigned integer and a literal 0 to a float.
    zero = counts.dtype.type(0)
    last = 0
    previous = (keys[0] & keep) | step[(keys[0] & field) >> shift]
    total = counts[0]
    keys[0] = previous
    for i in range(1, groups):
        key = (keys[i] & keep) | step[(keys[i] & field) >> shift]
        fresh = key != previous
        last += fresh
        # Branchless: a branch would be mispredicted half of the time.
        total = counts[i] + (zero if fresh else total)
        keys[last] = key
        counts[last] = total
        union_set(bits, i, bits, last, fresh)
        previous = key
    return last + 1


@compiled
def rotate(state: GroupState, groups: int, to: GroupState, field: Any, shift: Any, slot: Array) -> None:
    """Sort groups by one field into another state by a stable counting sort.

    ``slot`` is scratch with one entry more than ordinals.
    """
    keys, counts, bits = state
    to_keys, to_counts, to_bits = to
    # Count into the next slot, so that the running sums are the start of each ordinal.
    slot[:] = 0
    for i in range(groups):
        slot[((keys[i] & field) >> shift) + 1] += 1
    for digit in range(1, len(slot)):
        slot[digit] += slot[digit - 1]
    for i in range(groups):
        key = keys[i]
        digit = (key & field) >> shift
        at = slot[digit]
        slot[digit] = at + 1
        to_keys[at] = key
        to_counts[at] = counts[i]
        copy_set(bits, i, to_bits, at)


@compiled
def split_isolated(
    keys: Array, groups: int, head: Any, shared_at: Array, isolated_at: Array
) -> tuple[int, int]:
    """Separate the positions of groups whose ``head`` fields no neighbour shares; return both numbers."""
    shared = 0
    isolated = 0
    shares_previous = False
    for i in range(groups):
        shares_next = i + 1 < groups and (keys[i + 1] & head) == (keys[i] & head)
        keep = shares_previous | shares_next
        # Written to both lists and advanced in one of them: branchless.
        shared_at[shared] = i
        isolated_at[isolated] = i
        shared += keep
        isolated += not keep
        shares_previous = shares_next
    return shared, isolated


@compiled
def compact_groups(state: GroupState, at: Array, groups: int) -> None:
    """Keep the groups at the ascending positions ``at``, in place."""
    keys, counts, bits = state
    for n in range(groups):
        i = at[n]
        keys[n] = keys[i]
        counts[n] = counts[i]
        copy_set(bits, i, bits, n)


@compiled
def recode_keys(
    keys: Array, groups: int, head: Any, later: Any, later_shift: Any, fields: Array, head_shift: Any
) -> None:
    """Recode keys for the next section, in place: heads are numbered, ``later`` numbers become ``fields``."""
    # Typed like the keys: integers of other types would turn the keys into floats.
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
def build_rows(state: GroupState, at: Array, groups: int, shift: Any, cells: Any, to: GroupState) -> int:
    """Build rows of four cells from the groups at some positions; return the number of rows.

    Groups that differ only in their cell fields become one row.
    """
    if groups == 0:
        return 0
    keys, counts, bits = state
    to_keys, to_cells, to_bits = to
    keep = ~(cells << shift)
    row = -1
    # Differs from the first key, so that the first group opens a row.
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
        # Clear the next row, whose cells contain values of an earlier use.
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
def merge_rows(state: GroupState, rows: int, keep: Any, shift: Any, step: Array, to: GroupState) -> int:
    """Roll up the outer attribute one level: adjacent rows with equal keys add their cells.

    Returns the number of rows.
    """
    if rows == 0:
        return 0
    keys, cells, bits = state
    to_keys, to_cells, to_bits = to
    field = ~keep
    # Typed like the cells, as in ``roll_up_state``.
    zero = cells.dtype.type(0)
    a = zero
    b = zero
    c = zero
    d = zero
    row = -1
    previous = keys[0]
    for i in range(rows):
        key = (keys[i] & keep) | step[(keys[i] & field) >> shift]
        # Before the first row there is no previous key, so its index makes it fresh.
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
def build_first_rows(
    shape: PlanArrays, scratch: RotationScratch, state: GroupState, groups: int, row_bits: Array
) -> tuple[int, int]:
    """Set isolated groups apart (``scratch.isolated_at``), build rows of the others; return numbers."""
    head_fields, at = shape.head_fields, scratch.shared_at
    shared, isolated = split_isolated(state.keys, groups, head_fields, at, scratch.isolated_at)
    to = GroupState(scratch.row_keys[0], scratch.row_cells[0], row_bits)
    return build_rows(state, at, shared, shape.shifts[shape.head], shape.cell_mask, to), isolated


@compiled
def raise_outer_rows(
    shape: PlanArrays, scratch: RotationScratch, level: int, rows: int, row_bits: Array, to_bits: Array
) -> int:
    """Roll up the outer attribute to ``level``; rows of even levels are in buffer 0, of odd ones in 1."""
    outer = len(shape.shifts) - 1
    now, to = 1 - (level & 1), level & 1
    step = shape.steps[shape.step_starts[outer, level] : shape.step_starts[outer, level + 1]]
    return merge_rows(
        GroupState(scratch.row_keys[now], scratch.row_cells[now], row_bits),
        rows,
        ~shape.fields[outer],
        shape.shifts[outer],
        step,
        GroupState(scratch.row_keys[to], scratch.row_cells[to], to_bits),
    )
