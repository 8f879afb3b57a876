"""Nodes that no bound excludes: the result equals enumeration, for every cost and criterion."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given
from hypothesis import settings as configured
from hypothesis import strategies as st
from numpy.typing import NDArray

from discreet.errors import InputError
from discreet.lattice import size_counter
from discreet.lattice.size_counter import SizeCounter
from discreet.measures.cost_registry import COSTS, cost_named
from discreet.measures.named_costs import node_cost, user_cost
from discreet.measures.node_statistics import NodesStatistics, NodeStatistics
from discreet.model.frequency_set import FrequencySet
from discreet.model.lattice import tie_break_key
from discreet.model.request import Request
from discreet.search import candidate_nodes as stages
from discreet.search import optimal as module
from discreet.search.algorithms import load_algorithm
from discreet.search.node_costs import FilteredOptimum
from discreet.search.node_counts import StatisticsCounter
from discreet.search.optimal import optimal
from discreet.search.search_problem import SearchProblem
from discreet.settings import Settings
from tests.drawing import some_of
from tests.oracle.plain_tables import frequency_set_of_rows, read_hierarchy, read_rows
from tests.oracle.random_costs import random_cost
from tests.oracle.random_tables import frequency_set_of, random_frequency_set, random_hierarchy
from tests.search import test_criteria
from tests.search.cheapest_cases import assert_cheapest, random_task
from tests.search.test_optimal_adult import NINE

SETTINGS = Settings(memory_limit=10**9, threads=1, private_log=Path("unused"))
SEEDS = st.integers(0, 10**6)
quick = configured(max_examples=some_of(150), deadline=None, suppress_health_check=[HealthCheck.too_slow])


@pytest.fixture(scope="module", autouse=True)
def compiled() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(size_counter, "are_kernels_ready", lambda *_, **__: True)
        yield


@contextmanager
def staged_by(attributes: int) -> Iterator[None]:
    """Grow the attribute subsets by ``attributes``, so that small test tables have several of them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(stages, "_FEWEST", attributes)
        patch.setattr(stages, "_smaller_subset_size", lambda number: number - attributes)
        yield


@quick
@given(seed=SEEDS, threads=st.sampled_from([1, 3]), by=st.integers(1, 3))
def test_the_answer_is_the_cheapest_node(seed: int, threads: int, by: int) -> None:
    task, cost = random_task(seed, replace(SETTINGS, threads=threads))
    with staged_by(by):
        assert_cheapest(optimal(task), task, cost)


@quick
@given(SEEDS, st.booleans(), st.booleans(), st.sampled_from(sorted(COSTS.names())), st.integers(1, 3))
def test_so_it_is_under_any_criteria(
    seed: int, suppressing: bool, monotone: bool, name: str, by: int
) -> None:
    cost = random_cost(np.random.default_rng(seed), name)
    task = replace(test_criteria.random_task(seed, suppressing=suppressing, monotone=monotone), cost=cost)
    with staged_by(by):
        assert_cheapest(optimal(task), task, cost)


def squares_by_node(statistics: NodeStatistics) -> float:
    return float((statistics.sizes**2).sum() + 7 * statistics.suppressed + 3 * statistics.height)


def squares_over_nodes(statistics: NodesStatistics) -> NDArray[np.int64]:
    return statistics.squares + 7 * statistics.suppressed + 3 * statistics.height


@quick
@given(seed=SEEDS, staged=st.booleans())
def test_a_cost_of_arrays_of_nodes_has_the_answer_of_the_same_cost_by_node(seed: int, staged: bool) -> None:
    task, _ = random_task(seed, SETTINGS)
    by_node = node_cost("squares", "of this test", squares_by_node)
    over_nodes = node_cost("squares", "of this test", squares_by_node, squares_over_nodes)
    expected = load_algorithm("exhaustive")(replace(task, cost=by_node)).solutions
    best = min(
        expected, key=lambda s: (s.cost, sum(s.node), s.suppressed, tie_break_key(s.node)), default=None
    )
    with pytest.MonkeyPatch.context() as patch:
        if not staged:
            patch.setattr(FilteredOptimum, "of", lambda *_: None)
        for cost in (by_node, over_nodes):
            found = optimal(replace(task, cost=cost)).solutions
            assert found == (() if best is None else (best,))


