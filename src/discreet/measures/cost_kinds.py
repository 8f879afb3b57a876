"""Kinds of cost: sums over levels, sums over cells, class sizes, and functions of a user."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from math import fsum, inf, isnan
from typing import Any, NamedTuple, Protocol

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


class Cost(Protocol):
    """A cost of the nodes of one table under one requirement.

    ``monotone``: it never falls on the way up while the suppressed rows stay the same (none, say);
    ``always_monotone``: not where other rows are suppressed either.
    ``narrows``: ``least_from`` rises with the levels, so that a good node leaves others out uncounted.
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

    @property
    def prunes_by_levels(self) -> bool:
        """See the class."""

    def of(self, statistics: NodeStatistics) -> float:
        """The cost of a node whose classes are counted."""

    def known(self, node: LatticeNode, suppressed: int) -> float | None:
        """The cost of a node of which only its suppressed rows are known; None where that is not enough."""

    def least(self, node: LatticeNode, suppressed: int = 0) -> float:
        """A lower bound, up to rounding, for every node at or above that suppresses at least so many rows."""

    def lower_bounds(self, levels: LevelArray, suppressed: NDArray[np.int64]) -> CostArray:
        """``least`` of many nodes at once; ``suppressed`` are their own suppressed rows, exactly."""

    def cheap_lower_bounds(self, levels: LevelArray, suppressed: NDArray[np.int64]) -> CostArray:
        """``least`` of many nodes at once, cheaply: no row type is looked at."""


@dataclass(frozen=True)
class LevelCost:
    """Height: a sum over the levels alone; ``parts[i][level]`` are the summands."""

    name: str
    parts: tuple[tuple[float, ...], ...]
    monotone: bool = True
    always_monotone: bool = True
    prunes_by_levels: bool = True

    def of(self, statistics: NodeStatistics) -> float:
        """The cost of a node."""
        return self.least(statistics.node)

    def known(self, node: LatticeNode, suppressed: int) -> float | None:
        """The cost of a node."""
        return self.least(node, suppressed)

    def least(self, node: LatticeNode, suppressed: int = 0) -> float:  # noqa: ARG002
        """The cost of the node itself: nothing above it costs less."""
        return fsum(part[level] for part, level in zip(self.parts, node, strict=True))

    def lower_bounds(self, levels: LevelArray, suppressed: NDArray[np.int64]) -> CostArray:  # noqa: ARG002
        """The costs."""
        total = np.zeros(len(levels))
        for i, part in enumerate(self.parts):
            total += np.array(part)[levels[:, i]]
        return total

    def cheap_lower_bounds(self, levels: LevelArray, suppressed: NDArray[np.int64]) -> CostArray:
        """The costs."""
        return self.lower_bounds(levels, suppressed)


@dataclass(frozen=True, eq=False)
class CellCost:
    """Precision, loss and entropy: sums over the cells of each attribute, which ``aggregate`` puts together.

    ``parts`` turn one attribute's sum, or an array of them, into its part of the cost. ``lasting`` is how
    much of a suppressed row's penalty generalization beyond a node cannot take away again.
    """

    name: str
    sums: LevelSums
    parts: tuple[Callable[[Any], Any], ...]
    aggregate: CostAggregate
    persistent_share: float = 1.0
    prunes_by_levels: bool = True

    @property
    def monotone(self) -> bool:
        """So it is unless what suppression costs falls faster than generalization's cost rises."""
        return self.persistent_share == 1 or self.always_monotone

    @cached_property
    def always_monotone(self) -> bool:
        """So it is where suppressed rows add nothing."""
        return all(level.uniform and not level.penalty.any() for levels in self.sums for level in levels)

    @cached_property
    def _uniform(self) -> bool:
        return all(level.uniform for levels in self.sums for level in levels)

    @cached_property
    def _least(self) -> tuple[LowerBoundSums, ...]:
        return tuple(map(LowerBoundSums.of, self.sums))

    def of(self, statistics: NodeStatistics) -> float:
        """The cost of a node, exact but for the rounding of its last steps."""
        codes, sizes = statistics.suppressed_codes, statistics.suppressed_sizes
        node = statistics.node
        return self._joined([s[node[i]].of(codes[:, i], sizes) for i, s in enumerate(self.sums)])

    def known(self, node: LatticeNode, suppressed: int) -> float | None:
        """The cost of a node that suppresses nothing, or where it makes no difference which rows."""
        if suppressed and not self._uniform:
            return None
        return self._joined(
            [
                s[level].total + (s[level].least_penalty(suppressed) if suppressed else 0)
                for s, level in zip(self.sums, node, strict=True)
            ]
        )

    def least(self, node: LatticeNode, suppressed: int = 0) -> float:
        """The sums without suppression and the least penalty of so many suppressed rows, or more."""
        return self._joined(
            [
                s[level].total + self.persistent_share * s[level].least_penalty_from(suppressed)
                for s, level in zip(self.sums, node, strict=True)
            ]
        )

    def lower_bounds(self, levels: LevelArray, suppressed: NDArray[np.int64]) -> CostArray:
        """The least costs of many nodes; under rank one column per part, from the largest down."""
        found = []
        for i, sums in enumerate(self.sums):
            column = np.empty(len(levels))
            for level, level_sum in enumerate(sums):
                at = np.flatnonzero(levels[:, i] == level)
                column[at] = level_sum.total + level_sum.least_penalty(suppressed[at])
            found.append(self.parts[i](column))
        return aggregate_columns(self.aggregate, found, len(levels))

    def cheap_lower_bounds(self, levels: LevelArray, suppressed: NDArray[np.int64]) -> CostArray:
        """``least`` of many nodes; under rank one column per part, from the largest down."""
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
    """A node's classes in numbers, failing ones too: how many, their squared sizes summed, the largest."""

    classes: int
    squares: int
    largest: int

    @classmethod
    def of(cls, sizes: NDArray[np.int64]) -> NodeClassSizes:
        """The numbers of classes of these sizes."""
        return cls(len(sizes), sum_of_squares(sizes), int(sizes.max(initial=0)))


