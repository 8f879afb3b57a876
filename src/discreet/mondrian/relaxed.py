"""Relaxed Mondrian: rows at the median are divided over both sides (LeFevre et al. 2006).

A class of n rows becomes two of n // 2 and n - n // 2 rows: those below the median of the widest attribute go
left, those above go right, and those at the median fill both. With k alone every class of 2k or more rows is
divided, so each final class has from k to 2k - 1 rows; rows of one row type are divided too in the end, and
such classes show the same.

Rows at the median fill the left side in the order of the row types' places in all attributes, so at most
one row type is split by a cut. Which of its rows go left is not decided here: it is drawn when the recoding
is applied.

With l the sides must keep l values whatever is drawn. A part of r of a row type's n rows is sure to hold a
value that more than n - r of them have. A cut is made only where both sides are sure of l values; classes
may then be larger than 2k - 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError
from discreet.model.class_facts import ClassFacts, ClassValues
from discreet.model.criteria.base import Bound
from discreet.model.frequency_set import FrequencySet, ValueSets
from discreet.model.judge import failing
from discreet.model.requirement import Requirement
from discreet.mondrian.greedy import entries_of
from discreet.mondrian.space import Space


@dataclass(frozen=True, eq=False)
class Parts:
    """``rows[p]`` rows of ``row_types[p]`` are in class ``classes[p]``."""

    row_types: NDArray[np.int64]
    classes: NDArray[np.int64]
    rows: NDArray[np.int64]


def divide(space: Space, requirement: Requirement) -> Parts:
    """The parts of a table's rows, class by class; the table as a whole meets the requirement.

    ``InputError`` where l is asked and the frequency set holds no rows by sensitive value.
    """
    bound = _bound(space.frequency_set, requirement)
    order = np.lexsort(space.ranks.T[::-1])
    stack = [(order, space.frequency_set.counts[order])]
    final: list[tuple[NDArray[np.int64], NDArray[np.int64]]] = []
    while stack:
        types, rows = stack.pop()
        sides = _halves(space, types, rows, requirement.least_rows, bound)
        if sides is None:
            final.append((types, rows))
        else:
            stack += [sides[1], sides[0]]
    return Parts(
        row_types=np.concatenate([types for types, _ in final]),
        classes=np.repeat(np.arange(len(final)), [len(types) for types, _ in final]),
        rows=np.concatenate([rows for _, rows in final]),
    )


Side = tuple[NDArray[np.int64], NDArray[np.int64]]
"""Row types and how many rows of each."""


def _halves(
    space: Space,
    types: NDArray[np.int64],
    rows: NDArray[np.int64],
    least_rows: int,
    bound: tuple[Bound, ...],
) -> tuple[Side, Side] | None:
    total = int(rows.sum())
    if total < max(2 * least_rows, 2):
        return None
    ranks = space.ranks[types]
    widths = space.widths(ranks.min(axis=0), ranks.max(axis=0)).tolist()
    for attribute in sorted(space.priority, key=lambda j: -widths[j]):
        sides = _divided(ranks[:, attribute], types, rows, total)
        if not failing(bound, _sure(sides, bound, space.frequency_set)).any():
            return sides
        if widths[attribute] == 0:
            return None
    return None


def _divided(
    ranks: NDArray[np.int64], types: NDArray[np.int64], rows: NDArray[np.int64], total: int
) -> tuple[Side, Side]:
    """The rows in the order of one attribute, then of the row types, divided in the middle."""
    order = np.argsort(ranks, kind="stable")
    upto = np.cumsum(rows[order])
    left = np.empty_like(rows)
    left[order] = np.clip(total // 2 - (upto - rows[order]), 0, rows[order])
    right = rows - left
    return (types[left > 0], left[left > 0]), (types[right > 0], right[right > 0])


def _bound(frequency_set: FrequencySet, requirement: Requirement) -> tuple[Bound, ...]:
    """The criteria; of distinct values only where it is told how many rows have each."""
    bound = requirement.bound(frequency_set.sensitive_attributes)
    for one in bound:
        if one.place is not None and frequency_set.sensitive[one.place].counts is None:
            raise InputError(
                f"relaxed Mondrian with {one.criterion.name} needs the rows by value of "
                f"'{frequency_set.sensitive[one.place].attribute}', which the frequency set does not hold",
                advice="Count the table by count_frequency_set, or use strict Mondrian.",
            )
    return bound


def _sure(sides: Sequence[Side], bound: Sequence[Bound], frequency_set: FrequencySet) -> ClassFacts:
    """The sides' rows, and the distinct values that each has however the rows of its row types are drawn."""
    values: list[ClassValues | None] = [None] * len(frequency_set.sensitive)
    for place in {one.place for one in bound if one.place is not None}:
        sets = frequency_set.sensitive[place]
        values[place] = ClassValues(np.array([_sure_values(sets, side, frequency_set) for side in sides]))
    return ClassFacts(np.array([int(rows.sum()) for _, rows in sides]), tuple(values))


def _sure_values(sets: ValueSets, side: Side, frequency_set: FrequencySet) -> int:
    """A value is sure to be there where more rows of a row type have it than go to other classes."""
    assert sets.counts is not None
    types, rows = side
    entries = entries_of(sets, types)
    others = (frequency_set.counts[types] - rows).repeat(sets.offsets[types + 1] - sets.offsets[types])
    certain = sets.codes[entries][sets.counts[entries] > others]
    return len(np.unique(certain))
