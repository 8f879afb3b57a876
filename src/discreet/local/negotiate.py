"""A negotiation answered by local recoding: the request's own levels, or the least that has to give way.

Within greatest levels, a class of any recoding lies in one class of the node of those levels. So a row can be
published exactly where its class at that node meets the requirement, and the rows of the classes that fail
are the fewest that must be suppressed: as many as the full-domain recoding to that node suppresses. What a
request can have is therefore known before any search, exactly; what local recoding adds is that the rows that
stay show far more. Where the suppression limit is not met, each part of the request gives way in turn, as in
a full-domain negotiation (``negotiation.negotiate``; the future work of Pilalidou and Vassiliadis):

* **max_suppressed**: the rows that fail at the greatest levels, no fewer can be;
* **height**: greatest levels raised by the smallest sum that suffices, ties by the tie rule;
* **each criterion** by its name (k, l, …): the strictest value, no weaker than its floor, that the greatest
  levels reach within the limit. Several of one criterion are relaxed together, none to more than that score.

All this rests on classes that go on to meet the requirement whatever joins them: a criterion that is not
growing is refused (``model.monotone``).

Each answer is then searched, and its recoding counted, so an answer is never a promise alone.

Cost: one evaluated lattice for the height, where it fits the memory limit (it is left out where it does not);
one local recoding per answer.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import LimitReached
from discreet.frequency.class_facts import FactCounter
from discreet.frequency.rollup import roll_up
from discreet.frequency.subject_rows import rows_for_subjects
from discreet.lattice.evaluate import evaluate_lattice, lattice_of
from discreet.local.recode import recode
from discreet.local.result import LocalRecoding
from discreet.model.frequency_set import FrequencySet
from discreet.model.judge import below
from discreet.model.lattice import Lattice, LatticeNode, height, tie_key
from discreet.model.monotone import require_growing
from discreet.model.negotiation import Relaxation
from discreet.model.request import Request, bounds_of
from discreet.model.requirement import Requirement
from discreet.settings import Settings


@dataclass(frozen=True)
class LocalAnswer:
    """A local recoding that satisfies the request, or the request with one part relaxed.

    ``node`` holds the greatest levels that were allowed.
    """

    relaxed: str | None
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
            **self.requirement.as_json(),
            "suppressed": self.found.suppressed,
            "classes": self.found.classes,
            "granularity": self.found.granularity,
            **proven,
        }


@dataclass(frozen=True)
class LocalNegotiation:
    """The exact answer alone, or the relaxations in the order of ``model.negotiation.relaxations_of``."""

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

    def relaxation(self, relaxed: str) -> LocalAnswer | None:
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
    shown, weights, and so on. Raises ``InputError`` for levels out of range or that cross, for a request that
    asks nothing, and for a criterion that is not growing.
    """
    frequency_set = rows_for_subjects(frequency_set)
    lattice = lattice_of(frequency_set)
    requirement = request.requirement
    requirement.check(frequency_set.sensitive_attributes)
    require_growing(requirement, "negotiation by local recoding", advice="Negotiate without --model.")
    low, high = bounds_of(lattice, request)
    limit = request.max_suppressed.of(frequency_set.rows)
    at_high = _ClassesAt.of(frequency_set, requirement, high)

    def answer(relaxed: str | None, node: LatticeNode, asked: Requirement, most: int) -> LocalAnswer:
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
    for name in requirement.names:
        weaker = requirement.relaxed(name, at_high.largest(requirement, name, limit))
        if weaker is not None:
            answers.append(answer(name, high, weaker, limit))
    return LocalNegotiation(lattice, frequency_set.rows, tuple(answers))


@dataclass(frozen=True, eq=False)
class _ClassesAt:
    """The classes of one node: rows, and the scores by each criterion of a requirement, in its order."""

    sensitive: tuple[str, ...]
    rows: NDArray[np.int64]
    scores: tuple[NDArray[np.int64], ...]

    @classmethod
    def of(cls, frequency_set: FrequencySet, requirement: Requirement, node: LatticeNode) -> _ClassesAt:
        counter = FactCounter.of(frequency_set, requirement)
        counted = roll_up(frequency_set, node)
        facts = counter.at_node(counted)
        return cls(
            frequency_set.sensitive_attributes,
            counted.counts,
            tuple(bound.scores(facts) for bound in counter.bound),
        )

    def suppressed(self, requirement: Requirement) -> int:
        """Rows of the classes that fail the requirement, or one with other values of its parameters."""
        return self._below([one.criterion.threshold for one in requirement.bound(self.sensitive)])

    def largest(self, requirement: Requirement, name: str, limit: int) -> int | None:
        """The largest score within the limit, no criterion of that name above its own; None where none is."""
        own = [one.criterion for one in requirement.bound(self.sensitive)]
        places = [i for i, criterion in enumerate(own) if criterion.name == name]

        def too_large(score: int) -> bool:
            capped = [min(c.threshold, score) if c.name == name else c.threshold for c in own]
            return self._below(capped) > limit

        # More rows fail only once the threshold has passed a class's score: no other number need be tried.
        found = np.unique(np.concatenate([self.scores[place] for place in places])).tolist()
        first = bisect_left(found, True, key=too_large)
        return found[first - 1] if first else None

    def _below(self, thresholds: Sequence[int | None]) -> int:
        return int(self.rows[below(self.scores, thresholds)].sum())


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
            frequency_set, settings, diversity=False, criteria=requirement.criteria, notice=notice
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
