"""Statistics that a custom cost reads of uncounted nodes equal the counted ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as configured
from hypothesis import strategies as st

from discreet.lattice import size_counter
from discreet.measures.named_costs import user_cost
from discreet.measures.node_statistics import NodeStatistics
from discreet.model.request import Request
from discreet.search import node_counts
from discreet.search.node_costs import FilteredOptimum
from discreet.search.node_counts import StatisticsCounter
from discreet.search.optimal import optimal
from discreet.search.search_problem import SearchProblem
from discreet.settings import Settings
from tests.drawing import some_of
from tests.oracle.random_tables import random_frequency_set
from tests.search import test_criteria
from tests.search.cheapest_cases import random_task
from tests.search.test_staged import SETTINGS

quick = configured(max_examples=some_of(100), deadline=None, suppress_health_check=[HealthCheck.too_slow])
SEEDS = st.integers(0, 10**6)
WAYS = st.sampled_from(["evaluated", "staged", "staged, then evaluated"])


@pytest.fixture(scope="module", autouse=True)
def compiled() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(size_counter, "are_kernels_ready", lambda *_, **__: True)
        yield


def classes_of(statistics: NodeStatistics) -> list[tuple[int, bool, tuple[int, ...]]]:
    """Return the rows of each class, whether it is suppressed, and its labels."""
    codes = statistics.codes_at(np.arange(len(statistics.class_sizes)))
    for i, (hierarchy, level) in enumerate(zip(statistics.hierarchies, statistics.node, strict=True)):
        codes[:, i] = hierarchy.level_map(level)[codes[:, i]]
    sizes, failing = statistics.class_sizes.tolist(), statistics.failing.tolist()
    return sorted(zip(sizes, failing, map(tuple, codes.tolist()), strict=True))


def assert_told(task: SearchProblem, way: str) -> None:
    counter = StatisticsCounter(task.frequency_set, task.requirement, 10**6)

    def own(told: NodeStatistics) -> float:
        counted = counter.count(told.node)
        assert (told.height, told.rows, told.suppressed) == (counted.height, counted.rows, counted.suppressed)
        assert (told.classes, told.squares) == (counted.classes, counted.squares)
        assert sorted(told.sizes.tolist()) == sorted(counted.sizes.tolist())
        assert sorted(told.suppressed_sizes.tolist()) == sorted(counted.suppressed_sizes.tolist())
        assert len(told.codes) == told.classes
        assert classes_of(told) == classes_of(counted)
        return float(told.height)

    with pytest.MonkeyPatch.context() as patch:
        if way == "evaluated":
            patch.setattr(FilteredOptimum, "of", lambda *_: None)
        patch.setattr(node_counts, "_COUNT_TO_EVALUATE_RATIO", 10**6 if way.endswith("then evaluated") else 0)
        optimal(replace(task, cost=user_cost(own)))


@quick
@given(SEEDS, WAYS)
def test_all_that_a_cost_may_read(seed: int, way: str) -> None:
    task, _ = random_task(seed, SETTINGS)
    assert_told(task, way)


@quick
@given(SEEDS, st.booleans(), WAYS)
def test_so_it_is_under_any_criteria(seed: int, suppressing: bool, way: str) -> None:
    assert_told(test_criteria.random_task(seed, suppressing=suppressing, monotone=False), way)


READ: dict[str, tuple[Callable[[NodeStatistics], float], bool]] = {
    "numbers": (lambda node: float(node.suppressed + node.classes + node.squares + node.height), False),
    "sizes": (lambda node: float(node.sizes.max(initial=0) - node.suppressed_sizes.sum()), False),
    "values": (lambda node: float(node.codes.sum()), True),
}


@pytest.mark.parametrize("read", READ)
def test_nodes_are_counted_for_a_cost_that_reads_values_alone(read: str, settings: Settings) -> None:
    cost, counts = READ[read]
    table = random_frequency_set(
        np.random.default_rng(4), attributes=3, height=3, leaves=5, rows=30, sensitive=0
    )
    asked = []

    def counted(counter: StatisticsCounter, node: tuple[int, ...]) -> NodeStatistics:
        asked.append(node)
        return found(counter, node)

    found = StatisticsCounter.count
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(StatisticsCounter, "count", counted)
        patch.setattr(FilteredOptimum, "of", lambda *_: None)
        task = SearchProblem.of(table, Request.of(k=2, max_suppressed="50%"), settings, cost=user_cost(cost))
        assert optimal(task).solutions
    assert bool(asked) is counts
