"""Bounds of aggregates over groups with permuted values, in arrays (Zhang et al. 2007, section 4).

A query selects h rows of a group; of its q rows n have a value, so j of the selected ones do, max(0, h -
(q - n)) ≤ j ≤ min(h, n). SUM is between the sums of the j smallest and j largest values, MIN and MAX
between order statistics; all bounds are attained. A generalized release has the same bounds with h from
a range (Theorem 2). NULL is allowed; AVG is then the best quotient over all j. Independent of help
tables and SQL, so each tests the other.

Cost: for n rows, g groups and Q queries a sort of n, then Q·g; for AVG with open j, Q·n.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError
from discreet.model.release_kind import NULL_CODE, SensitiveColumn

CountArray = NDArray[np.int64]
SumArray = NDArray[Any]
"""int64, Python integers where int64 could overflow, or float64."""

_MOST_CELLS = 1 << 22
_LARGEST = 1 << 62


@dataclass(frozen=True, eq=False)
class GroupedNumbers:
    """Sorted values of each group, with prefix sums.

    ``values`` (values,) contains the groups one after another; group g is
    ``values[starts[g]:starts[g + 1]]``, ascending. ``sums`` (values + 1,) are prefix sums over all values.
    ``sizes`` (groups,) are rows per group, including NULL. Integers are in units of 10^-``scale``. ``slack``
    is an upper bound of the rounding error of a sum of floats.
    """

    groups: NDArray[np.int64]
    sizes: CountArray
    starts: CountArray
    values: NDArray[Any]
    sums: SumArray
    scale: int
    slack: float = 0.0

    @classmethod
    def of(
        cls, column: SensitiveColumn, groups: NDArray[np.int64], group_count: int | None = None
    ) -> GroupedNumbers:
        """Group the values of ``column`` by ``groups`` (rows,).

        ``groups`` contains each of 0, …, ``group_count`` - 1 at least once. Raises ``InputError`` if the
        values are not numbers.
        """
        if column.numbers is None:
            raise InputError(f"'{column.attribute}' is not numeric", allowed="a numeric column")
        number = int(groups.max(initial=-1)) + 1 if group_count is None else group_count
        present = column.codes != NULL_CODE
        of_row, value = groups[present], column.numbers[column.codes[present]]
        order = np.lexsort((value, of_row))
        values = value[order]
        starts = np.concatenate(([0], np.cumsum(np.bincount(of_row, minlength=number))))
        sums, slack = _prefix_sums(values)
        sizes = np.bincount(groups, minlength=number)
        return cls(groups, sizes, starts, values, sums, column.scale, slack)

    @property
    def nonnull(self) -> CountArray:
        """Number of values of each group, shape ``(groups,)``."""
        return np.diff(self.starts)

    @property
    def group_count(self) -> int:
        """Number of groups."""
        return len(self.sizes)

    def hits(self, selected: NDArray[np.bool_]) -> CountArray:
        """Count selected rows by group: a mask ``(queries, rows)`` gives shape ``(queries, groups)``."""
        if not self.group_count:
            return np.zeros((len(selected), 0), dtype=np.int64)
        order = np.argsort(self.groups, kind="stable")
        first = np.concatenate(([0], np.cumsum(self.sizes)[:-1]))
        found = [np.add.reduceat(part[:, order], first, axis=1, dtype=np.int64) for part in _parts(selected)]
        return np.concatenate(found) if found else np.zeros((0, self.group_count), dtype=np.int64)

    @cached_property
    def of_value(self) -> CountArray:
        """Group of each value, shape ``(values,)``."""
        return np.repeat(np.arange(self.group_count), self.nonnull)

    def count_of_sign(self, sign: int) -> CountArray:
        """Count the values of each group that have a sign: -1 negative, 1 positive."""
        signed = self.values < 0 if sign < 0 else self.values > 0
        return np.bincount(self.of_value[signed], minlength=self.group_count)


@dataclass(frozen=True, eq=False)
class SelectionBounds:
    """Sure bounds of each query's aggregates; arrays of shape ``(queries,)``.

    ``rows_*`` bound COUNT(*), ``values_*`` COUNT of the sensitive attribute. Sums, minima and maxima are in
    units of 10^-scale, ``avg_*`` in the attribute's unit. If no value can be selected (``any_value`` is
    False), SUM is 0, AVG is NaN, and MIN and MAX are meaningless. If a value may but need not be selected
    (``surely_value`` is False), the bounds of MIN, MAX and AVG cover the cases in which one is selected; SUM
    counts the other cases as 0.
    """

    rows_lower: CountArray
    rows_upper: CountArray
    values_lower: CountArray
    values_upper: CountArray
    sum_lower: SumArray
    sum_upper: SumArray
    min_lower: NDArray[Any]
    min_upper: NDArray[Any]
    max_lower: NDArray[Any]
    max_upper: NDArray[Any]
    avg_lower: NDArray[np.float64]
    avg_upper: NDArray[np.float64]

    @property
    def any_value(self) -> NDArray[np.bool_]:
        """True where a value can be selected."""
        return self.values_upper > 0

    @property
    def surely_value(self) -> NDArray[np.bool_]:
        """True where at least one value is selected in every case."""
        return self.values_lower > 0


def bound_permuted(values: GroupedNumbers, hits: CountArray) -> SelectionBounds:
    """Compute bounds over a release with permuted values, from the selected rows of each group.

    Parameters
    ----------
    values
        The values of each group.
    hits
        Number of selected rows, shape ``(queries, groups)``.

    References
    ----------
    Zhang et al. (2007), section 4.
    """
    return _bounds(values, hits, hits)


def bound_generalized(
    values: GroupedNumbers, certain: NDArray[np.bool_], possible: NDArray[np.bool_]
) -> SelectionBounds:
    """Compute bounds over a generalized release whose classes are the groups.

    Parameters
    ----------
    values
        The values of each class.
    certain, possible
        Classes inside each query, and classes that may contain a selected row, shape ``(queries, groups)``.
        A certain class is also possible.

    References
    ----------
    Zhang et al. (2007), Theorem 2.
    """
    return _bounds(values, values.sizes * certain, values.sizes * (certain | possible))


def _bounds(values: GroupedNumbers, rows_lower: CountArray, rows_upper: CountArray) -> SelectionBounds:
    nulls = values.sizes - values.nonnull
    least = np.maximum(0, rows_lower - nulls)
    most = np.minimum(rows_upper, values.nonnull)
    sum_lower, sum_upper = _sum_bounds(values, least, most)
    min_lower, min_upper = _least_bounds(values, least, most, -1)
    max_upper, max_lower = _least_bounds(values, least, most, 1)
    avg_lower, avg_upper = _average_bounds(values, least, most)
    return SelectionBounds(
        rows_lower=rows_lower.sum(axis=1),
        rows_upper=rows_upper.sum(axis=1),
        values_lower=least.sum(axis=1),
        values_upper=most.sum(axis=1),
        sum_lower=sum_lower,
        sum_upper=sum_upper,
        min_lower=min_lower,
        min_upper=min_upper,
        max_lower=max_lower,
        max_upper=max_upper,
        avg_lower=avg_lower,
        avg_upper=avg_upper,
    )


def _prefix_sums(values: NDArray[Any]) -> tuple[SumArray, float]:
    """Return prefix sums from 0 on, and a bound of the error of a difference of two of them.

    The sums are int64 where that is wide enough, else Python integers; float64 for floats.
    """
    if values.dtype.kind == "f":
        sums = np.concatenate(([0.0], np.cumsum(values)))
        # Each addition and the final difference have an error of at most half an ulp of a partial sum.
        return sums, float(2 * len(values) * np.finfo(np.float64).eps * np.abs(values).sum())
    largest = max((abs(int(v)) for v in (values.min(), values.max())), default=0) if len(values) else 0
    kind: Any = np.int64 if largest * (len(values) + 1) < _LARGEST else object
    return np.concatenate((np.zeros(1, dtype=kind), np.cumsum(values.astype(kind)))), 0.0


def _sum_bounds(values: GroupedNumbers, least: CountArray, most: CountArray) -> tuple[SumArray, SumArray]:
    first, last, sums = values.starts[:-1], values.starts[1:], values.sums
    # The smallest sum takes every negative value, as far as ``least`` and ``most`` allow.
    small = np.clip(values.count_of_sign(-1), least, most)
    large = np.clip(values.count_of_sign(1), least, most)
    lower = (sums[first + small] - sums[first]).sum(axis=1)
    upper = (sums[last] - sums[last - large]).sum(axis=1)
    if values.slack:
        return lower - values.slack, upper + values.slack
    return lower, upper


def _least_bounds(
    values: GroupedNumbers, least: CountArray, most: CountArray, sign: int
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the outer and inner bound of MIN (``sign`` -1: lower, upper) or of MAX (1: upper, lower)."""
    first, n = values.starts[:-1], values.nonnull
    better, worse = (np.minimum, np.maximum) if sign < 0 else (np.maximum, np.minimum)
    if not len(values.values):
        none = np.zeros(len(least), dtype=values.values.dtype)
        return none, none.copy()
    top = len(values.values) - 1
    best_of_group = values.values[np.minimum(first if sign < 0 else first + n - 1, top)]
    worst_of_group = values.values[np.clip(first + n - 1 if sign < 0 else first, 0, top)]
    place = first + n - least if sign < 0 else first + least - 1
    kept_at_worst = values.values[np.clip(place, 0, top)]
    # If some group surely contributes a value, the best of these values is the inner bound. Otherwise a
    # single value of any group may be the only one, so the bound is the worst possible value.
    never, always = _extremes(values.values.dtype, sign)
    possible, sure = most > 0, least > 0
    outer = better.reduce(np.where(possible, best_of_group, never), axis=1, initial=never)
    surely: NDArray[Any] = better.reduce(np.where(sure, kept_at_worst, never), axis=1, initial=never)
    selected_only: NDArray[Any] = worse.reduce(
        np.where(possible, worst_of_group, always), axis=1, initial=always
    )
    return outer, np.where(sure.any(axis=1), surely, selected_only)


