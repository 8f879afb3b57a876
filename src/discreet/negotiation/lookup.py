"""What a negotiation asks of an evaluated lattice."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from discreet.model.lattice import Lattice, LatticeNode
from discreet.model.requirement import Requirement


class NodeLookup(Protocol):
    """Any node's suppression for any requirement, one node at a time.

    The answers must be monotone: where one node lies below another, it suppresses at least as many rows, and
    a stricter requirement never suppresses fewer.
    """

    @property
    def lattice(self) -> Lattice:
        """The lattice."""

    @property
    def rows(self) -> int:
        """Rows after the NULL policy."""

    @property
    def sensitive_attributes(self) -> tuple[str, ...]:
        """The sensitive attributes whose diversity is known, in the spec's order."""

    def suppressed(self, node: LatticeNode, requirement: Requirement) -> int:
        """Suppressed rows of one node."""

    def largest_k(self, node: LatticeNode, requirement: Requirement, limit: int) -> int:
        """The largest k at which the node suppresses at most ``limit`` rows, l kept; below 2 for none."""

    def largest_l(self, node: LatticeNode, requirement: Requirement, limit: int) -> int:
        """The largest cap of every l at which the node suppresses at most ``limit`` rows, k kept."""


class SuppressionLookup(NodeLookup, Protocol):
    """Every node's suppression at once, too."""

    def suppression(self, requirement: Requirement) -> NDArray[np.int64]:
        """Suppressed rows of every node, shape ``(nodes,)``, mixed-radix order."""
