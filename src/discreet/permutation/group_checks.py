"""Checks of a partition: does each group meet (k,e), and how close are its values?

(k,e)-anonymity (Zhang et al. 2007, definition 5) is counted per group, independently of the partition
method. (ε,m)-anonymity (Li, Tao and Xiao 2008) measures the proximity breach that (k,e) allows: of each
row's group at most one row in m may have a value within ε of that row's own. NULL is in neither count.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from math import ceil, floor

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError, InternalError
from discreet.model.release_kind import GroupPartition, GroupRequirement, SensitiveColumn
from discreet.permutation.row_positions import ROWS_PER_BATCH, RowIntegers, integer_dtype
from discreet.permutation.subject_groups import count_group_facts, sort_group_values
from discreet.permutation.value_runs import ValueRuns

_TELLING_SHARE = Fraction(1, 2)
_HALF = 1 << 62


@dataclass(frozen=True)
class GroupCheck:
    """Minima over the groups of a partition, and the number of failing groups."""

    groups: int
    rows: int
    rows_without_value: int
    least_distinct: int
    least_range: Decimal | None
    failing: int

    @property
    def holds(self) -> bool:
        """True if every group meets the requirement."""
        return self.groups > 0 and self.failing == 0


@dataclass(frozen=True)
class GroupProximity:
    """Largest share, over all rows, of a group's rows whose values are within ε of the row's own value.

    ``rows`` counts the rows for which that share is above one half.
    """

    worst_share: Fraction
    rows: int


def check_partition(
    column: SensitiveColumn,
    groups: RowIntegers,
    requirement: GroupRequirement,
    first: GroupRequirement | None = None,
) -> GroupCheck:
    """Count ``groups``, shape ``(rows,)``, and check them against ``requirement``.

    With ``first`` some group that contains the smallest value must meet it, and all others ``requirement``. A
    row with a group below 0 counts as a failing group, and so does a group number 0, …, maximum without rows.
    Raises ``InternalError`` if rows and groups do not match.
    """
    if groups.shape != (column.rows,):
        raise InternalError("groups are not one for each row")
    runs = ValueRuns.of(column)
    count = int(groups.max(initial=-1)) + 1
    placed = groups >= 0
    facts = count_group_facts(_restrict_runs(runs, placed), groups[placed], count)
    met = facts.meets(requirement.k, runs.least_range(requirement.e))
    failing = int((~met).sum()) + int(not placed.all())
    if first is not None and count:
        candidates = facts.least == 0
        special = candidates & facts.meets(first.k, runs.least_range(first.e))
        if not special.any():
            failing = max(failing, 1)
        elif not met[special].all() and failing:
            failing -= 1
    spans = facts.ranges()
    return GroupCheck(
        groups=count,
        rows=len(groups),
        rows_without_value=int((runs.codes < 0).sum()),
        least_distinct=int(facts.distinct.min(initial=runs.distinct)) if count else 0,
        least_range=runs.as_decimal(min(spans)) if spans and runs.units is not None else None,
        failing=failing,
    )


def measure_proximity(column: SensitiveColumn, groups: RowIntegers, epsilon: Decimal) -> GroupProximity:
    """Measure (ε,m)-anonymity, which holds for m up to 1 / ``worst_share``.

    Raises ``InputError`` for an attribute without numbers, and for an ε below 0.
    Cost: a sort of the rows, and a binary search for each value of a group.
    """
    if column.numbers is None:
        raise InputError(f"'{column.attribute}' is not numeric, so proximity is undefined", allowed="numbers")
    if not epsilon.is_finite() or epsilon < 0:
        raise InputError(f"ε = {epsilon}", allowed="a number from 0")
    runs = ValueRuns.of(column)
    codes, size = runs.codes, max(runs.distinct, 1)
    low, high = _values_within(runs, epsilon)
    del runs
    pairs = sort_group_values(groups, codes, size)
    if not len(pairs):
        return GroupProximity(Fraction(0), 0)
    starts = np.concatenate(([0], np.cumsum(np.bincount(pairs // size))))
    worst, share, rows = -1.0, Fraction(0), 0
    # Batches keep the working arrays small; a run of equal pairs may be divided between two of them.
    for first in range(0, len(pairs), ROWS_PER_BATCH):
        part = pairs[first : first + ROWS_PER_BATCH]
        unlike = np.flatnonzero(np.append(True, part[1:] != part[:-1]))
        alike = np.diff(unlike, append=len(part))
        group, code = np.divmod(part[unlike], size)
        near = np.searchsorted(pairs, group * size + high[code], side="right")
        near -= np.searchsorted(pairs, group * size + low[code], side="left")
        totals = starts[group + 1] - starts[group]
        shares = near / totals
        index = int(shares.argmax())
        if shares[index] > worst:
            worst, share = float(shares[index]), Fraction(int(near[index]), int(totals[index]))
        rows += int(alike[near * _TELLING_SHARE.denominator > totals * _TELLING_SHARE.numerator].sum())
    return GroupProximity(share, rows)


def proximity_warning(column: SensitiveColumn, partition: GroupPartition) -> str | None:
    """Return a warning with the worst share if some row has over half of its group within ε of its value.

    ε is half of the required e. None if there is no such row, or the values are no numbers.
    """
    radius = partition.requirement.e / 2
    if column.numbers is None:
        return None
    found = measure_proximity(column, partition.groups, radius)
    if not found.rows:
        return None
    percent = ceil(found.worst_share * 100)
    share = "over 99 %" if percent == 100 and found.worst_share < 1 else f"up to {percent} %"
    within = f"within {radius} of" if radius else "equal to"
    return (
        f"proximity: for {found.rows:,} rows more than half of the group's values are {within} the row's own,"
        f" {share}; (k,e) does not prevent that, (ε,m)-anonymity would"
    )


def _restrict_runs(runs: ValueRuns, placed: NDArray[np.bool_]) -> ValueRuns:
    if placed.all():
        return runs
    return replace(
        runs,
        codes=runs.codes[placed],
        subjects=None if runs.subjects is None else runs.subjects[placed],
    )


def _values_within(runs: ValueRuns, epsilon: Decimal) -> tuple[RowIntegers, RowIntegers]:
    """Return, for each value, the first and the last value within ε of it, exactly."""
    array, radius = runs.array, floor(Fraction(epsilon) / runs.unit)
    if array is not None and runs.span < _HALF:
        radius = min(radius, runs.span)
        kind = integer_dtype(len(array) + 1)
        low = np.searchsorted(array, array - radius, side="left").astype(kind)
        high = np.searchsorted(array, array + radius, side="right").astype(kind)
        high -= 1
        return low, high
    units = runs.integers
    lows = [bisect_left(units, unit - radius) for unit in units]
    highs = [bisect_right(units, unit + radius) - 1 for unit in units]
    return np.array(lows, dtype=np.int64), np.array(highs, dtype=np.int64)
