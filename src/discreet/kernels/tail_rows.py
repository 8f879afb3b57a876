"""The tail's rows: from a state of the rotation, and from one level of the outer attribute to the next."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from discreet.kernels.bit_sets import BitSets
from discreet.kernels.jit import compiled
from discreet.kernels.records import Scratch, Shape
from discreet.kernels.rotation import build_rows, compact, isolate, merge_rows, recode

Array = NDArray[Any]
FEW = 8
"""Isolated groups that are fewer than one in so many are not worth moving the others."""


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
def part_isolated(
    shape: Shape, scratch: Scratch, keys: Array, groups: int, position: int, rotated: bool
) -> tuple[int, int]:
    """Part the groups whose head up to ``position`` no other shares from the others; the number of each.

    Where they are few they stay among the others, unless keys are to be coded again: heads are as many as
    those have room for where each has two groups.
    """
    coded = shape.section[position] >= 0
    if groups == 0 or not (coded or rotated):
        return groups, groups - groups
    kept, isolated = isolate(keys, groups, shape.heads[position], scratch.kept_at, scratch.alone_at)
    if isolated * FEW < groups and not coded:
        return groups, groups - groups
    return kept, isolated


@compiled
def keep_parted(
    shape: Shape,
    scratch: Scratch,
    keys: Array,
    counts: Array,
    bits: BitSets,
    kept: int,
    isolated: int,
    position: int,
) -> None:
    """Keep the groups that were parted from isolated ones; code their keys for the next section."""
    if isolated > 0:
        compact(keys, counts, bits, scratch.kept_at, kept)
    section = shape.section[position]
    if section >= 0 and kept > 0:
        recode(
            keys,
            kept,
            shape.heads[position],
            shape.laters[section],
            shape.later_shifts[section],
            shape.codes[shape.code_starts[section] : shape.code_starts[section + 1]],
            shape.head_shifts[section],
        )


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
