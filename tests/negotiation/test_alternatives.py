"""Neighbours, suppressed attributes and the order of nodes, checked by enumeration."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.measures.loss import LossTables
from discreet.model.lattice import Lattice, node_height, tie_break_key
from discreet.model.request import node_bounds
from discreet.model.requirement import Requirement
from discreet.negotiation.alternatives import find_neighbours, suppress_attributes
from discreet.negotiation.negotiator import node_order
from discreet.negotiation.partial_lattice import prepare_partial_lattice
from discreet.negotiation.partial_negotiation import PartialNegotiator
from tests.drawing import some_of
from tests.negotiation.conftest import table_and_request
from tests.oracle.brute_lattice import BruteLattice
from tests.oracle.random_tables import random_frequency_set


def test_neighbours_are_parents_and_children_with_differences() -> None:
    for seed in range(some_of(40)):
        table = random_frequency_set(
            np.random.default_rng(seed), attributes=3, height=2, leaves=5, rows=20, sensitive=0
        )
        brute, tables = BruteLattice(table), LossTables.of(table)
        requirement, lattice = Requirement(k=3), brute.lattice
        for node in lattice.nodes():
            found = find_neighbours(brute, node, requirement, tables)
            steps = [(lattice.attributes.index(n.attribute), n.step) for n in found]
            assert steps == sorted(steps)
            assert {n.node for n in found if n.step == 1} == set(lattice.parents(node))
            assert {n.node for n in found if n.step == -1} == set(lattice.children(node))
            for n in found:
                i = lattice.attributes.index(n.attribute)
                assert n.node[i] - node[i] == n.step
                assert n.height == sum(n.node)
                assert n.suppressed == brute.suppressed(n.node, requirement)
                assert n.suppressed_change == n.suppressed - brute.suppressed(node, requirement)
                assert n.loss == pytest.approx(tables.loss_of_node(n.node), abs=1e-12)
                assert n.loss_change == pytest.approx(n.loss - tables.loss_of_node(node), abs=1e-12)
                assert n.step * n.suppressed_change <= 0 <= n.step * n.loss_change


@settings(max_examples=some_of(40), deadline=None)
@given(st.integers(0, 2**32))
def test_suppressed_rows_over_a_partial_lattice_are_equal(seed: int) -> None:
    table, request = table_and_request(seed)
    brute, partial = BruteLattice(table), prepare_partial_lattice(table, "1%")
    found = PartialNegotiator(partial).suppress_attributes(request)
    limit = request.max_suppressed.of(brute.rows)
    for ours, true in zip(found, suppress_attributes(brute, request), strict=True):
        assert (ours.attribute, ours.meets) == (true.attribute, true.meets)
        assert ours.suppressed == brute.suppressed(ours.node, request.requirement)
        assert ours.suppressed <= limit or ours.suppressed == true.suppressed
        assert ours.height >= true.height


def test_attribute_at_its_top_and_omitted_give_equal_classes() -> None:
    """The classes of a node equal those of the table without the attributes at their top."""
    checked = 0
    for seed in range(40):
        table, request = table_and_request(seed)
        if len(table.hierarchies) < 2 or not table.rows:
            continue
        brute = BruteLattice(table)
        for i, proposal in enumerate(suppress_attributes(brute, request)):
            narrower = replace(
                table,
                hierarchies=(*table.hierarchies[:i], *table.hierarchies[i + 1 :]),
                codes=table.codes[:, [j for j in range(len(table.hierarchies)) if j != i]],
            )
            rest = (*proposal.node[:i], *proposal.node[i + 1 :])
            requirement = request.requirement
            assert BruteLattice(narrower).suppressed(rest, requirement) == proposal.suppressed
            assert proposal.height_without == sum(rest)
            checked += 1
        _, high = node_bounds(brute.lattice, request)
        assert brute.suppressed(high, request.requirement) >= proposal.suppressed or proposal.meets
    assert checked > 50


SHAPES = [(0,), (3,), (2, 0), (0, 2), (1, 2, 3), (2, 1, 0, 1), (0, 0), (4, 2, 3)]


@pytest.mark.parametrize("heights", SHAPES)
def test_nodes_are_ordered_by_height_then_the_papers_order(heights: tuple[int, ...]) -> None:
    lattice = Lattice(tuple(f"q{i}" for i in range(len(heights))), heights)
    order = node_order(heights)
    plain = sorted(lattice.nodes(), key=lambda node: (node_height(node), tie_break_key(node)))
    assert [order.node_of(rank) for rank in range(lattice.size)] == plain
    assert [order.height_of(rank) for rank in range(lattice.size)] == [node_height(node) for node in plain]
    assert [lattice.node(index) for index in order.nodes.tolist()] == plain


@pytest.mark.parametrize("heights", SHAPES)
def test_interval_contains_the_nodes_between_its_ends(heights: tuple[int, ...]) -> None:
    order = node_order(heights)
    nodes = [order.node_of(rank) for rank in range(len(order.nodes))]
    for low, high in product(nodes, nodes):
        if any(a > b for a, b in zip(low, high, strict=True)):
            continue
        part = order.between(low, high)
        found = [nodes[part.first + int(i)] for i in np.flatnonzero(part.inside)]
        assert found == [n for n in nodes if all(a <= v <= b for a, v, b in zip(low, n, high, strict=True))]
        assert (nodes[part.first], nodes[part.last]) == (low, high)


def test_start_beyond_the_interval_finds_nothing() -> None:
    order = node_order((2, 2))
    part = order.between((0, 0), (1, 0))
    assert order.lowest(np.zeros(9, dtype=np.int64), 0, part, start=8) == -1
