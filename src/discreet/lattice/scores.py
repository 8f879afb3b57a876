"""Scores of classes that an evaluated lattice contains, and one node's histogram with exact scores.

Binds criteria to the parts of a signature, evaluates them in the numpy twin, and determines which parts a
relaxation changes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InternalError
from discreet.kernels.histograms import (
    SMALL_LIMIT,
    Histograms,
    NodeGroups,
    ScoreFunction,
    cap_thresholds,
)
from discreet.model.criteria.base import BoundCriterion, Criterion, Need, ScoreKey, bind_criteria
from discreet.model.criteria.registry import SIZE_SCORE, distinct_score
from discreet.model.criteria.release_level import CellsCriterion, PeelingRule, peel_classes
from discreet.model.criterion_inputs import ClassPopulation, ClassStatistics, ClassValues, SensitiveAttribute
from discreet.model.frequency_set import FrequencySet, ValueSets
from discreet.model.lattice import LatticeNode
from discreet.model.requirement import Requirement, check_value_counts, threshold_mask


def bind_further_scores(criteria: Iterable[Criterion], table: FrequencySet) -> tuple[BoundCriterion, ...]:
    """Return one criterion per score that is neither size nor distinct values, attribute by attribute.

    Scores that follow from sizes, such as all of the whole release, are omitted.

    Raises ``InputError`` for an attribute that is not sensitive in the table, and for a criterion that needs
    rows by value if the table does not contain them.
    """
    plain = list_scores(table.sensitive_attributes)
    found: dict[ScoreKey, BoundCriterion] = {}
    for bound in bind_criteria(tuple(criteria), table.sensitive_attributes):
        check_value_counts(bound, table)
        if bound.criterion.counted not in plain:
            found.setdefault(bound.criterion.score, bound)
    return tuple(found.values())


def list_scores(sensitive: Sequence[str], further: Sequence[BoundCriterion] = ()) -> tuple[ScoreKey, ...]:
    """Return the scores of a signature's parts: size, distinct values per attribute, further ones."""
    return (SIZE_SCORE, *map(distinct_score, sensitive), *(bound.criterion.score for bound in further))


def find_counted_attributes(further: Iterable[BoundCriterion]) -> frozenset[int]:
    """Return the indices of the sensitive attributes whose rows by value the further scores need."""
    return frozenset(
        bound.index for bound in further if bound.index is not None and bound.criterion.need is Need.COUNTS
    )


def make_score_functions(further: Sequence[BoundCriterion], table: FrequencySet) -> tuple[ScoreFunction, ...]:
    """Return the functions that the numpy twin calls at every node, one for each further score."""
    attributes = [sets.of for sets in table.sensitive]

    def scoring(bound: BoundCriterion) -> ScoreFunction:
        return lambda groups: _checked_scores(bound, _class_facts(groups, attributes))

    return tuple(map(scoring, further))


@dataclass(frozen=True)
class CellsScore:
    """Score of a criterion of cells under ``thresholds`` of the other parts of a signature.

    ``further`` are the parts that are neither sizes nor distinct values. ``rule`` computes scores up to
    ``most``; larger ones are reported as ``most``.
    """

    criterion: CellsCriterion
    thresholds: tuple[int | None, ...]
    further: tuple[BoundCriterion, ...]
    most: int
    rule: PeelingRule = peel_classes

    @property
    def places_of_counts(self) -> frozenset[int]:
        """Indices of the sensitive attributes whose rows by value are needed."""
        if self.criterion.of_every_attribute:
            return frozenset(range(len(self.thresholds) - len(self.further) - 1))
        return find_counted_attributes(bound for bound, _ in self._judged)

    def of(self, facts: ClassStatistics) -> NDArray[np.int64]:
        """Return the scores of all classes of a node."""
        distinct = [values.distinct for values in facts.values if values is not None]
        plain = len(self.thresholds) - len(self.further)
        columns = [facts.sizes, *distinct, *(_checked_scores(bound, facts) for bound, _ in self._judged)]
        required = (*self.thresholds[:plain], *(least for _, least in self._judged))
        return self.criterion.scores_among(facts, ~threshold_mask(columns, required), self.most, self.rule)

    def scoring(self, table: FrequencySet) -> ScoreFunction:
        """Return the function that the numpy twin calls at every node."""
        attributes = [sets.of for sets in table.sensitive]
        return lambda groups: self.of(_class_facts(groups, attributes, cells_too=True))

    @property
    def _judged(self) -> list[tuple[BoundCriterion, int]]:
        """Further parts that have a threshold."""
        least = self.thresholds[len(self.thresholds) - len(self.further) :]
        return [(bound, t) for bound, t in zip(self.further, least, strict=True) if t is not None]


def _checked_scores(bound: BoundCriterion, facts: ClassStatistics) -> NDArray[np.int64]:
    result = bound.scores(facts)
    if result.shape != facts.sizes.shape or result.dtype.kind not in "iu":
        raise InternalError(f"{bound.criterion.name}: scores must be one integer per class")
    return result


