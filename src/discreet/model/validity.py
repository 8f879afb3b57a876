"""Requirements as tests of one class: what a search asks before it makes a class.

Each is monotone under merging: where two classes meet it, their union does. Counts add up, the set of values
of a union holds both sets, entropy is concave and the distance between distributions convex, and the
distribution of a union is a weighted mean of the two (Machanavajjhala et al. 2006; Li et al. 2007).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite, log

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError
from discreet.model.class_facts import ClassFacts, ClassValues
from discreet.model.class_test import ClassTest
from discreet.model.criteria.base import Bound, Need
from discreet.model.judge import failing
from discreet.model.monotone import MONOTONE_ADVICE, require_monotone
from discreet.model.requirement import Requirement
from discreet.model.sensitive_attribute import SensitiveAttribute

_ROUNDING = 1e-12
"""What floating point may lose: an entropy of exactly ln l must not fail."""


@dataclass(frozen=True)
class EntropyDiversity:
    """Entropy of a sensitive attribute's values at least ln ``l``, NULL left out; ``l`` need not be whole."""

    l: float
    attribute: int = 0

    def __post_init__(self) -> None:
        _at_least_one("l", self.l)

    def holds(self, rows: int, values: Sequence[NDArray[np.int64]]) -> bool:
        """Whether the class's entropy is large enough; a class without a value has none."""
        del rows
        counts = values[self.attribute]
        counts = counts[counts > 0]
        if not len(counts):
            return False
        shares = counts / counts.sum()
        return float(-(shares * np.log(shares)).sum()) >= log(self.l) - _ROUNDING


@dataclass(frozen=True, eq=False)
class TCloseness:
    """The distribution of a sensitive attribute in the class is at most ``t`` from that in the table.

    ``table`` holds the table's rows by code. The distance is the earth mover's: half the sum of differences
    where all values are equally far apart, or with ``ordered`` (codes in the values' order) the mean of the
    differences of partial sums. NULL is left out of both; a class without a value fails.
    """

    t: float
    table: NDArray[np.int64]
    attribute: int = 0
    ordered: bool = False

    def __post_init__(self) -> None:
        if not isfinite(self.t) or not 0 <= self.t <= 1:
            raise InputError(f"t = {self.t}", allowed="a number from 0 to 1")

    def holds(self, rows: int, values: Sequence[NDArray[np.int64]]) -> bool:
        """Whether the class's distribution is close enough."""
        del rows
        counts = values[self.attribute]
        total, known = int(counts.sum()), int(self.table.sum())
        if not total or not known:
            return False
        differences = counts / total - self.table / known
        if self.ordered:
            steps = max(len(differences) - 1, 1)
            distance = float(np.abs(np.cumsum(differences)).sum()) / steps
        else:
            distance = float(np.abs(differences).sum()) / 2
        return distance <= self.t + _ROUNDING


@dataclass(frozen=True, eq=False)
class RequirementTest:
    """A requirement's criteria as a test of one class.

    ``known`` holds what is known of each sensitive attribute as a whole, for criteria that compare a class
    with it; empty where none does.
    """

    bound: tuple[Bound, ...]
    known: tuple[SensitiveAttribute | None, ...] = ()

    def holds(self, rows: int, values: Sequence[NDArray[np.int64]]) -> bool:
        """Whether the class meets every criterion."""
        told: list[ClassValues | None] = [None] * len(values)
        for one in self.bound:
            if one.place is not None and (told[one.place] is None or one.criterion.need is Need.COUNTS):
                told[one.place] = self._values(one.place, one.criterion.need, values[one.place])
        facts = ClassFacts(np.array([rows], dtype=np.int64), tuple(told))
        return not failing(self.bound, facts)[0]

    def _values(self, place: int, need: Need, by_code: NDArray[np.int64]) -> ClassValues:
        if need is not Need.COUNTS:
            return ClassValues(np.array([np.count_nonzero(by_code)], dtype=np.int64))
        codes = np.flatnonzero(by_code)
        return ClassValues(
            distinct=np.array([len(codes)], dtype=np.int64),
            owners=np.zeros(len(codes), dtype=np.int64),
            codes=codes,
            counts=by_code[codes],
            of=self.known[place] if self.known else None,
        )


@dataclass(frozen=True)
class AllOf:
    """Every one of several tests."""

    tests: tuple[ClassTest, ...]

    def holds(self, rows: int, values: Sequence[NDArray[np.int64]]) -> bool:
        """Whether the class meets all."""
        return all(test.holds(rows, values) for test in self.tests)


def class_test_of(
    requirement: Requirement, sensitive: tuple[str, ...], known: tuple[SensitiveAttribute | None, ...] = ()
) -> RequirementTest:
    """A requirement as a test of a class; ``sensitive`` are the frequency set's sensitive attributes.

    ``known`` is as ``RequirementTest`` has them. ``InputError`` where a criterion speaks of an attribute
    that is not among them, or is not monotone.
    """
    require_monotone(requirement, "a search that divides or merges classes", advice=MONOTONE_ADVICE)
    return RequirementTest(requirement.bound(sensitive), known)


def _at_least_one(name: str, value: float) -> None:
    if not isfinite(value) or value < 1:
        raise InputError(f"{name} = {value}", allowed="a number of at least 1")
