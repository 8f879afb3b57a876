"""Costs that add up over cells, as tables: what a level costs, and what a suppressed row adds.

Such a cost gives every cell a number that depends on its attribute, level and value alone; a suppressed row
shows the whole domain in every cell. So the sum over an attribute's column, with no row suppressed, is one
table entry per level, counted once. A row that is suppressed adds a *penalty*, which its value tells. How
many rows are suppressed bounds the penalty from below: the rows may at best be those of the least penalties.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import fsum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.model.frequency_set import FrequencySet
from discreet.model.hierarchy import GeneralizationHierarchy


@dataclass(frozen=True, eq=False)
class LevelSum:
    """One attribute at one level.

    ``total`` is the sum over all rows with none suppressed; ``penalty`` (by leaf code, NULL last) what one
    suppressed row adds to it; ``rows_of_code`` the rows of each leaf code. Whole numbers where the cost's
    cells are whole.
    """

    total: int | float
    penalty: NDArray[Any]
    rows_of_code: NDArray[np.int64]

    @cached_property
    def _least(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The knots of the least penalty: rows so far, penalty so far, the cheapest rows first."""
        order = np.argsort(self.penalty, kind="stable")
        rows = np.concatenate(([0], np.cumsum(self.rows_of_code[order])))
        penalties = np.concatenate(([0], np.cumsum(self.rows_of_code[order] * self.penalty[order])))
        return rows.astype(np.float64), penalties.astype(np.float64)

    def least_penalty(self, suppressed: Any) -> Any:
        """A lower bound of what so many suppressed rows add; a number or an array of them."""
        rows, penalties = self._least
        return np.interp(suppressed, rows, penalties)

    def of(self, codes: NDArray[np.int64], sizes: NDArray[np.int64]) -> int | float:
        """The sum with classes of these leaf codes and sizes suppressed.

        It does not depend on the order of the classes: rows are added up by penalty first.
        """
        if not len(sizes):
            return self.total
        rows = np.bincount(codes, weights=sizes, minlength=len(self.penalty)).astype(np.int64)
        found = np.flatnonzero(rows)
        if self.penalty.dtype.kind == "i":
            return self.total + int((rows[found] * self.penalty[found]).sum())
        return fsum([float(self.total), *(rows[found] * self.penalty[found]).tolist()])


LevelSums = tuple[tuple[LevelSum, ...], ...]
"""Per attribute, per level."""


def leaves_shown(hierarchy: GeneralizationHierarchy, level: int) -> NDArray[np.int64]:
    """The leaves under the value that each leaf code shows at a level, NULL last, shape ``(leaves + 1,)``.

    NULL stands for itself below the top and joins the top value there.
    """
    leaves = len(hierarchy.leaves)
    if level == hierarchy.height:
        return np.full(leaves + 1, leaves, dtype=np.int64)
    ancestors = hierarchy.ancestors[level]
    return np.append(np.bincount(ancestors)[ancestors], 1).astype(np.int64)


def rows_by_code(frequency_set: FrequencySet, attribute: int) -> NDArray[np.int64]:
    """The rows of each leaf code of one attribute, NULL last."""
    codes, size = frequency_set.codes[:, attribute], frequency_set.hierarchies[attribute].null_code + 1
    return np.bincount(codes, weights=frequency_set.counts, minlength=size).astype(np.int64)


def domain_sums(frequency_set: FrequencySet) -> LevelSums:
    """Cells that cost the leaves under their value (a suppressed one: all leaves). Whole numbers."""
    sums = []
    for i, hierarchy in enumerate(frequency_set.hierarchies):
        rows = rows_by_code(frequency_set, i)
        shown = [leaves_shown(hierarchy, level) for level in range(hierarchy.height + 1)]
        every = len(hierarchy.leaves)
        sums.append(tuple(LevelSum(int((rows * m).sum()), every - m, rows) for m in shown))
    return tuple(sums)


def information_sums(frequency_set: FrequencySet) -> LevelSums:
    """Cells that cost the bits by which their value leaves the leaf open, by the table's own frequencies."""
    sums = []
    for i, hierarchy in enumerate(frequency_set.hierarchies):
        rows = rows_by_code(frequency_set, i)
        found = np.flatnonzero(rows)
        levels = []
        for level in range(hierarchy.height + 1):
            positions = hierarchy.level_map(level)
            rows_of_value = np.bincount(positions, weights=rows).astype(np.int64)[positions]
            lost = rows[found] * np.log2(rows_of_value[found] / rows[found])
            penalty = np.zeros(len(rows))
            occurring = rows_of_value > 0
            penalty[occurring] = np.log2(rows.sum() / rows_of_value[occurring])
            levels.append(LevelSum(fsum(lost.tolist()), penalty, rows))
        sums.append(tuple(levels))
    return tuple(sums)
