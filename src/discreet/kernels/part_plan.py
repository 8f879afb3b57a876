"""A part of a plan's lattice: some attributes, from some level on, as the kernels count it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.kernels.jit import compiled
from discreet.kernels.plan import RotationPlan, order_attributes
from discreet.kernels.rotation import rotate

Array = NDArray[Any]
_DIGIT_BITS = 11


@dataclass(frozen=True, eq=False)
class PartPlan:
    """Row types packed and sorted by what is left of them; sequences run over attributes as processed.

    ``order`` are places among those kept, and ``keys`` and ``counts`` the groups, the attribute processed
    first as the least significant. ``steps[starts[i, l] + ordinal]`` is the ordinal at level l, counted from
    the lowest, of an ordinal at the lowest; ``sizes[i, l]`` is how many there are.
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
    """Other keys of the same rows: each field, which stood at ``froms``, by its step, at ``shifts``."""
    for i in range(len(keys)):
        key = keys[i]
        # Typed: a plain 0 would be signed, and the sum no whole number.
        found = key ^ key
        for a in range(len(froms)):
            found |= steps[starts[a] + np.int64((key >> froms[a]) & masks[a])] << shifts[a]
        packed[i] = found


@compiled
def sort_groups(keys: Array, counts: Array, to_keys: Array, to_counts: Array, bits: int, digit: int) -> bool:
    """Sort by the lowest ``bits``, digit by digit, in turns between two pairs of arrays.

    Whether the other pair holds the result.
    """
    place = np.zeros((1 << digit) + 1, np.int64)
    turned = False
    for shift in range(0, bits, digit):
        at = keys.dtype.type(shift)
        field = keys.dtype.type((1 << digit) - 1) << at
        if turned:
            rotate(to_keys, to_counts, None, len(keys), keys, counts, None, field, at, place)
        else:
            rotate(keys, counts, None, len(keys), to_keys, to_counts, None, field, at, place)
        turned = not turned
    return turned


@compiled
def merge_equal(keys: Array, counts: Array) -> int:
    """Make neighbouring groups of equal keys one, in place; the number of groups."""
    last = 0
    zero = counts.dtype.type(0)
    for i in range(1, len(keys)):
        fresh = keys[i] != keys[last]
        last += fresh
        counts[last] = counts[i] + (zero if fresh else counts[last])
        keys[last] = keys[i]
    return last + 1


def part_plan(plan: RotationPlan, kept: Sequence[int], lowest: Sequence[int]) -> PartPlan:
    """The part of attributes ``kept`` (ascending), each from its ``lowest`` level on.

    There is one at least; the others are at their tops. ``plan`` must have keys of one word, in any order, of
    one row type or more. Cost: a pass over the row types, and one for every 11 bits that are left of a key.
    """
    key: Any = np.uint32 if plan.key_bits == 32 else np.uint64
    count: Any = np.uint32 if int(plan.counts.sum()) < 2**32 else np.uint64
    places = [plan.order.index(attribute) for attribute in kept]
    levels = [_levels_from(plan, p, level) for p, level in zip(places, lowest, strict=True)]
    values = [len(each[0]) for each in levels]
    # By all of their levels: what has many of them identifies, and goes first.
    numbers = [len(plan.steps[p]) if len(each) > 1 else 1 for p, each in zip(places, levels, strict=True)]
    order, _ = order_attributes(numbers, values)
    bits = [max(1, (values[a] - 1).bit_length()) for a in order]
    shifts = np.cumsum([0, *bits], dtype=np.int64)
    to_lowest = [jump(plan, places[a], 0, lowest[a]) for a in order]
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
    others = np.empty_like(keys), np.empty_like(counts)
    if sort_groups(keys, counts, *others, int(shifts[-1]), _DIGIT_BITS):
        keys, counts = others
    groups = merge_equal(keys, counts)
    sizes = np.zeros((len(order), max(map(len, levels))), np.int64)
    for i, a in enumerate(order):
        sizes[i, : len(levels[a])] = [int(level[-1]) + 1 for level in levels[a]]
    steps = [step for a in order for step in levels[a]]
    ends = iter(np.cumsum([0, *map(len, steps)]).tolist())
    starts = np.zeros_like(sizes)
    for i, a in enumerate(order):
        starts[i, : len(levels[a])] = [next(ends) for _ in levels[a]]
    return PartPlan(
        order=order,
        keys=keys[:groups],
        counts=counts[:groups],
        shifts=shifts[:-1].astype(key),
        fields=np.array([((1 << b) - 1) << s for b, s in zip(bits, shifts.tolist(), strict=False)], key),
        steps=np.concatenate([*steps, [0]]).astype(key),
        starts=starts,
        sizes=sizes,
    )


def jump(plan: RotationPlan, position: int, level: int, higher: int) -> NDArray[np.uint64]:
    """Ordinals of one level as those of a higher one."""
    found = np.arange(plan.sizes[position][level], dtype=np.uint64)
    for each in range(level + 1, higher + 1):
        found = plan.steps[position][each][found]
    return found


def _levels_from(plan: RotationPlan, position: int, lowest: int) -> list[NDArray[np.uint64]]:
    """The ordinals at the lowest level as those of each level from there on."""
    found = [np.arange(plan.sizes[position][lowest], dtype=np.uint64)]
    for step in plan.steps[position][lowest + 1 :]:
        found.append(step[found[-1]])
    return found
