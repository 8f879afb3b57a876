"""Sizes, distinct values and buckets of scores of the tail's classes, tallied from one state of the rotation.

As in ``kernels.tally_sets``, but a class's values are rows by value (``value_rows``), and packed beside its
size are its distinct values and the bucket of each score. Most of the combinations never occur, so those that
do are noted as they are first met, and nothing else is read or cleared.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.kernels.bit_sets import add_rows, copy_rows
from discreet.kernels.class_scores import Scored, append_buckets, score
from discreet.kernels.earth_movers import Moving
from discreet.kernels.jit import compiled
from discreet.kernels.records import Output, Scratch, Shape, grown
from discreet.kernels.score_memo import Memo, recall, remember
from discreet.kernels.tail_rows import first_rows, next_rows
from discreet.kernels.tally_sets import emit_list, tally_sets
from discreet.kernels.value_rows import Occurring, unpack

Array = NDArray[Any]

MARGINALS = np.array([1, 2, 4, 8, 3, 12, 5, 10, 15])
"""The cells of each marginal (``tally_sizes.tally_rows``), as bits."""
LEFT, RIGHT = np.array([0, 0, 0, 0, 1, 4, 1, 2, 3]), np.array([0, 0, 0, 0, 2, 8, 4, 8, 12])
"""The earlier marginals that each is the sum of."""
ALL = ~np.uint64(0)


class ScoreScratch(NamedTuple):
    """One thread's working arrays for scores.

    For cell node q (and q = nodes for rows of a single cell and isolated groups) ``tables[q, s]`` counts
    small classes of signature s, ``met[q, :numbers[q]]`` are the signatures that were met, ``listed[q,
    :lengths[q]]`` those of larger classes, ``merged`` a node's of all. q = nodes + 1 + p is for groups that
    were set apart, as in ``Scratch``: its table takes in those set apart before, its list does not.

    Classes are scored so many at a time: ``words[c]`` holds the packed rows of class c, ``held_sizes[c]`` its
    size, ``packed[c]`` the rest of its signature. ``notes[n]`` says of a class to be tallied its place c and
    its q. Those that ``memo`` does not know are told by ``missed``, with ``places`` where to keep what is
    ``fresh``. ``place`` says where the classes of a row are held, by their cells.
    """

    row_bits: Array
    tables: Array
    met: Array
    numbers: Array
    listed: Array
    lengths: Array
    merged: Array
    words: Array
    held_sizes: Array
    packed: Array
    memo: Memo
    missed: Array
    places: Array
    fresh: Array
    scores: Array
    notes: Array
    found: Occurring
    top: Array
    moving: Moving
    place: Array


@compiled
def pack(classes: int, asked: Scored, widths: Array, sets: ScoreScratch) -> None:
    """Distinct values by attribute and buckets of scores, side by side, of the classes in ``sets.words``."""
    lanes, found, packed = asked.lanes, sets.found, sets.fresh
    starts = found.starts
    packed[:classes] = 0
    attributes = len(lanes.words) - 1
    listed = -1
    for part in range(len(widths)):
        place = part if part < attributes else asked.places[part - attributes]
        if place != listed:
            unpack(sets.words, classes, place, lanes, found)
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
    held_sizes: Array,
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
        signature = (held_sizes[notes[n, 0]] << width) | packed[notes[n, 0]]
        if signature < tabled:
            # Written in any case, and kept only where it is the first: no branch.
            several = tables[q, signature]
            met[q, numbers[q]] = signature
            numbers[q] += several == 0
            tables[q, signature] = several + 1
        else:
            listed[q, lengths[q]] = signature
            lengths[q] += 1


@compiled
def flush(classes: int, number: int, shape: Shape, asked: Scored, sets: ScoreScratch) -> None:
    """Score the classes that are held, and tally them."""
    missed = recall(sets.words, classes, sets.memo, sets.packed, sets.missed, sets.places)
    if missed > 0:
        pack(missed, asked, shape.widths, sets)
        remember(sets.words, missed, sets.fresh, sets.memo, sets.packed, sets.missed, sets.places)
    note(
        number,
        sets.notes,
        sets.held_sizes,
        sets.packed,
        shape.widths.sum(),
        sets.tables,
        sets.met,
        sets.numbers,
        sets.listed,
        sets.lengths,
    )


@compiled
def hold_groups(
    sizes: Array, bits: Array, at: Array, begin: int, end: int, q: int, sets: ScoreScratch
) -> int:
    """Hold the classes ``at`` some positions, from ``begin`` on, as far as there is room; their number."""
    words, held_sizes, notes = sets.words, sets.held_sizes, sets.notes
    number = min(end - begin, len(words))
    for n in range(number):
        i = at[begin + n]
        copy_rows(bits, i, words, n)
        held_sizes[n] = sizes[i]
        notes[n, 0] = n
        notes[n, 1] = q
    return number


@compiled
def hold_rows(
    cells: Array, bits: Array, begin: int, rows: int, node_of_marginal: Array, single: int, sets: ScoreScratch
) -> tuple[int, int, int]:
    """Hold the classes of rows from ``begin`` on; the next row, the classes, and how many notes they have.

    A row of a single cell is one class at every cell node, and tallied once, for ``single``.
    """
    words, held_sizes, notes, place = sets.words, sets.held_sizes, sets.notes, sets.place
    held = 0
    number = 0
    row = begin
    while row < rows and held + 9 <= len(words) and number + 9 <= len(notes):
        filled = 0
        for cell in range(4):
            size = cells[4 * row + cell]
            if size > 0:
                filled |= 1 << cell
                copy_rows(bits, 4 * row + cell, words, held)
                held_sizes[held] = size
                place[1 << cell] = held
                held += 1
        if (filled & (filled - 1)) == 0:
            notes[number, 0] = held - 1
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
                left, right = place[of & LEFT[m]], place[of & RIGHT[m]]
                if (of & LEFT[m]) > 0 and (of & RIGHT[m]) > 0:
                    add_rows(words, left, words, right, words, held, ALL)
                    held_sizes[held] = held_sizes[left] + held_sizes[right]
                    place[of] = held
                    held += 1
            notes[number, 0] = place[of]
            notes[number, 1] = q
            number += 1
        row += 1
    return row, held, number


@compiled
def take_over(tables: Array, met: Array, numbers: Array, source: int, q: int) -> None:
    """Add the small classes of one table to another."""
    number = numbers[q]
    for n in range(numbers[source]):
        signature = met[source, n]
        own = tables[q, signature]
        # Written in any case, and kept only where it is the first: no branch.
        met[q, number] = signature
        number += own == 0
        tables[q, signature] = own + tables[source, signature]
    numbers[q] = number


@compiled
def clear(table: Array, met: Array, number: int) -> None:
    """Forget what was tallied for a cell node."""
    for n in range(number):
        table[met[n]] = 0


@compiled
def emit_table(
    table: Array, met: Array, number: int, widths: Array, small: Array, entries: Array, used: int
) -> int:
    """One node's small classes, whose signatures were ``met``, which are forgotten; returns their number."""
    width = widths.sum()
    parts = len(widths)
    classes: Any = 0
    for n in range(number):
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
def gather(listed: Array, lengths: Array, q: int, nodes: int, merged: Array) -> int:
    """The listed classes of a cell node: its own, rows of a single cell, isolated groups; their number."""
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
def note_alone_scores(
    shape: Shape,
    scratch: Scratch,
    asked: Scored,
    sets: ScoreScratch,
    counts: Array,
    bits: Array,
    isolated: int,
    base: int,
    place: int,
) -> None:
    """Tally the groups at ``scratch.alone_at`` in ``place`` of those set apart, beside those of ``base``."""
    tables, met, numbers, lengths = sets.tables, sets.met, sets.numbers, sets.lengths
    first = len(shape.cell_strides) + 1
    q = first + place
    clear(tables[q], met[q], numbers[q])
    numbers[q] = 0
    # Lists between the two places are those of another branch.
    for part in range(first + base + 1, q + 1):
        lengths[part] = 0
    take_over(tables, met, numbers, first + base, q)
    begin = 0
    while begin < isolated:
        held = hold_groups(counts, bits, scratch.alone_at, begin, isolated, q, sets)
        flush(held, held, shape, asked, sets)
        begin += held


