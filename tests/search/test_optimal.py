"""``optimal``, checked by trying every node: evaluated and searched, all costs, all requirements."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as configured
from hypothesis import strategies as st

from discreet.errors import InputError, LimitReached
from discreet.measures.cost_registry import cost_named
from discreet.measures.named_costs import user_cost
from discreet.measures.node_statistics import NodeStatistics
from discreet.model.request import Request
from discreet.model.requirement import Requirement
from discreet.search import optimal as module
from discreet.search import search_problem
from discreet.search.algorithms import load_algorithm
from discreet.search.optimal import optimal
from discreet.search.search_problem import SearchProblem
from discreet.settings import Settings
from tests.drawing import some_of
from tests.oracle.plain_criteria import MostRows
from tests.oracle.random_tables import frequency_set_of, random_frequency_set, random_hierarchy
from tests.search.cheapest_cases import assert_cheapest, random_task, too_small

SETTINGS = Settings(memory_limit=10**9, threads=1, private_log=Path("unused"))


@pytest.fixture(scope="module", autouse=True)
def not_staged() -> Iterator[None]:
    """Disable the staged search, which ``test_staged`` covers, so that the other ways run everywhere."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module.FilteredOptimum, "of", lambda *_: None)
        yield


quick = configured(max_examples=some_of(150), deadline=None, suppress_health_check=[HealthCheck.too_slow])


@quick
@given(seed=st.integers(0, 10**6))
def test_the_evaluated_lattices_answer_is_the_cheapest_node(seed: int) -> None:
    task, name = random_task(seed, SETTINGS)
    result = optimal(task)
    assert_cheapest(result, task, name)
    assert result.algorithm == "optimal"


@quick
@given(seed=st.integers(0, 10**6))
def test_the_search_of_a_lattice_that_is_not_evaluated_finds_the_same(seed: int) -> None:
    task, name = random_task(seed, SETTINGS)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(search_problem, "evaluate_lattice", _does_not_fit)
        assert_cheapest(optimal(task), task, name)


def _does_not_fit(*_: object, **__: object) -> None:
    raise LimitReached("it does not fit")


def test_a_lattice_beyond_the_memory_limit_is_searched(settings: Settings) -> None:
    random = np.random.default_rng(3)
    hierarchies = [random_hierarchy(random, f"q{i}", 4, 3) for i in range(7)]
    rows = [(tuple(int(v) for v in random.integers(0, 4, 7)), ()) for _ in range(60)]
    table = frequency_set_of(hierarchies, rows)
    request = Request.of(k=3, max_suppressed="10%")
    evaluated = optimal(SearchProblem.of(table, request, settings, cost=cost_named("loss")))
    searched = optimal(
        SearchProblem.of(table, request, replace(settings, memory_limit=4_000_000), cost=cost_named("loss"))
    )
    assert evaluated.solutions == searched.solutions
    assert evaluated.nodes_checked == 4**7
    assert searched.nodes_checked < 4**7
    assert searched.nodes_marked > 0


def test_memory_that_ends_before_the_proof_is_an_error(settings: Settings) -> None:
    random = np.random.default_rng(5)
    hierarchies = [random_hierarchy(random, f"q{i:02d}", 6, 3) for i in range(12)]
    rows = [(tuple(int(v) for v in random.integers(0, 6, 12)), ()) for _ in range(80)]
    task = SearchProblem.of(
        frequency_set_of(hierarchies, rows), Request.of(k=4), too_small(settings), cost=cost_named("entropy")
    )
    with pytest.raises(LimitReached) as error:
        optimal(task)
    assert "anytime" in (error.value.advice or "")


@pytest.mark.parametrize("attributes", [16, 17])
def test_a_large_lattice_with_long_keys_is_evaluated_by_the_kernels(
    attributes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Sixteen attributes of sixteen values fill one word; a seventeenth needs a second."""
    random = np.random.default_rng(0)
    hierarchies = [random_hierarchy(random, f"q{i:02d}", 16, 1) for i in range(attributes)]
    table = frequency_set_of(hierarchies, [((value,) * attributes, ()) for value in range(16)])
    task = SearchProblem.of(table, Request.of(k=2), SETTINGS, cost=cost_named("loss"))
    monkeypatch.setattr(module, "_MOST_TWIN_GROUPS", 10)
    assert not module._is_too_slow_to_evaluate(task)
    assert module._is_too_slow_to_evaluate(replace(task, requirement=Requirement(2, criteria=[MostRows(2)])))


def test_no_node_within_the_limit_is_no_solution() -> None:
    table = frequency_set_of([random_hierarchy(np.random.default_rng(0), "a", 3, 1)], [((0,), ())])
    result = optimal(SearchProblem.of(table, Request.of(k=2), SETTINGS, cost=cost_named("loss")))
    assert result.solutions == ()
    assert result.complete
    assert result.bound is None


def test_without_a_cost_it_is_the_tie_rules_node() -> None:
    task, _ = random_task(11, SETTINGS)
    assert optimal(replace(task, cost=None)).cost_name == "height"


def test_a_function_of_ones_own_is_minimized(settings: Settings) -> None:
    """A custom cost function is minimized: few classes of any size; the tie rule decides equal costs."""

    def largest_class(statistics: NodeStatistics) -> float:
        return float(statistics.sizes.max(initial=0))

    table = random_frequency_set(
        np.random.default_rng(4), attributes=3, height=3, leaves=5, rows=20, sensitive=0
    )
    request = Request.of(k=2, max_suppressed="30%")
    for given_settings in (settings, too_small(settings)):
        task = SearchProblem.of(table, request, given_settings, cost=user_cost(largest_class))
        (solution,) = optimal(task).solutions
        exhaustive = load_algorithm("exhaustive")(task).solutions
        assert solution.cost == min(s.cost for s in exhaustive if s.cost is not None)
        assert optimal(task).cost_name == "largest_class"


def test_an_unknown_cost_is_bad_input() -> None:
    with pytest.raises(InputError, match="beauty"):
        cost_named("beauty")
