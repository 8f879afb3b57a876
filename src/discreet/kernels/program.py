"""The rotation's program: which buffer is rolled up, rotated or tallied, in what sequence.

The sequence of operations depends on the hierarchies alone, never on the data, so it is laid out once in
plain Python and the compiled kernels merely execute it. That also cuts the work for threads: a task is the
program of one sub-lattice.

Attributes fall into three parts, in the plan's order. The *head* attributes are rotated: one after the other
is rolled up level by level and moved to the front of the sort order. What is left is the *tail*: up to two
binary attributes (two values, two levels), whose four combinations become the cells of a row, and one *outer*
attribute, whose levels merge rows. All nodes of the tail are tallied from one state without sorting again.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.kernels.plan import RotationPlan

ROLL_UP, ROTATE, TALLY = 0, 1, 2


@dataclass(frozen=True, eq=False)
class Task:
    """One sub-lattice: the levels that its first head attributes keep, and the program of the rest.

    ``prefix`` holds those levels. ``program`` has shape ``(operations, 4)``: ROLL_UP (buffer, position,
    level), ROTATE (buffer, position, to buffer), TALLY (buffer, index of the node, 0). Buffers count from 0,
    which holds the task's start state.
    """

    prefix: tuple[int, ...]
    program: NDArray[np.int64]


def tasks(plan: RotationPlan, at_least: int) -> list[Task]:
    """The lattice cut into at least ``at_least`` tasks where it has that many parts, the largest first."""
    tail, fixed, parts = plan.tail, 0, 1
    while parts < at_least and fixed < tail.head:
        parts *= len(plan.steps[fixed])
        fixed += 1
    program = np.array([[TALLY, 0, 0, 0]])
    for position in range(tail.head - 1, fixed - 1, -1):
        program = _all_levels(plan, position, program)
    return [Task(prefix, _moved(program, 0, _lowest(plan, prefix))) for prefix in _prefixes(plan, fixed)]


def _prefixes(plan: RotationPlan, fixed: int) -> list[tuple[int, ...]]:
    prefixes: list[tuple[int, ...]] = [()]
    for position in range(fixed):
        prefixes = [(*p, level) for p in prefixes for level in range(len(plan.steps[position]))]
    return sorted(prefixes, key=sum)


def _lowest(plan: RotationPlan, prefix: tuple[int, ...]) -> int:
    """The index of the lowest node with these levels."""
    return sum(level * stride for level, stride in zip(prefix, plan.strides, strict=False))


def _all_levels(plan: RotationPlan, position: int, rest: NDArray[np.int64]) -> NDArray[np.int64]:
    """The program from one head attribute on, given ``rest`` from the next on; both start in buffer 0.

    A state at its attribute's top is needed no more, so the rest works in its buffer.
    """
    top = len(plan.steps[position]) - 1
    parts = []
    for level in range(top + 1):
        if level and plan.sizes[position][level] != plan.sizes[position][level - 1]:
            parts.append(np.array([[ROLL_UP, 0, position, level]]))
        handed_down = level == top and plan.sizes[position][top] == 1
        if not handed_down:
            parts.append(np.array([[ROTATE, 0, position, 1]]))
        parts.append(_moved(rest, 0 if handed_down else 1, level * plan.strides[position]))
    return np.concatenate(parts)


def _moved(program: NDArray[np.int64], buffers: int, nodes: int) -> NDArray[np.int64]:
    """The same program some buffers and nodes further on."""
    moved = program.copy()
    moved[:, 1] += buffers
    moved[program[:, 0] == ROTATE, 3] += buffers
    moved[program[:, 0] == TALLY, 2] += nodes
    return moved
