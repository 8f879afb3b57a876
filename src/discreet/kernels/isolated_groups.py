"""Isolated groups set apart behind a head attribute: tallied once for all nodes below, and dropped.

What is left has its keys coded again where a section of them ends (``kernels.sections``).
"""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from discreet.kernels.bit_sets import BitSets
from discreet.kernels.jit import compiled
from discreet.kernels.records import Scratch, Shape
from discreet.kernels.rotation import compact, isolate, recode
from discreet.kernels.tally_scores import note_alone_scores
from discreet.kernels.tally_sets import note_alone_sets
from discreet.kernels.tally_sizes import note_alone

Array = NDArray[Any]
FEW = 8
"""Isolated groups that are fewer than one in so many are not worth moving the others."""


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
def set_apart(
    shape: Shape, scratch: Scratch, keys: Array, counts: Array, groups: int, position: int, rotated: bool
) -> int:
    """Set the isolated groups of a state apart, for class sizes; the number of those that are left."""
    kept, isolated = part_isolated(shape, scratch, keys, groups, position, rotated)
    note_alone(scratch, counts, isolated, shape.limit, position, position + 1)
    keep_parted(shape, scratch, keys, counts, None, kept, isolated, position)
    return kept


@compiled
def set_values_apart(
    shape: Shape,
    scratch: Scratch,
    asked: Any,
    sets: Any,
    keys: Array,
    counts: Array,
    bits: Array,
    groups: int,
    position: int,
    rotated: bool,
) -> int:
    """The same with sensitive values: rows of each value where scores are ``asked``, else sets."""
    kept, isolated = part_isolated(shape, scratch, keys, groups, position, rotated)
    if bits.ndim == 4:
        note_alone_scores(shape, scratch, asked, sets, counts, bits, isolated, position, position + 1)
    else:
        note_alone_sets(shape, scratch, sets, counts, bits, isolated, position, position + 1)
    keep_parted(shape, scratch, keys, counts, bits, kept, isolated, position)
    return kept
