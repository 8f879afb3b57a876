"""Synthetic tables: distributions, cardinalities and correlations."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from discreet.errors import InputError
from discreet.settings import Settings
from discreet.verbs.table import open as open_table
from papers.synthetic_tables import (
    LOSS_COLUMN,
    OLDEST,
    PER_YEAR,
    YOUNGEST,
    ColumnDistribution,
    SyntheticColumn,
    generate_ipums,
    generate_lands_end,
    generate_losses,
    generate_table,
    mondrian_columns,
)


def shares(codes: NDArray[np.int64], cardinality: int) -> list[float]:
    return list(np.bincount(codes, minlength=cardinality) / len(codes))


def test_equal_seeds_give_equal_tables_and_others_differ() -> None:
    columns = mondrian_columns(3, 8)
    first, again = (generate_table(columns, 500, correlation=0.3, seed=7) for _ in range(2))
    other = generate_table(columns, 500, correlation=0.3, seed=8)
    assert all(np.array_equal(a, b) for a, b in zip(first.codes, again.codes, strict=True))
    assert not all(np.array_equal(a, b) for a, b in zip(first.codes, other.codes, strict=True))


def test_normal_column_has_the_shares_of_the_density() -> None:
    column = mondrian_columns(1, 8, ColumnDistribution.NORMAL, mean=3.5, deviation=1.6)
    density = [math.exp(-(((code - 3.5) / 1.6) ** 2) / 2) for code in range(8)]
    expected = [value / sum(density) for value in density]
    assert list(column[0].probabilities()) == pytest.approx(expected)
    (codes,) = generate_table(column, 80_000).codes
    assert shares(codes, 8) == pytest.approx(expected, abs=0.01)


@pytest.mark.parametrize("correlation", [0.0, 0.5, 0.9, 1.0])
def test_columns_have_the_requested_correlation(correlation: float) -> None:
    columns = mondrian_columns(2, 100, ColumnDistribution.NORMAL, mean=50, deviation=12)
    left, right = generate_table(columns, 40_000, correlation=correlation).codes
    assert np.corrcoef(left, right)[0, 1] == pytest.approx(correlation, abs=0.02)
    assert shares(left, 100) == pytest.approx(list(columns[0].probabilities()), abs=0.01)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"cardinality": 0}, "cardinality 0"),
        ({"cardinality": 2, "labels": ("one",)}, "1 labels"),
        ({"cardinality": 2, "distribution": ColumnDistribution.NORMAL}, "deviation None"),
        ({"cardinality": 2, "distribution": ColumnDistribution.SKEWED, "skew": 0.0}, "skew 0.0"),
    ],
)
def test_invalid_column_is_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        SyntheticColumn("a", **options)


@pytest.mark.parametrize(
    ("rows", "correlation", "message"), [(-1, 0.0, "-1 rows"), (1, 1.5, "correlation of 1.5")]
)
def test_invalid_table_is_refused(rows: int, correlation: float, message: str) -> None:
    with pytest.raises(InputError, match=message):
        generate_table(mondrian_columns(1), rows, correlation=correlation)


def test_ipums_table_has_its_shape(tmp_path: Path, settings: Settings) -> None:
    table = generate_ipums(20_000)
    table.write_csv(tmp_path / "people.csv")
    opened = open_table(tmp_path / "people.csv", {"attributes": table.attributes()}, settings=settings)
    frequency_set = opened.frequency_set
    assert frequency_set.attributes == ("age", "birthplace", "education", "gender")
    assert [h.height for h in frequency_set.hierarchies] == [4, 3, 4, 1]
    assert [column.cardinality for column in table.columns] == [78, 57, 17, 2, 50]
    assert frequency_set.sensitive_attributes == ("occupation",)


def test_lands_end_table_has_the_printed_shape(tmp_path: Path, settings: Settings) -> None:
    table = generate_lands_end(2_000)
    table.write_csv(tmp_path / "orders.csv")
    opened = open_table(tmp_path / "orders.csv", {"attributes": table.attributes()}, settings=settings)
    assert [h.height for h in opened.frequency_set.hierarchies] == [5, 3, 1, 1, 4, 1, 4, 1]
    assert [c.cardinality for c in table.columns] == [31953, 320, 2, 1509, 346, 1, 1412, 2]
    assert all(len(set(c.texts())) == c.cardinality for c in table.columns)


def ages_and_losses(deviation: float) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    arrays = generate_losses(2_000, deviation, seed=7).arrays()
    return arrays["age"].astype(np.int64), arrays[LOSS_COLUMN].astype(np.int64)


def test_loss_without_deviation_is_a_function_of_age() -> None:
    ages, losses = ages_and_losses(0)
    assert (losses == PER_YEAR * ages).all()
    assert YOUNGEST <= ages.min() <= ages.max() <= OLDEST


def test_more_deviation_is_less_correlation() -> None:
    found = [np.corrcoef(*ages_and_losses(deviation))[0, 1] for deviation in (0, 100, 1_000, 20_000)]
    assert found == sorted(found, reverse=True)
    assert found[0] == pytest.approx(1)
    assert abs(found[-1]) < 0.1
    assert ages_and_losses(1_000)[1].min() >= 1


@pytest.mark.parametrize("deviation", [-1, float("nan"), float("inf")])
def test_invalid_deviation_is_refused(deviation: float) -> None:
    with pytest.raises(InputError):
        generate_losses(5, deviation)
