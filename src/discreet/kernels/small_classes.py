"""Rows in classes below a size, at some nodes alone: the rotation without histograms, from the top down.

The states are those of ``kernels.rotation``; of a node's classes nothing is kept but three sums: the rows in
classes below a size, the number of the others, and their squared sizes. So a node of few groups takes a
fraction of what its histogram would.

Nodes are taken in descending order. The first attributes whose levels two nodes share are rolled up once for
both; a level is reached from the lowest one in one pass, together with the attributes before it that are at
their tops. Where a node has more rows in small classes than a node below it may have, that one is not
counted: it has as many or more, and would have had the most groups.

Cost: about 2 to 4 ns per group of a state. The oracle is the numpy twin of all nodes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.kernels.jit import compiled
from discreet.kernels.part_plan import PartPlan
from discreet.kernels.rotation import rotate

Array = NDArray[Any]
_PARTS_PER_THREAD = 2
_NO_LIMIT = int(np.iinfo(np.int64).max)


class Levels(NamedTuple):
    """A plan's fields, and the steps to its levels: see ``PartPlan``; ``place`` is scratch of the sort."""

    fields: Array
    shifts: Array
    steps: Array
    starts: Array
    sizes: Array
    place: Array


class States(NamedTuple):
    """The states of a node, each from the one before; the last is what is to be sorted.

    State b holds ``groups[b]`` groups whose attributes before position ``applied[b]`` are at the node's
    levels, and sorted away. State 0 is that of the row types.
    """

    keys: Array
    counts: Array
    groups: Array
    applied: Array


@compiled
def raise_to(
    keys: Array,
    counts: Array,
    groups: int,
    keep: Any,
    field: Any,
    shift: Any,
    step: Array,
    to_keys: Array,
    to_counts: Array,
) -> int:
    """Into other arrays: ``keep`` of each key and ``step`` of its ``field``, equal neighbours merged."""
    zero = counts.dtype.type(0)
    last = 0
    previous = (keys[0] & keep) | (step[(keys[0] & field) >> shift] << shift)
    total = counts[0]
    to_keys[0] = previous
    to_counts[0] = total
    for i in range(1, groups):
        key = (keys[i] & keep) | (step[(keys[i] & field) >> shift] << shift)
        fresh = key != previous
        last += fresh
        # Without a branch: half of them would be guessed wrongly.
        total = counts[i] + (zero if fresh else total)
        to_keys[last] = key
        to_counts[last] = total
        previous = key
    return last + 1


@compiled
def sum_sizes(counts: Array, groups: int, least: Any, sums: Array) -> None:
    """The rows in classes below ``least``, the other classes, and the squares of their sizes."""
    below = np.uint64(0)
    classes = np.int64(0)
    squares = np.uint64(0)
    nothing = np.uint64(0)
    for i in range(groups):
        size = np.uint64(counts[i])
        small = size < least
        below += size if small else nothing
        squares += nothing if small else size * size
        classes += not small
    sums[0] = np.int64(below)
    sums[1] = classes
    sums[2] = np.int64(squares)


@compiled
def cover(levels: Array, node: int, rows: int, most: Array, covered: Array, found: Array) -> None:
    """Every node below one has as many rows in small classes, or more; they come later in the order."""
    for other in range(node + 1, len(levels)):
        if covered[other] == 0 and rows > most[other]:
            below = True
            for i in range(levels.shape[1]):
                below &= levels[other, i] <= levels[node, i]
            if below:
                found[other, 0] = rows
                covered[other] = 1


@compiled
def count_node(
    levels: Array, shared: int, told: Levels, states: States, number: int, least: Any, sums: Array
) -> int:
    """Sum the classes of a node of ``levels``, whose first ``shared`` are those of the node of the states.

    ``number`` states are there; returns how many there are then.
    """
    keys, counts, groups, applied = states
    last, spare = len(levels) - 1, len(keys) - 1
    while applied[number - 1] > shared:
        number -= 1
    position = applied[number - 1]
    nothing = keys[0, 0] ^ keys[0, 0]
    while True:
        # What is at its top goes in one pass with the next that is not.
        keep = ~nothing
        while position < last and told.sizes[position, levels[position]] == 1:
            keep &= ~told.fields[position]
            position += 1
        level, now = levels[position], number - 1
        field, shift = told.fields[position], told.shifts[position]
        if level > 0 or keep != ~nothing:
            step = told.steps[told.starts[position, level] :]
            groups[spare] = raise_to(
                keys[now],
                counts[now],
                groups[now],
                keep & ~field,
                field,
                shift,
                step,
                keys[spare],
                counts[spare],
            )
            now = spare
        if position == last:
            sum_sizes(counts[now], groups[now], least, sums)
            return number
        place = told.place[: told.sizes[position, level] + 1]
        rotate(
            keys[now],
            counts[now],
            None,
            groups[now],
            keys[number],
            counts[number],
            None,
            field,
            shift,
            place,
        )
        groups[number] = groups[now]
        position += 1
        applied[number] = position
        number += 1