@dataclass(frozen=True)
class ScoreRelaxation:
    """Signature parts and thresholds for relaxing the criteria of one name.

    ``thresholds`` applies to a signature's parts. ``parts`` are those that the relaxed score bounds, each at
    most at its own threshold; a single criterion of whole classes is not limited by its own threshold, so
    that the result may be above it. A score below ``least`` is useless, because another criterion requires
    ``least`` of the same part.
    """

    thresholds: tuple[int | None, ...]
    parts: tuple[int, ...]
    least: int | None = None

    def thresholds_for(self, score: int | None) -> tuple[int | None, ...]:
        """Return the thresholds for a score of the parts, none above its own; None removes the parts' own."""
        return cap_thresholds(self.thresholds, self.parts, score)

    def reached(self, score: int | None) -> int | None:
        """Return the found score, or None if it is below ``least``."""
        return None if score is None or (self.least is not None and score < self.least) else score


@lru_cache(maxsize=256)
def resolve_relaxation(
    requirement: Requirement, name: str, scores: tuple[ScoreKey, ...], sensitive: tuple[str, ...]
) -> ScoreRelaxation:
    """Determine parts and thresholds for relaxing the class criteria named ``name``."""
    thresholds = list(requirement.thresholds(scores, sensitive))
    scores_required = {
        one.criterion.counted for one in requirement.bound(sensitive) if one.criterion.name == name
    }
    parts = tuple(index for index, score in enumerate(scores) if score in scores_required)
    if len(parts) != 1 or scores[parts[0]].criterion.of_attribute:
        return ScoreRelaxation(tuple(thresholds), parts)
    others = Requirement(criteria=(c for c in requirement.criteria if c.name != name))
    thresholds[parts[0]] = None
    return ScoreRelaxation(tuple(thresholds), parts, others.thresholds(scores, sensitive)[parts[0]])


def _class_facts(
    groups: NodeGroups, attributes: Sequence[SensitiveAttribute | None], *, cells_too: bool = False
) -> ClassStatistics:
    values = []
    for distinct, sets, of in zip(groups.distinct, groups.sets, attributes, strict=True):
        if sets.counts is None:
            values.append(ClassValues(distinct))
        else:
            values.append(ClassValues(distinct, sets.group, sets.codes, sets.counts, of))
    cells = None if groups.cells is None or not cells_too else groups.cells()
    return ClassStatistics(groups.sizes, tuple(values), _population(groups), cells)


def _population(groups: NodeGroups) -> ClassPopulation | None:
    if groups.people is None:
        return None
    return ClassPopulation(groups.people, absent=int(groups.people[groups.sizes == 0].sum()))


def count_node_histogram(
    table: FrequencySet,
    node: LatticeNode,
    further: Sequence[BoundCriterion],
    last: CellsScore | None = None,
    people: NDArray[np.int64] | None = None,
) -> Histograms:
    """Compute the histogram of one node, with an entry per class and the scores of ``further``.

    ``last`` computes an additional score from all classes together; ``people`` is the population by row type.

    Rows are counted, so the table must have no subjects. Cost: a sort of the row types, and of the pairs of
    row type and value.
    """
    keys = np.zeros(table.row_types, np.int64)
    score_columns = []
    for hierarchy, level, codes in zip(table.hierarchies, node, table.codes.T, strict=True):
        at = hierarchy.level_map(level)[codes]
        score_columns.append(at)
        # Keys are renumbered densely after each attribute, so that no product exceeds 64 bits.
        keys = np.unique(keys * (int(at.max(initial=0)) + 1) + at, return_inverse=True)[1]
    number = int(keys.max(initial=-1)) + 1
    sizes = np.bincount(keys, table.counts, minlength=number).astype(np.int64)
    values = tuple(_class_values(sets, keys, number) for sets in table.sensitive)
    facts = ClassStatistics(sizes, values, _matching_people(people, keys, sizes))
    columns = [sizes, *(each.distinct for each in values), *(one.scores(facts) for one in further)]
    if last is not None:
        first = np.unique(keys, return_index=True)[1]
        columns.append(last.of(replace(facts, cells=np.stack(score_columns, axis=1)[first])))
    small = np.bincount(np.minimum(sizes, SMALL_LIMIT + 1), sizes, minlength=SMALL_LIMIT + 2)[:-1]
    return Histograms(
        classes=np.array([number]),
        small=np.cumsum(small).astype(np.int64)[np.newaxis],
        starts=np.zeros(1, np.int64),
        stops=np.array([number]),
        signatures=np.array(columns, np.int64),
        rows=sizes,
        partial=False,
        people=None if facts.population is None else facts.population.people,
        absent=None if facts.population is None else np.array([facts.population.absent]),
    )


def _matching_people(
    people: NDArray[np.int64] | None, class_of: NDArray[np.int64], sizes: NDArray[np.int64]
) -> ClassPopulation | None:
    if people is None:
        return None
    matching = np.bincount(class_of, people, minlength=len(sizes)).astype(np.int64)
    return ClassPopulation(matching, absent=int(matching[sizes == 0].sum()))


def _class_values(sets: ValueSets, class_of: NDArray[np.int64], classes: int) -> ClassValues:
    owners = np.repeat(class_of, np.diff(sets.offsets))
    pairs, inverse = np.unique(owners * max(sets.size, 1) + sets.codes, return_inverse=True)
    counts = None
    if sets.counts is not None:
        counts = np.bincount(inverse, sets.counts, minlength=len(pairs)).astype(np.int64)
    owners, codes = np.divmod(pairs, max(sets.size, 1))
    return ClassValues(np.bincount(owners, minlength=classes), owners, codes, counts, sets.of)