def _extremes(dtype: np.dtype[Any], sign: int) -> tuple[Any, Any]:
    """Return the neutral elements of the better and the worse side (for MIN: largest, smallest value)."""
    if dtype.kind == "f":
        low, high = -np.inf, np.inf
    else:
        low, high = np.iinfo(np.int64).min, np.iinfo(np.int64).max
    return (high, low) if sign < 0 else (low, high)


def _average_bounds(
    values: GroupedNumbers, least: CountArray, most: CountArray
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    unit = 10**values.scale
    open_to = (most > least).any(axis=1)
    lower, upper = np.full(len(least), np.nan), np.full(len(least), np.nan)
    fixed = np.flatnonzero(~open_to & (most.sum(axis=1) > 0))
    if len(fixed):
        low, high = _sum_bounds(values, least[fixed], most[fixed])
        count = least[fixed].sum(axis=1) * unit
        lower[fixed], upper[fixed] = (low / count).astype(np.float64), (high / count).astype(np.float64)
    for part in _parts(np.flatnonzero(open_to), len(values.values)):
        lower[part] = _extreme_average(values, least[part], most[part], -1) / unit
        upper[part] = _extreme_average(values, least[part], most[part], 1) / unit
    if values.slack:
        return np.nextafter(lower, -np.inf), np.nextafter(upper, np.inf)
    return lower, upper


def _extreme_average(
    values: GroupedNumbers, least: CountArray, most: CountArray, sign: int
) -> NDArray[np.float64]:
    """Return the smallest (-1) or largest (1) average.

    The forced values (``least`` per group) come first; then the optional ones are added in order of value.
    All prefixes are evaluated, and the best quotient is taken. NaN where no value can be selected.
    """
    first, last, sums = values.starts[:-1], values.starts[1:], values.sums
    kind = sums.dtype
    place = np.arange(len(values.values)) - first[values.of_value]
    if sign > 0:
        place = values.nonnull[values.of_value] - 1 - place
        forced = (sums[last] - sums[last - least]).sum(axis=1)
    else:
        forced = (sums[first + least] - sums[first]).sum(axis=1)
    order = np.argsort(values.values, kind="stable")
    order = order[::-1] if sign > 0 else order
    group, place, value = values.of_value[order], place[order], values.values[order].astype(kind)
    optional = (place >= least[:, group]) & (place < most[:, group])
    zero = np.zeros((len(least), 1), dtype=kind)
    totals = forced[:, None] + np.concatenate((zero, np.cumsum(value * optional, axis=1)), axis=1)
    added = np.concatenate((np.zeros((len(least), 1), dtype=np.int64), np.cumsum(optional, axis=1)), axis=1)
    count = least.sum(axis=1)[:, None] + added
    quotient = np.full(totals.shape, -sign * np.inf)
    some = count > 0
    quotient[some] = (totals[some] + sign * values.slack if values.slack else totals[some]) / count[some]
    found = quotient.max(axis=1) if sign > 0 else quotient.min(axis=1)
    return np.where(some.any(axis=1), found, np.nan)


def _parts(rows: NDArray[Any], width: int | None = None) -> Iterator[NDArray[Any]]:
    """Yield slices of rows that have at most ``_MOST_CELLS`` cells of ``width`` each."""
    cells = max(rows.shape[1] if width is None else width, 1)
    step = max(1, _MOST_CELLS // cells)
    for start in range(0, len(rows), step):
        yield rows[start : start + step]
