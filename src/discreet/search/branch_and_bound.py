"""The cheapest node of a lattice that is too large to evaluate: bound parts of it, and cut.

A *box* is all nodes between a lower and an upper one. Its lower node bounds the cost of every node in it, by
tables, without counting; its upper node has the fewest suppressed rows in it, so where that node exceeds the
suppression limit, the whole box does. Suppressed rows at the upper node are suppressed everywhere in the box,
which raises the bound. The box of least bound is looked at first; it is cut off, or parted in two by one
attribute: that attribute at its lowest level, and above it. Where the lower node suppresses the same rows as
the upper one, it is the cheapest of the box.

So the proof comes from both ends: costs from below, suppression from above. When no box is left whose bound
lies under the best cost found, that cost is least. Ties are settled by the tie rule (decision 0004).

Cost: a roll-up per counted node and some hundred bytes per open box; in the worst case as many boxes as
nodes.
"""

from __future__ import annotations

from collections.abc import Callable
from heapq import heappop, heappush
from math import inf
from time import perf_counter
from typing import NamedTuple

from discreet.errors import LimitReached
from discreet.measures.cost_kinds import ClassSizeCost, ClassSizes, Cost
from discreet.measures.node_statistics import NodeStatistics
from discreet.model.lattice import LatticeNode
from discreet.model.search_result import SearchResult, Solution
from discreet.search.known_nodes import KnownNodes
from discreet.search.level_guides import bits_guide, loss_guide
from discreet.search.node_statistics import StatisticsCounter
from discreet.search.preference import Candidate, better, beyond
from discreet.search.task import SearchTask

_BOX_BYTES, _LEVEL_BYTES = 240, 16
_SMALL_BOX = 4


class Box(NamedTuple):
    """Nodes between ``low`` and ``high``, ordered by bound; all suppress at least ``suppressed`` rows."""

    bound: float
    height: int
    number: int
    low: LatticeNode
    high: LatticeNode
    suppressed: int


