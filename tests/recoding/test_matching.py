"""Matching of l values to different subjects, checked against exhaustive search."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from discreet.recoding.failing_classes import find_classes_reaching, reaches_matching
from tests.oracle.brute_lattice import most_pairs

Pairs = set[tuple[int, int]]
PAIRS = st.sets(st.tuples(st.integers(0, 4), st.integers(0, 4)), max_size=12)


@given(classes=st.lists(PAIRS.filter(bool), max_size=4), l=st.integers(1, 5))
def test_the_classes_that_reach_l(classes: list[Pairs], l: int) -> None:
    rows = [(10 * i, value, subject) for i, pairs in enumerate(classes) for value, subject in sorted(pairs)]
    arrays = np.array(rows, dtype=np.int64).reshape(len(rows), 3)
    expected = [10 * i for i, pairs in enumerate(classes) if most_pairs(sorted(pairs)) >= l]
    assert find_classes_reaching(arrays[:, 0], arrays[:, 1], arrays[:, 2], l) == expected


def test_one_person_with_every_value_counts_once() -> None:
    assert reaches_matching({0: [7], 1: [7], 2: [7]}, 1)
    assert not reaches_matching({0: [7], 1: [7], 2: [7]}, 2)


def test_a_later_value_moves_an_earlier_one() -> None:
    assert reaches_matching({0: [1, 2], 1: [1], 2: [2, 3]}, 3)
    assert not reaches_matching({0: [1, 2], 1: [1], 2: [2]}, 3)
