"""Negotiating the quasi-identifier itself: what giving up one attribute would buy.

Pilalidou and Vassiliadis name it as future work.

For each attribute the request is asked again with that attribute at its top, the other levels and all else as
they were. At its top an attribute shows one value in every row, so it tells no class from another: the same
classes come out whether the column is published so or left out of the release. The difference is what is
published: at its top the column stays, with its one value; left out, it is not in the release at all, and its
levels are in no height.

Where the request can be met so, the answer is the lowest node that meets it; else the lowest of those that
suppress the fewest rows, which says how much more suppression would be needed. An attribute whose greatest
level is its top already changes nothing.

Cost: one masked look-up over all nodes per attribute; no node is counted.
"""

from __future__ import annotations

from dataclasses import dataclass

from discreet.model.lattice import LatticeNode, height
from discreet.model.monotone import is_growing
from discreet.model.request import Request, bounds_of
from discreet.negotiation.lookup import SuppressionLookup
from discreet.negotiation.order import order_of


@dataclass(frozen=True)
class AttributeSuppression:
    """What a request costs with one attribute at its top.

    ``meets``: ``node`` suppresses no more rows than the request allows. ``height`` counts the attribute's
    levels, ``height_without`` leaves them out, as where the attribute is not published.
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
    ) -> AttributeSuppression:
        """From a node that has the attribute at ``top``."""
        tall = height(node)
        return cls(attribute, node, suppressed, suppressed <= limit, tall, tall - top)


def suppress_attributes(evaluated: SuppressionLookup, request: Request) -> tuple[AttributeSuppression, ...]:
    """One proposal per attribute, in the lattice's order.

    Raises ``InputError`` as ``negotiate.Negotiator`` does.
    """
    lattice = evaluated.lattice
    low, high = bounds_of(lattice, request)
    request.requirement.check(evaluated.sensitive_attributes)
    limit = request.max_suppressed.of(evaluated.rows)
    order = order_of(lattice.heights)
    suppressed = evaluated.suppression(request.requirement)[order.nodes]
    growing = is_growing(request.requirement)  # else the highest node need not suppress the fewest rows
    found = []
    for i, (attribute, top) in enumerate(zip(lattice.attributes, lattice.heights, strict=True)):
        levels = order.between(at_top(low, i, top), at_top(high, i, top))
        fewest = int(suppressed[levels.last] if growing else suppressed[levels.ranks].min())
        rank = order.lowest(suppressed, max(limit, fewest), levels)
        rows = int(suppressed[rank])
        found.append(AttributeSuppression.of(attribute, order.node_of(rank), top, rows, limit))
    return tuple(found)


def at_top(node: LatticeNode, attribute: int, top: int) -> LatticeNode:
    """A node with one attribute raised to its top."""
    return (*node[:attribute], top, *node[attribute + 1 :])
