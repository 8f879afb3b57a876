"""Tests of aggregate queries of one release on every engine: sure bounds equal DuckDB's and the arrays'."""

from __future__ import annotations

import math
from pathlib import Path
from random import Random
from typing import Any

import duckdb
import pyarrow.parquet as pq
import pytest

from discreet.bounds.queryable_release import OpenPermutedRelease, open_release
from discreet.bounds.release_answer import answer_from_cells, answer_release_query
from discreet.engines.connection import connect
from discreet.model.release_address import ReleaseAddress
from discreet.model.table_spec import SourceSpec
from discreet.models import Permutation
from discreet.queries.permuted_views import build_companion_views
from discreet.queries.select_query_parser import parse_release_query
from discreet.settings import Settings
from discreet.sql.dialect import DUCKDB, POSTGRES
from discreet.verbs.release_query import query
from discreet.verbs.table import Table
from tests.bounds.random_queries import QueryMaker, RandomQuery
from tests.drawing import some_of
from tests.every_engine.places import DATABASE, SLOW_ON_SPARK, DuckdbPlace, Place, PostgresPlace
from tests.frequency.conftest import table_spec

ROWS = 60
TOWNS = ("Kiel", "O'Hara", "Ål", "Bonn")
MAKER = QueryMaker(
    "salary", {"age": (18, 40), "hours": (0, 9)}, {"town": TOWNS, "sex": ("F", "M")}, ("sex", "town")
)
NUMBER = {"duckdb": some_of(20), "postgres": some_of(20), "spark": 2}
HOUSE = {"int32": "INTEGER", "int64": "BIGINT", "string": "VARCHAR", "double": "DOUBLE"}


def people() -> dict[str, tuple[str, list[Any]]]:
    draw = Random(5)
    return {
        "age": ("INTEGER", [draw.choice([None, *range(18, 41)]) for _ in range(ROWS)]),
        "hours": ("BIGINT", [draw.randint(0, 9) for _ in range(ROWS)]),
        "town": ("VARCHAR", [draw.choice([None, *TOWNS]) for _ in range(ROWS)]),
        "sex": ("VARCHAR", [draw.choice("FM") for _ in range(ROWS)]),
        "salary": ("BIGINT", [draw.choice([None, *range(-40, 400)]) for _ in range(ROWS)]),
    }


def table_of(source: SourceSpec, settings: Settings) -> Table:
    return Table(table_spec(source, ["age", "hours", "town", "sex"], ["salary"]), settings)


def published(settings: Settings, folder: Path) -> tuple[Path, Path]:
    """The original, and its permuted release, both Parquet files."""
    folder.mkdir()
    source = DuckdbPlace(settings, folder).put(people())
    table_of(source, settings).publish(Permutation(partition="qi-aware"), folder / "p.parquet", k=3)
    assert source.path is not None
    return source.path, folder / "p.parquet"


def put_release(place: Place, path: Path) -> ReleaseAddress:
    """Store the same release for the place's engine."""
    if not isinstance(place, PostgresPlace):
        return ReleaseAddress(path=path, engine="spark" if place.name == "spark" else None)
    manifest = path.with_name(f"{path.name}.manifest.json").read_text()
    parts = {"": pq.read_table(path), "_help": pq.read_table(path.with_name("p.help.parquet"))}
    for ending, found in parts.items():
        columns = {
            field.name: (HOUSE.get(str(field.type), str(field.type).replace("decimal128", "DECIMAL")), values)
            for field, values in zip(found.schema, (c.to_pylist() for c in found.columns), strict=True)
        }
        named(place, place.put(columns), f"people{ending}")
    named(place, place.put({"manifest": ("VARCHAR", [manifest])}), "people_manifest")
    return ReleaseAddress(table=f"{place.schema}.people", url=place.url)


def named(place: PostgresPlace, source: SourceSpec, name: str) -> None:
    place.server.run(f"ALTER TABLE {source.table} RENAME TO {name}", database=DATABASE)


Bounds = dict[tuple[Any, ...], tuple[Any, Any]]


def bounds_of(rows: Any) -> Bounds:
    return {(*row.group, row.aggregate): (row.lower, row.upper) for row in rows}


def same(first: Bounds, second: Bounds) -> bool:
    return first.keys() == second.keys() and all(
        a == b or (a is not None and b is not None and math.isclose(a, b, rel_tol=1e-12, abs_tol=1e-9))
        for name, ends in first.items()
        for a, b in zip(ends, second[name], strict=True)
    )


def truths(original: Path, query: RandomQuery) -> Bounds:
    """Return the original's own answers."""
    rows = duckdb.connect().execute(query.text(f"'{original}'")).fetchall()
    keys = len(query.keys)
    return {
        (*row[:keys], name): (value, value)
        for row in rows
        for name, value in zip(query.aggregates, row[keys:], strict=True)
    }


def holds(found: Bounds, truth: Bounds) -> bool:
    return all(
        value is None or (found[name][0] - 1e-9 <= value <= found[name][1] + 1e-9)
        for name, (value, _) in truth.items()
    )


