"""What is known of the nodes of a large lattice: who was counted, and what follows for others.

Suppression never rises on the way up. So every node at or above one that keeps the limit keeps it too, and
every node at or below one that exceeds it exceeds it too. A few nodes of each kind tell most others.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from discreet.model.lattice import LatticeNode

_MOST = 2048


class KnownNodes:
    """Suppressed rows of counted nodes, and which nodes keep the limit.

    The newest 2,048 nodes of either kind draw conclusions; ``inferred`` counts those drawn.
    """

    def __init__(self, attributes: int, limit: int) -> None:
        self.limit = limit
        self.suppressed: dict[LatticeNode, int] = {}
        self.inferred = 0
        self._within = _Corner(attributes, upwards=True)
        self._beyond = _Corner(attributes, upwards=False)

    def add(self, node: LatticeNode, suppressed: int) -> None:
        """A node was counted."""
        self.suppressed[node] = suppressed
        (self._within if suppressed <= self.limit else self._beyond).add(node)

    def verdict(self, node: LatticeNode) -> bool | None:
        """Whether the node keeps the limit; None where it is not known."""
        counted = self.suppressed.get(node)
        if counted is not None:
            return counted <= self.limit
        found = None
        if self._within.covers(node):
            found = True
        elif self._beyond.covers(node):
            found = False
        self.inferred += found is not None
        return found


class _Corner:
    """Nodes that speak for all above them (``upwards``), or for all below; the newest of them."""

    def __init__(self, attributes: int, *, upwards: bool) -> None:
        self._nodes: NDArray[np.int16] = np.zeros((_MOST, attributes), np.int16)
        self._number = 0
        self._upwards = upwards

    def covers(self, node: LatticeNode) -> bool:
        """Whether one of them speaks for the node."""
        known = self._nodes[: min(self._number, _MOST)]
        levels = np.array(node, np.int16)
        beside = known <= levels if self._upwards else known >= levels
        return bool(beside.all(axis=1).any())

    def add(self, node: LatticeNode) -> None:
        """One more, unless another speaks for it."""
        if not self.covers(node):
            self._nodes[self._number % _MOST] = node
            self._number += 1
