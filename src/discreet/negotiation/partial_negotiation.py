"""Negotiation over a partial lattice: answers, proven bounds, and improvement of answers at run time.

All available nodes are searched, because a height without a solution implies nothing for lower heights.
If the request's own node ``high`` is counted at run time, it settles whether there is an exact answer,
the fewest suppressed rows, and the value of each relaxed criterion (Pilalidou and Vassiliadis). Counted
nodes prove bounds for all others: suppression never rises on the way up, so an answer must exceed each
failing node in some attribute, and the least height that does so is found best-first.
``descend_answers`` walks an answer down to a minimal node (Samarati 2001).

Criteria that are not growing are refused. Cost: a few comparisons per available node; a walk counts at
most the node's height plus one node per attribute.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from heapq import heappop, heappush
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.model.criteria.registry import KEYWORD_CRITERIA
from discreet.model.lattice import LatticeNode, node_height, tie_break_key
from discreet.model.request import RelaxationScope, Request, max_suppressible_rows, node_bounds
from discreet.model.requirement import Requirement, require_growing
from discreet.model.search_result import Answer, Negotiation, Relaxation
from discreet.negotiation.alternatives import SuppressedAttribute, raise_to_top
from discreet.negotiation.partial_lattice import EVALUATION_ADVICE, PARTIAL_LATTICES, PartialLattice


class PartialNegotiator:
    """Negotiator on one partial lattice; with ``runtime`` the request's own node is counted too."""

    def __init__(self, partial: PartialLattice, *, runtime: bool = True) -> None:
        self.partial = partial
        self.runtime = runtime

    def negotiate(self, request: Request) -> Negotiation:
        """Return the exact answer, or the relaxations if there is none.

        Relaxations are in the order of ``model.search_result.relaxable_names``; those without a solution
        among the available nodes are omitted, so without ``runtime`` there may be no answer at all. Raises
        ``InputError`` as ``Negotiator.negotiate`` does, and for a criterion that is not growing.
        """
        partial, requirement = self.partial, request.requirement
        low, high = node_bounds(partial.lattice, request)
        requirement.check(partial.sensitive_attributes)
        require_growing(requirement, PARTIAL_LATTICES, advice=EVALUATION_ADVICE)
        limit = request.max_suppressed.of(partial.rows)
        within = _AvailableNodes.of(partial, low, high, own=self.runtime)
        exact = within.lowest(None, requirement, limit)
        answers = [exact] if exact else _relaxations(within, request, limit)
        return Negotiation(partial.lattice, partial.rows, tuple(a for a in answers if a is not None))

    def suppress_attributes(self, request: Request) -> tuple[SuppressedAttribute, ...]:
        """Compute proposals as ``alternatives.suppress_attributes`` does; count the highest node of each."""
        partial, requirement = self.partial, request.requirement
        low, high = node_bounds(partial.lattice, request)
        requirement.check(partial.sensitive_attributes)
        require_growing(requirement, PARTIAL_LATTICES, advice=EVALUATION_ADVICE)
        limit = request.max_suppressed.of(partial.rows)
        found = []
        for i, (attribute, top) in enumerate(
            zip(partial.lattice.attributes, partial.lattice.heights, strict=True)
        ):
            within = _AvailableNodes.of(
                partial, raise_to_top(low, i, top), raise_to_top(high, i, top), own=True
            )
            fewest = partial.suppressed(within.high, requirement)
            best = within.lowest(None, requirement, max(limit, fewest))
            assert best is not None
            found.append(SuppressedAttribute.of(attribute, best.node, top, best.suppressed, limit))
        return tuple(found)


def _relaxations(within: _AvailableNodes, request: Request, limit: int) -> list[Answer | None]:
    partial, requirement = within.partial, request.requirement
    fewest = within.fewest(requirement)
    start = node_height(within.high) if request.scope is RelaxationScope.ABOVE else 0
    everywhere = _AvailableNodes.of(partial, within.low, partial.lattice.top, own=False)
    return [
        None
        if fewest is None
        else within.lowest(
            Relaxation.MAX_SUPPRESSED, requirement, min(fewest, max_suppressible_rows(partial.rows))
        ),
        everywhere.lowest(Relaxation.HEIGHT, requirement, limit, start),
        *(_relax_criterion(within, name, requirement, limit) for name in requirement.names),
    ]


def _relax_criterion(
    within: _AvailableNodes, name: str, requirement: Requirement, limit: int
) -> Answer | None:
    """Relax a criterion to the strictest value below the requested one that some available node reaches."""
    if within.own:
        score = within.partial.largest(within.high, requirement, name, limit)
    else:
        score = _largest_by_bisection(within, name, requirement, limit)
    weaker = requirement.relaxed(name, score)
    return None if weaker is None else within.lowest(name, weaker, limit)


