"""Which scores of a class an evaluated lattice knows, and how the numpy twin counts the further ones."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InternalError
from discreet.kernels.node_collector import Groups, Scoring
from discreet.model.class_facts import ClassFacts, ClassPopulation, ClassValues
from discreet.model.counted_values import check_counted
from discreet.model.criteria.base import Bound, Criterion, Need, Score, bind
from discreet.model.criteria.counts import SIZE, distinct_of
from discreet.model.criteria.of_cells import CellsCriterion, Rule, peeled
from discreet.model.frequency_set import FrequencySet
from discreet.model.judge import below
from discreet.model.requirement import Requirement
from discreet.model.sensitive_attribute import SensitiveAttribute


def further_bounds(criteria: Iterable[Criterion], table: FrequencySet) -> tuple[Bound, ...]:
    """One criterion for each score that is neither of sizes nor of distinct values, attribute by attribute.

    Those that sizes tell, as all of the whole release, are left out.

    ``InputError`` for an attribute that is not sensitive in the table, and for a criterion of rows by value
    where the table does not hold them.
    """
    plain = scores_of(table.sensitive_attributes)
    found: dict[Score, Bound] = {}
    for bound in bind(tuple(criteria), table.sensitive_attributes):
        check_counted(bound, table)
        if bound.criterion.counted not in plain:
            found.setdefault(bound.criterion.score, bound)
    return tuple(found.values())


def scores_of(sensitive: Sequence[str], further: Sequence[Bound] = ()) -> tuple[Score, ...]:
    """The scores of a signature's parts: sizes, distinct values by sensitive attribute, the further ones."""
    return (SIZE, *map(distinct_of, sensitive), *(bound.criterion.score for bound in further))


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


@dataclass(frozen=True)
class CellsScores:
    """The score of a criterion of cells, where ``thresholds`` are asked of the other parts of a signature.

    ``further`` are the parts beside sizes and distinct values; ``rule`` tells scores up to
    ``most``, and larger ones as that.
    """

    criterion: CellsCriterion
    thresholds: tuple[int | None, ...]
    further: tuple[Bound, ...]
    most: int
    rule: Rule = peeled

    @property
    def places_of_counts(self) -> frozenset[int]:
        """The sensitive attributes whose rows by value are asked for, by place."""
        if self.criterion.of_every_attribute:
            return frozenset(range(len(self.thresholds) - len(self.further) - 1))
        return places_of_counts(bound for bound, _ in self._asked)

    def of(self, facts: ClassFacts) -> NDArray[np.int64]:
        """Of all classes of a node."""
        distinct = [values.distinct for values in facts.values if values is not None]
        plain = len(self.thresholds) - len(self.further)
        columns = [facts.sizes, *distinct, *(_scores(bound, facts) for bound, _ in self._asked)]
        asked = (*self.thresholds[:plain], *(least for _, least in self._asked))
        return self.criterion.scores_among(facts, ~below(columns, asked), self.most, self.rule)

    def scoring(self, table: FrequencySet) -> Scoring:
        """What the numpy twin calls at every node."""
        whole = [sets.of for sets in table.sensitive]
        return lambda groups: self.of(_facts(groups, whole, cells_too=True))

    @property
    def _asked(self) -> list[tuple[Bound, int]]:
        """The further parts of which something is asked."""
        least = self.thresholds[len(self.thresholds) - len(self.further) :]
        return [(bound, t) for bound, t in zip(self.further, least, strict=True) if t is not None]


def _scores(bound: Bound, facts: ClassFacts) -> NDArray[np.int64]:
    found = bound.scores(facts)
    if found.shape != facts.sizes.shape or found.dtype.kind not in "iu":
        raise InternalError(f"{bound.criterion.name} tells no whole number of each class")
    return found


@dataclass(frozen=True)
class Relaxing:
    """What a look-up needs to relax the criteria of a name.

    ``thresholds`` are of a signature's parts, and ``parts`` those that one number bounds: all that the
    criteria ask for, none above its own threshold; a single one of whole classes is not held to its own, so
    that what is found may lie above it. No number below ``least`` is of use, as another criterion asks so
    much of the part.
    """

    thresholds: tuple[int | None, ...]
    parts: tuple[int, ...]
    least: int | None = None

    def asking(self, score: int | None) -> tuple[int | None, ...]:
        """Thresholds where the parts are asked this, none above its own; None asks nothing of them."""
        asked = list(self.thresholds)
        for part in self.parts:
            own = self.thresholds[part]
            asked[part] = score if own is None or score is None else min(own, score)
        return tuple(asked)

    def reached(self, found: int | None) -> int | None:
        """What was found, if it is of use."""
        return None if found is None or (self.least is not None and found < self.least) else found


@lru_cache(maxsize=256)
def relaxing(
    requirement: Requirement, name: str, scores: tuple[Score, ...], sensitive: tuple[str, ...]
) -> Relaxing:
    """How to look for what the criteria of a name, which are of classes, can be relaxed to."""
    thresholds = list(requirement.thresholds(scores, sensitive))
    asked = {one.criterion.counted for one in requirement.bound(sensitive) if one.criterion.name == name}
    parts = tuple(place for place, score in enumerate(scores) if score in asked)
    if len(parts) != 1 or scores[parts[0]].criterion.of_attribute:
        return Relaxing(tuple(thresholds), parts)
    others = Requirement(criteria=(c for c in requirement.criteria if c.name != name))
    thresholds[parts[0]] = None
    return Relaxing(tuple(thresholds), parts, others.thresholds(scores, sensitive)[parts[0]])


def _facts(
    groups: Groups, whole: Sequence[SensitiveAttribute | None], *, cells_too: bool = False
) -> ClassFacts:
    values = []
    for distinct, sets, of in zip(groups.distinct, groups.sets, whole, strict=True):
        if sets.counts is None:
            values.append(ClassValues(distinct))
        else:
            values.append(ClassValues(distinct, sets.group, sets.codes, sets.counts, of))
    cells = None if groups.cells is None or not cells_too else groups.cells()
    return ClassFacts(groups.sizes, tuple(values), _population(groups), cells)


def _population(groups: Groups) -> ClassPopulation | None:
    if groups.people is None:
        return None
    return ClassPopulation(groups.people, absent=int(groups.people[groups.sizes == 0].sum()))
