"""Minimum-cost perfect simplex matching: a partition of vertices into pairs and triples.

Given the cost of every pair and of every triple with the *simplex condition* - the three pairs of a triple
cost together at most twice as much as the triple - find the cheapest partition. With the condition the
problem is polynomial (Anshelevich and Karagiozova 2011); without it, it contains 3-dimensional matching.

**Why a local search suffices.** Given the set of triples, the cheapest pairs for the other vertices are a
minimum-cost perfect matching. Take any partition M and a better one M*. Their difference consists of
alternating paths between triples of M and triples of M*, and cycles: with a node per triple and an edge per
path, a cubic multigraph with two kinds of nodes. An *augmentor* is a subgraph of it that can be applied
independently: at a triple of M it uses no path, all three, or one (the triple shrinks to the pair of the
other two vertices); at a triple of M* none, all three, or two (the two vertices so reached become a pair).
The paper's theorem covers every cubic multigraph evenly, using the three ends of each triple alike, by
augmentors with at most two nodes of odd degree: paths, cycles, cycles on a stalk, two cycles joined by a
stalk, three parallel paths. By the simplex condition the changes in cost that the augmentors of such a cover
make add up to no more than a multiple of cost(M*) - cost(M), so one of them is an improvement. The nodes of
odd degree are the triples that are added or removed. Hence: *if no exchange of two triples (two new ones, one
for another, two dissolved) reduces the cost, the partition is optimal.*

**The search.** Each exchange is priced by a perfect matching of the vertices outside the triples. The duals
of the matching before it (potentials y, thickness z of blossoms) bound the price from below: a new triple t
costs at least cost(t) - y(t), less the z of the blossoms that lose an odd number of vertices. So only triples
inside a blossom of positive thickness can reduce the cost at all, and without such a blossom the matching of
the start is optimal at once. The exchange is fixed in two steps, first one triple and then, by the duals of
the matching with a free place in it, the other; both in the order of the bound. The paper finds the cheapest
augmentor by its shape; this search finds improvements differently, but the set of improvements is the same.

Cost: a matching is O(n³), a step tries O(n⁶) exchanges at the very worst, and each step reduces the cost by
at least one unit, so for costs that are polynomial in n (a number of stars is) the whole is polynomial.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

VertexArray = NDArray[np.int64]
MatchingProgress = Callable[[int, int], None]

_UNIT = 4
_MOST_BITS = 62


@dataclass(frozen=True)
class SimplexMatching:
    """Cheapest partition into pairs and triples of vertices, with counters of the search.

    ``steps`` counts exchanges that were made, ``matchings`` perfect matchings that were computed.
    """

    pairs: tuple[tuple[int, int], ...]
    triples: tuple[tuple[int, int, int], ...]
    cost: int
    steps: int
    matchings: int


@dataclass(frozen=True, eq=False)
class _PricedMatching:
    """Perfect matching of ``inside`` and its duals, by vertex; ``free`` is the dual of the free place."""

    mate: VertexArray
    cost: int
    potential: VertexArray
    thickness: VertexArray
    members: NDArray[np.bool_]
    free: int
    free_member: NDArray[np.bool_]
    inside: NDArray[np.bool_]


def find_simplex_matching(
    pairs: VertexArray,
    triples: VertexArray,
    progress: MatchingProgress | None = None,
    kinds: VertexArray | None = None,
) -> SimplexMatching:
    """Find the cheapest partition of n vertices, 2 or more, into pairs and triples.

    ``pairs`` has shape ``(n, n)`` and ``triples`` ``(n, n, n)``, both int64, symmetric, 0 or more, with the
    simplex condition; entries with equal indexes are not read. ``progress`` is called with the number of
    vertices in triples and n. ``kinds`` ascends and numbers groups of interchangeable vertices: of triples
    that differ only by such an exchange one is tried.

    Cost: O(n³) per matching, O(n⁶) matchings per step at worst; memory O(n³).

    References
    ----------
    Anshelevich and Karagiozova (2011), *Terminal Backup, 3D Matching, and Covering Cubic Graphs*. SIAM
    Journal on Computing 40(3), 678–708.
    """
    return _ExchangeSearch(pairs, triples, progress, kinds).run()


class _ExchangeSearch:
    """Local search over the chosen triples by exchanges of at most two."""

    def __init__(
        self,
        pairs: VertexArray,
        triples: VertexArray,
        progress: MatchingProgress | None,
        kinds: VertexArray | None,
    ) -> None:
        self.n = len(pairs)
        self.kinds = np.arange(self.n) if kinds is None else kinds
        self.pairs, self.triples, self.progress = pairs, triples, progress
        at = np.arange(self.n)
        i, j, k = np.nonzero((at[:, None, None] < at[:, None]) & (at[:, None] < at))
        self.corners = np.stack([i, j, k], axis=1)
        self.prices = triples[i, j, k]
        self.chosen: list[tuple[int, ...]] = []
        self.steps = self.matchings = 0

    def run(self) -> SimplexMatching:
        """Start from the cheapest matching, and exchange triples while the cost falls."""
        self._start()
        now = self._match(self._unchosen(self.chosen))
        while (better := self._exchange(now)) is not None:
            self.chosen = better
            self.steps += 1
            now = self._match(self._unchosen(self.chosen))
            if self.progress is not None:
                self.progress(3 * len(self.chosen), self.n)
        left = np.flatnonzero(now.inside)
        return SimplexMatching(
            tuple((int(u), int(now.mate[u])) for u in left if u < now.mate[u]),
            tuple((t[0], t[1], t[2]) for t in sorted(self.chosen)),
            now.cost + self._triples_cost(self.chosen),
            self.steps,
            self.matchings,
        )

    def _start(self) -> None:
        """Choose the first triple if n is odd: the unmatched vertex joins the pair of least extra cost."""
        if self.n % 2 == 0:
            return
        everywhere = np.ones(self.n, np.bool_)
        found = self._match(everywhere, free=True)
        unmatched = int(np.flatnonzero(found.mate == self.n)[0])
        others = [(u, int(found.mate[u])) for u in range(self.n) if u < found.mate[u] < self.n]
        u, v = min(others, key=lambda p: (self.triples[unmatched, p[0], p[1]] - self.pairs[p], p))
        self.chosen = [tuple(sorted((unmatched, u, v)))]

    def _exchange(self, now: _PricedMatching) -> list[tuple[int, ...]] | None:
        """Return the chosen triples after an exchange that reduces the cost; None if there is none."""
        total = now.cost + self._triples_cost(self.chosen)
        found = self._replace(total)
        if found is None:
            found = self._dissolve_two(total)
        return self._add_two(now, total) if found is None else found

    def _add_two(self, now: _PricedMatching, total: int) -> list[tuple[int, ...]] | None:
        corners, prices = self._within(now.inside)
        reduced, odd = self._reduced(now, corners, prices)
        gain = reduced + _least_partner(reduced, odd, now.thickness)
        first = np.flatnonzero(gain <= -_UNIT)
        for p in first[np.argsort(gain[first], kind="stable")]:
            one = tuple(corners[p].tolist())
            rest = [*self.chosen, one]
            two = self._best_triple(self._unchosen(rest), total - self._triples_cost(rest))
            if two is not None:
                return [*rest, two]
        return None

    def _replace(self, total: int) -> list[tuple[int, ...]] | None:
        for old in self.chosen:
            rest = [t for t in self.chosen if t != old]
            new = self._best_triple(self._unchosen(rest), total - self._triples_cost(rest))
            if new is not None:
                return [*rest, new]
        return None

    def _dissolve_two(self, total: int) -> list[tuple[int, ...]] | None:
        for old, other in combinations(self.chosen, 2):
            rest = [t for t in self.chosen if t not in (old, other)]
            if self._match(self._unchosen(rest)).cost + self._triples_cost(rest) < total:
                return rest
        return None

    def _best_triple(self, inside: NDArray[np.bool_], below: int) -> tuple[int, ...] | None:
        """Return the triple of least cost below ``below``, including a matching of the others inside."""
        loose = self._match(inside, free=True)
        corners, prices = self._within(inside)
        reduced, odd = self._reduced(loose, corners, prices)
        parity = odd ^ loose.free_member[None, :]
        bounds = _UNIT * loose.cost - loose.free + reduced - parity @ loose.thickness
        order = np.flatnonzero(bounds <= _UNIT * (below - 1))
        best, result = below, None
        for t in order[np.argsort(bounds[order], kind="stable")]:
            if bounds[t] > _UNIT * (best - 1):
                break
            rest = inside.copy()
            rest[corners[t]] = False
            cost = self._match(rest).cost + int(prices[t])
            if cost < best:
                best, result = cost, tuple(corners[t].tolist())
        return result

    def _reduced(
        self, duals: _PricedMatching, corners: VertexArray, prices: VertexArray
    ) -> tuple[VertexArray, NDArray[np.bool_]]:
        """Return each triple's cost less its potentials, and the blossoms with one or three corners of it."""
        reduced = _UNIT * prices - duals.potential[corners].sum(axis=1)
        odd = np.zeros((len(corners), len(duals.thickness)), np.bool_)
        for b, members in enumerate(duals.members):
            odd[:, b] = members[corners].sum(axis=1) % 2 == 1
        return reduced, odd

    def _within(self, inside: NDArray[np.bool_]) -> tuple[VertexArray, VertexArray]:
        """Return the triples of vertices inside, represented by the first vertices of each kind."""
        before: VertexArray = np.cumsum(inside) - inside
        start = np.searchsorted(self.kinds, self.kinds)
        offset: VertexArray = (before - before[start])[self.corners]
        kind = self.kinds[self.corners]
        contained = inside[self.corners].all(axis=1) & (offset[:, 0] == 0)
        contained &= offset[:, 1] == (kind[:, 1] == kind[:, 0])
        contained &= offset[:, 2] == (kind[:, 2] == kind[:, 1]) + 1 * (kind[:, 2] == kind[:, 0])
        return self.corners[contained], self.prices[contained]

    def _unchosen(self, chosen: list[tuple[int, ...]]) -> NDArray[np.bool_]:
        inside = np.ones(self.n, np.bool_)
        for t in chosen:
            inside[list(t)] = False
        return inside

    def _triples_cost(self, chosen: list[tuple[int, ...]]) -> int:
        return sum(int(self.triples[t]) for t in chosen)

    def _match(self, inside: NDArray[np.bool_], *, free: bool = False) -> _PricedMatching:
        """Find the cheapest perfect matching of some vertices, with a place of cost 0 if ``free``."""
        from discreet.kernels.perfect_matching import minimum_perfect_matching

        self.matchings += 1
        places = np.flatnonzero(inside)
        size = len(places) + free
        costs = np.zeros((size, size), np.int64)
        costs[: len(places), : len(places)] = self.pairs[np.ix_(places, places)]
        np.fill_diagonal(costs, 0)
        found = minimum_perfect_matching(costs)
        names = np.append(places, self.n) if free else places
        mate, potential = np.full(self.n, -1), np.zeros(self.n, np.int64)
        members = np.zeros((len(found.thickness), self.n), np.bool_)
        partners = names[found.mate]
        mate[places] = partners[: len(places)]
        potential[places] = found.potential[: len(places)]
        members[:, places] = found.members[:, : len(places)]
        return _PricedMatching(
            mate,
            int(costs[np.arange(size), found.mate].sum()) // 2,
            potential,
            found.thickness,
            members,
            int(found.potential[-1]) if free else 0,
            found.members[:, -1] if free else np.zeros(len(found.thickness), np.bool_),
            inside,
        )


def _least_partner(reduced: VertexArray, odd: NDArray[np.bool_], thickness: VertexArray) -> VertexArray:
    """Return, for each triple, the least reduced cost of a second one after both have changed the blossoms.

    Triples that leave the same blossoms odd are one kind, and kinds are few.
    """
    if not len(reduced):
        return reduced
    if odd.shape[1] <= _MOST_BITS:
        code = odd @ (np.int64(1) << np.arange(odd.shape[1], dtype=np.int64))
        _, first, kind = np.unique(code, return_index=True, return_inverse=True)
    else:
        _, first, kind = np.unique(odd, axis=0, return_index=True, return_inverse=True)
    least = np.full(len(first), np.iinfo(np.int64).max // 4)
    np.minimum.at(least, kind, reduced)
    kinds = odd[first]
    lost = np.array([(kinds ^ own[None, :]) @ thickness for own in kinds])
    partner: VertexArray = (least[None, :] - lost).min(axis=1)
    return partner[kind]
