"""Candidates and edges equal those of the paper's join, prune and query."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as given_settings
from hypothesis import strategies as st

from discreet.model.lattice import tie_break_key
from discreet.search.breadth_first import Family, FamilyNodes, join_candidates, roots
from discreet.search.incognito import expected_distinct
from discreet.search.search_problem import nodes_at_height, width_at
from tests.drawing import some_of
from tests.oracle.brute_search import Node, is_step, joined_and_pruned, queried_edges


def upward_closed(levels: list[int], family: Family, random: np.random.Generator) -> FamilyNodes:
    """Return the nodes at or above a few random nodes of a family, with at least the top."""
    shape = [levels[a] for a in family]
    found = np.zeros(shape, dtype=np.bool_)
    found[tuple(side - 1 for side in shape)] = True
    for _ in range(int(random.integers(0, 3))):
        found[tuple(slice(int(random.integers(0, side)), None) for side in shape)] = True
    return found


def paper_nodes(family: Family, nodes: FamilyNodes) -> set[Node]:
    return {tuple(zip(family, place, strict=True)) for place in np.argwhere(nodes).tolist()}


@given(st.integers(min_value=0, max_value=10**9))
@given_settings(max_examples=some_of(60), deadline=None)
def test_candidates_roots_and_edges_are_the_papers(seed: int) -> None:
    random = np.random.default_rng(seed)
    levels = random.integers(1, 4, int(random.integers(2, 5))).tolist()
    smaller = {(a,): upward_closed(levels, (a,), random) for a in range(len(levels))}
    edges = {
        (p, q) for f in smaller for p, q in product(paper_nodes(f, smaller[f]), repeat=2) if is_step(p, q)
    }
    for size in range(2, len(levels) + 1):
        joined = joined_and_pruned({n for f, nodes in smaller.items() for n in paper_nodes(f, nodes)})
        larger = {f: join_candidates(f, levels, smaller) for f in combinations(range(len(levels)), size)}
        found = {n for f, nodes in larger.items() for n in paper_nodes(f, nodes)}
        assert found == joined
        edges = queried_edges(joined, edges)
        assert edges == {(p, q) for p, q in product(joined, repeat=2) if one_family(p, q) and is_step(p, q)}
        led_to = {q for _, q in edges}
        assert {n for f, nodes in larger.items() for n in paper_nodes(f, roots(nodes))} == joined - led_to
        smaller = larger


def one_family(node: Node, other: Node) -> bool:
    return [a for a, _ in node] == [a for a, _ in other]


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), min_size=1, max_size=4))
def test_nodes_at_height_lists_each_node_of_the_height_once(bounds: list[tuple[int, int]]) -> None:
    low, high = tuple(a for a, _ in bounds), tuple(a + rise for a, rise in bounds)
    heights = range(sum(low) - 1, sum(high) + 2)
    found = [nodes_at_height(low, high, height) for height in heights]
    everything = product(*(range(a, b + 1) for a, b in zip(low, high, strict=True)))
    in_order = sorted(everything, key=lambda node: (sum(node), tie_break_key(node)))
    assert [node for nodes in found for node in nodes] == in_order
    assert [len(nodes) for nodes in found] == [width_at(low, high, height) for height in heights]


def test_expected_distinct_values_of_draws() -> None:
    values = np.array([1.0, 2.0, 1e12])
    assert expected_distinct(values, 1).tolist() == pytest.approx([1, 1, 1], abs=1e-3)
    assert expected_distinct(values, 2).tolist() == pytest.approx([1, 1.5, 2], abs=1e-3)
