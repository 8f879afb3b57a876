"""What each group has: rows, distinct values, range. Counted by sorting, whatever made the groups.

Where people have several rows, its distinct values are those that as many different people have.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.frequency.placed_sort import sort_numbers
from discreet.permutation.narrow import Whole
from discreet.permutation.people import carried_of_groups
from discreet.permutation.value_runs import ValueRuns


@dataclass(frozen=True, eq=False)
class GroupFacts:
    """Arrays of shape ``(groups,)``: all rows, rows with a value, distinct values, and the ends' positions.

    ``least`` and ``most`` are positions among the runs' values, -1 where a group has no value.
    """

    runs: ValueRuns
    rows: NDArray[np.int64]
    valued: NDArray[np.int64]
    distinct: NDArray[np.int64]
    least: NDArray[np.int64]
    most: NDArray[np.int64]

    @property
    def count(self) -> int:
        """The number of groups."""
        return len(self.rows)

    def ranges(self) -> list[int]:
        """Each group's range in units; 0 where it has no value."""
        found = np.zeros(self.count, dtype=object)
        held = self.most >= 0
        found[held] = self.runs.spans(self.least[held], self.most[held])
        return found.tolist()

    def meets(self, k: int, e: int) -> NDArray[np.bool_]:
        """Whether each group has ``k`` distinct values and a range of ``e`` units."""
        enough = self.distinct >= k
        if e <= 0:
            return enough
        wide = np.array([span >= e for span in self.ranges()], dtype=np.bool_)
        met: NDArray[np.bool_] = enough & wide
        return met


def group_facts(runs: ValueRuns, groups: Whole, count: int) -> GroupFacts:
    """Count groups 0, …, ``count`` - 1. Cost: a sort of the rows."""
    rows = np.bincount(groups, minlength=count)
    size = max(runs.distinct, 1)
    pairs = sorted_pairs(groups, runs.codes, size)
    without = runs.codes < 0
    valued = rows - np.bincount(groups[without], minlength=count) if without.any() else rows
    del without
    new = np.ones(len(pairs), dtype=np.bool_)
    np.not_equal(pairs[1:], pairs[:-1], out=new[1:])
    pairs = pairs[new]
    distinct = np.bincount(pairs // size, minlength=count)
    ends = np.cumsum(distinct)
    least, most = np.full(count, -1, dtype=np.int64), np.full(count, -1, dtype=np.int64)
    held = distinct > 0
    least[held], most[held] = pairs[(ends - distinct)[held]] % size, pairs[ends[held] - 1] % size
    if runs.subjects is not None:
        known = runs.codes >= 0
        distinct = carried_of_groups(groups[known], runs.codes[known], runs.subjects[known], count)
    return GroupFacts(runs, rows, valued, distinct, least, most)


def sorted_pairs(groups: Whole, codes: Whole, size: int) -> NDArray[np.int64]:
    """Group · ``size`` + code of every row with a value, ascending: one array of 64 bits, sorted in place."""
    pairs = groups.astype(np.int64)
    pairs *= size
    pairs += codes
    if codes.min(initial=0) < 0:
        pairs = pairs[codes >= 0]
    sort_numbers(pairs)
    return pairs
