"""Criteria of a whole release over the lattice: look-ups and negotiation, checked against plain counting."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st

from discreet.errors import InputError
from discreet.lattice import lattice_lookup
from discreet.lattice.evaluated_lattice import EvaluatedLattice
from discreet.lattice.evaluation import evaluate_lattice
from discreet.measures.loss import LossTables
from discreet.model.criteria.k_anonymity import HighestRisk
from discreet.model.criteria.release_shares import AverageRisk, SampleUniques
from discreet.model.frequency_set import FrequencySet
from discreet.model.request import Backend
from discreet.model.requirement import Requirement
from discreet.model.table_spec import SourceSpec, TableSpec
from discreet.negotiation.alternatives import suppress_attributes
from discreet.negotiation.frontier import compute_frontier
from discreet.negotiation.negotiator import Negotiator
from discreet.negotiation.partial_lattice import prepare_partial_lattice
from discreet.negotiation.partial_negotiation import PartialNegotiator
from discreet.results.node_rows import preview_rows
from discreet.results.node_summary import summarize_node
from discreet.results.table_lattice import TableLattice
from discreet.settings import Settings
from papers.printed_negotiation import negotiate_as_printed
from tests.criteria.plain_release import plain_rest
from tests.criteria.released_lattice import ReleasedLattice, random_request_of
from tests.drawing import some_of
from tests.negotiation.conftest import table_and_request
from tests.negotiation.test_criteria import reported_answers
from tests.oracle.naive_relaxation import naive_relaxations

SETTINGS = Settings(memory_limit=2**31, threads=2, private_log=Path("unused"))
SEEDS = st.integers(0, 2**32)
SPEC = TableSpec(SourceSpec(path=Path("unused.csv")), ())
each_kind = pytest.mark.parametrize("kind", ["sizes", "cells"])


def evaluated_for(table: FrequencySet, requirement: Requirement) -> EvaluatedLattice:
    return evaluate_lattice(table, SETTINGS, diversity=False, criteria=requirement.criteria)


@each_kind
@examples(max_examples=some_of(50), deadline=None)
@given(seed=SEEDS, at_once=st.integers(1, 40))
def test_look_ups_equal_plain_counting(kind: str, seed: int, at_once: int) -> None:
    table, request, brute = random_request_of(kind, seed)
    if not table.row_types:
        return
    requirement = request.requirement
    evaluated = evaluated_for(table, requirement)
    # Groups of cells are enumerated, which takes long, so only some nodes are compared.
    some = brute.nodes if kind == "sizes" else brute.nodes[:: max(len(brute.nodes) // 9, 1)]
    places = [brute.nodes.index(node) for node in some]
    # Evaluate one node separately, then all, then another value, which is answered from the cached counts.
    assert evaluated.suppressed(some[0], requirement) == brute.suppressed(some[0], requirement)
    looser = (
        requirement.weakened(requirement.of_release[0].name, 0)
        if kind == "sizes"
        else requirement.weakened("lkc", 1)
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lattice_lookup, "_ENTRIES_AT_ONCE", at_once)
        for each in (requirement, looser):
            expected = [brute.suppressed(node, each) for node in some]
            assert evaluated.suppression(each)[places].tolist() == expected
            assert [evaluated.suppressed(node, each) for node in some] == expected
    limit = int(np.random.default_rng(seed).integers(0, table.rows))
    for name in requirement.names:
        own = max(c.threshold for c in requirement.criteria if c.name == name)
        scores = sorted({own, *brute.scores_of(name)}, reverse=True)
        for node in some[:: max(len(some) // 4, 1)]:
            found = evaluated.largest(node, requirement, name, limit)
            tried = (s for s in scores if s <= own and brute.suppressed(node, requirement, name, s) <= limit)
            assert (None if found is None else min(found, own)) == next(tried, None), name


@pytest.mark.parametrize("evaluator", [Backend.KERNELS, Backend.TWIN])
def test_lattice_evaluated_for_k_answers_release_criteria(evaluator: Backend) -> None:
    """A lattice evaluated for k only answers release criteria, which need class sizes only."""
    for seed in range(some_of(40)):
        table, request, brute = random_request_of("sizes", seed, classes=False)
        if table.row_types:
            evaluated = evaluate_lattice(table, SETTINGS, diversity=False, evaluator=evaluator)
            expected = [brute.suppressed(node, request.requirement) for node in brute.nodes]
            assert evaluated.suppression(request.requirement).tolist() == expected


@pytest.mark.parametrize(
    ("kind", "seeds", "relaxed"),
    [
        ("sizes", 120, {"k", "l", "share", "average_risk", "records_at_risk", "sample_uniques"}),
        ("cells", 50, {"lkc", "l"}),
    ],
)
def test_every_answer_equals_the_oracle(kind: str, seeds: int, relaxed: set[str]) -> None:
    seen: set[str | None] = set()
    for seed in range(seeds):
        table, request, brute = random_request_of(kind, seed)
        if not table.rows:
            continue
        found = Negotiator(evaluated_for(table, request.requirement)).negotiate(request)
        expected = naive_relaxations(brute, request)
        assert reported_answers(found) == expected, seed
        seen |= {answer[0] for answer in expected}
    assert seen >= {None, "max_suppressed", "height", *relaxed}


def test_frontier_and_attributes_at_their_top_equal_the_oracle() -> None:
    for seed in range(some_of(40)):
        table, request, brute = random_request_of("sizes", seed)
        if not table.rows:
            continue
        requirement, tables = request.requirement, LossTables.of(table, {})
        evaluated = evaluated_for(table, requirement)
        keys = {
            n: (sum(n), round(tables.loss_of_node(n), 12), brute.suppressed(n, requirement))
            for n in brute.nodes
        }
        best = {
            n
            for n, key in keys.items()
            if not any(o != key and all(a <= b for a, b in zip(o, key, strict=True)) for o in keys.values())
        }
        assert {(p.node, p.suppressed) for p in compute_frontier(evaluated, requirement, tables)} == {
            (n, keys[n][2]) for n in best
        }
        for each in suppress_attributes(evaluated, request):
            assert each.suppressed == brute.suppressed(each.node, requirement)


@examples(max_examples=some_of(40), deadline=None)
@given(SEEDS)
def test_node_is_shown_with_the_classes_of_its_release(seed: int) -> None:
    table, request, brute = random_request_of("sizes", seed)
    if not table.row_types:
        return
    requirement = request.requirement
    source = TableLattice(evaluated_for(table, requirement), table, SPEC)
    node = brute.nodes[seed % len(brute.nodes)]
    summary = summarize_node(source, node, requirement)
    assert isinstance(brute, ReleasedLattice)
    rest = plain_rest(brute.whole(node, requirement), requirement)
    assert (summary.suppressed, summary.kept) == (brute.suppressed(node, requirement), len(rest))
    assert (summary.smallest, summary.largest) == (min(rest, default=None), max(rest, default=None))
    # If nothing was counted for the criterion, the row types are counted.
    assert (
        summarize_node(TableLattice(evaluated_for(table, Requirement(2)), table, SPEC), node, requirement)
        == summary
    )
    for row in preview_rows(table, node, requirement).rows:
        assert rest or row.suppressed
        assert row.suppressed or row.size in rest


@examples(max_examples=some_of(25), deadline=None)
@given(SEEDS)
def test_node_under_a_cell_criterion_is_shown_with_the_rows_of_its_release(seed: int) -> None:
    table, request, brute = random_request_of("cells", seed)
    if not table.row_types:
        return
    requirement = request.requirement
    source = TableLattice(evaluated_for(table, requirement), table, SPEC)
    node = brute.nodes[seed % len(brute.nodes)]
    assert summarize_node(source, node, requirement).suppressed == brute.suppressed(node, requirement)
    rows = preview_rows(table, node, requirement, number=table.row_types).rows
    assert sum(row.rows for row in rows if row.suppressed) == brute.suppressed(node, requirement)


def test_partial_lattices_and_the_walk_refuse_release_criteria() -> None:
    table, request, _ = random_request_of("sizes", 8)
    request = replace(request, requirement=Requirement(2, criteria=[AverageRisk(0.1)]))
    with pytest.raises(InputError, match=r"average_risk=0.1 of partial lattices: .* all classes"):
        prepare_partial_lattice(table, "10%", criteria=[AverageRisk(0.1)])
    partial = prepare_partial_lattice(table, "10%")
    for negotiate in (PartialNegotiator(partial).negotiate, lambda r: partial.suppression(r.requirement)):
        with pytest.raises(InputError, match="all classes of a release together"):
            negotiate(request)
    with pytest.raises(InputError, match="of the paper's walk"):
        negotiate_as_printed(evaluated_for(table, request.requirement), request)


def test_subjects_with_several_rows_are_refused() -> None:
    refused = 0
    for seed in range(some_of(20)):
        table, _ = table_and_request(seed, subjects=True)
        if not table.rows:
            continue
        assert table.subjects is not None
        several = len(np.unique(table.subjects.codes)) < table.rows
        requirement = Requirement(2, criteria=[SampleUniques(0.1), HighestRisk(0.2)])
        if not several:
            evaluated_for(table, requirement).suppression(requirement)
            continue
        refused += 1
        with pytest.raises(InputError, match="counts records, but here subjects are counted"):
            evaluated_for(table, requirement)
        with pytest.raises(InputError, match="counts records, but here subjects are counted"):
            evaluate_lattice(table, SETTINGS).suppression(requirement)
    assert refused


def test_relaxing_the_highest_risk_keeps_k() -> None:
    """Both criteria use the same score: a looser highest risk does not loosen k."""
    seen = 0
    for seed in range(some_of(100)):
        table, request, brute = random_request_of("sizes", seed)
        k = int(np.random.default_rng(seed).integers(2, 7))
        requirement = Requirement(k, criteria=[HighestRisk(0.1)])
        request = replace(request, requirement=requirement)
        if not table.rows:
            continue
        found = Negotiator(evaluated_for(table, requirement)).negotiate(request)
        assert reported_answers(found) == naive_relaxations(brute, request), seed
        seen += found.relaxation("highest_risk") is not None
    assert seen > 5
