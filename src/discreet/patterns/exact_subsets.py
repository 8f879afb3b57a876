"""Exact by fixed parameter: each set of output row types has a flow (Bredereck et al. 2013, Theorem 3).

The set of output row types that a solution uses is guessed, one of 2 to the number of cells; ``flow`` then
assigns the rows. Cells with fewer than k rows can be in none. A guess goes on only while the cells that are
in need no more rows than there are, and while the rows, each at the cheapest cell that is not ruled out,
could still cost less than the best solution so far. Cells are tried cheapest first.

For few row types and patterns alone: it shares nothing with the integer program but the list of cells, and is
its oracle.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from discreet.errors import LimitReached, NoSolution
from discreet.frequency.subject_rows import rows_for_subjects
from discreet.model.frequency_set import FrequencySet
from discreet.model.pattern import OutlierPolicy, PatternMask
from discreet.model.recoding import SuppressionPolicy
from discreet.model.requirement import Requirement
from discreet.patterns.exact_cells import PatternTable, cover_of, table_of
from discreet.patterns.exact_result import ExactResult, ExactSize, Plan, finished, only_k
from discreet.patterns.flow import Assignment, assign_rows
from discreet.settings import Settings

MOST_CELLS = 20
_STARS = -1


def solve_by_subsets(
    frequency_set: FrequencySet,
    mask: PatternMask,
    requirement: Requirement,
    settings: Settings,
    *,
    publish_all: bool = True,
    suppression: SuppressionPolicy = SuppressionPolicy.DROP,
) -> ExactResult:
    """The assignment of rows to patterns of least cost, by trying every set of output row types.

    Without ``publish_all`` fewer than k rows may be left over, which are suppressed, as in ``solve_exactly``.

    Raises ``LimitReached`` above ``MOST_CELLS`` cells of at least k rows, ``NoSolution`` where rows fit
    nowhere and outliers are not allowed, ``InputError`` for a requirement other than k.
    """
    begun = time.monotonic()
    k = only_k(requirement)
    frequency_set = rows_for_subjects(frequency_set)
    table, places = table_of(frequency_set, mask)
    asked = publish_all or mask.outliers is OutlierPolicy.ERROR
    left_over = mask.outliers is OutlierPolicy.DELETE or not asked
    star_class = mask.all_star is not None and not left_over
    guess = _Guess.of(table, k, star_class, left_over, settings.memory_limit)
    guess.decide(0, ())
    if guess.best is None:
        raise NoSolution(
            f"k={k}: the patterns cannot place all rows",
            advice="Allow more patterns, lower k, or give a policy for outliers.",
        )
    plan = guess.plan(guess.best)
    return finished(
        frequency_set,
        mask,
        requirement,
        plan,
        table=table,
        places=places,
        begun=begun,
        suppression=suppression,
    )


@dataclass
class _Guess:
    """The cells (``_STARS``: that of all stars), what fits them, and the best solution so far."""

    counts: NDArray[np.int64]
    k: int
    patterns: list[int]
    costs: list[int]
    members: list[list[int]]
    outlier_cost: int | None
    best: Assignment | None = None
    chosen: tuple[int, ...] = ()
    least: NDArray[np.int64] = field(init=False)

    def __post_init__(self) -> None:
        dearest = self.outlier_cost if self.outlier_cost is not None else max(self.costs, default=0)
        self.least = np.full((len(self.costs) + 1, len(self.counts)), dearest, np.int64)
        for cell in range(len(self.costs) - 1, -1, -1):
            self.least[cell] = self.least[cell + 1]
            inside = self.members[cell]
            self.least[cell, inside] = np.minimum(self.least[cell, inside], self.costs[cell])

    @classmethod
    def of(cls, table: PatternTable, k: int, star_class: bool, outliers: bool, memory: int) -> _Guess:
        cover = cover_of(table, k, memory)
        patterns, costs = cover.patterns.tolist(), cover.costs.tolist()
        bounds = pairwise(cover.offsets.tolist())
        members = [cover.members[low:high].tolist() for low, high in bounds]
        if len(patterns) > MOST_CELLS:
            raise LimitReached(
                f"there are {len(patterns)} cells of at least {k} rows, and 2 to as many sets of them",
                allowed=f"{MOST_CELLS} cells",
                advice="Use the integer program.",
            )
        if star_class and table.rows >= k:
            patterns, costs = [*patterns, _STARS], [*costs, table.outlier_cost]
            members = [*members, list(range(len(table.counts)))]
        return cls(table.counts, k, patterns, costs, members, table.outlier_cost if outliers else None)

    def decide(self, cell: int, chosen: tuple[int, ...]) -> None:
        """Try every set that begins with ``chosen`` and goes on with cells from ``cell``."""
        if len(chosen) * self.k > int(self.counts.sum()):
            return
        cheapest = self.least[cell].copy()
        for other in chosen:
            inside = self.members[other]
            cheapest[inside] = np.minimum(cheapest[inside], self.costs[other])
        if self.best is not None and int((cheapest * self.counts).sum()) >= self.best.cost:
            return
        if cell < len(self.costs):
            self.decide(cell + 1, (*chosen, cell))
            self.decide(cell + 1, chosen)
            return
        pairs = [(i, place) for place, c in enumerate(chosen) for i in self.members[c]]
        costs = np.array([self.costs[c] for c in chosen], np.int64)
        found = assign_rows(self.counts, pairs, costs, self.k, self.outlier_cost)
        if found is not None and (self.best is None or found.cost < self.best.cost):
            self.best, self.chosen = found, chosen

    def plan(self, best: Assignment) -> Plan:
        """The best solution, of the cells that were chosen for it."""
        row_types = [np.array(self.members[c], np.int64) for c in self.chosen]
        patterns = [np.full(len(self.members[c]), self.patterns[c], np.int64) for c in self.chosen]
        everyone = np.arange(len(self.counts))
        cells = len(self.costs)
        pairs = sum(map(len, self.members))
        return Plan(
            row_types=np.concatenate([*row_types, everyone]),
            patterns=np.concatenate([*patterns, np.full(len(everyone), -1, np.int64)]),
            rows=np.concatenate([best.rows, best.left]),
            cost=best.cost,
            bound=best.cost,
            start_cost=best.cost,
            size=ExactSize(cells, cells, pairs, 1, pairs),
        )
