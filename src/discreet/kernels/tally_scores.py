"""Sizes, distinct values and buckets of scores of the tail's classes, tallied from one state of the rotation.

As in ``kernels.tally_sets``, but a class's values are rows by value (``value_rows``), and packed beside its
size are its distinct values and the bucket of each score. Most of the combinations never occur, so those that
do are noted as they are first met, and nothing else is read or cleared.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.kernels.class_scores import Scored, append_buckets, score
from discreet.kernels.earth_movers import Moving
from discreet.kernels.jit import compiled
from discreet.kernels.records import Output, Scratch, Shape, grown
from discreet.kernels.tail_rows import first_rows, next_rows
from discreet.kernels.tally_sets import emit_list, tally_sets
from discreet.kernels.value_rows import Occurring, unpack

Array = NDArray[Any]

MARGINALS = np.array([1, 2, 4, 8, 3, 12, 5, 10, 15])
"""The cells of each marginal (``tally_sizes.tally_rows``), as bits."""


class ScoreScratch(NamedTuple):
    """One thread's working arrays for scores.

    For cell node q (and q = nodes for isolated groups, nodes + 1 for rows of a single cell and these)
    ``tables[q, s]`` counts small classes of signature s, ``met[q, :numbers[q]]`` are the signatures that were
    met, ``listed[q, :lengths[q]]`` those of larger classes, ``merged`` a node's of all.

    Classes are scored so many at a time: ``words[c]`` holds the packed rows of class c, ``packed[c]`` its
    signature. ``notes[n]`` says of a class to be tallied its place c, its q and its size.
    """

    row_bits: Array
    tables: Array
    met: Array
    numbers: Array
    listed: Array
    lengths: Array
    merged: Array
    words: Array
    packed: Array
    scores: Array
    notes: Array
    found: Occurring
    top: Array
    moving: Moving
    place: Array


@compiled
def pack(classes: int, asked: Scored, widths: Array, sets: ScoreScratch) -> None:
    """Distinct values by attribute and buckets of scores, side by side, of the classes in ``sets.words``."""
    lanes, found, packed = asked.lanes, sets.found, sets.packed
    starts = found.starts
    packed[:classes] = 0
    attributes = len(lanes.words) - 1
    listed = -1
    for part in range(len(widths)):
        place = part if part < attributes else asked.places[part - attributes]
        if place != listed:
            first, last = lanes.words[place], lanes.words[place + 1]
            unpack(
                sets.words,
                classes,
                first,
                last,
                lanes.width,
                lanes.mask,
                lanes.lanes,
                lanes.lane_of_bit,
                found.codes,
                found.counts,
                starts,
                found.known,
            )
            listed = place
        if part < attributes:
            for c in range(classes):
                packed[c] = (packed[c] << widths[part]) | np.uint64(starts[c + 1] - starts[c])
        else:
            i = part - attributes
            score(asked, i, classes, found, sets.top, sets.moving, sets.scores)
            append_buckets(classes, sets.scores, asked.edges[i], asked.ends[i], widths[part], packed)


@compiled
def note(
    number: int,
    notes: Array,
    packed: Array,
    width: Any,
    tables: Array,
    met: Array,
    numbers: Array,
    listed: Array,
    lengths: Array,
) -> None:
    """Tally classes: in the tables where small, else in the lists."""
    tabled = np.uint64(tables.shape[1])
    for n in range(number):
        q = notes[n, 1]
        signature = (np.uint64(notes[n, 2]) << width) | packed[notes[n, 0]]
        if signature < tabled:
            if tables[q, signature] == 0:
                met[q, numbers[q]] = signature
                numbers[q] += 1
            tables[q, signature] += 1
        else:
            listed[q, lengths[q]] = signature
            lengths[q] += 1


@compiled
def flush(classes: int, number: int, shape: Shape, asked: Scored, sets: ScoreScratch) -> None:
    """Score the classes that are held, and tally them."""
    pack(classes, asked, shape.widths, sets)
    width = shape.widths.sum()
    note(
        number,
        sets.notes,
        sets.packed,
        width,
        sets.tables,
        sets.met,
        sets.numbers,
        sets.listed,
        sets.lengths,
    )


@compiled
def hold_groups(
    sizes: Array, bits: Array, at: Array, begin: int, end: int, q: int, words: Array, notes: Array
) -> int:
    """Hold the classes ``at`` some positions, from ``begin`` on, as far as there is room; their number."""
    number = min(end - begin, len(words))
    for n in range(number):
        i = at[begin + n]
        for w in range(words.shape[1]):
            words[n, w] = bits[i, 0, 0, w]
        notes[n, 0] = n
        notes[n, 1] = q
        notes[n, 2] = sizes[i]
    return number


@compiled
def hold_rows(
    cells: Array,
    bits: Array,
    begin: int,
    rows: int,
    node_of_marginal: Array,
    single: int,
    words: Array,
    notes: Array,
    place: Array,
) -> tuple[int, int, int]:
    """Hold the classes of rows from ``begin`` on; the next row, the classes, and how many notes they have.

    A row of a single cell is one class at every cell node, and tallied once, for ``single``.
    """
    held = 0
    number = 0
    row = begin
    while row < rows and held + 9 <= len(words) and number + 9 <= len(notes):
        filled = 0
        for cell in range(4):
            filled |= int(cells[4 * row + cell] > 0) << cell
        alone = (filled & (filled - 1)) == 0
        place[:] = -1
        for m in range(9):
            q = single if alone else node_of_marginal[m]
            of = MARGINALS[m] & filled
            if q < 0 or of == 0:
                continue
            if place[of] < 0:
                for w in range(words.shape[1]):
                    words[held, w] = 0
                for cell in range(4):
                    if (of >> cell) & 1:
                        for w in range(words.shape[1]):
                            words[held, w] += bits[4 * row + cell, 0, 0, w]
                place[of] = held
                held += 1
            size = np.uint64(0)
            for cell in range(4):
                if (of >> cell) & 1:
                    size += np.uint64(cells[4 * row + cell])
            notes[number, 0] = place[of]
            notes[number, 1] = q
            notes[number, 2] = size
            number += 1
            if alone:
                break
        row += 1
    return row, held, number


@compiled
def take_over(sets: ScoreScratch, source: int, q: int) -> None:
    """Add the small classes of one table to another."""
    for n in range(sets.numbers[source]):
        signature = sets.met[source, n]
        if sets.tables[q, signature] == 0:
            sets.met[q, sets.numbers[q]] = signature
            sets.numbers[q] += 1
        sets.tables[q, signature] += sets.tables[source, signature]


@compiled
def clear(sets: ScoreScratch, q: int) -> None:
    """Forget what was tallied for a cell node."""
    for n in range(sets.numbers[q]):
        sets.tables[q, sets.met[q, n]] = 0
    sets.numbers[q] = 0
    sets.lengths[q] = 0


@compiled
def emit_tables(
    sets: ScoreScratch, q: int, shape: Shape, small: Array, entries: Array, used: int
) -> tuple[int, int]:
    """One node's small classes; returns their number and the new end."""
    width = shape.widths.sum()
    parts = len(shape.widths)
    classes = 0
    for n in range(sets.numbers[q]):
        signature = sets.met[q, n]
        number = sets.tables[q, signature]
        size = signature >> width
        classes += number
        rest = signature
        for part in range(parts, 0, -1):
            entries[part, used] = rest & ((np.uint64(1) << shape.widths[part - 1]) - np.uint64(1))
            rest >>= shape.widths[part - 1]
        entries[0, used] = size
        entries[parts + 1, used] = size * number
        if size < np.uint64(len(small)):
            small[size] += small.dtype.type(size * number)
        used += 1
    return classes, used


