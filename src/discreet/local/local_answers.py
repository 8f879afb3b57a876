"""Answers to a request by local recoding: the requested levels, or the smallest relaxations.

Within greatest levels, each class of a recoding is contained in one class of the node of those levels. The
fewest rows to suppress are therefore those of the failing classes of that node, and this number is known
before a search. If the suppression limit is not met, each part of the request is relaxed in turn (after
``negotiation.negotiator``; the future work of Pilalidou and Vassiliadis): ``max_suppressed``, ``height``,
and each criterion by its name. Criteria must be growing (``model.requirement.is_growing``). Each answer is
then searched and its recoding counted.

Cost: one evaluated lattice for the height (skipped if it does not fit the memory limit), and one local
recoding per answer.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import LimitReached
from discreet.frequency.class_requirement import require_one_row_per_subject
from discreet.frequency.fact_counter import FactCounter
from discreet.frequency.rollup import roll_up
from discreet.lattice.evaluation import build_lattice, evaluate_lattice
from discreet.local.cell_generalization import generalize_cells
from discreet.local.local_recoding import LocalRecoding
from discreet.model.frequency_set import FrequencySet
from discreet.model.lattice import Lattice, LatticeNode, tie_break_key
from discreet.model.request import Request, node_bounds
from discreet.model.requirement import Requirement, require_growing, threshold_mask
from discreet.model.search_result import Answer, Negotiation, Relaxation
from discreet.settings import Settings


@dataclass(frozen=True)
class LocalAnswer(Answer):
    """Local recoding that satisfies the request, or the request with one part relaxed.

    ``node`` contains the greatest allowed levels.
    """

    local_recoding: LocalRecoding

    def as_json(self, lattice: Lattice) -> dict[str, Any]:
        """Return the form of a negotiation's answer, with classes, granularity, and the bound if any."""
        found = self.local_recoding
        return {
            **super().as_json(lattice),
            "classes": found.classes,
            "granularity": found.granularity,
            **({} if found.bound is None else {"bound": found.bound, "gap": found.gap}),
        }


@dataclass(frozen=True)
class LocalNegotiation(Negotiation):
    """Exact answer only, or the relaxations in the order of ``model.search_result.relaxable_names``."""

    answers: tuple[LocalAnswer, ...]

    @property
    def exact(self) -> LocalAnswer | None:
        """Exact answer, or None."""
        return next((a for a in self.answers if a.relaxed is None), None)

    def relaxation(self, relaxed: str) -> LocalAnswer | None:
        """Return the answer that relaxes one part, or None if that relaxation has no solution."""
        return next((a for a in self.answers if a.relaxed == relaxed), None)

    def as_json(self) -> dict[str, Any]:
        """Return the document of ``discreet negotiate --model local --json``."""
        answers = [answer.as_json(self.lattice) for answer in self.answers]
        return {**super().as_json(), "model": "cell-generalization", "answers": answers}


