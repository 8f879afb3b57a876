"""Rows of classes in which known values occur, and what is aggregated of them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from discreet.model.cells import Cells
from discreet.workload.covering import Floats, Whole

BOUNDLESS = float(2**80)
"""In place of infinite values, so that sums stay numbers."""

Occurring = tuple[tuple[int, ...], ...]
"""The codes that occur in each class which shows a label, by label; none where nothing is known."""


@dataclass(frozen=True, eq=False)
class ByCode:
    """An attribute is aggregated whose value depends on what a row has: ``low`` and ``high`` by code.

    ``stated`` holds, by label, a mean and how far it may be off; NaN where none is stated.
    """

    place: int
    low: Floats
    high: Floats
    stated: tuple[Floats, Floats] | None = None

    def mirrored(self) -> ByCode:
        """With all values negated."""
        stated = None if self.stated is None else (-self.stated[0], self.stated[1])
        return ByCode(self.place, -self.high, -self.low, stated)


@dataclass(frozen=True, eq=False)
class ByRow:
    """The values of a column that shows them: ``rows[i]`` rows of unit ``units[i]`` have ``amounts[i]``.

    ``numbers`` is 1, or 0 for rows without a value. Units are ascending.
    """

    units: Whole
    rows: Whole
    amounts: Floats
    numbers: Floats

    def mirrored(self) -> ByRow:
        """With all values negated."""
        return replace(self, amounts=-self.amounts)


Measure = ByCode | ByRow


@dataclass(frozen=True, eq=False)
class ClassRows:
    """Units of rows: ``rows[u]`` rows of class ``classes[u]`` show ``cells[i].labels[shown[u, i]]``.

    ``occurring[i]`` are the codes of attribute i that occur in every class of each label. Classes are
    numbered from 0.
    """

    cells: tuple[Cells, ...]
    shown: Whole
    rows: Whole
    classes: Whole
    occurring: tuple[Occurring, ...]

    @cached_property
    def number(self) -> int:
        """The number of classes."""
        return int(self.classes.max(initial=-1)) + 1

    @cached_property
    def units_by_class(self) -> Whole:
        """The units, class by class."""
        return np.argsort(self.classes, kind="stable")

    @cached_property
    def occurring_by_class(self) -> Whole:
        """The number of values that are known to occur, shape ``(attributes, classes)``."""
        labels = np.zeros((self.number, len(self.cells)), dtype=np.int64)
        labels[self.classes] = self.shown
        numbers = [np.array([len(codes) for codes in known], dtype=np.int64) for known in self.occurring]
        return np.array([number[labels[:, i]] for i, number in enumerate(numbers)], dtype=np.int64)

    @cached_property
    def counted(self) -> ByRow:
        """Every row counts one."""
        ones = np.ones(len(self.rows))
        return ByRow(np.arange(len(self.rows)), self.rows, ones, ones)
