"""Nodes between two nodes, height by height, and the steps between them."""

from __future__ import annotations

from collections.abc import Iterator

from discreet.model.lattice import LatticeNode, tie_key


def parents_within(node: LatticeNode, high: LatticeNode) -> Iterator[LatticeNode]:
    """The direct generalizations at or below ``high``."""
    for i, level in enumerate(node):
        if level < high[i]:
            yield (*node[:i], level + 1, *node[i + 1 :])


def children_within(node: LatticeNode, low: LatticeNode) -> Iterator[LatticeNode]:
    """The direct specializations at or above ``low``."""
    for i, level in enumerate(node):
        if level > low[i]:
            yield (*node[:i], level - 1, *node[i + 1 :])


def by_height(low: LatticeNode, high: LatticeNode) -> Iterator[list[LatticeNode]]:
    """The nodes of each height from ``low`` to ``high``, each list in the paper's node order."""
    nodes = [low]
    while nodes:
        yield nodes
        above = {parent for node in nodes for parent in parents_within(node, high)}
        nodes = sorted(above, key=tie_key)


def at_height(low: LatticeNode, high: LatticeNode, height: int) -> list[LatticeNode]:
    """The nodes of one height between ``low`` and ``high``, in the paper's node order."""

    def chosen(i: int, left: int) -> Iterator[LatticeNode]:
        if i == len(low):
            yield ()
            return
        rest = sum(high[i + 1 :])
        floor = sum(low[i + 1 :])
        for level in range(max(low[i], left - rest), min(high[i], left - floor) + 1):
            for tail in chosen(i + 1, left - level):
                yield (level, *tail)

    if not sum(low) <= height <= sum(high):
        return []
    return sorted(chosen(0, height), key=tie_key)


def width_at(low: LatticeNode, high: LatticeNode, height: int) -> int:
    """The number of nodes of one height between ``low`` and ``high``, without listing them."""
    widths = {0: 1}
    for least, greatest in zip(low, high, strict=True):
        above: dict[int, int] = {}
        for reached, number in widths.items():
            for level in range(least, greatest + 1):
                above[reached + level] = above.get(reached + level, 0) + number
        widths = above
    return widths.get(height, 0)
