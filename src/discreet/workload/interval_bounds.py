"""Bounds of SUM, AVG, MIN and MAX if each group's values are in an interval (Zhang et al. 2007).

Also codes of cells: the number that each covers, the number that a mask selects, and extremes over them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.model.published_cells import Cells
from discreet.queries.aggregate_query import Aggregate
from discreet.queries.region import Box, Mask

_MOST_COMBINATIONS = 1 << 62


def extremes_of_cells(cells: Cells, values: NDArray[np.float64], better: np.ufunc) -> NDArray[np.float64]:
    """Compute the extreme value of each cell, from tables of extremes over runs of 1, 2, 4, … codes."""
    neutral = np.inf if better is np.minimum else -np.inf
    tables = [np.append(values, neutral)]
    while 2 ** len(tables) <= len(values) + 1:
        half = 2 ** (len(tables) - 1)
        tables.append(better(tables[-1][:-half], tables[-1][half:]))
    level = np.maximum(cells.last - cells.first + 1, 1)
    level = np.floor(np.log2(level)).astype(np.int64)
    per_interval = np.empty(len(level))
    for number, table in enumerate(tables):
        here = level == number
        per_interval[here] = better(table[cells.first[here]], table[cells.last[here] - 2**number + 1])
    result: NDArray[np.float64] = better.reduceat(per_interval, cells.offsets[:-1])
    return result


def count_covered_codes(cells: Cells) -> NDArray[np.int64]:
    """Count the codes that each cell covers, including NULL."""
    return np.add.reduceat(cells.last - cells.first + 1, cells.offsets[:-1])


def count_selected_codes(cells: Cells, mask: Mask, *, nulls: bool = True) -> NDArray[np.int64]:
    """Count the codes of each cell that a mask selects."""
    counted = mask if nulls else np.append(mask[:-1], False)
    sums = np.concatenate([[0], np.cumsum(counted)])
    return np.add.reduceat(sums[cells.last + 1] - sums[cells.first], cells.offsets[:-1])


def type_of_products(sizes: Iterable[NDArray[np.int64]]) -> Any:
    """Return the type in which to multiply sizes: Python integers if 64 bits might overflow."""
    return np.int64 if prod(int(size.max(initial=1)) for size in sizes) < _MOST_COMBINATIONS else object


def mask_of_cells(box: Box, cells: Cells) -> Mask:
    """Return a box's mask of the codes of an attribute: all of them if the box does not restrict it."""
    return box.get(cells.attribute, np.ones(cells.leaves + 1, dtype=np.bool_))


AggregateBound = float | None


@dataclass(frozen=True, eq=False)
class GroupEnds:
    """Groups of rows with their size, whether they are surely or possibly selected, and their value range.

    All arrays have shape ``(groups,)``; ``certain`` groups are also ``possible``. ``attained`` marks
    certain groups whose class contains both ends.
    """

    rows: NDArray[np.int64]
    certain: NDArray[np.bool_]
    possible: NDArray[np.bool_]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    attained: NDArray[np.bool_]

    def with_missing(self, rows: int, certain: bool, ends: tuple[float, float]) -> GroupEnds:
        """Append a group of unknown rows, which may be selected and have any value in ``ends``."""
        return replace(
            self,
            rows=np.append(self.rows, rows),
            certain=np.append(self.certain, certain),
            possible=np.append(self.possible, True),
            low=np.append(self.low, ends[0]),
            high=np.append(self.high, ends[1]),
            attained=np.append(self.attained, False),
        )


def bound_aggregate(
    aggregate: Aggregate,
    ends: GroupEnds,
    label_means: tuple[NDArray[np.float64], NDArray[np.float64]] | None = None,
) -> tuple[AggregateBound, AggregateBound]:
    """Compute the least and greatest answer; None if no row can be selected.

    ``label_means`` contains the means and half units that the first groups state, NaN for none. They tighten
    SUM and AVG, so every group of a class must be certain if one is.
    """
    if not ends.possible.any():
        return None, None
    if aggregate is Aggregate.MIN:
        return _bound_minimum(ends)
    if aggregate is Aggregate.MAX:
        mirrored = replace(ends, low=-ends.high, high=-ends.low)
        low, high = _bound_minimum(mirrored)
        return (None if high is None else -high), (None if low is None else -low)
    if label_means is not None:
        ends = _tighten_by_means(ends, label_means)
    if aggregate is Aggregate.SUM:
        surely, maybe = ends.certain, ends.possible & ~ends.certain
        least, most = ends.rows * ends.low, ends.rows * ends.high
        return (
            float(least[surely].sum() + np.minimum(0.0, least[maybe]).sum()),
            float(most[surely].sum() + np.maximum(0.0, most[maybe]).sum()),
        )
    upper = _largest_average(ends)
    lower = _largest_average(replace(ends, low=-ends.high, high=-ends.low))
    return (None if lower is None else -lower), upper


def _bound_minimum(ends: GroupEnds) -> tuple[AggregateBound, AggregateBound]:
    low = float(ends.low[ends.possible].min())
    if not ends.certain.any():
        return low, float(ends.high[ends.possible].max())
    reached = np.where(ends.attained, ends.low, ends.high)
    return low, float(reached[ends.certain].min())


def _largest_average(ends: GroupEnds) -> AggregateBound:
    """Return the greatest average: certain rows, then others in descending order while they raise it."""
    surely, maybe = ends.certain, ends.possible & ~ends.certain
    if not ends.possible.any():
        return None
    rows, total = int(ends.rows[surely].sum()), float((ends.rows * ends.high)[surely].sum())
    if rows == 0:
        return float(ends.high[maybe].max())
    order = np.argsort(-ends.high[maybe], kind="stable")
    high, number = ends.high[maybe][order], ends.rows[maybe][order]
    rows_so_far = rows + np.concatenate(([0], np.cumsum(number)))
    totals = total + np.concatenate(([0.0], np.cumsum(number * high)))
    return float((totals / rows_so_far).max())


def _tighten_by_means(
    ends: GroupEnds, label_means: tuple[NDArray[np.float64], NDArray[np.float64]]
) -> GroupEnds:
    """Narrow certain groups with a stated mean to half a unit around it, as if all rows were there."""
    beyond = np.full(len(ends.rows) - len(label_means[0]), np.nan)
    means, half = np.append(label_means[0], beyond), np.append(label_means[1], beyond)
    known = ends.certain & ~np.isnan(means)
    return replace(
        ends,
        low=np.where(known, np.maximum(ends.low, means - half), ends.low),
        high=np.where(known, np.minimum(ends.high, means + half), ends.high),
    )