@dataclass(frozen=True)
class ClassSizeCost:
    """Average class size, discernibility, C_AVG: the sizes of the classes tell all of it.

    ``of_sizes`` takes the number of published classes, the sum of their squared sizes and the suppressed
    rows: numbers, or arrays with an entry per node. A published class has at least ``smallest`` rows. With
    ``of_all`` the classes that are suppressed count like the others, and no row as suppressed.
    """

    name: str
    rows: int
    smallest: int
    of_sizes: Callable[[Any, Any, Any], Any]
    of_all: bool = False
    monotone: bool = True
    prunes_by_levels: bool = False

    @property
    def always_monotone(self) -> bool:
        """So it is where suppression makes no difference."""
        return self.of_all

    def of(self, statistics: NodeStatistics) -> float:
        """The cost of a node."""
        if self.of_all:
            return float(
                self.of_sizes(len(statistics.class_sizes), sum_of_squares(statistics.class_sizes), 0)
            )
        return float(self.of_sizes(statistics.classes, statistics.squares, statistics.suppressed))

    def known(self, node: LatticeNode, suppressed: int) -> float | None:  # noqa: ARG002
        """Never: classes must be counted."""
        return None

    def least(self, node: LatticeNode, suppressed: int = 0) -> float:  # noqa: ARG002
        """As many classes as the smallest size allows, each of that size."""
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

    def lower_bounds(self, levels: LevelArray, suppressed: NDArray[np.int64]) -> CostArray:  # noqa: ARG002
        """``least`` of many nodes; their classes being counted, ``of_sizes`` tells the costs themselves."""
        return np.array([self.least((), s) for s in suppressed.tolist()])

    def cheap_lower_bounds(self, levels: LevelArray, suppressed: NDArray[np.int64]) -> CostArray:  # noqa: ARG002
        """``least`` of many nodes: their levels tell nothing."""
        numbers, which = np.unique(suppressed, return_inverse=True)
        return np.array([self.least((), s) for s in numbers.tolist()])[which.ravel()]

    def lower_bound_above(self, sizes: NodeClassSizes, suppressed: int) -> float:
        """``least``, given all classes of the lowest node: classes only merge on the way up."""
        if self.of_all:
            return float(self.of_sizes(sizes.classes, sizes.squares, 0))
        classes = sizes.classes - (suppressed > 0)
        squares = sizes.squares - suppressed * sizes.largest
        return max(self.least((), suppressed), float(self.of_sizes(classes, squares, suppressed)))


@dataclass(frozen=True)
class UserCost:
    """A user's function of ``NodeStatistics``; nothing is known of a node before it is counted.

    A function with a true attribute ``monotone`` is taken at its word. ``over_nodes``, where given, tells the
    costs of many nodes at once.
    """

    function: Callable[[NodeStatistics], float]
    name: str = "own"
    over_nodes: Callable[[NodesStatistics], Any] | None = None
    always_monotone: bool = False
    prunes_by_levels: bool = False

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

    def of_nodes(self, statistics: NodesStatistics) -> CostArray:
        """What ``over_nodes`` says; ``InputError`` where it is not one number for each node."""
        assert self.over_nodes is not None
        costs = np.asarray(self.over_nodes(statistics), dtype=np.float64)
        if costs.shape != statistics.suppressed.shape or np.isnan(costs).any():
            raise InputError(
                f"over_nodes of the cost '{self.name}' returned an array of shape {costs.shape}"
                + (" with values that are no numbers" if np.isnan(costs).any() else ""),
                allowed=f"an array of shape {statistics.suppressed.shape}, a number for every node",
            )
        return costs

    def known(self, node: LatticeNode, suppressed: int) -> float | None:  # noqa: ARG002
        """Nothing is known."""
        return None

    def least(self, node: LatticeNode, suppressed: int = 0) -> float:  # noqa: ARG002
        """Nothing is known."""
        return -inf

    def lower_bounds(self, levels: LevelArray, suppressed: NDArray[np.int64]) -> CostArray:  # noqa: ARG002
        """Nothing is known."""
        return np.full(len(levels), -inf)

    def cheap_lower_bounds(self, levels: LevelArray, suppressed: NDArray[np.int64]) -> CostArray:
        """Nothing is known."""
        return self.lower_bounds(levels, suppressed)
