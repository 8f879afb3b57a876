"""Nodes in order of importance, checked against sorting all nodes."""

from __future__ import annotations

from fractions import Fraction
from itertools import islice, product
from math import ceil

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.errors import InputError
from discreet.measures.grouping_power import GroupingPower, ImportanceMetric, level_importance
from discreet.model.lattice import Lattice, LatticeNode, tie_break_key
from discreet.negotiation.node_importance import (
    count_nodes_by_height,
    parse_metric,
    parse_percentage,
    rank_nodes,
    rank_nodes_of_height,
    select_most_important,
)
from discreet.negotiation.partial_lattice import prepare_partial_lattice
from tests.drawing import some_of
from tests.negotiation.conftest import table_and_request
from tests.oracle.brute_lattice import BruteLattice
from tests.oracle.naive_partial import score_of

small_numbers = st.lists(st.integers(-4, 4), min_size=1, max_size=4)


def ranked(importance: list[list[int]]) -> list[LatticeNode]:
    nodes = product(*(range(len(parts)) for parts in importance))
    return sorted(
        nodes,
        key=lambda n: (-sum(p[l] for p, l in zip(importance, n, strict=True)), -sum(n), tie_break_key(n)),
    )


@settings(max_examples=some_of(150), deadline=None)
@given(st.lists(small_numbers, min_size=1, max_size=4))
def test_every_node_comes_in_its_turn_ties_included(importance: list[list[int]]) -> None:
    expected = ranked(importance)
    assert list(rank_nodes(importance)) == expected
    for height in range(sum(len(parts) - 1 for parts in importance) + 1):
        assert list(rank_nodes_of_height(importance, height)) == [n for n in expected if sum(n) == height]


@settings(max_examples=some_of(60), deadline=None)
@given(st.lists(small_numbers, min_size=1, max_size=4), st.sampled_from([1, 5, 10, 33, 100]))
def test_the_share_of_each_height_is_rounded_up(importance: list[list[int]], percent: int) -> None:
    lattice = Lattice(tuple(f"q{i}" for i in range(len(importance))), tuple(len(p) - 1 for p in importance))
    widths = count_nodes_by_height(lattice)
    assert widths == [sum(sum(n) == h for n in lattice.nodes()) for h in range(len(widths))]
    chosen = select_most_important(lattice, importance, Fraction(percent))
    expected = [ceil(Fraction(percent * width, 100)) for width in widths]
    assert [sum(sum(n) == h for n in chosen) for h in range(len(widths))] == expected
    whole = select_most_important(lattice, importance, Fraction(percent), by_height=False)
    assert whole == ranked(importance)[: ceil(Fraction(percent * lattice.size, 100))]


def test_a_lattice_of_ten_to_the_fifteenth_nodes_is_not_enumerated() -> None:
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
    first = list(islice(rank_nodes(importance), 200))
    assert first[0] == lattice.top
    assert len(set(first)) == 200


@settings(max_examples=some_of(25), deadline=None)
@given(st.integers(0, 2**32), st.sampled_from(ImportanceMetric))
def test_no_node_left_out_scores_above_one_that_was_chosen(seed: int, metric: ImportanceMetric) -> None:
    table, _ = table_and_request(seed)
    brute = BruteLattice(table)
    partial = prepare_partial_lattice(table, "20%", metric)
    chosen = set(map(tuple, partial.nodes.tolist()))
    scores = {node: score_of(brute, node, metric) for node in brute.lattice.nodes()}
    for height in range(sum(brute.lattice.heights) + 1):
        inside = [scores[n] for n in chosen if sum(n) == height]
        outside = [scores[n] for n in scores if sum(n) == height and n not in chosen]
        assert min(inside) >= max(outside, default=0.0) - 1e-7


def test_scores_by_hand() -> None:
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


def test_a_product_with_a_zero_is_less_than_any_without() -> None:
    lattice = Lattice(("age", "sex"), (1, 1))
    powers = [
        GroupingPower("age", 0, 8, 1.0, 0.5),
        GroupingPower("age", 1, 4, 2.0, 2.0),
        GroupingPower("sex", 0, 8, 1.0, 0.5),
        GroupingPower("sex", 1, 4, 2.0, 2.0),
    ]
    importance = level_importance(lattice, powers, ImportanceMetric.LAMBDA_PRODUCT)
    assert list(rank_nodes(importance)) == [(1, 1), (1, 0), (0, 1), (0, 0)]


@pytest.mark.parametrize("text", ["0%", "101%", "5", "five%", "", "-5%"])
def test_what_is_no_percentage_is_refused(text: str) -> None:
    with pytest.raises(InputError) as error:
        parse_percentage(text)
    assert error.value.allowed == "a percentage above 0% and up to 100%, such as 5%"


def test_percentages_are_exact() -> None:
    assert parse_percentage("0.1%") == Fraction(1, 10)
    assert parse_percentage(Fraction(1, 3)) == Fraction(1, 3)


def test_an_unknown_metric_is_refused() -> None:
    with pytest.raises(InputError, match="metric 'best'"):
        parse_metric("best")
