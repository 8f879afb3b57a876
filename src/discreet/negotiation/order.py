"""The nodes of a lattice in the order in which a negotiation prefers them."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from functools import lru_cache
from math import prod

import numpy as np
from numpy.typing import NDArray

from discreet.model.lattice import LatticeNode


@dataclass(frozen=True, eq=False)
class SubLattice:
    """The nodes between two nodes, as a stretch of ranks: rank ``first + i`` is one where ``inside[i]``.

    The lower node has rank ``first``; the upper one has the last rank of the stretch.
    """

    first: int
    inside: NDArray[np.bool_]

    @property
    def last(self) -> int:
        """The rank of the upper node."""
        return self.first + len(self.inside) - 1

    @property
    def ranks(self) -> NDArray[np.int64]:
        """The ranks of all of them, ascending."""
        return np.flatnonzero(self.inside) + self.first


@dataclass(frozen=True, eq=False)
class NodeOrder:
    """Nodes by height and, within a height, in the paper's node order (decision 0004).

    A node's place here is its rank. ``nodes[rank]`` is its index in mixed-radix order, and ``starts[h]`` the
    first rank of height h, with one entry more for the end. What is fewest suppressed comes between the two
    keys, and depends on the requirement: ``lowest`` settles it.
    """

    heights: tuple[int, ...]
    nodes: NDArray[np.int64]
    starts: tuple[int, ...]

    def height_of(self, rank: int) -> int:
        """The generalization height of the node of a rank."""
        return bisect_right(self.starts, rank) - 1

    def node_of(self, rank: int) -> LatticeNode:
        """The node of a rank."""
        index = int(self.nodes[rank])
        levels = []
        for height in reversed(self.heights):
            index, level = divmod(index, height + 1)
            levels.append(level)
        return tuple(reversed(levels))

    def between(self, low: LatticeNode, high: LatticeNode) -> SubLattice:
        """The nodes that lie, level by level, at or above ``low`` and at or below ``high``.

        Cost: one byte per node and one gather.
        """
        # numpy arrays end at 64 dimensions; attributes of height 0 would only use them up.
        sides = [(h + 1, slice(a, b + 1)) for h, a, b in zip(self.heights, low, high, strict=True) if h]
        box = np.zeros([side for side, _ in sides], dtype=np.bool_)
        box[tuple(part for _, part in sides)] = True
        inside = box.ravel()[self.nodes]
        first = int(inside.argmax())
        end = len(inside) - int(inside[::-1].argmax())
        stretch = inside[first:end].copy()
        stretch.flags.writeable = False
        return SubLattice(first, stretch)

    def lowest(self, suppressed: NDArray[np.integer], limit: int, among: SubLattice, start: int = 0) -> int:
        """The rank of the preferred node of ``among`` that suppresses at most ``limit`` rows, or -1.

        Preferred is the lowest height, then the fewest suppressed, then the paper's order. ``suppressed`` is
        by rank; ranks below ``start`` are passed over.
        """
        skip = max(start - among.first, 0)
        first = among.first + skip
        inside = among.inside[skip:]
        if not len(inside):
            return -1
        within = suppressed[first : first + len(inside)] <= limit
        within &= inside
        offset = int(within.argmax())
        if not within[offset]:
            return -1
        end = self.starts[self.height_of(first + offset) + 1] - first
        ties = within[offset:end].nonzero()[0] + (first + offset)
        return int(ties[suppressed[ties].argmin()])


@lru_cache(maxsize=8)
def order_of(heights: tuple[int, ...]) -> NodeOrder:
    """The order of the lattice with these heights."""
    shape = tuple(height + 1 for height in heights if height)
    size = prod(shape)
    node_heights = np.zeros(1, dtype=np.int32)
    for side in shape:
        node_heights = np.add.outer(node_heights, np.arange(side, dtype=np.int32)).ravel()
    in_tie_order = np.arange(size, dtype=np.int64).reshape(shape)
    if heights and heights[-1]:
        in_tie_order = np.moveaxis(in_tie_order, -1, 0)
    in_tie_order = in_tie_order.ravel()
    nodes = in_tie_order[np.argsort(node_heights[in_tie_order], kind="stable")]
    nodes.flags.writeable = False
    widths = np.bincount(node_heights, minlength=sum(heights) + 1)
    return NodeOrder(heights, nodes, (0, *np.cumsum(widths).tolist()))
