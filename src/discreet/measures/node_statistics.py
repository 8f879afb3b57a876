"""Statistics of lattice nodes: of one node, of many as arrays, and counted lazily.

A lazy node reports known numbers and counts its classes when a cost first reads them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from discreet.model.hierarchy import GeneralizationHierarchy
from discreet.model.lattice import LatticeNode
from discreet.model.requirement import Requirement


@dataclass(frozen=True, eq=False)
class NodeStatistics:
    """The equivalence classes of one node under a requirement.

    ``class_sizes`` holds the rows of every class and ``failing`` says which are suppressed, both of shape
    ``(classes of the node,)``. ``codes_at`` gives, for positions in them, a leaf code per quasi-identifier
    from which the class's published values follow (``hierarchy.level_map(level)[code]``), shape
    ``(positions, quasi-identifiers)``. No array may be changed.
    """

    node: LatticeNode
    hierarchies: tuple[GeneralizationHierarchy, ...]
    requirement: Requirement
    class_sizes: NDArray[np.int64]
    failing: NDArray[np.bool_]
    codes_at: Callable[[NDArray[np.int64]], NDArray[np.int64]]

    @property
    def height(self) -> int:
        """The generalization height of the node."""
        return sum(self.node)

    @cached_property
    def rows(self) -> int:
        """The rows of the table."""
        return int(self.class_sizes.sum())

    @cached_property
    def suppressed(self) -> int:
        """The rows of the failing classes."""
        return int(self.class_sizes[self.failing].sum())

    @cached_property
    def sizes(self) -> NDArray[np.int64]:
        """The rows of each class that is published."""
        return self.class_sizes[~self.failing]

    @cached_property
    def classes(self) -> int:
        """The number of classes that are published."""
        return len(self.sizes)

    @cached_property
    def squares(self) -> int:
        """The sum of the squared sizes of the classes that are published."""
        return sum_of_squares(self.sizes)

    @cached_property
    def codes(self) -> NDArray[np.int64]:
        """A leaf code per quasi-identifier of each class that is published, beside ``sizes``."""
        return self.codes_at(np.flatnonzero(~self.failing))

    @cached_property
    def suppressed_sizes(self) -> NDArray[np.int64]:
        """The rows of each failing class."""
        return self.class_sizes[self.failing]

    @cached_property
    def suppressed_codes(self) -> NDArray[np.int64]:
        """A leaf code per quasi-identifier of each failing class, beside ``suppressed_sizes``."""
        return self.codes_at(np.flatnonzero(self.failing))


def sum_of_squares(sizes: NDArray[np.int64]) -> int:
    """The sum of the squares, in whole numbers of any size."""
    if int(sizes.sum()) < 2**31:
        return int((sizes * sizes).sum())
    return sum(size * size for size in sizes.tolist())


@dataclass(frozen=True, eq=False)
class NodesStatistics:
    """Many nodes of one table under a requirement, as arrays: what a cost of arrays of nodes may read.

    ``levels`` has shape ``(nodes, quasi-identifiers)``, the others ``(nodes,)``: ``suppressed`` rows, the
    number of ``classes`` that are published, and the sum of their ``squares`` (sizes squared). ``rows`` are
    the table's. No array may be changed.
    """

    levels: NDArray[np.int64]
    suppressed: NDArray[np.int64]
    classes: NDArray[np.int64]
    squares: NDArray[np.int64]
    rows: int
    hierarchies: tuple[GeneralizationHierarchy, ...]
    requirement: Requirement

    @property
    def height(self) -> NDArray[np.int64]:
        """The generalization height of each node."""
        found: NDArray[np.int64] = self.levels.sum(axis=1)
        return found


SizesAndFailures = tuple[NDArray[np.int64], NDArray[np.bool_]]
"""The rows of each class of a node, and whether it fails: by size, those that stay before others."""


class LazyNodeStatistics(NodeStatistics):
    """A node whose numbers are told; its classes are counted when a cost first reads them.

    ``sizes_of`` lists the classes' sizes without counting, or is None; ``count`` counts the node.
    """

    _list_sizes: Callable[[], SizesAndFailures] | None
    _count: Callable[[LatticeNode], NodeStatistics]

    def __init__(
        self,
        nodes: NodesStatistics,
        index: int,
        list_sizes: Callable[[], SizesAndFailures] | None,
        count: Callable[[LatticeNode], NodeStatistics],
    ) -> None:
        # What is told stands where the properties of these names would put what they counted.
        vars(self).update(
            node=tuple(nodes.levels[index].tolist()),
            hierarchies=nodes.hierarchies,
            requirement=nodes.requirement,
            rows=nodes.rows,
            suppressed=int(nodes.suppressed[index]),
            classes=int(nodes.classes[index]),
            squares=int(nodes.squares[index]),
            _list_sizes=list_sizes,
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
    def _sizes(self) -> SizesAndFailures:
        if self._list_sizes is not None:
            return self._list_sizes()
        return self._counted.class_sizes, self._counted.failing

    def codes_at(self, positions: NDArray[np.int64]) -> NDArray[np.int64]:
        """A leaf code per quasi-identifier of some classes, from which their published values follow."""
        return self._counted.codes_at(self._order[positions])

    @cached_property
    def _order(self) -> NDArray[np.int64]:
        """Where each class lies among those that are counted, which are in an order of their own."""
        if self._list_sizes is None:
            return np.arange(len(self.class_sizes))
        return size_order(self._counted.class_sizes, self._counted.failing)


def size_order(sizes: NDArray[np.int64], failing: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Classes by size, the smaller first, and those that stay before others: the order of ``Sizes``."""
    return np.lexsort((failing, sizes))
