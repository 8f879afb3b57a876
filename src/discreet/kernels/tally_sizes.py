"""Class sizes of the tail's nodes, tallied from one state of the rotation, for k alone."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.kernels.jit import compiled, inlined
from discreet.kernels.records import Output, Scratch, Shape, grown, sort_ascending
from discreet.kernels.tail_rows import first_rows, next_rows

Array = NDArray[Any]
SORT_ABOVE = 1024


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
    """Tally class sizes of the nodes over two cell attributes (or fewer, the other cells being empty).

    ``tables[m]`` counts sizes of marginal m: 0 to 3 the cells, 4 and 5 the sums over the first cell
    attribute, 6 and 7 over the second, 8 the whole row. Sizes above ``limit`` are also listed in
    ``big[node]``. Empty cells fall on size 0, which nobody reads.
    """
    # Typed: the smaller of an unsigned size and a signed limit is a floating-point number here.
    over = np.uint64(limit) + np.uint64(1)
    t0, t1, t2, t3 = tables[0], tables[1], tables[2], tables[3]
    t4, t5, t6, t7, t8 = tables[4], tables[5], tables[6], tables[7], tables[8]
    for row in range(rows):
        a = cells[4 * row]
        b = cells[4 * row + 1]
        c = cells[4 * row + 2]
        d = cells[4 * row + 3]
        # No branch by marginal: all sizes above the limit fall on the last entry.
        t0[min(a, over)] += 1
        t1[min(b, over)] += 1
        t2[min(c, over)] += 1
        t3[min(d, over)] += 1
        t4[min(a + b, over)] += 1
        t5[min(c + d, over)] += 1
        t6[min(a + c, over)] += 1
        t7[min(b + d, over)] += 1
        t8[min(a + b + c + d, over)] += 1
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
    """``tally_rows`` of one cell attribute, whose sum is a ``marginal``: the last two cells are empty."""
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
    """Tally class sizes ``at`` some positions (isolated groups, or rows of one cell) as they stand."""
    over = np.uint64(limit) + np.uint64(1)
    for i in range(number):
        size = sizes[at[i]]
        table[min(size, over)] += 1
        if size > limit:
            big[bigs[0]] = size
            bigs[0] += 1


@compiled
def note_alone(scratch: Scratch, counts: Array, isolated: int, limit: Any, base: int, place: int) -> None:
    """Tally the groups at ``scratch.alone_at`` in ``place`` of the tables, beside those of place ``base``."""
    table, before, ends = scratch.alone_tables[place], scratch.alone_tables[base], scratch.alone_ends
    for size in range(len(table)):
        table[size] = before[size]
    ends[place] = ends[base]
    tally_single(counts, scratch.alone_at, isolated, table, limit, scratch.alone_big, ends[place:])


@inlined
def cumulate(tables: Array, first: int, last: int, alone: Array, small: Array) -> int:
    """One node's dense part from tables ``first`` to ``last``: rows in classes of at most each size.

    Returns the node's number of classes.
    """
    over = len(small)
    for size in range(over):
        small[size] = alone[size]
    classes = alone[over]
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
def emit_nodes(
    shape: Shape, scratch: Scratch, output: Output, first: int, entries: Array, used: int
) -> tuple[Array, int]:
    """Write the histograms of the tail's nodes at one outer level; ``first`` is the lowest of them."""
    nodes = len(shape.cell_strides)
    last = len(scratch.alone_ends) - 1
    alone = scratch.alone_ends[last]
    # Taken out of their records once: in a loop each would be counted as held, and let go.
    big, alone_big, merged = scratch.big, scratch.alone_big, scratch.merged
    alone_table = scratch.alone_tables[last]
    for q in range(nodes):
        node = first + shape.cell_strides[q]
        output.classes[node] = cumulate(
            scratch.tables,
            shape.marginals[q, 0],
            shape.marginals[q, 1],
            alone_table,
            output.small[node],
        )
        own = scratch.bigs[q]
        sizes = merged[: own + alone]
        for i in range(own):
            sizes[i] = big[q, i]
        for i in range(alone):
            sizes[own + i] = alone_big[i]
        if len(sizes) > SORT_ABOVE:
            sort_ascending(sizes)
        begin = used
        output.starts[node] = begin
        entries = grown(entries, used, used + len(sizes))
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
    shape: Shape,
    scratch: Scratch,
    output: Output,
    keys: Array,
    counts: Array,
    groups: int,
    node: int,
    entries: Array,
    used: int,
) -> tuple[Array, int]:
    """All nodes of the tail from one state, ``node`` being the lowest; ``entries`` grows as needed."""
    nodes = len(shape.cell_strides)
    number, isolated = first_rows(shape, scratch, keys, counts, None, groups, None)
    note_alone(scratch, counts, isolated, shape.limit, shape.base, len(scratch.alone_ends) - 1)
    for level in range(shape.outer_levels):
        if level > 0:
            number = next_rows(shape, scratch, level, number, None, None)
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
        entries, used = emit_nodes(shape, scratch, output, node + level * shape.outer_stride, entries, used)
    return entries, used
