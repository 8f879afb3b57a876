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
from dataclasses import dataclass

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
from discreet.patterns.simplex_matching import MatchingProgress, SimplexMatching, find_simplex_matching
from discreet.settings import Settings

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
