"""A requirement as a test of one class: what a search asks before it makes a class.

It is monotone under merging: where two classes meet it, their union does, as their criteria declare.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.model.class_facts import ClassFacts, ClassValues
from discreet.model.class_test import ClassTest
from discreet.model.criteria.base import Bound, Need
from discreet.model.judge import failing
from discreet.model.monotone import MONOTONE_ADVICE, require_monotone
from discreet.model.requirement import Requirement
from discreet.model.sensitive_attribute import SensitiveAttribute


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
