"""The rotation plan of a part of a plan's lattice: some attributes, from some level on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.kernels.plan import RotationPlan, Tail, order_attributes


def part_plan(plan: RotationPlan, kept: Sequence[int], lowest: Sequence[int]) -> RotationPlan:
    """The plan of attributes ``kept`` (ascending), numbered anew, each from its ``lowest`` level on.

    The other attributes are at their tops. Row types that are not told apart any more are one, so ``source``
    is empty. ``plan`` must have keys of one word, and keys keep their width; there is no tail. Cost: a sort
    of the keys.
    """
    places = [plan.order.index(attribute) for attribute in kept]
    sizes = [plan.sizes[p][level:] for p, level in zip(places, lowest, strict=True)]
    # By all of their levels: what has many of them identifies, and goes first.
    levels = [len(plan.steps[p]) if len(each) > 1 else 1 for p, each in zip(places, sizes, strict=True)]
    order, _ = order_attributes(levels, [each[0] for each in sizes])
    bits = [max(1, (sizes[a][0] - 1).bit_length()) for a in order]
    shift = np.cumsum([0, *bits[:-1]]).tolist() if bits else []
    width: Any = np.uint32 if plan.key_bits == 32 else np.uint64
    source, keys = plan.keys[0].astype(width), np.zeros(len(plan.counts), width)
    for a, to in zip(order, shift, strict=True):
        place = places[a]
        field = (source >> width(plan.shift[place])) & width((1 << plan.bits[place]) - 1)
        if lowest[a]:
            field = jump(plan, place, 0, lowest[a]).astype(width)[field]
        keys |= field << width(to)
    sequence = np.argsort(keys)
    keys = keys[sequence]
    starts = np.flatnonzero(np.concatenate(([True], keys[1:] != keys[:-1])))
    return replace(
        plan,
        order=order,
        steps=tuple(_steps_from(plan, places[a], lowest[a]) for a in order),
        sizes=tuple(sizes[a] for a in order),
        word=(0,) * len(places),
        shift=tuple(shift),
        bits=tuple(bits),
        strides=(0,) * len(places),
        keys=keys[starts].astype(np.uint64)[np.newaxis],
        counts=np.add.reduceat(plan.counts[sequence], starts),
        source=np.zeros(0, np.int64),
        tail=Tail(head=len(order), cells=0),
    )


def jump(plan: RotationPlan, position: int, level: int, higher: int) -> NDArray[np.uint64]:
    """Ordinals of one level as those of a higher one."""
    found = np.arange(plan.sizes[position][level], dtype=np.uint64)
    for each in range(level + 1, higher + 1):
        found = plan.steps[position][each][found]
    return found


def _steps_from(plan: RotationPlan, position: int, level: int) -> tuple[NDArray[np.uint64], ...]:
    identity = np.arange(plan.sizes[position][level], dtype=np.uint64)
    return (identity, *plan.steps[position][level + 1 :])
