"""Class sizes of selected nodes by compiled kernels: rows in small classes, large classes, squared sizes.

A subplan covers some attributes from some level on. Nodes are counted in descending order and share the
states of their common levels; nodes dominated by a failing node are skipped. Cost: 2 to 4 ns per group of a
state.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.kernels.lattice_rotation import GroupState, rotate
from discreet.kernels.lattice_rotation_plan import RotationPlan, order_attributes
from discreet.kernels.numba_jit import compiled
from discreet.kernels.packed_values import NO_SETS

Array = NDArray[Any]
_DIGIT_BITS = 11


@dataclass(frozen=True, eq=False)
class Subplan:
    """Row types projected on some attributes, packed and sorted; sequences are in processing order.

    ``order`` are indices among the attributes of the subplan. ``keys`` and ``counts`` are the groups, with
    the attribute processed first as the least significant. ``steps[starts[i, l] + ordinal]`` maps an ordinal
    of the lowest level to level l, counted from the lowest; ``sizes[i, l]`` is the number of ordinals at
    level l.
    """

    order: tuple[int, ...]
    keys: Array
    counts: Array
    shifts: Array
    fields: Array
    steps: Array
    starts: NDArray[np.int64]
    sizes: NDArray[np.int64]


@compiled
def pack_fields(
    keys: Array, froms: Array, masks: Array, shifts: Array, steps: Array, starts: Array, packed: Array
) -> None:
    """Pack keys anew: map each field at shift ``froms`` by its step and store it at ``shifts``."""
    for i in range(len(keys)):
        key = keys[i]
        # Typed: with a literal 0 numba would combine signed and unsigned integers to a float.
        found = key ^ key
        for a in range(len(froms)):
            found |= steps[starts[a] + np.int64((key >> froms[a]) & masks[a])] << shifts[a]
        packed[i] = found


@compiled
def sort_groups(now: GroupState, to: GroupState, bits: int, digit: int) -> bool:
    """Sort by the lowest ``bits``, digit by digit, alternating between two states.

    Returns whether the other state contains the result.
    """
    offsets = np.zeros((1 << digit) + 1, np.int64)
    keys = now.keys
    turned = False
    for shift in range(0, bits, digit):
        at = keys.dtype.type(shift)
        field = keys.dtype.type((1 << digit) - 1) << at
        rotate(now, len(keys), to, field, at, offsets)
        now, to = to, now
        turned = not turned
    return turned


@compiled
def merge_equal(keys: Array, counts: Array) -> int:
    """Merge adjacent groups with equal keys in place; return the number of groups."""
    last = 0
    zero = counts.dtype.type(0)
    for i in range(1, len(keys)):
        fresh = keys[i] != keys[last]
        last += fresh
        counts[last] = counts[i] + (zero if fresh else counts[last])
        keys[last] = keys[i]
    return last + 1


def make_subplan(plan: RotationPlan, attributes: Sequence[int], lowest: Sequence[int]) -> Subplan:
    """Build the subplan of ``attributes`` (ascending), each from its ``lowest`` level on.

    There must be at least one; omitted attributes are at their tops. ``plan`` must have keys of one word, in
    any order, and at least one row type. Cost: a pass over the row types, and one per 11 bits of the
    remaining key.
    """
    key: Any = np.uint32 if plan.key_bits == 32 else np.uint64
    count: Any = np.uint32 if int(plan.counts.sum()) < 2**32 else np.uint64
    places = [plan.order.index(attribute) for attribute in attributes]
    levels = [_levels_from(plan, p, level) for p, level in zip(places, lowest, strict=True)]
    values = [len(each[0]) for each in levels]
    # Ordered by all of their levels: an attribute with many levels identifies rows, and goes first.
    numbers = [len(plan.steps[p]) if len(each) > 1 else 1 for p, each in zip(places, levels, strict=True)]
    order, _ = order_attributes(numbers, values)
    bits = [max(1, (values[a] - 1).bit_length()) for a in order]
    shifts = np.cumsum([0, *bits], dtype=np.int64)
    to_lowest = [_levels_from(plan, places[a], 0)[lowest[a]] for a in order]
    keys = np.empty(len(plan.counts), key)
    pack_fields(
        plan.keys[0].astype(key),
        np.array([plan.shift[places[a]] for a in order], key),
        np.array([(1 << plan.bits[places[a]]) - 1 for a in order], key),
        shifts[:-1].astype(key),
        np.concatenate([*to_lowest, [0]]).astype(key),
        np.cumsum([0, *map(len, to_lowest)]),
        keys,
    )
    counts = plan.counts.astype(count)
    state, other = (
        GroupState(keys, counts, NO_SETS),
        GroupState(np.empty_like(keys), np.empty_like(counts), NO_SETS),
    )
    if sort_groups(state, other, int(shifts[-1]), _DIGIT_BITS):
        keys, counts, _ = other
    groups = merge_equal(keys, counts)
    sizes = np.zeros((len(order), max(map(len, levels))), np.int64)
    for i, a in enumerate(order):
        sizes[i, : len(levels[a])] = [int(level[-1]) + 1 for level in levels[a]]
    steps = [step for a in order for step in levels[a]]
    ends = iter(np.cumsum([0, *map(len, steps)]).tolist())
    starts = np.zeros_like(sizes)
    for i, a in enumerate(order):
        starts[i, : len(levels[a])] = [next(ends) for _ in levels[a]]
    return Subplan(
        order=order,
        keys=keys[:groups],
        counts=counts[:groups],
        shifts=shifts[:-1].astype(key),
        fields=np.array([((1 << b) - 1) << s for b, s in zip(bits, shifts.tolist(), strict=False)], key),
        steps=np.concatenate([*steps, [0]]).astype(key),
        starts=starts,
        sizes=sizes,
    )


def _levels_from(plan: RotationPlan, position: int, lowest: int) -> list[NDArray[np.uint64]]:
    """Map the ordinals of the lowest level to those of each level from there on."""
    result = [np.arange(plan.sizes[position][lowest], dtype=np.uint64)]
    for step in plan.steps[position][lowest + 1 :]:
        result.append(step[result[-1]])
    return result


_PARTS_PER_THREAD = 2
_NO_LIMIT = int(np.iinfo(np.int64).max)


class LevelArrays(NamedTuple):
    """Fields of a subplan and the steps to its levels (see ``Subplan``); ``slot`` is scratch of the sort."""

    fields: Array
    shifts: Array
    steps: Array
    starts: Array
    sizes: Array
    slot: Array


class NodeStates(NamedTuple):
    """Stack of states of a node, each derived from the previous one; the last is to be sorted next.

    State b contains ``groups[b]`` groups. Its attributes before position ``applied[b]`` are at the node's
    levels and sorted to the front. State 0 contains the row types.
    """

    keys: Array
    counts: Array
    groups: Array
    applied: Array
    sets: Array


@compiled
def raise_level(
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
    """Generalize one field into other arrays and merge adjacent equal keys; return the number of groups.

    ``keep`` masks the fields that stay; ``step`` maps the ordinals of ``field``. Fields in neither are
    dropped.
    """
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
        # Branchless: a branch would be mispredicted half of the time.
        total = counts[i] + (zero if fresh else total)
        to_keys[last] = key
        to_counts[last] = total
        previous = key
    return last + 1


@compiled
def sum_sizes(counts: Array, groups: int, least: Any, sums: Array) -> None:
    """Sum the rows in classes below ``least``, the number of other classes and their squared sizes."""
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
def mark_covered(levels: Array, node: int, rows: int, most: Array, covered: Array, node_sums: Array) -> None:
    """Mark the nodes below a failing node: they have at least as many rows in small classes.

    Nodes below come later in the order.
    """
    for other in range(node + 1, len(levels)):
        if covered[other] == 0 and rows > most[other]:
            below = True
            for i in range(levels.shape[1]):
                below &= levels[other, i] <= levels[node, i]
            if below:
                node_sums[other, 0] = rows
                covered[other] = 1


@compiled
def count_node(
    levels: Array, shared: int, arrays: LevelArrays, states: NodeStates, number: int, least: Any, sums: Array
) -> int:
    """Sum the classes of a node that shares its first ``shared`` levels with the node of the states.

    There are ``number`` states; returns the number of states afterwards.
    """
    keys, counts, groups, applied, _ = states
    last, spare = len(levels) - 1, len(keys) - 1
    while applied[number - 1] > shared:
        number -= 1
    position = applied[number - 1]
    nothing = keys[0, 0] ^ keys[0, 0]
    while True:
        # Attributes at their tops are dropped in one pass with the next attribute that is not.
        keep = ~nothing
        while position < last and arrays.sizes[position, levels[position]] == 1:
            keep &= ~arrays.fields[position]
            position += 1
        level, now = levels[position], number - 1
        field, shift = arrays.fields[position], arrays.shifts[position]
        if level > 0 or keep != ~nothing:
            step = arrays.steps[arrays.starts[position, level] :]
            groups[spare] = raise_level(
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
        slot = arrays.slot[: arrays.sizes[position, level] + 1]
        to = GroupState(keys[number], counts[number], states.sets)
        rotate(GroupState(keys[now], counts[now], states.sets), groups[now], to, field, shift, slot)
        groups[number] = groups[now]
        position += 1
        applied[number] = position
        number += 1


@compiled
def count_nodes(
    levels: Array,
    first: int,
    stop: int,
    arrays: LevelArrays,
    states: NodeStates,
    before: int,
    number: int,
    least: Any,
    most: Array,
    covered: Array,
    node_sums: Array,
) -> int:
    """Count nodes ``first`` to ``stop`` of ``levels``, sorted descending by attributes in processing order.

    Skips ``covered`` nodes and marks further ones. There are ``number`` states of node ``before``; returns
    the number of states of the last node.
    """
    for node in range(first, stop):
        if covered[node] != 0:
            continue
        shared = 0
        while shared < levels.shape[1] and levels[node, shared] == levels[before, shared]:
            shared += 1
        number = count_node(levels[node], shared, arrays, states, number, least, node_sums[node])
        before = node
        if node_sums[node, 0] > most[node]:
            mark_covered(levels, node, node_sums[node, 0], most, covered, node_sums)
    return number


def count_small_classes(
    plan: Subplan,
    levels: NDArray[np.int64],
    least: int,
    most: NDArray[np.int64] | None = None,
    *,
    threads: int = 1,
) -> NDArray[np.int64]:
    """Compute the three sums of each node, shape ``(nodes, 3)``, for classes below ``least`` rows.

    ``levels`` (shape ``(nodes, attributes)``, at least one node, without duplicates) count from the plan's
    lowest. For a node with more than its ``most`` rows in classes below ``least`` the first sum is only a
    lower bound above ``most``, and the others are undefined.
    """
    in_order = levels[:, list(plan.order)]
    sequence = np.lexsort(in_order.T[::-1])[::-1]
    in_order = np.ascontiguousarray(in_order[sequence])
    node_sums = np.zeros((len(levels), 3), np.int64)
    covered = np.zeros(len(levels), np.uint8)
    limits = np.full(len(levels), _NO_LIMIT) if most is None else most[sequence]

    def run(part: tuple[int, int]) -> None:
        size = np.uint64(max(least, 1))
        count_nodes(
            in_order, *part, *_make_working_arrays(plan), part[0], 1, size, limits, covered, node_sums
        )

    parts = list(_split_nodes(in_order, threads * _PARTS_PER_THREAD if threads > 1 else 1))
    if len(parts) == 1:
        run(parts[0])
    else:
        # Threads share ``covered`` without a lock: a mark seen late costs a count but never changes a result.
        with ThreadPoolExecutor(min(threads, len(parts))) as pool:
            list(pool.map(run, parts))
    result = np.empty_like(node_sums)
    result[sequence] = node_sums
    return result


def _make_working_arrays(plan: Subplan) -> tuple[LevelArrays, NodeStates]:
    """Allocate one thread's arrays: the plan's levels, and room for the states of a node."""
    keys = np.empty((len(plan.order) + 2, len(plan.keys)), plan.keys.dtype)
    counts = np.empty(keys.shape, plan.counts.dtype)
    keys[0], counts[0] = plan.keys, plan.counts
    groups = np.full(len(keys), len(plan.keys))
    slot = np.zeros(int(plan.sizes.max(initial=1)) + 2, np.int64)
    arrays = LevelArrays(plan.fields, plan.shifts, plan.steps, plan.starts, plan.sizes, slot)
    return arrays, NodeStates(keys, counts, groups, np.zeros(len(keys), np.int64), NO_SETS)


def _split_nodes(levels: NDArray[np.int64], at_least: int) -> Iterator[tuple[int, int]]:
    """Split nodes into ranges of about equal length, where one of the first two levels changes."""
    number = len(levels)
    cuts = np.flatnonzero((np.diff(levels[:, :2], axis=0) != 0).any(axis=1)) + 1
    ends = [0]
    for part in range(1, at_least):
        near = cuts[np.searchsorted(cuts, round(number * part / at_least)) :][:1].tolist()
        ends += [cut for cut in near if cut > ends[-1]]
    ends.append(number)
    return pairwise(ends)
