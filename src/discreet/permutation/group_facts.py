"""What each group has: rows, distinct values, range. Counted by sorting, whatever made the groups.

Where people have several rows, its distinct values are those that as many different people have.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

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


def group_facts(runs: ValueRuns, groups: NDArray[np.int64], count: int) -> GroupFacts:
    """Count groups 0, …, ``count`` - 1. Cost: a sort of the rows."""
    rows = np.bincount(groups, minlength=count).astype(np.int64)
    valued = runs.codes >= 0
    size = max(runs.distinct, 1)
    pairs = np.sort(groups[valued] * size + runs.codes[valued])
    new = np.ones(len(pairs), dtype=np.bool_)
    new[1:] = pairs[1:] != pairs[:-1]
    group, code = np.divmod(pairs[new], size)
    distinct = np.bincount(group, minlength=count).astype(np.int64)
    ends = np.cumsum(distinct)
    least, most = np.full(count, -1, dtype=np.int64), np.full(count, -1, dtype=np.int64)
    held = distinct > 0
    least[held], most[held] = code[(ends - distinct)[held]], code[ends[held] - 1]
    if runs.subjects is not None:
        distinct = carried_of_groups(groups[valued], runs.codes[valued], runs.subjects[valued], count)
    return GroupFacts(runs, rows, np.bincount(group_of(pairs, size), minlength=count), distinct, least, most)


def group_of(pairs: NDArray[np.int64], size: int) -> NDArray[np.int64]:
    """The group of each pair of group and code."""
    return pairs // size
