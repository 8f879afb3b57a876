"""Patterns under k, l and a share: the greedy equals the plain one, its bound holds, exact methods refuse."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from discreet.errors import InputError, NoSolution
from discreet.model.class_recoding import OUTLIER, PatternConstraints, PatternMask, TieBreak
from discreet.model.frequency_set import FrequencySet
from discreet.model.requirement import Requirement
from discreet.patterns.components import bound_by_prices
from discreet.patterns.exact import solve_exactly
from discreet.patterns.fixed_parameter import solve_by_subsets
from discreet.patterns.greedy_assignment import compute_lower_bound, solve_greedily
from discreet.patterns.masks import build_mask_from_constraints
from discreet.patterns.two_anonymity import solve_two_anonymity
from discreet.settings import Settings
from tests.criteria_of_tests import Share
from tests.drawing import some_of
from tests.oracle.plain_criteria import MostRows, fails, random_criteria
from tests.oracle.plain_patterns import cheapest_cost, plain_greedy
from tests.oracle.random_tables import random_frequency_set


def holds_of(table: FrequencySet, requirement: Requirement) -> Callable[[list[int]], bool]:
    return lambda members: not fails(table, members, requirement)


@pytest.mark.parametrize("tie", [TieBreak.LAST_COLUMN_FIRST, TieBreak.FIRST_COLUMN_FIRST])
def test_the_greedy_is_the_plain_one(tie: TieBreak, settings: Settings) -> None:
    made = 0
    for seed in range(some_of(60)):
        random = np.random.default_rng(seed)
        table = random_frequency_set(random, attributes=3, height=2, leaves=4, rows=30, sensitive=2)
        requirement = random_criteria(random, table)
        mask = build_mask_from_constraints(table, PatternConstraints(levels=seed % 2 == 0), settings)
        nodes = [tuple(mask.levels[place].tolist()) for place in mask.order(tie)]
        expected = plain_greedy(table, nodes, holds_of(table, requirement))
        if all(node is None for node in expected):
            if expected:
                with pytest.raises(NoSolution):
                    solve_greedily(table, mask, requirement, settings, tie=tie)
            continue
        found = solve_greedily(table, mask, requirement, settings, tie=tie)
        ours = [None if p == OUTLIER else tuple(mask.levels[p].tolist()) for p in found.pattern_of.tolist()]
        assert ours == expected
        assert found.bound is not None
        assert found.bound <= found.cost + 1e-9
        made += 1
    assert made > 10


def placed(table: FrequencySet, nodes: list[tuple[int, ...]], holds: Callable[[list[int]], bool]) -> int:
    found = plain_greedy(table, nodes, holds)
    return sum(int(n) for n, node in zip(table.counts, found, strict=True) if node is not None)


def test_best_looks_again_where_leaving_rows_help(settings: Settings) -> None:
    for seed in range(some_of(25)):
        random = np.random.default_rng(seed)
        table = random_frequency_set(random, attributes=3, height=1, leaves=3, rows=20, sensitive=1)
        requirement = random_criteria(random, table)
        holds = holds_of(table, requirement)
        mask = build_mask_from_constraints(table, PatternConstraints(), settings)
        nodes = [tuple(node) for node in mask.levels.tolist()]
        taken = _most_rows_first(table, mask, nodes, holds)
        expected = plain_greedy(table, taken, holds)
        if any(node is not None for node in expected):
            found = solve_greedily(table, mask, requirement, settings, tie=TieBreak.BEST)
            assert [None if p == OUTLIER else nodes[p] for p in found.pattern_of.tolist()] == expected


def _most_rows_first(
    table: FrequencySet,
    mask: PatternMask,
    nodes: list[tuple[int, ...]],
    holds: Callable[[list[int]], bool],
) -> list[tuple[int, ...]]:
    """Choose, among patterns of equal cost, the one that places most rows, until none places any."""
    todo, taken = mask.order(TieBreak.LAST_COLUMN_FIRST).tolist(), []
    while todo:
        equal = [p for p in todo if mask.cost_ranks[p] == mask.cost_ranks[todo[0]]]
        rows = {p: placed(table, [*taken, nodes[p]], holds) for p in equal}
        best = max(equal, key=lambda p: (rows[p], -equal.index(p)))
        if rows[best] == placed(table, taken, holds):
            todo = [p for p in todo if p not in equal]
            continue
        taken.append(nodes[best])
        todo.remove(best)
    return taken


def test_the_bound_is_below_every_assignment(settings: Settings) -> None:
    for seed in range(some_of(80)):
        random = np.random.default_rng(seed)
        table = random_frequency_set(random, attributes=2, height=2, leaves=3, rows=7, sensitive=1)
        if table.row_types > 5 or not table.rows:
            continue
        requirement = random_criteria(random, table)
        mask = build_mask_from_constraints(table, PatternConstraints(levels=seed % 2 == 0), settings)
        best = cheapest_cost(table, mask, holds_of(table, requirement))
        assert compute_lower_bound(table, mask, requirement) <= best + 1e-9


def a_case(settings: Settings) -> tuple[FrequencySet, PatternMask]:
    table = random_frequency_set(
        np.random.default_rng(8), attributes=3, height=2, leaves=4, rows=30, sensitive=2
    )
    return table, build_mask_from_constraints(table, PatternConstraints(), settings)


@pytest.mark.parametrize("solve", [solve_exactly, solve_by_subsets, solve_two_anonymity, bound_by_prices])
def test_exact_methods_take_k_alone(solve: Callable[..., object], settings: Settings) -> None:
    table, mask = a_case(settings)
    with pytest.raises(InputError, match=r"the exact solution for k=2, share=0.9") as error:
        solve(table, mask, Requirement(2, criteria=[Share(0.9)]), settings)
    assert error.value.advice == "Use the greedy for other requirements."


def test_what_is_not_monotone_is_refused(settings: Settings) -> None:
    table, mask = a_case(settings)
    with pytest.raises(InputError, match=r"most-rows=9 of a search that makes classes"):
        solve_greedily(table, mask, Requirement(2, criteria=[MostRows(9)]), settings)
