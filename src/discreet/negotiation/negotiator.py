"""Negotiation: the exact answer to a request, or its relaxations (Pilalidou and Vassiliadis).

A request bounds the levels (between the nodes ``low`` and ``high``), the suppressed rows and the privacy
parameters. The exact answer is the lowest node within the bounds that meets the requirement and suppresses at
most the allowed number of rows. Otherwise each part of the request is relaxed in turn, the others kept:
``max_suppressed`` to the fewest rows that a node within the levels suppresses; ``height`` to the lowest node
that meets requirement and limit; each criterion to the strictest value that is reached within the limit. For
criteria that are not growing every node within the levels is compared. The lowest height is preferred, then
the fewest suppressed rows, then the paper's node order (decision 0004).

The paper visits nodes one by one; here each step is one comparison over an array of all nodes sorted by
preference. ``NodeQueries`` and ``SuppressionQueries`` are the queries that negotiation makes on a lattice.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from functools import lru_cache
from math import prod
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from discreet.model.lattice import Lattice, LatticeNode
from discreet.model.request import RelaxationScope, Request, max_suppressible_rows, node_bounds
from discreet.model.requirement import Requirement, is_growing
from discreet.model.search_result import Answer, Negotiation, Relaxation


class NodeQueries(Protocol):
    """Suppression of single nodes under any requirement.

    A stricter requirement never suppresses fewer rows. If all criteria are growing, a node below another one
    never suppresses fewer rows either.
    """

    @property
    def lattice(self) -> Lattice:
        """The lattice."""

    @property
    def rows(self) -> int:
        """Rows after the NULL policy."""

    @property
    def sensitive_attributes(self) -> tuple[str, ...]:
        """Sensitive attributes with known values, in the spec's order."""

    def suppressed(self, node: LatticeNode, requirement: Requirement) -> int:
        """Return the suppressed rows of one node."""

    def largest(self, node: LatticeNode, requirement: Requirement, name: str, limit: int) -> int | None:
        """Return the largest score for which the node suppresses at most ``limit`` rows; None if none exists.

        Criteria of that name require at least this score, and none more than its own; the others are
        unchanged.
        """


class SuppressionQueries(NodeQueries, Protocol):
    """Suppression of single nodes and of all nodes at once."""

    def suppression(self, requirement: Requirement) -> NDArray[np.int64]:
        """Return the suppressed rows of every node, shape ``(nodes,)``, in mixed-radix order."""

    def largest_among(
        self, nodes: NDArray[np.int64], requirement: Requirement, name: str, limit: int
    ) -> int | None:
        """Return the largest score that any of these nodes (by index) reaches."""


@dataclass(frozen=True, eq=False)
class RankInterval:
    """Nodes between two nodes, as a range of ranks: rank ``first + i`` is one of them if ``inside[i]``.

    The lower node has rank ``first``; the upper one has the last rank of the range.
    """

    first: int
    inside: NDArray[np.bool_]

    @property
    def last(self) -> int:
        """Rank of the upper node."""
        return self.first + len(self.inside) - 1

    @property
    def ranks(self) -> NDArray[np.int64]:
        """Ranks of all nodes, ascending."""
        return np.flatnonzero(self.inside) + self.first


@dataclass(frozen=True, eq=False)
class NodeOrder:
    """Nodes by height and, within a height, in the paper's node order (decision 0004).

    A node's position in this order is its rank. ``nodes[rank]`` is its index in mixed-radix order, and
    ``starts[h]`` the first rank of height h, with one further entry for the end. The number of suppressed
    rows is compared between these two keys; it depends on the requirement, so ``lowest`` applies it.
    """

    heights: tuple[int, ...]
    nodes: NDArray[np.int64]
    starts: tuple[int, ...]

    def height_of(self, rank: int) -> int:
        """Return the generalization height of the node with a rank."""
        return bisect_right(self.starts, rank) - 1

    def node_of(self, rank: int) -> LatticeNode:
        """Return the node with a rank."""
        index = int(self.nodes[rank])
        levels = []
        for height in reversed(self.heights):
            index, level = divmod(index, height + 1)
            levels.append(level)
        return tuple(reversed(levels))

    def between(self, low: LatticeNode, high: LatticeNode) -> RankInterval:
        """Return the nodes at or above ``low`` and at or below ``high``, level by level.

        Cost: one byte per node and one gather.
        """
        # numpy arrays have at most 64 dimensions; attributes of height 0 need none.
        sides = [(h + 1, slice(a, b + 1)) for h, a, b in zip(self.heights, low, high, strict=True) if h]
        box = np.zeros([side for side, _ in sides], dtype=np.bool_)
        box[tuple(part for _, part in sides)] = True
        inside = box.ravel()[self.nodes]
        first = int(inside.argmax())
        end = len(inside) - int(inside[::-1].argmax())
        stretch = inside[first:end].copy()
        stretch.flags.writeable = False
        return RankInterval(first, stretch)

    def lowest(self, suppressed: NDArray[np.integer], limit: int, among: RankInterval, start: int = 0) -> int:
        """Return the rank of the preferred node of ``among`` that suppresses at most ``limit`` rows, or -1.

        The lowest height is preferred, then the fewest suppressed rows, then the paper's order.
        ``suppressed`` is by rank; ranks below ``start`` are ignored.
        """
        skip = max(start - among.first, 0)
        first = among.first + skip
        inside = among.inside[skip:]
        if not len(inside):
            return -1
        within = suppressed[first : first + len(inside)] <= limit
        within &= inside
        offset = int(within.argmax())
        if not within[offset]:
            return -1
        end = self.starts[self.height_of(first + offset) + 1] - first
        ties = within[offset:end].nonzero()[0] + (first + offset)
        return int(ties[suppressed[ties].argmin()])


