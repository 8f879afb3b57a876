"""Searches under any criteria find the nodes of enumeration, or name the criterion in a refusal."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as given_settings
from hypothesis import strategies as st

from discreet.errors import InputError
from discreet.frequency.rollup import roll_up
from discreet.measures.node_statistics import NodeStatistics
from discreet.model.frequency_set import FrequencySet
from discreet.model.requirement import Requirement
from discreet.search.algorithms import EVERY_SOLUTION, load_algorithm
from discreet.search.node_counts import StatisticsCounter
from discreet.search.search_problem import FactTable, SearchProblem, require_countable_in_database
from discreet.settings import Settings
from tests.criteria_of_tests import Share
from tests.drawing import some_of
from tests.oracle import brute_search, plain_criteria
from tests.oracle.plain_criteria import MostRows
from tests.oracle.random_tables import frequency_set_of, random_frequency_set, random_hierarchy
from tests.search.cheapest_cases import SETTINGS, random_criteria_task

SEEDS = st.integers(min_value=0, max_value=10**9)
UPWARD = (*EVERY_SOLUTION, "samarati", "anytime")


def solutions_of(task: SearchProblem) -> dict[tuple[int, ...], int]:
    return plain_criteria.every_solution(
        task.frequency_set, task.requirement, task.limit, (task.low, task.high)
    )


@given(SEEDS)
@given_settings(max_examples=some_of(200), deadline=None)
def test_every_search_equals_enumeration(seed: int) -> None:
    task = random_criteria_task(seed, suppressing=False)
    expected = solutions_of(task)
    for name in (*EVERY_SOLUTION, "exhaustive"):
        found = load_algorithm(name)(task)
        assert {s.node: s.suppressed for s in found.solutions} == expected, name
        assert {s.node for s in found.solutions if s.minimal} == brute_search.minimal(expected), name
    best = brute_search.preferred(expected)
    assert [s.node for s in load_algorithm("samarati")(task).solutions] == ([best] if best else [])


@given(SEEDS, st.booleans())
@given_settings(max_examples=some_of(150), deadline=None)
def test_exhaustive_any_criterion_and_limit_equals_enumeration(seed: int, monotone: bool) -> None:
    task = random_criteria_task(seed, suppressing=True, monotone=monotone)
    found = load_algorithm("exhaustive")(task)
    assert {s.node: s.suppressed for s in found.solutions} == solutions_of(task)


@given(SEEDS, st.sampled_from([0, 300, 3_000, 10**9]), st.booleans())
@given_settings(max_examples=some_of(100), deadline=None)
def test_counter_in_any_order_and_memory_equals_enumeration(seed: int, memory: int, subjects: bool) -> None:
    task = random_criteria_task(seed, suppressing=False, monotone=False)
    if subjects:
        random = np.random.default_rng(seed)
        table = random_frequency_set(
            random, attributes=3, height=3, leaves=5, rows=25, sensitive=2, subjects=6
        )
        task = replace(task, table=table, requirement=Requirement(2, 2 if table.sensitive else None))
    table, counter = task.frequency_set, StatisticsCounter(task.frequency_set, task.requirement, memory)
    nodes = list(task.lattice.nodes())
    for i in np.random.default_rng(seed).permutation(len(nodes)).tolist():
        found = counter.count(nodes[i])
        assert found.suppressed == plain_criteria.suppressed(table, nodes[i], task.requirement)
        if table.rows:
            assert_classes(found, table)
    assert counter.scans <= counter.counted
    last = counter.count(nodes[-1]).suppressed
    counter.forget()
    assert counter.count(nodes[-1]).suppressed == last


def assert_classes(found: NodeStatistics, table: FrequencySet) -> None:
    """Assert that classes and their labels equal those of the roll-up from the row types."""
    expected = roll_up(table, found.node)
    codes = found.codes_at(np.arange(len(found.class_sizes)))
    for i, (hierarchy, level) in enumerate(zip(table.hierarchies, found.node, strict=True)):
        codes[:, i] = hierarchy.level_map(level)[codes[:, i]]
    shown = dict(zip(map(tuple, codes.tolist()), found.class_sizes.tolist(), strict=True))
    assert shown == dict(zip(map(tuple, expected.codes.tolist()), expected.counts.tolist(), strict=True))


def small_table(*, subjects: bool = False) -> FrequencySet:
    hierarchies = [random_hierarchy(np.random.default_rng(1), f"q{i}", 2, 1) for i in range(2)]
    rows = [((i % 2, i // 2 % 2), (i % 3,)) for i in range(8)]
    return frequency_set_of(hierarchies, rows, ["s"], [3], [n // 2 for n in range(8)] if subjects else None)


def task_of(requirement: Requirement, limit: int, settings: Settings = SETTINGS) -> SearchProblem:
    return SearchProblem(small_table(), requirement, limit, (0, 0), (1, 1), settings)


@pytest.mark.parametrize("name", UPWARD)
def test_searches_that_infer_refuse_criteria_that_are_not_monotone(name: str) -> None:
    search = load_algorithm(name)
    with pytest.raises(InputError, match=rf"most-rows=7 of the search {name}: a largest size") as error:
        search(task_of(Requirement(2, criteria=[MostRows(7)]), 0))
    assert error.value.advice is not None
    assert error.value.advice.startswith("Use --algorithm exhaustive, or optimal")
    shares = Requirement(2, criteria=[Share(0.5)])
    with pytest.raises(InputError, match=rf"share=0.5 of the search {name} with up to 3 rows suppressed"):
        search(task_of(shares, 3))
    assert search(task_of(shares, 0)).complete


def test_joined_rows_may_make_a_passing_class_fail() -> None:
    """Rows that join a passing class may make it fail, and more rows are suppressed.

    A limit is therefore refused.
    """
    hierarchy = random_hierarchy(np.random.default_rng(1), "q", 2, 1)
    rows = [((0,), (0,)), ((0,), (1,)), ((1,), (0,))]
    table = frequency_set_of([hierarchy], rows, ["s"], [2])
    requirement = Requirement(criteria=[Share(0.5)])
    assert [plain_criteria.suppressed(table, (level,), requirement) for level in (0, 1)] == [1, 3]


def test_optimal_of_too_many_nodes_refuses_criteria_that_are_not_monotone() -> None:
    little = replace(SETTINGS, memory_limit=1_000)
    with pytest.raises(InputError, match=r"most-rows=7 of the search optimal over 4 nodes, too many"):
        load_algorithm("optimal")(task_of(Requirement(2, criteria=[MostRows(7)]), 0, little))
    with pytest.raises(InputError, match=r"share=0.5 of the search optimal over 4 nodes, too many"):
        load_algorithm("optimal")(task_of(Requirement(criteria=[Share(0.5)]), 2, little))


def test_database_refuses_criteria_that_it_cannot_count() -> None:
    requirement = Requirement(2, criteria=[Share(0.5)])
    with pytest.raises(InputError, match=r"share=0.5: a search in the database cannot compute") as error:
        require_countable_in_database(requirement)
    assert (error.value.allowed, error.value.advice) == ("k, l", "Leave --in-database out.")
    facts = FactTable(None, "facts", (), (), ("s",), 8)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="a search in the database cannot compute share of a value"):
        SearchProblem(facts, requirement, 0, (), (), SETTINGS)


def test_rows_by_value_of_subjects_are_refused() -> None:
    requirement = Requirement(2, criteria=[Share(0.5)])
    with pytest.raises(InputError, match="share of a value counts the rows of each value"):
        SearchProblem(small_table(subjects=True), requirement, 0, (0, 0), (1, 1), SETTINGS)
