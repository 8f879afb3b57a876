"""Statistics of lattice nodes: of one node, of several nodes as arrays, and computed lazily.

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

    ``class_sizes`` contains the rows of every class and ``failing`` marks the suppressed classes, both of
    shape ``(classes of the node,)``. ``codes_at`` returns, for positions in them, a leaf code per
    quasi-identifier that determines the class's published values (``hierarchy.level_map(level)[code]``),
    shape ``(positions, quasi-identifiers)``. The arrays must not be changed.
    """

    node: LatticeNode
    hierarchies: tuple[GeneralizationHierarchy, ...]
    requirement: Requirement
    class_sizes: NDArray[np.int64]
    failing: NDArray[np.bool_]
    codes_at: Callable[[NDArray[np.int64]], NDArray[np.int64]]

    @property
    def height(self) -> int:
        """Generalization height of the node."""
        return sum(self.node)

    @cached_property
    def rows(self) -> int:
        """Number of rows of the table."""
        return int(self.class_sizes.sum())

    @cached_property
    def suppressed(self) -> int:
        """Number of rows of the failing classes."""
        return int(self.class_sizes[self.failing].sum())

    @cached_property
    def sizes(self) -> NDArray[np.int64]:
        """Rows of each published class."""
        return self.class_sizes[~self.failing]

    @cached_property
    def classes(self) -> int:
        """Number of published classes."""
        return len(self.sizes)

    @cached_property
    def squares(self) -> int:
        """Sum of the squared sizes of the published classes."""
        return sum_of_squares(self.sizes)

    @cached_property
    def codes(self) -> NDArray[np.int64]:
        """Leaf code per quasi-identifier of each published class, parallel to ``sizes``."""
        return self.codes_at(np.flatnonzero(~self.failing))

    @cached_property
    def suppressed_sizes(self) -> NDArray[np.int64]:
        """Rows of each failing class."""
        return self.class_sizes[self.failing]

    @cached_property
    def suppressed_codes(self) -> NDArray[np.int64]:
        """Leaf code per quasi-identifier of each failing class, parallel to ``suppressed_sizes``."""
        return self.codes_at(np.flatnonzero(self.failing))


def sum_of_squares(sizes: NDArray[np.int64]) -> int:
    """Return the sum of the squares as an exact integer.

    If the sizes sum to less than 2^31, their squares fit int64; otherwise Python integers are used.
    """
    if int(sizes.sum()) < 2**31:
        return int((sizes * sizes).sum())
    return sum(size * size for size in sizes.tolist())


@dataclass(frozen=True, eq=False)
class NodesStatistics:
    """Several nodes of one table under a requirement, as arrays: the input of a cost's ``over_nodes``.

    ``levels`` has shape ``(nodes, quasi-identifiers)``, the others ``(nodes,)``: ``suppressed`` rows, the
    number of published ``classes``, and the sum of their ``squares`` (sizes squared). ``rows`` is the table's
    number of rows. The arrays must not be changed.
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
        """Generalization height of each node."""
        result: NDArray[np.int64] = self.levels.sum(axis=1)
        return result


SizesAndFailures = tuple[NDArray[np.int64], NDArray[np.bool_]]
"""Rows of each class of a node, and whether it fails; sorted by size, retained classes before failing ones.
"""


class LazyNodeStatistics(NodeStatistics):
    """A node with known totals; its classes are counted when a cost first reads them.

    ``list_sizes`` returns the sizes of the classes without counting, or is None; ``count`` counts the node.
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
        # ``cached_property`` reads its value from the instance's ``__dict__`` first. Storing the known totals
        # there replaces the computation.
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
        """Rows of every class."""
        return self._sizes[0]

    @cached_property
    def failing(self) -> NDArray[np.bool_]:
        """Mask of the suppressed classes."""
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
        """Return a leaf code per quasi-identifier of some classes, which fixes their published values."""
        return self._counted.codes_at(self._order[positions])

    @cached_property
    def _order(self) -> NDArray[np.int64]:
        """Position of each class among the counted classes, which are in a different order."""
        if self._list_sizes is None:
            return np.arange(len(self.class_sizes))
        return size_order(self._counted.class_sizes, self._counted.failing)


def size_order(sizes: NDArray[np.int64], failing: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Return the order of classes by size, retained before failing: the order of ``SizesAndFailures``."""
    return np.lexsort((failing, sizes))
