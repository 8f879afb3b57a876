"""Distinct values of a sensitive column with their rows, and the assignment of these rows to groups.

Values are integers whose differences are exact: decimals in units of 10^-scale, doubles in units of a
common power of two. If the range is below 2^63 units the kernels compute with it; otherwise Python's
integers do. Which row of a value goes to which group is drawn; rows without a value are spread over the
groups in proportion to their rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from math import ceil

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError, InternalError
from discreet.model.release_kind import SensitiveColumn
from discreet.permutation.row_positions import DrawOrder, RowIntegers, integer_dtype

_LARGEST = (1 << 63) - 1


@dataclass(frozen=True, eq=False)
class ValueRuns:
    """Distinct values, ascending, each with its rows.

    ``units`` are multiples of ``unit``, counted from the smallest value; None if values are no numbers.
    ``counts``, shape ``(values,)``, are rows. ``codes``, shape ``(rows,)``, are the value of each row, or -1
    for NULL; ``subjects`` are the people of the rows if people have several rows.
    """

    units: Sequence[int] | NDArray[np.int64] | None
    unit: Fraction
    counts: RowIntegers
    codes: RowIntegers
    of_floats: bool = False
    subjects: NDArray[np.int64] | None = None

    @classmethod
    def of(cls, column: SensitiveColumn) -> ValueRuns:
        """Build the runs of a column; raise ``InputError`` for numbers that are not finite."""
        codes, numbers, kind = column.codes, column.numbers, integer_dtype(column.rows + 1)
        counts = np.bincount(_nonnull_codes(codes), minlength=column.distinct).astype(kind)
        if not counts.all():
            used = np.flatnonzero(counts)
            position_of = np.full(len(counts) + 1, -1, dtype=kind)
            position_of[used] = np.arange(len(used))
            codes, counts = position_of[codes], counts[used]
            numbers = None if numbers is None else numbers[used]
        runs = cls(None, Fraction(1), counts, codes, subjects=column.subjects)
        if numbers is None:
            return runs
        if numbers.dtype.kind == "f":
            units, unit = _units_of_floats(numbers.astype(np.float64, copy=False), column.attribute)
            return replace(runs, units=units, unit=unit, of_floats=True)
        unit = Fraction(1, 10**column.scale)
        return replace(runs, units=_subtract_smallest(numbers.astype(np.int64, copy=False)), unit=unit)

    @property
    def distinct(self) -> int:
        """Number of distinct values."""
        return len(self.counts)

    @cached_property
    def rows(self) -> int:
        """Number of rows with a value."""
        return int(self.counts.sum())

    @property
    def span(self) -> int:
        """Whole range in units; 0 without numbers."""
        if self.units is None or not self.distinct:
            return 0
        return int(self.units[-1])

    @property
    def array(self) -> NDArray[np.int64] | None:
        """Units as an array; None if they do not fit 64 bits or there are no numbers."""
        return self.units if isinstance(self.units, np.ndarray) else None

    @cached_property
    def integers(self) -> list[int]:
        """Units as Python integers; zeros if values are no numbers."""
        if self.units is None:
            return [0] * self.distinct
        return self.units.tolist() if isinstance(self.units, np.ndarray) else list(self.units)

    def spans(self, least: RowIntegers, most: RowIntegers) -> list[int]:
        """Compute the ranges in units between values at positions ``least`` and ``most``, pair by pair."""
        if self.array is not None:
            result: list[int] = (self.array[most] - self.array[least]).tolist()
            return result
        units = self.integers
        return [units[high] - units[low] for low, high in zip(least.tolist(), most.tolist(), strict=True)]

    def least_range(self, e: Decimal) -> int:
        """Return the smallest whole number of units that is a range of at least ``e``."""
        return ceil(Fraction(e) / self.unit)

    def as_decimal(self, units: int) -> Decimal:
        """Convert a range or a sum of ranges to the attribute's unit."""
        exact = units * self.unit
        if self.of_floats:
            return Decimal(repr(float(exact)))
        places = len(str(self.unit.denominator)) - 1
        digits = tuple(int(digit) for digit in str(abs(units)))
        return Decimal((int(units < 0), digits, -places))


def _nonnull_codes(codes: RowIntegers) -> RowIntegers:
    """Return the codes of rows that have a value."""
    return codes if codes.min(initial=0) >= 0 else codes[codes >= 0]


