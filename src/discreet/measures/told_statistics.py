"""Nodes of which some numbers are told: a cost that reads no more than those has no class counted for it."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from discreet.measures.node_statistics import NodesStatistics, NodeStatistics
from discreet.model.lattice import LatticeNode

Sizes = tuple[NDArray[np.int64], NDArray[np.bool_]]
"""The rows of each class of a node, and whether it fails: by size, those that stay before others."""


class ToldStatistics(NodeStatistics):
    """A node whose numbers are told; its classes are counted when a cost first reads them.

    ``sizes_of`` lists the classes' sizes without counting, or is None; ``count`` counts the node.
    """

    _sizes_of: Callable[[], Sizes] | None
    _count: Callable[[LatticeNode], NodeStatistics]

    def __init__(
        self,
        nodes: NodesStatistics,
        place: int,
        sizes_of: Callable[[], Sizes] | None,
        count: Callable[[LatticeNode], NodeStatistics],
    ) -> None:
        # What is told stands where the properties of these names would put what they counted.
        vars(self).update(
            node=tuple(nodes.levels[place].tolist()),
            hierarchies=nodes.hierarchies,
            requirement=nodes.requirement,
            rows=nodes.rows,
            suppressed=int(nodes.suppressed[place]),
            classes=int(nodes.classes[place]),
            squares=int(nodes.squares[place]),
            _sizes_of=sizes_of,
            _count=count,
        )

    @cached_property
    def class_sizes(self) -> NDArray[np.int64]:
        """The rows of every class."""
        return self._sizes[0]

    @cached_property
    def failing(self) -> NDArray[np.bool_]:
        """Which classes are suppressed."""
        return self._sizes[1]

    @cached_property
    def _counted(self) -> NodeStatistics:
        return self._count(self.node)

    @cached_property
    def _sizes(self) -> Sizes:
        if self._sizes_of is not None:
            return self._sizes_of()
        return self._counted.class_sizes, self._counted.failing

    def codes_at(self, positions: NDArray[np.int64]) -> NDArray[np.int64]:
        """A leaf code per quasi-identifier of some classes, from which their published values follow."""
        return self._counted.codes_at(self._order[positions])

    @cached_property
    def _order(self) -> NDArray[np.int64]:
        """Where each class lies among those that are counted, which are in an order of their own."""
        if self._sizes_of is None:
            return np.arange(len(self.class_sizes))
        return order_of_sizes(self._counted.class_sizes, self._counted.failing)


def order_of_sizes(sizes: NDArray[np.int64], failing: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Classes by size, the smaller first, and those that stay before others: the order of ``Sizes``."""
    return np.lexsort((failing, sizes))
