"""Compiled earth mover's distances of classes from the whole table: the work, in whole numbers.

The twin of ``model.criteria.t_closeness``, whose opening says what the work is. It is counted in parts of
``known * table``, a class's rows with a value times the table's, so that it is exact. A class of one value
takes its work per row from a table.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.kernels.bit_sets import population
from discreet.kernels.jit import compiled
from discreet.kernels.value_rows import Occurring

Array = NDArray[Any]
Whole = NDArray[np.int64]
_NOTHING, _ONE = np.uint64(0), np.uint64(1)
_MOST = 2**61
_DENSE = 8
"""Where at least so large a part of the places has rows, all of them are gone through."""


class Distribution(NamedTuple):
    """A whole table's values, as one distance asks for them: ``rows`` and ``ranks`` by code.

    ``levels`` (shape ``(levels, codes)``) are the groups of the levels between the leaves and the top, none
    but for the hierarchical distance; ``ordered`` tells the ordered one.
    """

    rows: Whole
    ranks: Whole
    levels: Whole
    ordered: bool


class Ground(NamedTuple):
    """The distributions of all scores; a score that is no distance has one all the same.

    ``rows`` and ``ranks`` have shape ``(scores, values)``, ``table`` is the sum of the rows, ``last`` the
    last place. ``partial[i, p]`` are the rows up to the place p and at it, ``before[i, p]`` the sum of these
    of the places below p. ``groups`` (shape ``(scores, levels, values)``) are those of each code at the
    ``levels[i]`` upper levels, ``numbers`` how many there are, and ``held`` the rows of each. ``alone`` is
    the work of one row of a value in a class of no other, and work by ``steps`` the distance.
    """

    rows: Whole
    table: Whole
    ranks: Whole
    last: Whole
    partial: Whole
    before: Whole
    groups: Whole
    held: Whole
    numbers: Whole
    levels: Whole
    alone: Whole
    steps: Whole


class Moving(NamedTuple):
    """One thread's working arrays, all 0 between classes: rows by place or group, and the places as bits."""

    sums: Array
    seen: Array


