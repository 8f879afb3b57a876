"""``anytime``: the optimum where the lattice is small enough to verify it, else consistent results."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as configured
from hypothesis import strategies as st

from discreet.frequency.rollup import roll_up
from discreet.measures.cost_registry import cost_named
from discreet.model.frequency_set import FrequencySet
from discreet.model.hierarchy import TOP, GeneralizationHierarchy
from discreet.model.request import Request
from discreet.model.search_result import SearchResult
from discreet.search.anytime import anytime
from discreet.search.search_problem import SearchProblem
from discreet.settings import Settings
from tests.drawing import some_of
from tests.search.cheapest_cases import assert_cheapest, random_task

SETTINGS = Settings(memory_limit=10**9, threads=1, private_log=Path("unused"))


@configured(max_examples=some_of(90), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(seed=st.integers(0, 10**6))
def test_anytime_on_small_lattices_proves_the_optimum(seed: int) -> None:
    task, name = random_task(seed, SETTINGS)
    result = anytime(task)
    assert_cheapest(result, task, name)
    assert result.algorithm == "anytime"


def wide_table(attributes: int, rows: int, leaves: int = 8) -> FrequencySet:
    """Return correlated attributes of four levels; keys of many attributes take more than one word."""
    random = np.random.default_rng(0)
    levels = [np.arange(leaves), np.arange(leaves) // 2, np.arange(leaves) // (leaves // 2), np.zeros(leaves)]
    ancestors = tuple(level.astype(np.int64) for level in levels)
    labels = [tuple(f"{n}:{g}" for g in range(int(a.max()) + 1)) for n, a in enumerate(ancestors)]
    hierarchies = tuple(
        GeneralizationHierarchy(f"q{i:02d}", (*labels[:-1], (TOP,)), ancestors, "made")
        for i in range(attributes)
    )
    hidden = random.random(rows)
    drawn = [np.where(random.random(rows) < 0.7, hidden, random.random(rows)) for _ in range(attributes)]
    cells = np.stack([np.floor(leaves * u ** (1 + i % 3)) for i, u in enumerate(drawn)], axis=1)
    codes, counts = np.unique(cells.astype(np.int64), axis=0, return_counts=True)
    return FrequencySet(hierarchies, codes, counts.astype(np.int64))


WIDE = wide_table(25, 2_000)


def task_over(table: FrequencySet, nodes: int | None, cost: str = "loss", limit: str = "5%") -> SearchProblem:
    request = Request.of(k=5, max_suppressed=limit)
    return SearchProblem.of(table, request, SETTINGS, cost=cost_named(cost), node_budget=nodes)


def assert_honest(result: SearchResult, table: FrequencySet) -> float:
    """Check the result by counting it in another way, and its bound; return the cost."""
    (solution,) = result.solutions
    sizes = roll_up(table, solution.node).counts
    assert int(sizes[sizes < 5].sum()) == solution.suppressed <= result.limit
    assert solution.cost is not None
    assert result.bound is not None
    assert result.bound <= solution.cost
    assert result.gap == solution.cost - result.bound
    return solution.cost


def test_anytime_on_25_attributes_answers_after_one_count_and_improves() -> None:
    task = task_over(WIDE, 1)
    assert task.lattice.size == 4**25
    costs, bounds = [], []
    for nodes in (1, 5, 20, 60, 200):
        result = anytime(replace(task, node_budget=nodes))
        costs.append(assert_honest(result, WIDE))
        bounds.append(result.bound)
        assert not result.complete
    assert costs == sorted(costs, reverse=True)
    assert bounds == sorted(bounds)
    assert costs[0] == 1.0
    assert costs[-1] < 0.9


@pytest.mark.parametrize("cost", ["height", "precision", "aecs", "dm", "c-avg", "entropy", "ambiguity"])
def test_anytime_under_every_cost_answers(cost: str) -> None:
    table = wide_table(22, 300)
    assert_honest(anytime(task_over(table, 60, cost)), table)


def test_anytime_node_budget_is_reproducible_and_exceeded_only_to_check_minimality() -> None:
    first, second = (anytime(task_over(WIDE, 50)) for _ in range(2))
    assert replace(first, seconds=0.0) == replace(second, seconds=0.0)
    assert 50 <= first.nodes_checked <= 50 + 25


def test_anytime_with_little_memory_is_incomplete() -> None:
    table = wide_table(12, 200, leaves=4)
    task = replace(task_over(table, 500), settings=replace(SETTINGS, memory_limit=40_000))
    result = anytime(task)
    assert_honest(result, table)
    assert not result.complete
    roomy = anytime(task_over(table, 500))
    assert roomy.bound is not None
    assert result.bound is not None
    assert result.bound <= roomy.bound


def test_anytime_without_time_returns_the_highest_node() -> None:
    task = replace(task_over(WIDE, None), time_budget=0.0)
    result = anytime(task)
    assert result.solutions[0].node == task.high
    assert not result.complete


@pytest.mark.parametrize("after", [1, 3])
def test_anytime_interrupted_returns_its_answer_if_it_has_one(
    after: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = 0

    def interrupt(_done: int, _total: int) -> None:
        nonlocal calls
        calls += 1
        if calls == after:
            raise KeyboardInterrupt

    monkeypatch.setattr("discreet.search.anytime._SECONDS_BETWEEN_STEPS", 0.0)
    task = replace(task_over(WIDE, None), progress=interrupt)
    if after == 1:
        with pytest.raises(KeyboardInterrupt):
            anytime(task)
        return
    result = anytime(task)
    assert calls == after
    assert not result.complete
    assert_honest(result, WIDE)


def test_anytime_reports_best_node_bound_and_progress(monkeypatch: pytest.MonkeyPatch) -> None:
    reported: list[str] = []
    steps: list[tuple[int, int]] = []
    task = replace(task_over(WIDE, 60), notice=reported.append, progress=lambda *step: steps.append(step))
    monkeypatch.setattr("discreet.search.anytime._SECONDS_BETWEEN_STEPS", 0.0)
    monkeypatch.setattr("discreet.search.anytime._SECONDS_BETWEEN_NOTICES", 0.0)
    anytime(task)
    assert reported[0].startswith("best so far: loss 1 at height 75, 0 rows suppressed; ")
    assert all("nodes checked" in line for line in reported)
    assert all(0 <= done <= total == 1000 for done, total in steps)
    assert steps[-1][0] > 900


def test_anytime_without_a_cost_minimizes_the_loss() -> None:
    result = anytime(replace(task_over(wide_table(3, 50), None), cost=None))
    assert result.cost_name == "loss"
    assert result.complete


def test_anytime_without_node_in_the_limit_has_no_solution() -> None:
    task = SearchProblem.of(WIDE, Request.of(k=3_000), SETTINGS, cost=cost_named("loss"))
    result = anytime(task)
    assert result.solutions == ()
    assert result.complete
    assert result.nodes_checked == 1
