"""Counted nodes and their importance, checked against the oracle and against sorting all nodes."""

from __future__ import annotations

from fractions import Fraction
from itertools import islice, product
from math import ceil

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.errors import InputError
from discreet.measures.grouping_power import GroupingPower, ImportanceMetric, grouping_power, level_importance
from discreet.model.frequency_set import FrequencySet
from discreet.model.lattice import Lattice, LatticeNode, tie_break_key
from discreet.negotiation.partial_lattice import (
    NodeCounter,
    compute_level_statistics,
    count_nodes_by_height,
    histogram_bytes,
    parse_metric,
    parse_percentage,
    prepare_partial_lattice,
    rank_nodes_of_height,
    select_most_important,
    stack_histograms,
)
from tests.drawing import some_of
from tests.negotiation.conftest import table_and_request
from tests.oracle.brute_lattice import BruteLattice
from tests.oracle.naive_partial import score_of


@settings(max_examples=some_of(60), deadline=None)
@given(st.integers(0, 2**32), st.booleans())
def test_histograms_in_any_order_equal_the_oracle(seed: int, subjects: bool) -> None:
    table, request = table_and_request(seed, subjects=subjects)
    brute, counter = BruteLattice(table), NodeCounter(table)
    every = list(brute.lattice.nodes())
    nodes = [every[i] for i in np.random.default_rng(seed).permutation(len(every))]
    histograms = []
    for node in nodes:
        found = counter.histogram(node)
        histograms.append(found)
        signatures = map(tuple, found.signatures.T.tolist())
        assert dict(zip(signatures, found.rows.tolist(), strict=True)) == brute.histogram(node)
        assert found.classes == counter.classes(node)
    assert counter.counted == 2 * brute.lattice.size
    stacked = stack_histograms(
        histograms, len(table.sensitive), table.rows, by_subject=table.subjects is not None
    )
    requirement = request.requirement
    thresholds = (requirement.k, *requirement.l_of(table.sensitive_attributes))
    expected = [brute.suppressed(node, requirement) for node in nodes]
    assert stacked.below(thresholds).tolist() == expected
    assert [stacked.below_at(i, thresholds) for i in range(len(nodes))] == expected
    counts = dict(zip(every, brute.classes().tolist(), strict=True))
    assert stacked.classes.tolist() == [counts[node] for node in nodes]


def many_small_classes() -> FrequencySet:
    return table_and_request(11)[0]


def test_counter_without_cache_gives_equal_histograms() -> None:
    table = many_small_classes()
    brute = BruteLattice(table)
    keeping, forgetting = NodeCounter(table), NodeCounter(table, cache_bytes=0)
    for node in 2 * list(brute.lattice.nodes()):
        assert keeping.histogram(node).rows.tolist() == forgetting.histogram(node).rows.tolist()
    assert keeping._classes.counted < forgetting._classes.counted == 2 * brute.lattice.size


def test_large_classes_are_listed_beyond_the_dense_sizes() -> None:
    """Large classes are listed beyond the dense sizes: of 200 and 3 rows, k = 4 to 200 suppresses three."""
    table = many_small_classes()
    one = FrequencySet(
        table.hierarchies, table.codes[:2], np.array([200, 3], dtype=np.int64), table.sensitive[:0]
    )
    bottom = (0,) * len(table.hierarchies)
    stacked = stack_histograms([NodeCounter(one).histogram(bottom)], 0, 203, by_subject=False)
    found = [stacked.below((k,))[0] for k in (3, 4, 65, 66, 200, 201)]
    assert found == [0, 3, 3, 3, 3, 203]
    assert stacked.largest(0, (None,), (0,), 3) == 200
    assert stacked.nbytes <= 2 * histogram_bytes(one)


@settings(max_examples=some_of(40), deadline=None)
@given(st.integers(0, 2**32))
def test_level_statistics_equal_those_of_the_whole_lattice(seed: int) -> None:
    table, _ = table_and_request(seed)
    brute, counter = BruteLattice(table), NodeCounter(table)
    found = compute_level_statistics(table, counter)
    assert found == grouping_power(brute.lattice, brute.rows, brute.classes())
    assert counter.counted == sum(brute.lattice.heights) + 1


@pytest.mark.parametrize("k", [1, 2, 5])
def test_empty_table_suppresses_none(k: int) -> None:
    table = many_small_classes()
    empty = FrequencySet(table.hierarchies, table.codes[:0], table.counts[:0])
    found = NodeCounter(empty).histogram((0,) * len(table.hierarchies))
    assert (found.classes, found.rows.tolist()) == (0, [])
    stacked = stack_histograms([found], 0, 0, by_subject=False)
    assert stacked.below((k,)).tolist() == [0]
    assert compute_level_statistics(empty)[0].average_size == 0.0


small_numbers = st.lists(st.integers(-4, 4), min_size=1, max_size=4)


