"""The partition with the least sum of errors (Zhang et al. 2007, section 6.1).

Definition. The error of a group is its range, the largest less the smallest value. Of all partitions into
groups of at least k distinct values and a range of at least e, one has the least sum of errors. In it no two
groups overlap but in one value, since the union of two that do has a smaller range than the two together; so
it cuts the sorted rows.

Differences from the paper. Its dynamic program looks at every pair of rows. Here the sum is the whole range
less the gaps at cuts, so the best last cut is that of a prefix, and a pass over the sorted rows suffices. A
cut between equal values spares no gap and yet makes groups smaller. Of partitions with the least sum the one
with the most groups is taken, and of those the one with the least sum of squared group sizes: bounds of a
query widen with the size of the groups it meets.

Weighted by the groups' rows, the sum says more of a query's bounds: it is the expected range of a random
row's group. The lemma fails for it (groups that interleave can weigh less), so the weighted partition is the
best of the contiguous ones, a heuristic among all. A queue of beginnings finds it (see its kernel).

Cost: a sort, then linear in the rows (weighted: rows · log2 rows); values with counts are sorted already.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InternalError
from discreet.permutation.loops import Loops
from discreet.permutation.parts import Parts
from discreet.permutation.value_runs import ValueRuns

LOOPS = ("cut-least-sum", "walk-cuts")
WEIGHTED_LOOPS = ("cut-least-weight", "walk-cuts")
_RING = 1 << 14
_MORE = 32


@dataclass(frozen=True)
class Need:
    """What groups need, in units of the values: ``k`` and ``e``, and those of the group of the smallest."""

    k: int
    e: int
    first_k: int
    first_e: int

    @property
    def units(self) -> tuple[int, int, int, int]:
        """The four as the loops take them."""
        return self.k, self.e, self.first_k, self.first_e

    def again(self) -> Need:
        """The same where no group is special."""
        return Need(self.k, self.e, self.k, self.e)


def least_sum(runs: ValueRuns, need: Need, loops: Loops) -> tuple[Parts, int]:
    """The partition, and its sum of errors in units."""
    cuts = sorted_cuts(_sorted_rows(runs, loops), need, loops)
    parts = Parts.of_cuts(runs.counts, cuts)
    return parts, sum_of_ranges(runs, parts)


def least_weighted_sum(runs: ValueRuns, need: Need, loops: Loops) -> tuple[Parts, int]:
    """The groups of neighbours with the least sum of ranges, each times its rows, and that sum in units.

    ``loops`` must be the twin where rows times the whole range does not fit 62 bits.
    """
    size = runs.rows + 1
    cuts, totals, queue, takeovers = (loops.work(size) for _ in range(4))
    values = _sorted_rows(runs, loops)
    cost = int(loops.run("cut-least-weight", values, need.units, totals, cuts, queue, takeovers))
    if cost < 0:
        raise InternalError("no partition where the whole column is a group")
    number = int(loops.run("walk-cuts", cuts, size - 1))
    places = np.array(cuts[:number], dtype=np.int64)
    return Parts.of_cuts(runs.counts, places), cost


def _sorted_rows(runs: ValueRuns, loops: Loops) -> Any:
    """Every row's value in units, ascending, as the loops take them."""
    if loops.compiled and runs.array is not None:
        return runs.array if runs.rows == runs.distinct else np.repeat(runs.array, runs.counts)
    rows, integers = np.repeat(np.arange(runs.distinct), runs.counts), runs.integers
    return loops.numbers([integers[place] for place in rows.tolist()])


def sorted_cuts(values: object, need: Need, loops: Loops) -> NDArray[np.int64]:
    """The places before which ascending ``values`` (an int64 array, or a list for the twin) are cut."""
    size = len(values) + 1  # type: ignore[arg-type]
    cuts = loops.work(size, narrow=size < 1 << 31)
    ring = min(_RING, 1 << size.bit_length())
    while True:
        rings = tuple(loops.work(ring) for _ in range(6))
        count = int(loops.run("cut-least-sum", values, need.units, ring - 1, rings, cuts))
        if count >= 0:
            break
        # More cuts were open at once than the ring holds: rare, and known only once it has happened.
        ring *= _MORE
    if count == 0:
        raise InternalError("no partition where the whole column is a group")
    number = int(loops.run("walk-cuts", cuts, size - 1))
    return np.array(cuts[:number], dtype=np.int64)


def sum_of_ranges(runs: ValueRuns, parts: Parts) -> int:
    """The sum of the groups' ranges in units."""
    return sum(ranges(runs, parts))


def ranges(runs: ValueRuns, parts: Parts) -> list[int]:
    """Each group's range in units."""
    count = parts.group_count
    least = np.full(count, runs.distinct, dtype=np.int64)
    most = np.full(count, -1, dtype=np.int64)
    np.minimum.at(least, parts.groups, parts.values)
    np.maximum.at(most, parts.groups, parts.values)
    return runs.spans(least, most)
