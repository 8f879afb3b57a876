"""What every class must have: rows, distinct sensitive values, and whatever a class test asks besides.

p-sensitivity asks for p distinct values beside k rows, and is distinct l by another name.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError
from discreet.model.class_test import ClassTest
from discreet.model.frequency_set import FrequencySet, ValueSets
from discreet.model.requirement import Requirement

if TYPE_CHECKING:
    from discreet.kernels.local_greedy import Values

_MOST_ROWS = 2**31 - 1


@dataclass(frozen=True, eq=False)
class Demand:
    """A requirement over one frequency set.

    ``need`` is the least number of rows that any class can do with: k, or the largest l. ``diverse`` pairs
    the places of sensitive attributes with their least number of distinct values.
    """

    frequency_set: FrequencySet
    need: int
    diverse: tuple[tuple[int, int], ...]
    class_test: ClassTest | None = None

    @classmethod
    def of(
        cls, frequency_set: FrequencySet, requirement: Requirement, class_test: ClassTest | None = None
    ) -> Demand:
        """From a requirement and a further test; ``InputError`` where nothing is asked."""
        if requirement.is_empty and class_test is None:
            raise InputError("neither k nor l was asked", allowed="k, l, or both", advice="Give k=10, say.")
        thresholds = requirement.l_of(frequency_set.sensitive_attributes)
        # An l of 1 is asked too: a class whose values are all NULL has none.
        diverse = tuple((s, least) for s, least in enumerate(thresholds) if least is not None)
        need = max(requirement.k or 1, *(least for _, least in diverse), 1)
        if class_test is not None and any(s.counts is None for s in frequency_set.sensitive):
            raise InputError(
                "a class test needs the rows of each sensitive value, which this frequency set does not hold",
                advice="Count the frequency set anew.",
            )
        return cls(frequency_set, min(need, _MOST_ROWS), diverse, class_test)

    @property
    def counts_only(self) -> bool:
        """Whether rows alone decide, so that the rows of a row type may go to several classes."""
        return not self.diverse and self.class_test is None

    def holds(self, types: NDArray[np.int64]) -> bool:
        """Whether whole row types, taken together, are a class."""
        rows = int(self.frequency_set.counts[types].sum())
        if rows < self.need:
            return False
        for s, least in self.diverse:
            if len(np.unique(_codes(self.frequency_set.sensitive[s], types))) < least:
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


def _places(sets: ValueSets, types: NDArray[np.int64]) -> NDArray[np.int64]:
    """Where the entries of some row types lie."""
    starts = sets.offsets[types]
    lengths = sets.offsets[types + 1] - starts
    ends = np.cumsum(lengths)
    return np.repeat(starts - ends + lengths, lengths) + np.arange(int(lengths.sum()))


def _codes(sets: ValueSets, types: NDArray[np.int64]) -> NDArray[np.int64]:
    return sets.codes[_places(sets, types)]


def _rows_by_code(sets: ValueSets, types: NDArray[np.int64]) -> NDArray[np.int64]:
    places = _places(sets, types)
    assert sets.counts is not None
    rows = np.zeros(sets.size, np.int64)
    np.add.at(rows, sets.codes[places], sets.counts[places])
    return rows
