"""A negotiation answered by local recoding: the request's own levels, or the least that has to give way.

Within greatest levels, a class of any recoding lies in one class of the node of those levels. So a row can be
published exactly where its class at that node meets the requirement, and the rows of the classes that fail
are the fewest that must be suppressed: as many as the full-domain recoding to that node suppresses. What a
request can have is therefore known before any search, exactly; what local recoding adds is that the rows that
stay show far more. Where the suppression limit is not met, each part of the request gives way in turn, as in
a full-domain negotiation (``negotiation.negotiate``; the future work of Pilalidou and Vassiliadis):

* **max_suppressed**: the rows that fail at the greatest levels, no fewer can be;
* **height**: greatest levels raised by the smallest sum that suffices, ties by the tie rule;
* **k**, **l**: the largest parameter, at least 2, that the greatest levels reach within the limit.

Each answer is then searched, and its recoding counted, so an answer is never a promise alone.

Cost: one evaluated lattice for the height, where it fits the memory limit (it is left out where it does not);
one local recoding per answer.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import LimitReached
from discreet.frequency.rollup import roll_up
from discreet.frequency.subject_rows import rows_for_subjects
from discreet.lattice.evaluate import evaluate_lattice, lattice_of
from discreet.local.recode import recode
from discreet.local.result import LocalRecoding
from discreet.model.frequency_set import FrequencySet
from discreet.model.lattice import Lattice, LatticeNode, height, tie_key
from discreet.model.negotiation import Relaxation
from discreet.model.request import Request, bounds_of
from discreet.model.requirement import Requirement
from discreet.settings import Settings

_SMALLEST = 2


@dataclass(frozen=True)
class LocalAnswer:
    """A local recoding that satisfies the request, or the request with one part relaxed.

    ``node`` holds the greatest levels that were allowed.
    """

    relaxed: Relaxation | None
    node: LatticeNode
    requirement: Requirement
    found: LocalRecoding

    def as_json(self, lattice: Lattice) -> dict[str, Any]:
        """The form of a negotiation's answer, with classes, granularity, and a bound that was asked."""
        proven = {} if self.found.bound is None else {"bound": self.found.bound, "gap": self.found.gap}
        return {
            "relaxed": None if self.relaxed is None else str(self.relaxed),
            "levels": lattice.levels_of(self.node),
            "height": height(self.node),
            "k": self.requirement.k,
            "l": self.requirement.l_as_json(),
            "suppressed": self.found.suppressed,
            "classes": self.found.classes,
            "granularity": self.found.granularity,
            **proven,
        }


@dataclass(frozen=True)
class LocalNegotiation:
    """The exact answer alone, or the relaxations in the order max_suppressed, height, k, l."""

    lattice: Lattice
    rows: int
    answers: tuple[LocalAnswer, ...]

    @property
    def exact(self) -> LocalAnswer | None:
        """The exact answer, where there is one."""
        return next((a for a in self.answers if a.relaxed is None), None)

    @property
    def outcome(self) -> str:
        """``exact`` or ``relaxed``."""
        return "relaxed" if self.exact is None else "exact"

    def relaxation(self, relaxed: Relaxation | str) -> LocalAnswer | None:
        """The answer that relaxes one part, or None where that part has no solution."""
        return next((a for a in self.answers if a.relaxed == relaxed), None)

    def as_json(self) -> dict[str, Any]:
        """The document of ``discreet negotiate --model local --json``."""
        return {
            "outcome": self.outcome,
            "rows": self.rows,
            "model": "cell-generalization",
            "answers": [answer.as_json(self.lattice) for answer in self.answers],
        }