def _largest_by_bisection(within: _AvailableNodes, name: str, requirement: Requirement, limit: int) -> int:
    """Find the largest score by bisection from just below the floor to the requested one."""
    same_kind = [criterion for criterion in requirement.criteria if criterion.name == name]
    reached = max(criterion.floor_score for criterion in same_kind) - 1
    failed = max(criterion.threshold for criterion in same_kind)
    while failed - reached > 1:
        middle = (reached + failed) // 2
        fewest = within.fewest(requirement.weakened(name, middle))
        if fewest is not None and fewest <= limit:
            reached = middle
        else:
            failed = middle
    return reached


@dataclass(frozen=True, eq=False)
class _AvailableNodes:
    """Available nodes between two nodes: ``positions`` of the prepared ones; with ``own`` also ``high``."""

    partial: PartialLattice
    low: LatticeNode
    high: LatticeNode
    positions: NDArray[np.int64]
    own: bool

    @classmethod
    def of(
        cls, partial: PartialLattice, low: LatticeNode, high: LatticeNode, *, own: bool
    ) -> _AvailableNodes:
        inside = (partial.nodes >= np.array(low)) & (partial.nodes <= np.array(high))
        return cls(partial, low, high, np.flatnonzero(inside.all(axis=1)), own)

    def fewest(self, requirement: Requirement) -> int | None:
        """Return the fewest rows that one of these nodes suppresses; None if there is no node."""
        if self.own:
            return self.partial.suppressed(self.high, requirement)
        return (
            int(self.partial.suppression(requirement)[self.positions].min()) if len(self.positions) else None
        )

    def lowest(
        self, relaxed: str | None, requirement: Requirement, limit: int, start: int = 0
    ) -> Answer | None:
        """Return the preferred node of height ``start`` or more that suppresses at most ``limit`` rows."""
        if self.own and self.partial.suppressed(self.high, requirement) > limit:
            return None
        result = self._lowest_prepared(relaxed, requirement, limit, start)
        if not self.own:
            return result
        own = Answer(relaxed, self.high, requirement, self.partial.suppressed(self.high, requirement))
        return own if result is None else min(result, own, key=_preference)

    def _lowest_prepared(
        self, relaxed: str | None, requirement: Requirement, limit: int, start: int
    ) -> Answer | None:
        heights = self.partial.heights[self.positions]
        suppressed = self.partial.suppression(requirement)[self.positions]
        within = np.flatnonzero((suppressed <= limit) & (heights >= start))
        if not len(within):
            return None
        ties = within[heights[within] == heights[within[0]]]
        best = int(ties[suppressed[ties].argmin()])
        node = tuple(self.partial.nodes[self.positions[best]].tolist())
        return Answer(relaxed, node, requirement, int(suppressed[best]))


def _preference(answer: Answer) -> tuple[int, int, tuple[int, ...]]:
    return node_height(answer.node), answer.suppressed, tie_break_key(answer.node)


MOST_HEIGHT_STEPS = 2000
"""Maximal number of nodes that the search for the least height visits."""

_MOST_FAILING = 512


@dataclass(frozen=True)
class ProvenBound:
    """Bounds proven for a request over all nodes of the lattice.

    ``suppressed``: no node within the levels suppresses fewer rows; at or below the limit an exact answer may
    exist, above it none does. ``largest``: the name of each requested criterion with a value; no node within
    the levels reaches a stricter one within the limit, the others kept (empty if there is an exact answer,
    None if nothing is proven). ``heights``: for each answer of the negotiation, the height below which no
    node gives the same answer.
    """

    suppressed: int
    largest: tuple[tuple[str, Any], ...]
    heights: tuple[int, ...]

    def of(self, name: str) -> Any:
        """Return the value of one criterion; None if it is not requested, or if there is an exact answer."""
        return dict(self.largest).get(name)

    def as_json(self) -> dict[str, Any]:
        """Return the bound as a document: always ``k`` and ``l``, and each other requested criterion."""
        always = dict.fromkeys(KEYWORD_CRITERIA)
        return {"suppressed": self.suppressed, **always, **dict(self.largest), "heights": list(self.heights)}


def prove_bound(partial: PartialLattice, request: Request, negotiation: Negotiation) -> ProvenBound:
    """Derive the bounds that all available nodes prove; counts no node itself."""
    requirement = request.requirement
    low, high = node_bounds(partial.lattice, request)
    limit = request.max_suppressed.of(partial.rows)
    above = [
        node for node in partial.available_nodes() if all(a >= b for a, b in zip(node, high, strict=True))
    ]
    fewest = max((partial.suppressed(node, requirement) for node in above), default=0)
    names = requirement.names if negotiation.exact is None else ()
    largest = tuple(
        (name, _largest_reached_above(partial, above, requirement, name, limit)) for name in names
    )
    heights = []
    for answer in negotiation.answers:
        first, last, start = answer_region(answer, request, low, high, partial.lattice.top)
        failing = failing_nodes(partial, answer.requirement, answer_limit(answer, limit))
        least = least_height(first, last, failing)
        heights.append(max(node_height(answer.node) if least is None else least, start))
    return ProvenBound(fewest, largest, tuple(heights))