@quick
@given(seed=SEEDS, staged=st.booleans())
def test_a_monotone_cost_is_not_asked_of_nodes_that_suppress_what_a_lower_one_does(
    seed: int, staged: bool
) -> None:
    task, _ = random_task(seed, SETTINGS)
    asked = set()

    def levels(statistics: NodeStatistics) -> float:
        asked.add(statistics.node)
        return float(sum(level**2 for level in statistics.node) - statistics.suppressed)

    levels.monotone = True  # type: ignore[attr-defined]
    with pytest.MonkeyPatch.context() as patch:
        if not staged:
            patch.setattr(FilteredOptimum, "of", lambda *_: None)
        found = optimal(replace(task, cost=user_cost(levels))).solutions
    tried = len(asked)
    expected = load_algorithm("exhaustive")(replace(task, cost=user_cost(levels))).solutions
    best = min(
        expected, key=lambda s: (s.cost, sum(s.node), s.suppressed, tie_break_key(s.node)), default=None
    )
    assert found == (() if best is None else (best,))
    if task.limit == 0 and not staged and expected:
        assert tried == sum(s.minimal for s in expected)


@pytest.mark.parametrize("costs", [np.array([0.0]), np.full(8, np.nan)])
def test_an_array_that_is_not_a_number_for_each_node_is_bad_input(costs: NDArray[np.float64]) -> None:
    hierarchies = [random_hierarchy(np.random.default_rng(0), f"q{i}", 2, 1) for i in range(3)]
    table = frequency_set_of(hierarchies, [((i % 2, i // 2 % 2, i // 4), ()) for i in range(8)])
    cost = node_cost("own", "of this test", squares_by_node, lambda _: costs)
    with pytest.raises(InputError, match="over_nodes of the cost 'own'"):
        optimal(SearchProblem.of(table, Request.of(k=2, max_suppressed="100%"), SETTINGS, cost=cost))


@quick
@given(seed=SEEDS, threads=st.sampled_from([1, 3]), limited=st.booleans())
def test_sums_over_some_attributes_are_those_of_the_node_with_the_others_at_their_tops(
    seed: int, threads: int, limited: bool
) -> None:
    random = np.random.default_rng(seed)
    table = random_frequency_set(random, attributes=4, height=3, leaves=5, rows=30, sensitive=0)
    assume(table.row_types)
    sizes = SizeCounter.of(table, replace(SETTINGS, threads=threads))
    assert sizes is not None
    tops = np.array([h.height for h in table.hierarchies])
    kept = np.sort(random.permutation(len(tops))[: random.integers(1, len(tops) + 1)])
    levels = np.unique([[random.integers(0, tops[a] + 1) for a in kept] for _ in range(30)], axis=0)
    levels, least = random.permutation(levels), int(random.integers(1, 8))
    most = random.integers(0, 31, len(levels)) if limited else None
    found = sizes.count(kept.tolist(), levels, least, most)
    counter = StatisticsCounter(table, Request.of(k=least).requirement, 10**6)
    for place, chosen in enumerate(levels.tolist()):
        node = tops.copy()
        node[kept] = chosen
        counted = counter.count(tuple(node.tolist()))
        if most is not None and counted.suppressed > most[place]:
            assert most[place] < found.below[place] <= counted.suppressed
            continue
        assert found.below[place] == counted.suppressed
        assert found.classes[place] == counted.classes
        assert found.squares[place] == (counted.sizes**2).sum()


def test_few_nodes_are_checked_of_a_table_where_much_is_asked() -> None:
    task, _ = random_task(3, SETTINGS)
    task = replace(task, cost=cost_named("loss"), limit=0)
    assert optimal(task).nodes_checked < 3 * task.lattice.size


@pytest.fixture(scope="module")
def adult(data_dir: Path) -> FrequencySet:
    folder = data_dir / "adult" / "hierarchies_arx"
    hierarchies = [read_hierarchy(folder / f"{name}.csv") for name in NINE]
    return frequency_set_of_rows(read_rows(data_dir / "adult" / "adult_30162.csv"), hierarchies, [])


@pytest.mark.parametrize(
    ("cost", "k", "limit"),
    [("loss", 5, "5%"), ("loss", 50, "100%"), ("entropy", 5, "0%"), ("height", 5, "5%"), ("dm", 50, "1%")],
)
def test_adult_has_the_answers_of_its_evaluated_lattice(
    adult: FrequencySet, cost: str, k: int, limit: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = replace(SETTINGS, memory_limit=2 * 10**9)
    task = SearchProblem.of(adult, Request.of(k=k, max_suppressed=limit), settings, cost=cost_named(cost))
    found = optimal(task)
    monkeypatch.setattr(FilteredOptimum, "of", lambda *_: None)
    assert module.optimal(task).solutions == found.solutions
    if (cost, limit) == ("loss", "5%"):
        assert found.nodes_checked < task.lattice.size // 5


@pytest.mark.parametrize(("cost", "limit", "whole"), [("dm", "100%", True), ("ambiguity", "0%", False)])
def test_the_lattice_is_evaluated_where_neither_limit_nor_bounds_leave_nodes_out(
    adult: FrequencySet, cost: str, limit: str, whole: bool
) -> None:
    settings = replace(SETTINGS, memory_limit=2 * 10**9)
    task = SearchProblem.of(adult, Request.of(k=5, max_suppressed=limit), settings, cost=cost_named(cost))
    counter = StatisticsCounter(adult, task.requirement, 10**8)
    found = FilteredOptimum.of(task, task.cost_or("height"), counter)
    assert found is not None
    assert found.search.abandoned is whole
    assert found.settled is not whole
    assert found.checked < task.lattice.size // 8


def test_of_few_attributes_too_the_lattice_is_not_counted_before_it_is_evaluated() -> None:
    """With few attributes, too, the lattice is evaluated without counting subsets first.

    Five attributes allow one subset more than the smallest, which excludes nothing.
    """
    random = np.random.default_rng(5)
    hierarchies = [random_hierarchy(random, f"q{i}", 9, 3) for i in range(5)]
    table = frequency_set_of(hierarchies, [(tuple(codes), ()) for codes in random.integers(0, 9, (300, 5))])
    cost = node_cost("own", "levels", lambda node: float(sum(node.node)))
    task = SearchProblem.of(table, Request.of(k=3, max_suppressed="100%"), SETTINGS, cost=cost)
    found = FilteredOptimum.of(
        task, task.cost_or("height"), StatisticsCounter(table, task.requirement, 10**8)
    )
    assert found is not None
    assert found.search.abandoned
    assert found.checked == 4**3


@pytest.mark.parametrize("over_nodes", [None, lambda nodes: nodes.levels.sum(axis=1)])
def test_a_function_of_one_node_is_asked_of_an_evaluated_lattice_sooner(
    over_nodes: Callable[[NodesStatistics], NDArray[np.float64]] | None,
) -> None:
    """For a cost function of one node, the lattice is evaluated early.

    It would otherwise be evaluated only after the remaining nodes, perhaps three of four, were counted.
    """
    random = np.random.default_rng(3)
    hierarchies = [random_hierarchy(random, f"q{i}", 9, 3) for i in range(6)]
    table = frequency_set_of(hierarchies, [(tuple(codes), ()) for codes in random.integers(0, 9, (600, 6))])
    cost = node_cost("own", "levels", lambda node: float(sum(node.node)), over_nodes)
    task = SearchProblem.of(table, Request.of(k=10, max_suppressed="50%"), SETTINGS, cost=cost)
    found = FilteredOptimum.of(
        task, task.cost_or("height"), StatisticsCounter(table, task.requirement, 10**8)
    )
    assert found is not None
    assert found.search.abandoned is (over_nodes is None)