def negotiate_local(
    frequency_set: FrequencySet,
    request: Request,
    settings: Settings,
    *,
    notice: Callable[[str], None] | None = None,
    **options: Any,
) -> LocalNegotiation:
    """Return the exact answer to a request by local recoding, or its relaxations.

    ``options`` are the options of ``local.cell_generalization.generalize_cells`` that a request does not
    contain: effort, seed, time_budget, summary, weights, and so on. Raises ``InputError`` for levels out of
    range or in the wrong order, for a request without a requirement, and for a criterion that is not
    growing.
    """
    frequency_set = require_one_row_per_subject(frequency_set)
    lattice = build_lattice(frequency_set)
    requirement = request.requirement
    requirement.check(frequency_set.sensitive_attributes)
    require_growing(requirement, "negotiation by local recoding", advice="Negotiate without --model.")
    low, high = node_bounds(lattice, request)
    limit = request.max_suppressed.of(frequency_set.rows)
    at_high = _NodeClasses.of(frequency_set, requirement, high)

    def answer(relaxed: str | None, node: LatticeNode, requested: Requirement, most: int) -> LocalAnswer:
        local_recoding = generalize_cells(
            frequency_set,
            requested,
            settings,
            min_node=low,
            max_node=node,
            limit=most,
            notice=notice,
            **options,
        )
        return LocalAnswer(relaxed, node, requested, local_recoding.suppressed, local_recoding)

    fewest = at_high.suppressed(requirement)
    if fewest <= limit and fewest < frequency_set.rows:
        return LocalNegotiation(lattice, frequency_set.rows, (answer(None, high, requirement, limit),))
    answers = []
    if fewest < frequency_set.rows:
        answers.append(answer(Relaxation.MAX_SUPPRESSED, high, requirement, fewest))
    raised = _raise_greatest_levels(frequency_set, requirement, high, limit, settings, notice)
    if raised is not None:
        answers.append(answer(Relaxation.HEIGHT, raised, requirement, limit))
    for name in requirement.names:
        weaker = requirement.relaxed(name, at_high.largest(requirement, name, limit))
        if weaker is not None:
            answers.append(answer(name, high, weaker, limit))
    return LocalNegotiation(lattice, frequency_set.rows, tuple(answers))


@dataclass(frozen=True, eq=False)
class _NodeClasses:
    """Classes of one node: rows, and the scores of each criterion of a requirement, in its order."""

    sensitive: tuple[str, ...]
    rows: NDArray[np.int64]
    scores: tuple[NDArray[np.int64], ...]

    @classmethod
    def of(cls, frequency_set: FrequencySet, requirement: Requirement, node: LatticeNode) -> _NodeClasses:
        counter = FactCounter.of(frequency_set, requirement)
        counted = roll_up(frequency_set, node)
        facts = counter.at_node(counted)
        return cls(
            frequency_set.sensitive_attributes,
            counted.counts,
            tuple(bound.scores(facts) for bound in counter.bound),
        )

    def suppressed(self, requirement: Requirement) -> int:
        """Return the rows of the classes that fail the requirement, which may have other parameter values."""
        return self._below([one.criterion.threshold for one in requirement.bound(self.sensitive)])

    def largest(self, requirement: Requirement, name: str, limit: int) -> int | None:
        """Return the largest score of a criterion within the suppression limit, or None if there is none.

        A score above the threshold of a criterion of that name does not raise its threshold.
        """
        own = [one.criterion for one in requirement.bound(self.sensitive)]
        places = [i for i, criterion in enumerate(own) if criterion.name == name]

        def too_large(score: int) -> bool:
            capped = [min(c.threshold, score) if c.name == name else c.threshold for c in own]
            return self._below(capped) > limit

        # More rows fail only if the threshold exceeds a further class's score, so only scores are tried.
        values = np.unique(np.concatenate([self.scores[index] for index in places])).tolist()
        first = bisect_left(values, True, key=too_large)
        return values[first - 1] if first else None

    def _below(self, thresholds: Sequence[int | None]) -> int:
        return int(self.rows[threshold_mask(self.scores, thresholds)].sum())


def _raise_greatest_levels(
    frequency_set: FrequencySet,
    requirement: Requirement,
    high: LatticeNode,
    limit: int,
    settings: Settings,
    notice: Callable[[str], None] | None,
) -> LatticeNode | None:
    """Return the lowest node at or above ``high`` that suppresses at most ``limit`` rows, but not all.

    Return None if there is none, or if the lattice does not fit the memory limit.
    """
    try:
        evaluated = evaluate_lattice(
            frequency_set, settings, diversity=False, criteria=requirement.criteria, notice=notice
        )
    except LimitReached:
        if notice is not None:
            notice("raising the greatest levels was skipped: the lattice exceeds the memory limit")
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
    return min((lattice.node(int(node)) for node in chosen), key=tie_break_key)
