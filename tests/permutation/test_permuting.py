"""Permutation within groups: all permutations are equally likely and not reproducible."""

from __future__ import annotations

from itertools import permutations
from math import factorial

import numpy as np
import pytest
from numpy.typing import NDArray

from discreet.permutation import row_positions
from discreet.permutation.row_positions import (
    draw_group_numbers,
    draw_order,
    is_permutation_within,
    permute_within,
)

REJECTED_AT_ONE_IN_A_MILLION = {1: 23.93, 3: 30.66, 5: 35.89, 23: 70.56}
"""The χ² value that a fair generator exceeds once in a million runs, by degrees of freedom."""


def chi_square(counts: NDArray[np.int64]) -> float:
    expected = counts.sum() / len(counts)
    return float(((counts - expected) ** 2 / expected).sum())


def permutations_of(sources: NDArray[np.int64], size: int) -> NDArray[np.int64]:
    """Count how often each permutation of ``size`` positions was drawn; groups are consecutive rows."""
    number = {order: place for place, order in enumerate(permutations(range(size)))}
    drawn = (sources.reshape(-1, size) % size).tolist()
    return np.bincount([number[tuple(order)] for order in drawn], minlength=factorial(size))


@pytest.fixture(params=[False, True], ids=["by one order", "group by group"])
def compiled(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(row_positions, "_FEWEST_SHUFFLED_ROWS", 1)
    monkeypatch.setattr(row_positions, "choose_kernels", lambda *_, **__: request.param)


@pytest.mark.usefixtures("compiled")
@pytest.mark.parametrize("size", [2, 3, 4])
def test_every_permutation_of_a_group_is_equally_likely(size: int) -> None:
    groups = np.repeat(np.arange(12_000), size)
    counts = permutations_of(permute_within(groups), size)
    assert chi_square(counts) < REJECTED_AT_ONE_IN_A_MILLION[factorial(size) - 1]


@pytest.mark.usefixtures("compiled")
def test_groups_are_permuted_independently() -> None:
    sources = permute_within(np.repeat(np.arange(24_000), 2)).reshape(-1, 4)
    swapped = (sources[:, 0] > sources[:, 1]) * 2 + (sources[:, 2] > sources[:, 3])
    assert chi_square(np.bincount(swapped, minlength=4)) < REJECTED_AT_ONE_IN_A_MILLION[3]


def test_statistical_test_rejects_an_order_that_is_not_random() -> None:
    groups = np.repeat(np.arange(12_000), 3)
    generator = np.random.default_rng(3)

    def nearly(rows: int) -> NDArray[np.int64]:
        return np.argsort(np.arange(rows) + generator.uniform(0, 4, rows))

    counts = permutations_of(permute_within(groups, nearly), 3)
    assert chi_square(counts) > REJECTED_AT_ONE_IN_A_MILLION[5]


@pytest.mark.usefixtures("compiled")
def test_values_stay_in_their_groups() -> None:
    groups = np.random.default_rng(5).integers(0, 40, 1000)
    sources = permute_within(groups)
    assert is_permutation_within(groups, sources)
    assert sorted(sources.tolist()) == list(range(1000))
    assert not is_permutation_within(groups, np.zeros(1000, dtype=np.int64))
    other = sources.copy()
    first, second = np.flatnonzero(groups == groups[0])[0], np.flatnonzero(groups != groups[0])[0]
    other[[first, second]] = other[[second, first]]
    assert not is_permutation_within(groups, other)


def test_numbers_of_groups_carry_no_order() -> None:
    number = {order: place for place, order in enumerate(permutations((1, 2, 3)))}
    drawn = [number[tuple(draw_group_numbers(3).tolist())] for _ in range(6000)]
    assert chi_square(np.bincount(drawn, minlength=6)) < REJECTED_AT_ONE_IN_A_MILLION[5]


def test_exhausted_words_are_drawn_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Words that run out are drawn anew; zeros are rejected to keep three choices equally likely."""
    drawn = [np.zeros(700, dtype=np.uint32), np.full(700, 1 << 30, dtype=np.uint32)]
    monkeypatch.setattr(row_positions, "_FEWEST_SHUFFLED_ROWS", 1)
    monkeypatch.setattr(row_positions, "choose_kernels", lambda *_, **__: True)
    monkeypatch.setattr(row_positions, "random_words", lambda _: drawn.pop(0))
    groups = np.repeat(np.arange(200), 3)
    assert is_permutation_within(groups, permute_within(groups))
    assert not drawn


@pytest.mark.usefixtures("compiled")
def test_two_permutations_of_a_table_differ() -> None:
    groups = np.zeros(100, dtype=np.int64)
    assert permute_within(groups).tolist() != permute_within(groups).tolist()


def test_positions_of_equal_keys_are_drawn_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three of five positions have equal keys: their order is drawn with separate keys."""
    number = {order: place for place, order in enumerate(permutations(range(3)))}
    drawn = []
    for seed in range(3000):
        generator = np.random.default_rng(seed)
        sizes: list[int] = []

        def urandom(size: int, sizes: list[int] = sizes, generator: np.random.Generator = generator) -> bytes:
            sizes.append(size)
            if len(sizes) > 1:
                return generator.bytes(size)
            return np.array([5 << 40, 7 << 40, 5 << 40, 5 << 40, 9 << 40], dtype=np.uint64).tobytes()

        monkeypatch.setattr("discreet.permutation.row_positions.os.urandom", urandom)
        order = draw_order(5).tolist()
        assert order[3:] == [1, 4]
        assert sizes == [40, 24]
        drawn.append(number[tuple([0, 2, 3].index(place) for place in order[:3])])
    assert chi_square(np.bincount(drawn, minlength=6)) < REJECTED_AT_ONE_IN_A_MILLION[5]


@pytest.mark.parametrize("largest", [3, 2**31 - 1, 2**62])
def test_order_by_group_is_stable(largest: int) -> None:
    groups = np.random.default_rng(7).integers(0, 40, 1000) * (largest // 40 + 1) % (largest + 1)
    assert row_positions.order_by_group(groups).tolist() == np.argsort(groups, kind="stable").tolist()
    assert row_positions.order_by_group(groups[:0]).tolist() == []


def test_orders_come_from_the_operating_system(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes: list[int] = []

    def urandom(size: int) -> bytes:
        sizes.append(size)
        return np.random.default_rng(len(sizes)).bytes(size)

    monkeypatch.setattr("discreet.permutation.row_positions.os.urandom", urandom)
    permute_within(np.zeros(10, dtype=np.int64))
    assert sizes == [80]
    assert draw_order is row_positions.draw_order
    state = np.random.get_state()[1]
    permute_within(np.zeros(10, dtype=np.int64))
    assert (np.random.get_state()[1] == state).all()
