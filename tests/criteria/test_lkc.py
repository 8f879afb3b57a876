"""LKC-privacy over the lattice, in negotiation and in searches, checked by enumerating all groups."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st

from discreet.errors import InputError
from discreet.lattice import evaluation
from discreet.lattice.evaluated_lattice import EvaluatedLattice
from discreet.lattice.evaluation import evaluate_lattice
from discreet.measures.cost_registry import cost_named
from discreet.model.criteria import lkc_privacy
from discreet.model.criteria.base import Criterion
from discreet.model.criteria.lkc_privacy import LKCPrivacy
from discreet.model.criteria.release_level import Groups, peel_classes
from discreet.model.criteria.release_shares import AverageRisk
from discreet.model.criterion_inputs import ClassValues
from discreet.model.frequency_set import FrequencySet
from discreet.model.lattice import LatticeNode
from discreet.model.request import Request
from discreet.model.requirement import Requirement
from discreet.model.table_spec import SourceSpec, TableSpec
from discreet.negotiation.negotiator import Negotiator
from discreet.results.node_rows import preview_rows
from discreet.results.node_summary import summarize_node
from discreet.results.table_lattice import TableLattice
from discreet.search.algorithms import EVERY_SOLUTION, load_algorithm
from discreet.search.node_counts import StatisticsCounter
from discreet.search.search_problem import SearchProblem
from discreet.settings import Settings
from discreet.taxonomy.class_counts import ClassCounts
from tests.criteria.plain_cells import plain_left, plain_score
from tests.criteria_of_tests import Share
from tests.drawing import some_of
from tests.negotiation.conftest import table_and_request
from tests.negotiation.test_criteria import told
from tests.oracle import brute_search
from tests.oracle.naive_relaxation import naive_relaxations
from tests.oracle.plain_criteria import classes_at, every_solution, plain_class
from tests.oracle.random_tables import random_frequency_set
from tests.oracle.scored_lattice import ScoredLattice, random_requirement
from tests.search.cheapest_cases import assert_cheapest, too_small

SETTINGS = Settings(memory_limit=2**31, threads=2, private_log=Path("unused"))
SPEC = TableSpec(SourceSpec(path=Path("unused.csv")), ())
SEEDS = st.integers(0, 2**32)


def random_lkc(random: np.random.Generator, table: FrequencySet) -> LKCPrivacy:
    confidence = float(random.choice([0.4, 0.5, 2 / 3, 0.9])) if table.sensitive else 1.0
    if random.random() < 0.5:
        confidence = 1.0
    return LKCPrivacy(
        int(random.integers(1, 13)), known=int(random.integers(1, 5)), confidence=round(confidence, 4)
    )


class CellsLattice(ScoredLattice):
    """Every node's classes, with some suppressed because of their groups."""

    def suppressed(
        self, node: LatticeNode, requirement: Requirement, name: str = "", cap: int = 2**62
    ) -> int:
        """Count the rows of failing classes, and of those in failing groups of the others."""
        criterion = requirement.of_cells
        assert criterion is not None
        assert isinstance(criterion, LKCPrivacy)
        asked = requirement.of_classes
        classes = [
            plain_class(self.table, node, types)
            for types, (_, scores) in zip(classes_at(self.table, node), self.classes[node], strict=True)
            if not self._fails(scores, asked, name, cap)
        ]
        value = min(criterion.threshold, cap) if name == criterion.name else criterion.threshold
        return self.rows - sum(len(classes[i].rows) for i in plain_left(criterion, classes, value))

    def scores_of(self, name: str) -> set[int]:
        """Return every value to which a criterion of groups may be lowered."""
        return set(range(12)) if name == LKCPrivacy.name else super().scores_of(name)


def asked_of(seed: int) -> tuple[FrequencySet, Request, CellsLattice]:
    table, request = table_and_request(seed)
    random = np.random.default_rng(seed)
    others: tuple[Criterion, ...] = ()
    if random.random() < 0.6:
        others = random_requirement(random, table).criteria
    requirement = Requirement(criteria=(*others, random_lkc(random, table)))
    return table, replace(request, requirement=requirement), CellsLattice(table, requirement.criteria)


def evaluated_for(table: FrequencySet, requirement: Requirement) -> EvaluatedLattice:
    return evaluate_lattice(table, SETTINGS, diversity=False, criteria=requirement.criteria)


