"""The rotation's program for some nodes of a lattice alone.

Nodes that share the levels of the first attributes share the work up to there, and all else is left out. A
level is reached from the one before it that is wanted, in one step.

Cost: a pass in plain Python over the states, of one or two microseconds each; then that of the states.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from discreet.kernels.part_plan import jump
from discreet.kernels.plan import RotationPlan

ROLL_UP, ROTATE, SUM = 0, 1, 2


@dataclass(frozen=True, eq=False)
class ChosenNodes:
    """Some nodes of a plan, and the programs that reach them, one after the other.

    ``programs`` have shape ``(operations, 4)``: ROLL_UP (buffer, position, step), ROTATE (buffer, position,
    to buffer), SUM (buffer, node, 0); each begins with the row types in buffer 0, and no two have a node in
    common. ``steps[i]`` are those of the attribute processed i-th.
    """

    plan: RotationPlan
    programs: tuple[NDArray[np.int64], ...]
    steps: tuple[tuple[NDArray[np.uint64], ...], ...]
    nodes: int


def chosen_nodes(plan: RotationPlan, levels: NDArray[np.int64], at_least: int = 1) -> ChosenNodes:
    """The work for nodes ``levels`` (shape ``(nodes, attributes)``, as the plan's codes had them).

    None stands there twice. The work is cut into ``at_least`` programs where the first two attributes have so
    many levels among the nodes.
    """
    in_order = levels[:, list(plan.order)]
    sequence = np.lexsort(in_order.T[::-1]) if len(plan.order) else np.arange(len(levels))
    in_order = in_order[sequence]
    jumps = [_Jumps(plan, position) for position in range(len(plan.order))]
    programs = tuple(
        _program(plan, jumps, in_order[start:stop].tolist(), sequence[start:stop].tolist())
        for start, stop in _parts(in_order, at_least)
    )
    return ChosenNodes(plan, programs, tuple(each.steps for each in jumps), len(levels))


class _Jumps:
    """One attribute's steps over one level or several, as they are asked for."""

    def __init__(self, plan: RotationPlan, position: int) -> None:
        self._plan, self._position = plan, position
        self._made: dict[tuple[int, int], int] = {}
        self.steps: tuple[NDArray[np.uint64], ...] = ()

    def at(self, level: int, higher: int) -> int:
        """The place among the steps of that from one level to a higher one; -1 where both are the same."""
        sizes = self._plan.sizes[self._position]
        if sizes[level] == sizes[higher]:
            return -1
        if (level, higher) not in self._made:
            self._made[level, higher] = len(self.steps)
            self.steps = (*self.steps, jump(self._plan, self._position, level, higher))
        return self._made[level, higher]


def _parts(levels: NDArray[np.int64], at_least: int) -> Iterator[tuple[int, int]]:
    """Stretches of about equally many nodes, which part where one of the first two levels changes."""
    number = len(levels)
    cuts = np.flatnonzero((np.diff(levels[:, :2], axis=0) != 0).any(axis=1)) + 1
    ends = [0]
    for part in range(1, at_least):
        near = cuts[np.searchsorted(cuts, round(number * part / at_least)) :][:1].tolist()
        ends += [cut for cut in near if cut > ends[-1]]
    ends.append(number)
    return pairwise(ends)


def _program(
    plan: RotationPlan, jumps: Sequence[_Jumps], nodes: Sequence[Sequence[int]], names: Sequence[int]
) -> NDArray[np.int64]:
    """The program of some nodes, in ascending order."""
    last = len(jumps) - 1
    constant = [len(sizes) - 1 if sizes[-1] == 1 else -1 for sizes in plan.sizes]
    operations: list[int] = []  # Four to an operation: fewer objects than tuples would be.
    buffers = [0] * (last + 2)
    before: Sequence[int] | None = None
    for node, name in zip(nodes, names, strict=True):
        position = now = 0
        if before is not None:
            while node[position] == before[position]:
                position += 1
            now = before[position]
        while position <= last:
            buffer, level = buffers[position], node[position]
            step = jumps[position].at(now, level)
            if step >= 0:
                operations += (ROLL_UP, buffer, position, step)
            # A state at its attribute's top is needed no more, so what comes after works in its buffer.
            handed_down = level == constant[position]
            if position < last and not handed_down:
                operations += (ROTATE, buffer, position, buffer + 1)
            position, now = position + 1, 0
            buffers[position] = buffer if handed_down else buffer + 1
        operations += (SUM, buffers[last] if last >= 0 else 0, name, 0)
        before = node
    return np.array(operations, np.int64).reshape(-1, 4)
