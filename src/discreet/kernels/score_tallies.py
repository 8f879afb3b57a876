"""Compiled tallies of class sizes, distinct values and score buckets.

Classes are scored in batches. Only signatures that occur are recorded and cleared.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.kernels.class_scores import DistanceScratch, ScoreInputs, append_buckets, score_classes
from discreet.kernels.lattice_rotation import (
    GroupState,
    HistogramOutput,
    PlanArrays,
    RotationScratch,
    build_first_rows,
    grow_entries,
    raise_outer_rows,
)
from discreet.kernels.numba_jit import compiled
from discreet.kernels.packed_values import OccurringValues, add_rows, copy_rows, unpack_values
from discreet.kernels.size_tallies import emit_list

Array = NDArray[Any]

MARGINALS = np.array([1, 2, 4, 8, 3, 12, 5, 10, 15])
"""Cells of each marginal (``size_tallies.tally_rows``) as bits."""
LEFT_CELLS, RIGHT_CELLS = np.array([0, 0, 0, 0, 1, 4, 1, 2, 3]), np.array([0, 0, 0, 0, 2, 8, 4, 8, 12])
"""Earlier marginals of which each marginal is the sum."""
ALL_BITS = ~np.uint64(0)


class ScoreScratch(NamedTuple):
    """Working arrays of one thread for scores.

    For cell node q (and q = nodes for rows of a single cell and isolated groups) ``tables[q, s]`` counts
    small classes of signature s, ``met[q, :numbers[q]]`` lists the signatures that occur, ``listed[q,
    :lengths[q]]`` lists those of larger classes, and ``merged`` collects all of a node's. q = nodes + 1 + p
    is for groups that were set apart, as in ``RotationScratch``: its table includes those set apart before,
    its list does not.

    Classes are scored in batches: ``words[c]`` contains the packed rows of class c, ``batch_sizes[c]`` its
    size, ``packed[c]`` the rest of its signature. ``notes[n]`` is a class c to be tallied and its q. ``slot``
    maps the cells of a row to the batch index of their class.
    """

    row_bits: Array
    tables: Array
    met: Array
    numbers: Array
    listed: Array
    lengths: Array
    merged: Array
    words: Array
    batch_sizes: Array
    packed: Array
    scores: Array
    notes: Array
    occurring_values: OccurringValues
    top: Array
    moving: DistanceScratch
    slot: Array


@compiled
def pack_signatures(classes: int, inputs: ScoreInputs, widths: Array, sets: ScoreScratch) -> None:
    """Pack distinct values by attribute and buckets of scores of the classes in ``sets.words``."""
    lanes, occurring_values, packed = inputs.lanes, sets.occurring_values, sets.packed
    starts = occurring_values.starts
    packed[:classes] = 0
    attributes = len(lanes.words) - 1
    listed = -1
    for part in range(len(widths)):
        # Values are unpacked once per attribute: scores of one attribute must be adjacent to reuse them.
        slot = part if part < attributes else inputs.places[part - attributes]
        if slot != listed:
            unpack_values(sets.words, classes, slot, lanes, occurring_values)
            listed = slot
        if part < attributes:
            for c in range(classes):
                packed[c] = (packed[c] << widths[part]) | np.uint64(starts[c + 1] - starts[c])
        else:
            i = part - attributes
            score_classes(inputs, i, classes, occurring_values, sets.top, sets.moving, sets.scores)
            append_buckets(classes, sets.scores, inputs.edges[i], inputs.ends[i], widths[part], packed)


@compiled
def tally_signatures(
    number: int,
    notes: Array,
    batch_sizes: Array,
    packed: Array,
    width: Any,
    tables: Array,
    met: Array,
    numbers: Array,
    listed: Array,
    lengths: Array,
) -> None:
    """Tally classes in the tables if small, else in the lists."""
    tabled = np.uint64(tables.shape[1])
    for n in range(number):
        q = notes[n, 1]
        signature = (batch_sizes[notes[n, 0]] << width) | packed[notes[n, 0]]
        if signature < tabled:
            # Written in any case, and counted only the first time: branchless.
            several = tables[q, signature]
            met[q, numbers[q]] = signature
            numbers[q] += several == 0
            tables[q, signature] = several + 1
        else:
            listed[q, lengths[q]] = signature
            lengths[q] += 1


@compiled
def score_batch(
    classes: int, number: int, shape: PlanArrays, inputs: ScoreInputs, sets: ScoreScratch
) -> None:
    """Score the classes of the batch, and tally them."""
    pack_signatures(classes, inputs, shape.widths, sets)
    tally_signatures(
        number,
        sets.notes,
        sets.batch_sizes,
        sets.packed,
        shape.widths.sum(),
        sets.tables,
        sets.met,
        sets.numbers,
        sets.listed,
        sets.lengths,
    )


@compiled
def batch_groups(
    sizes: Array, bits: Array, at: Array, begin: int, end: int, q: int, sets: ScoreScratch
) -> int:
    """Add the classes ``at`` some positions, from ``begin`` on, to the batch while there is room.

    Returns their number.
    """
    words, batch_sizes, notes = sets.words, sets.batch_sizes, sets.notes
    number = min(end - begin, len(words))
    for n in range(number):
        i = at[begin + n]
        copy_rows(bits, i, words, n)
        batch_sizes[n] = sizes[i]
        notes[n, 0] = n
        notes[n, 1] = q
    return number


@compiled
def batch_rows(
    cells: Array, bits: Array, begin: int, rows: int, node_of_marginal: Array, single: int, sets: ScoreScratch
) -> tuple[int, int, int]:
    """Add the classes of rows from ``begin`` on to the batch; return next row, classes and notes.

    A row of a single cell is the same class at every cell node, and is tallied once, for ``single``.
    """
    words, batch_sizes, notes, slot = sets.words, sets.batch_sizes, sets.notes, sets.slot
    in_batch = 0
    number = 0
    row = begin
    while row < rows and in_batch + 9 <= len(words) and number + 9 <= len(notes):
        filled = 0
        for cell in range(4):
            size = cells[4 * row + cell]
            if size > 0:
                filled |= 1 << cell
                copy_rows(bits, 4 * row + cell, words, in_batch)
                batch_sizes[in_batch] = size
                slot[1 << cell] = in_batch
                in_batch += 1
        # At most one bit is set: a single cell.
        if (filled & (filled - 1)) == 0:
            notes[number, 0] = in_batch - 1
            notes[number, 1] = single
            number += 1
            row += 1
            continue
        for m in range(9):
            q = node_of_marginal[m]
            of = MARGINALS[m] & filled
            if q < 0 or of == 0:
                continue
            if m >= 4:
                left, right = slot[of & LEFT_CELLS[m]], slot[of & RIGHT_CELLS[m]]
                if (of & LEFT_CELLS[m]) > 0 and (of & RIGHT_CELLS[m]) > 0:
                    add_rows(words, left, words, right, words, in_batch, ALL_BITS)
                    batch_sizes[in_batch] = batch_sizes[left] + batch_sizes[right]
                    slot[of] = in_batch
                    in_batch += 1
            notes[number, 0] = slot[of]
            notes[number, 1] = q
            number += 1
        row += 1
    return row, in_batch, number


@compiled
def add_table(tables: Array, met: Array, numbers: Array, source: int, q: int) -> None:
    """Add the small classes of one table to another."""
    number = numbers[q]
    for n in range(numbers[source]):
        signature = met[source, n]
        own = tables[q, signature]
        # Written in any case, and counted only the first time: branchless.
        met[q, number] = signature
        number += own == 0
        tables[q, signature] = own + tables[source, signature]
    numbers[q] = number


@compiled
def clear_table(table: Array, met: Array, number: int) -> None:
    """Clear the tallies of one table: only the signatures that occurred."""
    for n in range(number):
        table[met[n]] = 0


@compiled
def emit_score_table(
    table: Array, met: Array, number: int, widths: Array, small: Array, entries: Array, used: int
) -> int:
    """Write one node's small classes as entries and clear the table; return the number of classes."""
    width = widths.sum()
    parts = len(widths)
    classes: Any = 0
    for n in range(number):
        # ``rest`` is the packed signature; parts are taken from its low bits, last part first.
        rest = met[n]
        size = rest >> width
        several = np.uint64(table[rest])
        table[rest] = 0
        classes += several
        entries[0, used + n] = size
        entries[parts + 1, used + n] = size * several
        if size < np.uint64(len(small)):
            small[size] += small.dtype.type(size * several)
        for part in range(parts, 0, -1):
            bits = widths[part - 1]
            entries[part, used + n] = rest & ((np.uint64(1) << bits) - np.uint64(1))
            rest >>= bits
    return int(classes)


