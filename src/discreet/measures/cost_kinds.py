"""Kinds of cost: sums over levels, sums over cells, class sizes, and functions of a user."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from math import fsum, inf, isnan
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError
from discreet.measures.cell_sums import (
    CostAggregate,
    LevelSums,
    LowerBoundSums,
    aggregate_columns,
    aggregate_parts,
)
from discreet.measures.node_statistics import NodesStatistics, NodeStatistics, sum_of_squares
from discreet.model.lattice import LatticeNode

CostArray = NDArray[np.float64]
LevelArray = NDArray[np.int64]
"""Nodes as an array of shape ``(nodes, quasi-identifiers)``."""


class Cost(ABC):
    """A cost of the nodes of one table under one requirement; by default with only 0 as a lower bound.

    ``name`` is the value of ``--cost``. ``monotone``: the cost never falls on the way up while the suppressed
    rows stay the same (for example, none). ``always_monotone``: it does not fall if other rows are suppressed
    either. ``prunes_by_levels``: ``cheap_lower_bounds`` rises with the levels, so that a good node excludes
    others without counting them.
    """

    name: str
    _lowest = 0.0

    @property
    def monotone(self) -> bool:
        """See the class."""
        return False

    @property
    def always_monotone(self) -> bool:
        """See the class."""
        return False

    @property
    def prunes_by_levels(self) -> bool:
        """See the class."""
        return False

    @abstractmethod
    def of(self, statistics: NodeStatistics) -> float:
        """Return the cost of a node with counted classes."""

    def known(self, node: LatticeNode, suppressed: int) -> float | None:
        """Return the cost of a node from its number of suppressed rows; None if that is not sufficient."""
        return None

    def least(self, node: LatticeNode, suppressed: int = 0) -> float:
        """Return a lower bound of nodes at or above that suppress at least ``suppressed`` rows.

        The bound holds up to rounding.
        """
        return self._lowest

    def lower_bounds(self, levels: LevelArray, suppressed: NDArray[np.int64]) -> CostArray:
        """Return ``least`` of each node; ``suppressed`` contains their exact numbers of suppressed rows."""
        return np.full(len(levels), self._lowest)

    def cheap_lower_bounds(self, levels: LevelArray, suppressed: NDArray[np.int64]) -> CostArray:
        """Return ``least`` of each node without reading row types."""
        return np.full(len(levels), self._lowest)


@dataclass(frozen=True)
class LevelCost(Cost):
    """Sum over the levels, such as height; ``parts[i][level]`` are the summands."""

    name: str
    parts: tuple[tuple[float, ...], ...]
    monotone = True
    always_monotone = True
    prunes_by_levels = True

    def of(self, statistics: NodeStatistics) -> float:
        """Return the cost of a node."""
        return self.least(statistics.node)

    def known(self, node: LatticeNode, suppressed: int) -> float | None:
        """Return the cost of a node."""
        return self.least(node, suppressed)

    def least(self, node: LatticeNode, suppressed: int = 0) -> float:
        """Return the cost of the node itself: nodes above cost no less."""
        return fsum(part[level] for part, level in zip(self.parts, node, strict=True))

    def lower_bounds(self, levels: LevelArray, suppressed: NDArray[np.int64]) -> CostArray:
        """Return the cost of each node."""
        total = np.zeros(len(levels))
        for i, part in enumerate(self.parts):
            total += np.array(part)[levels[:, i]]
        return total

    def cheap_lower_bounds(self, levels: LevelArray, suppressed: NDArray[np.int64]) -> CostArray:
        """Return the cost of each node."""
        return self.lower_bounds(levels, suppressed)


@dataclass(frozen=True, eq=False)
class CellCost(Cost):
    """Aggregate of sums over the cells of each attribute: precision, loss and entropy.

    ``parts`` convert the sum of one attribute, or an array of sums, into its part of the cost.
    ``persistent_share`` is the share of a suppressed row's penalty that generalization above a node cannot
    remove.
    """

    name: str
    sums: LevelSums
    parts: tuple[Callable[[Any], Any], ...]
    aggregate: CostAggregate
    persistent_share: float = 1.0
    prunes_by_levels = True

    @property
    def monotone(self) -> bool:
        """True unless the cost of suppression falls faster than the cost of generalization rises."""
        return self.persistent_share == 1 or self.always_monotone

    @cached_property
    def always_monotone(self) -> bool:
        """True if suppressed rows add nothing."""
        return all(level.uniform and not level.penalty.any() for levels in self.sums for level in levels)

    @cached_property
    def _least(self) -> tuple[LowerBoundSums, ...]:
        return tuple(map(LowerBoundSums.of, self.sums))

    def of(self, statistics: NodeStatistics) -> float:
        """Return the cost of a node, exact except for the rounding of its last steps."""
        codes, sizes = statistics.suppressed_codes, statistics.suppressed_sizes
        node = statistics.node
        return self._joined([s[node[i]].of(codes[:, i], sizes) for i, s in enumerate(self.sums)])

    def known(self, node: LatticeNode, suppressed: int) -> float | None:
        """Return the cost of a node without suppression, or if the choice of rows has no effect."""
        if suppressed and not all(level.uniform for levels in self.sums for level in levels):
            return None
        return self._joined(
            [
                s[level].total + (s[level].least_penalty(suppressed) if suppressed else 0)
                for s, level in zip(self.sums, node, strict=True)
            ]
        )

    def least(self, node: LatticeNode, suppressed: int = 0) -> float:
        """Return the cost without suppression plus the least penalty of ``suppressed`` or more rows."""
        return self._joined(
            [
                s[level].total + self.persistent_share * s[level].least_penalty_from(suppressed)
                for s, level in zip(self.sums, node, strict=True)
            ]
        )

    def lower_bounds(self, levels: LevelArray, suppressed: NDArray[np.int64]) -> CostArray:
        """Return the least costs of nodes; for rank, one column per part, the largest first."""
        found = []
        for i, sums in enumerate(self.sums):
            column = np.empty(len(levels))
            for level, level_sum in enumerate(sums):
                at = np.flatnonzero(levels[:, i] == level)
                column[at] = level_sum.total + level_sum.least_penalty(suppressed[at])
            found.append(self.parts[i](column))
        return aggregate_columns(self.aggregate, found, len(levels))

    def cheap_lower_bounds(self, levels: LevelArray, suppressed: NDArray[np.int64]) -> CostArray:
        """Return ``least`` of each node; for rank, one column per part, the largest first."""
        found = [
            part(least.at(levels[:, i], suppressed, self.persistent_share))
            for i, (part, least) in enumerate(zip(self.parts, self._least, strict=True))
        ]
        return aggregate_columns(self.aggregate, found, len(levels))

    def _joined(self, sums: list[int | float]) -> float:
        return aggregate_parts(
            self.aggregate, [float(part(total)) for part, total in zip(self.parts, sums, strict=True)]
        )


class NodeClassSizes(NamedTuple):
    """Numbers of a node's classes, including failing ones: count, sum of squared sizes, largest size."""

    classes: int
    squares: int
    largest: int

    @classmethod
    def of(cls, sizes: NDArray[np.int64]) -> NodeClassSizes:
        """Compute the numbers of classes of these sizes."""
        return cls(len(sizes), sum_of_squares(sizes), int(sizes.max(initial=0)))


