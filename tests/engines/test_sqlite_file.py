"""SQLite files: columns with values of several types, refusals, and a release in this format."""

from __future__ import annotations

import json
import math
import sqlite3
import stat
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import discreet
from discreet.engines.base import Engine
from discreet.engines.duckdb.engine import DuckdbEngine
from discreet.errors import InputError
from discreet.model.table_spec import SourceSpec
from tests.cli.conftest import Run, run
from tests.engines.rows import Rows, sorted_rows

__all__ = ["run"]


def database(path: Path, *statements: str) -> Path:
    """Create a file by these statements."""
    with closing(sqlite3.connect(path)) as opened, opened:
        for statement in statements:
            opened.execute(statement)
    return path


def cells(engine: Engine, path: Path, **options: Any) -> Rows:
    return sorted_rows(engine, SourceSpec(path=path, **options))


def test_values_have_their_own_types_not_those_of_the_column(engine: Engine, tmp_path: Path) -> None:
    path = database(
        tmp_path / "people.sqlite",
        'CREATE TABLE people (whole TEXT, "real" REAL, numbers NUMERIC, far, mixed INTEGER, none TEXT, note)',
        """INSERT INTO people VALUES (CAST(7 AS INTEGER), 1, 2.5, 9007199254740993, 'seven', NULL, 'say "no",'
           || char(13) || char(10) || 'or' || char(13) || 'nothing')""",
        "INSERT INTO people VALUES (NULL, 0.1, 3, 0.5, 8, NULL, '')",
        "INSERT INTO people VALUES (NULL, NULL, NULL, NULL, 9.5, NULL, NULL)",
    )
    table = engine.open_source(SourceSpec(path=path))
    assert table.types == {
        "whole": "VARCHAR",  # a column of texts converts its numbers to texts
        "real": "DOUBLE",
        "numbers": "DOUBLE",
        "far": "VARCHAR",  # a double would lose the last digit
        "mixed": "VARCHAR",
        "none": "VARCHAR",
        "note": "VARCHAR",
    }
    assert cells(engine, path) == [
        ("7", "1.0", "2.5", "9007199254740993", "seven", None, 'say "no",\r\nor\rnothing'),
        (None, "0.1", "3.0", "0.5", "8", None, ""),
        (None, None, None, None, "9.5", None, None),
    ]


def test_column_of_several_kinds_is_reported_and_spec_names_the_table(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    database(
        tmp_path / "clinic.db",
        "CREATE TABLE people (age, ward TEXT)",
        "INSERT INTO people VALUES (30, 'a'), ('about 40', 'a'), (NULL, 'b')",
        "CREATE VIEW wards AS SELECT ward FROM people",
    )
    several = run("init", "clinic.db")
    assert several.status == 2
    assert "several tables" in several.err
    assert "people, wards" in several.err
    done = run("init", "clinic.db", "--table", "people", "--output", "discreet.toml")
    assert done.status == 0, done.err
    assert "1 whole numbers, 1 texts: all are read as texts" in " ".join((done.out + done.err).split())
    assert 'table = "people"' in (tmp_path / "discreet.toml").read_text()


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("x'00ff'", "column name, row 2: a blob"),
        ("CAST(x'6100' AS TEXT)", "column name, row 2: a text with a NUL character"),
        ("CAST(x'ff' AS TEXT)", "column name, row 2: bytes that are not UTF-8"),
    ],
)
def test_invalid_values_are_refused_by_column_and_row(
    engine: Engine, tmp_path: Path, value: str, expected: str
) -> None:
    path = database(
        tmp_path / "people.sqlite",
        "CREATE TABLE people (id INTEGER, name)",
        f"INSERT INTO people VALUES (1, 'a'), (2, {value})",
    )
    with pytest.raises(InputError, match=expected):
        cells(engine, path)


