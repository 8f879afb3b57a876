"""Statistics of single nodes under a requirement, in any order and memory, checked by enumeration."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import settings as configured
from hypothesis import strategies as st

from discreet.frequency.rollup import roll_up
from discreet.measures.node_statistics import NodeStatistics
from discreet.model.frequency_set import FrequencySet
from discreet.model.requirement import Requirement
from discreet.search.node_counts import StatisticsCounter
from tests.oracle.brute_lattice import BruteLattice
from tests.oracle.random_tables import random_frequency_set


def assert_counted(found: NodeStatistics, table: FrequencySet) -> None:
    """Assert that classes and their labels equal those of the roll-up from the row types."""
    expected = roll_up(table, found.node)
    codes = found.codes_at(np.arange(len(found.class_sizes)))
    for i, (hierarchy, level) in enumerate(zip(table.hierarchies, found.node, strict=True)):
        codes[:, i] = hierarchy.level_map(level)[codes[:, i]]
    shown = dict(zip(map(tuple, codes.tolist()), found.class_sizes.tolist(), strict=True))
    assert shown == dict(zip(map(tuple, expected.codes.tolist()), expected.counts.tolist(), strict=True))


@configured(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10**6), memory=st.sampled_from([0, 300, 3_000, 10**9]))
def test_counter_in_any_order_and_memory_equals_enumeration(seed: int, memory: int) -> None:
    random = np.random.default_rng(seed)
    table = random_frequency_set(
        random, attributes=3, height=3, leaves=5, rows=25, sensitive=2, subjects=6 if seed % 3 == 0 else None
    )
    l = 2 if table.sensitive else None
    requirement = Requirement(k=2 if seed % 2 or l is None else None, l=l)
    brute = BruteLattice(table)
    counter = StatisticsCounter(table, requirement, memory)
    nodes = list(brute.lattice.nodes())
    for i in random.permutation(len(nodes)).tolist():
        found = counter.count(nodes[i])
        if table.rows:
            assert_counted(found, table)
        assert found.suppressed == brute.suppressed(nodes[i], requirement)
    assert counter.scans <= counter.counted
    counter.forget()
    assert counter.count(nodes[-1]).suppressed == brute.suppressed(nodes[-1], requirement)