@dataclass(frozen=True)
class ClassSizeCost(Cost):
    """Function of the class sizes: average class size, discernibility, C_AVG.

    ``of_sizes`` takes the number of published classes, the sum of their squared sizes and the suppressed
    rows: numbers, or arrays with an entry per node. A published class has at least ``smallest`` rows. With
    ``of_all`` suppressed classes count like the others, and no row counts as suppressed.
    """

    name: str
    rows: int
    smallest: int
    of_sizes: Callable[[Any, Any, Any], Any]
    of_all: bool = False
    monotone = True

    @property
    def always_monotone(self) -> bool:
        """True if suppression has no effect on the cost."""
        return self.of_all

    def of(self, statistics: NodeStatistics) -> float:
        """Return the cost of a node."""
        if self.of_all:
            return float(
                self.of_sizes(len(statistics.class_sizes), sum_of_squares(statistics.class_sizes), 0)
            )
        return float(self.of_sizes(statistics.classes, statistics.squares, statistics.suppressed))

    def least(self, node: LatticeNode, suppressed: int = 0) -> float:
        """Return the cost of as many classes as the smallest size allows, each of that size."""
        if self.of_all:
            return float(self.of_sizes(self.rows, self.rows, 0))
        least = [self._least_with(suppressed)]
        if not suppressed:
            least.append(self._least_with(1))
        return min(least)

    def _least_with(self, suppressed: int) -> float:
        if self.rows < self.smallest:
            suppressed = self.rows
        published = max(self.rows - suppressed, 0)
        return float(self.of_sizes(published // self.smallest, published * self.smallest, suppressed))

    def lower_bounds(self, levels: LevelArray, suppressed: NDArray[np.int64]) -> CostArray:
        """Return ``least`` of each node; of counted classes, ``of_sizes`` gives the costs themselves."""
        return np.array([self.least((), s) for s in suppressed.tolist()])

    def cheap_lower_bounds(self, levels: LevelArray, suppressed: NDArray[np.int64]) -> CostArray:
        """Return ``least`` of each node; it does not depend on the levels."""
        numbers, which = np.unique(suppressed, return_inverse=True)
        return np.array([self.least((), s) for s in numbers.tolist()])[which.ravel()]

    def lower_bound_above(self, sizes: NodeClassSizes, suppressed: int) -> float:
        """Return ``least`` given all classes of the lowest node: classes only merge on the way up."""
        if self.of_all:
            return float(self.of_sizes(sizes.classes, sizes.squares, 0))
        classes = sizes.classes - (suppressed > 0)
        squares = sizes.squares - suppressed * sizes.largest
        return max(self.least((), suppressed), float(self.of_sizes(classes, squares, suppressed)))


@dataclass(frozen=True)
class UserCost(Cost):
    """A user's function of ``NodeStatistics``, without bounds for nodes that are not counted.

    A function with a true attribute ``monotone`` is assumed to be monotone. ``over_nodes``, if given, returns
    the costs of an array of nodes.
    """

    function: Callable[[NodeStatistics], float]
    name: str = "own"
    over_nodes: Callable[[NodesStatistics], Any] | None = None
    _lowest = -inf

    @property
    def monotone(self) -> bool:
        """True if the function declares itself monotone."""
        return bool(getattr(self.function, "monotone", False))

    def of(self, statistics: NodeStatistics) -> float:
        """Return the function's value; raise ``InputError`` if it is NaN."""
        cost = float(self.function(statistics))
        if isnan(cost):
            raise InputError("the cost function returned NaN", allowed="a number for every node")
        return cost

    def of_nodes(self, statistics: NodesStatistics) -> CostArray:
        """Return the values of ``over_nodes``; raise ``InputError`` unless there is one number per node."""
        assert self.over_nodes is not None
        costs = np.asarray(self.over_nodes(statistics), dtype=np.float64)
        if costs.shape != statistics.suppressed.shape or np.isnan(costs).any():
            raise InputError(
                f"over_nodes of the cost '{self.name}' returned an array of shape {costs.shape}"
                + (" with values that are NaN" if np.isnan(costs).any() else ""),
                allowed=f"an array of shape {statistics.suppressed.shape}, a number for every node",
            )
        return costs