def moving(values: int) -> Moving:
    """For attributes of up to so many values."""
    return Moving(np.zeros(values, np.int64), np.zeros(values // 64 + 1, np.uint64))


def counted_exactly(rows: Whole) -> bool:
    """Whether whole numbers of the machine hold the work; beyond, the twin takes floating-point numbers."""
    table = int(rows.sum())
    return table * table * (len(rows) + 2) < _MOST


def ground_of(asked: Sequence[Distribution]) -> Ground:
    """The distributions of some scores."""
    number, values = len(asked), max(len(one.rows) for one in asked)
    levels = max(len(one.levels) for one in asked)

    def empty(*shape: int) -> Whole:
        return np.zeros((number, *shape), np.int64)

    ground = Ground(
        *(empty(values), empty(), empty(values), empty(), empty(values), empty(values + 1)),
        *(empty(levels, values), empty(levels, values), empty(levels), empty(), empty(values), empty()),
    )
    for i, one in enumerate(asked):
        _fill(ground, i, one)
    return ground


def _fill(ground: Ground, i: int, one: Distribution) -> None:
    size, table = len(one.rows), int(one.rows.sum())
    ground.rows[i, :size], ground.ranks[i, :size] = one.rows, one.ranks
    ground.table[i], ground.last[i], ground.levels[i] = table, size - 1, len(one.levels)
    in_order = np.zeros(size, np.int64)
    in_order[one.ranks] = one.rows
    partial = np.cumsum(in_order)
    before = np.append(0, np.cumsum(partial))
    ground.partial[i, :size], ground.before[i, : size + 1] = partial, before
    alone = table - one.rows
    for level, groups in enumerate(one.levels):
        _, told = np.unique(groups, return_inverse=True)
        ground.groups[i, level, :size] = told
        np.add.at(ground.held[i, level], told, one.rows)
        ground.numbers[i, level] = told.max(initial=-1) + 1
        alone = alone + table - ground.held[i, level, told]
    steps = 1 + len(one.levels)
    if one.ordered:
        last = size - 1
        alone, steps = table * (last - one.ranks) - before[last] + 2 * before[one.ranks], max(last, 1)
    ground.alone[i, :size], ground.steps[i] = alone, steps


@compiled
def work_of_groups(
    classes: int, found: Occurring, ground: Ground, score: int, sums: Array, work: Array
) -> None:
    """What exceeds the table's share: of each value, and of each group of the upper levels."""
    codes, counts, starts = found.codes, found.counts, found.starts
    rows, alone, table = ground.rows[score], ground.alone[score], ground.table[score]
    for c in range(classes):
        first, end, known = starts[c], starts[c + 1], found.known[c]
        if end == first + 1:
            work[c] = alone[codes[first]] * known
            continue
        total = 0
        for i in range(first, end):
            total += max(counts[i] * table - rows[codes[i]] * known, 0)
        for level in range(ground.levels[score]):
            groups, held = ground.groups[score, level], ground.held[score, level]
            number = ground.numbers[score, level]
            for i in range(first, end):
                sums[groups[codes[i]]] += counts[i]
            if number < end - first:
                for group in range(number):
                    total += max(sums[group] * table - held[group] * known, 0)
                    sums[group] = 0
                continue
            for i in range(first, end):
                # A group that was added already is empty now, and adds nothing.
                group = groups[codes[i]]
                total += max(sums[group] * table - held[group] * known, 0)
                sums[group] = 0
        work[c] = total


@compiled
def work_between(
    begin: Any, end: Any, mine: Any, known: Any, table: Any, partial: Array, before: Array
) -> Any:
    """The work of the steps from one place to another, where a class's partial sum stays the same.

    The table's rises and crosses it once at most: where, a search tells.
    """
    held = mine * table
    low, high = begin, end
    while low < high:
        middle = (low + high) // 2
        if known * partial[middle] <= held:
            low = middle + 1
        else:
            high = middle
    return held * (2 * low - begin - end) + known * (before[begin] + before[end] - 2 * before[low])


@compiled
def work_at_every_place(
    first: Any, end: Any, known: Any, found: Occurring, ground: Ground, score: int, sums: Array
) -> Any:
    """The differences of the partial sums of one class, place by place."""
    ranks, partial = ground.ranks[score], ground.partial[score]
    table, last = ground.table[score], ground.last[score]
    for i in range(first, end):
        sums[ranks[found.codes[i]]] += found.counts[i]
    total: Any = 0
    mine: Any = 0
    for place in range(last):
        mine += sums[place]
        sums[place] = 0
        total += abs(mine * table - known * partial[place])
    sums[last] = 0
    return total


@compiled
def work_in_order(
    classes: int, found: Occurring, ground: Ground, score: int, moving: Moving, work: Array
) -> None:
    """The differences of the partial sums, added up from value to value of a class."""
    codes, counts, starts = found.codes, found.counts, found.starts
    ranks, alone, table = ground.ranks[score], ground.alone[score], ground.table[score]
    partial, before, last = ground.partial[score], ground.before[score], ground.last[score]
    sums, seen = moving.sums, moving.seen
    for c in range(classes):
        first, end, known = starts[c], starts[c + 1], found.known[c]
        if end == first + 1:
            work[c] = alone[codes[first]] * known
            continue
        if end == first:
            work[c] = 0
            continue
        if _DENSE * (end - first) > last:
            work[c] = work_at_every_place(first, end, known, found, ground, score, sums)
            continue
        for i in range(first, end):
            rank = ranks[codes[i]]
            sums[rank] = counts[i]
            seen[rank // 64] |= _ONE << np.uint64(rank % 64)
        total: Any = 0
        mine: Any = 0
        place: Any = 0
        for w in range(last // 64 + 1):
            word = seen[w]
            seen[w] = _NOTHING
            while word != _NOTHING:
                lowest = word & (~word + _ONE)
                word ^= lowest
                there = 64 * w + np.int64(population(lowest - _ONE))
                if mine == 0:
                    total = known * before[there]
                else:
                    total += work_between(place, there, mine, known, table, partial, before)
                mine += sums[there]
                sums[there] = 0
                place = there
        # After the last value the class holds all it has, and the table no more than that.
        work[c] = total + known * (table * (last - place) - before[last] + before[place])
