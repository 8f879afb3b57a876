"""Negotiation over partial lattices: answers, proven bounds and minimal nodes, checked against the oracle."""

from __future__ import annotations

import threading
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.errors import LimitReached
from discreet.model.lattice import LatticeNode
from discreet.model.request import Request, node_bounds
from discreet.model.search_result import Negotiation
from discreet.negotiation.negotiator import Negotiator
from discreet.negotiation.partial_lattice import (
    PartialLattice,
    affordable_node_count,
    prepare_affordable,
    prepare_partial_lattice,
)
from discreet.negotiation.partial_negotiation import (
    PartialNegotiator,
    answer_limit,
    answer_region,
    count_failing_levels,
    descend_answers,
    least_height,
    prove_bound,
)
from discreet.settings import Settings
from tests.drawing import some_of
from tests.negotiation.conftest import table_and_request
from tests.oracle.brute_lattice import BruteLattice
from tests.oracle.naive_negotiation import NaiveAnswer
from tests.oracle.naive_partial import naive_partial_negotiation
from tests.oracle.weaker import largest_l

RELAXED = {None, "max_suppressed", "height", "k", "l"}


def plain(negotiation: Negotiation) -> list[NaiveAnswer]:
    return [
        (None if a.relaxed is None else str(a.relaxed), a.node, a.suppressed, a.requirement)
        for a in negotiation.answers
    ]


def nodes_of(partial: PartialLattice) -> list[tuple[int, ...]]:
    return [tuple(node) for node in partial.nodes.tolist()]


@pytest.mark.parametrize("runtime", [False, True])
def test_answers_equal_the_oracle_on_random_tables(runtime: bool) -> None:
    seen = set()
    for seed in range(some_of(120)):
        table, request = table_and_request(seed, subjects=seed % 5 == 0)
        brute = BruteLattice(table)
        share = ("1%", "10%", "30%", "100%")[seed % 4]
        partial = prepare_partial_lattice(table, share)
        found = plain(PartialNegotiator(partial, runtime=runtime).negotiate(request))
        expected = naive_partial_negotiation(brute, nodes_of(partial), request, runtime=runtime)
        assert found == expected, seed
        if share == "100%":
            assert found == plain(Negotiator(brute).negotiate(request))
        seen |= {answer[0] for answer in found}
    assert seen == RELAXED


@settings(max_examples=some_of(80), deadline=None)
@given(st.integers(0, 2**32))
def test_runtime_node_gives_all_but_height_of_the_whole_lattice(seed: int) -> None:
    table, request = table_and_request(seed)
    full = Negotiator(BruteLattice(table)).negotiate(request)
    found = PartialNegotiator(prepare_partial_lattice(table, "1%")).negotiate(request)
    assert found.outcome == full.outcome
    for part in ("max_suppressed", "k", "l"):
        true, ours = full.relaxation(part), found.relaxation(part)
        assert (ours is None) == (true is None)
        if true is not None and ours is not None:
            assert ours.requirement == true.requirement
            assert sum(ours.node) >= sum(true.node)
            if part == "max_suppressed":
                assert ours.suppressed == true.suppressed


def test_nodes_are_sorted_and_any_node_can_be_queried() -> None:
    table, request = table_and_request(4)
    brute, partial = BruteLattice(table), prepare_partial_lattice(table, "10%")
    nodes, requirement = nodes_of(partial), request.requirement
    assert nodes == sorted(nodes, key=lambda n: (sum(n), n[-1], n[:-1]))
    assert partial.suppression(requirement).tolist() == [brute.suppressed(n, requirement) for n in nodes]
    for node in brute.lattice.nodes():
        assert partial.suppressed(node, requirement) == brute.suppressed(node, requirement)
        assert partial.largest(node, requirement, "k", 2) == brute.largest(node, requirement, "k", 2)
        assert partial.is_prepared(node) == (node in nodes)
    assert len(partial.available_nodes()) == brute.lattice.size
    known, suppressed = partial.known(requirement)
    found = dict(zip(map(tuple, known.tolist()), suppressed.tolist(), strict=True))
    assert found == {n: brute.suppressed(n, requirement) for n in brute.lattice.nodes()}
    assert partial.nbytes > 0
    times = partial.preparation
    assert times.overall == times.level_statistics + times.node_scores + times.histograms


def test_histograms_beyond_the_memory_limit_are_refused_before_work(settings: Settings) -> None:
    table, _ = table_and_request(4)
    tight = Settings(memory_limit=4000, threads=1, private_log=settings.private_log)
    with pytest.raises(LimitReached, match="nodes are 100% of the lattice"):
        prepare_partial_lattice(table, "100%", settings=tight)
    assert affordable_node_count(table, tight) == 1
    assert prepare_affordable(table, tight).size == sum(h.height for h in table.hierarchies) + 1


def test_threads_share_a_partial_lattice() -> None:
    table, request = table_and_request(12)
    brute, partial = BruteLattice(table), prepare_partial_lattice(table, "1%")
    nodes = list(brute.lattice.nodes())
    found: dict[int, list[int]] = {}

    def query_all(number: int) -> None:
        order = np.random.default_rng(number).permutation(len(nodes)).tolist()
        rows = {i: partial.suppressed(nodes[i], request.requirement) for i in order}
        found[number] = [rows[i] for i in range(len(nodes))]

    threads = [threading.Thread(target=query_all, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    expected = [brute.suppressed(node, request.requirement) for node in nodes]
    assert list(found.values()) == [expected] * 4


nodes_of_three = st.tuples(st.integers(0, 3), st.integers(0, 2), st.integers(0, 3))


def below(node: LatticeNode, other: LatticeNode) -> bool:
    return all(a <= b for a, b in zip(node, other, strict=True))


@settings(max_examples=some_of(200), deadline=None)
@given(nodes_of_three, nodes_of_three, st.lists(nodes_of_three, max_size=6))
def test_least_height_equals_enumeration(a: LatticeNode, b: LatticeNode, failing: list[LatticeNode]) -> None:
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
    limit, requirement = request.max_suppressed.of(brute.rows), request.requirement
    inside = truth(brute, request, low, high)
    assert bound.suppressed <= min(brute.suppressed(n, requirement) for n in inside)
    relaxed = negotiation.exact is None
    if bound.of("k") is not None:
        assert bound.of("k") >= max(brute.largest(n, requirement, "k", limit) or 0 for n in inside)
    if bound.of("l") is not None:
        reached = max(brute.largest(n, requirement, "l", limit) or 0 for n in inside)
        assert bound.of("l") >= min(reached, largest_l(requirement) or 0)
    assert (bound.of("k") is not None, bound.of("l") is not None) == (
        relaxed and requirement.k is not None,
        relaxed and requirement.l is not None,
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
def test_descended_answers_are_minimal(seed: int) -> None:
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
