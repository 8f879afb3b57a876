"""What a cost may read of a node: its classes, and which of them fail the requirement."""

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
        return squares_of(self.sizes)

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


def squares_of(sizes: NDArray[np.int64]) -> int:
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