def negotiate_local(
    frequency_set: FrequencySet,
    request: Request,
    settings: Settings,
    *,
    notice: Callable[[str], None] | None = None,
    **options: Any,
) -> LocalNegotiation:
    """The exact answer to a request by local recoding, or its relaxations.

    ``options`` are those of ``local.recode.recode`` that a request does not say: effort, seed, time_budget,
    shown, weights, and so on. Raises ``InputError`` for levels out of range or that cross, and for a request
    that asks neither k nor l.
    """
    frequency_set = rows_for_subjects(frequency_set)
    lattice = lattice_of(frequency_set)
    requirement = request.requirement
    requirement.check(frequency_set.sensitive_attributes)
    low, high = bounds_of(lattice, request)
    limit = request.max_suppressed.of(frequency_set.rows)
    at_high = _ClassesAt.of(frequency_set, high)

    def answer(relaxed: Relaxation | None, node: LatticeNode, asked: Requirement, most: int) -> LocalAnswer:
        found = recode(
            frequency_set,
            asked,
            settings,
            min_node=low,
            max_node=node,
            limit=most,
            notice=notice,
            **options,
        )
        return LocalAnswer(relaxed, node, asked, found)

    fewest = at_high.suppressed(requirement)
    if fewest <= limit and fewest < frequency_set.rows:
        return LocalNegotiation(lattice, frequency_set.rows, (answer(None, high, requirement, limit),))
    answers = []
    if fewest < frequency_set.rows:
        answers.append(answer(Relaxation.MAX_SUPPRESSED, high, requirement, fewest))
    raised = _raised(frequency_set, requirement, high, limit, settings, notice)
    if raised is not None:
        answers.append(answer(Relaxation.HEIGHT, raised, requirement, limit))
    smaller = at_high.largest_k(requirement, limit)
    if smaller is not None:
        answers.append(answer(Relaxation.K, high, requirement.with_k(smaller), limit))
    fewer = at_high.largest_l(requirement, limit)
    if fewer is not None:
        answers.append(answer(Relaxation.L, high, requirement.with_l_at_most(fewer), limit))
    return LocalNegotiation(lattice, frequency_set.rows, tuple(answers))


@dataclass(frozen=True, eq=False)
class _ClassesAt:
    """The classes of one node: rows, and distinct values per sensitive attribute."""

    attributes: tuple[str, ...]
    rows: NDArray[np.int64]
    distinct: tuple[NDArray[np.int64], ...]

    @classmethod
    def of(cls, frequency_set: FrequencySet, node: LatticeNode) -> _ClassesAt:
        counted = roll_up(frequency_set, node)
        return cls(
            frequency_set.sensitive_attributes,
            counted.counts,
            tuple(counted.distinct(sets) for sets in frequency_set.sensitive),
        )

    def suppressed(self, requirement: Requirement) -> int:
        """Rows of the classes that fail."""
        return int(self.rows[self._fail(requirement)].sum())

    def _fail(self, requirement: Requirement) -> NDArray[np.bool_]:
        fail = self.rows < (requirement.k or 1)
        for distinct, least in zip(self.distinct, requirement.l_of(self.attributes), strict=True):
            fail |= distinct < (least or 0)
        return fail

    def largest_k(self, requirement: Requirement, limit: int) -> int | None:
        """The largest k within the limit, l kept; None below 2, or where k was not asked."""
        if requirement.k is None:
            return None
        diverse = ~self._fail(requirement.with_k(1))
        rows = np.sort(self.rows[diverse])
        fail = int(self.rows[~diverse].sum()) + np.cumsum(rows)
        over = np.flatnonzero(fail > limit)
        k = int(rows[over[0]]) if len(over) else int(rows[-1]) if len(rows) else 0
        reached = self.suppressed(requirement.with_k(k)) <= limit if k >= _SMALLEST else False
        return k if reached and k < requirement.k else None

    def largest_l(self, requirement: Requirement, limit: int) -> int | None:
        """The largest l within the limit, no attribute above its own, k kept; None below 2 or not asked."""
        # Above the most values of a class every class fails; what was asked may be far above it.
        most = max((int(distinct.max(initial=0)) for distinct in self.distinct), default=0)
        for l in range(min((requirement.largest_l or 0) - 1, most), _SMALLEST - 1, -1):
            suppressed = self.suppressed(requirement.with_l_at_most(l))
            if suppressed <= limit and suppressed < int(self.rows.sum()):
                return l
        return None


def _raised(
    frequency_set: FrequencySet,
    requirement: Requirement,
    high: LatticeNode,
    limit: int,
    settings: Settings,
    notice: Callable[[str], None] | None,
) -> LatticeNode | None:
    """The lowest node at or above ``high`` that suppresses at most ``limit`` rows, and not all of them."""
    try:
        evaluated = evaluate_lattice(
            frequency_set, settings, diversity=requirement.largest_l is not None, notice=notice
        )
    except LimitReached:
        if notice is not None:
            notice("raising the greatest levels was not looked at: the lattice does not fit the memory limit")
        return None
    suppressed = evaluated.suppression(requirement)
    lattice = evaluated.lattice
    levels = np.stack(np.unravel_index(np.arange(lattice.size), [h + 1 for h in lattice.heights]), axis=1)
    fits = (suppressed <= limit) & (suppressed < frequency_set.rows) & (levels >= high).all(axis=1)
    if not fits.any():
        return None
    heights = levels.sum(axis=1)
    lowest = np.flatnonzero(fits & (heights == heights[fits].min()))
    chosen = lowest[suppressed[lowest] == suppressed[lowest].min()]
    return min((lattice.node(int(node)) for node in chosen), key=tie_key)
