"""Compiled tallies of class sizes, and of sizes with distinct values, for the nodes of the tail.

All nodes over the last attributes (up to two binary ones and the outer one) are tallied from one state.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.kernels.lattice_rotation import (
    GroupState,
    HistogramOutput,
    PlanArrays,
    RotationScratch,
    SetScratch,
    build_first_rows,
    grow_entries,
    raise_outer_rows,
    sort_ascending,
)
from discreet.kernels.numba_jit import compiled, inlined
from discreet.kernels.packed_values import pack_distinct, pack_marginals

Array = NDArray[Any]
SORT_SIZES_ABOVE = 1024


@compiled
def tally_rows(
    cells: Array,
    rows: int,
    tables: Array,
    limit: Any,
    node_of_marginal: Array,
    sizes: Array,
    big: Array,
    bigs: Array,
) -> None:
    """Tally class sizes of the nodes over two cell attributes (or fewer, with the other cells empty).

    ``tables[m]`` counts sizes of marginal m: 0 to 3 are the cells, 4 and 5 the sums over the first cell
    attribute, 6 and 7 over the second, 8 the whole row. Sizes above ``limit`` are also listed in
    ``big[node]``. Empty cells are counted as size 0, which is never read.
    """
    # Typed: numba computes the minimum of an unsigned size and a signed limit as a float.
    over = np.uint64(limit) + np.uint64(1)
    t0, t1, t2, t3 = tables[0], tables[1], tables[2], tables[3]
    t4, t5, t6, t7, t8 = tables[4], tables[5], tables[6], tables[7], tables[8]
    for row in range(rows):
        a = cells[4 * row]
        b = cells[4 * row + 1]
        c = cells[4 * row + 2]
        d = cells[4 * row + 3]
        # Branchless: all sizes above the limit are counted in the last entry.
        t0[min(a, over)] += 1
        t1[min(b, over)] += 1
        t2[min(c, over)] += 1
        t3[min(d, over)] += 1
        t4[min(a + b, over)] += 1
        t5[min(c + d, over)] += 1
        t6[min(a + c, over)] += 1
        t7[min(b + d, over)] += 1
        t8[min(a + b + c + d, over)] += 1
        # Rare enough for a branch: the whole row exceeds the limit if any marginal does.
        if a + b + c + d > limit:
            sizes[0] = a
            sizes[1] = b
            sizes[2] = c
            sizes[3] = d
            sizes[4] = a + b
            sizes[5] = c + d
            sizes[6] = a + c
            sizes[7] = b + d
            sizes[8] = a + b + c + d
            for m in range(9):
                q = node_of_marginal[m]
                if sizes[m] > limit and q >= 0:
                    big[q, bigs[q]] = sizes[m]
                    bigs[q] += 1


@compiled
def tally_pairs(
    cells: Array, rows: int, tables: Array, limit: Any, marginal: int, big: Array, bigs: Array
) -> None:
    """Tally as ``tally_rows`` for one cell attribute with sum ``marginal``; the last two cells are empty."""
    over = np.uint64(limit) + np.uint64(1)
    first, second, both = tables[0], tables[1], tables[marginal]
    for row in range(rows):
        a = cells[4 * row]
        b = cells[4 * row + 1]
        first[min(a, over)] += 1
        second[min(b, over)] += 1
        both[min(a + b, over)] += 1
        if a + b > limit:
            if a > limit:
                big[0, bigs[0]] = a
                bigs[0] += 1
            if b > limit:
                big[0, bigs[0]] = b
                bigs[0] += 1
            big[1, bigs[1]] = a + b
            bigs[1] += 1


@compiled
def tally_single(
    sizes: Array, at: Array, number: int, table: Array, limit: Any, big: Array, bigs: Array
) -> None:
    """Tally class sizes at the positions ``at`` (isolated groups, or rows of one cell)."""
    over = np.uint64(limit) + np.uint64(1)
    for i in range(number):
        size = sizes[at[i]]
        table[min(size, over)] += 1
        if size > limit:
            big[bigs[0]] = size
            bigs[0] += 1


@compiled
def tally_isolated_sizes(
    scratch: RotationScratch, counts: Array, isolated: int, limit: Any, base: int, slot: int
) -> None:
    """Tally the groups at ``scratch.isolated_at`` in ``slot`` of the tables, added to those of ``base``."""
    table, before, ends = scratch.isolated_tables[slot], scratch.isolated_tables[base], scratch.isolated_ends
    for size in range(len(table)):
        table[size] = before[size]
    ends[slot] = ends[base]
    tally_single(counts, scratch.isolated_at, isolated, table, limit, scratch.isolated_big, ends[slot:])


@inlined
def cumulate_tables(tables: Array, first: int, last: int, isolated: Array, small: Array) -> int:
    """Compute one node's dense part from tables ``first`` to ``last``: rows in classes up to each size.

    Returns the node's number of classes.
    """
    over = len(small)
    for size in range(over):
        small[size] = isolated[size]
    classes = isolated[over]
    for marginal in range(first, last):
        table = tables[marginal]
        for size in range(over):
            small[size] += table[size]
        classes += table[over]
    rows = 0
    for size in range(1, over):
        number = small[size]
        classes += number
        rows += number * size
        small[size] = rows
    small[0] = 0
    return int(classes)


@inlined
def emit_size_nodes(
    shape: PlanArrays,
    scratch: RotationScratch,
    output: HistogramOutput,
    first: int,
    entries: Array,
    used: int,
) -> tuple[Array, int]:
    """Write the histograms of the tail's nodes at one outer level; ``first`` is the lowest of them."""
    nodes = len(shape.cell_strides)
    last = len(scratch.isolated_ends) - 1
    isolated_count = scratch.isolated_ends[last]
    # Read from the records once: in the loop numba would count a reference to each array per access.
    big, isolated_big, merged = scratch.big, scratch.isolated_big, scratch.merged
    isolated_table = scratch.isolated_tables[last]
    for q in range(nodes):
        node = first + shape.cell_strides[q]
        output.classes[node] = cumulate_tables(
            scratch.tables,
            shape.marginals[q, 0],
            shape.marginals[q, 1],
            isolated_table,
            output.small[node],
        )
        own = scratch.bigs[q]
        sizes = merged[: own + isolated_count]
        for i in range(own):
            sizes[i] = big[q, i]
        for i in range(isolated_count):
            sizes[own + i] = isolated_big[i]
        # Sorting only merges equal sizes into one entry; short lists are not worth it.
        if len(sizes) > SORT_SIZES_ABOVE:
            sort_ascending(sizes)
        begin = used
        output.starts[node] = begin
        entries = grow_entries(entries, used, used + len(sizes))
        for size in sizes:
            if used > begin and entries[0, used - 1] == size:
                entries[1, used - 1] += size
            else:
                entries[0, used] = size
                entries[1, used] = size
                used += 1
        output.stops[node] = used
    return entries, used