def ranked(importance: list[list[int]]) -> list[LatticeNode]:
    nodes = product(*(range(len(parts)) for parts in importance))
    return sorted(
        nodes,
        key=lambda n: (-sum(p[l] for p, l in zip(importance, n, strict=True)), -sum(n), tie_break_key(n)),
    )


@settings(max_examples=some_of(150), deadline=None)
@given(st.lists(small_numbers, min_size=1, max_size=4))
def test_nodes_are_ranked_by_importance_and_ties(importance: list[list[int]]) -> None:
    expected = ranked(importance)
    for height in range(sum(len(parts) - 1 for parts in importance) + 1):
        assert list(rank_nodes_of_height(importance, height)) == [n for n in expected if sum(n) == height]


@settings(max_examples=some_of(60), deadline=None)
@given(st.lists(small_numbers, min_size=1, max_size=4), st.sampled_from([1, 5, 10, 33, 100]))
def test_percentage_of_each_height_is_rounded_up(importance: list[list[int]], percent: int) -> None:
    lattice = Lattice(tuple(f"q{i}" for i in range(len(importance))), tuple(len(p) - 1 for p in importance))
    widths = count_nodes_by_height(lattice)
    assert widths == [sum(sum(n) == h for n in lattice.nodes()) for h in range(len(widths))]
    chosen = select_most_important(lattice, importance, Fraction(percent))
    expected = [ceil(Fraction(percent * width, 100)) for width in widths]
    assert [sum(sum(n) == h for n in chosen) for h in range(len(widths))] == expected


def test_lattice_of_10_to_the_15_nodes_is_not_enumerated() -> None:
    """A lattice of 4^25 nodes is not enumerated.

    It has 25 attributes of four levels; each level weighs its number, the first attribute most.
    """
    importance = [[level * (26 - i) for level in range(4)] for i in range(25)]
    lattice = Lattice(tuple(f"q{i}" for i in range(25)), (3,) * 25)
    assert sum(count_nodes_by_height(lattice)) == lattice.size == 4**25
    assert list(islice(rank_nodes_of_height(importance, 3), 3)) == [
        (3, *(0,) * 24),
        (2, 1, *(0,) * 23),
        (1, 2, *(0,) * 23),
    ]


@settings(max_examples=some_of(25), deadline=None)
@given(st.integers(0, 2**32), st.sampled_from(ImportanceMetric))
def test_chosen_nodes_score_at_least_the_others(seed: int, metric: ImportanceMetric) -> None:
    table, _ = table_and_request(seed)
    brute = BruteLattice(table)
    partial = prepare_partial_lattice(table, "20%", metric)
    chosen = set(map(tuple, partial.nodes.tolist()))
    scores = {node: score_of(brute, node, metric) for node in brute.lattice.nodes()}
    for height in range(sum(brute.lattice.heights) + 1):
        inside = [scores[n] for n in chosen if sum(n) == height]
        outside = [scores[n] for n in scores if sum(n) == height and n not in chosen]
        assert min(inside) >= max(outside, default=0.0) - 1e-7


def test_scores_equal_those_by_hand() -> None:
    power = GroupingPower("age", 1, 4, 4.0, 1.5)
    assert {str(metric): metric.score(power) for metric in ImportanceMetric} == {
        "lambda": 3.0,
        "gamma": 4.0,
        "mu": 1.5,
        "gamma-mu": 6.0,
        "lambda-product": 3.0,
        "gamma-product": 4.0,
        "mu-product": 1.5,
        "gamma-mu-product": 6.0,
    }
    assert ImportanceMetric.LAMBDA.importance(power) == 3 * 2**32
    assert ImportanceMetric.GAMMA_PRODUCT.importance(power) == 2 * 2**32


def test_product_with_a_zero_is_less_than_any_without() -> None:
    lattice = Lattice(("age", "sex"), (1, 1))
    powers = [
        GroupingPower("age", 0, 8, 1.0, 0.5),
        GroupingPower("age", 1, 4, 2.0, 2.0),
        GroupingPower("sex", 0, 8, 1.0, 0.5),
        GroupingPower("sex", 1, 4, 2.0, 2.0),
    ]
    importance = level_importance(lattice, powers, ImportanceMetric.LAMBDA_PRODUCT)
    assert list(rank_nodes_of_height(importance, 1)) == [(1, 0), (0, 1)]


@pytest.mark.parametrize("text", ["0%", "101%", "5", "five%", "", "-5%"])
def test_invalid_percentage_and_metric_are_refused(text: str) -> None:
    with pytest.raises(InputError) as error:
        parse_percentage(text)
    assert error.value.allowed == "a percentage above 0% and up to 100%, such as 5%"
    assert parse_percentage("0.1%") == Fraction(1, 10)
    assert parse_percentage(Fraction(1, 3)) == Fraction(1, 3)
    with pytest.raises(InputError, match="metric 'best'"):
        parse_metric("best")
