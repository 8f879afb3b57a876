"""The cheapest way to let known values occur in each class.

Every row of a class takes one pattern: for each attribute one of the values that must occur, or any other.
A pattern has an amount and a number of selected rows (0 or 1), and costs amount − factor · number. Of each
class all items, the values that must occur, have to be taken by some row. That is a small set cover:
dynamic programming over the sets of items that occur already, one row of every class at a time.

Cost: for each row that may matter 8^m steps for m attributes with two values each, over all classes at once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product

import numpy as np
from numpy.typing import NDArray

Whole = NDArray[np.int64]
Floats = NDArray[np.float64]

ANY = -1
"""What a pattern has for an attribute of which it takes no item."""


@dataclass(frozen=True)
class Patterns:
    """The patterns of rows where each attribute has some items: an item of each attribute, or ``ANY``.

    The first pattern takes no item.
    """

    items: tuple[int, ...]

    @cached_property
    def all(self) -> list[tuple[int, ...]]:
        """Every pattern, an entry for each attribute."""
        return list(product(*(range(ANY, number) for number in self.items)))

    @property
    def total(self) -> int:
        """The number of items."""
        return sum(self.items)

    @cached_property
    def covers(self) -> list[int]:
        """The items of each pattern, as bits."""
        starts = np.cumsum([0, *self.items[:-1]]).tolist()
        return [
            sum(1 << (start + item) for start, item in zip(starts, pattern, strict=False) if item != ANY)
            for pattern in self.all
        ]

    def steps(self) -> Iterator[tuple[int, int, int]]:
        """Each set of items with each pattern that adds to it: the set, the pattern, the set that results."""
        for held in range(1 << self.total):
            for pattern, covered in enumerate(self.covers):
                if not held & covered:
                    yield held, pattern, held | covered


@dataclass(frozen=True, eq=False)
class Options:
    """What each row may do under each pattern: the cheapest amount and number, shape ``(rows, patterns)``.

    A pattern that a row cannot have has an infinite amount.
    """

    amounts: Floats
    numbers: Floats

    @classmethod
    def cheapest(
        cls, selected: Floats, number: Floats, unselected: NDArray[np.bool_], factor: float
    ) -> Options:
        """Of being selected (infinite where a row cannot be) and, where a row may be, unselected."""
        cost = np.where(np.isfinite(selected), selected - factor * number, np.inf)
        leaves = unselected & (cost >= 0)
        amounts = np.where(leaves, 0.0, np.where(np.isfinite(selected), selected, np.inf))
        return cls(amounts, np.where(leaves | ~np.isfinite(selected), 0.0, number))

    def costs(self, factor: float) -> Floats:
        """What each costs."""
        return self.amounts - factor * self.numbers

    def rows(self, chosen: Whole) -> Options:
        """Of some rows."""
        return Options(self.amounts[chosen], self.numbers[chosen])


@dataclass(frozen=True, eq=False)
class Totals:
    """Amount and number of each class, shape ``(classes,)``."""

    amounts: Floats
    numbers: Floats


def cover(patterns: Patterns, options: Options, classes: Whole, number: int, factor: float) -> Totals:
    """The cheapest totals of ``number`` classes in which all items occur.

    ``classes`` is the class of each row, ascending. Totals are infinite where the rows of a class cannot hold
    all items.
    """
    counts = np.bincount(classes, minlength=number)
    order = np.argsort(-counts, kind="stable")
    starts = (np.cumsum(counts) - counts)[order]
    counts = counts[order]
    states = 1 << patterns.total
    held = _States.begin(number, states)
    steps = list(patterns.steps())
    costs = options.costs(factor)
    for turn in range(int(counts.max(initial=0))):
        active = int(np.searchsorted(-counts, -turn, side="left"))
        rows = starts[:active] + turn
        held.advance(active, steps, costs[rows], options.rows(rows))
    amounts, numbers = np.empty(number), np.empty(number)
    amounts[order], numbers[order] = held.amounts[:, -1], held.numbers[:, -1]
    return Totals(np.where(np.isfinite(amounts), amounts, np.inf), numbers)


@dataclass(eq=False)
class _States:
    """The cheapest totals for each set of items that occur already, shape ``(classes, sets)``."""

    costs: Floats
    amounts: Floats
    numbers: Floats

    @classmethod
    def begin(cls, classes: int, states: int) -> _States:
        found = cls(*(np.full((classes, states), np.inf) for _ in range(3)))
        for array in (found.costs, found.amounts, found.numbers):
            array[:, 0] = 0.0
        return found

    def advance(
        self, active: int, steps: Sequence[tuple[int, int, int]], costs: Floats, options: Options
    ) -> None:
        """One more row of each of the first ``active`` classes."""
        before = [array[:active].copy() for array in (self.costs, self.amounts, self.numbers)]
        for array in (self.costs, self.amounts, self.numbers):
            array[:active] = np.inf
        for held, pattern, result in steps:
            cost = before[0][:, held] + costs[:, pattern]
            better = np.flatnonzero(cost < self.costs[:active, result])
            self.costs[better, result] = cost[better]
            self.amounts[better, result] = before[1][better, held] + options.amounts[better, pattern]
            self.numbers[better, result] = before[2][better, held] + options.numbers[better, pattern]
