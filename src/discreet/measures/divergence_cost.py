"""KL divergence of a node from the original, as a cost (Kifer and Gehrke 2006).

The original's distribution p over row types is compared with q, in which each published row is spread evenly
over the combinations of leaves that its class stands for, and a suppressed row over all combinations:
Σ p · log2(p / q). With n rows, S of them suppressed, f the rows of a class, V its combinations (NULL is one
value more where the original has it) and W all of them, a row of a published class has
q = (f / V + S / W) / n, a suppressed one S / W / n. So only classes are summed over, not row types.

It is the metric ``kl-divergence`` of a release. While the same rows are suppressed it never falls on the way
up: −f · log2(f / V + s) is concave and homogeneous in f and V, so what joins costs no less than its parts,
and it rises with V. Without suppression it is the entropy of the classes minus that of the row types, plus
the mean of log2 V: the entropy of the classes is at least that of any one attribute, the rest is a table.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import fsum

import numpy as np
from numpy.typing import NDArray

from discreet.measures.cell_sums import leaves_shown, rows_by_code
from discreet.measures.cost_kinds import Floats, Levels
from discreet.measures.node_statistics import NodeStatistics
from discreet.model.frequency_set import FrequencySet
from discreet.model.lattice import LatticeNode


@dataclass(frozen=True, eq=False)
class DivergenceCost:
    """The divergence in bits; see the module."""

    frequency_set: FrequencySet
    name: str = "kl-divergence"
    monotone: bool = True
    always_monotone: bool = False
    narrows: bool = False

    @cached_property
    def _rows_of_code(self) -> tuple[NDArray[np.int64], ...]:
        return tuple(rows_by_code(self.frequency_set, i) for i in range(len(self.frequency_set.hierarchies)))

    @cached_property
    def _bits(self) -> tuple[tuple[Floats, ...], ...]:
        """By attribute and level, log2 of what each leaf code's value stands for, NULL among it."""
        found = []
        for hierarchy, rows in zip(self.frequency_set.hierarchies, self._rows_of_code, strict=True):
            shown = [leaves_shown(hierarchy, level) for level in range(hierarchy.height + 1)]
            shown[-1] = shown[-1] + (rows[-1] > 0)
            found.append(tuple(np.log2(values) for values in shown))
        return tuple(found)

    @cached_property
    def _whole(self) -> float:
        """log2 of all combinations."""
        return fsum(float(levels[-1][0]) for levels in self._bits)

    @cached_property
    def _row_types(self) -> float:
        """The entropy of the row types, in bits."""
        return _entropy(self.frequency_set.counts)

    def of(self, statistics: NodeStatistics) -> float:
        """The cost of a node."""
        rows, suppressed = self.frequency_set.rows, statistics.suppressed
        if not rows:
            return 0.0
        combinations = np.zeros(len(statistics.sizes))
        for i, level in enumerate(statistics.node):
            combinations += self._bits[i][level][statistics.codes[:, i]]
        everywhere = suppressed * 2.0**-self._whole
        spread = np.log2(statistics.sizes * 2.0**-combinations + everywhere)
        lost = [-float(part) for part in statistics.sizes * spread]
        if suppressed:
            lost.append(suppressed * (self._whole - float(np.log2(suppressed))))
        return max(fsum(lost) / rows + float(np.log2(rows)) - self._row_types, 0.0)

    def known(self, node: LatticeNode, suppressed: int) -> float | None:  # noqa: ARG002
        """Never: classes must be counted."""
        return None

    def least(self, node: LatticeNode, suppressed: int = 0) -> float:  # noqa: ARG002
        """Nothing is known of nodes above, where others are suppressed."""
        return 0.0

    def least_of(self, levels: Levels, suppressed: NDArray[np.int64]) -> Floats:
        """The bound of the nodes that suppress nothing, 0 for the others."""
        width, classes = np.zeros(len(levels)), np.zeros(len(levels))
        for i, (hierarchy, rows) in enumerate(
            zip(self.frequency_set.hierarchies, self._rows_of_code, strict=True)
        ):
            number = max(int(rows.sum()), 1)
            means = np.array([float((bits * rows).sum()) / number for bits in self._bits[i]])
            entropies = np.array(
                [
                    _entropy(np.bincount(hierarchy.level_map(level), rows))
                    for level in range(hierarchy.height + 1)
                ]
            )
            width += means[levels[:, i]]
            classes = np.maximum(classes, entropies[levels[:, i]])
        return np.where(suppressed == 0, np.maximum(classes - self._row_types + width, 0.0), 0.0)

    def least_from(self, levels: Levels, suppressed: NDArray[np.int64]) -> Floats:  # noqa: ARG002
        """Nothing is known, as for ``least``."""
        return np.zeros(len(levels))


def _entropy(rows: NDArray[np.int64] | Floats) -> float:
    shares = rows[rows > 0] / max(rows.sum(), 1)
    return -fsum((shares * np.log2(shares)).tolist())