@inlined
def tally_sizes(
    shape: PlanArrays,
    scratch: RotationScratch,
    output: HistogramOutput,
    state: GroupState,
    groups: int,
    node: int,
    entries: Array,
    used: int,
) -> tuple[Array, int]:
    """Tally all nodes of the tail from one state, ``node`` being the lowest; ``entries`` grows as needed."""
    nodes, last = len(shape.cell_strides), len(scratch.isolated_ends) - 1
    number, isolated = build_first_rows(shape, scratch, state, groups, state.bits)
    tally_isolated_sizes(scratch, state.counts, isolated, shape.limit, shape.base, last)
    for level in range(shape.outer_levels):
        if level > 0:
            number = raise_outer_rows(shape, scratch, level, number, state.bits, state.bits)
        scratch.tables[:] = 0
        scratch.bigs[:] = 0
        cells = scratch.row_cells[level & 1]
        if nodes == 2:
            marginal = shape.marginals[1, 0]
            tally_pairs(cells, number, scratch.tables, shape.limit, marginal, scratch.big, scratch.bigs)
        elif nodes > 1:
            tally_rows(
                cells,
                number,
                scratch.tables,
                shape.limit,
                shape.node_of_marginal,
                scratch.sizes,
                scratch.big,
                scratch.bigs,
            )
        else:
            tally_single(
                cells, scratch.row_at, number, scratch.tables[0], shape.limit, scratch.big[0], scratch.bigs
            )
        entries, used = emit_size_nodes(
            shape, scratch, output, node + level * shape.outer_stride, entries, used
        )
    return entries, used


