"""What one level more or less of one attribute would change."""

from __future__ import annotations

from dataclasses import dataclass

from discreet.measures.loss import LossTables
from discreet.model.lattice import LatticeNode, height
from discreet.model.requirement import Requirement
from discreet.negotiation.lookup import NodeLookup


@dataclass(frozen=True)
class Neighbour:
    """The node one level away in one attribute, and the difference that the step makes.

    ``step`` is -1 or 1. ``suppressed_change`` and ``loss_change`` are the neighbour's value minus the
    node's own; the height changes by ``step``. ``loss`` is the contract's Loss with no row suppressed.
    """

    attribute: str
    step: int
    node: LatticeNode
    height: int
    suppressed: int
    loss: float
    suppressed_change: int
    loss_change: float


def neighbours(
    evaluated: NodeLookup, node: LatticeNode, requirement: Requirement, loss_tables: LossTables
) -> tuple[Neighbour, ...]:
    """Each attribute's neighbour one level below, then one above, attributes in the lattice's order.

    A step below level 0 or above the top is left out.
    """
    lattice = evaluated.lattice
    suppressed = evaluated.suppressed(node, requirement)
    loss = loss_tables.loss_of_node(node)
    found = []
    for i, attribute in enumerate(lattice.attributes):
        for step in (-1, 1):
            level = node[i] + step
            if not 0 <= level <= lattice.heights[i]:
                continue
            other = (*node[:i], level, *node[i + 1 :])
            other_suppressed = evaluated.suppressed(other, requirement)
            other_loss = loss_tables.loss_of_node(other)
            found.append(
                Neighbour(
                    attribute=attribute,
                    step=step,
                    node=other,
                    height=height(other),
                    suppressed=other_suppressed,
                    loss=other_loss,
                    suppressed_change=other_suppressed - suppressed,
                    loss_change=other_loss - loss,
                )
            )
    return tuple(found)
