"""Oracles for every node of a small lattice under criteria of classes and of the whole release."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from discreet.model.criteria.base import Criterion
from discreet.model.criteria.k_anonymity import HighestRisk
from discreet.model.criteria.lkc_privacy import LKCPrivacy
from discreet.model.criteria.release_shares import AverageRisk, RecordsAtRisk, SampleUniques
from discreet.model.frequency_set import FrequencySet
from discreet.model.lattice import LatticeNode
from discreet.model.request import Request
from discreet.model.requirement import Requirement
from tests.criteria.plain_cells import plain_left
from tests.criteria.plain_release import plain_rest, plain_score, rests_of
from tests.negotiation.conftest import table_and_request
from tests.oracle.plain_criteria import MostRows, classes_at, plain_class
from tests.oracle.scored_lattice import ScoredLattice, random_requirement


class ReleasedLattice(ScoredLattice):
    """Every node's classes, with some suppressed for criteria of the release."""

    def suppressed(
        self, node: LatticeNode, requirement: Requirement, name: str = "", cap: int = 2**62
    ) -> int:
        """Count the rows of failing classes, and of the smallest others until the release's criteria hold."""
        return self.rows - sum(plain_rest(self.whole(node, requirement, name, cap), requirement, name, cap))

    def scores_of(self, name: str) -> set[int]:
        """Return every score of a class, or for a release criterion of any part of any node's classes."""
        found = super().scores_of(name)
        for criterion in self.criteria:
            if criterion.name == name and criterion.of_release:
                for node in self.nodes:
                    for rest in rests_of(self.whole(node, Requirement(criteria=self.criteria))):
                        found.add(plain_score(criterion, rest))
        return found

    def whole(
        self, node: LatticeNode, requirement: Requirement, name: str = "", cap: int = 2**62
    ) -> list[int]:
        """Return the sizes of the classes that pass every class criterion."""
        criteria = requirement.of_classes
        return [rows for rows, scores in self.classes[node] if not self._fails(scores, criteria, name, cap)]

    def _scores(self, types: list[int]) -> dict[tuple[str, str | None], int]:
        found = super()._scores(types)
        return found | {("highest_risk", None): found["k", None]}


def random_release(random: np.random.Generator, table: FrequencySet, *, classes: bool = True) -> Requirement:
    """Return one or two criteria of a release, with or without criteria of classes."""
    of_release = [
        AverageRisk(float(random.choice([0.05, 0.1, 0.2, 0.25, 0.5]))),
        RecordsAtRisk(float(random.choice([0, 0.1, 0.3])), above=float(random.choice([0.1, 0.2, 0.34]))),
        SampleUniques(float(random.choice([0, 0.05, 0.2]))),
    ]
    few = [of_release[i] for i in random.permutation(3)[: int(random.integers(1, 3))].tolist()]
    of_classes: list[Criterion] = [HighestRisk(0.5)] if random.random() < 0.2 else []
    if not classes:
        return Requirement(criteria=(*of_classes, *few))
    requirement = random_requirement(random, table) if random.random() < 0.6 else Requirement()
    others = [c for c in requirement.criteria if not isinstance(c, MostRows)]
    return Requirement(criteria=(*others, *of_classes, *few))


def random_lkc(random: np.random.Generator, table: FrequencySet) -> LKCPrivacy:
    confidence = float(random.choice([0.4, 0.5, 2 / 3, 0.9])) if table.sensitive else 1.0
    if random.random() < 0.5:
        confidence = 1.0
    return LKCPrivacy(
        int(random.integers(1, 13)), known=int(random.integers(1, 5)), confidence=round(confidence, 4)
    )


class CellsLattice(ScoredLattice):
    """Every node's classes, with some suppressed because of their groups."""

    def suppressed(
        self, node: LatticeNode, requirement: Requirement, name: str = "", cap: int = 2**62
    ) -> int:
        """Count the rows of failing classes, and of those in failing groups of the others."""
        criterion = requirement.of_cells
        assert criterion is not None
        assert isinstance(criterion, LKCPrivacy)
        criteria = requirement.of_classes
        classes = [
            plain_class(self.table, node, types)
            for types, (_, scores) in zip(classes_at(self.table, node), self.classes[node], strict=True)
            if not self._fails(scores, criteria, name, cap)
        ]
        value = min(criterion.threshold, cap) if name == criterion.name else criterion.threshold
        return self.rows - sum(len(classes[i].rows) for i in plain_left(criterion, classes, value))

    def scores_of(self, name: str) -> set[int]:
        """Return every value to which a criterion of groups may be lowered."""
        return set(range(12)) if name == LKCPrivacy.name else super().scores_of(name)


def random_request_of(
    kind: str, seed: int, *, classes: bool = True
) -> tuple[FrequencySet, Request, ReleasedLattice | CellsLattice]:
    """Return a random table, a request with a criterion of the release, and the oracle.

    The ``kind`` of criterion is of ``sizes`` or of ``cells``.
    """
    table, request = table_and_request(seed)
    random = np.random.default_rng(seed)
    if kind == "sizes":
        requirement = random_release(random, table, classes=classes)
        return table, replace(request, requirement=requirement), ReleasedLattice(table, requirement.criteria)
    others = random_requirement(random, table).criteria if random.random() < 0.6 else ()
    requirement = Requirement(criteria=(*others, random_lkc(random, table)))
    return table, replace(request, requirement=requirement), CellsLattice(table, requirement.criteria)