_ONE = np.uint64(1)
_NOTHING = np.uint64(0)
SORT_SIGNATURES_ABOVE = 1024


@compiled
def tally_group_sets(
    sizes: Array, bits: Array, at: Array, number: int, shape: PlanArrays, table: Array, listed: Array
) -> int:
    """Tally classes at the positions ``at`` in the table if small, else in the list; return its length."""
    limit = len(table) - 1
    words, widths = shape.words, shape.widths
    width = widths.sum()
    length = 0
    for n in range(number):
        i = at[n]
        packed = pack_distinct(bits, i, words, widths)
        size = sizes[i]
        if size <= limit:
            table[size, packed] += 1
        else:
            # The size is in the high bits, so that a sort is by size first.
            listed[length] = (np.uint64(size) << width) | packed
            length += 1
    return length


@compiled
def tally_isolated_sets(
    shape: PlanArrays,
    scratch: RotationScratch,
    sets: SetScratch,
    counts: Array,
    bits: Array,
    isolated: int,
    base: int,
    slot: int,
) -> None:
    """Tally the groups at ``scratch.isolated_at`` in ``slot`` of the tables, added to those of ``base``."""
    tables, ends = sets.isolated_tables, sets.isolated_ends
    # Cell by cell: a slice assignment compiles numba's error messages for shapes that differ, in 3 s.
    for size in range(tables.shape[1]):
        for distinct in range(tables.shape[2]):
            tables[slot, size, distinct] = tables[base, size, distinct]
    begin = ends[base]
    listed = sets.isolated_listed[begin:]
    ends[slot] = begin + tally_group_sets(
        counts, bits, scratch.isolated_at, isolated, shape, tables[slot], listed
    )


@compiled
def tally_row_sets(
    cells: Array,
    bits: Array,
    rows: int,
    shape: PlanArrays,
    tables: Array,
    listed: Array,
    lengths: Array,
    sizes: Array,
    packed: Array,
) -> None:
    """Tally every class of the cell nodes; a row of a single cell counts once for all of them."""
    single = len(shape.cell_strides)
    words, widths, node_of_marginal = shape.words, shape.widths, shape.node_of_marginal
    limit = tables.shape[1] - 1
    width = widths.sum()
    for row in range(rows):
        a = cells[4 * row]
        b = cells[4 * row + 1]
        c = cells[4 * row + 2]
        d = cells[4 * row + 3]
        # A row of one cell is the same class at every node: tallied once, in a separate table.
        if (a > 0) + (b > 0) + (c > 0) + (d > 0) == 1:
            cell = 4 * row + (b > 0) + 2 * (c > 0) + 3 * (d > 0)
            distinct = pack_distinct(bits, cell, words, widths)
            size = cells[cell]
            if size <= limit:
                tables[single, size, distinct] += 1
            else:
                listed[single, lengths[single]] = (np.uint64(size) << width) | distinct
                lengths[single] += 1
            continue
        sizes[0] = a
        sizes[1] = b
        sizes[2] = c
        sizes[3] = d
        sizes[4] = a + b
        sizes[5] = c + d
        sizes[6] = a + c
        sizes[7] = b + d
        sizes[8] = a + b + c + d
        pack_marginals(bits, 4 * row, words, widths, packed)
        for m in range(9):
            q = node_of_marginal[m]
            size = sizes[m]
            if size == 0 or q < 0:
                continue
            if size <= limit:
                tables[q, size, packed[m]] += 1
            else:
                listed[q, lengths[q]] = (np.uint64(size) << width) | packed[m]
                lengths[q] += 1


@compiled
def emit_tables(
    own: Array, shared: Array, limit: int, small: Array, entries: Array, used: int
) -> tuple[int, int]:
    """Write one node's small classes by size and distinct values, from its own and the shared table.

    Returns its number of classes and the new end of the entries.
    """
    classes = 0
    rows = small.dtype.type(0)
    for size in range(1, limit + 1):
        for distinct in range(min(size + 1, own.shape[1])):
            number = own[size, distinct] + shared[size, distinct]
            if number > 0:
                classes += number
                entries[0, used] = size
                entries[1, used] = distinct
                entries[2, used] = size * number
                rows += small.dtype.type(size * number)
                used += 1
        small[size] = rows
    return classes, used


