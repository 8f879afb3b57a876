"""The study's estimates for l, against plain counting."""

from __future__ import annotations

import numpy as np
import pytest

from papers.negotiation_diversity import estimate_factor, mean_average_over_least, rank_correlation


def test_rank_correlation_of_a_small_example() -> None:
    """The ranks are 1, 2.5, 2.5, 4 and 1, 3, 2, 4."""
    left, right = np.array([5, 7, 7, 9]), np.array([0, 8, 4, 100])
    ranks = (np.array([1, 2.5, 2.5, 4]), np.array([1.0, 3, 2, 4]))
    assert rank_correlation(left, right) == pytest.approx(np.corrcoef(*ranks)[0, 1])
    assert rank_correlation(left, -right) == pytest.approx(-np.corrcoef(*ranks)[0, 1])
    assert rank_correlation(left, left * 3) == pytest.approx(1)
    assert rank_correlation(left, np.zeros(4, dtype=np.int64)) == 1.0


def test_the_factor_of_an_estimate() -> None:
    assert estimate_factor(np.array([3, 7]), np.array([3, 7])) == 1.0
    # a factor of two in either direction, after adding one row to each
    assert estimate_factor(np.array([7, 3]), np.array([3, 7])) == pytest.approx(2.0)


def test_average_over_least_leaves_out_height_0_and_small_leasts() -> None:
    study = [np.array([1000]), np.array([20, 60]), np.array([10, 90]), np.array([9, 900])]
    assert mean_average_over_least([study]) == pytest.approx((2 * 5) ** 0.5)
    assert mean_average_over_least([[np.array([3])]]) == 1.0
