"""Tests that written rows equal the decision: an engine that writes other rows is detected everywhere."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import duckdb
import pytest

from discreet.engines.duckdb.engine import DuckdbEngine
from discreet.engines.postgres.engine import PostgresEngine
from discreet.engines.spark.engine import SparkEngine
from discreet.errors import LimitReached
from discreet.model.table_spec import Attribute, AttributeRole, TableSpec
from discreet.models import Permutation
from discreet.release.publication import _CellHashing
from discreet.sql import row_hashes
from discreet.sql.dialect import DUCKDB
from discreet.sql.quoting import identifier
from discreet.verbs.table import Table
from tests.drawing import NEW, in_turn
from tests.every_engine.places import Place, PostgresPlace

NAMES = [
    "duckdb.parquet",
    "duckdb.csv",
    "duckdb.duckdb",
    "postgres",
    "postgres.parquet",
    "postgres.csv",
    "spark",
    "spark.folder",
    "spark.csv",
]
PERMUTATION = "permutation"
MODELS = ["full-domain", "full-subtree", "unrestricted-multi-dimension", "subjects", "starred", PERMUTATION]
ON_SPARK = {
    ("spark", "full-domain", "note"),
    ("spark.folder", "unrestricted-multi-dimension", "pay"),
    ("spark.csv", PERMUTATION, "share"),
}
"""Combinations that run on Spark in every run: each target once, each fault once; the rest takes minutes.

Rows without a fault are checked in test_publishing.
"""


EVERY_MODEL = (("duckdb.parquet", "note"), ("postgres", "pay"), ("postgres", None))
"""Where every run tries each model, and with which fault: other writers use one or two models."""
ONE_MODEL = {("pay", "full-domain"), ("share", PERMUTATION)}
"""Faults that other writers show with one model: every model's rows are compared as one multiset of cells."""


def _marks(place: str, model: str, spoilt: str | None) -> list[pytest.MarkDecorator]:
    if not place.startswith("spark"):
        only_some = spoilt in ("pay", "share") and place != "duckdb.duckdb"
        two = (spoilt, model) in ONE_MODEL if only_some else model in ("full-domain", PERMUTATION)
        quick = (place, spoilt) in EVERY_MODEL or two
        return [] if quick else [pytest.mark.slow]
    return [pytest.mark.spark, *([] if (place, model, spoilt) in ON_SPARK else [pytest.mark.slow])]


def _releases(spoilt: str | None, *rest: Any) -> list[Any]:
    """Return every target with every model that it may have, then ``rest``."""
    return [
        pytest.param(place, model, *rest, marks=_marks(place, model, spoilt))
        for place in NAMES
        for model in (MODELS if place != "duckdb.duckdb" else [PERMUTATION])
    ]


COLUMNS: dict[str, tuple[str, list[Any]]] = {
    "age": ("INTEGER", [31, 31, 31, 31, 31, 41, 41, 41, 41, 41, 51, None]),
    "town": ("VARCHAR", ["Kiel"] * 5 + ["Bonn"] * 5 + ["Ål", "Ål"]),
    "pay": ("BIGINT", [10, 20, 30, 40, 50, 60, 70, 80, 90, 100, 110, 120]),
    "note": ("VARCHAR", ["", "a,b", None, 'say "x"', "*", "-", "1:a", "é", " ", "b", "c", "d"]),
    "share": ("DOUBLE", [0.5, 1e300, None, -0.25, 1 / 3, 2.0, 1e-9, 7.0, 8.0, 9.0, 10.0, 11.0]),
    "who": ("VARCHAR", [f"n{i}" for i in range(12)]),
}
ROLES = {
    "age": AttributeRole.QUASI_IDENTIFIER,
    "town": AttributeRole.QUASI_IDENTIFIER,
    "pay": AttributeRole.SENSITIVE,
    "note": AttributeRole.INSENSITIVE,
    "share": AttributeRole.INSENSITIVE,
    "who": AttributeRole.IDENTIFIER,
}

Spoil = Callable[[list[str], int], str]


def _blank(columns: list[str], place: int) -> str:
    """Set the cell of one row to NULL."""
    shown = list(columns)
    shown[place] = f"CASE WHEN n = 1 THEN NULL ELSE {columns[place]} END"
    return f"SELECT {', '.join(shown)} FROM numbered"


def _swap(columns: list[str], place: int) -> str:
    """Exchange the rows with the least and the largest cell."""
    shown, cell = list(columns), columns[place]
    shown[place] = f"CASE WHEN n = 1 THEN most WHEN n = last THEN least ELSE {cell} END"
    return f"SELECT {', '.join(shown)} FROM numbered"


def _replace(columns: list[str], place: int) -> str:
    """Write a row twice, and another one not at all."""
    names = ", ".join(columns)
    return f"SELECT {names} FROM numbered WHERE n < last UNION ALL SELECT {names} FROM numbered WHERE n = 1"


def _none(columns: list[str], place: int) -> str:
    return f"SELECT {', '.join(columns)} FROM numbered"


