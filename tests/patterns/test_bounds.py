"""The price bound: never above the optimum, never below the counting bound, with a certificate."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from discreet.model.class_recoding import PatternConstraints
from discreet.model.requirement import Requirement
from discreet.patterns.components import (
    bound_by_prices,
    bound_component_by_prices,
    compute_row_prices,
    reduce_cover,
)
from discreet.patterns.exact import solve_exactly
from discreet.patterns.exact_problem import build_pattern_table, find_cells
from discreet.patterns.greedy_assignment import compute_lower_bound
from discreet.patterns.integer_program import IntegerProgram, bound_by_cheapest_cells
from discreet.patterns.masks import build_mask_from_constraints, build_mask_from_vectors
from discreet.settings import Settings
from tests.drawing import some_of
from tests.oracle.starred_tables import starred_file, starred_frequency_set


@pytest.mark.parametrize("seed", range(some_of(12)))
def test_any_k_rows_of_a_cell_are_worth_at_most_what_they_cost(seed: int, settings: Settings) -> None:
    random = np.random.default_rng(seed)
    rows = [tuple(str(v) for v in random.integers(0, 3, size=3)) for _ in range(14)]
    table = starred_frequency_set(rows, ("a", "b", "c"))
    weights = {"a": 1.0, "b": 2.0, "c": 1.5}
    mask = build_mask_from_vectors(table, ["..*", ".*.", "*.."], settings, weights=weights)
    k = int(random.integers(2, 4))
    steps, _ = build_pattern_table(table, mask)
    assert (steps.steps, steps.outlier_cost) == (2, 9)
    for component in reduce_cover(find_cells(steps, k, 10**9), steps.counts).components:
        prices = compute_row_prices(component, k, steps.outlier_cost)
        assert (prices <= steps.outlier_cost * 65_536).all()
        for cell, cost in enumerate(component.costs):
            members = component.types[component.pair_cells == cell]
            each = [int(prices[i]) for i in members for _ in range(component.rows[i])]
            assert all(sum(chosen) <= k * cost * 65_536 for chosen in combinations(each, k))
        program = IntegerProgram(k, steps.outlier_cost)
        assert (
            bound_component_by_prices(component, k, steps.outlier_cost)
            >= bound_by_cheapest_cells(component, program) - 1
        )
    optimum = solve_exactly(table, mask, Requirement(k=k), settings)
    assert bound_by_prices(table, mask, Requirement(k=k), settings) <= optimum.cost


def test_prices_beat_counting_on_cmc(data_dir: Path, settings: Settings) -> None:
    table = starred_file(data_dir / "cmc" / "cmc.csv")
    mask = build_mask_from_constraints(table, PatternConstraints(max_stars=2), settings)
    asked = Requirement(k=5)
    counting = compute_lower_bound(table, mask, asked)
    prices = bound_by_prices(table, mask, asked, settings)
    assert counting < prices <= 8065
    assert prices > 0.94 * 8065
    assert bound_by_prices(table, mask, asked, settings, time_limit=1e-9) <= prices
