"""Marginals with equal totals: sums agree, and the point is the nearest up to rounding."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.differential.noisy_counts import clip_negatives, equalize_totals, project_onto_simplex

COUNTS = st.lists(st.lists(st.integers(-5, 9), min_size=1, max_size=4), min_size=1, max_size=3)


@given(COUNTS, st.booleans())
def test_the_totals_agree(marginals: list[list[int]], non_negative: bool) -> None:
    found = equalize_totals(marginals, non_negative=non_negative)
    assert [len(counts) for counts in found] == [len(counts) for counts in marginals]
    assert len({sum(counts) for counts in found}) == 1
    if non_negative:
        assert min(min(counts) for counts in found) >= 0


@given(COUNTS)
def test_the_total_is_the_best_linear_estimate(marginals: list[list[int]]) -> None:
    """The total weights marginals by inverse variance; with n cells its variance is n times a cell's."""
    weights = np.array([1 / len(counts) for counts in marginals])
    estimate = float(weights @ [sum(counts) for counts in marginals] / weights.sum())
    (total,) = {sum(counts) for counts in equalize_totals(marginals, non_negative=False)}
    assert abs(total - estimate) <= 0.5 + 1e-9


@given(st.lists(st.integers(-3, 4), min_size=2, max_size=3), st.integers(0, 4))
def test_a_projection_is_the_nearest_point(counts: list[int], rest: int) -> None:
    """No point of a grid of halves with the same total is nearer than the projection."""
    target = max(sum(counts) + rest - 2, 0)
    marginals = [counts, [target] * 1]
    moved = equalize_totals(marginals, non_negative=True)
    total = sum(moved[0])
    steps = [step / 2 for step in range(2 * total + 1)]
    points = [p for p in product(steps, repeat=len(counts)) if sum(p) == total]
    nearest = min(distance(point, counts) for point in points)
    # Rounding moves each cell by less than one.
    assert distance(moved[0], counts) ** 0.5 <= nearest**0.5 + len(counts) ** 0.5


def distance(point: object, counts: list[int]) -> float:
    return float(np.sum((np.array(point, dtype=float) - np.array(counts)) ** 2))


def test_counts_that_agree_stay() -> None:
    marginals = [[3, 1], [4], [2, 2, 0]]
    assert equalize_totals(marginals, non_negative=True) == marginals


@pytest.mark.parametrize(
    ("counts", "total", "expected"), [([5, -1], 4, [4, 0]), ([2, 2, -3], 4, [2, 2, 0]), ([1, 1], 0, [0, 0])]
)
def test_a_projection_by_hand(counts: list[int], total: int, expected: list[int]) -> None:
    assert project_onto_simplex(counts, total) == expected


def test_without_negatives() -> None:
    assert clip_negatives([-3, 0, 2]) == [0, 0, 2]