@compiled
def emit_nodes(
    shape: Shape, sets: ScoreScratch, output: Output, first: int, entries: Array, used: int
) -> tuple[Array, int]:
    """Write the histograms of the tail's nodes at one outer level; ``first`` is the lowest of them."""
    nodes = len(shape.cell_strides)
    width = shape.widths.sum()
    for q in range(nodes):
        node = first + shape.cell_strides[q]
        number = 0
        for part in (q, nodes, nodes + 1):
            for i in range(sets.lengths[part]):
                sets.merged[number + i] = sets.listed[part, i]
            number += sets.lengths[part]
        take_over(sets, nodes + 1, q)
        entries = grown(entries, used, used + number + sets.numbers[q])
        output.starts[node] = used
        classes, used = emit_tables(sets, q, shape, output.small[node], entries, used)
        used = emit_list(sets.merged[:number], shape.widths, width, output.small[node], 0, entries, used)
        output.classes[node] = classes + number
        output.stops[node] = used
        clear(sets, q)
    return entries, used


@compiled
def tally_scores(
    shape: Shape,
    scratch: Scratch,
    asked: Scored,
    sets: ScoreScratch,
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
    clear(sets, nodes)
    begin = 0
    while begin < isolated:
        held = hold_groups(counts, bits, scratch.alone_at, begin, isolated, nodes, sets.words, sets.notes)
        flush(held, held, shape, asked, sets)
        begin += held
    for level in range(shape.outer_levels):
        now = level & 1
        if level > 0:
            number = next_rows(shape, scratch, level, number, row_bits[1 - now], row_bits[now])
        clear(sets, nodes + 1)
        begin = 0
        while begin < number:
            begin, held, noted = hold_rows(
                scratch.row_cells[now],
                row_bits[now],
                begin,
                number,
                shape.node_of_marginal,
                nodes + 1,
                sets.words,
                sets.notes,
                sets.place,
            )
            flush(held, noted, shape, asked, sets)
        take_over(sets, nodes, nodes + 1)
        entries, used = emit_nodes(shape, sets, output, node + level * shape.outer_stride, entries, used)
    return entries, used


@compiled
def tally_values(
    shape: Shape,
    scratch: Scratch,
    asked: Any,
    sets: Any,
    output: Output,
    keys: Array,
    counts: Array,
    bits: Array,
    groups: int,
    node: int,
    entries: Array,
    used: int,
) -> tuple[Array, int]:
    """``tally_scores`` where the rows of values are held, else ``tally_sets``: decided as it is compiled."""
    if bits.ndim == 4:
        return tally_scores(
            shape, scratch, asked, sets, output, keys, counts, bits, groups, node, entries, used
        )
    else:  # noqa: RET505 (the compiler drops the other branch of an if-else only)
        return tally_sets(shape, scratch, sets, output, keys, counts, bits, groups, node, entries, used)
