"""Alternatives to an answer: neighbouring nodes, and each attribute suppressed (at its top or not published).

A neighbour is one level away in one attribute. With an attribute at its top every row has the same value
there, so the classes are those of a release without the column; Pilalidou and Vassiliadis name this as
future work.

Cost: one masked look-up over all nodes per attribute; no node is counted.
"""

from __future__ import annotations

from dataclasses import dataclass

from discreet.measures.loss import LossTables
from discreet.model.lattice import LatticeNode, node_height
from discreet.model.request import Request, node_bounds
from discreet.model.requirement import Requirement, is_growing
from discreet.negotiation.negotiator import NodeQueries, SuppressionQueries, node_order


@dataclass(frozen=True)
class Neighbour:
    """Node one level away in one attribute, and the differences that the step makes.

    ``step`` is -1 or 1. ``suppressed_change`` and ``loss_change`` are the neighbour's value minus the node's
    own; the height changes by ``step``. ``loss`` is the contract's Loss with no row suppressed.
    """

    attribute: str
    step: int
    node: LatticeNode
    height: int
    suppressed: int
    loss: float
    suppressed_change: int
    loss_change: float


def find_neighbours(
    evaluated: NodeQueries, node: LatticeNode, requirement: Requirement, loss_tables: LossTables
) -> tuple[Neighbour, ...]:
    """Return each attribute's neighbour one level below, then one above, in the lattice's order.

    Steps below level 0 or above the top are omitted.
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
                    height=node_height(other),
                    suppressed=other_suppressed,
                    loss=other_loss,
                    suppressed_change=other_suppressed - suppressed,
                    loss_change=other_loss - loss,
                )
            )
    return tuple(found)


@dataclass(frozen=True)
class SuppressedAttribute:
    """Answer to a request with one attribute at its top.

    ``meets``: ``node`` suppresses no more rows than the request allows. ``height`` includes the attribute's
    levels; ``height_without`` excludes them, as if the attribute were not published.
    """

    attribute: str
    node: LatticeNode
    suppressed: int
    meets: bool
    height: int
    height_without: int

    @classmethod
    def of(
        cls, attribute: str, node: LatticeNode, top: int, suppressed: int, limit: int
    ) -> SuppressedAttribute:
        """Build the answer from a node that has the attribute at ``top``."""
        tall = node_height(node)
        return cls(attribute, node, suppressed, suppressed <= limit, tall, tall - top)


def suppress_attributes(evaluated: SuppressionQueries, request: Request) -> tuple[SuppressedAttribute, ...]:
    """Compute one proposal per attribute, in the lattice's order.

    Raises ``InputError`` as ``Negotiator.negotiate`` does.
    """
    lattice = evaluated.lattice
    low, high = node_bounds(lattice, request)
    request.requirement.check(evaluated.sensitive_attributes)
    limit = request.max_suppressed.of(evaluated.rows)
    order = node_order(lattice.heights)
    suppressed = evaluated.suppression(request.requirement)[order.nodes]
    growing = is_growing(request.requirement)  # else the highest node need not suppress the fewest rows
    found = []
    for i, (attribute, top) in enumerate(zip(lattice.attributes, lattice.heights, strict=True)):
        levels = order.between(raise_to_top(low, i, top), raise_to_top(high, i, top))
        fewest = int(suppressed[levels.last] if growing else suppressed[levels.ranks].min())
        rank = order.lowest(suppressed, max(limit, fewest), levels)
        rows = int(suppressed[rank])
        found.append(SuppressedAttribute.of(attribute, order.node_of(rank), top, rows, limit))
    return tuple(found)


def raise_to_top(node: LatticeNode, attribute: int, top: int) -> LatticeNode:
    """Return the node with one attribute raised to its top."""
    return (*node[:attribute], top, *node[attribute + 1 :])
