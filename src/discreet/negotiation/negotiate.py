"""Negotiation: the exact answer to a request, or three ways to relax it (Pilalidou and Vassiliadis).

A request bounds the levels (between the nodes ``low`` and ``high``), the suppressed rows and the privacy
parameters. Where some node within the bounds meets the requirement with few enough suppressed rows, the
lowest such node is the exact answer. Suppression never rises on the way up the lattice, so ``high`` alone
tells whether there is one. Where there is none, each part of the request gives way in turn, the others kept:

* **max_suppressed**: as many rows as ``high`` suppresses, the fewest within the levels; the lowest node
  within the levels that suppresses no more. None where that is every row.
* **height**: the lowest node anywhere that meets requirement and limit, at or above the height of ``high``
  (scope ``above``, what the paper's printed answers do) or at any height (scope ``global``, what its text
  says). ``min_level`` still holds.
* **k**, **l**: the largest parameter, at least 2, that ``high`` reaches within the limit, the other
  parameter kept; the lowest node within the levels that reaches it too. Several l, one per sensitive
  attribute, are relaxed together, each lowered to at most that number.

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
from discreet.model.negotiation import Answer, Negotiation, Relaxation
from discreet.model.request import Request, Scope, bounds_of, most_suppressed
from discreet.model.requirement import Requirement
from discreet.negotiation.lookup import SuppressionLookup
from discreet.negotiation.order import SubLattice, order_of

CACHED_BYTES = 32 * 2**20
"""What a negotiator's remembered arrays may hold, for suppression and for sub-lattices each."""

SMALLEST_RELAXATION = 2
"""The floor of a relaxed k or l; below it nothing is promised, and the paper prints "No solution"."""


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
        """The exact answer, or the relaxations in the order max_suppressed, height, k, l.

        A relaxation without a solution is left out. Raises ``InputError`` for levels out of range or of an
        attribute that is no quasi-identifier, a least level above the greatest, an l of an attribute that is
        not sensitive, and a request that asks neither k nor l.
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
        fewest = min(int(self._by_rank(requirement)[levels.last]), most_suppressed(self._evaluated.rows))
        everywhere = self._between(low, self._lattice.top)
        start = self._order.starts[sum(high)] if request.scope is Scope.ABOVE else 0
        return [
            self._answer(Relaxation.MAX_SUPPRESSED, requirement, fewest, levels),
            self._answer(Relaxation.HEIGHT, requirement, limit, everywhere, start),
            self._relax_k(requirement, limit, high, levels),
            self._relax_l(requirement, limit, high, levels),
        ]

    def _relax_k(
        self, requirement: Requirement, limit: int, high: LatticeNode, levels: SubLattice
    ) -> Answer | None:
        if requirement.k is None:
            return None
        k = self._evaluated.largest_k(high, requirement, limit)
        if k < SMALLEST_RELAXATION:
            return None
        return self._answer(Relaxation.K, requirement.with_k(k), limit, levels)

    def _relax_l(
        self, requirement: Requirement, limit: int, high: LatticeNode, levels: SubLattice
    ) -> Answer | None:
        if requirement.largest_l is None:
            return None
        l = self._evaluated.largest_l(high, requirement, limit)
        if l < SMALLEST_RELAXATION:
            return None
        return self._answer(Relaxation.L, requirement.with_l_at_most(l), limit, levels)

    def _answer(
        self,
        relaxed: Relaxation | None,
        requirement: Requirement,
        limit: int,
        among: SubLattice,
        start: int = 0,
    ) -> Answer | None:
        suppressed = self._by_rank(requirement)
        if suppressed[among.last] > limit:
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
