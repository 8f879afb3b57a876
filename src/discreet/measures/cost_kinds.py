"""The kinds of cost: sums over levels, sums over cells, class sizes, leaf combinations, a user's own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from math import fsum, inf, isnan, prod
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError
from discreet.measures.cell_sums import LevelSums, leaves_shown
from discreet.measures.node_statistics import NodeStatistics
from discreet.model.frequency_set import FrequencySet
from discreet.model.lattice import LatticeNode

Floats = NDArray[np.float64]
Levels = NDArray[np.int64]
"""Nodes as an array of shape ``(nodes, quasi-identifiers)``."""

_BLOCK = 4096


class Cost(Protocol):
    """A cost of the nodes of one table under one requirement.

    ``monotone``: it never falls on the way up while the suppressed rows stay the same (none, say);
    ``always_monotone``: not where other rows are suppressed either.
    """

    @property
    def name(self) -> str:
        """The name that ``--cost`` takes."""

    @property
    def monotone(self) -> bool:
        """See the class."""

    @property
    def always_monotone(self) -> bool:
        """See the class."""

    def of(self, statistics: NodeStatistics) -> float:
        """The cost of a node whose classes are counted."""

    def known(self, node: LatticeNode, suppressed: int) -> float | None:
        """The cost of a node of which only its suppressed rows are known; None where that is not enough."""

    def least(self, node: LatticeNode, suppressed: int = 0) -> float:
        """A lower bound, up to rounding, for every node at or above that suppresses at least so many rows."""

    def least_of(self, levels: Levels, suppressed: NDArray[np.int64]) -> Floats:
        """``least`` of many nodes at once; ``suppressed`` are their own suppressed rows, exactly."""


@dataclass(frozen=True)
class LevelCost:
    """Height and precision: a sum over the levels alone; ``parts[i][level]`` are the summands."""

    name: str
    parts: tuple[tuple[float, ...], ...]
    monotone: bool = True
    always_monotone: bool = True

    def of(self, statistics: NodeStatistics) -> float:
        """The cost of a node."""
        return self.least(statistics.node)

    def known(self, node: LatticeNode, suppressed: int) -> float | None:
        """The cost of a node."""
        return self.least(node, suppressed)

    def least(self, node: LatticeNode, suppressed: int = 0) -> float:  # noqa: ARG002
        """The cost of the node itself: nothing above it costs less."""
        return fsum(part[level] for part, level in zip(self.parts, node, strict=True))

    def least_of(self, levels: Levels, suppressed: NDArray[np.int64]) -> Floats:  # noqa: ARG002
        """The costs."""
        total = np.zeros(len(levels))
        for i, part in enumerate(self.parts):
            total += np.array(part)[levels[:, i]]
        return total


@dataclass(frozen=True, eq=False)
class CellCost:
    """Loss and entropy: sums over the cells of each attribute, put together by ``join``.

    ``join`` takes one sum per attribute, and arrays of them beside each other.
    """

    name: str
    sums: LevelSums
    join: Callable[[list[Any]], Any]
    monotone: bool = True
    always_monotone: bool = False

    def of(self, statistics: NodeStatistics) -> float:
        """The cost of a node, exact but for the rounding of its last steps."""
        codes, sizes = statistics.suppressed_codes, statistics.suppressed_sizes
        node = statistics.node
        return float(self.join([s[node[i]].of(codes[:, i], sizes) for i, s in enumerate(self.sums)]))

    def known(self, node: LatticeNode, suppressed: int) -> float | None:
        """The cost of a node that suppresses nothing."""
        if suppressed:
            return None
        return float(self.join([s[level].total for s, level in zip(self.sums, node, strict=True)]))

    def least(self, node: LatticeNode, suppressed: int = 0) -> float:
        """The sums without suppression and the least penalty of so many suppressed rows."""
        found = []
        for sums, level in zip(self.sums, node, strict=True):
            penalty = float(sums[level].least_penalty(suppressed)) if suppressed else 0.0
            found.append(sums[level].total + penalty)
        return float(self.join(found))

    def least_of(self, levels: Levels, suppressed: NDArray[np.int64]) -> Floats:
        """``least`` of many nodes."""
        found = []
        for i, sums in enumerate(self.sums):
            column = np.empty(len(levels))
            for level, level_sum in enumerate(sums):
                at = np.flatnonzero(levels[:, i] == level)
                column[at] = level_sum.total + level_sum.least_penalty(suppressed[at])
            found.append(column)
        joined: Floats = self.join(found)
        return joined


class ClassSizes(NamedTuple):
    """A node's classes in numbers, failing ones too: how many, their squared sizes summed, the largest."""

    classes: int
    squares: int
    largest: int

    @classmethod
    def of(cls, sizes: NDArray[np.int64]) -> ClassSizes:
        """The numbers of classes of these sizes."""
        return cls(len(sizes), _squares(sizes), int(sizes.max(initial=0)))


