"""From one state to the next: rotated between buffers, brought into rows, raised in the outer attribute."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from discreet.kernels.bit_sets import BitSets
from discreet.kernels.jit import compiled
from discreet.kernels.records import Scratch, Shape
from discreet.kernels.rotation import build_rows, isolate, merge_rows, rotate

Array = NDArray[Any]


@compiled
def turn(
    shape: Shape,
    scratch: Scratch,
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
    place = scratch.place[: shape.sizes[position, level] + 1]
    if bits is None:
        rotate(keys[buffer], counts[buffer], None, groups, keys[to], counts[to], None, field, shift, place)
    else:
        held = bits[buffer]
        rotate(
            keys[buffer], counts[buffer], held, groups, keys[to], counts[to], bits[to], field, shift, place
        )


@compiled
def first_rows(
    shape: Shape,
    scratch: Scratch,
    keys: Array,
    counts: Array,
    bits: BitSets,
    groups: int,
    row_bits: BitSets,
) -> tuple[int, int]:
    """Set isolated groups apart (``scratch.alone_at``), build rows of the others; the number of each."""
    kept, isolated = isolate(keys, groups, shape.head_fields, scratch.kept_at, scratch.alone_at)
    rows = build_rows(
        keys,
        counts,
        bits,
        scratch.kept_at,
        kept,
        shape.shifts[shape.head],
        shape.cell_mask,
        scratch.row_keys[0],
        scratch.row_cells[0],
        row_bits,
    )
    return rows, isolated


@compiled
def next_rows(
    shape: Shape, scratch: Scratch, level: int, rows: int, row_bits: BitSets, to_bits: BitSets
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
