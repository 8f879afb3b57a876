"""Compiled kernels and their numpy twin agree on real data and on the parts they consist of."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st

from discreet.kernels.lattice_rotation import sort_ascending
from discreet.kernels.lattice_rotation_plan import (
    KEEP,
    ROLL_UP,
    ROTATE,
    TALLY,
    order_attributes,
    plan_rotation,
    split_tasks,
)
from discreet.kernels.matching import distinct_representatives
from discreet.kernels.packed_values import popcount
from discreet.lattice.evaluation import evaluate_lattice
from discreet.model.frequency_set import FrequencySet
from discreet.settings import Settings
from tests.drawing import some_of
from tests.oracle.plain_tables import frequency_set_of_rows, read_hierarchy, read_rows
from tests.oracle.random_tables import random_frequency_set


@pytest.mark.parametrize("diversity", [False, True])
def test_kernels_equal_the_twin_on_adult(
    adult_five: FrequencySet, diversity: bool, settings: Settings
) -> None:
    kernels, twin = (
        evaluate_lattice(adult_five, settings, diversity=diversity, evaluator=evaluator).histograms
        for evaluator in ("kernels", "twin")
    )
    assert np.array_equal(kernels.small[:, :33], twin.small[:, :33])
    assert np.array_equal(kernels.classes, twin.classes)
    for node in range(0, len(twin.classes), 7):
        assert kernels.of(node) == twin.of(node)
    thresholds = (10, 4) if diversity else (200,)
    assert np.array_equal(kernels.below(thresholds), twin.below(thresholds))


@pytest.fixture(scope="session")
def adult_five(data_dir: Path) -> FrequencySet:
    names = ("age", "marital_status", "occupation", "race", "sex")
    folder = data_dir / "adult" / "hierarchies_arx"
    people = read_rows(data_dir / "adult" / "adult_30162.csv")
    return frequency_set_of_rows(
        people, [read_hierarchy(folder / f"{name}.csv") for name in names], ["relationship"]
    )


@given(st.integers(0, 2**64 - 1))
def test_population_count_equals_the_number_of_bits(word: int) -> None:
    assert int(popcount(np.uint64(word))) == word.bit_count()


@given(st.lists(st.integers(0, 50), max_size=60))
def test_sort_ascending_equals_sorted(values: list[int]) -> None:
    array = np.array(values, np.uint64)
    sort_ascending(array)
    assert array.tolist() == sorted(values)


def matching_by_trial(pairs: list[tuple[int, int]]) -> int:
    best = 0

    def extend(rest: list[tuple[int, int]], subjects: set[int], values: set[int]) -> None:
        nonlocal best
        best = max(best, len(values))
        for i, (subject, value) in enumerate(rest):
            if subject not in subjects and value not in values:
                extend(rest[i + 1 :], subjects | {subject}, values | {value})

    extend(pairs, set(), set())
    return best


@examples(max_examples=some_of(300), deadline=None)
@given(st.sets(st.tuples(st.integers(0, 5), st.integers(0, 4)), max_size=10))
def test_distinct_representatives_equal_trial(pairs: set[tuple[int, int]]) -> None:
    assert distinct_representatives(sorted(pairs)) == matching_by_trial(sorted(pairs))


def test_representatives_need_subjects_of_their_own() -> None:
    assert distinct_representatives([(1, 1), (1, 2), (1, 3)]) == 1
    assert distinct_representatives([(1, 1), (1, 2), (2, 1), (3, 1)]) == 2


@examples(max_examples=some_of(100), deadline=None)
@given(st.integers(0, 2**32), st.integers(1, 40))
def test_tasks_tally_every_node_once(seed: int, at_least: int) -> None:
    table = random_frequency_set(
        np.random.default_rng(seed), attributes=5, height=3, leaves=5, rows=30, sensitive=0
    )
    if not table.row_types:
        return
    plan = plan_rotation(
        table.codes, table.counts, [[h.level_map(l) for l in range(h.height + 1)] for h in table.hierarchies]
    )
    tail = plan.tail
    offsets = [0]
    for position in range(tail.head, len(plan.order)):
        steps = [level * plan.strides[position] for level in range(len(plan.steps[position]))]
        offsets = [a + b for a in offsets for b in steps]
    programs = np.concatenate([task.program for task in split_tasks(plan, at_least)])
    lowest = programs[programs[:, 0] == TALLY, 2]
    assert sorted(int(low) + o for low in lowest for o in offsets) == list(range(plan.nodes))
    assert set(programs[:, 0].tolist()) <= {KEEP, ROLL_UP, ROTATE, TALLY}


def test_order_ends_with_binary_attributes_and_the_outer_one() -> None:
    order, tail = order_attributes([5, 2, 2, 3, 2], [100, 2, 5, 7, 2])
    assert order == (0, 3, 1, 4, 2)
    assert (tail.head, tail.cells, tail.outer) == (2, 2, 4)
    assert order_attributes([2], [2])[1].cells == 0


def test_fields_never_cross_a_word() -> None:
    codes = np.stack([np.arange(1000)] * 8, axis=1)
    maps = [[np.arange(1000), np.zeros(1000, np.int64)]] * 8
    plan = plan_rotation(codes, np.ones(1000, np.int64), maps)
    assert plan.words == 2
    assert all(shift + bits <= 64 for shift, bits in zip(plan.shift, plan.bits, strict=True))