def _spoilt(query: str, columns: Any, column: str, spoil: Spoil) -> str:
    if columns is None or column not in columns:
        return query
    names = [f"c{i}" for i in range(len(columns))]
    place = list(columns).index(column)
    cell = names[place]
    known_first = f"CASE WHEN {cell} IS NULL THEN 1 ELSE 0 END, {cell}"
    numbered = (
        f"SELECT *, row_number() OVER (ORDER BY {known_first}) AS n, count(*) OVER () AS last, "
        f"min({cell}) OVER () AS least, max({cell}) OVER () AS most FROM ({query}) AS t({', '.join(names)})"
    )
    return f"SELECT * FROM (WITH numbered AS ({numbered}) {spoil(names, place)}) AS spoilt"


@pytest.fixture
def spoil_writers(monkeypatch: pytest.MonkeyPatch) -> Callable[[str, Spoil], None]:
    """Make every engine write wrong rows if a table has a column of that name."""

    def spoil_all(column: str, spoil: Spoil) -> None:
        def patch(owner: type, name: str, columns_at: int) -> None:
            original = getattr(owner, name)

            def spoilt(self: Any, query: str, *rest: Any, **options: Any) -> Any:
                columns = rest[columns_at] if len(rest) > columns_at else None
                return original(self, _spoilt(query, columns, column, spoil), *rest, **options)

            monkeypatch.setattr(owner, name, spoilt)

        patch(DuckdbEngine, "write_file", 2)
        patch(PostgresEngine, "write_table", 2)
        patch(SparkEngine, "write_table", 1)
        patch(SparkEngine, "write_folder", 1)
        write_database = DuckdbEngine.write_database

        def spoilt_database(self: Any, path: Path, tables: Any, *rest: Any) -> None:
            others = {
                name: replace(table, query=_spoilt(table.query, table.columns, column, spoil))
                for name, table in tables.items()
            }
            write_database(self, path, others, *rest)

        monkeypatch.setattr(DuckdbEngine, "write_database", spoilt_database)

    return spoil_all


@pytest.fixture
def writing(request: pytest.FixtureRequest) -> Iterator[tuple[Place, dict[str, Any]]]:
    """A place, and the target of its releases, which must be empty after a refusal."""
    name, _, ending = request.param.partition(".")
    place: Place = request.getfixturevalue(f"{name}_place")
    out = place.folder / "out"
    out.mkdir()
    if ending:
        yield place, {"output": out / ("release" if ending == "folder" else f"release.{ending}")}
    elif isinstance(place, PostgresPlace):
        place.allow_releases()
        yield place, {"table": f"{place.schema}.released"}
    else:
        yield place, {"table": f"default.released_{place.next_table()}"}


def _publish(place: Place, target: dict[str, Any], model: str, form: str | None = None) -> None:
    subject = "who" if model == "subjects" else None
    source = replace(place.put(COLUMNS), subject=subject)
    table = Table(TableSpec(source, tuple(Attribute(n, role) for n, role in ROLES.items())), place.settings)
    if model == PERMUTATION:
        table.publish(Permutation(form=form or "one-table"), k=2, **target)
        return
    if model in ("full-domain", "subjects", "starred"):
        answer: Any = table.negotiate(k=2, max_suppressed=2).exact
        table.publish(answer, suppressed_rows="star" if model == "starred" else "drop", **target)
        return
    table.publish(table.recode(model, k=2), **target)


def _nothing_is_left(place: Place, target: dict[str, Any]) -> bool:
    if isinstance(place, PostgresPlace) and "table" in target:
        assert len(place.contents()) == 1
    elif "table" in target:
        with place.connect() as engine:
            names = engine.fetch_rows("SHOW TABLES IN " + identifier("default"))
        assert not [row for row in names if "released" in str(row)]
    return not list((place.folder / "out").iterdir())


@pytest.mark.parametrize(
    ("writing", "model", "column", "spoil"),
    [
        each
        for column, spoil in (("note", _blank), ("pay", _swap), ("share", _replace))
        for each in _releases(column, column, spoil)
    ],
    indirect=["writing"],
)
def test_changed_rows_are_refused(
    writing: tuple[Place, dict[str, Any]],
    model: str,
    column: str,
    spoil: Spoil,
    spoil_writers: Callable[[str, Spoil], None],
) -> None:
    place, target = writing
    spoil_writers(column, spoil)
    with pytest.raises(LimitReached, match="other rows than requested: the data has wrong cells"):
        _publish(place, target, model)
    assert _nothing_is_left(place, target)


@pytest.mark.parametrize(
    ("spoil", "model", "writing"),
    [
        (*case, place)
        for case, place in in_turn(
            product([_blank, _swap], ["full-domain", "unrestricted-multi-dimension", "starred"]),
            ["duckdb.parquet", "postgres"],
        )
    ],
    indirect=["writing"],
)
def test_changed_class_is_refused(
    writing: tuple[Place, dict[str, Any]],
    model: str,
    spoil: Spoil,
    spoil_writers: Callable[[str, Spoil], None],
) -> None:
    """The cells of a class are hashed once per class, separately from the other cells of its rows."""
    test_changed_rows_are_refused(writing, model, "town", spoil, spoil_writers)


