"""Division of attributes into intervals: the divided table, the exact pair solver, and a start heuristic.

``PairSolver`` divides two attributes at least cost while the others are fixed, by the kernels
(``kernels.interval_pairs``) or their twins. The heuristic is an iterated local search with a fixed seed:
random pairs of attributes are divided at their optimum until no pair gains; then some cuts of the best
division are removed and the search restarts from it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from discreet.frequency.encoding import pack_columns
from discreet.kernels.numpy_twins import compute_pair_costs_twin, divide_pair_twin
from discreet.taxonomy.class_counts import IMPOSSIBLE_COST, ClassCostRule

_Integers = NDArray[np.int64]
IntervalStarts = tuple[int, ...]
"""First value of each interval of an attribute, ascending, beginning with 0."""


@dataclass(frozen=True, eq=False)
class DividedTable:
    """Row types with their class by the attributes that are already divided.

    ``places``, shape ``(row types, attributes left)``, contains value numbers; ``sizes`` the number of
    values of each of these attributes; ``counts`` rows; ``classes`` numbers from 0 to ``class_count`` - 1.
    """

    places: _Integers
    sizes: tuple[int, ...]
    counts: _Integers
    classes: _Integers
    class_count: int

    @classmethod
    def of(cls, places: Sequence[_Integers], sizes: Sequence[int], counts: _Integers) -> DividedTable:
        """Build the undivided table, which is one class."""
        return cls(np.stack(places, axis=1), tuple(sizes), counts, np.zeros(len(counts), np.int64), 1)

    def divide(self, starts: IntervalStarts) -> DividedTable:
        """Return the table with its first attribute divided; row types that became equal are merged."""
        interval = np.searchsorted(np.array(starts), self.places[:, 0], side="right") - 1
        keys, classes = np.unique(self.classes * len(starts) + interval, return_inverse=True)
        columns = [classes, *self.places[:, 1:].T]
        packed = pack_columns(columns, [len(keys), *self.sizes[1:]])
        _, first, alike = np.unique(packed, return_index=True, return_inverse=True)
        counts = np.bincount(alike.ravel(), self.counts).astype(np.int64)
        return DividedTable(self.places[first, 1:], self.sizes[1:], counts, classes[first], len(keys))

    def cube(self, attributes: int, weights: _Integers | None = None) -> _Integers:
        """Return the rows, or sums of ``weights``, by class and by the values of the first attributes."""
        shape = (self.class_count, *self.sizes[:attributes])
        at = np.ravel_multi_index((self.classes, *self.places[:, :attributes].T), shape)
        values = self.counts if weights is None else weights
        return np.bincount(at, values, minlength=int(np.prod(shape))).astype(np.int64).reshape(shape)


def sum_over_intervals(cube: _Integers, axis: int) -> _Integers:
    """Return sums over every interval of an axis, in the order of ``interval_pairs.number_interval``."""
    size = cube.shape[axis]
    first, end = enumerate_intervals(size)
    sums = np.cumsum(cube, axis=axis)
    zero = np.zeros_like(np.take(sums, [0], axis=axis))
    sums = np.concatenate([zero, sums], axis=axis)
    return np.asarray(np.take(sums, end, axis=axis) - np.take(sums, first, axis=axis))


def enumerate_intervals(size: int) -> tuple[_Integers, _Integers]:
    """Return the first value and the end (exclusive) of every interval, in the order of their numbers."""
    first, end = np.triu_indices(size)
    return first.astype(np.int64), end.astype(np.int64) + 1


def interval_numbers(starts: IntervalStarts, size: int) -> _Integers:
    """Return the numbers of the intervals of a division."""
    first = np.array(starts, np.int64)
    end = np.append(first[1:], size)
    return np.asarray(first * size - first * (first - 1) // 2 + end - first - 1)


@dataclass(frozen=True)
class PairDivision:
    """Division of a pair of attributes: least cost, interval starts, and a lower bound of the cost.

    The cost is ``IMPOSSIBLE_COST`` if no division is below the requested one. ``is_over`` is True if a
    larger budget would find no better one. Even then the bound may be below the cost: if rows may be
    suppressed in more ways than the kernel distinguishes.
    """

    cost: int
    lower: int
    x: IntervalStarts
    y: IntervalStarts
    is_over: bool = True


@dataclass(frozen=True)
class PairSolver:
    """Solver that divides pairs of attributes under a rule, by kernels if ``compiled``."""

    rule: ClassCostRule
    compiled: bool

    def divide(self, counts: _Integers, below: int, budget: int) -> PairDivision:
        """Return the best division of x and y with a cost below ``below``.

        ``counts`` contains rows by class, x and y. After ``budget`` nodes the search ends and ``lower`` is
        less than the cost; otherwise ``lower`` is the least cost, or ``below`` if there is none.
        """
        rule, (_, wide, high) = self.rule, counts.shape
        if not self.compiled:
            costs, fails = compute_pair_costs_twin(counts, rule.k, rule.penalty)
            cost, x_starts, y_starts = divide_pair_twin(costs, fails, wide, high, rule.limit, below)
            return PairDivision(cost, min(cost, below), x_starts, y_starts)
        from discreet.kernels.interval_pairs import compute_pair_costs, divide_pair

        shape = (wide * (wide + 1) // 2, high * (high + 1) // 2)
        costs, fails = np.empty(shape, np.int64), np.empty(shape, np.int64)
        compute_pair_costs(np.ascontiguousarray(counts), rule.k, rule.penalty, costs, fails)
        x, y = np.zeros(wide, np.bool_), np.zeros(high, np.bool_)
        best, lower, nodes = divide_pair(costs, fails, wide, high, rule.limit, below, budget, x, y)
        return PairDivision(int(best), int(lower), _starts_of_marks(x), _starts_of_marks(y), nodes <= budget)

    def bound_boxes(self, counts: _Integers, budget: int) -> _Integers:
        """Return a lower bound of the cost of each box; ``counts`` are rows by box, x and y."""
        rule, result = self.rule, np.full(len(counts), IMPOSSIBLE_COST, np.int64)
        if not self.compiled:
            rows = counts.sum(axis=(1, 2))
            return rule.bound(rows, rows if rule.penalty == 0 else np.zeros_like(rows))
        from discreet.kernels.interval_pairs import divide_boxes

        divide_boxes(np.ascontiguousarray(counts), rule.k, rule.penalty, rule.limit, budget, result)
        return result


def _starts_of_marks(marks: NDArray[np.bool_]) -> IntervalStarts:
    return tuple(np.flatnonzero(marks).tolist())


IntervalDivision = tuple[IntervalStarts, ...]
_SEED = 11
_MOST_PAIR_STEPS = 1 << 23
"""Limit of pairs of intervals times classes for a joint division; above it, attributes are divided singly."""

_PAIR_NODES = 2000


def find_good_division(
    table: DividedTable,
    solver: PairSolver,
    start: IntervalDivision | None,
    rounds: int,
    is_over: Callable[[], bool],
) -> tuple[int, IntervalDivision]:
    """Return a division of small cost and its cost, after ``rounds`` perturbed rounds or when ``is_over``."""
    random = np.random.default_rng(_SEED)
    uncut: IntervalDivision = tuple((0,) for _ in table.sizes)
    best, chosen = IMPOSSIBLE_COST, uncut
    for division in (uncut, *(() if start is None else (start,))):
        cost, found = _descend(table, solver, division, random, is_over)
        if cost < best:
            best, chosen = cost, found
    for _ in range(rounds):
        if is_over():
            break
        cost, found = _descend(table, solver, _disturb(chosen, random), random, is_over)
        if cost <= best:
            best, chosen = cost, found
    return best, chosen


def _disturb(division: IntervalDivision, random: np.random.Generator) -> IntervalDivision:
    """Return the division without the cuts of one or two attributes, or without a share of all cuts."""
    number = len(division)
    if random.random() < 0.5:
        emptied = set(random.choice(number, size=min(number, int(random.integers(1, 3))), replace=False))
        return tuple((0,) if i in emptied else starts for i, starts in enumerate(division))
    share = random.uniform(0.3, 0.8)
    return tuple((0, *(s for s in starts[1:] if random.random() < share)) for starts in division)


def _descend(
    table: DividedTable,
    solver: PairSolver,
    division: IntervalDivision,
    random: np.random.Generator,
    is_over: Callable[[], bool],
) -> tuple[int, IntervalDivision]:
    """Divide random pairs of attributes at their optimum until no pair gains."""
    cost, chosen = IMPOSSIBLE_COST, list(division)
    number = len(chosen)
    pairs = list(combinations(range(number), 2)) or [(0, 0)]
    waiting = [pairs[i] for i in random.permutation(len(pairs))]
    while waiting and not (cost < IMPOSSIBLE_COST and is_over()):
        pair = waiting.pop()
        found = _divide_pair(table, solver, chosen, pair, cost)
        if found is None:
            continue
        cost, changed = found
        if all(chosen[i] == starts for i, starts in changed.items()):
            continue
        for i, starts in changed.items():
            chosen[i] = starts
        again = [other for other in pairs if other != pair and other not in waiting]
        waiting = [again[i] for i in random.permutation(len(again))] + waiting
    return cost, tuple(chosen)


def _divide_pair(
    table: DividedTable,
    solver: PairSolver,
    chosen: Sequence[IntervalStarts],
    pair: tuple[int, int],
    cost: int,
) -> tuple[int, dict[int, IntervalStarts]] | None:
    """Divide the pair at its optimum, or attribute by attribute if it is too large; None if no gain."""
    i, j = pair
    counts = _rows_by_free_values(table, chosen, pair)
    wide, high = counts.shape[1:]
    if counts.shape[0] * wide * wide * high * high // 4 <= _MOST_PAIR_STEPS:
        found = solver.divide(counts, cost, _PAIR_NODES)
        return None if found.cost >= cost else (found.cost, {i: found.x, j: found.y})
    now, changed, gained = cost, {i: chosen[i], j: chosen[j]}, False
    for at in pair:
        separate_rows = _rows_by_free_values(
            table, [changed.get(a, starts) for a, starts in enumerate(chosen)], (at,)
        )
        found = solver.divide(separate_rows, now, _PAIR_NODES)
        if found.cost < now:
            now, gained = found.cost, True
            changed[at] = found.y
    return (now, changed) if gained else None


def _rows_by_free_values(
    table: DividedTable, chosen: Sequence[IntervalStarts], free: tuple[int, ...]
) -> _Integers:
    """Return rows by class of the other attributes, and by the values of one or two free attributes."""
    fixed = [a for a in range(len(chosen)) if a not in free and len(chosen[a]) > 1]
    columns = [np.searchsorted(np.array(chosen[a]), table.places[:, a], side="right") - 1 for a in fixed]
    keys = pack_columns(
        [np.zeros(len(table.counts), np.int64), *columns], [1, *(len(chosen[a]) for a in fixed)]
    )
    occurring, class_of = np.unique(keys, return_inverse=True)
    i, j = (free[0], free[-1])
    x = table.places[:, i] if i != j else np.zeros(len(keys), np.int64)
    wide = table.sizes[i] if i != j else 1
    at = (class_of.ravel() * wide + x) * table.sizes[j] + table.places[:, j]
    size = len(occurring) * wide * table.sizes[j]
    return np.bincount(at, table.counts, minlength=size).astype(np.int64).reshape(-1, wide, table.sizes[j])
