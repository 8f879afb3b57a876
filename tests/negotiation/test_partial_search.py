"""Negotiation over partial lattices, checked against the oracle and the whole lattice."""

from __future__ import annotations

import threading

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.errors import InputError, LimitReached
from discreet.model.lattice import Lattice
from discreet.model.request import Request
from discreet.model.search_result import Negotiation
from discreet.negotiation.negotiator import Negotiator
from discreet.negotiation.partial_lattice import (
    PartialLattice,
    affordable_node_count,
    prepare_affordable,
    prepare_partial_lattice,
)
from discreet.negotiation.partial_negotiation import PartialNegotiator
from discreet.settings import Settings
from tests.drawing import some_of
from tests.negotiation.conftest import table_and_request
from tests.oracle.brute_lattice import BruteLattice
from tests.oracle.naive_negotiation import NaiveAnswer
from tests.oracle.naive_partial import naive_partial_negotiation

RELAXED = {None, "max_suppressed", "height", "k", "l"}


def plain(negotiation: Negotiation) -> list[NaiveAnswer]:
    return [
        (None if a.relaxed is None else str(a.relaxed), a.node, a.suppressed, a.requirement)
        for a in negotiation.answers
    ]


def nodes_of(partial: PartialLattice) -> list[tuple[int, ...]]:
    return [tuple(node) for node in partial.nodes.tolist()]


@pytest.mark.parametrize("runtime", [False, True])
def test_answers_are_the_oracles_on_random_tables(runtime: bool) -> None:
    seen = set()
    for seed in range(some_of(120)):
        table, request = table_and_request(seed, subjects=seed % 5 == 0)
        brute = BruteLattice(table)
        partial = prepare_partial_lattice(table, ("1%", "10%", "30%")[seed % 3])
        found = plain(PartialNegotiator(partial, runtime=runtime).negotiate(request))
        expected = naive_partial_negotiation(brute, nodes_of(partial), request, runtime=runtime)
        assert found == expected, seed
        seen |= {answer[0] for answer in found}
    assert seen == RELAXED


@settings(max_examples=some_of(60), deadline=None)
@given(st.integers(0, 2**32), st.booleans(), st.booleans())
def test_answers_are_the_oracles(seed: int, subjects: bool, by_height: bool) -> None:
    table, request = table_and_request(seed, subjects=subjects)
    brute = BruteLattice(table)
    partial = prepare_partial_lattice(table, "10%", by_height=by_height)
    for runtime in (False, True):
        found = plain(PartialNegotiator(partial, runtime=runtime).negotiate(request))
        assert found == naive_partial_negotiation(brute, nodes_of(partial), request, runtime=runtime)


@settings(max_examples=some_of(80), deadline=None)
@given(st.integers(0, 2**32))
def test_the_node_at_run_time_makes_all_but_height_as_good_as_the_whole_lattice(seed: int) -> None:
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


@settings(max_examples=some_of(40), deadline=None)
@given(st.integers(0, 2**32))
def test_the_whole_lattice_as_a_partial_one_answers_alike(seed: int) -> None:
    table, request = table_and_request(seed)
    partial = prepare_partial_lattice(table, "100%")
    brute = BruteLattice(table)
    assert partial.size == brute.lattice.size
    for runtime in (False, True):
        found = PartialNegotiator(partial, runtime=runtime).negotiate(request)
        assert plain(found) == plain(Negotiator(brute).negotiate(request))


def test_nodes_come_by_height_and_look_ups_serve_any_node() -> None:
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


def test_without_diversity_l_is_refused() -> None:
    table, _ = next(t for t in map(table_and_request, range(50)) if t[0].sensitive)
    partial = prepare_partial_lattice(table, diversity=False)
    with pytest.raises(InputError, match="no attribute is sensitive"):
        PartialNegotiator(partial).negotiate(Request.of(l=2))


def test_progress_is_told_node_by_node() -> None:
    told: list[tuple[int, int]] = []
    partial = prepare_partial_lattice(
        table_and_request(4)[0], "20%", progress=lambda a, b: told.append((a, b))
    )
    assert told == [(i + 1, partial.size) for i in range(partial.size)]


def test_what_would_not_fit_the_memory_limit_is_refused_before_work(settings: Settings) -> None:
    table, _ = table_and_request(4)
    tight = Settings(memory_limit=4000, threads=1, private_log=settings.private_log)
    with pytest.raises(LimitReached, match="nodes are 100% of the lattice"):
        prepare_partial_lattice(table, "100%", settings=tight)
    assert affordable_node_count(table, tight) == 1
    assert prepare_affordable(table, tight).size == sum(h.height for h in table.hierarchies) + 1


def test_what_is_affordable_depends_on_the_table_alone(settings: Settings) -> None:
    table, _ = table_and_request(4)
    first, second = prepare_affordable(table, settings), prepare_affordable(table, settings)
    assert np.array_equal(first.nodes, second.nodes)
    assert first.size == Lattice(first.lattice.attributes, first.lattice.heights).size


def test_threads_may_share_a_partial_lattice() -> None:
    table, request = table_and_request(12)
    brute, partial = BruteLattice(table), prepare_partial_lattice(table, "1%")
    nodes = list(brute.lattice.nodes())
    found: dict[int, list[int]] = {}

    def ask(number: int) -> None:
        order = np.random.default_rng(number).permutation(len(nodes)).tolist()
        rows = {i: partial.suppressed(nodes[i], request.requirement) for i in order}
        found[number] = [rows[i] for i in range(len(nodes))]

    threads = [threading.Thread(target=ask, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    expected = [brute.suppressed(node, request.requirement) for node in nodes]
    assert list(found.values()) == [expected] * 4
