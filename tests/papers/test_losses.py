"""Losses that depend on age: the effect of the parameter."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from discreet.errors import InputError
from papers.synthetic_tables import LOSS_COLUMN, OLDEST, PER_YEAR, YOUNGEST, generate_losses


def ages_and_losses(deviation: float) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    arrays = generate_losses(2_000, deviation, seed=7).arrays()
    return arrays["age"].astype(np.int64), arrays[LOSS_COLUMN].astype(np.int64)


def test_without_deviation_the_loss_is_a_function_of_age() -> None:
    ages, losses = ages_and_losses(0)
    assert (losses == PER_YEAR * ages).all()
    assert YOUNGEST <= ages.min() <= ages.max() <= OLDEST


def test_more_deviation_is_less_correlation() -> None:
    found = [np.corrcoef(*ages_and_losses(deviation))[0, 1] for deviation in (0, 100, 1_000, 20_000)]
    assert found == sorted(found, reverse=True)
    assert found[0] == pytest.approx(1)
    assert abs(found[-1]) < 0.1
    assert ages_and_losses(1_000)[1].min() >= 1


def test_equal_arguments_give_equal_tables_with_the_schema_of_adult() -> None:
    first, second = generate_losses(50, 20), generate_losses(50, 20)
    assert all((a == b).all() for a, b in zip(first.codes, second.codes, strict=True))
    assert first.attributes()[LOSS_COLUMN] == {"role": "sensitive"}
    assert [column.cardinality for column in first.columns[1:-1]] == [2, 5, 7, 16, 41, 7, 14]


@pytest.mark.parametrize("deviation", [-1, float("nan"), float("inf")])
def test_a_deviation_is_a_number_from_0_on(deviation: float) -> None:
    with pytest.raises(InputError):
        generate_losses(5, deviation)
