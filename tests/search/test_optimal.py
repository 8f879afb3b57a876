"""Optimal search: each way to compute it finds the node of enumeration, for every cost and criterion."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given
from hypothesis import settings as configured
from hypothesis import strategies as st
from numpy.typing import NDArray

import discreet
from discreet.errors import InputError, LimitReached, NoSolution
from discreet.lattice import size_counter
from discreet.lattice.evaluation import evaluate_lattice
from discreet.lattice.size_counter import SizeCounter
from discreet.measures.cost_registry import COSTS, cost_named
from discreet.measures.named_costs import node_cost, user_cost
from discreet.measures.node_statistics import NodesStatistics, NodeStatistics
from discreet.measures.standard_costs import detail_cost
from discreet.model.frequency_set import FrequencySet
from discreet.model.lattice import LatticeNode, tie_break_key
from discreet.model.request import Request
from discreet.model.requirement import Requirement
from discreet.model.search_result import Solution
from discreet.search import node_counts
from discreet.search import optimal as module
from discreet.search.algorithms import load_algorithm
from discreet.search.candidate_nodes import find_candidate_nodes
from discreet.search.node_costs import FilteredOptimum
from discreet.search.node_counts import StatisticsCounter
from discreet.search.optimal import optimal
from discreet.search.search_problem import SearchProblem
from discreet.settings import Settings
from discreet.taxonomy import full_domain
from discreet.taxonomy.class_counts import ClassCounts
from discreet.taxonomy.full_domain import find_least_loss_node
from tests.drawing import some_of
from tests.oracle.plain_criteria import MostRows
from tests.oracle.random_costs import random_cost
from tests.oracle.random_tables import frequency_set_of, random_frequency_set, random_hierarchy
from tests.search.cheapest_cases import (
    SETTINGS,
    WAYS,
    assert_cheapest,
    by_way,
    random_criteria_task,
    random_task,
    too_small,
)

SEEDS, BOOLEANS = st.integers(0, 10**6), st.booleans()
ways = st.sampled_from(WAYS)


def drawn(examples: int) -> Callable[..., Any]:
    return configured(
        max_examples=some_of(examples), deadline=None, suppress_health_check=[HealthCheck.too_slow]
    )


@drawn(240)
@given(seed=SEEDS, way=ways, attributes=st.integers(1, 3), threads=st.sampled_from([1, 3]))
def test_optimal_random_request_finds_the_cheapest_node(
    seed: int, way: str, attributes: int, threads: int
) -> None:
    task, cost = random_task(seed, replace(SETTINGS, threads=threads))
    with by_way(way, attributes):
        result = optimal(task)
    assert_cheapest(result, task, cost)
    assert result.algorithm == "optimal"


@drawn(240)
@given(SEEDS, BOOLEANS, BOOLEANS, st.sampled_from(sorted(COSTS.names())), ways, st.integers(1, 3))
def test_optimal_random_criteria_finds_the_cheapest_node(
    seed: int, suppressing: bool, monotone: bool, name: str, way: str, attributes: int
) -> None:
    cost = random_cost(np.random.default_rng(seed), name)
    task = random_criteria_task(seed, suppressing=suppressing, monotone=monotone)
    task = replace(task, cost=cost)
    with by_way(way, attributes):
        assert_cheapest(optimal(task), task, cost)
    if task.suppression_never_rises:
        assert_cheapest(load_algorithm("anytime")(replace(task, node_budget=10**6)), task, cost)


def preferred(task: SearchProblem) -> tuple[Solution, ...]:
    """Return the cheapest solution of the exhaustive search, by the tie rule, if any."""
    found = load_algorithm("exhaustive")(task).solutions
    best = min(found, key=lambda s: (s.cost, sum(s.node), s.suppressed, tie_break_key(s.node)), default=None)
    return () if best is None else (best,)


def squares_by_node(statistics: NodeStatistics) -> float:
    return float((statistics.sizes**2).sum() + 7 * statistics.suppressed + 3 * statistics.height)


def squares_over_nodes(statistics: NodesStatistics) -> NDArray[np.int64]:
    return statistics.squares + 7 * statistics.suppressed + 3 * statistics.height


@drawn(100)
@given(seed=SEEDS, way=ways)
def test_optimal_cost_of_arrays_equals_the_same_cost_by_node(seed: int, way: str) -> None:
    task, _ = random_task(seed, SETTINGS)
    by_node = node_cost("squares", "of this test", squares_by_node)
    over_nodes = node_cost("squares", "of this test", squares_by_node, squares_over_nodes)
    expected = preferred(replace(task, cost=by_node))
    with by_way(way):
        for cost in (by_node, over_nodes):
            assert optimal(replace(task, cost=cost)).solutions == expected


@drawn(100)
@given(seed=SEEDS, way=st.sampled_from(["filtered", "evaluated"]))
def test_optimal_monotone_cost_reads_no_node_above_one_with_the_same_rows(seed: int, way: str) -> None:
    task, _ = random_task(seed, SETTINGS)
    read = set()

    def levels(statistics: NodeStatistics) -> float:
        read.add(statistics.node)
        return float(sum(level**2 for level in statistics.node) - statistics.suppressed)

    levels.monotone = True  # type: ignore[attr-defined]
    task = replace(task, cost=user_cost(levels))
    with by_way(way):
        found = optimal(task).solutions
    tried = len(read)
    assert found == preferred(task)
    if task.limit == 0 and way == "evaluated" and found:
        assert tried == sum(s.minimal for s in load_algorithm("exhaustive")(task).solutions)


@pytest.mark.parametrize("costs", [np.array([0.0]), np.full(8, np.nan)])
def test_optimal_cost_array_that_is_not_a_number_per_node_is_refused(costs: NDArray[np.float64]) -> None:
    hierarchies = [random_hierarchy(np.random.default_rng(0), f"q{i}", 2, 1) for i in range(3)]
    table = frequency_set_of(hierarchies, [((i % 2, i // 2 % 2, i // 4), ()) for i in range(8)])
    cost = node_cost("own", "of this test", squares_by_node, lambda _: costs)
    with pytest.raises(InputError, match="over_nodes of the cost 'own'"):
        optimal(SearchProblem.of(table, Request.of(k=2, max_suppressed="100%"), SETTINGS, cost=cost))


@drawn(100)
@given(seed=SEEDS, threads=st.sampled_from([1, 3]), limited=BOOLEANS)
def test_size_counter_over_some_attributes_counts_the_others_at_their_tops(
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


@pytest.mark.parametrize(
    ("cost", "k", "limit"), [("loss", 5, "5%"), ("entropy", 5, "0%"), ("dm", 50, "1%"), ("loss", 50, "100%")]
)
def test_optimal_filtered_on_adult_equals_the_evaluated_lattice(
    adult: FrequencySet, cost: str, k: int, limit: str
) -> None:
    settings = replace(SETTINGS, memory_limit=2 * 10**9)
    task = SearchProblem.of(adult, Request.of(k=k, max_suppressed=limit), settings, cost=cost_named(cost))
    found = optimal(task)
    with by_way("evaluated"):
        assert optimal(task).solutions == found.solutions
    if (cost, limit) == ("loss", "5%"):
        assert found.nodes_checked < task.lattice.size // 5


def filtered(table: FrequencySet, request: Request, cost: Any) -> FilteredOptimum:
    task = SearchProblem.of(table, request, replace(SETTINGS, memory_limit=2 * 10**9), cost=cost)
    found = FilteredOptimum.of(task, task.cost_or("height"), StatisticsCounter.of(task))
    assert found is not None
    return found


@pytest.mark.parametrize(("cost", "limit", "whole"), [("dm", "100%", True), ("ambiguity", "0%", False)])
def test_filter_that_removes_nothing_is_abandoned(
    adult: FrequencySet, cost: str, limit: str, whole: bool
) -> None:
    found = filtered(adult, Request.of(k=5, max_suppressed=limit), cost_named(cost))
    assert found.search.abandoned is whole
    assert found.settled is not whole
    assert found.checked < found.task.lattice.size // 8


@pytest.mark.parametrize(
    ("attributes", "rows", "request_of", "over_nodes", "abandoned"),
    [
        # Five attributes allow one subset more than the smallest, which excludes nothing.
        (5, 300, {"k": 3, "max_suppressed": "100%"}, None, True),
        # A function of one node is slow for many nodes, so that the lattice is evaluated sooner.
        (6, 600, {"k": 10, "max_suppressed": "50%"}, None, True),
        (6, 600, {"k": 10, "max_suppressed": "50%"}, lambda nodes: nodes.levels.sum(axis=1), False),
    ],
)
def test_filter_for_a_function_of_one_node_is_abandoned_early(
    attributes: int, rows: int, request_of: dict[str, Any], over_nodes: Any, abandoned: bool
) -> None:
    random = np.random.default_rng(attributes if attributes == 5 else 3)
    hierarchies = [random_hierarchy(random, f"q{i}", 9, 3) for i in range(attributes)]
    codes = random.integers(0, 9, (rows, attributes))
    table = frequency_set_of(hierarchies, [(tuple(row), ()) for row in codes])
    cost = node_cost("own", "levels", lambda node: float(sum(node.node)), over_nodes)
    found = filtered(table, Request.of(**request_of), cost)
    assert found.search.abandoned is abandoned
    if attributes == 5:
        assert found.checked == 4**3


def test_optimal_beyond_the_memory_limit_searches_few_nodes(settings: Settings) -> None:
    random = np.random.default_rng(3)
    hierarchies = [random_hierarchy(random, f"q{i}", 4, 3) for i in range(7)]
    rows = [(tuple(int(v) for v in random.integers(0, 4, 7)), ()) for _ in range(60)]
    request = Request.of(k=3, max_suppressed="10%")
    task = SearchProblem.of(frequency_set_of(hierarchies, rows), request, settings, cost=cost_named("loss"))
    with by_way("evaluated"):
        evaluated = optimal(task)
    with by_way("searched"):
        searched = optimal(task)
    assert evaluated.solutions == searched.solutions
    assert evaluated.nodes_checked == 4**7
    assert searched.nodes_checked < 4**7
    assert searched.nodes_marked > 0


def test_optimal_without_memory_for_the_proof_advises_anytime(settings: Settings) -> None:
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
def test_large_lattice_with_long_keys_is_not_too_slow_for_the_kernels(
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


def test_optimal_without_node_in_the_limit_has_no_solution() -> None:
    table = frequency_set_of([random_hierarchy(np.random.default_rng(0), "a", 3, 1)], [((0,), ())])
    result = optimal(SearchProblem.of(table, Request.of(k=2), SETTINGS, cost=cost_named("loss")))
    assert (result.solutions, result.complete, result.bound) == ((), True, None)


def test_optimal_without_a_cost_minimizes_the_height() -> None:
    task, _ = random_task(11, SETTINGS)
    assert optimal(replace(task, cost=None)).cost_name == "height"
    with pytest.raises(InputError, match="beauty"):
        cost_named("beauty")


def classes_of(statistics: NodeStatistics) -> list[tuple[int, bool, tuple[int, ...]]]:
    """Return the rows of each class, whether it is suppressed, and its labels."""
    codes = statistics.codes_at(np.arange(len(statistics.class_sizes)))
    for i, (hierarchy, level) in enumerate(zip(statistics.hierarchies, statistics.node, strict=True)):
        codes[:, i] = hierarchy.level_map(level)[codes[:, i]]
    sizes, failing = statistics.class_sizes.tolist(), statistics.failing.tolist()
    return sorted(zip(sizes, failing, map(tuple, codes.tolist()), strict=True))


@drawn(150)
@given(SEEDS, BOOLEANS, BOOLEANS, st.sampled_from(["evaluated", "filtered", "filtered, then evaluated"]))
def test_statistics_of_uncounted_nodes_equal_counted_ones(
    seed: int, of_criteria: bool, suppressing: bool, way: str
) -> None:
    task, _ = random_task(seed, SETTINGS)
    if of_criteria:
        task = random_criteria_task(seed, suppressing=suppressing, monotone=False)
    counter = StatisticsCounter(task.frequency_set, task.requirement, 10**6)

    def own(node: NodeStatistics) -> float:
        counted = counter.count(node.node)
        assert (node.height, node.rows, node.suppressed) == (counted.height, counted.rows, counted.suppressed)
        assert (node.classes, node.squares) == (counted.classes, counted.squares)
        assert sorted(node.sizes.tolist()) == sorted(counted.sizes.tolist())
        assert sorted(node.suppressed_sizes.tolist()) == sorted(counted.suppressed_sizes.tolist())
        assert len(node.codes) == node.classes
        assert classes_of(node) == classes_of(counted)
        return float(node.height)

    with by_way(way.split(",")[0]), pytest.MonkeyPatch.context() as patch:
        patch.setattr(node_counts, "_COUNT_TO_EVALUATE_RATIO", 10**6 if way.endswith("then evaluated") else 0)
        optimal(replace(task, cost=user_cost(own)))


@pytest.mark.parametrize(
    ("cost", "counts"),
    [
        (lambda node: float(node.suppressed + node.classes + node.squares + node.height), False),
        (lambda node: float(node.sizes.max(initial=0) - node.suppressed_sizes.sum()), False),
        (lambda node: float(node.codes.sum()), True),
    ],
    ids=["numbers", "sizes", "values"],
)
def test_nodes_are_counted_only_for_a_cost_that_reads_values(
    cost: Callable[[NodeStatistics], float], counts: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    random = np.random.default_rng(4)
    table = random_frequency_set(random, attributes=3, height=3, leaves=5, rows=30, sensitive=0)
    counted, count = [], StatisticsCounter.count

    def noting(counter: StatisticsCounter, node: LatticeNode) -> NodeStatistics:
        counted.append(node)
        return count(counter, node)

    monkeypatch.setattr(StatisticsCounter, "count", noting)
    request = Request.of(k=2, max_suppressed="50%")
    with by_way("evaluated"):
        assert optimal(SearchProblem.of(table, request, SETTINGS, cost=user_cost(cost))).solutions
    assert bool(counted) is counts


def least_loss_node(task: SearchProblem, weights: dict[str, float], way: str) -> LatticeNode | None:
    """Return the node that full-domain recoding chooses, or None if there is none."""
    table = task.frequency_set
    if way == "known":
        known = evaluate_lattice(table, SETTINGS, diversity=False, criteria=task.requirement.criteria)
        task = replace(task, known=known)

    def found() -> Any:
        return None if way == "evaluated" else find_candidate_nodes(task, detail_cost(table, weights))

    counts, bounds = ClassCounts(table, task.requirement), (task.low, task.high)
    try:
        return find_least_loss_node(table, counts, task.limit, SETTINGS, weights, bounds, found)
    except NoSolution:
        return None


@drawn(60)
@given(seed=SEEDS, suppressing=BOOLEANS, of_size=BOOLEANS)
def test_candidates_of_least_loss_give_the_node_of_the_whole_lattice(
    seed: int, suppressing: bool, of_size: bool
) -> None:
    task = random_criteria_task(seed, suppressing=suppressing, monotone=bool(seed % 3))
    random = np.random.default_rng(seed)
    if of_size:
        task = replace(task, requirement=Requirement(int(random.integers(2, 6))))
    weights = {name: float(random.integers(0, 4)) / 2 for name in task.frequency_set.attributes[1:]}
    expected = least_loss_node(task, weights, "evaluated")
    assert least_loss_node(task, weights, "filtered") == expected
    assert least_loss_node(task, weights, "known") == expected


@drawn(60)
@given(seed=SEEDS)
def test_detail_cost_equals_the_loss_of_the_cells(seed: int) -> None:
    random = np.random.default_rng(seed)
    table = random_frequency_set(random, attributes=3, height=3, leaves=5, rows=24, sensitive=0)
    weights = {name: float(random.integers(0, 4)) for name in table.attributes[1:]}
    node = tuple(int(random.integers(0, h.height + 1)) for h in table.hierarchies)
    statistics = StatisticsCounter(table, Requirement(int(random.integers(1, 6))), 10**6).count(node)
    lost = 0.0
    for i, (hierarchy, level) in enumerate(zip(table.hierarchies, node, strict=True)):
        every, groups = len(hierarchy.leaves), hierarchy.level_map(level).tolist()
        weight = weights.get(hierarchy.attribute, 1.0) / every
        for codes, sizes, gone in (
            (statistics.codes, statistics.sizes, False),
            (statistics.suppressed_codes, statistics.suppressed_sizes, True),
        ):
            for code, rows in zip(codes[:, i].tolist(), sizes.tolist(), strict=True):
                alike = [leaf for leaf in range(every) if groups[leaf] == groups[code]]
                top = gone or level == hierarchy.height
                lost += weight * rows * ((every if top else max(len(alike), 1)) - 1)
    cost = detail_cost(table, weights)
    assert cost.of(statistics) == pytest.approx(lost, abs=1e-9)
    bound = cost.lower_bounds(np.array([node]), np.array([statistics.suppressed]))
    assert bound[0] <= lost + 1e-9


def test_session_reuses_its_evaluated_lattice(
    tmp_path: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    people = tmp_path / "people.csv"
    rows = [f"{20 + i % 37},{'ab'[i % 2]}{i % 5},{i % 3}" for i in range(90)]
    people.write_text("\n".join(["age,job,disease", *rows]) + "\n", encoding="utf-8")
    intervals = {"kind": "intervals", "widths": [5, 20]}
    spec = {
        "attributes": {
            "age": {"role": "quasi-identifier", "hierarchy": intervals},
            "job": {"role": "quasi-identifier"},
            "disease": {"role": "sensitive"},
        }
    }

    def answers(table: discreet.Table) -> list[Any]:
        limited = {"k": 4, "max_suppressed": "5%"}
        found = [table.recode(model, **limited).granularity for model in ("full-domain", "full-subtree")]
        levels = table.publish("full-domain", people.with_name("r.csv"), overwrite=True, **limited).levels
        optimum = table.search("optimal", cost="loss", **limited)
        return [*found, levels, optimum.solutions]

    with monkeypatch.context() as patch:
        patch.setattr(size_counter.SizeCounter, "of", lambda *_: None)
        expected = answers(discreet.open(people, spec, settings=settings))
    monkeypatch.setattr(full_domain, "evaluate_lattice", None)
    assert answers(discreet.open(people, spec, settings=settings)) == expected
    monkeypatch.setattr(size_counter.SizeCounter, "of", None)
    table = discreet.open(people, spec, settings=settings)
    table.lattice()
    assert answers(table) == expected