@compiled
def gather_listed(listed: Array, lengths: Array, q: int, nodes: int, merged: Array) -> int:
    """Collect the listed classes of a cell node; return their number.

    These are its own, those of rows of a single cell, and those of isolated groups.
    """
    number = 0
    for part in range(nodes, len(lengths)):
        length = lengths[part]
        for i in range(length):
            merged[number + i] = listed[part, i]
        number += length
    for i in range(lengths[q]):
        merged[number + i] = listed[q, i]
    return number + int(lengths[q])


@compiled
def tally_isolated_scores(
    shape: PlanArrays,
    scratch: RotationScratch,
    inputs: ScoreInputs,
    sets: ScoreScratch,
    counts: Array,
    bits: Array,
    isolated: int,
    base: int,
    slot: int,
) -> None:
    """Tally the groups at ``scratch.isolated_at`` in ``slot`` of those set apart, added to ``base``'s."""
    tables, met, numbers, lengths = sets.tables, sets.met, sets.numbers, sets.lengths
    first = len(shape.cell_strides) + 1
    q = first + slot
    clear_table(tables[q], met[q], numbers[q])
    numbers[q] = 0
    # Lists between the two slots belong to another branch of the program.
    for part in range(first + base + 1, q + 1):
        lengths[part] = 0
    add_table(tables, met, numbers, first + base, q)
    begin = 0
    while begin < isolated:
        batch = batch_groups(counts, bits, scratch.isolated_at, begin, isolated, q, sets)
        score_batch(batch, batch, shape, inputs, sets)
        begin += batch


