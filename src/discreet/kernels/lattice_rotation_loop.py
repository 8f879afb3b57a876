"""Compiled loop that executes a task of the rotation program.

Rolls up, rotates and tallies buffers. Isolated groups are tallied and removed after each rotation, and keys
are recoded at the end of a section.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.kernels.class_scores import ScoreInputs
from discreet.kernels.lattice_rotation import (
    GroupState,
    HistogramOutput,
    PlanArrays,
    RotationScratch,
    SetScratch,
    compact_groups,
    recode_keys,
    roll_up_state,
    rotate,
    split_isolated,
    view_buffer,
)
from discreet.kernels.lattice_rotation_plan import ROLL_UP, ROTATE, TALLY
from discreet.kernels.numba_jit import compiled
from discreet.kernels.score_tallies import ScoreScratch, tally_isolated_scores, tally_scores
from discreet.kernels.size_tallies import tally_isolated_sets, tally_isolated_sizes, tally_sets, tally_sizes

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
def tally_isolated(
    bits: Array,
    shape: PlanArrays,
    scratch: RotationScratch,
    sets: Any,
    inputs: Any,
    counts: Array,
    isolated: int,
    position: int,
) -> None:
    """Tally isolated groups after a position: scores, sets or sizes, decided at compile time by ``bits``."""
    if bits.ndim == 5:
        tally_isolated_sizes(scratch, counts, isolated, shape.limit, position, position + 1)
    elif bits.ndim == 4:
        tally_isolated_scores(shape, scratch, inputs, sets, counts, bits, isolated, position, position + 1)
    else:
        tally_isolated_sets(shape, scratch, sets, counts, bits, isolated, position, position + 1)


@compiled
def remove_isolated(
    state: GroupState,
    groups: int,
    position: int,
    rotated: bool,
    shape: PlanArrays,
    scratch: RotationScratch,
    sets: Any,
    inputs: Any,
) -> int:
    """Tally and remove isolated groups, recode the keys of the others for the next section.

    Returns the number of others.
    """
    keys, counts, bits = state
    shared, isolated = find_isolated(shape, scratch, keys, groups, position, rotated)
    tally_isolated(bits, shape, scratch, sets, inputs, counts, isolated, position)
    if isolated > 0:
        compact_groups(state, scratch.shared_at, shared)
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
    return shared


@compiled
def tally_state(
    bits: Array,
    shape: PlanArrays,
    scratch: RotationScratch,
    sets: Any,
    inputs: Any,
    output: HistogramOutput,
    state: GroupState,
    groups: int,
    node: int,
    entries: Array,
    used: int,
) -> tuple[Array, int]:
    """Tally scores, sets or sizes, decided at compile time by ``bits``, the values of the state."""
    if bits.ndim == 5:
        return tally_sizes(shape, scratch, output, state, groups, node, entries, used)
    elif bits.ndim == 4:  # noqa: RET505 (the compiler drops the other branches of an if-else only)
        return tally_scores(shape, scratch, inputs, sets, output, state, groups, node, entries, used)
    else:
        return tally_sets(shape, scratch, sets, output, state, groups, node, entries, used)


@compiled
def execute(
    program: Array,
    start: int,
    buffer: int,
    buffers: GroupState,
    shape: PlanArrays,
    scratch: RotationScratch,
    sets: SetScratch | ScoreScratch | None,
    inputs: ScoreInputs | None,
    output: HistogramOutput,
) -> Array:
    """Run one task's program: class sizes, distinct sensitive values and, with ``inputs``, scores.

    Buffer ``buffer`` contains ``start`` groups, the others are free. Fills the nodes' parts of ``output``
    and returns the task's entries (the columns of the signature, then rows), which ``output.starts`` and
    ``output.stops`` index.
    """
    groups = np.zeros(len(buffers.keys), np.int64)
    groups[buffer] = start
    # The tallies replace the array by a longer one when it is full.
    entries = np.empty((len(shape.widths) + 2, 65536), buffers.counts.dtype)
    # A zero of the loop's own type: a literal 0 would have another, and numba could not unify the two.
    used = groups[0] - groups[0]
    for operation in range(len(program)):
        # Operands depend on the opcode (``RotationTask``): ``operand`` is a position, or a node for TALLY.
        kind, buffer, operand, more, level = program[operation]
        state = view_buffer(buffers, buffer)
        if kind == ROLL_UP:
            step = shape.steps[shape.step_starts[operand, more] : shape.step_starts[operand, more + 1]]
            field, shift = shape.fields[operand], shape.shifts[operand]
            groups[buffer] = roll_up_state(state, groups[buffer], ~field, shift, step)
        elif kind == TALLY:
            entries, used = tally_state(
                state.bits,
                shape,
                scratch,
                sets,
                inputs,
                output,
                state,
                groups[buffer],
                operand,
                entries,
                used,
            )
        else:
            now = buffer
            if kind == ROTATE:
                now = more
                groups[now] = groups[buffer]
                to, slot = view_buffer(buffers, now), scratch.slot[: shape.sizes[operand, level] + 1]
                rotate(state, groups[now], to, shape.fields[operand], shape.shifts[operand], slot)
                state = to
            if shape.apart[operand]:
                groups[now] = remove_isolated(
                    state, groups[now], operand, kind == ROTATE, shape, scratch, sets, inputs
                )
    return entries[:, :used]
