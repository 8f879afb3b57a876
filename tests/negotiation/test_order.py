"""The preferred order of nodes, checked against a plain sort."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from discreet.model.lattice import Lattice, node_height, tie_break_key
from discreet.negotiation.negotiator import node_order

SHAPES = [(0,), (3,), (2, 0), (0, 2), (1, 2, 3), (2, 1, 0, 1), (0, 0), (4, 2, 3)]


@pytest.mark.parametrize("heights", SHAPES)
def test_nodes_come_by_height_then_the_papers_order(heights: tuple[int, ...]) -> None:
    lattice = Lattice(tuple(f"q{i}" for i in range(len(heights))), heights)
    order = node_order(heights)
    plain = sorted(lattice.nodes(), key=lambda node: (node_height(node), tie_break_key(node)))
    assert [order.node_of(rank) for rank in range(lattice.size)] == plain
    assert [order.height_of(rank) for rank in range(lattice.size)] == [node_height(node) for node in plain]
    assert [lattice.node(index) for index in order.nodes.tolist()] == plain


@pytest.mark.parametrize("heights", SHAPES)
def test_a_sub_lattice_holds_the_nodes_between_its_two(heights: tuple[int, ...]) -> None:
    order = node_order(heights)
    nodes = [order.node_of(rank) for rank in range(len(order.nodes))]
    for low, high in product(nodes, nodes):
        if any(a > b for a, b in zip(low, high, strict=True)):
            continue
        part = order.between(low, high)
        found = [nodes[part.first + int(i)] for i in np.flatnonzero(part.inside)]
        assert found == [n for n in nodes if all(a <= v <= b for a, v, b in zip(low, n, high, strict=True))]
        assert (nodes[part.first], nodes[part.last]) == (low, high)


def test_a_start_beyond_the_stretch_finds_nothing() -> None:
    order = node_order((2, 2))
    part = order.between((0, 0), (1, 0))
    assert order.lowest(np.zeros(9, dtype=np.int64), 0, part, start=8) == -1
