"""Oracle: entropy l-diversity and t-closeness of one class by their definitions, in floating point.

They share nothing with the criteria of these names, and serve where a test wants a class test of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import log

import numpy as np
from numpy.typing import NDArray

_ROUNDING = 1e-12
"""What floating point may lose: an entropy of exactly ln l must not fail."""


@dataclass(frozen=True)
class EntropyDiversity:
    """Entropy of a sensitive attribute's values at least ln ``l``, NULL left out; ``l`` need not be whole."""

    l: float
    attribute: int = 0

    def holds(self, rows: int, values: Sequence[NDArray[np.int64]]) -> bool:
        """Whether the class's entropy is large enough; a class without a value has none."""
        del rows
        counts = values[self.attribute]
        counts = counts[counts > 0]
        if not len(counts):
            return False
        shares = counts / counts.sum()
        return float(-(shares * np.log(shares)).sum()) >= log(self.l) - _ROUNDING


@dataclass(frozen=True, eq=False)
class TCloseness:
    """The distribution of a sensitive attribute in the class is at most ``t`` from that in the table.

    ``table`` holds the table's rows by code. The distance is the earth mover's: half the sum of differences
    where all values are equally far apart, or with ``ordered`` (codes in the values' order) the mean of the
    differences of partial sums. NULL is left out of both; a class without a value fails.
    """

    t: float
    table: NDArray[np.int64]
    attribute: int = 0
    ordered: bool = False

    def holds(self, rows: int, values: Sequence[NDArray[np.int64]]) -> bool:
        """Whether the class's distribution is close enough."""
        del rows
        counts = values[self.attribute]
        total, known = int(counts.sum()), int(self.table.sum())
        if not total or not known:
            return False
        differences = counts / total - self.table / known
        if self.ordered:
            steps = max(len(differences) - 1, 1)
            distance = float(np.abs(np.cumsum(differences)).sum()) / steps
        else:
            distance = float(np.abs(differences).sum()) / 2
        return distance <= self.t + _ROUNDING