def test_random_queries_have_true_and_equal_bounds(place: Place, settings: Settings, tmp_path: Path) -> None:
    original, path = published(settings, tmp_path / "there")
    address = put_release(place, path)
    queries = MAKER.queries(NUMBER[place.name], seed=11)
    with (
        connect(settings) as embedded,
        open_release(embedded, path, settings) as here,
        connect(place.settings, address.source()) as engine,
        open_release(engine, address, settings, hold=True) as release,
    ):
        for query in queries:
            found = bounds_of(answer_release_query(release, query.text(), DUCKDB).rows)
            assert holds(found, truths(original, query)), query.text()
            assert same(found, bounds_of(answer_release_query(here, query.text(), DUCKDB).rows)), query.text()
            texts = parse_release_query(query.text(), here.readable.as_texts())
            assert same(found, bounds_of(answer_from_cells(here, texts)[0])), query.text()


@SLOW_ON_SPARK
def test_array_answers_equal_those_of_every_engine(place: Place, settings: Settings, tmp_path: Path) -> None:
    """The engine that would run the query evaluates the values that labels may represent."""
    _, path = published(settings, tmp_path / "there")
    address = put_release(place, path)
    with (
        connect(place.settings, address.source()) as engine,
        open_release(engine, address, settings) as release,
    ):
        for query in MAKER.queries(2 if place.name == "spark" else some_of(15), seed=12):
            texts = parse_release_query(query.text(), release.readable.as_texts(), DUCKDB, engine.dialect)
            found = bounds_of(answer_release_query(release, query.text(), DUCKDB).rows)
            assert same(found, bounds_of(answer_from_cells(release, texts)[0])), query.text()


def test_generalized_release_is_queried(place: Place, settings: Settings, tmp_path: Path) -> None:
    """A full-domain release has the same rows everywhere, and therefore the same bounds.

    Spark reads a release of the embedded engine; test_publishing checks Spark's own.
    """
    text = "SELECT sex, COUNT(*), SUM(salary), AVG(salary) FROM x WHERE town = 'Kiel' GROUP BY sex"
    answers = []
    for number, where in enumerate((place, DuckdbPlace(settings, tmp_path))):
        put = DuckdbPlace(settings, tmp_path).put if where.name == "spark" else where.put
        table = table_of(put(people()), settings)
        levels = {"age": 1, "hours": 1, "town": 1}
        if isinstance(where, PostgresPlace):
            where.allow_releases()
            found = table.publish(levels, table=f"{where.schema}.r", k=2)
        else:
            found = table.publish(levels, tmp_path / f"r{number}.parquet", k=2)
        address = found.address
        if where.name == "spark":
            address = ReleaseAddress(path=address.path, engine="spark")
        answers.append(bounds_of(query(address, text, spec=table, settings=settings).rows))
    assert same(*answers)


def test_rewritten_query_runs_outside_discreet(
    postgres_place: PostgresPlace, settings: Settings, tmp_path: Path
) -> None:
    """The text printed for psql, and views created there by hand, give discreet's own numbers."""
    import psycopg

    _, path = published(settings, tmp_path / "there")
    address = put_release(postgres_place, path)
    table = f"{postgres_place.schema}.people"
    with (
        connect(settings, address.source()) as engine,
        open_release(engine, address, settings) as release,
        psycopg.connect(postgres_place.server.url(DATABASE)) as reader,
    ):
        for query in MAKER.queries(some_of(25), seed=13):
            answer = answer_release_query(release, query.text())
            assert answer.sql is not None
            by_hand = reader.execute(answer.sql.encode()).fetchall()
            found = bounds_of(answer.rows)
            keys = len(query.keys)
            other = {
                (*row[:keys], name): (_plain(row[keys + 3 * i]), _plain(row[keys + 3 * i + 1]))
                for row in by_hand
                for i, name in enumerate(query.aggregates)
            }
            assert same(found, other), answer.sql
        assert isinstance(release, OpenPermutedRelease)
        views = build_companion_views(release.permuted.facts, POSTGRES, table, f"{table}_help")
        rows = reader.execute(f"SELECT count(*), sum(group_rows) FROM ({views['groups']}) AS g").fetchone()
        assert rows is not None
        assert rows[1] == ROWS


def _plain(value: Any) -> Any:
    return None if value is None else float(value)


@pytest.mark.parametrize("dialect", ["duckdb", "postgres", "spark"])
def test_query_is_read_in_any_dialect(
    dialect: str, postgres_place: PostgresPlace, settings: Settings, tmp_path: Path
) -> None:
    """The dialect of the text, and of the printed query, may differ from the engine's."""
    _, path = published(settings, tmp_path / "there")
    address = put_release(postgres_place, path)
    text = "SELECT SUM(salary) FROM x WHERE age > 20"
    expected = bounds_of(query(path, text, settings=settings).rows)
    answer = query(address, text, dialect=dialect, settings=settings)
    assert same(bounds_of(answer.rows), expected)
    assert answer.sql is not None
    assert ("`" in answer.sql) == (dialect == "spark")
