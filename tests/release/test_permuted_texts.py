"""Sensitive texts stay texts in a permuted release, unless numbers represent them exactly."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import discreet
from discreet.engines.duckdb.engine import DuckdbEngine
from discreet.model.release_kind import ReleaseForm
from discreet.models import Permutation
from discreet.settings import Settings
from discreet.verbs.table import Table
from tests.drawing import in_turn
from tests.oracle.permuted_tables import numbers_of, table_of

ROWS = 24
SPEC = {"attributes": {"age": {"role": "quasi-identifier"}, "pay": {"role": "sensitive"}}}
STAY = {
    "codes": ["010", "10", "0020", "007", "02138", "7"],
    "spellings": ["1", ".5", "+2", "3."],
    "exponents": ["1e0", "-1", "2", "3"],
    "scales": ["1", "1.0", "1.50", "2"],
    "negative zero": ["-0.0", "1.0", "2.0"],
    "blanks": [" 1", "2", "3"],
    "beyond 64 bits": ["9223372036854775807", "9223372036854775808", "18446744073709551616", "1"],
}
BECOME = {
    "whole numbers": (["10", "-3", "0", "9223372036854775807"], "BIGINT", "int64"),
    "decimals": (["1.50", "-0.25", "0.00"], "DECIMAL(18,2)", "decimal128(18, 2)"),
}


def cycled(values: Sequence[Any]) -> list[Any]:
    return [values[i % len(values)] for i in range(ROWS)]


def texts(folder: Path, settings: Settings, values: Sequence[Any]) -> Table:
    """Return a table of texts with one NULL."""
    cells = [*cycled(values)[:-1], None]
    return table_of(folder, settings, [(20 + i % 7, value) for i, value in enumerate(cells)])


def column(path: Path, form: str) -> tuple[str, list[Any]]:
    """Return the type and the cells of the published sensitive attribute."""
    separate = form == ReleaseForm.TWO_TABLES
    if path.suffix == ".parquet":
        found = pq.read_table(path.with_name(f"{path.stem}.sensitive.parquet") if separate else path)["pay"]
        return str(found.type), found.to_pylist()
    with duckdb.connect(str(path), read_only=True) as connection:
        query = f"SELECT pay FROM {'sensitive_values' if separate else 'release'}"
        cursor = connection.execute(query)
        return str(cursor.description[0][1]), [row[0] for row in cursor.fetchall()]


def answers(path: Path, query: str) -> list[tuple[float | None, float | None]]:
    """Return the bounds of a query's aggregates, and check that plain SQL gives the same."""
    found = discreet.query(path, query)
    assert found.sql is not None
    database = str(path) if path.suffix == ".duckdb" else ":memory:"
    with duckdb.connect(database, read_only=path.suffix == ".duckdb") as connection:
        line = connection.execute(found.sql).fetchall()[0]
    for place, row in enumerate(found.rows):
        assert (row.lower, row.upper) == pytest.approx(tuple(map(float, line[3 * place : 3 * place + 2])))
    return [(row.lower, row.upper) for row in found.rows]


@pytest.mark.parametrize(
    ("kind_of_text", "name", "form"),
    in_turn(STAY, ["r.parquet", "r.duckdb"], ["one-table", "two-tables"]),
)
def test_texts_that_are_not_numbers_stay_texts(
    kind_of_text: str, name: str, form: str, settings: Settings, tmp_path: Path, out: Path
) -> None:
    values = STAY[kind_of_text]
    release = texts(tmp_path, settings, values).publish(Permutation(form=form), out / name, k=2)
    kind, cells = column(out / name, form)
    assert kind in ("string", "VARCHAR")
    assert Counter(cells) == Counter([*cycled(values)[:-1], None])
    assert release.permutation is not None
    assert release.permutation.numeric
    assert discreet.audit(out / name, settings=settings).passed
    numbers = [float(value) for value in cycled(values)[:-1]]
    found = answers(out / name, "SELECT SUM(pay), MIN(pay), MAX(pay) FROM people")
    for bounds, exact in zip(found, (sum(numbers), min(numbers), max(numbers)), strict=True):
        assert bounds == pytest.approx((exact, exact))


@pytest.mark.parametrize("name", ["r.parquet", "r.duckdb"])
@pytest.mark.parametrize(("values", "database", "file"), BECOME.values(), ids=BECOME)
def test_texts_that_are_just_numbers_become_numbers(
    values: list[str], database: str, file: str, name: str, settings: Settings, tmp_path: Path, out: Path
) -> None:
    texts(tmp_path, settings, values).publish("permutation", out / name, k=2)
    kind, cells = column(out / name, "one-table")
    assert kind == (database if name.endswith("duckdb") else file)
    assert Counter(None if cell is None else str(cell) for cell in cells) == Counter(
        [*cycled(values)[:-1], None]
    )


def test_macro_and_views_of_texts_give_the_query_bounds(
    settings: Settings, tmp_path: Path, out: Path
) -> None:
    table = texts(tmp_path, settings, STAY["codes"])
    table.publish("permutation", out / "r.duckdb", k=2)
    (bounds,) = answers(out / "r.duckdb", "SELECT SUM(pay) FROM people WHERE age < 23")
    with duckdb.connect(str(out / "r.duckdb"), read_only=True) as connection:
        tight = connection.execute("SELECT sum_of_lower, sum_of_upper FROM pay_bounds(age < 23)").fetchall()
        assert tuple(map(float, tight[0])) == bounds
        cells = "sum(CAST(pay AS BIGINT)), sum(pay_lower), sum(pay_upper)"
        total, lower, upper = connection.execute(f"SELECT {cells} FROM release_with_bounds").fetchall()[0]
    assert lower <= total == sum(map(int, cycled(STAY["codes"])[:-1])) <= upper


def test_wide_numbers_keep_their_type(settings: Settings, tmp_path: Path, out: Path) -> None:
    """Wide numbers keep their type: beyond 64 bits, bounds are doubles, but published values are exact."""
    values = [2**64, 2**64 + 1, 5, 2**63]
    given = pa.array([Decimal(value) for value in cycled(values)], pa.decimal128(30, 0))
    numbers_of(tmp_path, settings, given).publish("permutation", out / "r.parquet", k=2)
    kind, cells = column(out / "r.parquet", "one-table")
    assert kind == "decimal128(30, 0)"
    assert Counter(map(int, cells)) == Counter(cycled(values))


def test_many_columns_of_texts_need_no_more_statements(
    settings: Settings, tmp_path: Path, out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Many text columns need no more statements: one query finds which of them are numeric."""
    fetch, found = DuckdbEngine.fetch_rows, []
    for others in (3, 30):
        statements: list[str] = []

        def counting(engine: DuckdbEngine, query: str, seen: list[str] = statements) -> Any:
            seen.append(query)
            return fetch(engine, query)

        monkeypatch.setattr(DuckdbEngine, "fetch_rows", counting)
        names = ",".join(["age", *(f"x{i}" for i in range(others)), "pay"])
        lines = [",".join([str(20 + i), *["7"] * others, str(i)]) for i in range(6)]
        (tmp_path / "wide.csv").write_text("\n".join([names, *lines, ""]))
        spec = {**SPEC, "source": {"unlisted_columns": "insensitive"}}
        table = discreet.open(tmp_path / "wide.csv", spec, settings=settings)
        table.publish("permutation", out / "r.parquet", k=2, overwrite=True)
        found.append(len(statements))
    assert found[0] == found[1]
