"""Radix sort gives the order of numpy's sort."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.frequency import packed_keys
from discreet.kernels.key_grouping import radix_sort


@given(st.lists(st.integers(0, 2**64 - 1), max_size=60))
def test_all_bits(numbers: list[int]) -> None:
    keys = np.array(numbers, dtype=np.uint64)
    radix_sort(keys.view(np.int64), np.empty(len(keys), dtype=np.int64), 0, 64)
    assert keys.tolist() == sorted(numbers)


@given(st.lists(st.integers(0, 2**40 - 1), max_size=60), st.integers(0, 45))
def test_numbers_that_are_equal_from_a_bit_on_stay_in_their_order(numbers: list[int], low: int) -> None:
    keys = np.array(numbers, dtype=np.int64)
    radix_sort(keys, np.empty_like(keys), low, 40)
    assert keys.tolist() == sorted(numbers, key=lambda number: number >> low)


@pytest.mark.parametrize("kernels", [False, True])
@pytest.mark.parametrize("largest", [3, 2**33, 2**56])
def test_places_go_with_their_numbers(monkeypatch: pytest.MonkeyPatch, kernels: bool, largest: int) -> None:
    monkeypatch.setattr(packed_keys, "_RADIX_SORT_FROM", 1)
    monkeypatch.setattr(packed_keys, "choose_kernels", lambda *_, **__: kernels)
    numbers = np.random.default_rng(3).integers(0, largest, 200).astype(np.uint64)
    placed = numbers.copy()
    bits = packed_keys.sort_with_positions(placed)
    assert bits == 8
    order = np.argsort(numbers, kind="stable")
    assert (placed & np.uint64(255)).tolist() == order.tolist()
    assert (placed >> np.uint64(8)).tolist() == numbers[order].tolist()
