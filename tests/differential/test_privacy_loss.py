"""Exact privacy losses: no sum returns budget, and written decimals equal the values."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from itertools import product

import pytest

from discreet.errors import InputError, InternalError
from discreet.model.privacy_loss import ZERO_LOSS, PrivacyLoss, format_decimal, parse_delta, parse_epsilon


def test_ten_tenths_are_one() -> None:
    tenth = PrivacyLoss(parse_epsilon("epsilon", 0.1), parse_delta("delta", "1e-7"))
    total = sum([tenth] * 10, ZERO_LOSS)
    assert total == PrivacyLoss(Fraction(1), Fraction(1, 10**6))
    assert total.fits(PrivacyLoss(Fraction(1), Fraction(1, 10**6)))
    assert not (total + PrivacyLoss(Fraction(1, 10**30))).fits(total)
    assert sum([0.1] * 10) != 1


def test_a_loss_fits_where_both_parts_do() -> None:
    numbers = [Fraction(0), Fraction(1, 3), Fraction(1, 2), Fraction(1)]
    for a, b, c, d in product(numbers, repeat=4):
        assert PrivacyLoss(a, b).fits(PrivacyLoss(c, d)) is (a <= c and b <= d)
        assert PrivacyLoss(a, b) + PrivacyLoss(c, d) - PrivacyLoss(c, d) == PrivacyLoss(a, b)


@pytest.mark.parametrize("text", ["1", "0.5", "0.000001", "12.25", "1e-6", "1E+2", "0.30000000000000004"])
def test_a_decimal_is_told_as_it_was_meant(text: str) -> None:
    number = parse_epsilon("epsilon", text)
    assert number == Fraction(Decimal(text))
    assert Fraction(format_decimal(number)) == number
    assert parse_epsilon("epsilon", number) == number
    assert parse_epsilon("epsilon", Decimal(text)) == number
    assert parse_epsilon("epsilon", float(text)) == number


@pytest.mark.parametrize(
    "value",
    [0, -1, "0", "x", "", None, True, "nan", "inf", float("nan"), 1001, "1e-31", "1e400", [1], "9" * 31],
)
def test_what_is_no_epsilon_is_refused(value: object) -> None:
    with pytest.raises(InputError, match="epsilon"):
        parse_epsilon("epsilon", value)


@pytest.mark.parametrize("value", [1, -0.1, "1.0", "x", None, False, "nan"])
def test_what_is_no_delta_is_refused(value: object) -> None:
    with pytest.raises(InputError, match="delta"):
        parse_delta("delta", value)


def test_a_third_is_no_decimal() -> None:
    """A third has no finite decimal; writing it truncated would record less than was spent."""
    with pytest.raises(InternalError):
        format_decimal(Fraction(1, 3))
    with pytest.raises(InputError):
        parse_epsilon("epsilon", Fraction(1, 3))


def test_what_is_left_may_be_below_nothing() -> None:
    left = PrivacyLoss(Fraction(1, 2)) - PrivacyLoss(Fraction(3, 4), Fraction(1, 8))
    assert left.as_json() == {"epsilon": "-0.25", "delta": "-0.125"}