@examples(max_examples=some_of(40), deadline=None)
@given(SEEDS)
def test_look_ups_equal_enumeration(seed: int) -> None:
    table, request, brute = asked_of(seed)
    if not table.row_types:
        return
    asked = request.requirement
    evaluated = evaluated_for(table, asked)
    some = brute.nodes[:: max(len(brute.nodes) // 9, 1)]
    places = [brute.nodes.index(node) for node in some]
    # Evaluate one node separately, then all, then another value of the counted criterion.
    assert evaluated.suppressed(some[0], asked) == brute.suppressed(some[0], asked)
    for wish in (asked, asked.weakened("lkc", 1)):
        expected = [brute.suppressed(node, wish) for node in some]
        assert evaluated.suppression(wish)[places].tolist() == expected
        assert [evaluated.suppressed(node, wish) for node in some] == expected
    limit = int(np.random.default_rng(seed).integers(0, table.rows))
    for name in asked.names:
        own = max(c.threshold for c in asked.criteria if c.name == name)
        scores = sorted({own, *brute.scores_of(name)}, reverse=True)
        for node in some[:3]:
            found = evaluated.largest(node, asked, name, limit)
            tried = (s for s in scores if s <= own and brute.suppressed(node, asked, name, s) <= limit)
            assert (None if found is None else min(found, own)) == next(tried, None), name


def test_every_answer_is_the_oracles() -> None:
    seen: set[str | None] = set()
    for seed in range(70):
        table, request, brute = asked_of(seed)
        if not table.rows:
            continue
        found = Negotiator(evaluated_for(table, request.requirement)).negotiate(request)
        expected = naive_relaxations(brute, request)
        assert told(found) == expected, seed
        seen |= {answer[0] for answer in expected}
    assert seen >= {None, "max_suppressed", "height", "lkc", "l"}


@examples(max_examples=some_of(25), deadline=None)
@given(SEEDS)
def test_a_node_is_shown_as_it_is_released(seed: int) -> None:
    table, request, brute = asked_of(seed)
    if not table.row_types:
        return
    asked = request.requirement
    source = TableLattice(evaluated_for(table, asked), table, SPEC)
    node = brute.nodes[seed % len(brute.nodes)]
    assert summarize_node(source, node, asked).suppressed == brute.suppressed(node, asked)
    rows = preview_rows(table, node, asked, number=table.row_types).rows
    assert sum(row.rows for row in rows if row.suppressed) == brute.suppressed(node, asked)


def random_task(seed: int, *, suppressing: bool) -> SearchProblem:
    random = np.random.default_rng(seed)
    table = random_frequency_set(random, attributes=3, height=3, leaves=5, rows=24, sensitive=1)
    others = [] if not suppressing or not table.sensitive else [Share(0.75)]
    return SearchProblem(
        table=table,
        requirement=Requirement(criteria=(*others, random_lkc(random, table))),
        limit=int(random.integers(0, table.rows // 2 + 1)) if suppressing else 0,
        low=(0,) * len(table.hierarchies),
        high=tuple(h.height for h in table.hierarchies),
        settings=SETTINGS,
    )


@given(SEEDS)
@examples(max_examples=some_of(25), deadline=None)
def test_without_suppression_every_search_finds_what_enumeration_finds(seed: int) -> None:
    """A node that passes implies that the nodes above it pass, which the searches rely on."""
    task = random_task(seed, suppressing=False)
    expected = every_solution(task.frequency_set, task.requirement, 0, (task.low, task.high))
    for node in expected:
        above = (tuple(a + (i == j) for j, a in enumerate(node)) for i in range(len(node)))
        assert all(n in expected for n in above if all(a <= b for a, b in zip(n, task.high, strict=True)))
    for name in (*EVERY_SOLUTION, "exhaustive"):
        found = load_algorithm(name)(task)
        assert {s.node: s.suppressed for s in found.solutions} == expected, name
    best = brute_search.preferred(expected)
    assert [s.node for s in load_algorithm("samarati")(task).solutions] == ([best] if best else [])


@given(SEEDS, st.booleans())
@examples(max_examples=some_of(25), deadline=None)
def test_with_suppression_every_node_is_judged_by_itself(seed: int, little: bool) -> None:
    task = random_task(seed, suppressing=True)
    if little:
        task = replace(task, settings=too_small(SETTINGS))
    expected = every_solution(task.frequency_set, task.requirement, task.limit, (task.low, task.high))
    found = load_algorithm("exhaustive")(task)
    assert {s.node: s.suppressed for s in found.solutions} == expected
    for name in ("loss", "dm"):
        cheap = replace(task, cost=cost_named(name))
        assert_cheapest(load_algorithm("optimal")(cheap), cheap, cost_named(name))


def test_what_is_left_meets_it_and_suppression_may_rise_on_the_way_up() -> None:
    """Remaining rows meet the criterion, but suppression may increase from a node to a higher one.

    Searches that conclude from node to node therefore refuse it where rows may be suppressed.
    """
    rises = 0
    for seed in range(60):
        table, request, brute = asked_of(seed)
        criterion = request.requirement.of_cells
        if not table.rows or not isinstance(criterion, LKCPrivacy):
            continue
        wish = Requirement(criteria=[criterion])
        rows = {}
        for node in brute.nodes:
            classes = [plain_class(table, node, types) for types in classes_at(table, node)]
            left = [classes[i] for i in plain_left(criterion, classes)]
            score = plain_score(criterion, left)
            assert score is None or score >= criterion.value
            rows[node] = brute.suppressed(node, wish)
        lattice = brute.lattice
        rises += any(rows[child] < rows[node] for node in rows for child in lattice.children(node))
    assert rises
    task = random_task(3, suppressing=True)
    for name in (*EVERY_SOLUTION, "samarati", "anytime"):
        with pytest.raises(InputError, match=r"all classes of a release together"):
            load_algorithm(name)(replace(task, limit=3))


def test_what_cannot_be_judged_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    table = random_frequency_set(
        np.random.default_rng(5), attributes=3, height=2, leaves=4, rows=20, sensitive=0
    )
    with pytest.raises(
        InputError, match="lkc = 3 requires a sensitive attribute, but no attribute is sensitive"
    ):
        evaluated_for(table, Requirement(criteria=[LKCPrivacy(3)])).suppression(
            Requirement(criteria=[LKCPrivacy(3)])
        )
    alone = Requirement(criteria=[LKCPrivacy(3, confidence=1.0)])
    together = Requirement(criteria=[*alone.criteria, AverageRisk(0.1)])
    with pytest.raises(InputError, match="each suppresses classes that the other relies on"):
        evaluated_for(table, together).suppression(together)
    with pytest.raises(InputError, match="each suppresses classes that the other relies on"):
        StatisticsCounter(table, together, 0).count((0, 0, 0))
    with pytest.raises(InputError, match="all classes of a release"):
        ClassCounts(table, alone).failing(np.zeros(table.row_types, np.int64), 1)
    monkeypatch.setattr(lkc_privacy, "MAX_COMBINATIONS", 2)
    with pytest.raises(InputError, match="2 of 3 quasi-identifiers make 3 combinations") as error:
        evaluated_for(table, alone).suppression(alone)
    assert "--lkc-known" in str(error.value.advice)


@examples(max_examples=some_of(60), deadline=None)
@given(SEEDS)
def test_the_compiled_rule_takes_what_the_plain_one_does(seed: int) -> None:
    random = np.random.default_rng(seed)
    classes, number = int(random.integers(1, 12)), int(random.integers(1, 9))
    values = []
    for _ in range(int(random.integers(0, 3))):
        rows = random.integers(0, 4, (classes, 4)) * random.integers(0, 2, (classes, 4))
        owners, codes = np.nonzero(rows)
        values.append(ClassValues((rows > 0).sum(axis=1), owners, codes, rows[owners, codes]))
    groups = Groups(
        of=random.integers(0, number, (int(random.integers(1, 4)), classes)),
        number=number,
        sizes=random.integers(1, 9, classes),
        values=tuple(values),
        billionths=int(random.choice([300_000_000, 500_000_000, 750_000_000, 10**9])),
    )
    standing = random.random(classes) < 0.8
    for most in (1, 3, 64):
        expected = peel_classes(groups, standing, most)
        assert evaluation._peel_compiled(groups, standing, most).tolist() == expected.tolist()
