"""The codes of cells: how many each covers, how many of them a mask selects, and extremes over them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from discreet.model.cells import Cells
from discreet.queries.region import Mask


def extreme(cells: Cells, values: NDArray[np.float64], better: np.ufunc) -> NDArray[np.float64]:
    """The extreme value of each cell, from tables of extremes over runs of 1, 2, 4, … codes."""
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
    found: NDArray[np.float64] = better.reduceat(per_interval, cells.offsets[:-1])
    return found


def covered_codes(cells: Cells) -> NDArray[np.int64]:
    """The codes that each cell covers, NULL counted."""
    return np.add.reduceat(cells.last - cells.first + 1, cells.offsets[:-1])


def selected_codes(cells: Cells, mask: Mask, *, nulls: bool = True) -> NDArray[np.int64]:
    """The codes of each cell that a mask selects."""
    counted = mask if nulls else np.append(mask[:-1], False)
    sums = np.concatenate([[0], np.cumsum(counted)])
    return np.add.reduceat(sums[cells.last + 1] - sums[cells.first], cells.offsets[:-1])
