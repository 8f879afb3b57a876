"""Strict and relaxed Mondrian in numpy, the twins of the kernels (LeFevre et al. 2006).

Strict: a stack replaces the recursion; each cut divides a slice of row types in place, left side first,
with any chooser of cuts and any class test. Relaxed: the rows at the median are divided over both sides, so
with k only, each class has k to 2k - 1 rows; with l, a cut is made only if both sides have l values
whichever rows are drawn.

Cost: about n·d steps per level of the tree of cuts for n row types and d attributes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError, InternalError
from discreet.frequency.fact_counter import locate_entries
from discreet.model.class_recoding import ClassTest
from discreet.model.criteria.base import BoundCriterion
from discreet.model.criterion_inputs import ClassStatistics, ClassValues
from discreet.model.frequency_set import FrequencySet, ValueSets
from discreet.model.requirement import Requirement, failing_mask
from discreet.mondrian.space import CutChooser, CutSpace, Fragment

MondrianProgress = Callable[[int, int], None]
"""Callback that receives the rows in final classes and the rows of the table."""

ClassOracle = Callable[[NDArray[np.int64]], bool]
"""Test of whether some whole row types form a class that meets the requirement."""


def oracle_of_test(frequency_set: FrequencySet, test: ClassTest) -> ClassOracle:
    """Return an oracle that gives a test the rows, and the rows by sensitive value, of some row types.

    If the frequency set has no row counts by value, each row type counts once for each of its values, which
    is enough for distinct values.
    """

    def holds(row_types: NDArray[np.int64]) -> bool:
        found = []
        for sets in frequency_set.sensitive:
            entries, _ = locate_entries(sets, row_types)
            rows = None if sets.counts is None else sets.counts[entries]
            found.append(np.bincount(sets.codes[entries], rows, minlength=sets.size).astype(np.int64))
        return test.holds(int(frequency_set.counts[row_types].sum()), found)

    return holds


def cut_greedily(
    space: CutSpace, chooser: CutChooser, holds: ClassOracle, progress: MondrianProgress | None = None
) -> NDArray[np.int64]:
    """Return the class of each row type, shape ``(row types,)``, numbered in preorder of the tree of cuts.

    The table as a whole must meet the requirement that ``holds`` tests.
    """
    members = np.arange(space.frequency_set.row_types)
    starts, stack, done = [], [(0, len(members))], 0
    while stack:
        start, end = stack.pop()
        fragment = Fragment(space, members[start:end].copy())
        middle = _divide_members(fragment, chooser, holds, members[start:end])
        if middle:
            stack += [(start + middle, end), (start, start + middle)]
            continue
        starts.append(start)
        done += fragment.total
        if progress is not None:
            progress(done, space.frequency_set.rows)
    classes = np.zeros(len(members), dtype=np.int64)
    classes[starts[1:]] = 1
    result = np.empty_like(classes)
    result[members] = np.cumsum(classes)
    return result


def _divide_members(
    fragment: Fragment, chooser: CutChooser, holds: ClassOracle, members: NDArray[np.int64]
) -> int:
    """Divide ``members`` by the first cut whose sides both hold; return the left side's size, or 0."""
    for cut in chooser(fragment):
        left = fragment.ranks[:, cut.attribute] <= cut.last
        sides: Sequence[NDArray[np.int64]] = (fragment.row_types[left], fragment.row_types[~left])
        if not len(sides[0]) or not len(sides[1]):
            raise InternalError("a proposed cut leaves one side empty")
        if all(map(holds, sides)):
            members[:] = np.concatenate(sides)
            return len(sides[0])
    return 0


@dataclass(frozen=True, eq=False)
class RowParts:
    """Parts of row types in classes: ``rows[p]`` rows of ``row_types[p]`` are in class ``classes[p]``."""

    row_types: NDArray[np.int64]
    classes: NDArray[np.int64]
    rows: NDArray[np.int64]


