"""Tests of the contract of every engine: sources, tables, arrays, files."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from discreet.engines.connection import connect
from discreet.engines.source_tables import TemporaryTables, open_source_table
from discreet.errors import DiscreetError, InternalError
from discreet.sql.quoting import identifier
from tests.engines.rows import sorted_rows
from tests.every_engine.places import ODD_TEXTS, Columns, Place

ODD = [*ODD_TEXTS, None]
TABLE: Columns = {
    'the "id"': ("BIGINT", [2**62 + i for i in range(len(ODD))]),
    "select": ("VARCHAR", ODD),
    "Größe; x.y": ("DECIMAL(6,1)", [Decimal(i).scaleb(-1) for i in range(-3, len(ODD) - 3)]),
    "%": ("DOUBLE", [float(i) for i in range(len(ODD))]),
    "day": ("DATE", [dt.date(1900, 1, 1) + dt.timedelta(days=9999 * i) for i in range(len(ODD))]),
}


def test_columns_types_and_cells_equal_those_of_the_table(place: Place) -> None:
    source = place.put(TABLE)
    with place.connect(source) as engine:
        with open_source_table(engine, source) as table:
            assert table.columns == tuple(TABLE)
            assert dict(table.types) == {name: kind for name, (kind, _) in TABLE.items()}
            assert table.dialect == engine.dialect
        names = ['the "id"', "select", "Größe; x.y", "day"]
        expected = zip(*(map(_text, TABLE[name][1]) for name in names), strict=True)
        assert sorted_rows(engine, source, names) == sorted(expected, key=str)


def _text(cell: Any) -> str | None:
    return None if cell is None else str(cell)


def test_loaded_table_has_the_loaded_values(place: Place) -> None:
    numbers = np.array([2**62 - i for i in range(len(ODD))])
    reals = np.array([i / 8 for i in range(len(ODD))])
    columns: dict[str, Sequence[str | None] | NDArray[Any]] = {"text": ODD, "number": numbers, "real": reals}
    with place.connect() as engine, TemporaryTables(engine) as tables:
        name = identifier(tables.load(columns))
        rows = engine.fetch_rows(f'SELECT "text", "number", "real" FROM {name} ORDER BY "number" DESC')
        arrays = engine.fetch_arrays(f'SELECT "number", "real" FROM {name} ORDER BY "number" DESC')
    assert [tuple(row) for row in rows] == list(zip(ODD, numbers, reals, strict=True))
    assert list(arrays) == ["number", "real"]
    assert arrays["number"].dtype == np.int64
    np.testing.assert_array_equal(arrays["number"], numbers)
    np.testing.assert_array_equal(arrays["real"], reals)


def test_table_is_loaded_in_parts(place: Place) -> None:
    parts = [{"n": np.arange(begin, begin + 3), "half": np.arange(begin, begin + 3) / 2} for begin in (0, 3)]
    with place.connect() as engine, TemporaryTables(engine) as tables:
        name = tables.new_name()
        engine.load_parts(name, iter(parts))
        rows = engine.fetch_rows(f"SELECT n, half FROM {identifier(name)} ORDER BY n")
        engine.drop_table(name)
    assert [tuple(row) for row in rows] == [(n, n / 2) for n in range(6)]


def test_arrays_may_be_empty_or_texts_but_not_null(place: Place) -> None:
    with place.connect() as engine, TemporaryTables(engine) as tables:
        name = identifier(tables.load({"n": np.arange(3), "t": ["a", "b", None]}))
        assert engine.fetch_arrays(f"SELECT n FROM {name} WHERE n > 5")["n"].size == 0
        found = engine.fetch_arrays(f"SELECT t FROM {name} WHERE t IS NOT NULL ORDER BY t")
        assert list(found["t"]) == ["a", "b"]
        with pytest.raises(InternalError, match="NULL in column"):
            engine.fetch_arrays(f"SELECT CASE WHEN n = 1 THEN n END AS n FROM {name}")
        assert engine.fetch_rows(f"SELECT count(*) FROM {name}") == [(3,)]


def test_result_is_kept_in_the_embedded_engine(place: Place) -> None:
    source = place.put(TABLE)
    with place.connect(source) as engine, open_source_table(engine, source) as table:
        embedded = engine.keep_result("kept", f"SELECT * FROM {table.relation}")
        found = embedded.fetch_rows("SELECT c0, c1, c2, c3, c4 FROM kept ORDER BY c0")
    assert embedded.dialect.name == "duckdb"
    assert found == list(zip(*(values for _, values in TABLE.values()), strict=True))


def test_tables_are_computed_once_and_replaced(place: Place) -> None:
    with place.connect() as engine:
        engine.create_table("once", f"SELECT {engine.dialect.random_key or 'random()'} AS r")
        first = engine.fetch_rows("SELECT r FROM once")
        assert engine.fetch_rows("SELECT r FROM once") == first
        engine.create_table("once", "SELECT 1 AS r")
        assert engine.fetch_rows("SELECT r FROM once") == [(1,)]
        engine.drop_table("once")
        engine.drop_table("once")
        with pytest.raises(DiscreetError):
            engine.fetch_rows("SELECT r FROM once")
        assert engine.fetch_rows("SELECT 2 AS r") == [(2,)]


def test_file_is_written_in_order(place: Place, out: Path) -> None:
    source = place.put(TABLE)
    with place.connect(source) as engine, open_source_table(engine, source) as table:
        query = f"SELECT c0, c1, c2, c4 FROM {table.relation} ORDER BY c0 DESC"
        engine.write_file(query, out / "a.csv", "csv", ["id", "Text", "number", "day"])
        engine.write_file(query, out / "a.parquet", "parquet", ["id", "Text", "number", "day"])
    assert (out / "a.csv").stat().st_mode & 0o777 == 0o600
    with connect(place.settings) as embedded:
        rows = embedded.fetch_rows(f"SELECT * FROM read_parquet('{out / 'a.parquet'}')")
    columns = [TABLE[name][1] for name in ('the "id"', "select", "Größe; x.y", "day")]
    assert rows == list(zip(*columns, strict=True))[::-1]
    text = (out / "a.csv").read_bytes()
    assert text.startswith(b"id,Text,number,day\n")
    assert b'\n4611686018427387906,"",-0.1,' in text  # the empty text, which is not NULL