def test_unreadable_databases_are_refused(engine: Engine, tmp_path: Path) -> None:
    (tmp_path / "text.sqlite").write_text("age,ward\n1,2\n")
    with pytest.raises(InputError, match="not a SQLite database"):
        cells(engine, tmp_path / "text.sqlite")
    path = database(tmp_path / "people.sqlite", "CREATE TABLE people (id)")
    with pytest.raises(InputError, match=r"no table 'persons'.*people"):
        cells(engine, path, table="persons")
    path.write_bytes(path.read_bytes()[:100])
    with pytest.raises(InputError, match="cannot be read by SQLite"):
        cells(engine, path)
    empty = database(tmp_path / "empty.sqlite", "CREATE TABLE t (id)", "DROP TABLE t")
    with pytest.raises(InputError, match="has no table"):
        cells(engine, empty)


def test_file_without_extension_is_recognized_and_unchanged(engine: Engine, tmp_path: Path) -> None:
    path = database(tmp_path / "backup", "CREATE TABLE people (id)", "INSERT INTO people VALUES (1)")
    before = path.read_bytes()
    assert cells(engine, path, table="people") == cells(engine, path, format="sqlite") == [("1",)]
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["backup"]


SPEC = {
    "attributes": {
        "age": {"role": "quasi-identifier", "hierarchy": {"kind": "intervals", "widths": [10, 20]}},
        "weight": {"role": "insensitive"},
        "born": {"role": "insensitive"},
        "healthy": {"role": "insensitive"},
        "ward": {"role": "sensitive"},
    }
}


@pytest.fixture
def people(tmp_path: Path) -> Path:
    return database(
        tmp_path / "people.sqlite",
        "CREATE TABLE people (age INTEGER, weight REAL, born TEXT, healthy INTEGER, ward TEXT)",
        *(
            f"INSERT INTO people VALUES ({20 + i % 7}, {60 + i / 3}, '200{i % 9}-01-01', {i % 2}, 'w{i % 3}')"
            for i in range(40)
        ),
        "INSERT INTO people VALUES (25, NULL, NULL, NULL, '')",
    )


def test_release_is_written_to_a_sqlite_file_and_audited_there(people: Path, tmp_path: Path) -> None:
    target = tmp_path / "released.sqlite"
    discreet.open(str(people), spec=SPEC).publish({"age": 1}, target, k=3)
    assert stat.S_IMODE(target.stat().st_mode) == 0o600
    assert not list(tmp_path.glob("*-journal"))
    assert json.loads((tmp_path / "released.sqlite.manifest.json").read_text())["data"]["format"] == "sqlite"
    assert discreet.audit(target).passed
    assert f"sqlite_scan('{target}', 'release')" in str(discreet.audit_sql(target))
    with closing(sqlite3.connect(target)) as opened:
        rows = opened.execute("SELECT * FROM release").fetchall()
        declared = [column[2] for column in opened.execute("PRAGMA table_info(release)")]
    assert len(rows) == 41
    assert declared == ["TEXT", "REAL", "TEXT", "INTEGER", "TEXT"]
    with closing(sqlite3.connect(people)) as opened:
        known = opened.execute("SELECT weight, born, healthy, ward FROM people").fetchall()
    assert sorted((row[1:] for row in rows), key=str) == sorted(known, key=str)
    with closing(sqlite3.connect(target)) as opened, opened:
        opened.execute("UPDATE release SET age = 'other' WHERE rowid = 1")
    assert not discreet.audit(target).passed


def test_types_unknown_to_sqlite_are_texts_and_nan_is_refused(engine: DuckdbEngine, tmp_path: Path) -> None:
    query = (
        "SELECT true AS a, 1.50::DECIMAL(9,2) AS b, 0.1::FLOAT AS c, 1e20::HUGEINT AS d, "
        "DATE '2023-04-01' AS e"
    )
    engine.write_file(query, tmp_path / "types.sqlite", "sqlite")
    with closing(sqlite3.connect(tmp_path / "types.sqlite")) as opened:
        assert opened.execute("SELECT * FROM release").fetchall() == [
            ("true", "1.50", 0.1, "100000000000000000000", "2023-04-01")
        ]
    with pytest.raises(InputError, match="NaN"):
        engine.write_file(f"SELECT '{math.nan}'::DOUBLE AS a", tmp_path / "nan.sqlite", "sqlite")
    assert not (tmp_path / "nan.sqlite").exists()
    with pytest.raises(InputError, match="differ only in case"):
        engine.write_file("SELECT 1, 2", tmp_path / "names.sqlite", "sqlite", ["a", "A"])
