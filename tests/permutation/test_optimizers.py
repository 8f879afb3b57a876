"""The three optimizers, checked against every partition of thousands of small multisets."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from decimal import Decimal
from itertools import combinations_with_replacement

import numpy as np
import pytest

from discreet.errors import NoSolution
from discreet.model.release_kind import GroupPartition, GroupRequirement, SensitiveColumn
from discreet.model.request import Backend
from discreet.permutation.optimal_partitions import (
    GroupNeed,
    PartitionLoops,
    part_ranges,
    partition_contiguous_least_maximum,
    partition_least_maximum,
    partition_least_sum,
    partition_least_weighted_sum,
)
from discreet.permutation.partitions import partition_rows
from discreet.permutation.value_runs import ValueParts, ValueRuns
from tests.drawing import some_of
from tests.oracle.plain_groups import (
    Demand,
    best_cuts,
    best_partition,
    by_maximum,
    by_sum,
    by_weight,
    meets,
    set_partitions,
)

Case = tuple[list[int], Demand, Demand]
Best = tuple[int, ...] | None


def column_of(values: list[int], scale: int = 0) -> SensitiveColumn:
    numbers, codes = np.unique(np.array(values, dtype=np.int64), return_inverse=True)
    return SensitiveColumn("pay", codes.astype(np.int64), len(numbers), numbers, scale)


def members(values: list[int], found: GroupPartition) -> list[list[int]]:
    groups: list[list[int]] = [[] for _ in range(found.group_count)]
    for value, group in zip(values, found.groups.tolist(), strict=True):
        groups[group].append(value)
    return groups


def rows_of(runs: ValueRuns, parts: ValueParts) -> list[list[int]]:
    units = runs.integers
    groups: list[list[int]] = [[] for _ in range(parts.group_count)]
    for value, group, rows in zip(
        *(c.tolist() for c in (parts.values, parts.groups, parts.rows)), strict=True
    ):
        groups[group] += [units[value]] * rows
    return groups


def cases(count: int, seed: int, most: int = 8) -> Iterator[Case]:
    """Yield ties, duplicates, negative numbers, gaps, e = 0 and larger, and unsatisfiable demands."""
    drawn = random.Random(seed)
    for _ in range(count):
        size = drawn.randint(1, most)
        spread = drawn.choice((2, 4, 6, 9, 14, 40))
        values = [drawn.randint(-spread, spread) for _ in range(size)]
        demand = (drawn.choice((2, 2, 2, 3, 3, 4)), drawn.choice((0, 0, 1, 2, 3, 5, 9)))
        yield values, demand, demand


def cases_with_first(count: int, seed: int) -> Iterator[Case]:
    """Yield ``cases`` whose first group requires more or less than the others."""
    drawn = random.Random(seed)
    for values, demand, _ in cases(count, seed, 7):
        yield values, demand, (drawn.randint(1, 4), drawn.choice((0, 1, 2, 4, 7)))


def need_of(demand: Demand, first: Demand) -> GroupNeed:
    return GroupNeed(*demand, *first)


def test_oracle_equals_the_best_of_all_partitions() -> None:
    for values, demand, _ in cases(60, 5, 6):
        valid = [p for p in set_partitions(sorted(values)) if all(meets(group, demand) for group in p)]
        assert best_partition(values, demand, demand, "sum") == min(map(by_sum, valid), default=None)
        widest = [(max(max(g) - min(g) for g in p),) for p in valid]
        assert best_partition(values, demand, demand, "max") == min(widest, default=None)


STRATEGIES: dict[str, tuple[Callable[[Case], Best], Callable[[list[list[int]]], tuple[int, ...]]]] = {
    "min-sum": (lambda case: best_partition(*case, "sum"), by_sum),
    "min-max": (lambda case: best_partition(*case, "max"), lambda groups: by_maximum(groups)[:1]),
    "contiguous-min-max": (lambda case: best_cuts(*case, by_maximum), by_maximum),
}
"""Optimum of each strategy by enumeration, with ties, and the value of its partition."""


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_optimizer_small_columns_equals_enumeration(strategy: str) -> None:
    """Min-max also equals the best cuts, with ties, if contiguous groups reach its maximum."""
    optimum, value_of = STRATEGIES[strategy]
    solved = overlapping = 0
    for values, demand, first in cases(700, 1):
        best = optimum((values, demand, first))
        requirement = GroupRequirement(demand[0], Decimal(demand[1]))
        if best is None:
            with pytest.raises(NoSolution):
                partition_rows(column_of(values), requirement, strategy)
            continue
        found = partition_rows(column_of(values), requirement, strategy)
        groups = members(values, found)
        assert all(meets(group, demand) for group in groups)
        assert value_of(groups) == best, (values, demand)
        assert found.error == best[0]
        assert found.optimal
        solved += 1
        if strategy == "min-max":
            cut = best_cuts(values, demand, first, by_maximum)
            assert cut is not None
            overlapping += cut[0] > best[0]
            assert cut[0] > best[0] or by_maximum(groups) == cut
    assert solved > 230
    assert strategy != "min-max" or overlapping > 10


def error_of(values: Sequence[int], demand: Demand, strategy: str) -> int:
    """Return the largest range of the groups that a strategy makes."""
    found = partition_rows(column_of(list(values)), GroupRequirement(demand[0], Decimal(demand[1])), strategy)
    assert found.error is not None
    return found.error


@pytest.mark.parametrize("demand", [(2, 2), (2, 3), (3, 4)])
def test_groups_of_neighbours_err_less_than_twice_the_optimum(demand: Demand) -> None:
    """Contiguous groups have less than twice the optimal error (Zhang et al. 2007, Problems 2 and 4).

    Checked on every multiset of six small values.
    """
    worse = 0
    for values in combinations_with_replacement(range(6), 6):
        best = best_partition(values, demand, demand, "max")
        if best is None:
            continue
        cut = error_of(values, demand, "contiguous-min-max")
        assert best[0] <= cut < 2 * best[0], values
        worse += cut > best[0]
    assert worse > 0


def test_groups_of_neighbours_may_approach_twice_the_optimum() -> None:
    """The factor of two is approached: {0, e} and {e - 1, 2e - 1} overlap, and no cut gives ranges of e."""
    for e in (2, 5, 10, 1_000):
        values, demand = [0, e - 1, e, 2 * e - 1], (2, e)
        assert error_of(values, demand, "min-max") == e
        assert error_of(values, demand, "contiguous-min-max") == 2 * e - 1


def test_weighted_sum_equals_the_least_over_all_cuts() -> None:
    """The weighted sum is the least over all contiguous partitions; overlapping ones may weigh less."""
    for values, demand, first in [*cases(800, 7), *cases_with_first(500, 8)]:
        if not meets(values, first):
            continue
        runs = ValueRuns.of(column_of(values))
        parts, cost = partition_least_weighted_sum(runs, need_of(demand, first), PartitionLoops(False))
        groups = rows_of(runs, parts)
        assert by_weight(groups) == best_cuts(values, demand, first, by_weight) == (cost,), (values, demand)
        assert meets(groups[0], first)
        assert all(meets(group, demand) for group in groups[1:])
    assert (
        partition_rows(column_of([1, 2, 3, 4]), GroupRequirement(2, Decimal(2)), "weighted-min-sum").error
        == 12
    )


def test_small_ring_buffer_grows(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = random.Random(13)
    for _ in range(some_of(80)):
        values = [drawn.randint(0, 30) for _ in range(drawn.randint(20, 120))]
        demand = (drawn.choice((2, 5)), drawn.choice((0, 4, 15)))
        if not meets(values, demand):
            continue
        runs, found = ValueRuns.of(column_of(values)), []
        for ring in (4, 1 << 14):
            monkeypatch.setattr("discreet.permutation.optimal_partitions._RING_SIZE", ring)
            monkeypatch.setattr("discreet.permutation.optimal_partitions._RING_GROWTH", 2)
            found.append(
                partition_least_sum(runs, need_of(demand, demand), PartitionLoops(False))[0].rows.tolist()
            )
        assert found[0] == found[1]


def test_first_group_may_have_its_own_requirement() -> None:
    """A first group with its own demand, more or less than the others (Problem 3 of the paper)."""
    solved = 0
    for values, demand, first in cases_with_first(700, 6):
        if not meets(values, first):
            continue
        runs, need, loops = ValueRuns.of(column_of(values)), need_of(demand, first), PartitionLoops(False)
        parts, total = partition_least_sum(runs, need, loops)
        best = best_partition(values, demand, first, "sum")
        assert best is not None
        assert by_sum(rows_of(runs, parts)) == best, (values, demand, first)
        assert total == best[0]
        parts, widest = partition_contiguous_least_maximum(runs, need, loops)
        assert by_maximum(rows_of(runs, parts)) == best_cuts(values, demand, first, by_maximum)
        parts, widest = partition_least_maximum(runs, need, loops)
        best = best_partition(values, demand, first, "max")
        assert best is not None
        assert widest == max(part_ranges(runs, parts)) == best[0], (values, demand, first)
        assert sum(parts.rows) == len(values)
        solved += 1
    assert solved > 230


def test_longer_columns_with_overlaps_are_at_most_the_best_cut() -> None:
    """On columns too long to enumerate all partitions, min-max is valid and at most the best cut."""
    drawn = random.Random(9)
    better = 0
    for _ in range(some_of(150)):
        values = [drawn.randint(0, drawn.choice((6, 12, 30))) for _ in range(drawn.randint(8, 12))]
        demand = (drawn.choice((2, 3)), drawn.choice((0, 2, 4)))
        if not meets(values, demand):
            continue
        best = best_cuts(values, demand, demand, by_maximum)
        found = partition_rows(column_of(values), GroupRequirement(demand[0], Decimal(demand[1])), "min-max")
        groups = members(values, found)
        assert best is not None
        assert all(meets(group, demand) for group in groups)
        assert max(max(group) - min(group) for group in groups) == found.error
        assert found.error is not None
        assert found.error <= best[0]
        better += found.error < best[0]
    assert better


def test_kernels_and_their_twins_make_the_same_partitions() -> None:
    drawn = random.Random(11)
    for _ in range(some_of(25)):
        size = drawn.randint(2, 60)
        values = [drawn.randint(-40, 40) * drawn.choice((1, 1, 1000)) for _ in range(size)]
        demand = (drawn.choice((2, 3, 5)), drawn.choice((0, 3, 50)))
        if not meets(values, demand):
            continue
        column, requirement = column_of(values), GroupRequirement(demand[0], Decimal(demand[1]))
        for strategy in ("min-sum", "min-max", "contiguous-min-max", "weighted-min-sum", "random"):
            results = [
                partition_rows(
                    column,
                    requirement,
                    strategy,
                    draw=np.random.default_rng(3).permutation,
                    evaluator=backend,
                )
                for backend in (Backend.TWIN, Backend.KERNELS)
            ]
            assert results[0].error == results[1].error
            assert results[0].groups.tolist() == results[1].groups.tolist()


def test_kernels_and_their_twins_agree_on_many_rows_of_few_values() -> None:
    """Kernels and twins agree on groups that need more rows than the initial ring buffer holds."""
    random_values = np.random.default_rng(5)
    values = np.concatenate([np.zeros(21_000, np.int64), random_values.integers(1, 40, 9_000)]).tolist()
    for strategy in ("min-sum", "weighted-min-sum"):
        one, two = (
            partition_rows(
                column_of(values),
                GroupRequirement(3, Decimal(4)),
                strategy,
                draw=np.random.default_rng(3).permutation,
                evaluator=backend,
            )
            for backend in (Backend.TWIN, Backend.KERNELS)
        )
        assert one.error == two.error
        assert one.groups.tolist() == two.groups.tolist()
