"""Compiled loop that executes a task of the rotation program.

Rolls up, rotates and tallies buffers. Isolated groups are tallied and removed after each rotation, and keys
are recoded at the end of a section.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.kernels.class_scores import ScoreInputs
from discreet.kernels.numba_jit import compiled
from discreet.kernels.packed_values import BitSets
from discreet.kernels.rotation import (
    HistogramOutput,
    PlanArrays,
    RotationScratch,
    SetScratch,
    compact_groups,
    recode_keys,
    roll_up_state,
    rotate_buffer,
    split_isolated,
)
from discreet.kernels.rotation_plan import ROLL_UP, ROTATE, TALLY
from discreet.kernels.score_tallies import ScoreScratch, tally_isolated_scores, tally_values
from discreet.kernels.size_tallies import tally_isolated_sets, tally_isolated_sizes, tally_sizes

Array = NDArray[Any]
COMPACT_SHARE = 8
"""Isolated groups are removed only if they are at least one in eight; moving the others costs more."""


@compiled
def find_isolated(
    shape: PlanArrays, scratch: RotationScratch, keys: Array, groups: int, position: int, rotated: bool
) -> tuple[int, int]:
    """Separate groups whose head up to ``position`` is unique from the others; return both numbers.

    A few isolated groups stay among the others, unless keys are recoded here: a recoded key has room for as
    many heads as there are if each head has two groups.
    """
    coded = shape.section[position] >= 0
    if groups == 0 or not (coded or rotated):
        # Typed zero: ``groups - groups`` has the type of the loop's counts, a literal 0 has not.
        return groups, groups - groups
    shared, isolated = split_isolated(
        keys, groups, shape.heads[position], scratch.shared_at, scratch.isolated_at
    )
    if isolated * COMPACT_SHARE < groups and not coded:
        return groups, groups - groups
    return shared, isolated


@compiled
def keep_shared(
    shape: PlanArrays,
    scratch: RotationScratch,
    keys: Array,
    counts: Array,
    bits: BitSets,
    shared: int,
    isolated: int,
    position: int,
) -> None:
    """Remove isolated groups, and recode the keys of the others for the next section."""
    if isolated > 0:
        compact_groups(keys, counts, bits, scratch.shared_at, shared)
    section = shape.section[position]
    if section >= 0 and shared > 0:
        recode_keys(
            keys,
            shared,
            shape.heads[position],
            shape.laters[section],
            shape.later_shifts[section],
            shape.codes[shape.code_starts[section] : shape.code_starts[section + 1]],
            shape.head_shifts[section],
        )


@compiled
def remove_isolated(
    shape: PlanArrays,
    scratch: RotationScratch,
    keys: Array,
    counts: Array,
    groups: int,
    position: int,
    rotated: bool,
) -> int:
    """Tally the isolated groups of a state by class size and remove them; return the number of others."""
    shared, isolated = find_isolated(shape, scratch, keys, groups, position, rotated)
    tally_isolated_sizes(scratch, counts, isolated, shape.limit, position, position + 1)
    keep_shared(shape, scratch, keys, counts, None, shared, isolated, position)
    return shared


@compiled
def remove_isolated_values(
    shape: PlanArrays,
    scratch: RotationScratch,
    inputs: Any,
    sets: Any,
    keys: Array,
    counts: Array,
    bits: Array,
    groups: int,
    position: int,
    rotated: bool,
) -> int:
    """Do the same with sensitive values: rows of each value if scores are computed, else sets."""
    shared, isolated = find_isolated(shape, scratch, keys, groups, position, rotated)
    if bits.ndim == 4:
        tally_isolated_scores(shape, scratch, inputs, sets, counts, bits, isolated, position, position + 1)
    else:
        tally_isolated_sets(shape, scratch, sets, counts, bits, isolated, position, position + 1)
    keep_shared(shape, scratch, keys, counts, bits, shared, isolated, position)
    return shared


@compiled
def execute(
    program: Array,
    start: int,
    buffer: int,
    keys: Array,
    counts: Array,
    shape: PlanArrays,
    scratch: RotationScratch,
    output: HistogramOutput,
) -> Array:
    """Run one task's program for class sizes; buffer ``buffer`` contains ``start`` groups.

    The other rows of ``keys`` and ``counts`` are free buffers. Fills the nodes' parts of ``output`` and
    returns the task's entries (the columns of the signature, then rows), which ``output.starts`` and
    ``output.stops`` index.
    """
    groups = np.zeros(len(keys), np.int64)
    groups[buffer] = start
    # The tallies replace the array by a longer one when it is full.
    entries = np.empty((2, 65536), counts.dtype)
    # A zero of the loop's own type: a literal 0 would have another, and numba could not unify the two.
    used = groups[0] - groups[0]
    for operation in range(len(program)):
        # Operands depend on the opcode (``RotationTask``): ``what`` is a position, or a node for TALLY.
        kind, buffer, what, more, level = program[operation]
        if kind == ROLL_UP:
            step = shape.steps[shape.step_starts[what, more] : shape.step_starts[what, more + 1]]
            groups[buffer] = roll_up_state(
                keys[buffer],
                counts[buffer],
                None,
                groups[buffer],
                ~shape.fields[what],
                shape.shifts[what],
                step,
            )
        elif kind != TALLY:
            now = buffer
            if kind == ROTATE:
                now = more
                groups[now] = groups[buffer]
                rotate_buffer(shape, scratch, what, level, groups[buffer], keys, counts, None, buffer, now)
            if shape.apart[what]:
                groups[now] = remove_isolated(
                    shape, scratch, keys[now], counts[now], groups[now], what, kind == ROTATE
                )
        else:
            entries, used = tally_sizes(
                shape, scratch, output, keys[buffer], counts[buffer], groups[buffer], what, entries, used
            )
    return entries[:, :used]


@compiled
def execute_sets(
    program: Array,
    start: int,
    buffer: int,
    keys: Array,
    counts: Array,
    bits: Array,
    shape: PlanArrays,
    scratch: RotationScratch,
    sets: SetScratch | ScoreScratch,
    inputs: ScoreInputs | None,
    output: HistogramOutput,
) -> Array:
    """Run one task's program for class sizes, distinct sensitive values and, with ``inputs``, scores.

    ``bits`` has shape (buffers, groups, …): sets of values, or the rows of each value for scores.
    """
    groups = np.zeros(len(keys), np.int64)
    groups[buffer] = start
    entries = np.empty((len(shape.widths) + 2, 65536), counts.dtype)
    # Typed zero, as in ``execute``.
    used = groups[0] - groups[0]
    for operation in range(len(program)):
        kind, buffer, what, more, level = program[operation]
        if kind == ROLL_UP:
            step = shape.steps[shape.step_starts[what, more] : shape.step_starts[what, more + 1]]
            groups[buffer] = roll_up_state(
                keys[buffer],
                counts[buffer],
                bits[buffer],
                groups[buffer],
                ~shape.fields[what],
                shape.shifts[what],
                step,
            )
        elif kind != TALLY:
            now, rotated = buffer, kind == ROTATE
            if rotated:
                now = more
                groups[now] = groups[buffer]
                rotate_buffer(shape, scratch, what, level, groups[buffer], keys, counts, bits, buffer, now)
            if shape.apart[what]:
                key, count, words = keys[now], counts[now], bits[now]
                groups[now] = remove_isolated_values(
                    shape, scratch, inputs, sets, key, count, words, groups[now], what, rotated
                )
        else:
            entries, used = tally_values(
                shape,
                scratch,
                inputs,
                sets,
                output,
                keys[buffer],
                counts[buffer],
                bits[buffer],
                groups[buffer],
                what,
                entries,
                used,
            )
    return entries[:, :used]
