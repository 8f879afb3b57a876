"""The average number of leaf combinations that a row's published values stand for, as a cost of nodes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.measures.cell_sums import LeastSums, LevelSum, leaves_shown, rows_by_code
from discreet.measures.cost_kinds import Floats, Levels
from discreet.measures.node_statistics import NodeStatistics
from discreet.model.frequency_set import FrequencySet
from discreet.model.lattice import LatticeNode

_BLOCK = 4096


@dataclass(frozen=True, eq=False)
class AmbiguityCost:
    """The average number of leaf combinations, in whole numbers until the division by the rows."""

    frequency_set: FrequencySet
    name: str = "ambiguity"
    monotone: bool = True
    always_monotone: bool = False
    narrows: bool = False

    @cached_property
    def _shown(self) -> tuple[tuple[NDArray[np.int64], ...], ...]:
        return tuple(
            tuple(leaves_shown(h, level) for level in range(h.height + 1))
            for h in self.frequency_set.hierarchies
        )

    @cached_property
    def _domain(self) -> int:
        return prod(len(h.leaves) for h in self.frequency_set.hierarchies)

    def of(self, statistics: NodeStatistics) -> float:
        """The cost of a node."""
        found = self._combinations(statistics.node, statistics.codes, statistics.sizes)
        return float((found + statistics.suppressed * self._domain) / max(self.frequency_set.rows, 1))

    def known(self, node: LatticeNode, suppressed: int) -> float | None:
        """The cost of a node that suppresses nothing, from the row types."""
        if suppressed:
            return None
        found = self._combinations(node, self.frequency_set.codes, self.frequency_set.counts)
        return float(found / max(self.frequency_set.rows, 1))

    def _combinations(self, node: LatticeNode, codes: NDArray[np.int64], sizes: NDArray[np.int64]) -> int:
        """The sum over rows of leaf codes, in whole numbers of any size."""
        exact: Any = np.int64 if self._domain * self.frequency_set.rows < 2**62 else object
        total = sizes.astype(exact)
        for i, level in enumerate(node):
            total = total * self._shown[i][level][codes[:, i]]
        return int(total.sum())

    def least(self, node: LatticeNode, suppressed: int = 0) -> float:
        """The combinations without suppression; suppressed rows take the place of the largest at best."""
        rows = self.frequency_set.rows
        if not rows:
            return 0.0
        shown = np.ones(self.frequency_set.row_types)
        for i, level in enumerate(node):
            shown *= self._shown[i][level][self.frequency_set.codes[:, i]]
        total = float((shown * self.frequency_set.counts).sum())
        return (total + suppressed * (self._domain - float(shown.max()))) / rows

    def least_of(self, levels: Levels, suppressed: NDArray[np.int64]) -> Floats:
        """``least`` of many nodes, suppressed rows counted as whole: products of two halves of the levels."""
        rows, half = self.frequency_set.rows, levels.shape[1] // 2
        if not rows:
            return np.zeros(len(levels))
        left, left_of = np.unique(levels[:, :half], axis=0, return_inverse=True)
        right, right_of = np.unique(levels[:, half:], axis=0, return_inverse=True)
        total = np.zeros((len(left), len(right)))
        for start in range(0, self.frequency_set.row_types, _BLOCK):
            part = slice(start, start + _BLOCK)
            counted = self._half(left, 0, part) * self.frequency_set.counts[part]
            total += counted @ self._half(right, half, part).T
        found: Floats = total[left_of.ravel(), right_of.ravel()] / rows
        largest = np.ones(len(levels))
        for i, shown in enumerate(self._shown):
            largest *= np.array([m.max() for m in shown])[levels[:, i]]
        by_suppression = (suppressed * (self._domain / rows)).astype(np.float64)
        return np.maximum(found - suppressed * (largest / rows), 0.0) + by_suppression

    @cached_property
    def _logarithms(self) -> tuple[LeastSums, ...]:
        """The logarithms of the leaves shown, added over the rows; a suppressed one shows all leaves."""
        found = []
        for i, shown in enumerate(self._shown):
            rows, most = rows_by_code(self.frequency_set, i), np.log(max(int(shown[-1].max()), 1))
            parts = [np.log(values) for values in shown]
            levels = (LevelSum(float((rows * p).sum()), most - p, rows) for p in parts)
            found.append(LeastSums.of(tuple(levels)))
        return tuple(found)

    def least_from(self, levels: Levels, suppressed: NDArray[np.int64]) -> Floats:
        """The geometric mean in the place of the arithmetic one, which is no less: tables tell it."""
        total = np.zeros(len(levels))
        for i, least in enumerate(self._logarithms):
            total += least.at(levels[:, i], suppressed)
        rows = self.frequency_set.rows
        return np.exp(total / rows) if rows else np.zeros(len(levels))

    def _half(self, levels: Levels, first: int, part: slice) -> Floats:
        """The leaves under the values of some attributes, multiplied, shape ``(nodes, row types)``."""
        codes = self.frequency_set.codes[part]
        found = np.ones((len(levels), len(codes)))
        for i in range(levels.shape[1]):
            shown = np.stack([m[codes[:, first + i]] for m in self._shown[first + i]])
            found *= shown[levels[:, i]]
        return found