@compiled
def emit_score_nodes(
    shape: PlanArrays, sets: ScoreScratch, output: HistogramOutput, first: int, entries: Array, used: int
) -> tuple[Array, int]:
    """Write the histograms of the tail's nodes at one outer level; ``first`` is the lowest of them."""
    nodes = len(shape.cell_strides)
    width = shape.widths.sum()
    tables, met, numbers, lengths = sets.tables, sets.met, sets.numbers, sets.lengths
    for q in range(nodes):
        node = first + shape.cell_strides[q]
        number = gather_listed(sets.listed, lengths, q, nodes, sets.merged)
        add_table(tables, met, numbers, nodes, q)
        entries = grow_entries(entries, used, used + number + numbers[q])
        output.starts[node] = used
        small = output.small[node]
        classes = emit_score_table(tables[q], met[q], numbers[q], shape.widths, small, entries, used)
        used += numbers[q]
        used = emit_list(sets.merged[:number], shape.widths, width, small, 0, entries, used)
        output.classes[node] = classes + number
        output.stops[node] = used
        numbers[q] = 0
        lengths[q] = 0
    return entries, used


@compiled
def tally_scores(
    shape: PlanArrays,
    scratch: RotationScratch,
    inputs: ScoreInputs,
    sets: ScoreScratch,
    output: HistogramOutput,
    state: GroupState,
    groups: int,
    node: int,
    entries: Array,
    used: int,
) -> tuple[Array, int]:
    """Tally all nodes of the tail from one state, ``node`` being the lowest; ``entries`` grows as needed."""
    nodes = len(shape.cell_strides)
    row_bits = sets.row_bits
    number, isolated = build_first_rows(shape, scratch, state, groups, row_bits[0])
    tables, met, numbers, lengths = sets.tables, sets.met, sets.numbers, sets.lengths
    last = len(numbers) - nodes - 2
    tally_isolated_scores(shape, scratch, inputs, sets, state.counts, state.bits, isolated, shape.base, last)
    for level in range(shape.outer_levels):
        now = level & 1
        if level > 0:
            number = raise_outer_rows(shape, scratch, level, number, row_bits[1 - now], row_bits[now])
        clear_table(tables[nodes], met[nodes], numbers[nodes])
        numbers[nodes] = 0
        lengths[nodes] = 0
        begin = 0
        while begin < number:
            begin, batch, noted = batch_rows(
                scratch.row_cells[now],
                row_bits[now],
                begin,
                number,
                shape.node_of_marginal,
                nodes,
                sets,
            )
            score_batch(batch, noted, shape, inputs, sets)
        add_table(tables, met, numbers, nodes + 1 + last, nodes)
        entries, used = emit_score_nodes(
            shape, sets, output, node + level * shape.outer_stride, entries, used
        )
    return entries, used
