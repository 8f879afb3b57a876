"""Negotiation over criteria of any kind, growing or not, checked by enumeration in plain Python."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st

from discreet.errors import InputError
from discreet.lattice.evaluation import evaluate_lattice
from discreet.measures.loss import LossTables
from discreet.model.criteria.base import Criterion
from discreet.model.frequency_set import FrequencySet
from discreet.model.lattice import LatticeNode, tie_break_key
from discreet.model.request import Request, SuppressionLimit, node_bounds
from discreet.model.requirement import Requirement, is_growing
from discreet.model.search_result import Answer, Negotiation, relaxable_names
from discreet.negotiation.alternatives import find_neighbours, raise_to_top, suppress_attributes
from discreet.negotiation.frontier import compute_frontier
from discreet.negotiation.negotiator import Negotiator
from discreet.negotiation.partial_lattice import prepare_affordable, prepare_partial_lattice
from discreet.negotiation.partial_negotiation import (
    PartialNegotiator,
    count_failing_levels,
    descend_answers,
    prove_bound,
)
from discreet.settings import Settings
from papers.printed_negotiation import negotiate_as_printed
from tests.criteria_of_tests import Share
from tests.drawing import some_of
from tests.negotiation.conftest import table_and_request
from tests.oracle.naive_negotiation import NaiveAnswer
from tests.oracle.naive_relaxation import naive_relaxations
from tests.oracle.random_tables import frequency_set_of, random_hierarchy
from tests.oracle.scored_lattice import TOYS, ScoredLattice, Spread, random_requirement

GROWING: tuple[type[Criterion], ...] = (Spread,)


def random_request_of(
    seed: int, toys: tuple[type[Criterion], ...] = TOYS
) -> tuple[FrequencySet, Request, ScoredLattice]:
    """Return a random table, a request with some toy criteria, and the oracle."""
    table, request = table_and_request(seed)
    requirement = random_requirement(np.random.default_rng(seed), table, toys)
    return table, replace(request, requirement=requirement), ScoredLattice(table, requirement.criteria)


def reported_answers(negotiation: Negotiation) -> list[NaiveAnswer]:
    return [(a.relaxed, a.node, a.suppressed, a.requirement) for a in negotiation.answers]


def test_answers_for_any_criterion_equal_the_oracle(settings: Settings) -> None:
    seen: set[tuple[str | None, bool]] = set()
    for seed in range(some_of(450)):
        table, request, brute = random_request_of(seed, TOYS if seed % 2 else GROWING)
        if not table.rows:
            continue
        requirement = request.requirement
        evaluated = evaluate_lattice(table, settings, diversity=False, criteria=requirement.criteria)
        expected = naive_relaxations(brute, request)
        found = Negotiator(evaluated).negotiate(request)
        assert reported_answers(found) == expected, (seed, request)
        assert {a.relaxed for a in found.answers} <= {None, *relaxable_names(requirement)}
        seen |= {(answer[0], is_growing(requirement)) for answer in expected}
    parts = {None, "max_suppressed", "height", "k", "l"}
    assert seen >= {(part, growing) for part in parts for growing in (False, True)}
    assert {name for name, _ in seen} >= {"share", "spread", "few", "most-rows"}


def test_document_lists_each_required_criterion(settings: Settings) -> None:
    """Documents list each required criterion; each bottom class has two equally frequent values of four."""
    hierarchies = [random_hierarchy(np.random.default_rng(0), name, n, 1) for name, n in (("a", 3), ("b", 2))]
    table = frequency_set_of(hierarchies, [((i % 3, i % 2), (i % 4,)) for i in range(24)], ["s"], [4])
    requirement = Requirement(4, 2, [Share(0.1, "s")])
    evaluated = evaluate_lattice(table, settings, criteria=requirement.criteria)
    found = Negotiator(evaluated).negotiate(Request(requirement, SuppressionLimit(rows=2)))
    by_name = {answer["relaxed"]: answer for answer in found.as_json()["answers"]}
    assert list(by_name) == ["share"]
    assert by_name["share"] == {
        "relaxed": "share",
        "levels": {"a": 0, "b": 1},
        "height": 1,
        "k": 4,
        "l": 2,
        "share": {"s": 0.25},
        "suppressed": 0,
    }
    assert list(by_name["share"]) == ["relaxed", "levels", "height", "k", "l", "share", "suppressed"]
    assert relaxable_names(requirement) == ("max_suppressed", "height", "k", "l", "share")


def test_frontier_equals_the_undominated_nodes(settings: Settings) -> None:
    sizes = set()
    for seed in range(some_of(150)):
        table, request, brute = random_request_of(seed)
        if not table.rows:
            continue
        random = np.random.default_rng(seed)
        weights = {name: float(random.integers(0, 3)) for name in table.attributes if random.random() < 0.5}
        requirement, tables = request.requirement, LossTables.of(table, weights)
        evaluated = evaluate_lattice(table, settings, criteria=requirement.criteria)
        keys = {
            n: (sum(n), round(tables.loss_of_node(n), 12), brute.suppressed(n, requirement))
            for n in brute.nodes
        }
        best = [
            n
            for n, key in keys.items()
            if not any(o != key and all(a <= b for a, b in zip(o, key, strict=True)) for o in keys.values())
        ]
        best.sort(key=lambda n: (sum(n), keys[n][2], tie_break_key(n)))
        points = compute_frontier(evaluated, requirement, tables)
        assert [(p.node, p.height, p.suppressed) for p in points] == [(n, sum(n), keys[n][2]) for n in best]
        losses = [tables.loss_of_node(n) for n in best]
        assert [p.loss for p in points] == pytest.approx(losses, rel=0, abs=1e-12)
        sizes.add(len(points))
        node = brute.nodes[len(brute.nodes) // 2]
        for neighbour in find_neighbours(evaluated, node, requirement, tables):
            assert neighbour.suppressed == keys[neighbour.node][2]
    assert len(sizes) > 4


def test_suppressed_attributes_equal_the_oracle(settings: Settings) -> None:
    for seed in range(some_of(150)):
        table, request, brute = random_request_of(seed)
        if not table.rows:
            continue
        requirement, limit = request.requirement, request.max_suppressed.of(table.rows)
        evaluated = evaluate_lattice(table, settings, criteria=requirement.criteria)
        low, high = node_bounds(evaluated.lattice, request)
        for i, found in enumerate(suppress_attributes(evaluated, request)):
            top = evaluated.lattice.heights[i]
            a, b = raise_to_top(low, i, top), raise_to_top(high, i, top)
            nodes = [n for n in brute.nodes if between(a, n, b)]
            rows = {n: brute.suppressed(n, requirement) for n in nodes}
            most = max(limit, min(rows.values()))
            expected = min(
                (n for n in nodes if rows[n] <= most), key=lambda n: (sum(n), rows[n], tie_break_key(n))
            )
            assert (found.node, found.suppressed) == (expected, rows[expected]), seed


def between(low: LatticeNode, node: LatticeNode, high: LatticeNode) -> bool:
    return all(a <= level <= b for a, level, b in zip(low, node, high, strict=True))


@examples(max_examples=some_of(60), deadline=None)
@given(st.integers(0, 2**32), st.booleans())
def test_partial_lattices_answer_growing_criteria(seed: int, runtime: bool) -> None:
    table, request, brute = random_request_of(seed, GROWING)
    requirement = request.requirement
    partial = prepare_partial_lattice(table, "15%", criteria=requirement.criteria)
    available_nodes = [tuple(node) for node in partial.nodes.tolist()]
    assert partial.suppression(requirement).tolist() == [
        brute.suppressed(n, requirement) for n in available_nodes
    ]
    assert all(partial.suppressed(n, requirement) == brute.suppressed(n, requirement) for n in brute.nodes)
    found = PartialNegotiator(partial, runtime=runtime).negotiate(request)
    for answer in found.answers:
        assert answer.suppressed == brute.suppressed(answer.node, answer.requirement)
    walked = negotiate_as_printed(partial, request, runtime=runtime).negotiation
    for part in (None, "max_suppressed", *requirement.names):
        assert by_part(walked, part) == by_part(found, part)
    if not table.rows:
        return
    full = naive_relaxations(brute, request)
    if runtime:
        values = {a[0]: a[3] for a in full if a[0] != "height"}
        assert {a.relaxed: a.requirement for a in found.answers if a.relaxed != "height"} == values
    check_bound(brute, request, prove_bound(partial, request, found).largest)
    lower = descend_answers(partial, request, found)
    count_failing_levels(partial, request)
    check_bound(brute, request, prove_bound(partial, request, lower).largest)


def by_part(negotiation: Negotiation, part: str | None) -> Answer | None:
    return negotiation.exact if part is None else negotiation.relaxation(part)


def check_bound(brute: ScoredLattice, request: Request, largest: tuple[tuple[str, int | None], ...]) -> None:
    """Check that no node within the levels reaches more."""
    low, high = node_bounds(brute.lattice, request)
    limit = request.max_suppressed.of(brute.rows)
    for name, value in largest:
        assert value is not None
        own = max(c.threshold for c in request.requirement.criteria if c.name == name)
        for node in brute.nodes:
            if between(low, node, high) and value < own:
                assert brute.suppressed(node, request.requirement, name, value + 1) > limit


def test_criterion_that_is_not_growing_is_refused_for_partial_lattices(settings: Settings) -> None:
    table, request, _ = random_request_of(8, (Share,))
    criteria = [Share(0.5)]
    evaluated = evaluate_lattice(table, settings, criteria=criteria)
    request = replace(request, requirement=Requirement(2, criteria=criteria))
    with pytest.raises(InputError, match=r"share=0.5 of the paper's walk") as error:
        negotiate_as_printed(evaluated, request)
    assert "evaluated lattice" in str(error.value.advice)
    with pytest.raises(InputError, match=r"share=0.5 of partial lattices: share of a value may fail"):
        prepare_partial_lattice(table, "10%", criteria=criteria)
    with pytest.raises(InputError, match="of partial lattices"):
        prepare_affordable(table, settings, criteria=criteria)
    partial = PartialNegotiator(prepare_partial_lattice(table, "10%"))
    for negotiate in (partial.negotiate, partial.suppress_attributes):
        with pytest.raises(InputError, match="of partial lattices"):
            negotiate(request)


def test_partial_lattices_of_subjects_count_rows_by_value_where_each_has_one(settings: Settings) -> None:
    for seed in range(some_of(40)):
        table, _ = table_and_request(seed, subjects=True)
        if not table.sensitive or not table.rows:
            continue
        assert table.subjects is not None
        if len(np.unique(table.subjects.codes)) < table.rows:
            with pytest.raises(InputError, match="counts the rows of each value, but here subjects"):
                prepare_affordable(table, settings, criteria=[Spread(1)])
        else:
            prepare_affordable(table, settings, criteria=[Spread(1)])
