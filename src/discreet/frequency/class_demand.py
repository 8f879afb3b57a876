"""What every class must have: a requirement's criteria, and whatever a class test asks besides.

p-sensitivity asks for p distinct values beside k rows, and is distinct l by another name.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError
from discreet.frequency.class_facts import FactCounter, entries_of
from discreet.model.class_test import ClassTest
from discreet.model.frequency_set import FrequencySet, ValueSets
from discreet.model.monotone import MONOTONE_ADVICE, is_growing, require_monotone
from discreet.model.requirement import Requirement, nothing_required
from discreet.model.subject_rows import class_test_of_subjects, counting_rows

if TYPE_CHECKING:
    from discreet.kernels.local_greedy import Values

_MOST_ROWS = 2**31 - 1


@dataclass(frozen=True, eq=False)
class Demand:
    """A requirement over one frequency set.

    ``need`` is the least number of rows that any class can do with. ``diverse`` pairs the places of sensitive
    attributes with their least number of distinct values: with ``need`` all that kernels know (``plain``),
    where no subject has several rows.
    ``growing`` says that a class that passes does so with any rows besides.
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
    ) -> Demand:
        """From a requirement and a further test.

        ``InputError`` where nothing is asked, for a criterion that is not monotone, and for one (or a test)
        of rows by value that the frequency set does not hold.
        """
        if requirement.is_empty and class_test is None:
            raise nothing_required()
        require_monotone(requirement, "a search that makes classes", advice=MONOTONE_ADVICE)
        if class_test is not None and counting_rows(frequency_set).subjects is not None:
            raise class_test_of_subjects()
        if class_test is not None and any(s.counts is None for s in frequency_set.sensitive):
            raise InputError(
                "a class test needs the rows of each sensitive value, which this frequency set does not hold",
                advice="Count the frequency set anew.",
            )
        facts = FactCounter.of(frequency_set, requirement)
        thresholds = requirement.l_of(frequency_set.sensitive_attributes)
        return cls(
            frequency_set=frequency_set,
            facts=facts,
            need=min(requirement.least_rows, _MOST_ROWS),
            # An l of 1 is asked too: a class whose values are all NULL has none.
            diverse=tuple((s, least) for s, least in enumerate(thresholds) if least is not None),
            plain=class_test is None and not requirement.others and facts.table.subjects is None,
            growing=class_test is None and is_growing(requirement),
            class_test=class_test,
        )

    @property
    def counts_only(self) -> bool:
        """Whether rows alone decide, so that the rows of a row type may go to several classes."""
        return self.plain and not self.diverse

    def holds(self, types: NDArray[np.int64]) -> bool:
        """Whether whole row types, taken together, are a class."""
        rows = int(self.frequency_set.counts[types].sum())
        if rows < self.need or not self.facts.holds(types):
            return False
        if self.class_test is None:
            return True
        return self.class_test.holds(rows, [_rows_by_code(s, types) for s in self.frequency_set.sensitive])

    def values(self) -> Values:
        """The distinct values asked for, as the kernels read them."""
        from discreet.kernels.local_greedy import Values

        sets = [self.frequency_set.sensitive[s] for s, _ in self.diverse]
        bases = np.cumsum([0, *(len(s.codes) for s in sets)])
        offsets = np.array([s.offsets + base for s, base in zip(sets, bases, strict=False)], np.int64)
        offsets = offsets.reshape(len(sets), self.frequency_set.row_types + 1)
        return Values(
            least=np.array([least for _, least in self.diverse], np.int64),
            begins=np.ascontiguousarray(offsets[:, :-1]),
            ends=np.ascontiguousarray(offsets[:, 1:]),
            codes=np.concatenate([s.codes for s in sets] or [np.zeros(0, np.int64)]),
            seen=np.zeros(max((s.size for s in sets), default=0) + 1, np.int64),
            turn=np.zeros(1, np.int64),
        )


def _rows_by_code(sets: ValueSets, types: NDArray[np.int64]) -> NDArray[np.int64]:
    places, _ = entries_of(sets, types)
    assert sets.counts is not None
    rows = np.zeros(sets.size, np.int64)
    np.add.at(rows, sets.codes[places], sets.counts[places])
    return rows
