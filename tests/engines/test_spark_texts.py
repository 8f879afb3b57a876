"""The canonical text of a cell on Spark equals DuckDB's, type by type."""

from __future__ import annotations

import datetime as dt
import random
import struct
from decimal import Decimal
from pathlib import Path

import duckdb
import pyarrow
import pyarrow.parquet
import pytest

from discreet.engines.connection import connect
from discreet.model.table_spec import SourceSpec
from discreet.settings import Settings
from tests.engines.rows import text_rows

pytestmark = pytest.mark.spark

_EDGES = [0.0, -0.0, 1e16, 1e15, 9999999999999998.0, 1e7, 9999999.0, 1e-3, 1e-4, 9.999e-5, 1e-5, 1e22, 1e23]
_EDGES += [2.0**62, 2.0**63, -(2.0**64), 1 / 3, 5e-324, 1e-323, 1.7976931348623157e308, 8.41e21, 0.1, 100.0]
_EDGES += [float("nan"), float("inf"), float("-inf")]


def _doubles() -> list[float]:
    draw = random.Random(8)
    found = [struct.unpack("d", draw.randbytes(8))[0] for _ in range(500)]
    found += [draw.gauss(0, 1) * 10.0 ** draw.randint(-8, 15) for _ in range(500)]
    found += [float(f"{draw.randint(1, 999999)}e{draw.randint(-30, 30)}") for _ in range(500)]
    return _EDGES + [number for number in found if number == number]


def _columns() -> dict[str, pyarrow.Array]:
    days = [dt.date(1, 1, 1), dt.date(1582, 10, 10), dt.date(1969, 12, 31), dt.date(9999, 12, 31)]
    times = [
        dt.datetime.combine(day, dt.time(1, 2, 3, fraction)) for day in days for fraction in (0, 120000, 1)
    ]
    numbers = [Decimal("0.0000001"), Decimal("-12.5"), Decimal(0)]
    fractions = [Decimal("0.500"), Decimal("-0.001"), Decimal("0.000")]
    since_1970 = [*(day.toordinal() - 719163 for day in days), -719529, 2932897, -1000000]
    return {
        "double": pyarrow.array(_doubles()),
        "float": pyarrow.array([0.1, 1.5, -0.0, 16777216.0, 1e10, 1e-4, 3.25e-5, 1e20], pyarrow.float32()),
        "decimal": pyarrow.array(numbers, pyarrow.decimal128(20, 8)),
        "wide": pyarrow.array([Decimal(10**37), Decimal(-1)], pyarrow.decimal128(38, 0)),
        "fraction": pyarrow.array(fractions, pyarrow.decimal128(3, 3)),
        "whole": pyarrow.array([2**62, -(2**63), 0]),
        "flag": pyarrow.array([True, False]),
        "day": pyarrow.array(since_1970, pyarrow.date32()),
        "time": pyarrow.array([*times, None], pyarrow.timestamp("us")),
        "far": pyarrow.array([-65_000_000_000_000_000, 300_000_000_000_000_001], pyarrow.timestamp("us")),
        "instant": pyarrow.array(times, pyarrow.timestamp("us", tz="UTC")),
        "bytes": pyarrow.array([b"", bytes(range(256)), b"plain 'text'", None], pyarrow.binary()),
    }


def test_texts_equal_those_of_duckdb(spark_process: None, settings: Settings, tmp_path: Path) -> None:
    longest = max(map(len, _columns().values()))
    padded = {
        name: pyarrow.concat_arrays([cells, pyarrow.nulls(longest - len(cells), cells.type)])
        for name, cells in _columns().items()
    }
    path = tmp_path / "cells.parquet"
    pyarrow.parquet.write_table(pyarrow.table({"place": pyarrow.array(range(longest)), **padded}), path)
    found = []
    for engine_name in ("spark", None):
        source = SourceSpec(path=path, engine=engine_name)
        with connect(settings, source) as engine:
            columns = zip(*sorted(text_rows(engine, source), key=lambda row: int(str(row[0]))), strict=True)
            found.append(dict(zip(["place", *padded], columns, strict=True)))
            found[-1] |= {"types": tuple(engine.open_source(source).types.values())}
    assert found[0] == found[1]


def test_embedded_engine_prints_the_shortest_digits() -> None:
    numbers = [number for number in _doubles() if number not in (float("inf"), float("-inf"))]
    with duckdb.connect() as connection:
        rows = pyarrow.table({"x": numbers})
        connection.register("numbers", rows)
        found = connection.execute("SELECT CAST(x AS VARCHAR) FROM numbers").fetchall()
    assert [text for (text,) in found] == [repr(number) for number in numbers]
