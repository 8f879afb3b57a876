"""Conversion of exact numbers to doubles that keep bounds valid."""

from __future__ import annotations

from decimal import Decimal

from hypothesis import given
from hypothesis import strategies as st

from discreet.bounds.interval_aggregates import round_outwards


@given(st.decimals(-(10**18), 10**18, places=17))
def test_bound_is_never_rounded_inwards(exact: Decimal) -> None:
    low, high = round_outwards(exact, upwards=False), round_outwards(exact, upwards=True)
    assert Decimal(low) <= exact <= Decimal(high)
    assert low <= round_outwards(exact) <= high


def test_whole_numbers_stay_exact() -> None:
    assert round_outwards(Decimal(2**70), upwards=False) == 2**70
