"""Negotiation over a partial lattice, with or without the request's own node (Pilalidou and Vassiliadis).

The nodes at hand are searched whole, as a height without a solution says nothing of the heights below it.
The request's own node, ``high``, suppresses the fewest rows of all nodes within the levels; where it is
counted at run time, it settles alone whether there is an exact answer, how few rows can be suppressed, and
the largest k and l, so that these agree with the evaluated lattice. Then only the node may differ: a lower
one that does as well may not be at hand. Without it:

* **exact**: the lowest node at hand within the levels, if one meets the request.
* **max_suppressed**: the fewest rows that a node at hand within the levels suppresses; none where none is, or
  where that is every row.
* **k**, **l**: the largest parameter that a node at hand within the levels reaches; none below 2.

**height** always looks at the nodes at hand, at or above the height of ``high`` or anywhere (scope).

The tie rule is the evaluated lattice's: lowest height, fewest suppressed, the paper's node order. Cost: a few
comparisons over one number per node at hand, and one count of ``high`` where it is not at hand.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.model.lattice import LatticeNode, height, tie_key
from discreet.model.negotiation import Answer, Negotiation, Relaxation
from discreet.model.request import Request, Scope, bounds_of, most_suppressed
from discreet.model.requirement import Requirement
from discreet.negotiation.attribute_suppression import AttributeSuppression, at_top
from discreet.negotiation.negotiate import SMALLEST_RELAXATION
from discreet.negotiation.partial import PartialLattice


class PartialNegotiator:
    """Answers requests on one partial lattice; with ``runtime`` the request's own node is counted too."""

    def __init__(self, partial: PartialLattice, *, runtime: bool = True) -> None:
        self.partial = partial
        self.runtime = runtime

    def negotiate(self, request: Request) -> Negotiation:
        """The exact answer, or the relaxations in the order max_suppressed, height, k, l.

        What has no solution among the nodes looked at is left out, so that there may be no answer at all
        without ``runtime``. Raises ``InputError`` as ``negotiate.Negotiator`` does.
        """
        partial, requirement = self.partial, request.requirement
        low, high = bounds_of(partial.lattice, request)
        requirement.check(partial.sensitive_attributes)
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
        _relax(within, Relaxation.K, requirement.k, requirement.with_k, requirement, limit),
        _relax(within, Relaxation.L, requirement.largest_l, requirement.with_l_at_most, requirement, limit),
    ]


def _relax(
    within: _Within,
    relaxed: Relaxation,
    asked: int | None,
    weaker: Callable[[int], Requirement],
    requirement: Requirement,
    limit: int,
) -> Answer | None:
    """The largest parameter below ``asked`` that some node looked at reaches, by bisection."""
    if asked is None:
        return None
    if within.own:
        largest = within.partial.largest_k if relaxed is Relaxation.K else within.partial.largest_l
        parameter = largest(within.high, requirement, limit)
    else:
        parameter = _largest(within, asked, weaker, limit)
    if parameter < SMALLEST_RELAXATION:
        return None
    return within.lowest(relaxed, weaker(parameter), limit)


def _largest(within: _Within, asked: int, weaker: Callable[[int], Requirement], limit: int) -> int:
    reached, failed = 0, asked
    while failed - reached > 1:
        middle = (reached + failed) // 2
        fewest = within.fewest(weaker(middle))
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
        self, relaxed: Relaxation | None, requirement: Requirement, limit: int, start: int = 0
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
        self, relaxed: Relaxation | None, requirement: Requirement, limit: int, start: int
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
