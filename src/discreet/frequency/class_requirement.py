"""Requirement that each class of a search must meet, and checks of the tables that such searches accept.

Splits a requirement into the least rows and distinct values, which kernels evaluate, and the rest. Names the
criteria that the whole table fails. Rejects subjects with several rows where only rows are counted.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError
from discreet.frequency.fact_counter import FactCounter, locate_entries
from discreet.model.class_recoding import ClassTest
from discreet.model.frequency_set import (
    FrequencySet,
    ValueSets,
    class_test_of_subjects_error,
    drop_unneeded_subjects,
)
from discreet.model.requirement import (
    MONOTONE_ADVICE,
    Requirement,
    is_growing,
    no_criterion_error,
    require_monotone,
)

if TYPE_CHECKING:
    from discreet.kernels.greedy_cover import RequiredValues


_MOST_ROWS = 2**31 - 1


@dataclass(frozen=True, eq=False)
class ClassRequirement:
    """Requirement for the classes of one frequency set.

    ``need`` is the least number of rows of any class. ``diverse`` pairs the indices of sensitive attributes
    with their least number of distinct values. The kernels evaluate ``need`` and ``diverse`` only, which is
    sufficient if ``plain`` (no other criteria, no subject with several rows). ``growing`` reports that a
    class that passes still passes after rows are added.
    """

    frequency_set: FrequencySet
    facts: FactCounter
    need: int
    diverse: tuple[tuple[int, int], ...]
    plain: bool
    growing: bool
    class_test: ClassTest | None = None

    @classmethod
    def of(
        cls, frequency_set: FrequencySet, requirement: Requirement, class_test: ClassTest | None = None
    ) -> ClassRequirement:
        """Build the requirement from criteria and an optional further test.

        Raises ``InputError`` if both are missing, for a criterion that is not monotone, and for a criterion
        or test that needs rows by value if the frequency set does not contain them.
        """
        if requirement.is_empty and class_test is None:
            raise no_criterion_error()
        require_monotone(requirement, "a search that makes classes", advice=MONOTONE_ADVICE)
        if class_test is not None and drop_unneeded_subjects(frequency_set).subjects is not None:
            raise class_test_of_subjects_error()
        if class_test is not None and any(s.counts is None for s in frequency_set.sensitive):
            raise InputError(
                "a class test needs the rows of each sensitive value, which this frequency set does not hold",
                advice="Count the frequency set again.",
            )
        facts = FactCounter.of(frequency_set, requirement)
        thresholds = requirement.l_of(frequency_set.sensitive_attributes)
        return cls(
            frequency_set=frequency_set,
            facts=facts,
            need=min(requirement.least_rows, _MOST_ROWS),
            # An l of 1 is a threshold too: a class whose values are all NULL has no distinct value.
            diverse=tuple((s, least) for s, least in enumerate(thresholds) if least is not None),
            plain=class_test is None and not requirement.others and facts.table.subjects is None,
            growing=class_test is None and is_growing(requirement),
            class_test=class_test,
        )

    @property
    def counts_only(self) -> bool:
        """True if only row counts decide, so that the rows of a row type may go to several classes."""
        return self.plain and not self.diverse

    def holds(self, types: NDArray[np.int64]) -> bool:
        """Return whether the given whole row types together form a class that passes."""
        rows = int(self.frequency_set.counts[types].sum())
        if rows < self.need or not self.facts.holds(types):
            return False
        if self.class_test is None:
            return True
        return self.class_test.holds(
            rows, [_count_rows_by_code(s, types) for s in self.frequency_set.sensitive]
        )

    def values(self) -> RequiredValues:
        """Return the required distinct values in the form that the kernels read."""
        from discreet.kernels.greedy_cover import RequiredValues

        sets = [self.frequency_set.sensitive[s] for s, _ in self.diverse]
        bases = np.cumsum([0, *(len(s.codes) for s in sets)])
        offsets = np.array([s.offsets + base for s, base in zip(sets, bases, strict=False)], np.int64)
        offsets = offsets.reshape(len(sets), self.frequency_set.row_types + 1)
        return RequiredValues(
            least=np.array([least for _, least in self.diverse], np.int64),
            begins=np.ascontiguousarray(offsets[:, :-1]),
            ends=np.ascontiguousarray(offsets[:, 1:]),
            codes=np.concatenate([s.codes for s in sets] or [np.zeros(0, np.int64)]),
            seen=np.zeros(max((s.size for s in sets), default=0) + 1, np.int64),
            turn=np.zeros(1, np.int64),
        )


def _count_rows_by_code(sets: ValueSets, types: NDArray[np.int64]) -> NDArray[np.int64]:
    places, _ = locate_entries(sets, types)
    assert sets.counts is not None
    rows = np.zeros(sets.size, np.int64)
    np.add.at(rows, sets.codes[places], sets.counts[places])
    return rows


def find_globally_failing(table: FrequencySet, requirement: Requirement) -> Requirement:
    """Return the criteria that the class of all rows fails, one by one; all of them if that is unknown.

    Criteria of the population, of cells or of the whole release are not checked here.
    """
    judged = [
        criterion
        for criterion in requirement.of_classes.criteria
        if not (criterion.of_population or criterion.of_every_attribute)
    ]
    every = np.arange(table.row_types, dtype=np.int64)
    failing = [
        criterion
        for criterion in judged
        if table.row_types and not FactCounter.of(table, Requirement(criteria=[criterion])).holds(every)
    ]
    return Requirement(criteria=failing) if failing else requirement


def announce_subjects(work: str, notice: Callable[[str], None] | None) -> None:
    """Report that plain numpy counts the subjects of classes, without a bound."""
    if notice is not None:
        notice(
            f"subjects have several rows: using numpy for the {work}, which is slower and reports no bound"
        )


def require_one_row_per_subject(frequency_set: FrequencySet) -> FrequencySet:
    """Return the table without subjects.

    Raises ``InputError`` if a subject has several rows: a class of k rows could then contain fewer than k
    people.
    """
    counted = drop_unneeded_subjects(frequency_set)
    if counted.subjects is None:
        return counted
    named = len(np.unique(counted.subjects.codes))
    raise InputError(
        f"{frequency_set.rows:,} rows belong to {named:,} subjects; this recoding model counts rows, and a "
        "class of k rows might contain fewer than k subjects",
        allowed="tables with one row per subject, levels that are negotiated (no --model), strict Mondrian, "
        "local recoding, or patterns by the greedy",
        advice="Publish with one of those, or bring the table to one row per subject first.",
    )
