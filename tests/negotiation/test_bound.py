"""Bounds proven by counted nodes hold for all nodes; descending ends at minimal nodes."""

from __future__ import annotations

from itertools import product

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.model.lattice import LatticeNode
from discreet.model.request import Request, node_bounds
from discreet.negotiation.partial_lattice import prepare_partial_lattice
from discreet.negotiation.partial_negotiation import (
    PartialNegotiator,
    answer_limit,
    answer_region,
    count_failing_levels,
    descend_answers,
    least_height,
    prove_bound,
)
from tests.drawing import some_of
from tests.negotiation.conftest import table_and_request
from tests.oracle.brute_lattice import BruteLattice
from tests.oracle.weaker import largest_l

nodes_of_three = st.tuples(st.integers(0, 3), st.integers(0, 2), st.integers(0, 3))


def below(node: LatticeNode, other: LatticeNode) -> bool:
    return all(a <= b for a, b in zip(node, other, strict=True))


@settings(max_examples=some_of(200), deadline=None)
@given(nodes_of_three, nodes_of_three, st.lists(nodes_of_three, max_size=6))
def test_the_least_height_is_that_of_the_lowest_node_below_no_failing_one(
    a: LatticeNode, b: LatticeNode, failing: list[LatticeNode]
) -> None:
    low = tuple(map(min, a, b))
    high = tuple(map(max, a, b))
    box = product(*(range(x, y + 1) for x, y in zip(low, high, strict=True)))
    left = [sum(node) for node in box if not any(below(node, f) for f in failing)]
    array = np.array(failing, dtype=np.int64).reshape(len(failing), 3)
    found = least_height(low, high, array)
    assert found == min(left, default=None)
    stopped = least_height(low, high, array, steps=2)
    assert stopped is None or not left or stopped <= min(left)


def truth(brute: BruteLattice, request: Request, low: LatticeNode, high: LatticeNode) -> list[LatticeNode]:
    return [node for node in brute.lattice.nodes() if below(low, node) and below(node, high)]


@settings(max_examples=some_of(80), deadline=None)
@given(st.integers(0, 2**32), st.booleans(), st.booleans())
def test_bounds_hold_for_every_node(seed: int, runtime: bool, descends: bool) -> None:
    table, request = table_and_request(seed)
    brute, partial = BruteLattice(table), prepare_partial_lattice(table, "10%")
    negotiation = PartialNegotiator(partial, runtime=runtime).negotiate(request)
    if descends:
        negotiation = descend_answers(partial, request, negotiation)
        count_failing_levels(partial, request)
    bound = prove_bound(partial, request, negotiation)
    low, high = node_bounds(brute.lattice, request)
    limit, wish = request.max_suppressed.of(brute.rows), request.requirement
    inside = truth(brute, request, low, high)
    assert bound.suppressed <= min(brute.suppressed(n, wish) for n in inside)
    relaxed = negotiation.exact is None
    if bound.of("k") is not None:
        assert bound.of("k") >= max(brute.largest(n, wish, "k", limit) or 0 for n in inside)
    if bound.of("l") is not None:
        reached = max(brute.largest(n, wish, "l", limit) or 0 for n in inside)
        assert bound.of("l") >= min(reached, largest_l(wish) or 0)
    assert (bound.of("k") is not None, bound.of("l") is not None) == (
        relaxed and wish.k is not None,
        relaxed and wish.l is not None,
    )
    assert len(bound.heights) == len(negotiation.answers)
    for answer, least in zip(negotiation.answers, bound.heights, strict=True):
        first, last, start = answer_region(answer, request, low, high, brute.lattice.top)
        allowed = answer_limit(answer, limit)
        reaching = [
            sum(n)
            for n in truth(brute, request, first, last)
            if sum(n) >= start and brute.suppressed(n, answer.requirement) <= allowed
        ]
        assert start <= least <= min(reaching) <= sum(answer.node)
    if runtime and negotiation.exact is None:
        assert bound.suppressed > limit
        fewest = negotiation.relaxation("max_suppressed")
        assert bound.suppressed == (brute.rows if fewest is None else fewest.suppressed)
    assert bound.as_json()["heights"] == list(bound.heights)


@settings(max_examples=some_of(60), deadline=None)
@given(st.integers(0, 2**32))
def test_answers_walked_down_are_minimal_and_keep_their_promise(seed: int) -> None:
    table, request = table_and_request(seed)
    brute, partial = BruteLattice(table), prepare_partial_lattice(table, "1%")
    before = PartialNegotiator(partial).negotiate(request)
    after = descend_answers(partial, request, before)
    low, high = node_bounds(brute.lattice, request)
    limit = request.max_suppressed.of(brute.rows)
    assert len(after.answers) == len(before.answers)
    for old, new in zip(before.answers, after.answers, strict=True):
        first, _, start = answer_region(old, request, low, high, brute.lattice.top)
        allowed = answer_limit(old, limit)
        assert (new.relaxed, new.requirement) == (old.relaxed, old.requirement)
        assert new.suppressed == brute.suppressed(new.node, new.requirement) <= allowed
        assert below(first, new.node)
        assert below(new.node, old.node)
        assert sum(new.node) >= start
        if sum(new.node) > start:
            children = [child for child in brute.lattice.children(new.node) if below(first, child)]
            assert all(brute.suppressed(child, new.requirement) > allowed for child in children)


def test_probing_finds_the_level_that_each_answer_must_exceed() -> None:
    found = 0
    for seed in range(some_of(60)):
        table, request = table_and_request(seed)
        brute, partial = BruteLattice(table), prepare_partial_lattice(table, "1%")
        low, high = node_bounds(brute.lattice, request)
        limit, wish = request.max_suppressed.of(brute.rows), request.requirement
        if brute.suppressed(high, wish) > limit:
            continue
        count_failing_levels(partial, request)
        inside = [n for n in truth(brute, request, low, high) if brute.suppressed(n, wish) <= limit]
        must = [min(n[i] for n in inside) for i in range(len(high))]
        negotiation = PartialNegotiator(partial).negotiate(request)
        assert prove_bound(partial, request, negotiation).heights[0] >= sum(must)
        found += sum(must) > sum(low)
    assert found > 3
