"""Attacker risks on tables that are small enough to compute by hand."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.attacks.reidentification_risk import (
    compute_journalist_risk,
    compute_prosecutor_risk,
    parse_threshold,
)
from discreet.errors import InputError
from tests.oracle.plain_attacks import chances


def test_prosecutor_risk_of_three_classes() -> None:
    risk = compute_prosecutor_risk(np.array([1, 4, 5]), Fraction(1, 5))
    assert (risk.highest, risk.mean) == (1.0, pytest.approx(3 / 10))
    assert (risk.over, risk.rows) == (5, 10)  # a chance of 1/5 does not exceed 1/5


@given(
    st.lists(st.sampled_from("abcd"), min_size=1, max_size=12), st.sampled_from(["0.05", "0.2", "1/3", "0.5"])
)
def test_prosecutor_risk_equals_a_loop_over_rows(values: list[str], threshold: str) -> None:
    rows = [{"v": value} for value in values]
    found = compute_prosecutor_risk(np.unique(values, return_counts=True)[1], Fraction(threshold))
    each = chances(rows, ["v"])
    assert found.highest == pytest.approx(max(each))
    assert found.mean == pytest.approx(sum(each) / len(each))
    assert found.over == sum(Fraction(round(1 / c)) * Fraction(threshold) < 1 for c in each)


def test_no_rows_no_risk() -> None:
    assert compute_prosecutor_risk(np.array([], dtype=np.int64), Fraction(1, 20)).as_json() == {
        "highest": 0.0,
        "mean": 0.0,
        "rows_over_threshold": 0,
        "share_over_threshold": 0.0,
    }


def test_population_of_a_class_is_at_least_its_rows() -> None:
    found = compute_journalist_risk(
        np.array([2, 5]), np.array([100, 3]), Fraction(1, 20), counted=103, incomplete=4
    )
    assert found.risk.highest == pytest.approx(1 / 5)
    assert found.risk.mean == pytest.approx((2 / 100 + 5 / 5) / 7)
    assert (found.thin, found.incomplete, found.people) == (1, 4, 103)


@pytest.mark.parametrize(
    ("text", "value"), [("0.05", Fraction(1, 20)), ("5%", Fraction(1, 20)), ("1/3", Fraction(1, 3))]
)
def test_thresholds_are_exact(text: str, value: Fraction) -> None:
    assert parse_threshold(text) == value


@pytest.mark.parametrize("text", ["0", "-1", "1.01", "many", "1/0", "", "nan"])
def test_invalid_threshold_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="threshold"):
        parse_threshold(text)
