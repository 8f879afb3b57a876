"""Lower bounds of parts of a table: boxes of intervals of the first attributes, each divided by itself.

A single-dimension recoding divides all boxes by the same intervals. If each box may have its own, the least
cost can only fall, and the boxes are independent: the bound of a box is that of its best division along the
next attribute, each part of which may be divided on in its own way. The last two attributes are divided
exactly, box by box, where the boxes are few; else the bound of the deepest boxes is that of their rows.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from discreet.taxonomy.class_costs import BIG, CostRule
from discreet.taxonomy.divided_table import DividedTable, intervals, over_intervals
from discreet.taxonomy.pair_solver import PairSolver

Whole = NDArray[np.int64]
_MOST_CELLS = 1 << 23
_MOST_BOXES = 1 << 20
_PAIR_STEPS = 1 << 28
_BOX_NODES = 2000


def nested_bounds(table: DividedTable, solver: PairSolver) -> list[Whole]:
    """Bounds by box: entry d, of d axes, is by the number of an interval of each of the first d attributes.

    The first entry is the bound of the whole table. The list ends where there would be too many boxes.
    """
    above = table.sizes[:-2]
    numbers = [size * (size + 1) // 2 for size in table.sizes]
    depth, boxes = 0, 1
    while depth < len(above) and boxes * numbers[depth] <= _MOST_BOXES:
        boxes *= numbers[depth]
        depth += 1
    pair = table.sizes[-2] * table.sizes[-1]
    exact = depth == len(above) and boxes * pair <= _MOST_CELLS
    exact = exact and boxes * numbers[-1] * numbers[-2] <= _PAIR_STEPS
    deepest = _exactly(table, solver) if exact else _by_rows(table, solver.rule, depth)
    found = [deepest]
    for size in reversed(table.sizes[: deepest.ndim]):
        found.append(divided_least(found[-1], size)[..., 0])
    return found[::-1]


def divided_least(costs: Whole, size: int) -> Whole:
    """What dividing the values from v on costs at least, by v (last axis), from what intervals cost.

    ``BIG`` where one of them is impossible.
    """
    least = np.zeros((*costs.shape[:-1], size + 1), np.int64)
    first, end = intervals(size)
    for v in range(size - 1, -1, -1):
        at = np.flatnonzero(first == v)
        least[..., v] = np.minimum((costs[..., at] + least[..., end[at]]).min(axis=-1), BIG)
    return least


def _exactly(table: DividedTable, solver: PairSolver) -> Whole:
    cube = _of_boxes(table.cube(len(table.sizes))[0], len(table.sizes) - 2)
    shape = cube.shape[:-2]
    return solver.divide_alone(cube.reshape(-1, *cube.shape[-2:]), _BOX_NODES).reshape(shape)


def _by_rows(table: DividedTable, rule: CostRule, depth: int) -> Whole:
    sizes = _of_boxes(table.cube(depth)[0], depth)
    finest = _of_boxes(table.cube(depth, rule.leaf_costs(table.counts))[0], depth)
    return rule.bound(sizes, finest)


def _of_boxes(cube: Whole, axes: int) -> Whole:
    for axis in range(axes):
        cube = over_intervals(cube, axis)
    return cube


def summed(bounds: Sequence[Whole], chosen: Sequence[Whole]) -> Whole:
    """The bounds by interval of the next attribute, summed over the boxes of the ``chosen`` intervals."""
    depth = len(chosen)
    boxes = bounds[depth + 1][np.ix_(*chosen)] if depth else bounds[1]
    return np.asarray(np.minimum(boxes.reshape(-1, boxes.shape[-1]).sum(axis=0), BIG))
