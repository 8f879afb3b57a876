"""Branch and bound for the cheapest node of a lattice that is too large to evaluate.

A *box* is all nodes between a lower and an upper one. The lower node bounds the cost of the box without
counting; the upper node suppresses the fewest rows, so if it exceeds the suppression limit the whole box
does. The box of least bound is cut off or split by one attribute. A cache stores counted nodes and the
verdicts that they imply for nodes above and below. Guides score each step from one level to the next, by
loss, by bits of identity, by their quotient, or by Λ of Pilalidou and Vassiliadis.

Cost: a roll-up per counted node and some hundred bytes per open box; in the worst case as many boxes as
nodes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from heapq import heappop, heappush
from itertools import pairwise
from math import inf
from time import perf_counter
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.errors import LimitReached
from discreet.measures.cell_sums import domain_sums, rows_by_code
from discreet.measures.cost_kinds import ClassSizeCost, Cost, NodeClassSizes
from discreet.measures.grouping_power import ImportanceMetric, level_grouping_power, level_importance
from discreet.measures.node_statistics import NodeStatistics
from discreet.model.frequency_set import FrequencySet
from discreet.model.lattice import Lattice, LatticeNode
from discreet.model.search_result import SearchResult
from discreet.search.node_counts import StatisticsCounter
from discreet.search.search_problem import (
    Candidate,
    SearchProblem,
    exceeds_best,
    preferred_of_two,
    solutions_of,
)

Guide = tuple[tuple[float, ...], ...]
"""``guide[i][level]``: the score of the step of attribute i from that level to the next."""


def loss_guide(table: FrequencySet) -> Guide:
    """Score each step by the share of the domain that it generalizes away."""
    rows = max(table.rows, 1)
    return tuple(
        tuple((up.total - down.total) / (rows * max(len(h.leaves) - 1, 1)) for down, up in pairwise(sums))
        for h, sums in zip(table.hierarchies, domain_sums(table), strict=True)
    )


def bits_guide(table: FrequencySet) -> Guide:
    """Score each step by minus the bits of identity that it removes: larger steps have smaller scores."""
    guide = []
    for i, hierarchy in enumerate(table.hierarchies):
        rows = rows_by_code(table, i)
        entropies = []
        for level in range(hierarchy.height + 1):
            groups = np.bincount(hierarchy.level_map(level), weights=rows)
            share = groups[groups > 0] / max(rows.sum(), 1)
            entropies.append(float(-(share * np.log2(share)).sum()))
        guide.append(tuple(up - down for down, up in pairwise(entropies)))
    return tuple(guide)


def loss_per_bit_guide(table: FrequencySet) -> Guide:
    """Score each step by its share of the domain per bit of identity that it removes."""
    return tuple(
        tuple(loss / max(-bits, 1e-9) for loss, bits in zip(losses, gains, strict=True))
        for losses, gains in zip(loss_guide(table), bits_guide(table), strict=True)
    )


def lambda_guide(lattice: Lattice, rows: int, groups: Callable[[LatticeNode], int]) -> Guide:
    """Score each step by its negative gain in Λ; ``groups`` counts the classes of a node, once per level."""
    bottom = lattice.bottom
    counted = []
    ground = groups(bottom)
    for i, height in enumerate(lattice.heights):
        levels = [(*bottom[:i], level, *bottom[i + 1 :]) for level in range(1, height + 1)]
        counted.append([ground, *(groups(node) for node in levels)])
    scores = level_importance(lattice, level_grouping_power(lattice, rows, counted), ImportanceMetric.LAMBDA)
    return tuple(tuple(float(down - up) for down, up in pairwise(part)) for part in scores)


def guided_chain(guide: Guide, low: LatticeNode, high: LatticeNode) -> list[LatticeNode]:
    """Return the nodes from ``low`` to ``high``, each one step above the last, with small scores first."""
    nodes = [low]
    node = list(low)
    while tuple(node) != high:
        free = [i for i, level in enumerate(node) if level < high[i]]
        chosen = min(free, key=lambda i: (guide[i][node[i]], i))
        node[chosen] += 1
        nodes.append(tuple(node))
    return nodes


def steps_down(guide: Guide, node: LatticeNode, low: LatticeNode) -> Iterator[int]:
    """Yield the attributes that can go one level down, the largest score first."""
    free = [i for i, level in enumerate(node) if level > low[i]]
    return iter(sorted(free, key=lambda i: (-guide[i][node[i] - 1], i)))


_CACHED_NODES = 2048


class NodeCache:
    """Suppressed rows of counted nodes, and verdicts on the suppression limit for nodes above and below them.

    The newest 2,048 nodes of either verdict imply verdicts for others; ``inferred`` counts those verdicts.
    """

    def __init__(self, attributes: int, limit: int) -> None:
        self.limit = limit
        self.suppressed: dict[LatticeNode, int] = {}
        self.inferred = 0
        self._within = _ImpliedRegion(attributes, upwards=True)
        self._beyond = _ImpliedRegion(attributes, upwards=False)

    def add(self, node: LatticeNode, suppressed: int) -> None:
        """Store the suppressed rows of a counted node."""
        self.suppressed[node] = suppressed
        (self._within if suppressed <= self.limit else self._beyond).add(node)

    def verdict(self, node: LatticeNode) -> bool | None:
        """Return whether the node keeps the suppression limit, or None if that is unknown."""
        counted = self.suppressed.get(node)
        if counted is not None:
            return counted <= self.limit
        result = None
        if self._within.covers(node):
            result = True
        elif self._beyond.covers(node):
            result = False
        self.inferred += result is not None
        return result


class _ImpliedRegion:
    """Up-set (``upwards``) or down-set of the newest nodes with one verdict."""

    def __init__(self, attributes: int, *, upwards: bool) -> None:
        self._nodes: NDArray[np.int16] = np.zeros((_CACHED_NODES, attributes), np.int16)
        self._number = 0
        self._upwards = upwards

    def covers(self, node: LatticeNode) -> bool:
        """Check whether a stored node is below the given one (``upwards``) or above it."""
        known = self._nodes[: min(self._number, _CACHED_NODES)]
        levels = np.array(node, np.int16)
        is_implied = known <= levels if self._upwards else known >= levels
        return bool(is_implied.all(axis=1).any())

    def add(self, node: LatticeNode) -> None:
        """Store a node unless another one covers it; the oldest is overwritten."""
        if not self.covers(node):
            self._nodes[self._number % _CACHED_NODES] = node
            self._number += 1


_BOX_BYTES, _LEVEL_BYTES = 240, 16
_SMALL_BOX = 4


class LatticeBox(NamedTuple):
    """Nodes between ``low`` and ``high``, ordered by bound; all suppress at least ``suppressed`` rows."""

    bound: float
    height: int
    number: int
    low: LatticeNode
    high: LatticeNode
    suppressed: int


class BranchAndBound:
    """Branch and bound over one problem: its open boxes, the best node, and the proven lower bound.

    ``memory`` (bytes) limits the open boxes and the cached nodes; half of it again limits the stored counted
    states. ``before_count`` is called before each count and may raise to end the search. With ``forget`` the
    boxes of the largest bounds are discarded when memory is spent, and the proof is limited by their bounds;
    without it ``LimitReached`` is raised.
    """

    def __init__(self, task: SearchProblem, cost: Cost, memory: int, *, forget: bool) -> None:
        self.task = task
        self.cost = cost
        self.best: Candidate | None = None
        self.before_count: Callable[[], None] = impose_no_budget
        self.counter = StatisticsCounter(task.frequency_set, task.requirement, memory // 2)
        self.known = NodeCache(len(task.low), task.limit)
        self._forget = forget
        self._forgotten = inf
        self._most = max(memory // (_BOX_BYTES + _LEVEL_BYTES * len(task.low)), 64)
        self._score = [
            [loss * -bits for loss, bits in zip(losses, gains, strict=True)]
            for losses, gains in zip(
                loss_guide(task.frequency_set), bits_guide(task.frequency_set), strict=True
            )
        ]
        self._sizes_at: dict[LatticeNode, NodeClassSizes] = {}
        self._number = 0
        self._boxes: list[LatticeBox] = []
        self._open: LatticeBox | None = None
        self._push(task.low, task.high, 0, cost.least(task.low))

    @property
    def bound(self) -> float:
        """Lower bound of the cost of every node that keeps the suppression limit."""
        bounds = [self._forgotten]
        bounds += [self._boxes[0].bound] if self._boxes else []
        bounds += [self._open.bound] if self._open is not None else []
        least = min(bounds)
        return least if self.best is None else min(least, self.best.cost)

    @property
    def proven(self) -> float:
        """Proven share of the best cost, from 0 to 1; 0 without a best node or if its cost is 0 or less."""
        if self.best is None or float(self.best.cost) <= 0:
            return 0.0
        return min(max(float(self.bound) / float(self.best.cost), 0.0), 1.0)

    @property
    def finished(self) -> bool:
        """True if no box is open."""
        return not self._boxes and self._open is None

    @property
    def complete(self) -> bool:
        """True if the best node is proven to be optimal, or no node is proven to exist."""
        return self.finished and (self._forgotten == inf or exceeds_best(self._forgotten, self.best))

    def keeps_limit(self, node: LatticeNode, *, exactly: bool = False) -> bool:
        """Check whether a node keeps the suppression limit; count it if the cache does not know.

        A counted node that keeps the limit may become the best one. With ``exactly`` a node is counted for
        its cost even if it is known to keep the limit.
        """
        verdict = self.known.verdict(node)
        if verdict is False or (verdict and (not exactly or node in self.known.suppressed)):
            return verdict
        return self._counted(node).suppressed <= self.task.limit

    def count_classes(self, node: LatticeNode) -> int:
        """Count the classes of any node, even outside the bounds of the problem."""
        self.before_count()
        return len(self.counter.count(node).class_sizes)

    def _counted(self, node: LatticeNode) -> NodeStatistics:
        """Count a node, cache its suppressed rows and update the best node."""
        self.before_count()
        statistics = self.counter.count(node)
        suppressed = statistics.suppressed
        if suppressed <= self.task.limit:
            exact = self.cost.of(statistics)
            self.best = preferred_of_two(self.best, Candidate(node, exact, suppressed))
        self.known.add(node, suppressed)
        return statistics

    def expand(self) -> None:
        """Cut off the box of least bound or split it in two.

        An interruption at any point leaves the bound valid: the box counts as open until both parts are
        pushed.
        """
        self._open = self._boxes[0]
        heappop(self._boxes)
        self._look_at(self._open)
        self._open = None

    def _look_at(self, box: LatticeBox) -> None:
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
        # The upper half is pushed first: of equal bounds and heights the newest box is expanded first.
        lower = (*box.high[:attribute], level, *box.high[attribute + 1 :])
        upper = (*box.low[:attribute], level + 1, *box.low[attribute + 1 :])
        self._push(upper, box.high, suppressed, max(bound, self.cost.least(upper, suppressed)))
        self._push(box.low, lower, suppressed, bound)

    def _push(self, low: LatticeNode, high: LatticeNode, suppressed: int, bound: float) -> None:
        height = sum(low)
        if self._cut_off(bound, height):
            return
        self._number += 1
        heappush(self._boxes, LatticeBox(bound, height, -self._number, low, high, suppressed))
        if len(self._boxes) + len(self.known.suppressed) > self._most:
            self._make_room()

    def _cut_off(self, bound: float, height: int) -> bool:
        """Check whether no node of at least this cost and height can be preferred to the best one."""
        if self.best is None:
            return False
        return exceeds_best(bound, self.best) or (bound >= self.best.cost and height > sum(self.best.node))

    def _bound(self, low: LatticeNode, suppressed: int) -> float:
        """Bound the cost of a box from tables; count the lower node if the cost depends on class sizes."""
        if not isinstance(self.cost, ClassSizeCost):
            return self.cost.least(low, suppressed)
        if low not in self._sizes_at:
            self._sizes_at[low] = NodeClassSizes.of(self._counted(low).class_sizes)
        return self.cost.lower_bound_above(self._sizes_at[low], suppressed)

    def _lowest_is_best(self, box: LatticeBox, suppressed: int) -> bool:
        """Check whether the lower node keeps the limit and is preferred within its box; count it."""
        if not self.cost.monotone or suppressed > self.task.limit:
            return False
        if sum(box.high) - box.height > _SMALL_BOX and self.known.verdict(box.low) is not True:
            return False
        if not self.keeps_limit(box.low, exactly=True):
            return False
        return self.cost.always_monotone or self.known.suppressed[box.low] == suppressed

    def _parting(self, box: LatticeBox) -> int:
        """Choose the attribute to split: its next step has much loss and removes many bits of identity."""
        free = [i for i, level in enumerate(box.low) if level < box.high[i]]
        return max(free, key=lambda i: (self._score[i][box.low[i]], -i))

    def _make_room(self) -> None:
        """Forget cached counts, which can be made again; then the boxes of the largest bounds."""
        self.known.suppressed.clear()
        self._sizes_at.clear()
        remaining = self._most // 2
        if len(self._boxes) <= remaining:
            return
        if not self._forget:
            gigabytes = self.task.settings.memory_limit / 1e9
            raise LimitReached(
                f"branch and bound has {len(self._boxes):,} open boxes of the lattice",
                allowed=f"{gigabytes:.1f} GB (--memory-limit, DISCREET_MEMORY_LIMIT)",
                advice="Raise the limit, or use --algorithm anytime: it works within any limit.",
            )
        self._boxes.sort()
        self._forgotten = min([self._forgotten, *(box.bound for box in self._boxes[remaining:])])
        del self._boxes[remaining:]


def impose_no_budget() -> None:
    """Impose no budget."""


def build_branch_and_bound_result(search: BranchAndBound, name: str, start: float) -> SearchResult:
    """Return the ``SearchResult`` of a search.

    Counts the children of the best node to see whether it is minimal.
    """
    task, best = search.task, search.best
    return task.result(
        name,
        solutions_of(task, best, lambda node: not _keeps_limit(search, node)),
        nodes_checked=search.counter.counted,
        nodes_marked=search.known.inferred,
        scans=search.counter.scans,
        seconds=perf_counter() - start,
        cost_name=search.cost.name,
        bound=search.bound if best is not None and search.bound > -inf else None,
        complete=search.complete,
    )


def _keeps_limit(search: BranchAndBound, node: LatticeNode) -> bool:
    verdict = search.known.verdict(node)
    return search.counter.count(node).suppressed <= search.task.limit if verdict is None else verdict
