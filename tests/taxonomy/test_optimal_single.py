"""Optimal single-dimension division: checked against all sets of cuts; its bound, gap, and growing k."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from discreet.errors import InputError, NoSolution
from discreet.kernels.interval_pairs import INFEASIBLE_COST, compute_pair_costs, divide_pair
from discreet.kernels.numpy_twins import compute_pair_costs_twin, divide_pair_twin, list_divisions
from discreet.model.frequency_set import FrequencySet
from discreet.model.request import Backend
from discreet.model.requirement import Requirement
from discreet.taxonomy.admissibility import find_inadmissibility
from discreet.taxonomy.class_counts import ClassCost
from discreet.taxonomy.optimal_single import (
    OPTIMAL_STATUS,
    OptimalPartitioning,
    SearchBudget,
    find_optimal_single,
)
from papers.mondrian_quality import column_spreads, count_columns, draw_table, number_hierarchy, sizes_of
from tests.drawing import some_of
from tests.oracle.random_tables import random_frequency_set

SEEDS = st.integers(0, 2**32)
KINDS = (Backend.KERNELS, Backend.TWIN)
WITHOUT_CLOCK = SearchBudget(seconds=None)


def random_table(seed: int, attributes: int) -> FrequencySet:
    """Return up to 25 rows of attributes with at most five numbers, some without rows."""
    random = np.random.default_rng(seed)
    sizes = random.integers(1, 6 if attributes < 4 else 4, attributes)
    rows = int(random.integers(1, 26))
    columns = [random.integers(0, size, rows) * int(random.integers(1, 3)) for size in sizes]
    return count_columns([number_hierarchy(f"q{i}", 12) for i in range(attributes)], columns)


def by_enumeration(table: FrequencySet, k: int, limit: int, cost: ClassCost) -> int | None:
    """Return the least C_DM, or the most classes below zero, over all sets of cuts, or None."""
    places = [np.unique(column, return_inverse=True)[1] for column in table.codes.T]
    best = None
    for starts in product(*(list(list_divisions(int(place.max()) + 1)) for place in places)):
        classes: dict[tuple[int, ...], int] = {}
        for t, rows in enumerate(table.counts.tolist()):
            shown = tuple(max(s for s in cut if s <= p[t]) for cut, p in zip(starts, places, strict=True))
            classes[shown] = classes.get(shown, 0) + rows
        failing = sum(rows for rows in classes.values() if rows < k)
        if failing <= limit:
            kept = [rows for rows in classes.values() if rows >= k]
            squares = sum(rows * rows for rows in kept) + failing * table.rows
            found = squares if cost is ClassCost.C_DM else -len(kept)
            best = found if best is None else min(best, found)
    return best


@pytest.mark.parametrize("evaluator", KINDS)
@pytest.mark.parametrize("attributes", [1, 2, 3, 4])
@given(seed=SEEDS, k=st.integers(1, 6), limit=st.sampled_from([0, 0, 1, 4, 30]))
@hypothesis_settings(max_examples=some_of(12), deadline=None)
def test_optimal_division_is_the_least_of_all_sets_of_cuts(
    attributes: int, evaluator: Backend, seed: int, k: int, limit: int
) -> None:
    table = random_table(seed, attributes)
    for cost in ClassCost if limit == 0 else (ClassCost.C_DM,):
        least = by_enumeration(table, k, limit, cost)
        options = {"limit": limit, "cost": cost, "budget": WITHOUT_CLOCK, "evaluator": evaluator}
        if least is None or (table.rows < k and table.rows > limit):
            with pytest.raises(NoSolution):
                find_optimal_single(table, Requirement(k), **options)
            continue
        found = find_optimal_single(table, Requirement(k), **options)
        expected = least if cost is ClassCost.C_DM else table.rows / max(-least, 1) / k
        assert (found.status, found.value, found.bound) == (OPTIMAL_STATUS, expected, expected)
        assert find_inadmissibility(found.recoding, table) is None
        assert found.recoding.suppressed <= limit


@given(seed=SEEDS, k=st.integers(1, 5), nodes=st.integers(0, 6), limit=st.sampled_from([0, 3]))
@hypothesis_settings(max_examples=some_of(60), deadline=None)
def test_small_budget_ends_with_a_bound_below_the_optimum(seed: int, k: int, nodes: int, limit: int) -> None:
    """For any budget, bound ≤ optimum ≤ value, and the status is ``optimal`` only if they are equal."""
    table = random_table(seed, 4)
    least = by_enumeration(table, k, limit, ClassCost.C_DM)
    if least is None:
        return
    found = find_optimal_single(
        table, Requirement(k), limit=limit, budget=SearchBudget(seconds=0.0, nodes=nodes)
    )
    assert found.bound <= least <= found.value
    assert (found.status == OPTIMAL_STATUS) == (found.bound == found.value)


def test_unproven_division_reports_its_gap() -> None:
    table = synthetic(5)
    found = find_optimal_single(table, Requirement(5), budget=SearchBudget(seconds=None, nodes=10))
    assert found.status.startswith("gap ")
    assert float(found.status.removeprefix("gap ").removesuffix(" %")) / 100 >= found.gap > 0.1
    assert found.bound > 5 * table.rows, "more is proven than that every class has k rows"


def test_optimal_cost_never_falls_as_k_grows() -> None:
    for seed in range(8):
        table = random_table(seed, 3)
        for cost in ClassCost:
            ks = range(1, min(table.rows, 9))
            found = [find_optimal_single(table, Requirement(k), cost=cost, budget=WITHOUT_CLOCK) for k in ks]
            assert {f.status for f in found} <= {OPTIMAL_STATUS}
            in_classes = [
                f.value if cost is ClassCost.C_DM else f.value * k for f, k in zip(found, ks, strict=True)
            ]
            assert in_classes == sorted(in_classes)


def synthetic(attributes: int) -> FrequencySet:
    """Return the Mondrian paper's normal table."""
    return draw_table(attributes, 8, 10_000, column_spreads(8, 0.2)[1], 3.5, 1)


