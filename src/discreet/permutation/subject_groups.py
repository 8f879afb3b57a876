"""Rows, distinct values and range of each group; with subjects, distinct values of distinct subjects.

If subjects have several rows, a group's k is the size of the largest matching between its subjects and its
values (decision 0006). It never falls when rows join, so a partition of least sum of errors cuts between
different values. ``find_value_cuts`` computes it; ``close_subject_groups`` closes groups along a random order
of the rows.

Cost: a sort of the rows; with subjects, values · rows of a group · k.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InternalError
from discreet.kernels.matching import find_augmenting_path
from discreet.permutation.optimal_partitions import GroupNeed
from discreet.permutation.row_positions import DrawOrder, RowIntegers, integer_dtype
from discreet.permutation.value_runs import ValueRuns, spread_ungrouped_rows


class GrowingGroup:
    """Group that rows join one by one; ``matching_size`` is the size of its largest matching."""

    def __init__(self) -> None:
        """Create a group without rows."""
        self.matching_size = 0
        self._subjects_of: dict[int, list[int]] = {}
        self._value_of: dict[int, int] = {}
        self._free: list[int] = []

    def add(self, subject: int, value: int) -> None:
        """Add a row; the matching grows by at most one, from a value without a person of its own."""
        owners = self._subjects_of.setdefault(value, [])
        if not owners:
            self._free.append(value)
        if subject in owners:
            return
        owners.append(subject)
        for index, free in enumerate(self._free):
            if find_augmenting_path(free, self._subjects_of, self._value_of):
                del self._free[index]
                self.matching_size += 1
                return


def find_value_cuts(runs: ValueRuns, need: GroupNeed) -> NDArray[np.int64]:
    """Return the positions, among rows sorted by value, before which the partition of least sum is cut.

    ``runs`` must have subjects, and be a group as a whole.
    """
    units, latest = runs.integers, _latest_beginnings(runs, need)
    # best[b] covers the values before b: the sum of the gaps at its cuts, and its groups; None if impossible.
    # A cut saves its gap, so the least sum of ranges has the largest sum of gaps.
    best: list[tuple[int, int] | None] = [(0, 0)]
    before: list[int] = [0]
    champion: tuple[int, int, int] | None = None
    seen = 0
    for beginning in latest:
        while seen <= beginning:
            found = best[seen]
            if found is not None:
                gap = units[seen] - units[seen - 1] if seen else 0
                rival = (found[0] + gap, found[1] + 1, seen)
                champion = rival if champion is None else max(champion, rival)
            seen += 1
        usable = beginning >= 0 and champion is not None
        best.append(champion[:2] if usable and champion is not None else None)
        before.append(champion[2] if usable and champion is not None else 0)
    if best[-1] is None:
        raise InternalError("no partition found although the whole column is a group")
    cuts, position = [], before[-1]
    while position:
        cuts.append(position)
        position = before[position]
    starts = np.cumsum(runs.counts) - runs.counts
    return starts[np.array(cuts[::-1], dtype=np.int64)]


def _latest_beginnings(runs: ValueRuns, need: GroupNeed) -> list[int]:
    """Return, for each value, the latest one at which a group ending there can begin, -1 if there is none."""
    owners = _subjects_of_values(runs)
    units, result = runs.integers, [-1] * runs.distinct
    for last in range(runs.distinct):
        group = GrowingGroup()
        for first in range(last, -1, -1):
            for subject in owners[first]:
                group.add(subject, first)
            if group.matching_size >= need.k and units[last] - units[first] >= need.e:
                result[last] = first
                break
    return result


def _subjects_of_values(runs: ValueRuns) -> list[list[int]]:
    """Return the subjects of each value."""
    assert runs.subjects is not None
    valued = runs.codes >= 0
    pairs = np.unique(np.column_stack([runs.codes[valued], runs.subjects[valued]]), axis=0)
    return [
        part.tolist() for part in np.split(pairs[:, 1], np.searchsorted(pairs[:, 0], range(1, runs.distinct)))
    ]


def close_subject_groups(runs: ValueRuns, need: GroupNeed, draw: DrawOrder) -> RowIntegers:
    """Close groups along a drawn order of the rows, and return the group of each row."""
    assert runs.subjects is not None
    valued = np.flatnonzero(runs.codes >= 0)
    order = valued[draw(len(valued))]
    groups = np.full(len(runs.codes), -1, dtype=integer_dtype(len(runs.codes) + 1))
    units, number, group = runs.integers, 0, GrowingGroup()
    low, high = runs.distinct, -1
    rows = zip(order.tolist(), runs.codes[order].tolist(), runs.subjects[order].tolist(), strict=True)
    for row, value, subject in rows:
        groups[row] = number
        group.add(subject, value)
        low, high = min(low, value), max(high, value)
        if group.matching_size >= need.k and units[high] - units[low] >= need.e:
            number, group, low, high = number + 1, GrowingGroup(), runs.distinct, -1
    if not number:
        raise InternalError("no group was closed although the whole column is a group")
    return spread_ungrouped_rows(np.minimum(groups, number - 1), draw)


def matching_sizes(
    groups: RowIntegers, values: RowIntegers, subjects: RowIntegers, count: int
) -> NDArray[np.int64]:
    """Compute the largest matching of people and values of each group 0, …, ``count`` - 1.

    Rows must have values. Only groups in which some person has several values, and some value several people,
    are matched.
    """
    rows = np.unique(np.column_stack([groups, values, subjects]), axis=0).astype(np.int64)
    of_values = _distinct_by_group(rows[:, [0, 1]], count)
    of_people = _distinct_by_group(rows[:, [0, 2]], count)
    pairs = np.bincount(rows[:, 0], minlength=count)
    found = np.where(pairs == of_values, of_people, of_values)
    ends = np.cumsum(pairs)
    for group in np.flatnonzero((pairs != of_values) & (pairs != of_people)).tolist():
        grown = GrowingGroup()
        for _, value, subject in rows[ends[group] - pairs[group] : ends[group]].tolist():
            grown.add(subject, value)
        found[group] = grown.matching_size
    return found.astype(np.int64)


def _distinct_by_group(pairs: NDArray[np.int64], count: int) -> NDArray[np.int64]:
    return np.bincount(np.unique(pairs, axis=0)[:, 0], minlength=count).astype(np.int64)


@dataclass(frozen=True, eq=False)
class GroupFacts:
    """Rows, rows with a value, distinct values and extreme values of each group, shape ``(groups,)``.

    ``least`` and ``most`` are positions among the runs' values, -1 if a group has no value.
    """

    runs: ValueRuns
    rows: NDArray[np.int64]
    valued: NDArray[np.int64]
    distinct: NDArray[np.int64]
    least: NDArray[np.int64]
    most: NDArray[np.int64]

    @property
    def count(self) -> int:
        """Number of groups."""
        return len(self.rows)

    def ranges(self) -> list[int]:
        """Compute each group's range in units; 0 if it has no value."""
        found = np.zeros(self.count, dtype=object)
        nonempty = self.most >= 0
        found[nonempty] = self.runs.spans(self.least[nonempty], self.most[nonempty])
        return found.tolist()

    def meets(self, k: int, e: int) -> NDArray[np.bool_]:
        """Check whether each group has ``k`` distinct values and a range of ``e`` units."""
        enough = self.distinct >= k
        if e <= 0:
            return enough
        wide = np.array([span >= e for span in self.ranges()], dtype=np.bool_)
        met: NDArray[np.bool_] = enough & wide
        return met