def _subtract_smallest(numbers: NDArray[np.int64]) -> list[int] | NDArray[np.int64]:
    if len(numbers) and int(numbers[-1]) - int(numbers[0]) > _LARGEST:
        smallest = int(numbers[0])
        return [number - smallest for number in numbers.tolist()]
    return numbers - numbers[0] if len(numbers) else numbers


def _units_of_floats(
    numbers: NDArray[np.float64], attribute: str
) -> tuple[list[int] | NDArray[np.int64], Fraction]:
    """Convert doubles to integers and their common unit, a power of two."""
    if not np.isfinite(numbers).all():
        raise InputError(
            f"'{attribute}' has numbers that are not finite",
            allowed="finite numbers, and NULL for a missing value",
        )
    if not len(numbers):
        return np.zeros(0, dtype=np.int64), Fraction(1)
    mantissas, exponents = np.frexp(numbers)
    integers = (mantissas * 2.0**53).astype(np.int64)
    lowest_bits = np.where(integers == 0, 1, integers & -integers)
    powers = np.where(integers == 0, 2000, exponents - 53 + np.log2(lowest_bits).astype(np.int64))
    power = min(int(powers.min()), 2000)
    if power == 2000:
        return np.zeros(len(numbers), dtype=np.int64), Fraction(1)
    unit = Fraction(2) ** power
    if abs(int(Fraction(float(np.abs(numbers).max())) / unit)) < 1 << 61:
        return _subtract_smallest(np.ldexp(numbers, -power).astype(np.int64)), unit
    smallest = Fraction(float(numbers[0]))
    return [int((Fraction(number) - smallest) / unit) for number in numbers.tolist()], unit


@dataclass(frozen=True, eq=False)
class ValueParts:
    """Parts of a partition: ``rows[p]`` rows of value ``values[p]`` belong to group ``groups[p]``.

    Values ascend.
    """

    values: RowIntegers
    groups: RowIntegers
    rows: RowIntegers

    @classmethod
    def of_cuts(cls, counts: RowIntegers, cuts: RowIntegers) -> ValueParts:
        """Cut rows sorted by value before each of the positions ``cuts`` into contiguous groups.

        Every value must have rows. Cost: linear, with one byte per row.
        """
        ends = np.cumsum(counts)
        rows = int(ends[-1]) if len(ends) else 0
        of_value, of_group = np.zeros(rows, dtype=np.bool_), np.zeros(rows, dtype=np.bool_)
        ends -= counts
        of_value[ends] = of_group[cuts] = True
        del ends
        kind = integer_dtype(rows + 1)
        starts = np.flatnonzero(of_value | of_group).astype(kind)
        values = np.cumsum(of_value[starts], dtype=kind)
        values -= 1
        groups = np.cumsum(of_group[starts], dtype=kind)
        return cls(values, groups, np.diff(starts, append=kind(rows)))

    @property
    def group_count(self) -> int:
        """Number of groups."""
        return int(self.groups.max()) + 1


def assign_rows_to_groups(runs: ValueRuns, parts: ValueParts, draw: DrawOrder) -> RowIntegers:
    """Assign each row to a group; rows without a value are spread in proportion to the groups' rows.

    Cost: linear, and a sort of the rows whose value belongs to several groups.
    """
    first = np.searchsorted(parts.values, np.arange(runs.distinct, dtype=parts.values.dtype))
    several = np.diff(first, append=len(parts.values)) > 1
    # The code of no value, -1, indexes the appended last entry.
    groups = np.append(parts.groups[first], parts.groups.dtype.type(-1))[runs.codes]
    del first
    if several.any():
        drawn = np.flatnonzero(np.append(several, False)[runs.codes]).astype(groups.dtype)
        drawn = drawn[draw(len(drawn))]
        drawn = drawn[np.argsort(runs.codes[drawn], kind="stable")]
        chosen = several[parts.values]
        groups[drawn] = np.repeat(parts.groups[chosen], parts.rows[chosen])
    return spread_ungrouped_rows(groups, draw)


def spread_ungrouped_rows(groups: RowIntegers, draw: DrawOrder) -> RowIntegers:
    """Assign rows of no group (-1) in a drawn order, in proportion to the groups' rows.

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
