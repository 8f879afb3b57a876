"""Cheapest cover of the values that are known to occur in each class, and the rows of such classes.

Every row of a class takes one pattern: per attribute one of the values that must occur, or any other value.
A pattern has an amount and a number of selected rows (0 or 1), and costs amount − factor · number. In each
class every such value (item) must be taken by some row: a small set cover, solved by dynamic programming
over the sets of covered items, one row of every class at a time.

Cost: per relevant row 8^m steps for m attributes with two values each, over all classes at once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product

import numpy as np
from numpy.typing import NDArray

from discreet.model.published_cells import Cells

IntegerVector = NDArray[np.int64]
FloatVector = NDArray[np.float64]

ANY_VALUE = -1
"""Entry of a pattern for an attribute without an item."""


@dataclass(frozen=True)
class ItemPatterns:
    """Patterns of rows for attributes with items: an item of each attribute, or ``ANY_VALUE``.

    ``items`` contains the number of items of each attribute. The first pattern takes no item.
    """

    items: tuple[int, ...]

    @cached_property
    def all(self) -> list[tuple[int, ...]]:
        """All patterns, each with one entry per attribute."""
        return list(product(*(range(ANY_VALUE, number) for number in self.items)))

    @property
    def total(self) -> int:
        """Number of items."""
        return sum(self.items)

    @cached_property
    def covers(self) -> list[int]:
        """Items of each pattern as a bit mask."""
        starts = np.cumsum([0, *self.items[:-1]]).tolist()
        return [
            sum(
                1 << (start + item) for start, item in zip(starts, pattern, strict=False) if item != ANY_VALUE
            )
            for pattern in self.all
        ]

    def steps(self) -> Iterator[tuple[int, int, int]]:
        """Yield each set of items, each pattern disjoint from it, and their union."""
        for state in range(1 << self.total):
            for pattern, covered in enumerate(self.covers):
                if not state & covered:
                    yield state, pattern, state | covered


@dataclass(frozen=True, eq=False)
class PatternOptions:
    """Cheapest amount and number of each row under each pattern, shape ``(rows, patterns)``.

    A pattern that a row cannot have has an infinite amount.
    """

    amounts: FloatVector
    numbers: FloatVector

    @classmethod
    def cheapest(
        cls, selected: FloatVector, number: FloatVector, unselected: NDArray[np.bool_], factor: float
    ) -> PatternOptions:
        """Choose the cheaper of being selected (infinite if impossible) and, if allowed, unselected."""
        cost = np.where(np.isfinite(selected), selected - factor * number, np.inf)
        leaves = unselected & (cost >= 0)
        amounts = np.where(leaves, 0.0, np.where(np.isfinite(selected), selected, np.inf))
        return cls(amounts, np.where(leaves | ~np.isfinite(selected), 0.0, number))

    def costs(self, factor: float) -> FloatVector:
        """Compute the cost of each option."""
        return self.amounts - factor * self.numbers

    def rows(self, chosen: IntegerVector) -> PatternOptions:
        """Return the options of some rows."""
        return PatternOptions(self.amounts[chosen], self.numbers[chosen])


@dataclass(frozen=True, eq=False)
class CoverTotals:
    """Amount and number of each class, shape ``(classes,)``."""

    amounts: FloatVector
    numbers: FloatVector


def find_cheapest_cover(
    patterns: ItemPatterns, options: PatternOptions, classes: IntegerVector, number: int, factor: float
) -> CoverTotals:
    """Find the cheapest totals of ``number`` classes in which all items occur.

    ``classes`` is the class of each row, ascending. Totals are infinite if the rows of a class cannot
    contain all items. Classes are sorted by size, so that each step advances a prefix of them.
    """
    counts = np.bincount(classes, minlength=number)
    order = np.argsort(-counts, kind="stable")
    starts = (np.cumsum(counts) - counts)[order]
    counts = counts[order]
    states = 1 << patterns.total
    states_reached = _CoverStates.begin(number, states)
    steps = list(patterns.steps())
    costs = options.costs(factor)
    for turn in range(int(counts.max(initial=0))):
        active = int(np.searchsorted(-counts, -turn, side="left"))
        rows = starts[:active] + turn
        states_reached.advance(active, steps, costs[rows], options.rows(rows))
    amounts, numbers = np.empty(number), np.empty(number)
    amounts[order], numbers[order] = states_reached.amounts[:, -1], states_reached.numbers[:, -1]
    return CoverTotals(np.where(np.isfinite(amounts), amounts, np.inf), numbers)


@dataclass(eq=False)
class _CoverStates:
    """Cheapest totals for each set of covered items, shape ``(classes, sets)``."""

    costs: FloatVector
    amounts: FloatVector
    numbers: FloatVector

    @classmethod
    def begin(cls, classes: int, states: int) -> _CoverStates:
        result = cls(*(np.full((classes, states), np.inf) for _ in range(3)))
        for array in (result.costs, result.amounts, result.numbers):
            array[:, 0] = 0.0
        return result

    def advance(
        self, active: int, steps: Sequence[tuple[int, int, int]], costs: FloatVector, options: PatternOptions
    ) -> None:
        """Add one row to each of the first ``active`` classes."""
        before = [array[:active].copy() for array in (self.costs, self.amounts, self.numbers)]
        for array in (self.costs, self.amounts, self.numbers):
            array[:active] = np.inf
        for state, pattern, result in steps:
            cost = before[0][:, state] + costs[:, pattern]
            better = np.flatnonzero(cost < self.costs[:active, result])
            self.costs[better, result] = cost[better]
            self.amounts[better, result] = before[1][better, state] + options.amounts[better, pattern]
            self.numbers[better, result] = before[2][better, state] + options.numbers[better, pattern]


FINITE_INFINITY = float(2**80)
"""Finite substitute for infinite values, so that sums are never NaN."""

OccurringCodes = tuple[tuple[int, ...], ...]
"""Codes that occur in each class with a label, by label; empty if none is known."""


@dataclass(frozen=True, eq=False)
class CodeMeasure:
    """Aggregated attribute whose value depends on a row's code: ``low`` and ``high`` by code.

    ``label_means`` contains, by label, a mean and its greatest rounding error; NaN if none is stated.
    """

    index: int
    low: FloatVector
    high: FloatVector
    label_means: tuple[FloatVector, FloatVector] | None = None

    def negated(self) -> CodeMeasure:
        """Return the measure with all values negated."""
        means = None if self.label_means is None else (-self.label_means[0], self.label_means[1])
        return CodeMeasure(self.index, -self.high, -self.low, means)


@dataclass(frozen=True, eq=False)
class RowMeasure:
    """Values of an ungeneralized column: ``rows[i]`` rows of unit ``units[i]`` have ``amounts[i]``.

    ``numbers`` is 1, or 0 for rows without a value. Units are ascending.
    """

    units: IntegerVector
    rows: IntegerVector
    amounts: FloatVector
    numbers: FloatVector

    def negated(self) -> RowMeasure:
        """Return the measure with all values negated."""
        return replace(self, amounts=-self.amounts)


Measure = CodeMeasure | RowMeasure


@dataclass(frozen=True, eq=False)
class ClassRows:
    """Units of rows with equal cells, by class.

    Unit u has ``rows[u]`` rows of class ``classes[u]`` with the cells ``cells[i].labels[shown[u, i]]``.
    ``occurring[i]`` contains by label the codes of attribute i that occur in every class with that label.
    Classes are numbered from 0.
    """

    cells: tuple[Cells, ...]
    cell_codes: IntegerVector
    rows: IntegerVector
    classes: IntegerVector
    occurring: tuple[OccurringCodes, ...]

    @cached_property
    def number(self) -> int:
        """Number of classes."""
        return int(self.classes.max(initial=-1)) + 1

    @cached_property
    def units_by_class(self) -> IntegerVector:
        """Units sorted by class."""
        return np.argsort(self.classes, kind="stable")

    @cached_property
    def occurring_by_class(self) -> IntegerVector:
        """Number of values that are known to occur, shape ``(attributes, classes)``."""
        labels = np.zeros((self.number, len(self.cells)), dtype=np.int64)
        labels[self.classes] = self.cell_codes
        numbers = [np.array([len(codes) for codes in known], dtype=np.int64) for known in self.occurring]
        return np.array([number[labels[:, i]] for i, number in enumerate(numbers)], dtype=np.int64)

    @cached_property
    def counted(self) -> RowMeasure:
        """Measure with the value 1 for every row."""
        ones = np.ones(len(self.rows))
        return RowMeasure(np.arange(len(self.rows)), self.rows, ones, ones)
