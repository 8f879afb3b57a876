"""Oracle: entropy l-diversity and t-closeness of one class by their definitions, in floating point.

They share no code with the criteria of these names, for tests that need an independent class test.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import log

import numpy as np
from numpy.typing import NDArray

_ROUNDING = 1e-12
"""Tolerance for rounding: an entropy of exactly ln l must not fail."""


@dataclass(frozen=True)
class EntropyDiversity:
    """Entropy l-diversity: the entropy of a sensitive attribute's values is at least ln ``l``.

    NULL is left out; ``l`` need not be an integer.
    """

    l: float
    attribute: int = 0

    def holds(self, rows: int, values: Sequence[NDArray[np.int64]]) -> bool:
        """Test whether the entropy of the class is large enough; a class without a value has none."""
        del rows
        counts = values[self.attribute]
        counts = counts[counts > 0]
        if not len(counts):
            return False
        shares = counts / counts.sum()
        return float(-(shares * np.log(shares)).sum()) >= log(self.l) - _ROUNDING


@dataclass(frozen=True, eq=False)
class TCloseness:
    """Distance of at most ``t`` between a sensitive attribute's distribution in the class and in the table.

    ``table`` contains the table's rows by code. The distance is the earth mover's: half the sum of
    differences if all values are equally distant or, with ``ordered`` (codes in the order of values), the
    mean of the differences of partial sums. NULL is left out of both; a class without a value fails.
    """

    t: float
    table: NDArray[np.int64]
    attribute: int = 0
    ordered: bool = False

    def holds(self, rows: int, values: Sequence[NDArray[np.int64]]) -> bool:
        """Test whether the distribution of the class is close enough."""
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
