"""2-anonymity guided by patterns, at least cost, in polynomial time (Bredereck et al. 2013, Theorem 2).

Every class of four rows or more splits into classes of two and three under the same pattern at the same
cost, so rows are partitioned into pairs and triples by ``simplex_matching``, each under the cheapest
pattern that makes its rows equal. Of a row type with many rows only as many rows as can have partners of
other types are vertices; the rest is paired within the type. With the policy *delete* a single row may
be an outlier, which is tried with and without.

Cost: a cube of costs for n vertices, 14 n³ bytes, and the search of ``simplex_matching``.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError, LimitReached, NoSolution
from discreet.frequency.class_requirement import require_one_row_per_subject
from discreet.kernels.numba_import import has_numba
from discreet.model.class_recoding import OUTLIER, ClassRecoding, OutlierPolicy, PatternMask
from discreet.model.frequency_set import FrequencySet
from discreet.model.requirement import Requirement
from discreet.patterns.exact_problem import PatternTable, build_pattern_table, group_row_types, require_only_k
from discreet.patterns.pattern_assignment import recode_assignment
from discreet.settings import Settings

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


RowArray = NDArray[np.int64]

_PAIR = 2
_BYTES_PER_TRIPLE = 14


@dataclass(frozen=True, eq=False)
class TwoAnonymityResult:
    """Cheapest 2-anonymous assignment of rows to patterns, with details of the search.

    Part p means that ``rows[p]`` rows of ``row_types[p]`` have ``patterns[p]`` (a position in the mask, or
    ``OUTLIER``); ``cost`` is the sum of the mask's costs over all rows. ``vertices`` is the number of
    vertices of the matching: rows that may need rows of other types; ``matching`` contains its pairs and
    triples, and the number of its steps.
    """

    recoding: ClassRecoding
    row_types: RowArray
    patterns: RowArray
    rows: RowArray
    cost: float
    vertices: int
    matching: SimplexMatching
    seconds: float


def solve_two_anonymity(
    frequency_set: FrequencySet,
    mask: PatternMask,
    requirement: Requirement,
    settings: Settings,
    *,
    publish_all: bool = True,
    progress: MatchingProgress | None = None,
) -> TwoAnonymityResult:
    """Find the cheapest assignment of rows to patterns that is 2-anonymous.

    Parameters
    ----------
    mask
        The allowed patterns, their costs, and the policy for outliers.
    requirement
        k = 2.
    publish_all
        With the policy *suppress*, suppress no row; otherwise a single row of all stars may be, as in the
        greedy.
    progress
        Called with the number of vertices in triples and of all vertices.

    Raises
    ------
    InputError
        For a requirement other than k = 2, and if numba is missing.
    NoSolution
        If some rows can share a pattern with no other and outliers are not allowed, or no class can be made.
    LimitReached
        If the costs of all triples do not fit ``settings.memory_limit``.

    Notes
    -----
    Cost: 14 n³ bytes for n vertices, and the search of ``find_simplex_matching``.

    References
    ----------
    Bredereck, Nichterlein and Niedermeier (2013), *Pattern-Guided k-Anonymity*. Algorithms 6(4), 678–701.
    Theorem 2.
    """
    start_time = time.monotonic()
    if require_only_k(requirement) != _PAIR:
        raise InputError(
            f"k={requirement.k} by simplex matching", allowed="k=2", advice="Use the integer program."
        )
    if not has_numba():
        raise InputError(
            "simplex matching needs numba, which is not installed",
            advice="Install numba, or use the integer program.",
        )
    frequency_set = require_one_row_per_subject(frequency_set)
    table, mask_positions = build_pattern_table(frequency_set, mask)
    problem = _MatchingProblem(table, mask, settings.memory_limit, publish_all=publish_all)
    found = problem.solve(progress)
    row_types, patterns, rows = problem.parts(found)
    names = np.append(mask_positions, OUTLIER if mask.all_star is None else mask.all_star)
    stars = names[patterns] == names[-1]
    # A single row of all stars is an outlier; two are a class.
    suppress = stars & (int(rows[stars].sum()) < _PAIR)
    patterns = np.where(suppress, OUTLIER, names[patterns])
    recoding = recode_assignment(frequency_set, mask, requirement, patterns, row_types=row_types, rows=rows)
    if frequency_set.rows and not recoding.class_count:
        raise NoSolution("deleting every row costs less than any class of two rows")
    return TwoAnonymityResult(
        recoding=recoding,
        row_types=row_types,
        patterns=patterns,
        rows=rows,
        cost=float((np.append(mask.pattern_costs, mask.top_cost)[patterns] * rows).sum()),
        vertices=len(problem.types),
        matching=found,
        seconds=time.monotonic() - start_time,
    )


class _MatchingProblem:
    """Pairs and triples of a table's rows, and their costs."""

    def __init__(
        self, table: PatternTable, mask: PatternMask, memory_limit: int, *, publish_all: bool
    ) -> None:
        self.table = table
        counts = table.counts
        together = mask.all_star is not None or mask.outliers is not OutlierPolicy.ERROR
        free = mask.all_star is None and together
        free |= mask.outliers is OutlierPolicy.SUPPRESS and not publish_all
        self.allows_single_rows = free or mask.outliers is OutlierPolicy.DELETE
        needed = np.minimum(counts, table.rows - counts + _PAIR)
        needed += (counts - needed) % 2
        self.types = np.repeat(np.arange(len(counts)), needed)
        self.left = counts - needed
        size = len(self.types) + 1
        if _BYTES_PER_TRIPLE * size**3 > memory_limit:
            raise LimitReached(
                f"the triples of {size:,} rows need {_BYTES_PER_TRIPLE * size**3 / 1e9:,.1f} GB",
                allowed=f"{memory_limit / 1e9:,.1f} GB",
                advice="Use the integer program, or raise the memory limit.",
            )
        dearest = int(max(table.costs.max(initial=0), table.outlier_cost))
        self.forbidden = table.rows * dearest + 1
        self.star = table.outlier_cost if together else self.forbidden
        self.order = np.argsort(-table.costs, kind="stable")
        # Vertices that a pattern makes equal have one number.
        self.groups = {
            int(p): group_row_types(table.values(int(p)), len(counts))[self.types] for p in self.order
        }

    def solve(self, progress: MatchingProgress | None) -> SimplexMatching:
        """Find the cheapest partition; if a row may be deleted, with and without a vertex to pair it with."""
        pairs, triples = self._costs()
        n = len(self.types)
        tried = (
            [find_simplex_matching(pairs[:n, :n], triples[:n, :n, :n], progress, self.types)] if n > 1 else []
        )
        if self.allows_single_rows and n:
            kinds = np.append(self.types, len(self.left))
            tried.append(find_simplex_matching(pairs, triples, progress, kinds))
        best = min(tried, key=lambda found: found.cost, default=None)
        if n and (best is None or best.cost >= self.forbidden):
            raise NoSolution(
                "some row can share no pattern with another row", advice="Allow more patterns, or outliers."
            )
        return best or SimplexMatching((), (), 0, 0, 0)

    def _costs(self) -> tuple[RowArray, RowArray]:
        """Compute the cost of every pair and triple; the last vertex is the partner of a deleted row."""
        n, star = len(self.types), self.star
        pairs = np.full((n + 1, n + 1), 2 * star, np.int64)
        triples = np.full((n + 1, n + 1, n + 1), 3 * star, np.int64)
        for p, group in self.groups.items():
            price = int(self.table.costs[p])
            if price > star:
                continue
            for members in _groups_of_vertices(group):
                pairs[np.ix_(members, members)] = 2 * price
                triples[np.ix_(members, members, members)] = 3 * price
        pairs[n, :] = pairs[:, n] = star
        triples[n, :, :] = triples[:, n, :] = triples[:, :, n] = 2 * star
        return pairs, triples

    def parts(self, matching: SimplexMatching) -> tuple[RowArray, RowArray, RowArray]:
        """Return row types, the table's patterns (-1: all stars) and rows, of matched and of other rows."""
        cheapest = int(self.order[-1]) if len(self.order) else -1
        remaining = np.flatnonzero(self.left)
        parts = [(int(t), cheapest, int(self.left[t])) for t in remaining]
        for edge in (*matching.pairs, *matching.triples):
            members = [v for v in edge if v < len(self.types)]
            pattern = self._pattern(members) if len(members) == len(edge) else -1
            parts += [(int(self.types[v]), pattern, 1) for v in members]
        row_types, patterns, rows = np.array(parts, np.int64).reshape(-1, 3).T
        return row_types, patterns, rows

    def _pattern(self, members: list[int]) -> int:
        """Return the cheapest pattern that makes some vertices equal; -1 for all stars."""
        cheapest_first: list[int] = self.order[::-1].tolist()
        for p in cheapest_first:
            if self.table.costs[p] <= self.star and len(set(self.groups[p][members].tolist())) == 1:
                return p
        return -1


def _groups_of_vertices(group: RowArray) -> list[RowArray]:
    """Return the vertices of each group of two or more."""
    order = np.argsort(group, kind="stable")
    starts = np.flatnonzero(np.diff(group[order], prepend=-1))
    return [members for members in np.split(order, starts[1:]) if len(members) > 1]
