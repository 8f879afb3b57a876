"""The distinct values of a sensitive column with their rows, as whole numbers whose differences are exact.

Whole numbers and decimals come as integers in units of 10^-scale. Doubles are integers as well, in units of
a power of two that all of them share, so no comparison of ranges is rounded. Where the whole range is below
2^63 units the kernels compute with it; else, for integers near the ends of 64 bits or doubles of very
different sizes, Python's own integers do, exactly and slowly.
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

from discreet.errors import InputError
from discreet.model.permutation import SensitiveColumn
from discreet.permutation.narrow import Whole, narrow

_LARGEST = (1 << 63) - 1


@dataclass(frozen=True, eq=False)
class ValueRuns:
    """Distinct values, ascending, each with its rows.

    ``units`` are multiples of ``unit``, counted from the smallest value; None where values are no numbers.
    ``counts``, shape ``(values,)``, are rows. ``codes``, shape ``(rows,)``, say which value a row has, or
    ``NULL``; ``subjects`` whose it is, where people have several rows.
    """

    units: Sequence[int] | NDArray[np.int64] | None
    unit: Fraction
    counts: Whole
    codes: Whole
    of_floats: bool = False
    subjects: NDArray[np.int64] | None = None

    @classmethod
    def of(cls, column: SensitiveColumn) -> ValueRuns:
        """The runs of a column; ``InputError`` for numbers that are not finite."""
        codes, numbers, kind = column.codes, column.numbers, narrow(column.rows + 1)
        counts = np.bincount(_without_null(codes), minlength=column.distinct).astype(kind)
        if not counts.all():
            used = np.flatnonzero(counts)
            place = np.full(len(counts) + 1, -1, dtype=kind)
            place[used] = np.arange(len(used))
            codes, counts = place[codes], counts[used]
            numbers = None if numbers is None else numbers[used]
        runs = cls(None, Fraction(1), counts, codes, subjects=column.subjects)
        if numbers is None:
            return runs
        if numbers.dtype.kind == "f":
            units, unit = _units_of_floats(numbers.astype(np.float64, copy=False), column.attribute)
            return replace(runs, units=units, unit=unit, of_floats=True)
        unit = Fraction(1, 10**column.scale)
        return replace(runs, units=_from_smallest(numbers.astype(np.int64, copy=False)), unit=unit)

    @property
    def distinct(self) -> int:
        """The number of distinct values."""
        return len(self.counts)

    @cached_property
    def rows(self) -> int:
        """Rows that have a value."""
        return int(self.counts.sum())

    @property
    def span(self) -> int:
        """The whole range in units; 0 where there are no numbers."""
        if self.units is None or not self.distinct:
            return 0
        return int(self.units[-1])

    @property
    def array(self) -> NDArray[np.int64] | None:
        """The units as an array, None where they do not fit 64 bits (or are no numbers)."""
        return self.units if isinstance(self.units, np.ndarray) else None

    @cached_property
    def integers(self) -> list[int]:
        """The units as Python's integers; zeros where values are no numbers."""
        if self.units is None:
            return [0] * self.distinct
        return self.units.tolist() if isinstance(self.units, np.ndarray) else list(self.units)

    def spans(self, least: Whole, most: Whole) -> list[int]:
        """The ranges in units between values at these places, of which each pair is in order."""
        if self.array is not None:
            found: list[int] = (self.array[most] - self.array[least]).tolist()
            return found
        units = self.integers
        return [units[high] - units[low] for low, high in zip(least.tolist(), most.tolist(), strict=True)]

    def least_range(self, e: Decimal) -> int:
        """The smallest whole number of units that is a range of at least ``e``."""
        return ceil(Fraction(e) / self.unit)

    def as_decimal(self, units: int) -> Decimal:
        """A range or a sum of ranges in the attribute's unit."""
        exact = units * self.unit
        if self.of_floats:
            return Decimal(repr(float(exact)))
        places = len(str(self.unit.denominator)) - 1
        digits = tuple(int(digit) for digit in str(abs(units)))
        return Decimal((int(units < 0), digits, -places))


def _without_null(codes: Whole) -> Whole:
    """The codes of rows that have a value."""
    return codes if codes.min(initial=0) >= 0 else codes[codes >= 0]


def _from_smallest(numbers: NDArray[np.int64]) -> list[int] | NDArray[np.int64]:
    if len(numbers) and int(numbers[-1]) - int(numbers[0]) > _LARGEST:
        smallest = int(numbers[0])
        return [number - smallest for number in numbers.tolist()]
    return numbers - numbers[0] if len(numbers) else numbers


def _units_of_floats(
    numbers: NDArray[np.float64], attribute: str
) -> tuple[list[int] | NDArray[np.int64], Fraction]:
    """Integers and their common unit, a power of two."""
    if not np.isfinite(numbers).all():
        raise InputError(
            f"'{attribute}' has numbers that are not finite", allowed="finite numbers, and NULL for none"
        )
    if not len(numbers):
        return np.zeros(0, dtype=np.int64), Fraction(1)
    mantissas, exponents = np.frexp(numbers)
    whole = (mantissas * 2.0**53).astype(np.int64)
    lowest_bits = np.where(whole == 0, 1, whole & -whole)
    powers = np.where(whole == 0, 2000, exponents - 53 + np.log2(lowest_bits).astype(np.int64))
    power = min(int(powers.min()), 2000)
    if power == 2000:
        return np.zeros(len(numbers), dtype=np.int64), Fraction(1)
    unit = Fraction(2) ** power
    if abs(int(Fraction(float(np.abs(numbers).max())) / unit)) < 1 << 61:
        return _from_smallest(np.ldexp(numbers, -power).astype(np.int64)), unit
    smallest = Fraction(float(numbers[0]))
    return [int((Fraction(number) - smallest) / unit) for number in numbers.tolist()], unit
