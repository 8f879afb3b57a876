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

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.kernels.plan import RotationPlan, Tail

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
    return [Task(prefix, _program(plan, tail, prefix)) for prefix in _prefixes(plan, fixed)]


def _prefixes(plan: RotationPlan, fixed: int) -> list[tuple[int, ...]]:
    prefixes: list[tuple[int, ...]] = [()]
    for position in range(fixed):
        prefixes = [(*p, level) for p in prefixes for level in range(len(plan.steps[position]))]
    return sorted(prefixes, key=sum)


def _program(plan: RotationPlan, tail: Tail, prefix: tuple[int, ...]) -> NDArray[np.int64]:
    start = sum(level * stride for level, stride in zip(prefix, plan.strides, strict=False))
    operations = list(_operations(plan, tail, len(prefix), 0, start))
    return np.array(operations, np.int64).reshape(-1, 4)


def _operations(
    plan: RotationPlan, tail: Tail, position: int, buffer: int, node: int
) -> Iterator[tuple[int, int, int, int]]:
    """Depth first over the head attributes. A state at its attribute's top is needed no more: handed down."""
    if position == tail.head:
        yield (TALLY, buffer, node, 0)
        return
    top = len(plan.steps[position]) - 1
    for level in range(top + 1):
        if level and plan.sizes[position][level] != plan.sizes[position][level - 1]:
            yield (ROLL_UP, buffer, position, level)
        here = node + level * plan.strides[position]
        target = buffer if level == top and plan.sizes[position][top] == 1 else buffer + 1
        if target != buffer:
            yield (ROTATE, buffer, position, target)
        yield from _operations(plan, tail, position + 1, target, here)
