"""Groups of people with several rows, checked by enumerating all partitions and choices of people."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from discreet.errors import InputError, NoSolution, RequirementNotMet
from discreet.model.release_kind import NULL_CODE, SensitiveColumn
from discreet.permutation.partition_strategies import PartitionStrategy
from discreet.permutation.partitions import partition_rows
from discreet.permutation.subject_groups import matching_sizes
from tests.drawing import some_of
from tests.oracle.plain_groups import set_partitions
from tests.permutation.partition_errors import sum_of_errors
from tests.permutation.test_partitions import categories, group_requirement, numbers_column

STRATEGIES = ("min-sum", "random")


def most_people(rows: list[tuple[int, int]]) -> int:
    """Return the most (person, value) rows of which no two share a person or a value, by trying all sets."""
    best = 0
    for chosen in product((False, True), repeat=len(rows)):
        picked = [row for row, taken in zip(rows, chosen, strict=True) if taken]
        if len({p for p, _ in picked}) == len({v for _, v in picked}) == len(picked):
            best = max(best, len(picked))
    return best


def least(rows: list[tuple[int, int]], k: int, e: int) -> tuple[int, int] | None:
    """Return the least sum of ranges over all partitions of the rows, or None if there is none."""
    found = []
    for places in set_partitions(list(range(len(rows)))):
        groups = [[rows[place] for place in group] for group in places]
        spans = [max(v for _, v in g) - min(v for _, v in g) for g in groups]
        if min(spans) >= e and all(most_people(g) >= k for g in groups):
            found.append(sum(spans))
    return min(found, default=None)


def drawn(seed: int, rows: int = 6) -> tuple[SensitiveColumn, list[tuple[int, int]]]:
    random = np.random.default_rng(seed)
    people, values = random.integers(0, 4, rows), random.integers(0, 6, rows)
    column = replace(numbers_column(values), subjects=people)
    return column, list(zip(people.tolist(), values.tolist(), strict=True))


@pytest.mark.parametrize("seed", range(some_of(40)))
def test_least_sum_is_that_of_all_partitions(seed: int) -> None:
    column, rows = drawn(seed)
    e = seed % 3
    best = least(rows, 2, e)
    if best is None:
        with pytest.raises(NoSolution):
            partition_rows(column, group_requirement(2, e))
        return
    found = partition_rows(column, group_requirement(2, e))
    assert (found.error, found.optimal) == (best, True) == (sum_of_errors(column, found.groups), True)
    for group in range(found.group_count):
        assert most_people([rows[i] for i in np.flatnonzero(found.groups == group)]) >= 2


def test_matchings_of_groups_are_those_of_all_choices() -> None:
    random = np.random.default_rng(5)
    for _ in range(some_of(30)):
        groups, people, values = (random.integers(0, size, 14) for size in (2, 5, 5))
        found = matching_sizes(groups, values, people, 2)
        for group in range(2):
            own = {(int(people[i]), int(values[i])) for i in np.flatnonzero(groups == group)}
            assert found[group] == most_people(sorted(own))


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("numbers", [True, False])
def test_every_group_has_k_people(strategy: str, numbers: bool) -> None:
    random = np.random.default_rng(3)
    people, codes = random.integers(0, 25, 90), random.integers(0, 12, 90)
    column = numbers_column(codes) if numbers else categories("".join("abcdefghijkl"[c] for c in codes))
    nulls = np.insert(column.codes, [0, 40], NULL_CODE)
    column = replace(column, codes=nulls, subjects=np.insert(people, [0, 40], [7, 3]))
    found = partition_rows(column, group_requirement(3), strategy)
    assert found.group_count > 1
    assert any("minimality" in warning for warning in found.warnings)
    for group in range(found.group_count):
        own = np.flatnonzero((found.groups == group) & (column.codes >= 0))
        assert column.subjects is not None
        pairs = {(int(column.subjects[i]), int(column.codes[i])) for i in own}
        assert matching_sizes(np.zeros(len(pairs), np.int64), *(np.array(list(pairs)).T[::-1]), 1)[0] >= 3


def test_classes_that_hold_one_person_are_refused_or_merged() -> None:
    column = replace(categories("abcab"), subjects=np.array([0, 0, 0, 1, 2]))
    classes = np.array([0, 0, 0, 1, 1])
    with pytest.raises(RequirementNotMet, match="1 of 2 classes, 3 rows"):
        partition_rows(column, group_requirement(2), "recoding", classes=classes)
    merged = partition_rows(column, group_requirement(2), "recoding", classes=classes, merge_failing=True)
    assert merged.group_count == 1


def test_five_values_of_one_person_are_not_a_group_of_five() -> None:
    column = replace(numbers_column(np.arange(5)), subjects=np.zeros(5, np.int64))
    with pytest.raises(NoSolution, match="at most 1 people"):
        partition_rows(column, group_requirement(2))


@pytest.mark.parametrize("strategy", ["min-max", "qi-aware", "weighted-min-sum", "contiguous-min-max"])
def test_partitions_that_count_rows_are_refused(strategy: str) -> None:
    column = replace(numbers_column(np.arange(4)), subjects=np.array([0, 1, 1, 2]))
    with pytest.raises(InputError, match="counts rows") as raised:
        partition_rows(
            column,
            group_requirement(2),
            PartitionStrategy(strategy),
            quasi_identifiers=np.zeros((4, 1), np.int64),
        )
    assert "min-sum, random, recoding" in str(raised.value)