@compiled
def emit_list(
    listed: Array, widths: Array, width: Any, small: Array, tabled: int, entries: Array, used: int
) -> int:
    """Write one node's listed classes, equal signatures summed; fill ``small`` above ``tabled``."""
    # Sorting only saves entries: readers sum equal signatures that are not adjacent.
    if len(listed) > SORT_SIGNATURES_ABOVE:
        sort_ascending(listed)
    attributes = len(widths)
    start = used
    previous = _NOTHING
    for signature in listed:
        size = signature >> width
        if signature == previous and used > start:
            entries[attributes + 1, used - 1] += size
        else:
            entries[0, used] = size
            rest = signature
            for attribute in range(attributes - 1, -1, -1):
                entries[attribute + 1, used] = rest & ((_ONE << widths[attribute]) - _ONE)
                rest >>= widths[attribute]
            entries[attributes + 1, used] = size
            previous = signature
            used += 1
        if size < len(small):
            small[size] += size
    for size in range(tabled + 1, len(small)):
        small[size] += small[size - 1]
    return used


@compiled
def emit_set_nodes(
    shape: PlanArrays,
    sets: SetScratch,
    output: HistogramOutput,
    first: int,
    entries: Array,
    used: int,
) -> tuple[Array, int]:
    """Write the histograms of the tail's nodes at one outer level; ``first`` is the lowest of them."""
    nodes = len(shape.cell_strides)
    limit = sets.tables.shape[1] - 1
    width = shape.widths.sum()
    tabled = sets.tables.shape[1] * sets.tables.shape[2]
    # Read from the records once: in the loop numba would count a reference to each array per access.
    listed, isolated_table, merged = sets.listed, sets.isolated_listed, sets.merged
    isolated = sets.isolated_ends[len(sets.isolated_ends) - 1]
    for q in range(nodes):
        node = first + shape.cell_strides[q]
        number = 0
        for part in (q, nodes):
            length = sets.lengths[part]
            for i in range(length):
                merged[number + i] = listed[part, i]
            number += length
        for i in range(isolated):
            merged[number + i] = isolated_table[i]
        number += isolated
        entries = grow_entries(entries, used, used + number + tabled)
        output.starts[node] = used
        classes, used = emit_tables(
            sets.tables[q], sets.tables[nodes], limit, output.small[node], entries, used
        )
        used = emit_list(merged[:number], shape.widths, width, output.small[node], limit, entries, used)
        output.classes[node] = classes + number
        output.stops[node] = used
    return entries, used


@compiled
def tally_sets(
    shape: PlanArrays,
    scratch: RotationScratch,
    sets: SetScratch,
    output: HistogramOutput,
    state: GroupState,
    groups: int,
    node: int,
    entries: Array,
    used: int,
) -> tuple[Array, int]:
    """Tally all nodes of the tail from one state, ``node`` being the lowest; ``entries`` grows as needed."""
    nodes, last = len(shape.cell_strides), len(sets.isolated_ends) - 1
    row_bits = sets.row_bits
    number, isolated = build_first_rows(shape, scratch, state, groups, row_bits[0])
    tally_isolated_sets(shape, scratch, sets, state.counts, state.bits, isolated, shape.base, last)
    for level in range(shape.outer_levels):
        now = level & 1
        if level > 0:
            number = raise_outer_rows(shape, scratch, level, number, row_bits[1 - now], row_bits[now])
        sets.lengths[:] = 0
        sets.tables[:nodes] = 0
        # Cell by cell: a slice assignment compiles numba's error messages for shapes that differ, in 3 s.
        for size in range(sets.tables.shape[1]):
            for distinct in range(sets.tables.shape[2]):
                sets.tables[nodes, size, distinct] = sets.isolated_tables[last, size, distinct]
        tally_row_sets(
            scratch.row_cells[now],
            row_bits[now],
            number,
            shape,
            sets.tables,
            sets.listed,
            sets.lengths,
            scratch.sizes,
            sets.packed,
        )
        entries, used = emit_set_nodes(shape, sets, output, node + level * shape.outer_stride, entries, used)
    return entries, used
