"""Negotiation over a partial lattice, with or without the request's own node (Pilalidou and Vassiliadis).

The nodes at hand are searched whole, as a height without a solution says nothing of the heights below it.
The request's own node, ``high``, suppresses the fewest rows of all nodes within the levels; where it is
counted at run time, it settles alone whether there is an exact answer, how few rows can be suppressed, and
the value to which each criterion is relaxed, so that these agree with the evaluated lattice. Then only the
node may differ: a lower one that does as well may not be at hand. Without it:

* **exact**: the lowest node at hand within the levels, if one meets the request.
* **max_suppressed**: the fewest rows that a node at hand within the levels suppresses; none where none is, or
  where that is every row.
* **each criterion** by its name: the strictest value that a node at hand within the levels reaches; none
  weaker than its floor.

**height** always looks at the nodes at hand, at or above the height of ``high`` or anywhere (scope).

The tie rule is the evaluated lattice's: lowest height, fewest suppressed, the paper's node order. Cost: a few
comparisons over one number per node at hand, and one count of ``high`` where it is not at hand.

All this rests on ``high``: a criterion that is not growing is refused (``model.monotone``).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.model.lattice import LatticeNode, height, tie_key
from discreet.model.monotone import require_growing
from discreet.model.negotiation import Answer, Negotiation, Relaxation
from discreet.model.request import Request, Scope, bounds_of, most_suppressed
from discreet.model.requirement import Requirement
from discreet.negotiation.attribute_suppression import AttributeSuppression, at_top
from discreet.negotiation.partial import INSTEAD, WHO, PartialLattice


class PartialNegotiator:
    """Answers requests on one partial lattice; with ``runtime`` the request's own node is counted too."""

    def __init__(self, partial: PartialLattice, *, runtime: bool = True) -> None:
        self.partial = partial
        self.runtime = runtime

    def negotiate(self, request: Request) -> Negotiation:
        """The exact answer, or the relaxations in the order of ``model.negotiation.relaxations_of``.

        What has no solution among the nodes looked at is left out, so that there may be no answer at all
        without ``runtime``. Raises ``InputError`` as ``negotiate.Negotiator`` does, and for a criterion that
        is not growing.
        """
        partial, requirement = self.partial, request.requirement
        low, high = bounds_of(partial.lattice, request)
        requirement.check(partial.sensitive_attributes)
        require_growing(requirement, WHO, advice=INSTEAD)
        limit = request.max_suppressed.of(partial.rows)
        within = _Within.of(partial, low, high, own=self.runtime)
        exact = within.lowest(None, requirement, limit)
        answers = [exact] if exact else _relaxations(within, request, limit)
        return Negotiation(partial.lattice, partial.rows, tuple(a for a in answers if a is not None))

    def suppress_attributes(self, request: Request) -> tuple[AttributeSuppression, ...]:
        """As ``attribute_suppression.suppress_attributes``, the highest node of each count at run time."""
        partial, requirement = self.partial, request.requirement
        low, high = bounds_of(partial.lattice, request)
        requirement.check(partial.sensitive_attributes)
        require_growing(requirement, WHO, advice=INSTEAD)
        limit = request.max_suppressed.of(partial.rows)
        found = []
        for i, (attribute, top) in enumerate(
            zip(partial.lattice.attributes, partial.lattice.heights, strict=True)
        ):
            within = _Within.of(partial, at_top(low, i, top), at_top(high, i, top), own=True)
            fewest = partial.suppressed(within.high, requirement)
            best = within.lowest(None, requirement, max(limit, fewest))
            assert best is not None
            found.append(AttributeSuppression.of(attribute, best.node, top, best.suppressed, limit))
        return tuple(found)


def _relaxations(within: _Within, request: Request, limit: int) -> list[Answer | None]:
    partial, requirement = within.partial, request.requirement
    fewest = within.fewest(requirement)
    start = height(within.high) if request.scope is Scope.ABOVE else 0
    everywhere = _Within.of(partial, within.low, partial.lattice.top, own=False)
    return [
        None
        if fewest is None
        else within.lowest(
            Relaxation.MAX_SUPPRESSED, requirement, min(fewest, most_suppressed(partial.rows))
        ),
        everywhere.lowest(Relaxation.HEIGHT, requirement, limit, start),
        *(_relax(within, name, requirement, limit) for name in requirement.names),
    ]


def _relax(within: _Within, name: str, requirement: Requirement, limit: int) -> Answer | None:
    """The strictest value of a criterion, below what is asked, that some node looked at reaches."""
    if within.own:
        score = within.partial.largest(within.high, requirement, name, limit)
    else:
        score = _largest(within, name, requirement, limit)
    weaker = requirement.relaxed(name, score)
    return None if weaker is None else within.lowest(name, weaker, limit)


def _largest(within: _Within, name: str, requirement: Requirement, limit: int) -> int:
    """The largest score, by bisection from just below the floor to what is asked."""
    asked = [criterion for criterion in requirement.criteria if criterion.name == name]
    reached = max(criterion.floor_score for criterion in asked) - 1
    failed = max(criterion.threshold for criterion in asked)
    while failed - reached > 1:
        middle = (reached + failed) // 2
        fewest = within.fewest(requirement.weakened(name, middle))
        if fewest is not None and fewest <= limit:
            reached = middle
        else:
            failed = middle
    return reached


@dataclass(frozen=True, eq=False)
class _Within:
    """The nodes at hand between two nodes: ``places`` of the prepared; with ``own`` ``high`` itself too."""

    partial: PartialLattice
    low: LatticeNode
    high: LatticeNode
    places: NDArray[np.int64]
    own: bool

    @classmethod
    def of(cls, partial: PartialLattice, low: LatticeNode, high: LatticeNode, *, own: bool) -> _Within:
        inside = (partial.nodes >= np.array(low)) & (partial.nodes <= np.array(high))
        return cls(partial, low, high, np.flatnonzero(inside.all(axis=1)), own)

    def fewest(self, requirement: Requirement) -> int | None:
        """The fewest rows that a node of these suppresses; None where there is no node."""
        if self.own:
            return self.partial.suppressed(self.high, requirement)
        return int(self.partial.suppression(requirement)[self.places].min()) if len(self.places) else None

    def lowest(
        self, relaxed: str | None, requirement: Requirement, limit: int, start: int = 0
    ) -> Answer | None:
        """The preferred node of height ``start`` or more that suppresses at most ``limit`` rows."""
        if self.own and self.partial.suppressed(self.high, requirement) > limit:
            return None
        found = self._lowest_prepared(relaxed, requirement, limit, start)
        if not self.own:
            return found
        own = Answer(relaxed, self.high, requirement, self.partial.suppressed(self.high, requirement))
        return own if found is None else min(found, own, key=_preference)

    def _lowest_prepared(
        self, relaxed: str | None, requirement: Requirement, limit: int, start: int
    ) -> Answer | None:
        heights = self.partial.heights[self.places]
        suppressed = self.partial.suppression(requirement)[self.places]
        within = np.flatnonzero((suppressed <= limit) & (heights >= start))
        if not len(within):
            return None
        ties = within[heights[within] == heights[within[0]]]
        best = int(ties[suppressed[ties].argmin()])
        node = tuple(self.partial.nodes[self.places[best]].tolist())
        return Answer(relaxed, node, requirement, int(suppressed[best]))


def _preference(answer: Answer) -> tuple[int, int, tuple[int, ...]]:
    return height(answer.node), answer.suppressed, tie_key(answer.node)
