"""What a negotiation asks of an evaluated lattice."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from discreet.model.lattice import Lattice, LatticeNode
from discreet.model.requirement import Requirement


class NodeLookup(Protocol):
    """Any node's suppression for any requirement, one node at a time.

    A stricter requirement never suppresses fewer rows. Where its criteria are all growing, nor does a node
    below another.
    """

    @property
    def lattice(self) -> Lattice:
        """The lattice."""

    @property
    def rows(self) -> int:
        """Rows after the NULL policy."""

    @property
    def sensitive_attributes(self) -> tuple[str, ...]:
        """The sensitive attributes whose values are known, in the spec's order."""

    def suppressed(self, node: LatticeNode, requirement: Requirement) -> int:
        """Suppressed rows of one node."""

    def largest(self, node: LatticeNode, requirement: Requirement, name: str, limit: int) -> int | None:
        """The largest score for which the node suppresses at most ``limit`` rows; None where there is none.

        The criteria of that name ask at least this score, none of them more than its own; all else is kept.
        """


class SuppressionLookup(NodeLookup, Protocol):
    """Every node's suppression at once, too."""

    def suppression(self, requirement: Requirement) -> NDArray[np.int64]:
        """Suppressed rows of every node, shape ``(nodes,)``, mixed-radix order."""

    def largest_among(
        self, nodes: NDArray[np.int64], requirement: Requirement, name: str, limit: int
    ) -> int | None:
        """The largest that any of these nodes (by index) reaches."""
