"""Running a rotation's program: the compiled loop over its operations."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.kernels.class_scores import Scored
from discreet.kernels.isolated_groups import set_apart, set_values_apart
from discreet.kernels.jit import compiled
from discreet.kernels.program import ROLL_UP, ROTATE, TALLY
from discreet.kernels.records import Output, Scratch, SetScratch, Shape
from discreet.kernels.rotation import roll_up
from discreet.kernels.tail_rows import turn
from discreet.kernels.tally_scores import ScoreScratch, tally_values
from discreet.kernels.tally_sizes import tally_sizes

Array = NDArray[Any]


@compiled
def execute(
    program: Array,
    start: int,
    buffer: int,
    keys: Array,
    counts: Array,
    shape: Shape,
    scratch: Scratch,
    output: Output,
) -> Array:
    """Run one task's program for class sizes; ``keys[buffer]`` and ``counts[buffer]`` hold ``start`` groups.

    The other rows of ``keys`` and ``counts`` are buffers. Fills the nodes' parts of ``output`` and returns
    the task's entries (the columns of the signature, then rows), which ``output.starts`` and ``output.stops``
    index.
    """
    groups = np.zeros(len(keys), np.int64)
    groups[buffer] = start
    # The tallies put a longer one in its place where it is full.
    entries = np.empty((2, 65536), counts.dtype)
    # A zero of the loop's own type: a plain 0 would be of another, and the loop compiled for neither.
    used = groups[0] - groups[0]
    for operation in range(len(program)):
        kind, buffer, what, more, level = program[operation]
        if kind == ROLL_UP:
            step = shape.steps[shape.step_starts[what, more] : shape.step_starts[what, more + 1]]
            groups[buffer] = roll_up(
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
                turn(shape, scratch, what, level, groups[buffer], keys, counts, None, buffer, now)
            if shape.apart[what]:
                groups[now] = set_apart(
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
    shape: Shape,
    scratch: Scratch,
    sets: SetScratch | ScoreScratch,
    asked: Scored | None,
    output: Output,
) -> Array:
    """The same for class sizes, distinct sensitive values and, where ``asked``, scores.

    ``bits`` has shape (buffers, groups, …): sets of values, or the rows of each value for scores.
    """
    groups = np.zeros(len(keys), np.int64)
    groups[buffer] = start
    entries = np.empty((len(shape.widths) + 2, 65536), counts.dtype)
    # Typed, as above.
    used = groups[0] - groups[0]
    for operation in range(len(program)):
        kind, buffer, what, more, level = program[operation]
        if kind == ROLL_UP:
            step = shape.steps[shape.step_starts[what, more] : shape.step_starts[what, more + 1]]
            groups[buffer] = roll_up(
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
                turn(shape, scratch, what, level, groups[buffer], keys, counts, bits, buffer, now)
            if shape.apart[what]:
                key, count, held = keys[now], counts[now], bits[now]
                groups[now] = set_values_apart(
                    shape, scratch, asked, sets, key, count, held, groups[now], what, rotated
                )
        else:
            entries, used = tally_values(
                shape,
                scratch,
                asked,
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
