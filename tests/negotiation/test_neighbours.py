"""Neighbours of a node: one level more or less."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.measures.loss import LossTables
from discreet.model.requirement import Requirement
from discreet.negotiation.alternatives import find_neighbours
from tests.drawing import some_of
from tests.oracle.brute_lattice import BruteLattice
from tests.oracle.random_tables import random_frequency_set


def test_neighbours_are_the_parents_and_children_with_their_differences() -> None:
    for seed in range(some_of(40)):
        table = random_frequency_set(
            np.random.default_rng(seed), attributes=3, height=2, leaves=5, rows=20, sensitive=0
        )
        brute, tables = BruteLattice(table), LossTables.of(table)
        requirement, lattice = Requirement(k=3), brute.lattice
        for node in lattice.nodes():
            found = find_neighbours(brute, node, requirement, tables)
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


def test_neighbours_come_by_attribute_the_lower_first() -> None:
    table = random_frequency_set(
        np.random.default_rng(1), attributes=3, height=2, leaves=5, rows=20, sensitive=0
    )
    brute = BruteLattice(table)
    node = tuple(min(1, h) for h in brute.lattice.heights)
    steps = [
        (n.attribute, n.step) for n in find_neighbours(brute, node, Requirement(k=2), LossTables.of(table))
    ]
    assert steps == sorted(steps)