@compiled
def emit_nodes(
    shape: Shape, sets: ScoreScratch, output: Output, first: int, entries: Array, used: int
) -> tuple[Array, int]:
    """Write the histograms of the tail's nodes at one outer level; ``first`` is the lowest of them."""
    nodes = len(shape.cell_strides)
    width = shape.widths.sum()
    tables, met, numbers, lengths = sets.tables, sets.met, sets.numbers, sets.lengths
    for q in range(nodes):
        node = first + shape.cell_strides[q]
        number = gather(sets.listed, lengths, q, nodes, sets.merged)
        take_over(tables, met, numbers, nodes, q)
        entries = grown(entries, used, used + number + numbers[q])
        output.starts[node] = used
        small = output.small[node]
        classes = emit_table(tables[q], met[q], numbers[q], shape.widths, small, entries, used)
        used += numbers[q]
        used = emit_list(sets.merged[:number], shape.widths, width, small, 0, entries, used)
        output.classes[node] = classes + number
        output.stops[node] = used
        numbers[q] = 0
        lengths[q] = 0
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
    tables, met, numbers, lengths = sets.tables, sets.met, sets.numbers, sets.lengths
    last = len(numbers) - nodes - 2
    note_alone_scores(shape, scratch, asked, sets, counts, bits, isolated, shape.base, last)
    for level in range(shape.outer_levels):
        now = level & 1
        if level > 0:
            number = next_rows(shape, scratch, level, number, row_bits[1 - now], row_bits[now])
        clear(tables[nodes], met[nodes], numbers[nodes])
        numbers[nodes] = 0
        lengths[nodes] = 0
        begin = 0
        while begin < number:
            begin, held, noted = hold_rows(
                scratch.row_cells[now],
                row_bits[now],
                begin,
                number,
                shape.node_of_marginal,
                nodes,
                sets,
            )
            flush(held, noted, shape, asked, sets)
        take_over(tables, met, numbers, nodes + 1 + last, nodes)
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
