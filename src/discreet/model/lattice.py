"""The lattice of full-domain generalizations and its nodes (LeFevre et al. 2005)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError

LatticeNode = tuple[int, ...]
"""One level per quasi-identifier, in the lattice's attribute order."""


@dataclass(frozen=True)
class Lattice:
    """All combinations of levels: ``0 … heights[i]`` for attribute i (LeFevre et al. 2005).

    Nodes have an index in mixed-radix order, the last attribute fastest.
    """

    attributes: tuple[str, ...]
    heights: tuple[int, ...]

    @cached_property
    def size(self) -> int:
        """Number of nodes."""
        return prod(h + 1 for h in self.heights)

    @cached_property
    def strides(self) -> tuple[int, ...]:
        """Change of the index when a level rises by one, per attribute."""
        strides: list[int] = []
        step = 1
        for height in reversed(self.heights):
            strides.append(step)
            step *= height + 1
        return tuple(reversed(strides))

    @property
    def top(self) -> LatticeNode:
        """Node with every attribute at its top."""
        return self.heights

    @property
    def bottom(self) -> LatticeNode:
        """Node without generalization."""
        return (0,) * len(self.heights)

    def index(self, node: LatticeNode) -> int:
        """Return the node's index in mixed-radix order."""
        return sum(level * stride for level, stride in zip(node, self.strides, strict=True))

    def node(self, index: int) -> LatticeNode:
        """Return the node at an index in mixed-radix order."""
        levels = []
        for stride in self.strides:
            level, index = divmod(index, stride)
            levels.append(level)
        return tuple(levels)

    def nodes(self) -> Iterator[LatticeNode]:
        """Return an iterator over all nodes, in mixed-radix order."""
        return (self.node(i) for i in range(self.size))

    def all_levels(self) -> NDArray[np.int64]:
        """Return the levels of all nodes, shape ``(nodes, attributes)``, in mixed-radix order."""
        nodes = np.arange(self.size)
        columns = [
            nodes // stride % (top + 1) for stride, top in zip(self.strides, self.heights, strict=True)
        ]
        return np.stack(columns, axis=1) if columns else np.zeros((len(nodes), 0), np.int64)

    def parents(self, node: LatticeNode) -> Iterator[LatticeNode]:
        """Yield the direct generalizations: one attribute one level higher."""
        for i, height in enumerate(self.heights):
            if node[i] < height:
                yield (*node[:i], node[i] + 1, *node[i + 1 :])

    def children(self, node: LatticeNode) -> Iterator[LatticeNode]:
        """Yield the direct specializations: one attribute one level lower."""
        for i, level in enumerate(node):
            if level > 0:
                yield (*node[:i], level - 1, *node[i + 1 :])

    def levels_of(self, node: LatticeNode) -> dict[str, int]:
        """Return the node's levels by attribute."""
        return dict(zip(self.attributes, node, strict=True))

    def node_of(
        self, levels: Mapping[str, int] | Sequence[tuple[str, int]], default: LatticeNode
    ) -> LatticeNode:
        """Build a node from levels by attribute; attributes not named have the level of ``default``.

        Raises ``InputError`` for an attribute that is not a quasi-identifier and for a level out of range.
        """
        levels_by_name = dict(levels)
        for name, level in levels_by_name.items():
            if name not in self.attributes:
                raise InputError(f"'{name}' is not a quasi-identifier", allowed=", ".join(self.attributes))
            height = self.heights[self.attributes.index(name)]
            if isinstance(level, bool) or not isinstance(level, int) or not 0 <= level <= height:
                raise InputError(f"level {level} of '{name}'", allowed=f"0 to {height}")
        return tuple(levels_by_name.get(name, default[i]) for i, name in enumerate(self.attributes))


def node_height(node: LatticeNode) -> int:
    """Return the generalization height of a node: the sum of its levels."""
    return sum(node)


def tie_break_key(node: LatticeNode) -> tuple[int, ...]:
    """Return the sort key of the paper's node order (decision 0004).

    The last attribute's level is most significant, followed by the first, second, …
    """
    return (*node[-1:], *node[:-1])