@compiled
def count_nodes(
    levels: Array,
    first: int,
    stop: int,
    told: Levels,
    states: States,
    before: int,
    number: int,
    least: Any,
    most: Array,
    covered: Array,
    found: Array,
) -> int:
    """Count nodes ``first`` to ``stop`` of ``levels``, sorted, descending, by attributes as processed.

    ``covered`` nodes are left out, and more of them are found. There are ``number`` states, those of the node
    ``before``; returns how many there are of the last one.
    """
    for node in range(first, stop):
        if covered[node] != 0:
            continue
        shared = 0
        while shared < levels.shape[1] and levels[node, shared] == levels[before, shared]:
            shared += 1
        number = count_node(levels[node], shared, told, states, number, least, found[node])
        before = node
        if found[node, 0] > most[node]:
            cover(levels, node, found[node, 0], most, covered, found)
    return number


def small_classes(
    plan: PartPlan,
    levels: NDArray[np.int64],
    least: int,
    most: NDArray[np.int64] | None = None,
    *,
    threads: int = 1,
) -> NDArray[np.int64]:
    """The three sums of each node, shape ``(nodes, 3)``, for classes below ``least`` rows.

    ``levels`` (shape ``(nodes, attributes)``, one of them at least) count from the plan's lowest; none stands
    there twice. Of a node with more than its ``most`` rows in classes below ``least`` no other sum is told,
    and of these rows a number above ``most`` that they are at least.
    """
    in_order = levels[:, list(plan.order)]
    sequence = np.lexsort(in_order.T[::-1])[::-1]
    in_order = np.ascontiguousarray(in_order[sequence])
    found = np.zeros((len(levels), 3), np.int64)
    covered = np.zeros(len(levels), np.uint8)
    limits = np.full(len(levels), _NO_LIMIT) if most is None else most[sequence]

    def run(part: tuple[int, int]) -> None:
        size = np.uint64(max(least, 1))
        count_nodes(in_order, *part, *_working(plan), part[0], 1, size, limits, covered, found)

    parts = list(_parts(in_order, threads * _PARTS_PER_THREAD if threads > 1 else 1))
    if len(parts) == 1:
        run(parts[0])
    else:
        # What one thread covers the others leave out, too, whenever they come to see it.
        with ThreadPoolExecutor(min(threads, len(parts))) as pool:
            list(pool.map(run, parts))
    result = np.empty_like(found)
    result[sequence] = found
    return result


class NodesByTurns:
    """Nodes of a plan one after the other, each from the states that it shares with the one before."""

    def __init__(self, plan: PartPlan) -> None:
        self._order = list(plan.order)
        self._told, self._states = _working(plan)
        self._levels = np.zeros((2, len(self._order)), np.int64)
        self._number = 1

    def rows_below(self, node: Sequence[int], least: int) -> int:
        """The rows in classes below ``least`` rows at a node, whose levels count from the plan's lowest."""
        self._levels[0] = self._levels[1]
        self._levels[1] = np.array(node)[self._order]
        found = np.zeros((2, 3), np.int64)
        size, covered, most = np.uint64(max(least, 1)), np.zeros(2, np.uint8), np.full(2, _NO_LIMIT)
        told, states, number = self._told, self._states, self._number
        self._number = count_nodes(self._levels, 1, 2, told, states, 0, number, size, most, covered, found)
        return int(found[1, 0])


def _working(plan: PartPlan) -> tuple[Levels, States]:
    """What one thread works with: the plan's levels, and room for the states of a node."""
    keys = np.empty((len(plan.order) + 2, len(plan.keys)), plan.keys.dtype)
    counts = np.empty(keys.shape, plan.counts.dtype)
    keys[0], counts[0] = plan.keys, plan.counts
    groups = np.full(len(keys), len(plan.keys))
    place = np.zeros(int(plan.sizes.max(initial=1)) + 2, np.int64)
    told = Levels(plan.fields, plan.shifts, plan.steps, plan.starts, plan.sizes, place)
    return told, States(keys, counts, groups, np.zeros(len(keys), np.int64))


def _parts(levels: NDArray[np.int64], at_least: int) -> Iterator[tuple[int, int]]:
    """Stretches of about equally many nodes, which part where one of the first two levels changes."""
    number = len(levels)
    cuts = np.flatnonzero((np.diff(levels[:, :2], axis=0) != 0).any(axis=1)) + 1
    ends = [0]
    for part in range(1, at_least):
        near = cuts[np.searchsorted(cuts, round(number * part / at_least)) :][:1].tolist()
        ends += [cut for cut in near if cut > ends[-1]]
    ends.append(number)
    return pairwise(ends)
