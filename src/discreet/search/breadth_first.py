"""The breadth-first search of one set of attributes, as bottom-up and Incognito do it (LeFevre et al. 2005).

Nodes wait in a queue by height, at first the roots: the candidates that no other one lies directly below. A
node taken from it is checked, unless it is marked. One that meets the requirement marks its direct
generalizations (with transitive marking, all). One that fails leaves the candidates, and its direct
generalizations join the queue. A marked node is skipped, and does not mark on. What never joins the queue
survives too, since no node below it failed.

With roll-up the frequency set of a node that is no root is made from the smallest one of the direct
specializations that failed, of which there is one, or the node would not be in the queue.

Cost: one check per node that fails, and per node that meets the requirement and is not marked.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass

import numpy as np

from discreet.model.lattice import LatticeNode, tie_key
from discreet.search.candidates import Family, Nodes, roots
from discreet.search.frequencies import FrequencyClasses
from discreet.search.outcome import Tally
from discreet.search.root_sets import RootSets
from discreet.search.task import Marking, SearchTask
from discreet.search.walk import children_within, parents_within


@dataclass
class _Seen:
    """The nodes of a family come upon: a queue by height, and in the paper's order within one."""

    queue: list[tuple[int, LatticeNode, LatticeNode]]
    nodes: set[LatticeNode]

    def add(self, node: LatticeNode) -> None:
        if node not in self.nodes:
            self.nodes.add(node)
            heapq.heappush(self.queue, (sum(node), tie_key(node), node))

    def take(self) -> LatticeNode:
        return heapq.heappop(self.queue)[2]


class FamilySearch:
    """The breadth-first search of one family, among the candidates ``nodes``.

    Without ``roll_up`` every node's frequency set is made as a root's. ``watched``: tell the task's listener
    of every node. ``suppressed`` has the rows of the nodes that were checked and survive.
    """

    def __init__(
        self,
        task: SearchTask,
        family: Family,
        nodes: Nodes,
        root_sets: RootSets,
        tally: Tally,
        *,
        roll_up: bool = True,
        watched: bool = False,
    ) -> None:
        self._task = task
        self._low = tuple(task.low[attribute] for attribute in family)
        self._high = tuple(task.high[attribute] for attribute in family)
        self._family = family
        self._nodes = nodes
        self._root_sets = root_sets
        self._tally = tally
        self._roll_up = roll_up
        self._watched = watched
        self._marked = np.zeros_like(nodes)
        self._failed: dict[LatticeNode, FrequencyClasses] = {}
        self._seen = _Seen([], set())
        self.suppressed: dict[LatticeNode, int] = {}

    def run(self) -> Nodes:
        """The nodes that survive."""
        first = [self._node(place) for place in np.argwhere(roots(self._nodes)).tolist()]
        if not first:
            return self._nodes
        self._root_sets.enter(self._family, first)
        for node in first:
            self._seen.add(node)
        height = sum(self._low)
        while self._seen.queue:
            node = self._seen.take()
            if sum(node) > height:
                height = sum(node)
                self._forget_below(height - 1)
            if self._marked[self._place(node)]:
                self._tally.marked += 1
            else:
                self._check(node)
            if self._watched:
                self._task.advance(len(self._seen.nodes) - len(self._seen.queue), self._nodes.size)
        self._forget_below(sum(self._high) + 1)
        self._root_sets.leave()
        return self._nodes

    def _check(self, node: LatticeNode) -> None:
        counts = self._frequency_set(node)
        rows = counts.suppressed()
        self._tally.checked += 1
        if rows <= self._task.limit:
            self.suppressed[node] = rows
            self._mark_above(node)
            self._release(counts)
            return
        self._nodes[self._place(node)] = False
        if self._roll_up:
            self._failed[node] = counts
        else:
            self._release(counts)
        for parent in parents_within(node, self._high):
            self._seen.add(parent)

    def _frequency_set(self, node: LatticeNode) -> FrequencyClasses:
        below = [self._failed[c] for c in children_within(node, self._low) if c in self._failed]
        if not below:
            return self._root_sets.of(node)
        return min(below, key=lambda counts: counts.classes).roll_up(node)

    def _mark_above(self, node: LatticeNode) -> None:
        place = self._place(node)
        if self._task.marking is Marking.TRANSITIVE:
            self._marked[tuple(slice(i, None) for i in place)] = True
            return
        for parent in parents_within(node, self._high):
            self._marked[self._place(parent)] = True

    def _forget_below(self, height: int) -> None:
        """Release the frequency sets of nodes below a height: no node rolls up from them any more."""
        for node in [node for node in self._failed if sum(node) < height]:
            self._release(self._failed.pop(node))

    def _release(self, counts: FrequencyClasses) -> None:
        if not self._root_sets.keeps(counts):
            counts.release()

    def _node(self, place: list[int]) -> LatticeNode:
        return tuple(low + i for low, i in zip(self._low, place, strict=True))

    def _place(self, node: LatticeNode) -> tuple[int, ...]:
        return tuple(level - low for low, level in zip(self._low, node, strict=True))
