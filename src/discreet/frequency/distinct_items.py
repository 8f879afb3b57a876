"""What classes hold beside rows, sensitive values or subjects: kept without duplicates, and counted.

Where a value must be told of a subject of its own, a class's number of distinct values is the most that
different subjects can carry (``kernels.matching``).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.kernels.matching import distinct_representatives
from discreet.model.frequency_set import ValueSets

Members = tuple[NDArray[np.int64], NDArray[np.int64]]
"""Pairs of a class (ascending) and an item in it, without duplicates."""


@dataclass(frozen=True, eq=False)
class Items:
    """What is counted: values, or pairs of a value and a subject. Both run over items."""

    values: NDArray[np.int64]
    subjects: NDArray[np.int64] | None

    def distinct(self, members: Members, classes: int) -> NDArray[np.int64]:
        """The distinct values of each class, shape ``(classes,)``."""
        group, item = members
        if self.subjects is None:
            return np.bincount(group, minlength=classes)
        return distinct_values(group, self.values[item], self.subjects[item], classes)


def items_of(sets: ValueSets) -> tuple[Items, Members]:
    """The items of a table's value sets, and the row types that they are in."""
    group = np.repeat(np.arange(len(sets.offsets) - 1), np.diff(sets.offsets))
    codes = sets.codes.astype(np.int64)
    if sets.subjects is None:
        return Items(np.arange(sets.size), None), (group, codes)
    subjects = sets.subjects.astype(np.int64)
    size = int(subjects.max(initial=0)) + 1
    pairs, item = np.unique(codes * size + subjects, return_inverse=True)
    return Items(*np.divmod(pairs, size)), (group, item)


def merged(group: NDArray[np.int64], item: NDArray[np.int64]) -> Members:
    """The pairs of group and item, sorted, without duplicates."""
    size = int(item.max(initial=0)) + 1
    pairs = group * size + item
    pairs.sort()
    fresh = np.ones(len(pairs), np.bool_)
    np.not_equal(pairs[1:], pairs[:-1], out=fresh[1:])
    group, item = np.divmod(pairs[fresh], size)
    return group, item


def merged_rows(
    group: NDArray[np.int64], item: NDArray[np.int64], rows: NDArray[np.int64]
) -> tuple[Members, NDArray[np.int64]]:
    """The same, and the rows of equal pairs added up."""
    size = int(item.max(initial=0)) + 1
    pairs = group * size + item
    order = np.argsort(pairs, kind="stable")
    pairs = pairs[order]
    starts = np.flatnonzero(np.append(True, pairs[1:] != pairs[:-1])) if len(pairs) else order
    group, item = np.divmod(pairs[starts], size)
    return (group, item), np.add.reduceat(rows[order], starts) if len(pairs) else rows


def distinct_values(
    group: NDArray[np.int64],
    values: NDArray[np.int64],
    subjects: NDArray[np.int64],
    classes: int,
    wanted: Callable[[NDArray[np.int64]], NDArray[np.bool_]] | None = None,
) -> NDArray[np.int64]:
    """How many values different subjects of a class can carry, shape ``(classes,)``.

    ``group`` (the class of each pair, ascending), ``values`` and ``subjects`` run over distinct pairs.
    ``wanted`` says, given an upper bound of each class, of which it is not enough. Cost: two sorts of the
    pairs, and a matching in each class some subject of which has several values.
    """
    pairs = np.bincount(group, minlength=classes)
    found = np.bincount(merged(group, values)[0], minlength=classes)
    unsure = np.bincount(merged(group, subjects)[0], minlength=classes) < pairs
    if wanted is not None:
        unsure &= wanted(found)
    ends = np.cumsum(pairs)
    for i in np.flatnonzero(unsure).tolist():
        part = slice(int(ends[i] - pairs[i]), int(ends[i]))
        found[i] = distinct_representatives(zip(subjects[part].tolist(), values[part].tolist(), strict=True))
    return found
