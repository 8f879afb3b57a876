"""The evaluated lattice as a search's task needs it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from discreet.errors import LimitReached
from discreet.lattice.evaluate import evaluate_lattice
from discreet.lattice.evaluated import EvaluatedLattice
from discreet.lattice.memory import check_memory
from discreet.search.task import SearchTask


def evaluated_lattice(task: SearchTask) -> EvaluatedLattice | None:
    """The lattice with what the requirement asks for; None where it would not fit the memory limit.

    One that is known already is not evaluated again. ``InputError`` where the task's table is in a database.
    """
    if task.known is not None:
        return task.known
    table, bound = task.frequency_set, task.requirement.bound(task.table.sensitive_attributes)
    places = {one.place for one in bound}
    if not any(one.criterion.of_every_attribute for one in bound):
        table = replace(table, sensitive=tuple(s for i, s in enumerate(table.sensitive) if i in places))
    try:
        return evaluate_lattice(
            table,
            task.settings,
            diversity=False,
            criteria=task.requirement.criteria,
            progress=task.progress,
            notice=task.notice,
        )
    except LimitReached:
        return None


def fits_memory(task: SearchTask) -> bool:
    """Whether the lattice fits the memory limit, where sizes alone are counted."""
    try:
        check_memory(task.lattice, task.frequency_set, 0, task.settings)
    except LimitReached:
        return False
    return True


def nodes_within(task: SearchTask, suppressed: NDArray[np.int64]) -> NDArray[np.int64]:
    """The indices of the task's solutions, from the suppressed rows of every node of the lattice."""
    within = suppressed <= task.limit
    if (task.low, task.high) != (task.lattice.bottom, task.lattice.top):
        box = np.zeros([h + 1 for h in task.lattice.heights if h], dtype=np.bool_)
        box[
            tuple(
                slice(a, b + 1)
                for a, b, h in zip(task.low, task.high, task.lattice.heights, strict=True)
                if h
            )
        ] = True
        within &= box.ravel()
    return np.flatnonzero(within)


def levels_of(task: SearchTask, nodes: NDArray[np.int64]) -> NDArray[np.int64]:
    """The nodes of these indices, shape ``(nodes, attributes)``."""
    levels = np.empty((len(nodes), len(task.lattice.heights)), dtype=np.int64)
    for i, (stride, height) in enumerate(zip(task.lattice.strides, task.lattice.heights, strict=True)):
        levels[:, i] = nodes // stride % (height + 1)
    return levels
