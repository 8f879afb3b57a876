"""Which classes fail a requirement: the one judge in arrays.

Whatever counts classes hands their facts over; nobody else compares them with a threshold. The compiled
kernels have a judge of their own, the engines one in SQL, and the audit its own by intent
(docs/decisions/0005).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError
from discreet.model.class_facts import ClassFacts
from discreet.model.criteria.base import Bound, Criterion
from discreet.model.criteria.of_cells import CellsCriterion
from discreet.model.criteria.of_release import ReleaseCriterion
from discreet.model.size_tails import SizeTails

NOTHING_LEFT = 2**62
"""The least size that stays where every class is suppressed."""


def failing(bound: Sequence[Bound], facts: ClassFacts) -> NDArray[np.bool_]:
    """Whether each class fails one of the criteria, shape ``(classes,)``.

    ``InputError`` for a criterion of a whole release, of which ``suppressed`` judges.
    """
    fails = np.zeros(facts.classes, np.bool_)
    for one in bound:
        if one.criterion.of_release:
            raise of_release_refused(one.criterion, "what judges classes one by one")
        fails |= one.scores(facts) < one.criterion.threshold
    return fails


def suppressed(bound: Sequence[Bound], facts: ClassFacts) -> NDArray[np.bool_]:
    """Whether each class goes, where ``facts`` are of all classes of a table: a release, if nothing did.

    Those that fail go, and then, by a rule of its own, whatever a criterion of the release takes away
    (``model.criteria.of_release``, ``model.criteria.of_cells``). Where a criterion judges what is suppressed
    and that fails, all go.
    """
    fails = failing([one for one in bound if not one.criterion.of_release], facts)
    fails = _of_release(bound, facts, fails)
    rest = [one.criterion for one in bound if one.criterion.of_rest]
    if rest and facts.population is not None:
        rows = facts.sizes[fails].sum(keepdims=True)
        people = facts.population.people[fails & (facts.sizes > 0)].sum(keepdims=True)
        for criterion in rest:
            fails |= criterion.rest_fails(criterion.threshold, rows, people + facts.population.absent)
    return fails


def _of_release(bound: Sequence[Bound], facts: ClassFacts, fails: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """The classes that fail, and those that go for the release's sake."""
    check_together(tuple(one.criterion for one in bound))
    for one in bound:
        if isinstance(one.criterion, CellsCriterion):
            threshold = one.criterion.threshold
            return fails | (one.criterion.scores_among(facts, ~fails, threshold) < threshold)
    criteria = [one.criterion for one in bound if isinstance(one.criterion, ReleaseCriterion)]
    if not criteria:
        return fails
    return fails | (facts.sizes < least_size(criteria, facts.sizes[~fails]))


@lru_cache(maxsize=1024)
def check_together(criteria: tuple[Criterion, ...]) -> None:
    """Raise ``InputError`` for criteria of the release of which each suppresses classes the other rests on.

    What is published already may be asked of all of them.
    """
    kinds = (
        [criterion for criterion in criteria if isinstance(criterion, CellsCriterion)],
        [criterion for criterion in criteria if isinstance(criterion, ReleaseCriterion)],
        [criterion for criterion in criteria if criterion.of_rest],
    )
    first, *others = [kind for kind in kinds if kind] or [[]]
    if others or len(kinds[0]) > 1:
        other = others[0][0] if others else kinds[0][1]
        raise InputError(
            f"{first[0]} and {other} together: each suppresses classes that the other rests on",
            allowed="one of them, beside any criteria of single classes",
        )


def least_size(criteria: Sequence[ReleaseCriterion], sizes: NDArray[np.int64]) -> int:
    """The least size of a class that stays, of classes none of which fails by itself."""
    sizes = sizes[sizes > 0]
    tails = SizeTails.of_classes(sizes)
    place = int(tails.first(holding(criteria, tails))[0])
    return NOTHING_LEFT if place < 0 else int(tails.sizes[place])


def holding(criteria: Sequence[ReleaseCriterion], tails: SizeTails) -> NDArray[np.bool_]:
    """Whether each tail meets every criterion, shape ``(entries,)``."""
    holds = np.ones(len(tails.sizes), np.bool_)
    for criterion in criteria:
        holds &= criterion.tail_scores(tails) >= criterion.threshold
    return holds


def of_release_refused(criterion: Criterion, who: str, advice: str | None = None) -> InputError:
    """What refuses a criterion of the whole release; ``who`` looks at fewer classes than all."""
    return InputError(
        f"{criterion} of {who}: {criterion.title} is judged on all classes of a release together",
        allowed="criteria of single classes",
        advice=advice or "Negotiate over the lattice, or search by optimal or exhaustive.",
    )


def below(signatures: Sequence[NDArray[np.integer]], thresholds: Sequence[int | None]) -> NDArray[np.bool_]:
    """Whether classes of known scores fail; ``thresholds[i]`` is asked of the scores ``signatures[i]``."""
    fails = np.zeros(len(signatures[0]) if len(signatures) else 0, np.bool_)
    for scores, least in zip(signatures, thresholds, strict=True):
        if least is not None:
            fails |= scores < least
    return fails