@dataclass(frozen=True)
class ClassSizeCost:
    """Average class size, discernibility, C_AVG: the sizes of the classes tell all of it.

    ``of_sizes`` takes the number of published classes, the sum of their squared sizes and the suppressed
    rows: numbers, or arrays with an entry per node. A published class has at least ``smallest`` rows.
    """

    name: str
    rows: int
    smallest: int
    of_sizes: Callable[[Any, Any, Any], Any]
    monotone: bool = True
    always_monotone: bool = False

    def of(self, statistics: NodeStatistics) -> float:
        """The cost of a node."""
        sizes = statistics.sizes
        return float(self.of_sizes(len(sizes), _squares(sizes), statistics.suppressed))

    def known(self, node: LatticeNode, suppressed: int) -> float | None:  # noqa: ARG002
        """Never: classes must be counted."""
        return None

    def least(self, node: LatticeNode, suppressed: int = 0) -> float:  # noqa: ARG002
        """As many classes as the smallest size allows, each of that size."""
        least = [self._least_with(suppressed)]
        if not suppressed:
            least.append(self._least_with(1))
        return min(least)

    def _least_with(self, suppressed: int) -> float:
        published = max(self.rows - suppressed, 0)
        return float(self.of_sizes(published // self.smallest, published * self.smallest, suppressed))

    def least_of(self, levels: Levels, suppressed: NDArray[np.int64]) -> Floats:  # noqa: ARG002
        """``least`` of many nodes; their classes being counted, ``of_sizes`` tells the costs themselves."""
        return np.array([self.least((), s) for s in suppressed.tolist()])

    def least_above(self, sizes: ClassSizes, suppressed: int) -> float:
        """``least``, given all classes of the lowest node: classes only merge on the way up."""
        classes = sizes.classes - (suppressed > 0)
        squares = sizes.squares - suppressed * sizes.largest
        return max(self.least((), suppressed), float(self.of_sizes(classes, squares, suppressed)))


@dataclass(frozen=True, eq=False)
class AmbiguityCost:
    """The average number of leaf combinations, in whole numbers until the division by the rows."""

    frequency_set: FrequencySet
    name: str = "ambiguity"
    monotone: bool = True
    always_monotone: bool = False

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

    def _half(self, levels: Levels, first: int, part: slice) -> Floats:
        """The leaves under the values of some attributes, multiplied, shape ``(nodes, row types)``."""
        codes = self.frequency_set.codes[part]
        found = np.ones((len(levels), len(codes)))
        for i in range(levels.shape[1]):
            shown = np.stack([m[codes[:, first + i]] for m in self._shown[first + i]])
            found *= shown[levels[:, i]]
        return found


@dataclass(frozen=True)
class OwnCost:
    """A user's function of ``NodeStatistics``; nothing is known of a node before it is counted.

    A function with a true attribute ``monotone`` is taken at its word.
    """

    function: Callable[[NodeStatistics], float]
    name: str = "own"
    always_monotone: bool = False

    @property
    def monotone(self) -> bool:
        """Whether the function says so of itself."""
        return bool(getattr(self.function, "monotone", False))

    def of(self, statistics: NodeStatistics) -> float:
        """What the function says; ``InputError`` where it is no number."""
        cost = float(self.function(statistics))
        if isnan(cost):
            raise InputError(
                "the cost function returned a value that is no number", allowed="a number for every node"
            )
        return cost

    def known(self, node: LatticeNode, suppressed: int) -> float | None:  # noqa: ARG002
        """Nothing is known."""
        return None

    def least(self, node: LatticeNode, suppressed: int = 0) -> float:  # noqa: ARG002
        """Nothing is known."""
        return -inf

    def least_of(self, levels: Levels, suppressed: NDArray[np.int64]) -> Floats:  # noqa: ARG002
        """Nothing is known."""
        return np.full(len(levels), -inf)


def _squares(sizes: NDArray[np.int64]) -> int:
    """The sum of the squares, in whole numbers of any size."""
    if int(sizes.sum()) < 2**31:
        return int((sizes * sizes).sum())
    return sum(size * size for size in sizes.tolist())
