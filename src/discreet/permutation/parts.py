"""From rows of values in groups to the groups of single rows: which row of a value goes where is drawn."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InternalError
from discreet.permutation.draw import Draw
from discreet.permutation.value_runs import ValueRuns


@dataclass(frozen=True, eq=False)
class Parts:
    """``rows[p]`` rows of value ``values[p]`` belong to group ``groups[p]``; values ascend."""

    values: NDArray[np.int64]
    groups: NDArray[np.int64]
    rows: NDArray[np.int64]

    @classmethod
    def of_cuts(cls, counts: NDArray[np.int64], cuts: NDArray[np.int64]) -> Parts:
        """Groups of neighbours: rows sorted by value are cut before each of the places ``cuts``."""
        ends = np.cumsum(counts)
        starts = np.union1d(ends - counts, cuts)
        rows = np.diff(np.append(starts, ends[-1]))
        values = np.searchsorted(ends, starts, side="right")
        return cls(values, np.searchsorted(cuts, starts, side="right"), rows)

    @property
    def group_count(self) -> int:
        """The number of groups."""
        return int(self.groups.max()) + 1


def groups_of_rows(runs: ValueRuns, parts: Parts, draw: Draw) -> NDArray[np.int64]:
    """The group of each row, those without a value spread over the groups in proportion to their rows.

    Cost: linear, and a sort of the rows whose value lies in several groups.
    """
    first = np.searchsorted(parts.values, np.arange(runs.distinct))
    several = np.diff(np.append(first, len(parts.values))) > 1
    valued = runs.codes >= 0
    groups = np.full(len(runs.codes), -1, dtype=np.int64)
    groups[valued] = parts.groups[first][runs.codes[valued]]
    drawn = np.flatnonzero(valued)
    drawn = drawn[several[runs.codes[drawn]]]
    if len(drawn):
        drawn = drawn[draw(len(drawn))]
        drawn = drawn[np.argsort(runs.codes[drawn], kind="stable")]
        chosen = several[parts.values]
        groups[drawn] = np.repeat(parts.groups[chosen], parts.rows[chosen])
    return spread_rest(groups, draw)


def spread_rest(groups: NDArray[np.int64], draw: Draw) -> NDArray[np.int64]:
    """Rows of no group (-1) dealt out, in an order that is drawn, in proportion to the groups' rows.

    Each group gets its share up to one row.
    """
    rest = np.flatnonzero(groups < 0)
    if not len(rest):
        return groups
    placed = np.sort(groups[groups >= 0])
    if not len(placed):
        raise InternalError("no group to spread rows over")
    places = (2 * np.arange(len(rest)) + 1) * len(placed) // (2 * len(rest))
    groups = groups.copy()
    groups[rest[draw(len(rest))]] = placed[places]
    return groups