@pytest.mark.parametrize(
    ("attributes", "k", "least"), [(2, 50, 3_463_276), (3, 10, 875_500), (3, 50, 1_370_148)]
)
def test_optimum_of_the_papers_tables_is_proven(attributes: int, k: int, least: int) -> None:
    """The optimum of the paper's tables is proven.

    For three attributes and k = 50, a separate enumeration found 1,370,148, and the greedy 1,730,520.
    """
    found = find_optimal_single(synthetic(attributes), Requirement(k), budget=WITHOUT_CLOCK)
    assert (found.status, found.value) == (OPTIMAL_STATUS, least)
    assert sizes_of(found.recoding).discernibility == least


def test_start_of_five_attributes_is_at_most_the_cost_found_in_six_seconds() -> None:
    found = find_optimal_single(synthetic(5), Requirement(5), budget=SearchBudget(seconds=None, nodes=0))
    assert found.value <= 205_556


def test_earlier_division_can_start_the_search() -> None:
    """An earlier division can start the search.

    A 10-anonymous division is 5-anonymous, so the cost at k = 5 is no larger, even without searching.
    """
    table = synthetic(4)
    larger = find_optimal_single(table, Requirement(10), budget=WITHOUT_CLOCK)
    found = find_optimal_single(
        table, Requirement(5), budget=SearchBudget(seconds=0.0, nodes=0), start=larger.division
    )
    assert found.value <= larger.value


def test_optimal_division_in_json() -> None:
    found: OptimalPartitioning = find_optimal_single(synthetic(2), Requirement(50), budget=WITHOUT_CLOCK)
    document = found.as_json()
    assert (document["method"], document["cost"], document["status"], document["gap"]) == (
        "optimal",
        "c-dm",
        OPTIMAL_STATUS,
        0.0,
    )


@pytest.mark.parametrize(
    ("requirement", "limit", "cost", "message"),
    [
        (Requirement(2, 2), 0, ClassCost.C_DM, "the optimal division for k=2, l=2"),
        (Requirement(2), 1, ClassCost.C_AVG, "c-avg does not count suppressed rows"),
    ],
)
def test_optimal_division_refuses_unsupported_problems(
    requirement: Requirement, limit: int, cost: ClassCost, message: str
) -> None:
    table = random_frequency_set(
        np.random.default_rng(1), attributes=2, height=2, leaves=5, rows=20, sensitive=1
    )
    with pytest.raises(InputError) as raised:
        find_optimal_single(table, requirement, limit=limit, cost=cost)
    assert raised.value.message.startswith(message)


@given(seed=SEEDS, k=st.integers(1, 6), limit=st.integers(0, 6), averages=st.booleans())
@hypothesis_settings(max_examples=some_of(100), deadline=None)
def test_kernels_of_pairs_equal_their_twins(seed: int, k: int, limit: int, averages: bool) -> None:
    random = np.random.default_rng(seed)
    classes, wide, high = random.integers(1, 5, 3).tolist()
    counts = random.integers(0, 4, (classes, wide, high))
    penalty, limit = (0, 0) if averages else (int(counts.sum()) + 1, limit)
    costs = np.empty((wide * (wide + 1) // 2, high * (high + 1) // 2), np.int64)
    fails = np.empty_like(costs)
    compute_pair_costs(counts, k, penalty, costs, fails)
    plain = compute_pair_costs_twin(counts, k, penalty)
    assert (costs.tolist(), fails.tolist()) == (plain[0].tolist(), plain[1].tolist())
    x, y = np.zeros(wide, np.bool_), np.zeros(high, np.bool_)
    best, lower, _ = divide_pair(costs, fails, wide, high, limit, INFEASIBLE_COST, 10**6, x, y)
    least, *_ = divide_pair_twin(costs, fails, wide, high, limit, INFEASIBLE_COST)
    assert best == lower == least
    _, cut_short, _ = divide_pair(costs, fails, wide, high, limit, INFEASIBLE_COST, 1, x, y)
    assert cut_short <= least


def test_too_many_suppression_choices_end_with_a_gap() -> None:
    """With more suppression choices than the search keeps separately, it ends with a gap.

    There are few rows of each value, and any of them may be suppressed.
    """
    random = np.random.default_rng(3)
    columns = [random.integers(0, size, 600) for size in (150, 3)]
    table = count_columns([number_hierarchy("X", 150), number_hierarchy("Y", 3)], columns)
    found = find_optimal_single(
        table, Requirement(5), limit=300, budget=SearchBudget(seconds=None, nodes=200)
    )
    assert found.bound <= found.value
    assert found.recoding.suppressed <= 300
