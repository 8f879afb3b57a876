"""Tests that the canonical text of a cell is the same on every engine: DuckDB's."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as limits
from hypothesis import strategies as st

from discreet.engines.base import Engine
from discreet.engines.connection import connect
from discreet.engines.postgres.engine import PostgresEngine
from discreet.model.table_spec import SourceSpec
from discreet.settings import Settings
from discreet.sql.dialect import DUCKDB, POSTGRES
from discreet.sql.quoting import identifier, literal
from tests.drawing import some_of
from tests.every_engine.places import DATABASE, READER, Columns, Place, PostgresPlace
from tests.servers.postgres import PostgresServer

DOUBLES = (
    "0 -0 nan inf -inf 1 -1.5 0.1 1e6 1e14 1e15 1e16 1234567890123456 1e-4 1e-5 -1.5e300 5e-324 1e22 100 "
    "0.3333333333333333 1000000000000000.1 123456.789 9999999999999998 -2.5e-7 0.00012345 "
    "1.7976931348623157e308"
)
FLOATS = "0 -0 nan inf 1 0.1 16777216 1e10 1e-4 1e-5 1234567 3.5e20"
LEAP = dt.datetime(2020, 2, 29, 23, 59, 59)
MOMENTS = [LEAP + dt.timedelta(microseconds=10**i) for i in range(7)]
TYPED: dict[str, list[Any]] = {
    "BIGINT": [0, -1, 2**62, -(2**62), 2**63 - 1, -(2**63)],
    "SMALLINT": [0, -32768, 7],
    "BOOLEAN": [True, False],
    "DATE": [dt.date(1970, 1, 1), dt.date(2024, 2, 29), dt.date(1, 1, 1), dt.date(9999, 12, 31)],
    "TIMESTAMP": [*MOMENTS, dt.datetime(1969, 12, 31, 23, 59, 59, 999999), dt.datetime(2020, 1, 2)],
    "TIMESTAMP WITH TIME ZONE": [moment.replace(tzinfo=dt.UTC) for moment in MOMENTS],
    "DECIMAL(6,1)": [Decimal("-0.5"), Decimal("0.0"), Decimal("12345.6"), Decimal("10.0")],
    "DECIMAL(4,4)": [Decimal("-0.5000"), Decimal("0.0000"), Decimal("0.1234")],
    "DECIMAL(38,0)": [Decimal(10) ** 37, Decimal(-7)],
    "DECIMAL(18,9)": [Decimal("0.000000001"), Decimal("-123456789.000000001")],
    "DOUBLE": [float(text) for text in DOUBLES.split()],
    "FLOAT": [float(text) for text in FLOATS.split()],
}
"""Values of each type whose texts differ between databases; rows repeat them, with NULL."""


def cell_texts(place: Place, columns: Columns) -> list[list[str | None]]:
    """Return the canonical texts of whole columns, in the order of the rows."""
    rows = len(next(iter(columns.values()))[1])
    source = place.put({**columns, "row": ("INTEGER", list(range(rows)))})
    with place.connect(source) as engine:
        table = engine.open_source(source)
        cells = ", ".join(table.text(name) for name in columns)
        order = table.column("row")
        found = engine.fetch_rows(f"SELECT {cells}, {order} FROM {table.relation} ORDER BY {order}")
        engine.close_source(table)
    return [list(column) for column in zip(*(row[:-1] for row in found), strict=True)]


def test_every_type_has_one_text(place: Place, duckdb_place: Place) -> None:
    rows = 1 + max(map(len, TYPED.values()))
    cells: Columns = {
        f"{house} column": (house, [[*values, None][i % (len(values) + 1)] for i in range(rows)])
        for house, values in TYPED.items()
    }
    columns = place.held(cells)
    expected = dict(zip(cells, cell_texts(duckdb_place, place.read_as(columns)), strict=True))
    assert dict(zip(cells, cell_texts(place, columns), strict=True)) == expected
    zero, numbers = "0.0" if place.name == "mariadb" else "-0.0", expected["DOUBLE column"]
    assert [*numbers[:2], *numbers[5:8]] == ["0.0", zero, "1.0", "-1.5", "0.1"]
    assert set(numbers) > {"1e+16", "0.0001", "1e-05"}
    if place.name != "mariadb":
        assert set(numbers) > {"nan", "inf", "-inf"}


def same_texts(one: Engine, other: Engine, house: str, cells: Sequence[str]) -> None:
    """Check that cells, given as texts, are cast to a house type and back to the same texts."""

    def back(engine: Engine) -> list[Any]:
        each = (engine.dialect.text(engine.dialect.cast(literal(cell), house), house) for cell in cells)
        return list(engine.fetch_rows(f"SELECT {', '.join(each)}")[0])

    assert back(one) == back(other)


@pytest.fixture(scope="module")
def both(database: PostgresServer, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """DuckDB's engine and PostgreSQL's."""
    settings = Settings(memory_limit=10**9, threads=1, private_log=tmp_path_factory.mktemp("log") / "log")
    with connect(settings) as duckdb, PostgresEngine(settings, database.url(DATABASE, READER)) as postgres:
        yield duckdb, postgres


@limits(max_examples=some_of(60))
@given(st.lists(st.floats(), min_size=1, max_size=20))
def test_drawn_doubles_have_the_same_texts(both: tuple[Engine, Engine], numbers: list[float]) -> None:
    same_texts(*both, "DOUBLE", [repr(number) for number in numbers])


@limits(max_examples=some_of(40))
@given(st.lists(st.floats(width=32), min_size=1, max_size=20))
def test_drawn_floats_have_the_same_texts(both: tuple[Engine, Engine], numbers: list[float]) -> None:
    same_texts(*both, "FLOAT", [str(np.float32(number)) for number in numbers])


@limits(max_examples=some_of(30))
@given(
    st.lists(st.datetimes(), min_size=1, max_size=10),
    st.sampled_from(["TIMESTAMP", "TIMESTAMP WITH TIME ZONE"]),
)
def test_drawn_moments_have_the_same_texts(
    both: tuple[Engine, Engine], moments: list[dt.datetime], house: str
) -> None:
    same_texts(*both, house, [moment.isoformat(sep=" ") for moment in moments])


@limits(max_examples=some_of(30))
@given(st.lists(st.decimals(-999999, 999999, places=3), min_size=1, max_size=10))
def test_drawn_decimals_have_the_same_texts(both: tuple[Engine, Engine], numbers: list[Decimal]) -> None:
    same_texts(*both, "DECIMAL(12,3)", [f"{number:f}" for number in numbers])


@pytest.mark.parametrize("house", ["DATE", "TIMESTAMP", "TIMESTAMP WITH TIME ZONE"])
def test_infinity_and_years_before_christ_have_the_same_texts(
    both: tuple[Engine, Engine], house: str
) -> None:
    duckdb, postgres = both
    same_texts(duckdb, postgres, house, ["infinity", "-infinity", "10000-01-01"])
    theirs = postgres.fetch_rows(
        f"SELECT {POSTGRES.text(POSTGRES.cast(literal('0044-03-15 BC'), house), house)}"
    )
    ours = duckdb.fetch_rows(f"SELECT {DUCKDB.text(DUCKDB.cast(literal('0044-03-15 (BC)'), house), house)}")
    assert theirs == ours


def test_uuids_booleans_and_times_have_the_same_texts(both: tuple[Engine, Engine]) -> None:
    same_texts(*both, "UUID", ["A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11"])
    same_texts(*both, "BOOLEAN", ["true", "false"])
    same_texts(*both, "TIME", ["00:00:00", "23:59:59.5", "12:34:56.000001"])


def test_types_specific_to_postgres_are_texts(
    database: PostgresServer, postgres_place: PostgresPlace
) -> None:
    schema = postgres_place.schema
    place = f"{identifier(schema)}.own"
    database.run(
        f"CREATE TYPE {schema}.size AS ENUM ('small', 'it''s')",
        f"CREATE DOMAIN {schema}.age AS INTEGER CHECK (value > 0)",
        f"CREATE TABLE {place} (padded CHAR(5), short VARCHAR(9), size {schema}.size, age {schema}.age, "
        "id UUID, loose NUMERIC, scaled NUMERIC(6,2), document JSONB, address INET, many INTEGER[], "
        'bytes BYTEA, folded TEXT COLLATE "POSIX", span INTERVAL, ranged INT4RANGE, plain NAME)',
        f"INSERT INTO {place} VALUES ('ab', 'ab ', 'it''s', 7, gen_random_uuid(), 1.10, 1.1, "
        "'{\"a\": 1}', '10.0.0.1', '{1,2}', '\\x00ff', 'é', '1 day', '[1,3)', 'n')",
        f"GRANT SELECT ON {place} TO {READER}",
        database=DATABASE,
    )

    source = SourceSpec(url=database.url(DATABASE, READER), table=f"{schema}.own")
    with PostgresEngine(postgres_place.settings, str(source.url)) as engine:
        table = engine.open_source(source)
        named = [n for n in table.columns if n not in ("many", "bytes", "id")]
        cells = ", ".join(table.text(name) for name in named)
        found = dict(zip(named, engine.fetch_rows(f"SELECT {cells} FROM {table.relation}")[0], strict=True))
        kept = engine.keep_result("kept", f"SELECT c0, c3, c4, c6, c10 FROM {table.relation}")
        assert kept.fetch_rows("SELECT c0, c3, c6, c10 FROM kept") == [
            ("ab", 7, Decimal("1.10"), b"\x00\xff")
        ]
    assert found["padded"] == "ab"
    assert found["short"] == "ab "
    assert (found["size"], found["age"], found["loose"], found["scaled"]) == ("it's", "7", "1.10", "1.10")
    assert (found["document"], found["address"], found["folded"]) == ('{"a": 1}', "10.0.0.1/32", "é")
    assert {n: table.types[n] for n in ("age", "id", "many", "bytes", "scaled", "loose")} == {
        "age": "INTEGER",
        "id": "UUID",
        "many": "VARCHAR[]",
        "bytes": "BLOB",
        "scaled": "DECIMAL(6,2)",
        "loose": "VARCHAR",
    }
