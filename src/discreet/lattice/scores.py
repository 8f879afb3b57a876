"""Which scores of a class an evaluated lattice knows, and how the numpy twin counts the further ones."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InternalError
from discreet.kernels.rotation_twin import Groups, Scoring
from discreet.model.class_facts import ClassFacts, ClassValues
from discreet.model.counted_values import check_counted
from discreet.model.criteria.base import Bound, Criterion, Need, Score, bind
from discreet.model.criteria.distinct_diversity import DistinctDiversity
from discreet.model.criteria.k_anonymity import KAnonymity
from discreet.model.frequency_set import FrequencySet
from discreet.model.requirement import Requirement
from discreet.model.sensitive_attribute import SensitiveAttribute


def further_bounds(criteria: Iterable[Criterion], table: FrequencySet) -> tuple[Bound, ...]:
    """One criterion for each score that is neither of sizes nor of distinct values, attribute by attribute.

    ``InputError`` for an attribute that is not sensitive in the table, and for a criterion of rows by value
    where the table does not hold them.
    """
    plain = scores_of(table.sensitive_attributes)
    found: dict[Score, Bound] = {}
    for bound in bind(tuple(criteria), table.sensitive_attributes):
        if bound.criterion.score not in plain:
            check_counted(bound, table)
            found.setdefault(bound.criterion.score, bound)
    return tuple(found.values())


def scores_of(sensitive: Sequence[str], further: Sequence[Bound] = ()) -> tuple[Score, ...]:
    """The scores of a signature's parts: sizes, distinct values by sensitive attribute, the further ones."""
    distinct = (Score(DistinctDiversity, attribute) for attribute in sensitive)
    return (Score(KAnonymity), *distinct, *(bound.criterion.score for bound in further))


def places_of_counts(further: Iterable[Bound]) -> frozenset[int]:
    """The sensitive attributes whose rows by value the further scores ask for, by place."""
    return frozenset(
        bound.place for bound in further if bound.place is not None and bound.criterion.need is Need.COUNTS
    )


def scorings(further: Sequence[Bound], table: FrequencySet) -> tuple[Scoring, ...]:
    """What the numpy twin calls at every node, for each further score."""
    whole = [sets.of for sets in table.sensitive]

    def scoring(bound: Bound) -> Scoring:
        return lambda groups: _scores(bound, _facts(groups, whole))

    return tuple(map(scoring, further))


def _scores(bound: Bound, facts: ClassFacts) -> NDArray[np.int64]:
    found = bound.scores(facts)
    if found.shape != facts.sizes.shape or found.dtype.kind not in "iu":
        raise InternalError(f"{bound.criterion.name} tells no whole number of each class")
    return found


@lru_cache(maxsize=256)
def relaxing(
    requirement: Requirement, name: str, scores: tuple[Score, ...], sensitive: tuple[str, ...]
) -> tuple[tuple[int | None, ...], tuple[int, ...]]:
    """Thresholds of a signature's parts, and the parts that one number bounds where a criterion is relaxed.

    The parts are all that the criterion asks for, none above its own threshold; a single one of whole classes
    is not held to its own, so that what is found may lie above it.
    """
    thresholds = list(requirement.thresholds(scores, sensitive))
    parts = tuple(
        place
        for place, score in enumerate(scores)
        if score.criterion.name == name and thresholds[place] is not None
    )
    if len(parts) == 1 and not scores[parts[0]].criterion.of_attribute:
        thresholds[parts[0]] = None
    return tuple(thresholds), parts


def _facts(groups: Groups, whole: Sequence[SensitiveAttribute | None]) -> ClassFacts:
    values = []
    for distinct, sets, of in zip(groups.distinct, groups.sets, whole, strict=True):
        if sets.counts is None:
            values.append(ClassValues(distinct))
        else:
            values.append(ClassValues(distinct, sets.group, sets.codes, sets.counts, of))
    return ClassFacts(groups.sizes, tuple(values))
