"""Cutting until no allowable cut is left, with any chooser of cuts and any test of a class.

A stack replaces the recursion of LeFevre et al. (2006). Each cut divides a slice of a list of row types in
place, left side first, so that finished classes lie in the order of a walk through the tree of cuts.

Cost: for n row types about n·d steps per level of that tree, and some numpy calls per cut. The compiled
kernel does the same for k and distinct l; this code is its twin.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InternalError
from discreet.model.class_test import ClassTest
from discreet.model.frequency_set import FrequencySet, ValueSets
from discreet.mondrian.cuts import CutChooser, Fragment
from discreet.mondrian.space import Space

Progress = Callable[[int, int], None]
"""Called with the rows in final classes and the rows in all."""


class Counter(Protocol):
    """Says of row types whether they are a class that meets what is asked."""

    def holds(self, types: NDArray[np.int64], /) -> bool:
        """Whether the class of whole row types does."""


@dataclass(frozen=True, eq=False)
class ClassCounter:
    """What a ``ClassTest`` needs of some row types: rows, and rows by sensitive value.

    Where the frequency set holds no rows by value, each row type counts once for each of its values: enough
    for distinct values.
    """

    frequency_set: FrequencySet
    test: ClassTest

    def holds(self, row_types: NDArray[np.int64]) -> bool:
        """Whether the class of whole row types meets the test."""
        rows = int(self.frequency_set.counts[row_types].sum())
        return self.test.holds(rows, [_counts(sets, row_types) for sets in self.frequency_set.sensitive])


def _counts(sets: ValueSets, row_types: NDArray[np.int64]) -> NDArray[np.int64]:
    entries = entries_of(sets, row_types)
    rows = None if sets.counts is None else sets.counts[entries]
    found: NDArray[np.int64] = np.bincount(sets.codes[entries], rows, minlength=sets.size).astype(np.int64)
    return found


def entries_of(sets: ValueSets, row_types: NDArray[np.int64]) -> NDArray[np.int64]:
    """The positions in ``sets.codes`` of the entries of some row types, in their order."""
    starts = sets.offsets[row_types]
    lengths = sets.offsets[row_types + 1] - starts
    ends = np.cumsum(lengths)
    found: NDArray[np.int64] = np.repeat(starts - (ends - lengths), lengths)
    found += np.arange(len(found))
    return found


def cut_greedily(
    space: Space,
    chooser: CutChooser,
    test: ClassTest,
    progress: Progress | None = None,
    *,
    subjects: Counter | None = None,
) -> NDArray[np.int64]:
    """The class of each row type, shape ``(row types,)``, classes numbered as the tree of cuts is walked.

    The table as a whole meets the test. ``subjects`` judges classes in the place of ``test`` where subjects
    are counted.
    """
    counter = subjects or ClassCounter(space.frequency_set, test)
    members = np.arange(space.frequency_set.row_types)
    starts, stack, done = [], [(0, len(members))], 0
    while stack:
        start, end = stack.pop()
        fragment = Fragment(space, members[start:end].copy())
        middle = _cut(fragment, chooser, counter, members[start:end])
        if middle:
            stack += [(start + middle, end), (start, start + middle)]
            continue
        starts.append(start)
        done += fragment.total
        if progress is not None:
            progress(done, space.frequency_set.rows)
    classes = np.zeros(len(members), dtype=np.int64)
    classes[starts[1:]] = 1
    found = np.empty_like(classes)
    found[members] = np.cumsum(classes)
    return found


def _cut(fragment: Fragment, chooser: CutChooser, counter: Counter, members: NDArray[np.int64]) -> int:
    """Divide ``members`` by the first cut that both sides survive; how many go left, 0 where none does."""
    for cut in chooser(fragment):
        left = fragment.ranks[:, cut.attribute] <= cut.last
        sides: Sequence[NDArray[np.int64]] = (fragment.row_types[left], fragment.row_types[~left])
        if not len(sides[0]) or not len(sides[1]):
            raise InternalError("a chooser of cuts proposed a cut with nothing on one side")
        if all(counter.holds(side) for side in sides):
            members[:] = np.concatenate(sides)
            return len(sides[0])
    return 0
