"""Greedy search for classes: nodes in order of cost; each class that meets the requirement is taken.

Row types that remain at the end join the class whose loss they raise least. If levels are limited to a
node, a class is formed within one class of that node; row types of a class that fails at that node get no
class.

Cost: nodes times the remaining row types, some nanoseconds each (``kernels.greedy_cover``).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.frequency.class_requirement import ClassRequirement
from discreet.kernels.local_recoding_twin import (
    TreeTables,
    compute_spreads_twin,
    join_remaining_twin,
    take_classes_twin,
)
from discreet.local.key_space import KeySpace, iterate_node_masks
from discreet.model.class_recoding import SUPPRESSED


@dataclass(frozen=True, eq=False)
class GreedyClasses:
    """Class of each row type (``SUPPRESSED`` if none), the number of classes, and their total loss.

    ``used_masks`` contains the masks of the nodes that formed the classes, shape ``(nodes, words)``,
    cheapest first.
    """

    class_of: NDArray[np.int64]
    classes: int
    loss: float
    used_masks: NDArray[np.uint64]


def build_greedy_classes(
    space: KeySpace, demand: ClassRequirement, *, kernels: bool, seed: int = 0
) -> GreedyClasses:
    """Put every row type into a class, by the compiled kernels or by their twin."""
    return _by_kernels(space, demand, seed) if kernels else _by_twin(space, demand, seed)


def _by_kernels(space: KeySpace, demand: ClassRequirement, seed: int) -> GreedyClasses:
    """Build the classes by kernels.

    Counts are clipped to the needed rows, so that they fit in 32 bits; the losses use the full counts.
    """
    from discreet.kernels.greedy_cover import RemainingTypes, allocate_slots, take_classes
    from discreet.kernels.local_losses import compute_spreads, join_remaining

    counts = space.frequency_set.counts
    number = len(counts)
    rest = RemainingTypes(
        keys=space.keys.copy(), rows=np.minimum(counts, demand.need).astype(np.int32), types=np.arange(number)
    )
    class_of = np.full(number, SUPPRESSED, np.int64)
    values, slots = demand.values(), allocate_slots(number)
    need = np.int32(demand.need)
    remaining, classes, used_masks = number, 0, []
    for masks in iterate_node_masks(space, seed):
        made = np.zeros(len(masks), np.int64)
        remaining, classes = take_classes(
            masks, need, rest, remaining, classes, class_of, made, values, slots
        )
        used_masks.append(masks[made > 0])
        if not remaining:
            break
    left = rest.types[:remaining].copy()
    codes = np.ascontiguousarray(space.frequency_set.codes)
    keys = np.ascontiguousarray(space.keys.T)
    trees = space.trees()
    join_remaining(left, _classes_at_greatest_levels(space), keys, counts, codes, class_of, classes, trees)
    _, _, size, loss = compute_spreads(keys, counts, codes, class_of, classes, trees)
    return GreedyClasses(class_of, classes, float((size * loss).sum()), np.concatenate(used_masks))


def _by_twin(space: KeySpace, demand: ClassRequirement, seed: int) -> GreedyClasses:
    counts = space.frequency_set.counts
    class_of = np.full(len(counts), SUPPRESSED, np.int64)
    holds = None if demand.counts_only else demand.holds
    types, classes, used_masks = np.arange(len(counts)), 0, []
    for masks in iterate_node_masks(space, seed):
        made = np.zeros(len(masks), np.int64)
        types, classes = take_classes_twin(
            masks, demand.need, space.keys, counts, types, classes, class_of, made, holds
        )
        used_masks.append(masks[made > 0])
        if not len(types):
            break
    tables = TreeTables(space.word, space.level_masks, space.losses)
    keys = np.ascontiguousarray(space.keys.T)
    codes = space.frequency_set.codes
    if not demand.growing:
        classes = _join_remaining(types, space, demand, keys, class_of, classes, tables)
        types = types[:0]
    join_remaining_twin(types, keys, counts, codes, class_of, classes, tables)
    _, _, size, loss = compute_spreads_twin(keys, counts, codes, class_of, classes, tables)
    return GreedyClasses(class_of, classes, float((size * loss).sum()), np.concatenate(used_masks))


def _classes_at_greatest_levels(space: KeySpace) -> NDArray[np.int64]:
    """Number the row types by their class at the greatest allowed levels."""
    groups = np.zeros(space.keys.shape[1], np.int64)
    for word, mask in enumerate(space.forbidden):
        if mask:
            _, groups = np.unique(groups, return_inverse=True)
            _, part = np.unique(space.keys[word] & mask, return_inverse=True)
            groups = groups * (int(part.max(initial=0)) + 1) + part
    _, numbered = np.unique(groups, return_inverse=True) if any(space.forbidden) else (None, groups)
    return numbered


def _join_remaining(
    rest: NDArray[np.int64],
    space: KeySpace,
    demand: ClassRequirement,
    keys: NDArray[np.uint64],
    class_of: NDArray[np.int64],
    classes: int,
    tables: TreeTables,
) -> int:
    """Put ``rest`` into classes of the same class at the greatest levels; return the number of classes.

    If the criteria are monotone but not growing, only the union of two classes that meet them is sure to
    meet them, so a class may fail after others join it. The rest therefore joins the cheapest class that
    still holds, or else the first union of the cheapest classes that holds. If no union holds, the rest
    stays without a class.
    """
    codes, counts = space.frequency_set.codes, space.frequency_set.counts
    groups = _classes_at_greatest_levels(space)
    for group in np.unique(groups[rest]).tolist():
        mine = rest[groups[rest] == group]
        there = np.unique(class_of[(groups == group) & (class_of >= 0)])
        if not len(there):
            continue
        member, spread, size, loss = compute_spreads_twin(keys, counts, codes, class_of, classes, tables)
        spread_of_mine = np.bitwise_or.reduce(keys[mine] ^ keys[mine[0]], axis=0)
        wide = spread[there] | spread_of_mine | (keys[mine[0]] ^ keys[member[there]])
        joined = tables.losses_of(wide, codes[member[there]])
        more = joined * (size[there] + counts[mine].sum()) - loss[there] * size[there]
        cheapest = there[np.argsort(more, kind="stable")].tolist()
        unions = [[c] for c in cheapest] + [cheapest[: n + 1] for n in range(1, len(cheapest))]
        for union in unions:
            members = np.isin(class_of, union)
            if demand.holds(np.concatenate([np.flatnonzero(members), mine])):
                class_of[members] = union[0]
                class_of[mine] = union[0]
                break
        numbers = np.cumsum(np.bincount(class_of[class_of >= 0], minlength=classes) > 0) - 1
        class_of[class_of >= 0] = numbers[class_of[class_of >= 0]]
        classes = int(numbers[-1]) + 1
    return classes
