"""Exact numbers in cells, and the examples in docstrings."""

from __future__ import annotations

import doctest
from decimal import Decimal
from fractions import Fraction
from math import floor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.hierarchy import bands, cell_values, messages, ordered_values
from discreet.hierarchy.cell_values import (
    decimal_places,
    floor_quotient,
    format_number,
    parse_number,
    scale_down,
    scaled_floor,
)
from discreet.profile import hierarchy_proposal

DECIMALS = st.one_of(
    st.decimals(allow_nan=False, allow_infinity=False, min_value=-(10**60), max_value=10**60),
    st.floats(allow_nan=False, allow_infinity=False).map(lambda x: Decimal(str(x))),
    st.integers(-(10**60), 10**60).map(Decimal),
)


@pytest.mark.parametrize(
    "module", [bands, ordered_values, messages, cell_values, hierarchy_proposal], ids=lambda m: m.__name__
)
def test_examples_in_docstrings(module: object) -> None:
    assert doctest.testmod(module).failed == 0  # type: ignore[arg-type]


@given(DECIMALS)
def test_formatted_number_is_parsed_back(number: Decimal) -> None:
    assert parse_number(str(number)) == number
    text = format_number(number)
    assert "e" not in text.lower()
    assert Decimal(text) == number
    assert decimal_places(number) == len(text.partition(".")[2])


@given(DECIMALS, st.integers(0, 400), DECIMALS)
def test_arithmetic_is_exact(number: Decimal, scale: int, width: Decimal) -> None:
    assert scaled_floor(number, scale) == floor(Fraction(number) * 10**scale)
    assert Fraction(scale_down(scaled_floor(number, scale), scale)) == Fraction(
        floor(Fraction(number) * 10**scale), 10**scale
    )
    if width > 0:
        assert floor_quotient(number, width) == floor(Fraction(number) / Fraction(width))


@pytest.mark.parametrize("text", ["1_0", "", " ", "--1", ".", "e5", "1e", "1" * 401, "1e401", "½", "1 2"])
def test_other_texts_are_not_numbers(text: str) -> None:
    assert parse_number(text) is None


@pytest.mark.parametrize("text", ["1", "+1.", ".5", " -2 ", "1E5", "007", "1e-400"])
def test_texts_of_numbers_are_parsed(text: str) -> None:
    assert parse_number(text) == Decimal(text.strip())
