"""From rows of values in groups to the groups of single rows: which row of a value goes where is drawn."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from discreet.errors import InternalError
from discreet.permutation.draw import Draw
from discreet.permutation.narrow import Whole, narrow
from discreet.permutation.value_runs import ValueRuns


@dataclass(frozen=True, eq=False)
class Parts:
    """``rows[p]`` rows of value ``values[p]`` belong to group ``groups[p]``; values ascend."""

    values: Whole
    groups: Whole
    rows: Whole

    @classmethod
    def of_cuts(cls, counts: Whole, cuts: Whole) -> Parts:
        """Groups of neighbours: rows sorted by value are cut before each of the places ``cuts``.

        Every value has rows. Cost: linear, in marks of a byte for each row.
        """
        ends = np.cumsum(counts)
        rows = int(ends[-1]) if len(ends) else 0
        of_value, of_group = np.zeros(rows, dtype=np.bool_), np.zeros(rows, dtype=np.bool_)
        ends -= counts
        of_value[ends] = of_group[cuts] = True
        del ends
        kind = narrow(rows + 1)
        starts = np.flatnonzero(of_value | of_group).astype(kind)
        values = np.cumsum(of_value[starts], dtype=kind)
        values -= 1
        groups = np.cumsum(of_group[starts], dtype=kind)
        return cls(values, groups, np.diff(starts, append=kind(rows)))

    @property
    def group_count(self) -> int:
        """The number of groups."""
        return int(self.groups.max()) + 1


def groups_of_rows(runs: ValueRuns, parts: Parts, draw: Draw) -> Whole:
    """The group of each row, those without a value spread over the groups in proportion to their rows.

    Cost: linear, and a sort of the rows whose value lies in several groups.
    """
    first = np.searchsorted(parts.values, np.arange(runs.distinct, dtype=parts.values.dtype))
    several = np.diff(first, append=len(parts.values)) > 1
    # The code of no value, -1, finds what is appended.
    groups = np.append(parts.groups[first], parts.groups.dtype.type(-1))[runs.codes]
    del first
    if several.any():
        drawn = np.flatnonzero(np.append(several, False)[runs.codes]).astype(groups.dtype)
        drawn = drawn[draw(len(drawn))]
        drawn = drawn[np.argsort(runs.codes[drawn], kind="stable")]
        chosen = several[parts.values]
        groups[drawn] = np.repeat(parts.groups[chosen], parts.rows[chosen])
    return spread_rest(groups, draw)


def spread_rest(groups: Whole, draw: Draw) -> Whole:
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
