"""Class sizes and distinct sensitive values of the tail's nodes, tallied from one state of the rotation."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.kernels.bit_sets import pack_distinct, pack_marginals
from discreet.kernels.jit import compiled
from discreet.kernels.records import Output, Scratch, SetScratch, Shape, grown, sort_ascending
from discreet.kernels.tail_rows import first_rows, next_rows

Array = NDArray[Any]
ONE = np.uint64(1)
NOTHING = np.uint64(0)
SORT_ABOVE = 1024


@compiled
def note_groups(
    sizes: Array, bits: Array, at: Array, number: int, shape: Shape, table: Array, listed: Array
) -> int:
    """Tally classes ``at`` some positions: in the table where small, else in the list; the list's length."""
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
            # The size in the high bits: what is sorted is sorted by size.
            listed[length] = (np.uint64(size) << width) | packed
            length += 1
    return length


@compiled
def note_alone_sets(
    shape: Shape,
    scratch: Scratch,
    sets: SetScratch,
    counts: Array,
    bits: Array,
    isolated: int,
    base: int,
    place: int,
) -> None:
    """Tally the groups at ``scratch.alone_at`` in ``place`` of the tables, beside those of place ``base``."""
    tables, ends = sets.alone_tables, sets.alone_ends
    # Cell by cell: assigning the whole table compiles three seconds of words for shapes that differ.
    for size in range(tables.shape[1]):
        for distinct in range(tables.shape[2]):
            tables[place, size, distinct] = tables[base, size, distinct]
    begin = ends[base]
    listed = sets.alone_listed[begin:]
    ends[place] = begin + note_groups(counts, bits, scratch.alone_at, isolated, shape, tables[place], listed)


@compiled
def note_rows(
    cells: Array,
    bits: Array,
    rows: int,
    shape: Shape,
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
        # A row of one cell is the same class at every node: noted once, in a table of its own.
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
    """One node's small classes, by size and distinct values, from its own table and the one for all nodes.

    Returns its classes and the new end.
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
    """One node's listed classes, equal signatures summed; fills ``small`` above ``tabled``."""
    # Sorting only saves entries: equal signatures that stay apart are added up by whoever reads them.
    if len(listed) > SORT_ABOVE:
        sort_ascending(listed)
    attributes = len(widths)
    start = used
    previous = NOTHING
    for signature in listed:
        size = signature >> width
        if signature == previous and used > start:
            entries[attributes + 1, used - 1] += size
        else:
            entries[0, used] = size
            rest = signature
            for attribute in range(attributes - 1, -1, -1):
                entries[attribute + 1, used] = rest & ((ONE << widths[attribute]) - ONE)
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
def emit_nodes(
    shape: Shape,
    sets: SetScratch,
    output: Output,
    first: int,
    entries: Array,
    used: int,
) -> tuple[Array, int]:
    """Write the histograms of the tail's nodes at one outer level; ``first`` is the lowest of them."""
    nodes = len(shape.cell_strides)
    limit = sets.tables.shape[1] - 1
    width = shape.widths.sum()
    tabled = sets.tables.shape[1] * sets.tables.shape[2]
    # Taken out of their records once: in a loop each would be counted as held, and let go.
    listed, alone, merged = sets.listed, sets.alone_listed, sets.merged
    isolated = sets.alone_ends[len(sets.alone_ends) - 1]
    for q in range(nodes):
        node = first + shape.cell_strides[q]
        number = 0
        for part in (q, nodes):
            length = sets.lengths[part]
            for i in range(length):
                merged[number + i] = listed[part, i]
            number += length
        for i in range(isolated):
            merged[number + i] = alone[i]
        number += isolated
        entries = grown(entries, used, used + number + tabled)
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
    shape: Shape,
    scratch: Scratch,
    sets: SetScratch,
    output: Output,
    keys: Array,
    counts: Array,
    bits: Array,
    groups: int,
    node: int,
    entries: Array,
    used: int,
) -> tuple[Array, int]:
    """All nodes of the tail from one state, ``node`` being the lowest; ``entries`` grows as needed."""
    nodes = len(shape.cell_strides)
    row_bits = sets.row_bits
    number, isolated = first_rows(shape, scratch, keys, counts, bits, groups, row_bits[0])
    last = len(sets.alone_ends) - 1
    note_alone_sets(shape, scratch, sets, counts, bits, isolated, shape.base, last)
    for level in range(shape.outer_levels):
        now = level & 1
        if level > 0:
            number = next_rows(shape, scratch, level, number, row_bits[1 - now], row_bits[now])
        sets.lengths[:] = 0
        sets.tables[:nodes] = 0
        # Cell by cell: assigning the whole table compiles three seconds of words for shapes that differ.
        for size in range(sets.tables.shape[1]):
            for distinct in range(sets.tables.shape[2]):
                sets.tables[nodes, size, distinct] = sets.alone_tables[last, size, distinct]
        note_rows(
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
        entries, used = emit_nodes(shape, sets, output, node + level * shape.outer_stride, entries, used)
    return entries, used