def _largest_reached_above(
    partial: PartialLattice, above: list[LatticeNode], requirement: Requirement, name: str, limit: int
) -> Any:
    """Return the strictest value that all nodes above reach; the value of score 0 if one reaches none.

    Without a node above, sizes and distinct values are at most the rows; nothing is known of other scores.
    """
    first = next(criterion for criterion in requirement.criteria if criterion.name == name)
    reached = [partial.largest(node, requirement, name, limit) or 0 for node in above]
    if not reached and not first.counted_by_engines:
        return None
    return first.value_of(min(reached, default=partial.rows))


def answer_region(
    answer: Answer, request: Request, low: LatticeNode, high: LatticeNode, top: LatticeNode
) -> tuple[LatticeNode, LatticeNode, int]:
    """Return the lowest node, the highest node and the least height of an answer's node."""
    if answer.relaxed is not Relaxation.HEIGHT:
        return low, high, 0
    return low, top, node_height(high) if request.scope is RelaxationScope.ABOVE else 0


def answer_limit(answer: Answer, limit: int) -> int:
    """Return the suppressed rows that an answer may have: the request's or those of its relaxation."""
    return answer.suppressed if answer.relaxed is Relaxation.MAX_SUPPRESSED else limit


def failing_nodes(partial: PartialLattice, requirement: Requirement, limit: int) -> NDArray[np.int64]:
    """Return the available nodes that suppress over ``limit`` rows, shape ``(nodes, quasi-identifiers)``."""
    nodes, suppressed = partial.known(requirement)
    return nodes[suppressed > limit]


def least_height(
    low: LatticeNode, high: LatticeNode, failing: NDArray[np.int64], steps: int = MOST_HEIGHT_STEPS
) -> int | None:
    """Bound the height of every node between ``low`` and ``high`` that is below no failing node.

    Returns the least such height if it is found within ``steps``, otherwise a lower bound of it; None if
    every node between the two is below a failing one.
    """
    reached = np.unique(np.minimum(failing, np.array(high, dtype=np.int64)), axis=0)
    tallest = np.argsort(-reached.sum(axis=1), kind="stable")[:_MOST_FAILING]
    reached = reached[tallest]
    heap: list[tuple[int, LatticeNode]] = [(node_height(low), low)]
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
                    heappush(heap, (node_height(other), other))
    return None


def descend_answers(partial: PartialLattice, request: Request, negotiation: Negotiation) -> Negotiation:
    """Move each answer down to a minimal node; its relaxation and its requirement are kept."""
    low, high = node_bounds(partial.lattice, request)
    limit = request.max_suppressed.of(partial.rows)
    answers = []
    for answer in negotiation.answers:
        first, _, start = answer_region(answer, request, low, high, partial.lattice.top)
        answers.append(_descend_answer(partial, answer, first, start, answer_limit(answer, limit)))
    return replace(negotiation, answers=tuple(answers))


def count_failing_levels(partial: PartialLattice, request: Request) -> None:
    """Count, by bisection, the nodes at which lowering one attribute from the highest node begins to fail.

    The counts remain in the partial lattice, where ``prove_bound`` uses them.
    """
    low, high = node_bounds(partial.lattice, request)
    requirement, limit = request.requirement, request.max_suppressed.of(partial.rows)
    if partial.suppressed(high, requirement) > limit:
        high = partial.lattice.top
        if partial.suppressed(high, requirement) > limit:
            return
    for i, least in enumerate(low):
        fails, meets = least - 1, high[i]
        while meets - fails > 1:
            middle = (fails + meets) // 2
            if partial.suppressed((*high[:i], middle, *high[i + 1 :]), requirement) > limit:
                fails = middle
            else:
                meets = middle


def _descend_answer(
    partial: PartialLattice, answer: Answer, low: LatticeNode, start: int, limit: int
) -> Answer:
    gains = {(power.attribute, power.level): power.relative_importance for power in partial.powers}
    names = partial.lattice.attributes
    node, suppressed = answer.node, answer.suppressed
    movable = [i for i in range(len(node)) if node[i] > low[i]]
    while movable and node_height(node) > start:
        i = min(movable, key=lambda i: gains[names[i], node[i]])
        lower = (*node[:i], node[i] - 1, *node[i + 1 :])
        rows = partial.suppressed(lower, answer.requirement)
        if rows <= limit:
            node, suppressed = lower, rows
        if rows > limit or node[i] == low[i]:
            movable.remove(i)
    return replace(answer, node=node, suppressed=suppressed)
