"""What compiled functions share: the plan as they read it, one thread's scratch, the nodes' output."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.kernels.jit import compiled

Array = NDArray[Any]


class Shape(NamedTuple):
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


class Scratch(NamedTuple):
    """One thread's working arrays for class sizes.

    ``kept_at`` and ``alone_at`` are positions of groups in a state, ``row_at`` of each row's first cell.
    ``tables`` and ``big`` hold what was tallied, small sizes counted and big ones listed.

    Groups that were set apart behind a position count at every node below: ``alone_tables[p + 1]`` holds the
    small sizes of those of positions up to p, ``alone_big[: alone_ends[p + 1]]`` the big ones. Those of the
    tail come last.
    """

    place: Array
    kept_at: Array
    alone_at: Array
    row_at: Array
    row_keys: Array
    row_cells: Array
    big: Array
    bigs: Array
    merged: Array
    tables: Array
    alone_tables: Array
    alone_big: Array
    alone_ends: Array
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
    alone_tables: Array
    alone_listed: Array
    alone_ends: Array
    merged: Array
    packed: Array


class Output(NamedTuple):
    """The nodes' histograms, shared by all tasks; each node is written by one."""

    small: Array
    classes: Array
    starts: Array
    stops: Array


@compiled
def grown(entries: Array, used: int, needed: int) -> Array:
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