def count_group_facts(runs: ValueRuns, groups: RowIntegers, count: int) -> GroupFacts:
    """Count groups 0, …, ``count`` - 1. Cost: a sort of the rows."""
    rows = np.bincount(groups, minlength=count)
    size = max(runs.distinct, 1)
    pairs = sort_group_values(groups, runs.codes, size)
    without = runs.codes < 0
    valued = rows - np.bincount(groups[without], minlength=count) if without.any() else rows
    del without
    new = np.ones(len(pairs), dtype=np.bool_)
    np.not_equal(pairs[1:], pairs[:-1], out=new[1:])
    pairs = pairs[new]
    distinct = np.bincount(pairs // size, minlength=count)
    ends = np.cumsum(distinct)
    least, most = np.full(count, -1, dtype=np.int64), np.full(count, -1, dtype=np.int64)
    nonempty = distinct > 0
    least[nonempty], most[nonempty] = (
        pairs[(ends - distinct)[nonempty]] % size,
        pairs[ends[nonempty] - 1] % size,
    )
    if runs.subjects is not None:
        known = runs.codes >= 0
        distinct = matching_sizes(groups[known], runs.codes[known], runs.subjects[known], count)
    return GroupFacts(runs, rows, valued, distinct, least, most)


def sort_group_values(groups: RowIntegers, codes: RowIntegers, size: int) -> NDArray[np.int64]:
    """Return group · ``size`` + code of every row with a value: one int64 array, sorted in place."""
    pairs = groups.astype(np.int64)
    pairs *= size
    pairs += codes
    if codes.min(initial=0) < 0:
        pairs = pairs[codes >= 0]
    pairs.sort()
    return pairs