@pytest.mark.parametrize(
    ("writing", "part", "column"),
    [
        pytest.param(name, part, column, marks=_marks(name, PERMUTATION, part))
        for part, column in (("sensitive", "pay"), ("help", "sum_upper"))
        for name in NAMES
    ],
    indirect=["writing"],
)
def test_changed_rows_in_companion_tables_are_refused(
    writing: tuple[Place, dict[str, Any]],
    part: str,
    column: str,
    spoil_writers: Callable[[str, Spoil], None],
) -> None:
    place, target = writing
    spoil_writers(column, _swap)
    with pytest.raises(LimitReached, match=f"other rows than requested: the {part} has wrong cells"):
        _publish(place, target, PERMUTATION, "two-tables")
    assert _nothing_is_left(place, target)


@pytest.mark.parametrize(("writing", "model"), _releases(None), indirect=["writing"])
def test_same_rows_computed_another_way_are_published(
    writing: tuple[Place, dict[str, Any]], model: str, spoil_writers: Callable[[str, Spoil], None]
) -> None:
    place, target = writing
    spoil_writers("pay", _none)
    _publish(place, {**target, "overwrite": True}, model)  # Spark's catalog has the table of the test before


def test_unreadable_file_is_refused(duckdb_place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    write = DuckdbEngine.write_file

    def cut(self: Any, query: str, path: Path, *rest: Any, **named: Any) -> None:
        write(self, query, path, *rest, **named)
        path.write_bytes(path.read_bytes()[:-9])

    monkeypatch.setattr(DuckdbEngine, "write_file", cut)
    out = duckdb_place.folder / "out"
    out.mkdir()
    with pytest.raises(LimitReached, match="the data cannot be read back"):
        _publish(duckdb_place, {"output": out / "release.parquet"}, "full-domain")
    assert not list(out.iterdir())


def test_hash_of_a_wide_row_depends_on_every_cell_and_place(place: Place) -> None:
    """PostgreSQL's ROW takes 1,664 cells."""
    rows = "(SELECT 1 AS a, 7 AS b UNION ALL SELECT 7, 1) AS t"
    orders = [[*["a"] * 1000, *["b"] * 1000], [*["a"] * 1999, "b"], ["b", *["a"] * 1999]]
    if place.name == "spark" and not NEW:  # where 2,000 cells take a second
        del orders[0]
    with place.connect() as engine:
        hashes = [row_hashes.row_hash(engine.dialect, cells) for cells in orders]
        sums = [engine.fetch_rows(row_hashes.multiset_hash(engine.dialect, rows, h))[0] for h in hashes]
    assert [rows for rows, _ in sums] == [2] * len(orders)
    assert len({total for _, total in sums}) == len(orders)


def test_hashes_are_added_up_exactly(place: Place) -> None:
    """Spark adds three parts of them: the signed one, and those with a carry to the next."""
    numbers = [-(2**63) + 1, 2**63 - 1, 2**63 - 1, -1, 0, 1 << 42, -(1 << 42), (1 << 42) - 1, -(1 << 21), 7]
    with place.connect() as engine:
        cast = engine.dialect.cast
        rows = " UNION ALL ".join(f"SELECT {cast(str(number), 'BIGINT')} AS h" for number in numbers)
        query = f"SELECT {engine.dialect.hash_sum.format('h')} FROM ({rows}) AS t"
        assert int(engine.fetch_rows(query)[0][0]) == sum(numbers)
        assert engine.fetch_rows(query.replace(" AS t", " AS t WHERE h = 8"))[0][0] is None


@pytest.mark.parametrize(
    "kind", ["HUGEINT", "UHUGEINT", "DECIMAL(38,2)", "DECIMAL(18,2)", "BIGINT", "DOUBLE"]
)
def test_numbers_with_equal_halves_have_different_hashes(kind: str) -> None:
    """DuckDB's own hash of 0 is that of -1 in 128 bits."""
    cells = _CellHashing(DUCKDB, (kind,), (True,), (), own=True)
    other = 2**64 + 1 if kind[0] == "U" else "-0.01" if "," in kind else -1
    query = f"SELECT {cells.row(['a'])} FROM (VALUES (0::{kind}), ({other}::{kind})) AS t(a)"
    assert len({*duckdb.sql(query).fetchall()}) == 2


def test_comparison_needs_no_scan_of_its_own(duckdb_place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """Parsing a file once more is more expensive than all other comparisons."""
    scans: list[str] = []
    run = DuckdbEngine._run

    def spied(self: Any, statement: str, consume: Any) -> Any:
        if 'FROM "source_' in statement and "sum(h)" in statement:
            scans.append(statement)
        return run(self, statement, consume)

    monkeypatch.setattr(DuckdbEngine, "_run", spied)
    (duckdb_place.folder / "out").mkdir()
    _publish(duckdb_place, {"output": duckdb_place.folder / "out" / "release.csv"}, "full-domain")
    assert [statement.startswith("CREATE OR REPLACE TEMP TABLE") for statement in scans] == [True]