def divide_rows(space: CutSpace, requirement: Requirement) -> RowParts:
    """Divide the rows of a table that meets the requirement into classes, by relaxed Mondrian.

    Raises ``InputError`` if l is required and the frequency set has no row counts by sensitive value.
    """
    bound = _bind_criteria(space.frequency_set, requirement)
    order = np.lexsort(space.ranks.T[::-1])
    stack = [(order, space.frequency_set.counts[order])]
    final: list[tuple[NDArray[np.int64], NDArray[np.int64]]] = []
    while stack:
        types, rows = stack.pop()
        sides = _divide_class(space, types, rows, requirement.least_rows, bound)
        if sides is None:
            final.append((types, rows))
        else:
            stack += [sides[1], sides[0]]
    return RowParts(
        row_types=np.concatenate([types for types, _ in final]),
        classes=np.repeat(np.arange(len(final)), [len(types) for types, _ in final]),
        rows=np.concatenate([rows for _, rows in final]),
    )


CutSide = tuple[NDArray[np.int64], NDArray[np.int64]]
"""Row types of one side of a cut, and the number of rows of each."""


def _divide_class(
    space: CutSpace,
    types: NDArray[np.int64],
    rows: NDArray[np.int64],
    least_rows: int,
    bound: tuple[BoundCriterion, ...],
) -> tuple[CutSide, CutSide] | None:
    """Divide one class at the median of the widest attribute that allows it; return None if none does.

    Attributes of zero width are tried once: their cut divides equal rows, so every further one would be the
    same.
    """
    total = int(rows.sum())
    if total < max(2 * least_rows, 2):
        return None
    ranks = space.ranks[types]
    widths = space.widths(ranks.min(axis=0), ranks.max(axis=0)).tolist()
    for attribute in sorted(space.priority, key=lambda j: -widths[j]):
        sides = _divide_at_median(ranks[:, attribute], types, rows, total)
        if not failing_mask(bound, _certain_facts(sides, bound, space.frequency_set)).any():
            return sides
        if widths[attribute] == 0:
            return None
    return None


def _divide_at_median(
    ranks: NDArray[np.int64], types: NDArray[np.int64], rows: NDArray[np.int64], total: int
) -> tuple[CutSide, CutSide]:
    """Divide the rows in the middle, in the order of one attribute and then of the row types."""
    order = np.argsort(ranks, kind="stable")
    upto = np.cumsum(rows[order])
    left = np.empty_like(rows)
    left[order] = np.clip(total // 2 - (upto - rows[order]), 0, rows[order])
    right = rows - left
    return (types[left > 0], left[left > 0]), (types[right > 0], right[right > 0])


def _bind_criteria(frequency_set: FrequencySet, requirement: Requirement) -> tuple[BoundCriterion, ...]:
    """Bind the criteria, and check that row counts by value exist for criteria on distinct values."""
    bound = requirement.bound(frequency_set.sensitive_attributes)
    for one in bound:
        if one.index is not None and frequency_set.sensitive[one.index].counts is None:
            raise InputError(
                f"relaxed Mondrian with {one.criterion.name} needs the rows by value of "
                f"'{frequency_set.sensitive[one.index].attribute}', which the frequency set does not contain",
                advice="Count the table by count_frequency_set, or use strict Mondrian.",
            )
    return bound


def _certain_facts(
    sides: Sequence[CutSide], bound: Sequence[BoundCriterion], frequency_set: FrequencySet
) -> ClassStatistics:
    """Return the rows of each side, and the distinct values it has whichever rows are drawn."""
    values: list[ClassValues | None] = [None] * len(frequency_set.sensitive)
    for index in {one.index for one in bound if one.index is not None}:
        sets = frequency_set.sensitive[index]
        values[index] = ClassValues(
            np.array([_count_certain_values(sets, side, frequency_set) for side in sides])
        )
    return ClassStatistics(np.array([int(rows.sum()) for _, rows in sides]), tuple(values))


def _count_certain_values(sets: ValueSets, side: CutSide, frequency_set: FrequencySet) -> int:
    """Count the values that a side contains whichever rows are drawn.

    A value is certain if more rows of a row type have it than go to other classes.
    """
    assert sets.counts is not None
    types, rows = side
    entries, lengths = locate_entries(sets, types)
    others = (frequency_set.counts[types] - rows).repeat(lengths)
    certain = sets.codes[entries][sets.counts[entries] > others]
    return len(np.unique(certain))
