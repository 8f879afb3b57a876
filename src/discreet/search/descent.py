"""Good nodes fast: down from nodes that keep the suppression limit, step by step.

On a chain from the lowest node to the highest, suppression never rises, so halving finds the lowest node of
the chain that keeps the limit with a handful of counts. From there attributes go down one level at a time, in
a guide's order, while the limit is kept (greedy specialization). An attribute that cannot go down can never
go down later on the same way, so a descent takes about one count per attribute and step.

Where a descent ends, no attribute can go down. Raising one or a few attributes and descending with those held
up leads to other such ends; each better one becomes the start of the next search.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Protocol

import numpy as np

from discreet.model.lattice import LatticeNode
from discreet.search.branch_and_bound import BranchAndBound
from discreet.search.level_guides import Guide, chain, steps_down
from discreet.search.task import SearchTask

_MOST_RAISED = 4


class Judge(Protocol):
    """What tells a descent of the nodes that it comes to."""

    task: SearchTask

    def keeps_limit(self, node: LatticeNode, *, exactly: bool = False) -> bool:
        """Whether a node keeps the suppression limit; counted in any case where ``exactly``."""


def first_answer(search: Judge, guide: Guide) -> LatticeNode:
    """The end of a descent from a guide's chain; the task's highest node must keep the limit."""
    task = search.task
    nodes = chain(guide, task.low, task.high)
    fails, keeps = -1, len(nodes) - 1
    while keeps - fails > 1:
        middle = (fails + keeps) // 2
        if search.keeps_limit(nodes[middle]):
            keeps = middle
        else:
            fails = middle
    return descend(search, nodes[keeps], guide)


def descend(search: Judge, start: LatticeNode, guide: Guide, held: Collection[int] = ()) -> LatticeNode:
    """The end of the descent from a node that keeps the limit, attributes in ``held`` staying up."""
    low, node, closed = search.task.low, start, set(held)
    moved = True
    while moved:
        moved = False
        for attribute in steps_down(guide, node, low):
            if attribute in closed:
                continue
            child = (*node[:attribute], node[attribute] - 1, *node[attribute + 1 :])
            if search.keeps_limit(child):
                node, moved = child, True
                break
            closed.add(attribute)
    search.keeps_limit(node, exactly=True)
    return node


class Descents:
    """Descents from around the best node: one attribute raised, each in turn; then a few, drawn at random.

    The generator's seed is fixed, so that a search of so many counts is the same each time.
    """

    def __init__(self, search: BranchAndBound, guides: list[Guide]) -> None:
        self._search = search
        self._guides = guides
        self._around: LatticeNode | None = None
        self._raised = 0
        self._random = np.random.default_rng(0)

    def step(self) -> None:
        """One descent; the task's highest node must keep the limit, and a best node be known."""
        search = self._search
        if search.best is None:
            return
        if search.best.node != self._around:
            self._around, self._raised = search.best.node, 0
        free = [i for i, level in enumerate(self._around) if level < search.task.high[i]]
        if not free:
            return
        if self._raised < len(free):
            held, guide = [free[self._raised]], self._guides[0]
            self._raised += 1
        else:
            number = min(int(self._random.integers(1, _MOST_RAISED + 1)), len(free))
            held = self._random.choice(free, size=number, replace=False).tolist()
            guide = self._guides[int(self._random.integers(0, len(self._guides)))]
        node = tuple(level + (i in held) for i, level in enumerate(self._around))
        descend(search, node, guide, held)
