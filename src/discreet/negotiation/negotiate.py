"""Negotiation: the exact answer to a request, or the ways to relax it (Pilalidou and Vassiliadis).

A request bounds the levels (between the nodes ``low`` and ``high``), the suppressed rows and the privacy
parameters. Where some node within the bounds meets the requirement with few enough suppressed rows, the
lowest such node is the exact answer. Suppression never rises on the way up the lattice, so ``high`` alone
tells whether there is one. Where there is none, each part of the request gives way in turn, the others kept:

* **max_suppressed**: as many rows as ``high`` suppresses, the fewest within the levels; the lowest node
  within the levels that suppresses no more. None where that is every row.
* **height**: the lowest node anywhere that meets requirement and limit, at or above the height of ``high``
  (scope ``above``, what the paper's printed answers do) or at any height (scope ``global``, what its text
  says). ``min_level`` still holds.
* **each criterion** by its name (k, l, …): the strictest value, no weaker than the criterion's floor, that
  ``high`` reaches within the limit, the other criteria kept; the lowest node within the levels that reaches
  it too. Several of one criterion, one per sensitive attribute, are relaxed together, none to more than that
  score.

Suppression may rise on the way up under a criterion that is not growing (``model.criteria.base``): then
``high`` tells nothing of the others, and every node within the levels is looked at in its place.

Everywhere the lowest height wins, then the fewest suppressed rows, then the paper's node order (decision
0004).

The paper walks the lattice below ``high`` node by node. Here each step is one comparison over an array of
all nodes sorted by preference: a few arrays of one entry per node are read per answer, and no node is visited
in Python.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from discreet.model.lattice import LatticeNode
from discreet.model.monotone import is_growing
from discreet.model.negotiation import Answer, Negotiation, Relaxation
from discreet.model.request import Request, Scope, bounds_of, most_suppressed
from discreet.model.requirement import Requirement
from discreet.negotiation.lookup import SuppressionLookup
from discreet.negotiation.order import SubLattice, order_of

CACHED_BYTES = 32 * 2**20
"""What a negotiator's remembered arrays may hold, for suppression and for sub-lattices each."""


class Negotiator:
    """Answers requests on one evaluated lattice, and remembers what requests have in common.

    Hold one where many requests are asked. Threads may share it: its values are never changed once made.
    """

    def __init__(self, evaluated: SuppressionLookup) -> None:
        self._evaluated = evaluated
        self._lattice = evaluated.lattice
        self._order = order_of(evaluated.lattice.heights)
        self._type = np.dtype(np.int32 if evaluated.rows < 2**31 else np.int64)
        size = evaluated.lattice.size
        self._by_rank = lru_cache(_entries(size * self._type.itemsize))(self._suppression_by_rank)
        self._between = lru_cache(_entries(size))(self._order.between)

    def negotiate(self, request: Request) -> Negotiation:
        """The exact answer, or the relaxations in the order of ``model.negotiation.relaxations_of``.

        A relaxation without a solution is left out. Raises ``InputError`` for levels out of range or of an
        attribute that is no quasi-identifier, a least level above the greatest, a criterion of an attribute
        that is not sensitive or whose score was not counted, and a request that asks nothing.
        """
        low, high = bounds_of(self._lattice, request)
        request.requirement.check(self._evaluated.sensitive_attributes)
        limit = request.max_suppressed.of(self._evaluated.rows)
        levels = self._between(low, high)
        exact = self._answer(None, request.requirement, limit, levels)
        answers = [exact] if exact else self._relaxations(request, limit, low, high, levels)
        return Negotiation(
            self._lattice, self._evaluated.rows, tuple(answer for answer in answers if answer is not None)
        )

    def _relaxations(
        self, request: Request, limit: int, low: LatticeNode, high: LatticeNode, levels: SubLattice
    ) -> list[Answer | None]:
        requirement = request.requirement
        fewest = min(self._fewest(requirement, levels), most_suppressed(self._evaluated.rows))
        everywhere = self._between(low, self._lattice.top)
        start = self._order.starts[sum(high)] if request.scope is Scope.ABOVE else 0
        return [
            self._answer(Relaxation.MAX_SUPPRESSED, requirement, fewest, levels),
            self._answer(Relaxation.HEIGHT, requirement, limit, everywhere, start),
            *(self._relaxed(name, requirement, limit, high, levels) for name in requirement.names),
        ]

    def _fewest(self, requirement: Requirement, levels: SubLattice) -> int:
        suppressed = self._by_rank(requirement)
        if is_growing(requirement):
            return int(suppressed[levels.last])
        return int(suppressed[levels.ranks].min())

    def _relaxed(
        self, name: str, requirement: Requirement, limit: int, high: LatticeNode, levels: SubLattice
    ) -> Answer | None:
        if is_growing(requirement):
            score = self._evaluated.largest(high, requirement, name, limit)
        else:
            nodes = self._order.nodes[levels.ranks]
            score = self._evaluated.largest_among(nodes, requirement, name, limit)
        weaker = requirement.relaxed(name, score)
        return None if weaker is None else self._answer(name, weaker, limit, levels)

    def _answer(
        self,
        relaxed: str | None,
        requirement: Requirement,
        limit: int,
        among: SubLattice,
        start: int = 0,
    ) -> Answer | None:
        suppressed = self._by_rank(requirement)
        if suppressed[among.last] > limit and is_growing(requirement):
            return None
        rank = self._order.lowest(suppressed, limit, among, start)
        if rank < 0:
            return None
        return Answer(relaxed, self._order.node_of(rank), requirement, int(suppressed[rank]))

    def _suppression_by_rank(self, requirement: Requirement) -> NDArray[np.integer]:
        by_rank = self._evaluated.suppression(requirement)[self._order.nodes].astype(self._type)
        by_rank.flags.writeable = False
        return by_rank


def negotiate(evaluated: SuppressionLookup, request: Request) -> Negotiation:
    """One answer, without a negotiator to hold: see ``Negotiator.negotiate``."""
    return Negotiator(evaluated).negotiate(request)


def _entries(size: int) -> int:
    return max(4, min(1024, CACHED_BYTES // max(size, 1)))
