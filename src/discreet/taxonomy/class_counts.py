"""Counting classes of row types: which of them fail a requirement."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError, NoSolution
from discreet.frequency.merge import pack
from discreet.model.frequency_set import FrequencySet, ValueSets
from discreet.model.requirement import Requirement


class ClassCounts:
    """Counts rows and distinct sensitive values of classes of a frequency set's row types.

    ``InputError`` where subjects have several rows, or l is asked of what is not sensitive.
    """

    def __init__(self, frequency_set: FrequencySet, requirement: Requirement) -> None:
        subjects = frequency_set.subjects
        if subjects is not None and subjects.size != frequency_set.rows:
            raise InputError(
                f"{subjects.size:,} subjects have {frequency_set.rows:,} rows, but this model needs one row "
                "per subject",
                allowed="a table with one row per subject, or levels that are negotiated (no --model)",
            )
        self.rows = frequency_set.counts
        self.requirement = requirement
        self._k = requirement.k or 1
        thresholds = requirement.l_of(frequency_set.sensitive_attributes)
        self._sets = [
            (sets, l) for sets, l in zip(frequency_set.sensitive, thresholds, strict=True) if l is not None
        ]

    def failing(
        self, class_of: NDArray[np.int64], classes: int, types: NDArray[np.int64] | None = None
    ) -> NDArray[np.bool_]:
        """The classes that fail, shape ``(classes,)``; one without rows does not.

        ``class_of`` names the class of each row type in ``types``, or of all. O(row types + their values).
        """
        rows = self.rows if types is None else self.rows[types]
        sizes = np.bincount(class_of, rows, minlength=classes)
        found = sizes < self._k
        for sets, l in self._sets:
            entry_class, codes = _entries(sets, class_of, types)
            pairs = np.unique(entry_class * max(sets.size, 1) + codes)
            found |= np.bincount(pairs // max(sets.size, 1), minlength=classes) < l
        return found & (sizes > 0)

    def failing_types(
        self, class_of: NDArray[np.int64], types: NDArray[np.int64] | None = None
    ) -> NDArray[np.bool_]:
        """Whether each row type is in a failing class."""
        return self.failing(class_of, int(class_of.max(initial=-1)) + 1, types)[class_of]

    def failing_rows(self, class_of: NDArray[np.int64], types: NDArray[np.int64] | None = None) -> int:
        """The rows of failing classes."""
        rows = self.rows if types is None else self.rows[types]
        return int(rows[self.failing_types(class_of, types)].sum())

    def require_solution(self, limit: int) -> None:
        """Raise ``NoSolution`` where even one class of all rows fails and may not be suppressed."""
        rows = int(self.rows.sum())
        everything = np.zeros(len(self.rows), dtype=np.int64)
        if not rows or (self.failing_rows(everything) > limit):
            raise NoSolution(
                f"not even one class of all {rows:,} rows meets {self.requirement}",
                allowed="a k of at most the rows, and an l of at most the sensitive values",
                advice="Ask for less. Nothing was written.",
            )


def classes_of_columns(columns: Sequence[NDArray[np.int64]], sizes: Sequence[int]) -> NDArray[np.int64]:
    """The class of each row type: those that agree in every column, numbered from 0."""
    return np.unique(pack(columns, sizes), return_inverse=True)[1]


def _entries(
    sets: ValueSets, class_of: NDArray[np.int64], types: NDArray[np.int64] | None
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The class and the code of each entry of the row types."""
    lengths = np.diff(sets.offsets)
    if types is None:
        return np.repeat(class_of, lengths), sets.codes
    lengths = lengths[types]
    ends = np.cumsum(lengths)
    places = np.arange(int(ends[-1]) if len(ends) else 0) + np.repeat(
        sets.offsets[types] - (ends - lengths), lengths
    )
    return np.repeat(class_of, lengths), sets.codes[places]
