"""Oracle: every node's classes with the score of each criterion, in plain Python.

Contains two toy criteria: ``Spread`` holds for every union with a class that meets it, and depends on values;
``FewValues`` is not monotone, and its scores are negative.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import product
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.model.criteria.base import Criterion, Need, Parameter
from discreet.model.criterion_inputs import ClassValues
from discreet.model.frequency_set import FrequencySet, ValueSets
from discreet.model.lattice import Lattice, LatticeNode
from discreet.model.requirement import Requirement
from tests.criteria_of_tests import Share
from tests.oracle.brute_lattice import entries, signature_of
from tests.oracle.plain_criteria import MostRows, classes_at


@dataclass(frozen=True)
class Spread(Criterion):
    """The largest code less the smallest one is at least ``value``."""

    name: ClassVar[str] = "spread"
    title: ClassVar[str] = "a spread of values"
    citation: ClassVar[str] = "of this test"
    parameter: ClassVar[Parameter] = Parameter("how far codes are apart", least=0)
    need: ClassVar[Need] = Need.COUNTS
    growing: ClassVar[bool] = True
    floor: ClassVar[float] = 1

    def scores(self, sizes: NDArray[np.int64], values: ClassValues | None) -> NDArray[np.int64]:
        """Return the difference; 0 for classes without values."""
        assert values is not None
        assert values.owners is not None
        assert values.codes is not None
        largest = np.full(len(sizes), -1)
        smallest = np.full(len(sizes), 10**6)
        np.maximum.at(largest, values.owners, values.codes)
        np.minimum.at(smallest, values.owners, values.codes)
        return np.where(largest < 0, 0, largest - smallest)


@dataclass(frozen=True)
class FewValues(Criterion):
    """At most ``value`` distinct values: two classes that pass may fail together."""

    name: ClassVar[str] = "few"
    title: ClassVar[str] = "few values"
    citation: ClassVar[str] = "of this test"
    parameter: ClassVar[Parameter] = Parameter("so many values at most")
    need: ClassVar[Need] = Need.COUNTS
    monotone: ClassVar[bool] = False
    floor: ClassVar[float] = 4

    def scores(self, sizes: NDArray[np.int64], values: ClassValues | None) -> NDArray[np.int64]:
        """Return the negated number of values."""
        del sizes
        assert values is not None
        return -values.distinct

    @property
    def threshold(self) -> int:
        """Return the negated value."""
        return -int(self.value)

    def value_of(self, score: int) -> int:
        """Return the number of values."""
        return -score


class ScoredLattice:
    """The classes of every node: rows, and a score by the criterion's name and attribute."""

    def __init__(self, table: FrequencySet, criteria: tuple[Criterion, ...]) -> None:
        self.table, self.criteria = table, criteria
        self.rows = int(sum(table.counts.tolist()))
        heights = tuple(len(h.labels) - 1 for h in table.hierarchies)
        self.lattice = Lattice(tuple(h.attribute for h in table.hierarchies), heights)
        self.nodes = list(product(*(range(height + 1) for height in heights)))
        self.classes = {
            node: [
                (int(sum(table.counts[i] for i in types)), self._scores(types))
                for types in classes_at(table, node)
            ]
            for node in self.nodes
        }

    def suppressed(
        self, node: LatticeNode, requirement: Requirement, name: str = "", cap: int = 2**62
    ) -> int:
        """Count the rows of failing classes; criteria of ``name`` require at most the score ``cap``."""
        return sum(rows for rows, scores in self.classes[node] if self._fails(scores, requirement, name, cap))

    def histogram(self, node: LatticeNode, further: tuple[Criterion, ...]) -> dict[tuple[int, ...], int]:
        """Return rows by size, distinct values by attribute, and the further criteria's scores."""
        found: Counter[tuple[int, ...]] = Counter()
        names = self.table.sensitive_attributes
        for rows, scores in self.classes[node]:
            plain = [scores["k", None], *(scores["l", name] for name in names)]
            found[*plain, *(scores[c.name, c.attribute] for c in further)] += rows
        return dict(sorted(found.items()))

    def scores_of(self, name: str) -> set[int]:
        """Return every score of a class of any node by the criteria of a name."""
        return {
            score
            for classes in self.classes.values()
            for _, scores in classes
            for (of, _), score in scores.items()
            if of == name
        }

    def _scores(self, types: list[int]) -> dict[tuple[str, str | None], int]:
        size, *distinct = signature_of(self.table, types)
        found: dict[tuple[str, str | None], int] = {("k", None): size}
        for sets, number in zip(self.table.sensitive, distinct, strict=True):
            found["l", sets.attribute] = number
            for criterion in self.criteria:
                if criterion.of_attribute and criterion.name != "l":
                    found[criterion.name, sets.attribute] = plain_score(criterion, sets, types, size)
        if any(isinstance(criterion, MostRows) for criterion in self.criteria):
            found["most-rows", None] = 10**6 - size
        return found

    def _fails(
        self, scores: dict[tuple[str, str | None], int], requirement: Requirement, name: str, cap: int
    ) -> bool:
        for criterion in requirement.criteria:
            least = min(criterion.threshold, cap) if criterion.name == name else criterion.threshold
            names: tuple[str | None, ...] = (criterion.attribute,)
            if criterion.of_attribute and criterion.attribute is None:
                names = self.table.sensitive_attributes
            if any(scores[criterion.name, attribute] < least for attribute in names):
                return True
        return False


def plain_score(criterion: Criterion, sets: ValueSets, types: list[int], size: int) -> int:
    """Compute a class's score by one sensitive attribute."""
    codes = [code for code, _ in entries(sets, types)]
    if isinstance(criterion, Spread):
        return max(codes) - min(codes) if codes else 0
    if isinstance(criterion, FewValues):
        return -len(set(codes))
    assert isinstance(criterion, Share)
    assert sets.counts is not None
    rows: Counter[int] = Counter()
    for i in types:
        for p in range(int(sets.offsets[i]), int(sets.offsets[i + 1])):
            rows[int(sets.codes[p])] += int(sets.counts[p])
    return 1000 - 1000 * max(rows.values(), default=0) // size


TOYS = (Share, Spread, FewValues, MostRows)


def random_requirement(
    random: np.random.Generator, table: FrequencySet, toys: tuple[type[Criterion], ...] = TOYS
) -> Requirement:
    """Draw one or more toys, each for all attributes or one, with k, l, both or neither."""
    names = table.sensitive_attributes
    usable = [toy for toy in toys if names or not toy.of_attribute]
    values = {
        "share": (0.4, 0.5, 0.667, 0.75),
        "spread": (1, 2, 3),
        "few": (1, 2, 3),
        "most-rows": (4, 8, 15),
    }
    criteria: list[Criterion] = []
    for place in random.permutation(len(usable))[: int(random.integers(1, 3))].tolist():
        toy = usable[place]
        attributes = [None] if not toy.of_attribute or random.random() < 0.5 else list(names)
        criteria += [
            toy(values[toy.name][int(random.integers(0, len(values[toy.name])))], a) for a in attributes
        ]
    k = int(random.integers(1, 13)) if random.random() < 0.5 else None
    l = int(random.integers(1, 6)) if names and random.random() < 0.4 else None
    return Requirement(k if criteria or l is not None else k or 5, l, criteria)
