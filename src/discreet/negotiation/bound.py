"""What counted nodes prove about nodes that nobody counted.

Suppression never rises on the way up the lattice (partial lattices refuse criteria under which it may), so a
counted node tells of others:

* a node above the request's own suppresses at most as many rows as any node within the levels: its number is
  a lower bound of theirs, and the largest score of each criterion that it reaches is an upper bound;
* below a node that suppresses too many rows, every node does. So an answer must exceed each failing node in
  some attribute, and the least height at which a node can do so is a lower bound of the answer's height.

That least height is a hitting problem: for each failing node choose an attribute in which to exceed it. It is
solved best-first: from the lowest node up, a node that lies below a failing one is replaced by those that
exceed it in one attribute. The first node off the heap that lies below none has the least height; heights
come off in ascending order, so that the search may stop at any time with a bound that holds.
"""

from __future__ import annotations

from dataclasses import dataclass
from heapq import heappop, heappush
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.model.criteria.counts import ALWAYS_TOLD
from discreet.model.lattice import LatticeNode, height
from discreet.model.negotiation import Answer, Negotiation, Relaxation
from discreet.model.request import Request, Scope, bounds_of
from discreet.model.requirement import Requirement
from discreet.negotiation.partial import PartialLattice

STEPS = 2000
"""Nodes that the search for the least height looks at, at most."""

_MOST_FAILING = 512


@dataclass(frozen=True)
class Bound:
    """What is proven of a request, over all nodes of the lattice.

    ``suppressed``: no node within the levels suppresses fewer rows; at or below the limit an exact answer
    may exist, above it none does. ``largest``: the name of each criterion that is asked with a value; no node
    within the levels reaches a stricter one within the limit, the others kept (empty where there is an exact
    answer, None where nothing is proven). ``heights``: beside each answer of the negotiation, the height
    below which no node does what the answer does.
    """

    suppressed: int
    largest: tuple[tuple[str, Any], ...]
    heights: tuple[int, ...]

    def of(self, name: str) -> Any:
        """The value of one criterion; None where it is not asked, or where there is an exact answer."""
        return dict(self.largest).get(name)

    def as_json(self) -> dict[str, Any]:
        """The bound as a document: always ``k`` and ``l``, and each other criterion that is asked."""
        always = dict.fromkeys(ALWAYS_TOLD)
        return {
            "suppressed": self.suppressed,
            **always,
            **dict(self.largest),
            "heights": list(self.heights),
        }


def prove(partial: PartialLattice, request: Request, negotiation: Negotiation) -> Bound:
    """The bounds that the nodes at hand prove, those counted at run time included; counts none itself."""
    requirement = request.requirement
    low, high = bounds_of(partial.lattice, request)
    limit = request.max_suppressed.of(partial.rows)
    above = [node for node in partial.at_hand() if all(a >= b for a, b in zip(node, high, strict=True))]
    fewest = max((partial.suppressed(node, requirement) for node in above), default=0)
    names = requirement.names if negotiation.exact is None else ()
    largest = tuple((name, _largest(partial, above, requirement, name, limit)) for name in names)
    heights = []
    for answer in negotiation.answers:
        first, last, start = region_of(answer, request, low, high, partial.lattice.top)
        failing = failing_nodes(partial, answer.requirement, limit_of(answer, limit))
        least = least_height(first, last, failing)
        heights.append(max(height(answer.node) if least is None else least, start))
    return Bound(fewest, largest, tuple(heights))


def _largest(
    partial: PartialLattice, above: list[LatticeNode], requirement: Requirement, name: str, limit: int
) -> Any:
    """The strictest value that nodes above all reach; where one reaches none, that of a score of nothing.

    Without a node above, sizes and distinct values are at most the rows; of other scores nothing is known.
    """
    first = next(criterion for criterion in requirement.criteria if criterion.name == name)
    reached = [partial.largest(node, requirement, name, limit) or 0 for node in above]
    if not reached and not first.counted_by_engines:
        return None
    return first.value_of(min(reached, default=partial.rows))


def region_of(
    answer: Answer, request: Request, low: LatticeNode, high: LatticeNode, top: LatticeNode
) -> tuple[LatticeNode, LatticeNode, int]:
    """Where an answer's node may lie: its lowest and highest node, and its least height."""
    if answer.relaxed is not Relaxation.HEIGHT:
        return low, high, 0
    return low, top, height(high) if request.scope is Scope.ABOVE else 0


def limit_of(answer: Answer, limit: int) -> int:
    """The suppressed rows that an answer may have: the request's, or what its relaxation allows."""
    return answer.suppressed if answer.relaxed is Relaxation.MAX_SUPPRESSED else limit


def failing_nodes(partial: PartialLattice, requirement: Requirement, limit: int) -> NDArray[np.int64]:
    """The nodes at hand that suppress more than ``limit`` rows, shape ``(nodes, quasi-identifiers)``."""
    nodes, suppressed = partial.known(requirement)
    return nodes[suppressed > limit]


def least_height(
    low: LatticeNode, high: LatticeNode, failing: NDArray[np.int64], steps: int = STEPS
) -> int | None:
    """A height that every node between ``low`` and ``high`` has which lies below no failing node.

    The least such height where it is found within ``steps``; else a lower bound of it. None where every node
    between the two lies below a failing one.
    """
    reached = np.unique(np.minimum(failing, np.array(high, dtype=np.int64)), axis=0)
    tallest = np.argsort(-reached.sum(axis=1), kind="stable")[:_MOST_FAILING]
    reached = reached[tallest]
    heap: list[tuple[int, LatticeNode]] = [(height(low), low)]
    seen = {low}
    while heap:
        least, node = heappop(heap)
        above = reached[(reached >= np.array(node, dtype=np.int64)).all(axis=1)]
        steps -= 1
        if not len(above) or steps <= 0:
            return least
        narrowest = above[(above < np.array(high)).sum(axis=1).argmin()].tolist()
        for i, level in enumerate(narrowest):
            if level < high[i]:
                other = (*node[:i], level + 1, *node[i + 1 :])
                if other not in seen:
                    seen.add(other)
                    heappush(heap, (height(other), other))
    return None
