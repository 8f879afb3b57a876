"""Classes by a greedy over the lattice: nodes cheapest first, every class that is good enough is taken.

Row types that share a cell of a cheap node make a class that loses little. Walking the nodes in order of
cost, the greedy takes each class of the row types that remain as soon as it meets the requirement, so no
class is made at a node where a cheaper one would have done. What remains at the end, too little to be a class
by itself, joins the class whose loss it raises least. With levels allowed up to a node, a class is made
within one class of that node; row types of a class that fails even there can be in no class, and stay without
one.

Cost: nodes times the row types that remain, some nanoseconds each (``kernels.local_greedy``).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.frequency.class_demand import Demand
from discreet.kernels.local_greedy_twin import take_classes_twin
from discreet.kernels.local_join_twin import TreeTables, join_rest_twin, spreads_twin
from discreet.local.keys import KeySpace
from discreet.local.nodes import walk_masks
from discreet.model.class_recoding import SUPPRESSED


@dataclass(frozen=True, eq=False)
class Placement:
    """The class of each row type (``SUPPRESSED``: none), how many there are, and what their rows lose in all.

    ``useful`` holds the masks of the nodes that made them, shape ``(nodes, words)``, cheapest first.
    """

    class_of: NDArray[np.int64]
    classes: int
    loss: float
    useful: NDArray[np.uint64]


def place(space: KeySpace, demand: Demand, *, kernels: bool, seed: int = 0) -> Placement:
    """Put every row type into a class, by the compiled kernels or by their twin."""
    return _by_kernels(space, demand, seed) if kernels else _by_twin(space, demand, seed)


def _by_kernels(space: KeySpace, demand: Demand, seed: int) -> Placement:
    from discreet.kernels.local_greedy import Rest, slots_for, take_classes
    from discreet.kernels.local_join import join_rest, spreads

    counts = space.frequency_set.counts
    number = len(counts)
    rest = Rest(
        keys=space.keys.copy(),
        rows=np.minimum(counts, demand.need).astype(np.int32),
        types=np.arange(number),
    )
    class_of = np.full(number, SUPPRESSED, np.int64)
    values, slots = demand.values(), slots_for(number)
    need = np.int32(demand.need)
    remaining, classes, useful = number, 0, []
    for masks in walk_masks(space, seed):
        made = np.zeros(len(masks), np.int64)
        remaining, classes = take_classes(
            masks, need, rest, remaining, classes, class_of, made, values, slots
        )
        useful.append(masks[made > 0])
        if not remaining:
            break
    left = rest.types[:remaining].copy()
    codes = np.ascontiguousarray(space.frequency_set.codes)
    keys = np.ascontiguousarray(space.keys.T)
    trees = space.trees()
    join_rest(left, _groups(space), keys, counts, codes, class_of, classes, trees)
    _, _, size, loss = spreads(keys, counts, codes, class_of, classes, trees)
    return Placement(class_of, classes, float((size * loss).sum()), np.concatenate(useful))


def _by_twin(space: KeySpace, demand: Demand, seed: int) -> Placement:
    counts = space.frequency_set.counts
    class_of = np.full(len(counts), SUPPRESSED, np.int64)
    holds = None if demand.counts_only else demand.holds
    types, classes, useful = np.arange(len(counts)), 0, []
    for masks in walk_masks(space, seed):
        made = np.zeros(len(masks), np.int64)
        types, classes = take_classes_twin(
            masks, demand.need, space.keys, counts, types, classes, class_of, made, holds
        )
        useful.append(masks[made > 0])
        if not len(types):
            break
    tables = TreeTables(space.word, space.level_masks, space.losses)
    keys = np.ascontiguousarray(space.keys.T)
    codes = space.frequency_set.codes
    if not demand.growing:
        classes = _join_tested(types, space, demand, keys, class_of, classes, tables)
        types = types[:0]
    join_rest_twin(types, keys, counts, codes, class_of, classes, tables)
    _, _, size, loss = spreads_twin(keys, counts, codes, class_of, classes, tables)
    return Placement(class_of, classes, float((size * loss).sum()), np.concatenate(useful))


def _groups(space: KeySpace) -> NDArray[np.int64]:
    """Row types numbered by what they are at the greatest levels allowed."""
    groups = np.zeros(space.keys.shape[1], np.int64)
    for word, mask in enumerate(space.forbidden):
        if mask:
            _, groups = np.unique(groups, return_inverse=True)
            _, part = np.unique(space.keys[word] & mask, return_inverse=True)
            groups = groups * (int(part.max(initial=0)) + 1) + part
    _, numbered = np.unique(groups, return_inverse=True) if any(space.forbidden) else (None, groups)
    return numbered


def _join_tested(
    rest: NDArray[np.int64],
    space: KeySpace,
    demand: Demand,
    keys: NDArray[np.uint64],
    class_of: NDArray[np.int64],
    classes: int,
    tables: TreeTables,
) -> int:
    """Let all of ``rest`` in a class of the greatest levels join a class there; how many classes are left.

    A class may fail once others join, where only the union of two that meet the demand is sure to. So the
    rest goes to the cheapest class that bears it, or else, with one class after the other merged in, cheapest
    first, to the first union that does; where none does, it stays without a class.
    """
    codes, counts = space.frequency_set.codes, space.frequency_set.counts
    groups = _groups(space)
    for group in np.unique(groups[rest]).tolist():
        mine = rest[groups[rest] == group]
        there = np.unique(class_of[(groups == group) & (class_of >= 0)])
        if not len(there):
            continue
        member, spread, size, loss = spreads_twin(keys, counts, codes, class_of, classes, tables)
        spread_of_mine = np.bitwise_or.reduce(keys[mine] ^ keys[mine[0]], axis=0)
        wide = spread[there] | spread_of_mine | (keys[mine[0]] ^ keys[member[there]])
        joined = tables.losses_of(wide, codes[member[there]])
        more = joined * (size[there] + counts[mine].sum()) - loss[there] * size[there]
        cheapest = there[np.argsort(more, kind="stable")].tolist()
        unions = [[c] for c in cheapest] + [cheapest[: n + 1] for n in range(1, len(cheapest))]
        for union in unions:
            held = np.isin(class_of, union)
            if demand.holds(np.concatenate([np.flatnonzero(held), mine])):
                class_of[held] = union[0]
                class_of[mine] = union[0]
                break
        numbers = np.cumsum(np.bincount(class_of[class_of >= 0], minlength=classes) > 0) - 1
        class_of[class_of >= 0] = numbers[class_of[class_of >= 0]]
        classes = int(numbers[-1]) + 1
    return classes
