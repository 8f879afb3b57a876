"""Every search finds the nodes of enumeration, with the counts of the paper's loops."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as given_settings
from hypothesis import strategies as st

from discreet.errors import LimitReached
from discreet.frequency.packed_keys import KeyFields
from discreet.model.frequency_set import FrequencySet
from discreet.model.requirement import Requirement
from discreet.model.search_result import SearchResult
from discreet.search.algorithms import EVERY_SOLUTION, load_algorithm
from discreet.search.search_problem import Marking, SearchProblem
from discreet.settings import Settings
from tests.drawing import some_of
from tests.oracle import brute_search
from tests.oracle.random_tables import frequency_set_of, random_frequency_set, random_hierarchy

SETTINGS = Settings(memory_limit=10**9, threads=1, private_log=Path("log.jsonl"))
SEEDS = st.integers(min_value=0, max_value=10**9)


def random_task(seed: int, *, subjects: bool = False, attributes: int = 3) -> SearchProblem:
    """Return a small table with a random requirement, limit, bounds and marking."""
    random = np.random.default_rng(seed)
    table = random_frequency_set(
        random,
        attributes=attributes,
        height=3,
        leaves=5,
        rows=24,
        sensitive=0 if subjects and random.random() < 0.5 else 2,
        subjects=int(random.integers(1, 12)) if subjects else None,
    )
    low = tuple(int(random.integers(0, h.height + 1)) * int(random.random() < 0.2) for h in table.hierarchies)
    high = tuple(
        int(random.integers(a, h.height + 1)) if random.random() < 0.3 else h.height
        for a, h in zip(low, table.hierarchies, strict=True)
    )
    limit = int(random.integers(0, table.rows // 2 + 1)) if random.random() < 0.5 else 0
    return SearchProblem(
        table=table,
        requirement=random_requirement(random, table),
        limit=limit,
        low=low,
        high=high,
        settings=SETTINGS,
        marking=Marking.TRANSITIVE if random.random() < 0.5 else Marking.DIRECT,
    )


def random_requirement(random: np.random.Generator, table: FrequencySet) -> Requirement:
    k, l = int(random.integers(1, 6)), int(random.integers(1, 4))
    kind = int(random.integers(0, 3)) if table.sensitive else 0
    if kind == 2 and random.random() < 0.5:
        return Requirement.of(k, {table.sensitive[0].attribute: l})
    return Requirement.of(k if kind != 1 else None, l if kind else None)


def check(task: SearchProblem) -> None:
    """Compare every search with enumeration."""
    assert isinstance(task.table, FrequencySet)
    box, transitive = (task.low, task.high), task.marking is Marking.TRANSITIVE
    expected = brute_search.every_solution(task.table, task.requirement, task.limit, box)
    results = {name: load_algorithm(name)(task) for name in (*EVERY_SOLUTION, "exhaustive", "samarati")}
    least = brute_search.minimal(expected)
    for name in (*EVERY_SOLUTION, "exhaustive"):
        assert {s.node: s.suppressed for s in results[name].solutions} == expected, name
        assert [s.node for s in results[name].solutions] == sorted(expected), name
        assert {s.node for s in results[name].solutions if s.minimal} == least, name
    best = brute_search.preferred(expected)
    one = results["samarati"].solutions
    assert [(s.node, s.suppressed, s.minimal) for s in one] == (
        [(best, expected[best], True)] if best else []
    )
    check_counts(task, results, expected.keys(), transitive=transitive)


def check_counts(
    task: SearchProblem, results: dict[str, SearchResult], solutions: object, *, transitive: bool
) -> None:
    assert isinstance(task.table, FrequencySet)
    box = (task.low, task.high)
    everything = brute_search.every_solution(task.table, task.requirement, task.rows, box)
    meets = {node: rows <= task.limit for node, rows in everything.items()}
    plain = brute_search.bottom_up(meets, transitive=transitive)
    paper = brute_search.incognito(task.table, task.requirement, task.limit, box, transitive=transitive)
    for name in EVERY_SOLUTION:
        expected = plain if name.startswith("bottom-up") else paper
        counts = results[name].nodes_checked, results[name].nodes_marked
        assert counts == (expected.checked, expected.marked), name
    assert results["bottom-up"].scans == plain.checked
    assert results["incognito"].scans == paper.scans
    assert results["incognito-superroots"].scans <= paper.scans
    assert {results[name].scans for name in ("bottom-up-rollup", "incognito-cube")} == {1}
    assert results["exhaustive"].nodes_checked == len(meets)


@given(SEEDS, st.booleans())
@given_settings(max_examples=some_of(200), deadline=None)
def test_every_search_equals_enumeration(seed: int, subjects: bool) -> None:
    check(random_task(seed, subjects=subjects))


@pytest.mark.slow
@given(st.integers(min_value=0, max_value=10**9), st.booleans())
@given_settings(max_examples=some_of(3000), deadline=None)
def test_every_search_on_thousands_of_tables_equals_enumeration(seed: int, subjects: bool) -> None:
    check(random_task(seed, subjects=subjects, attributes=4))


@given(SEEDS, st.integers(min_value=1, max_value=3000))
@given_settings(max_examples=some_of(60), deadline=None)
def test_cube_with_points_of_higher_levels_changes_no_result(seed: int, budget: int) -> None:
    task = random_task(seed)
    cube = load_algorithm("incognito-cube")
    plain, richer = cube(task), cube(replace(task, cube_budget=budget))
    assert plain.solutions == richer.solutions
    assert (plain.nodes_checked, plain.scans) == (richer.nodes_checked, richer.scans)


@pytest.mark.parametrize("rows", [0, 9])
def test_table_that_every_node_or_none_meets_has_all_solutions_or_none(rows: int) -> None:
    random = np.random.default_rng(2)
    table = random_frequency_set(random, attributes=2, height=2, leaves=3, rows=rows, sensitive=0)
    top = tuple(h.height for h in table.hierarchies)
    task = SearchProblem(table, Requirement(k=max(table.rows + 1, 2)), 0, (0,) * len(top), top, SETTINGS)
    for name in (*EVERY_SOLUTION, "exhaustive"):
        result = load_algorithm(name)(task)
        assert (
            len(result.solutions) == len(result.as_json()["solutions"]) == (0 if rows else task.lattice.size)
        )
    assert len(load_algorithm("samarati")(task).solutions) == (0 if rows else 1)


def wide_table(attributes: int, leaves: int, rows: int) -> FrequencySet:
    """Return attributes of ``leaves`` leaves under a top, with keys wider than one word."""
    random = np.random.default_rng(3)
    hierarchies = [random_hierarchy(random, f"q{i}", leaves, 1) for i in range(attributes)]
    few = random.integers(0, leaves, (rows // 3, attributes))
    drawn = few[random.integers(0, len(few), rows)].tolist()
    return frequency_set_of(hierarchies, [(tuple(codes), ()) for codes in drawn])


@pytest.mark.parametrize("name", [*EVERY_SOLUTION, "exhaustive"])
def test_search_with_keys_of_several_words_equals_enumeration(name: str) -> None:
    table = wide_table(attributes=8, leaves=300, rows=60)
    assert KeyFields(table.hierarchies).words == 2
    low, high = (0, 1, 0, 1, 1, 1, 0, 0), (1,) * 8
    task = SearchProblem(table, Requirement(k=3), 4, low, high, SETTINGS)
    expected = brute_search.every_solution(table, task.requirement, task.limit, (low, high))
    assert {s.node: s.suppressed for s in load_algorithm(name)(task).solutions} == expected != {}


@pytest.mark.parametrize("name", ["samarati", "exhaustive", *EVERY_SOLUTION])
def test_lattice_too_large_to_list_is_refused_at_once(name: str) -> None:
    table = wide_table(attributes=40, leaves=4, rows=6)
    task = SearchProblem(table, Requirement(k=7), 0, (0,) * 40, (1,) * 40, SETTINGS)
    with pytest.raises(LimitReached, match="memory limit") as caught:
        load_algorithm(name)(task)
    assert "anytime" in str(caught.value.advice)


def test_bottom_up_of_more_attributes_than_axes_is_refused() -> None:
    table = wide_table(attributes=70, leaves=4, rows=6)
    task = SearchProblem(table, Requirement(k=2), 0, (1,) * 70, (1,) * 70, SETTINGS)
    with pytest.raises(LimitReached, match="64 quasi-identifiers; the table has 70"):
        load_algorithm("bottom-up")(task)
    assert len(load_algorithm("samarati")(task).solutions) == 1
