"""NaN in Parquet files whose statistics omit it, as pyarrow's do."""

from __future__ import annotations

from pathlib import Path

import pyarrow
import pyarrow.parquet
import pytest

import discreet
from discreet.engines.duckdb.engine import DuckdbEngine
from discreet.model.table_spec import SourceSpec

NAN, INFINITY = float("nan"), float("inf")


def parquet(path: Path, numbers: list[float]) -> Path:
    ages = pyarrow.array([20 + 10 * (row % 2) for row in range(len(numbers))], pyarrow.int64())
    pyarrow.parquet.write_table(pyarrow.table({"age": ages, "pay": pyarrow.array(numbers)}), path)
    return path


@pytest.mark.parametrize("numbers", [[NAN, 5.0], [NAN, 0.0, 1.0], [5.0, NAN], [NAN, INFINITY, 2.0], [NAN]])
def test_nan_is_neither_finite_nor_whole(engine: DuckdbEngine, tmp_path: Path, numbers: list[float]) -> None:
    table = engine.open_source(
        SourceSpec(path=parquet(tmp_path / "people.parquet", numbers), floats_as_integers=True)
    )
    assert table.types["pay"] == "DOUBLE"
    cell = table.column("pay")
    rows = engine.fetch_rows(
        f"SELECT isnan({cell}), abs({cell}) <= 1.7e308, {table.text('pay')} FROM {table.relation}"
    )
    assert [row[0] for row in rows] == [number != number for number in numbers]
    assert [row[1] for row in rows] == [abs(number) < INFINITY for number in numbers]
    assert [row[2] == "nan" for row in rows] == [number != number for number in numbers]


def test_nan_is_published_unchanged(tmp_path: Path) -> None:
    source = parquet(tmp_path / "people.parquet", [NAN, 0.0, 1.0, NAN])
    spec = {"attributes": {"age": {"role": "quasi-identifier"}, "pay": {"role": "sensitive"}}}
    discreet.open(source, spec).publish({"age": 0}, tmp_path / "release.csv", k=2)
    lines = (tmp_path / "release.csv").read_text().splitlines()[1:]
    assert sorted(lines) == ["20,1.0", "20,nan", "30,0.0", "30,nan"]
