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

ROLL_UP, ROTATE, KEEP, TALLY = 0, 1, 2, 3


@dataclass(frozen=True, eq=False)
class Task:
    """One sub-lattice: the program that evaluates it, from the row types in buffer ``start`` on.

    ``prefix`` holds the levels that its first head attributes keep. ``program`` has shape ``(operations,
    5)``: ROLL_UP (buffer, position, level, 0), ROTATE (buffer, position, to buffer, level), KEEP (buffer,
    position, 0, 0), TALLY (buffer, index of the node, 0, 0). KEEP takes the place of ROTATE where an
    attribute has a single ordinal.
    """

    prefix: tuple[int, ...]
    start: int
    program: NDArray[np.int64]


def tasks(plan: RotationPlan, at_least: int) -> list[Task]:
    """The lattice cut into at least ``at_least`` tasks where it has that many parts, the largest first."""
    tail, fixed, parts = plan.tail, 0, 1
    while parts < at_least and fixed < tail.head:
        parts *= len(plan.steps[fixed])
        fixed += 1
    rest = np.array([[TALLY, 0, 0, 0, 0]])
    for position in range(tail.head - 1, fixed - 1, -1):
        rest = _all_levels(plan, position, rest)
    return [_task(plan, prefix, rest) for prefix in _prefixes(plan, fixed)]


def _task(plan: RotationPlan, prefix: tuple[int, ...], rest: NDArray[np.int64]) -> Task:
    """Make the task of a prefix: its operations in turns in buffers 0 and 1, then ``rest`` in buffer 0."""
    turns = sum(not _single(plan, position, level) for position, level in enumerate(prefix))
    start = now = turns % 2
    operations = []
    for position, level in enumerate(prefix):
        operations += [
            [ROLL_UP, now, position, step, 0] for step in range(1, level + 1) if _merges(plan, position, step)
        ]
        if _single(plan, position, level):
            operations.append([KEEP, now, position, 0, 0])
        else:
            operations.append([ROTATE, now, position, 1 - now, level])
            now = 1 - now
    own = np.array(operations, dtype=np.int64).reshape(-1, 5)
    return Task(prefix, start, np.concatenate([own, _moved(rest, 0, _lowest(plan, prefix))]))


def _single(plan: RotationPlan, position: int, level: int) -> bool:
    """Whether the attribute has a single ordinal at a level."""
    return plan.sizes[position][level] == 1


def _merges(plan: RotationPlan, position: int, level: int) -> bool:
    """Whether a level has fewer ordinals than the one below."""
    return plan.sizes[position][level] != plan.sizes[position][level - 1]


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
        if level and _merges(plan, position, level):
            parts.append(np.array([[ROLL_UP, 0, position, level, 0]]))
        handed_down = level == top and _single(plan, position, level)
        parts.append(
            np.array([[KEEP, 0, position, 0, 0] if handed_down else [ROTATE, 0, position, 1, level]])
        )
        parts.append(_moved(rest, 0 if handed_down else 1, level * plan.strides[position]))
    return np.concatenate(parts)


def _moved(program: NDArray[np.int64], buffers: int, nodes: int) -> NDArray[np.int64]:
    """The same program some buffers and nodes further on."""
    moved = program.copy()
    moved[:, 1] += buffers
    moved[program[:, 0] == ROTATE, 3] += buffers
    moved[program[:, 0] == TALLY, 2] += nodes
    return moved