class BranchAndBound:
    """The open boxes of one task, the best node so far and what is proven of it.

    ``memory`` (bytes) bounds the open boxes and what is known of nodes; half of it again bounds the counted
    states that are kept. ``before_count`` is called before each count and may raise to end the search. With
    ``forget`` boxes of the largest bounds are given up where memory ends, and the
    proof goes no further than they allow; without it ``LimitReached`` is raised.
    """

    def __init__(self, task: SearchTask, cost: Cost, memory: int, *, forget: bool) -> None:
        self.task = task
        self.cost = cost
        self.best: Candidate | None = None
        self.before_count: Callable[[], None] = _always
        self.counter = StatisticsCounter(task.frequency_set, task.requirement, memory // 2)
        self.known = KnownNodes(len(task.low), task.limit)
        self._forget = forget
        self._forgotten = inf
        self._most = max(memory // (_BOX_BYTES + _LEVEL_BYTES * len(task.low)), 64)
        self._score = [
            [loss * -bits for loss, bits in zip(losses, gains, strict=True)]
            for losses, gains in zip(
                loss_guide(task.frequency_set), bits_guide(task.frequency_set), strict=True
            )
        ]
        self._sizes_at: dict[LatticeNode, ClassSizes] = {}
        self._number = 0
        self._boxes: list[Box] = []
        self._open: Box | None = None
        self._push(task.low, task.high, 0, cost.least(task.low))

    @property
    def bound(self) -> float:
        """No node that keeps the limit costs less than this."""
        bounds = [self._forgotten]
        bounds += [self._boxes[0].bound] if self._boxes else []
        bounds += [self._open.bound] if self._open is not None else []
        least = min(bounds)
        return least if self.best is None else min(least, self.best.cost)

    @property
    def proven(self) -> float:
        """How much of the best cost is proven, from 0 to 1; 0 where that says nothing."""
        if self.best is None or float(self.best.cost) <= 0:
            return 0.0
        return min(max(float(self.bound) / float(self.best.cost), 0.0), 1.0)

    @property
    def finished(self) -> bool:
        """Whether nothing is left to look at."""
        return not self._boxes and self._open is None

    @property
    def complete(self) -> bool:
        """Whether the best node is proven to be the best, or that there is none."""
        return self.finished and (self._forgotten == inf or beyond(self._forgotten, self.best))

    def keeps_limit(self, node: LatticeNode, *, exactly: bool = False) -> bool:
        """Whether a node keeps the suppression limit: as known, or counted; then it may become the best.

        ``exactly``: count it even where it is known to keep the limit, for its cost.
        """
        verdict = self.known.verdict(node)
        if verdict is False or (verdict and (not exactly or node in self.known.suppressed)):
            return verdict
        return self._counted(node).suppressed <= self.task.limit

    def count_classes(self, node: LatticeNode) -> int:
        """The number of classes of any node, which may lie outside the task's bounds."""
        self.before_count()
        return len(self.counter.count(node).class_sizes)

    def _counted(self, node: LatticeNode) -> NodeStatistics:
        """A node's classes; what they tell is remembered."""
        self.before_count()
        statistics = self.counter.count(node)
        suppressed = statistics.suppressed
        if suppressed <= self.task.limit:
            exact = self.cost.of(statistics)
            self.best = better(self.best, Candidate(node, exact, suppressed))
        self.known.add(node, suppressed)
        return statistics

    def expand(self) -> None:
        """Look at the box of least bound: cut it off, or part it in two.

        An interruption at any place leaves the bound valid: the box stays open until its parts are in.
        """
        self._open = self._boxes[0]
        heappop(self._boxes)
        self._look_at(self._open)
        self._open = None

    def _look_at(self, box: Box) -> None:
        if self._cut_off(box.bound, box.height):
            return
        only_lowest = (
            self.best is not None and box.bound >= self.best.cost and box.height == sum(self.best.node)
        )
        if only_lowest or box.low == box.high:
            self.keeps_limit(box.low, exactly=True)
            return
        if not self.keeps_limit(box.high):
            return
        suppressed = max(box.suppressed, self.known.suppressed.get(box.high, 0))
        bound = max(box.bound, self._bound(box.low, suppressed))
        if self._cut_off(bound, box.height) or self._lowest_is_best(box, suppressed):
            return
        if bound > box.bound and self._boxes and bound > self._boxes[0].bound:
            self._push(box.low, box.high, suppressed, bound)
            return
        attribute = self._parting(box)
        level = box.low[attribute]
        lower = (*box.high[:attribute], level, *box.high[attribute + 1 :])
        upper = (*box.low[:attribute], level + 1, *box.low[attribute + 1 :])
        self._push(upper, box.high, suppressed, max(bound, self.cost.least(upper, suppressed)))
        self._push(box.low, lower, suppressed, bound)

    def _push(self, low: LatticeNode, high: LatticeNode, suppressed: int, bound: float) -> None:
        height = sum(low)
        if self._cut_off(bound, height):
            return
        self._number += 1
        heappush(self._boxes, Box(bound, height, -self._number, low, high, suppressed))
        if len(self._boxes) + len(self.known.suppressed) > self._most:
            self._make_room()

    def _cut_off(self, bound: float, height: int) -> bool:
        """Whether no node of such a cost and height, or of more, can be preferred."""
        if self.best is None:
            return False
        return beyond(bound, self.best) or (bound >= self.best.cost and height > sum(self.best.node))

    def _bound(self, low: LatticeNode, suppressed: int) -> float:
        """The bound by tables; costs of class sizes are worth counting the lower node for."""
        if not isinstance(self.cost, ClassSizeCost):
            return self.cost.least(low, suppressed)
        if low not in self._sizes_at:
            self._sizes_at[low] = ClassSizes.of(self._counted(low).class_sizes)
        return self.cost.least_above(self._sizes_at[low], suppressed)

    def _lowest_is_best(self, box: Box, suppressed: int) -> bool:
        """Whether the lower node keeps the limit and nothing in the box is preferred; it is then counted."""
        if not self.cost.monotone or suppressed > self.task.limit:
            return False
        if sum(box.high) - box.height > _SMALL_BOX and self.known.verdict(box.low) is not True:
            return False
        if not self.keeps_limit(box.low, exactly=True):
            return False
        return self.cost.always_monotone or self.known.suppressed[box.low] == suppressed

    def _parting(self, box: Box) -> int:
        """The attribute whose next step gives up much of its domain and takes much identity away."""
        free = [i for i, level in enumerate(box.low) if level < box.high[i]]
        return max(free, key=lambda i: (self._score[i][box.low[i]], -i))

    def _make_room(self) -> None:
        """Forget counts, which can be made again; then the boxes of the largest bounds."""
        self.known.suppressed.clear()
        self._sizes_at.clear()
        kept = self._most // 2
        if len(self._boxes) <= kept:
            return
        if not self._forget:
            gigabytes = self.task.settings.memory_limit / 1e9
            raise LimitReached(
                f"the search for the cheapest node holds {len(self._boxes):,} open parts of the lattice",
                allowed=f"{gigabytes:.1f} GB (--memory-limit, DISCREET_MEMORY_LIMIT)",
                advice="Raise the limit, or use --algorithm anytime: it answers within any limit.",
            )
        self._boxes.sort()
        self._forgotten = min([self._forgotten, *(box.bound for box in self._boxes[kept:])])
        del self._boxes[kept:]


def _always() -> None:
    """No budget."""


def result_of(search: BranchAndBound, name: str, start: float) -> SearchResult:
    """What a search found, as the contract reports it; whether the node is minimal may take more counts."""
    task, best = search.task, search.best
    solutions: tuple[Solution, ...] = ()
    if best is not None:
        lower = [
            child
            for child in task.lattice.children(best.node)
            if all(level >= least for level, least in zip(child, task.low, strict=True))
        ]
        minimal = not any(_within(search, child) for child in lower)
        solutions = (Solution(best.node, best.suppressed, minimal, best.cost),)
    return SearchResult(
        algorithm=name,
        lattice=task.lattice,
        rows=task.rows,
        requirement=task.requirement,
        limit=task.limit,
        solutions=solutions,
        nodes_checked=search.counter.counted,
        nodes_marked=search.known.inferred,
        scans=search.counter.scans,
        seconds=perf_counter() - start,
        cost_name=search.cost.name,
        bound=search.bound if best is not None and search.bound > -inf else None,
        complete=search.complete,
    )


def _within(search: BranchAndBound, node: LatticeNode) -> bool:
    verdict = search.known.verdict(node)
    return search.counter.count(node).suppressed <= search.task.limit if verdict is None else verdict
