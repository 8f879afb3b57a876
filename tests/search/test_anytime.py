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


@configured(max_examples=some_of(150), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(seed=st.integers(0, 10**6))
def test_on_small_lattices_it_reaches_the_optimum_and_proves_it(seed: int) -> None:
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


def test_25_attributes_have_an_answer_after_one_count_and_it_never_gets_worse() -> None:
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
def test_every_cost_has_an_answer(cost: str) -> None:
    table = wide_table(22, 300)
    assert_honest(anytime(task_over(table, 60, cost)), table)


def test_a_node_budget_makes_it_the_same_each_time() -> None:
    first, second = (anytime(task_over(WIDE, 150)) for _ in range(2))
    assert replace(first, seconds=0.0) == replace(second, seconds=0.0)


def test_a_node_budget_is_kept_but_for_what_tells_whether_the_answer_is_minimal() -> None:
    result = anytime(task_over(WIDE, 50))
    assert 50 <= result.nodes_checked <= 50 + 25


def test_little_memory_gives_up_parts_of_the_lattice_and_says_so() -> None:
    table = wide_table(12, 200, leaves=4)
    task = replace(task_over(table, 1_500), settings=replace(SETTINGS, memory_limit=60_000))
    result = anytime(task)
    assert_honest(result, table)
    assert not result.complete
    roomy = anytime(task_over(table, 1_500))
    assert roomy.bound is not None
    assert result.bound is not None
    assert result.bound <= roomy.bound


def test_no_time_at_all_is_the_highest_node() -> None:
    task = replace(task_over(WIDE, None), time_budget=0.0)
    result = anytime(task)
    assert result.solutions[0].node == task.high
    assert not result.complete


def test_an_interrupt_ends_it_with_the_answer_so_far() -> None:
    calls = 0

    def interrupt(_done: int, _total: int) -> None:
        nonlocal calls
        calls += 1
        if calls == 3:
            raise KeyboardInterrupt

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("discreet.search.anytime._SECONDS_BETWEEN_STEPS", 0.0)
        result = anytime(replace(task_over(WIDE, None), progress=interrupt))
    assert calls == 3
    assert not result.complete
    assert_honest(result, WIDE)


def test_an_interrupt_before_the_first_answer_is_passed_on() -> None:
    def interrupt(_done: int, _total: int) -> None:
        raise KeyboardInterrupt

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("discreet.search.anytime._SECONDS_BETWEEN_STEPS", 0.0)
        with pytest.raises(KeyboardInterrupt):
            anytime(replace(task_over(WIDE, None), progress=interrupt))


def test_how_things_stand_is_told() -> None:
    told: list[str] = []
    steps: list[tuple[int, int]] = []
    task = replace(task_over(WIDE, 60), notice=told.append, progress=lambda *step: steps.append(step))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("discreet.search.anytime._SECONDS_BETWEEN_STEPS", 0.0)
        patch.setattr("discreet.search.anytime._SECONDS_BETWEEN_NOTICES", 0.0)
        anytime(task)
    assert told[0].startswith("best so far: loss 1 at height 75, 0 rows suppressed; ")
    assert all("nodes checked" in line for line in told)
    assert all(0 <= done <= total == 1000 for done, total in steps)
    assert steps[-1][0] > 900


def test_its_own_cost_is_the_loss() -> None:
    result = anytime(replace(task_over(wide_table(3, 50), None), cost=None))
    assert result.cost_name == "loss"
    assert result.complete


def test_no_node_within_the_limit_is_no_solution() -> None:
    task = SearchProblem.of(WIDE, Request.of(k=3_000), SETTINGS, cost=cost_named("loss"))
    result = anytime(task)
    assert result.solutions == ()
    assert result.complete
    assert result.nodes_checked == 1