@lru_cache(maxsize=8)
def node_order(heights: tuple[int, ...]) -> NodeOrder:
    """Build the order of the lattice with these heights."""
    shape = tuple(height + 1 for height in heights if height)
    size = prod(shape)
    node_heights = np.zeros(1, dtype=np.int32)
    for side in shape:
        node_heights = np.add.outer(node_heights, np.arange(side, dtype=np.int32)).ravel()
    in_tie_order = np.arange(size, dtype=np.int64).reshape(shape)
    if heights and heights[-1]:
        in_tie_order = np.moveaxis(in_tie_order, -1, 0)
    in_tie_order = in_tie_order.ravel()
    nodes = in_tie_order[np.argsort(node_heights[in_tie_order], kind="stable")]
    nodes.flags.writeable = False
    widths = np.bincount(node_heights, minlength=sum(heights) + 1)
    return NodeOrder(heights, nodes, (0, *np.cumsum(widths).tolist()))


NEGOTIATOR_CACHE_BYTES = 32 * 2**20
"""Maximal size of a negotiator's caches of suppression arrays and of rank intervals, each."""


class Negotiator:
    """Negotiator on one evaluated lattice; caches the arrays that requests share.

    Keep one instance for many requests. Threads may share it: its arrays are read-only.
    """

    def __init__(self, evaluated: SuppressionQueries) -> None:
        self._evaluated = evaluated
        self._lattice = evaluated.lattice
        self._order = node_order(evaluated.lattice.heights)
        self._type = np.dtype(np.int32 if evaluated.rows < 2**31 else np.int64)
        size = evaluated.lattice.size

        @lru_cache(_cache_entries(size * self._type.itemsize))
        def by_rank(requirement: Requirement) -> NDArray[np.integer]:
            found = evaluated.suppression(requirement)[self._order.nodes].astype(self._type)
            found.flags.writeable = False
            return found

        self._by_rank = by_rank
        self._between = lru_cache(_cache_entries(size))(self._order.between)

    def negotiate(self, request: Request) -> Negotiation:
        """Return the exact answer, or the relaxations if there is none.

        Returns
        -------
        Negotiation
            Relaxations are in the order of ``model.search_result.relaxable_names``, those without a solution
            omitted.

        Raises
        ------
        InputError
            For levels out of range or of an attribute that is no quasi-identifier, a least level above the
            greatest, a criterion of an attribute that is not sensitive or whose score was not counted, and a
            request without requirement.

        Notes
        -----
        Cost: one masked comparison over all nodes per relaxation; suppression arrays are cached by
        requirement.

        References
        ----------
        Pilalidou and Vassiliadis, *Online negotiation for privacy preserving data publishing*. Slides,
        University of Ioannina.
        """
        low, high = node_bounds(self._lattice, request)
        request.requirement.check(self._evaluated.sensitive_attributes)
        limit = request.max_suppressed.of(self._evaluated.rows)
        levels = self._between(low, high)
        exact = self._answer(None, request.requirement, limit, levels)
        answers = [exact] if exact else self._relaxations(request, limit, low, high, levels)
        return Negotiation(
            self._lattice, self._evaluated.rows, tuple(answer for answer in answers if answer is not None)
        )

    def _relaxations(
        self, request: Request, limit: int, low: LatticeNode, high: LatticeNode, levels: RankInterval
    ) -> list[Answer | None]:
        requirement = request.requirement
        fewest = min(self._fewest(requirement, levels), max_suppressible_rows(self._evaluated.rows))
        everywhere = self._between(low, self._lattice.top)
        start = self._order.starts[sum(high)] if request.scope is RelaxationScope.ABOVE else 0
        return [
            self._answer(Relaxation.MAX_SUPPRESSED, requirement, fewest, levels),
            self._answer(Relaxation.HEIGHT, requirement, limit, everywhere, start),
            *(self._relaxed(name, requirement, limit, high, levels) for name in requirement.names),
        ]

    def _fewest(self, requirement: Requirement, levels: RankInterval) -> int:
        suppressed = self._by_rank(requirement)
        if is_growing(requirement):
            return int(suppressed[levels.last])
        return int(suppressed[levels.ranks].min())

    def _relaxed(
        self, name: str, requirement: Requirement, limit: int, high: LatticeNode, levels: RankInterval
    ) -> Answer | None:
        if is_growing(requirement):
            score = self._evaluated.largest(high, requirement, name, limit)
        else:
            nodes = self._order.nodes[levels.ranks]
            score = self._evaluated.largest_among(nodes, requirement, name, limit)
        weaker = requirement.relaxed(name, score)
        return None if weaker is None else self._answer(name, weaker, limit, levels)

    def _answer(
        self, relaxed: str | None, requirement: Requirement, limit: int, among: RankInterval, start: int = 0
    ) -> Answer | None:
        suppressed = self._by_rank(requirement)
        if suppressed[among.last] > limit and is_growing(requirement):
            return None
        rank = self._order.lowest(suppressed, limit, among, start)
        if rank < 0:
            return None
        return Answer(relaxed, self._order.node_of(rank), requirement, int(suppressed[rank]))


def _cache_entries(size: int) -> int:
    return max(4, min(1024, NEGOTIATOR_CACHE_BYTES // max(size, 1)))
