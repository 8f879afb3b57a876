"""Nodes counted one by one, from any earlier counts, checked against the oracle."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.measures.grouping_power import grouping_power
from discreet.model.frequency_set import FrequencySet
from discreet.model.lattice import LatticeNode
from discreet.negotiation.partial_lattice import (
    NodeCounter,
    compute_level_statistics,
    histogram_bytes,
    stack_histograms,
)
from tests.drawing import some_of
from tests.negotiation.conftest import table_and_request
from tests.oracle.brute_lattice import BruteLattice


def shuffled(brute: BruteLattice, seed: int) -> list[LatticeNode]:
    nodes = list(brute.lattice.nodes())
    return [nodes[i] for i in np.random.default_rng(seed).permutation(len(nodes))]


@settings(max_examples=some_of(60), deadline=None)
@given(st.integers(0, 2**32), st.booleans())
def test_histograms_in_any_order_are_the_oracles(seed: int, subjects: bool) -> None:
    table, _ = table_and_request(seed, subjects=subjects)
    brute, counter = BruteLattice(table), NodeCounter(table)
    for node in shuffled(brute, seed):
        found = counter.histogram(node)
        signatures = map(tuple, found.signatures.T.tolist())
        assert dict(zip(signatures, found.rows.tolist(), strict=True)) == brute.histogram(node)
        assert found.classes == counter.classes(node)
    assert counter.counted == 2 * brute.lattice.size


@settings(max_examples=some_of(60), deadline=None)
@given(st.integers(0, 2**32), st.booleans())
def test_stacked_histograms_answer_as_the_oracle_does(seed: int, subjects: bool) -> None:
    table, request = table_and_request(seed, subjects=subjects)
    brute, counter = BruteLattice(table), NodeCounter(table)
    nodes = shuffled(brute, seed)[:12]
    stacked = stack_histograms(
        [counter.histogram(node) for node in nodes],
        len(table.sensitive),
        table.rows,
        by_subject=table.subjects is not None,
    )
    requirement = request.requirement
    thresholds = (requirement.k, *requirement.l_of(table.sensitive_attributes))
    expected = [brute.suppressed(node, requirement) for node in nodes]
    assert stacked.below(thresholds).tolist() == expected
    assert [stacked.below_at(i, thresholds) for i in range(len(nodes))] == expected
    counts = dict(zip(brute.lattice.nodes(), brute.classes().tolist(), strict=True))
    assert stacked.classes.tolist() == [counts[node] for node in nodes]


def many_small_classes() -> FrequencySet:
    return table_and_request(11)[0]


def test_without_room_nothing_is_kept_and_all_is_right() -> None:
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
def test_level_statistics_are_those_of_the_whole_lattice(seed: int) -> None:
    table, _ = table_and_request(seed)
    brute, counter = BruteLattice(table), NodeCounter(table)
    found = compute_level_statistics(table, counter)
    assert found == grouping_power(brute.lattice, brute.rows, brute.classes())
    assert counter.counted == sum(brute.lattice.heights) + 1


@pytest.mark.parametrize("k", [1, 2, 5])
def test_a_table_without_rows_suppresses_none(k: int) -> None:
    table = many_small_classes()
    empty = FrequencySet(table.hierarchies, table.codes[:0], table.counts[:0])
    found = NodeCounter(empty).histogram((0,) * len(table.hierarchies))
    assert (found.classes, found.rows.tolist()) == (0, [])
    stacked = stack_histograms([found], 0, 0, by_subject=False)
    assert stacked.below((k,)).tolist() == [0]
    assert compute_level_statistics(empty)[0].average_size == 0.0
