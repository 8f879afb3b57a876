"""What final classes cost, by their rows alone: C_DM, or the number of classes, of which C_AVG is made.

Both are sums over classes, and both can be bounded from below for a class that may be divided further, as a
branch and bound needs. Bayardo and Agrawal (2005) bound C_DM by the rows of each finest class, k at least.
Here a class of n rows is divided into at most n // k, and equal ones cost least, so classes of k to 2k - 1
rows cost what they will cost at the end.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

BIG = 1 << 50
"""What stands for the impossible; the same as ``kernels.interval_pairs.BIG``."""

MOST_ROWS = 1 << 24
"""Rows whose square, summed, stays below ``BIG``."""

Whole = NDArray[np.int64]


class ClassCost(StrEnum):
    """What is least at the optimum, by the names of the metrics."""

    C_DM = "c-dm"
    C_AVG = "c-avg"


@dataclass(frozen=True)
class CostRule:
    """The cost of classes of a table of ``rows`` rows: k, and how many rows may be suppressed.

    C_DM adds n² for a class of n rows and ``rows`` for each suppressed one; C_AVG counts each class as -1.
    """

    cost: ClassCost
    k: int
    limit: int
    rows: int

    @property
    def penalty(self) -> int:
        """The cost of a suppressed row; 0 where classes are counted."""
        return self.rows if self.cost is ClassCost.C_DM else 0

    def bound(self, sizes: Whole, finest: Whole) -> Whole:
        """A lower bound of what each class costs once it is divided further, ``BIG`` where it cannot stand.

        ``finest`` holds for each class the ``leaf_costs`` of the classes that all cuts would make of it.
        """
        short = (sizes > 0) & (sizes < self.k)
        parts = np.maximum(sizes // self.k, 1)
        if self.cost is ClassCost.C_AVG:
            found = -np.minimum(sizes // self.k, finest)
        else:
            even, odd = np.divmod(sizes, parts)
            found = np.maximum(even * even * (parts - odd) + (even + 1) ** 2 * odd, finest)
            if self.limit:
                left = np.clip(sizes - self.rows // 2, 0, self.limit)
                alone = left * self.rows + (sizes - left) ** 2
                found = np.where(parts > 1, np.maximum(sizes * sizes // parts, finest), alone)
        return np.where(short, np.where(sizes <= self.limit, sizes * self.penalty, BIG), found)

    def leaf_costs(self, counts: Whole) -> Whole:
        """What each finest class adds to ``finest``: each of its rows k at least; or one class."""
        return np.ones_like(counts) if self.cost is ClassCost.C_AVG else counts * np.maximum(counts, self.k)

    def value(self, cost: int) -> float:
        """The metric from the sum: C_DM itself, or C_AVG."""
        if self.cost is ClassCost.C_DM:
            return float(cost)
        return self.rows / max(-cost, 1) / self.k
