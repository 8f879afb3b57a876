"""DuckDB files: written completely or not at all, owner-only, and readable as sources."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import duckdb
import pytest

from discreet.engines.base import Engine
from discreet.engines.files.output_files import NewTable, check_database_columns, write_database_tables
from discreet.engines.source_tables import open_source_table
from discreet.errors import DiscreetError, InputError
from discreet.model.table_spec import SourceSpec
from tests.engines.rows import text_rows

PEOPLE = NewTable("SELECT i AS a, 'x' || i AS b FROM range(3) t(i) ORDER BY i DESC", ("age", 'the "name"'))


def test_tables_and_views_are_written_and_read_back(engine: Engine, out: Path) -> None:
    path = out / "it's.duckdb"
    engine.write_database(path, {"people": PEOPLE}, ["CREATE VIEW old AS SELECT * FROM people WHERE age > 1"])
    assert [p.name for p in out.iterdir()] == [path.name]
    with open_source_table(engine, SourceSpec(path=path, table="people")) as table:
        assert table.columns == ("age", 'the "name"')
        assert table.types["age"] == "BIGINT"
    assert text_rows(engine, SourceSpec(path=path, table="people")) == [("2", "x2"), ("1", "x1"), ("0", "x0")]
    assert text_rows(engine, SourceSpec(path=path, table="old")) == [("2", "x2")]


def test_files_next_to_the_database_are_readable_only_by_the_owner(out: Path) -> None:
    seen: dict[str, set[int]] = {}
    before = os.umask(0o022)
    try:
        with duckdb.connect() as database:

            def execute(statement: str) -> None:
                database.execute(statement)
                for path in out.iterdir():
                    seen.setdefault(path.name, set()).add(stat.S_IMODE(path.stat().st_mode))

            write_database_tables(
                execute, out / "a.duckdb", {"people": PEOPLE}, ["CREATE VIEW v AS SELECT 1 AS a"]
            )
        assert os.umask(0o022) == 0o022
    finally:
        os.umask(before)
    assert seen == {"a.duckdb": {0o600}, "a.duckdb.wal": {0o600}}


def test_existing_file_is_not_changed(engine: Engine, out: Path) -> None:
    (out / "a.duckdb").write_text("mine")
    with pytest.raises(InputError, match="already exists"):
        engine.write_database(out / "a.duckdb", {"people": PEOPLE})
    assert (out / "a.duckdb").read_text() == "mine"


def test_failure_leaves_no_file(engine: Engine, out: Path) -> None:
    for tables, more in (({"a": NewTable("SELECT 1/x FROM nowhere", ("n",))}, []), ({}, ["CREATE nonsense"])):
        with pytest.raises(DiscreetError):
            engine.write_database(out / "a.duckdb", tables, more)
        assert list(out.iterdir()) == []
    with pytest.raises(DiscreetError):
        engine.write_database(out / "none" / "a.duckdb", {"people": PEOPLE})
    engine.write_database(out / "a.duckdb", {"people": PEOPLE})
    engine.execute("CREATE TEMP TABLE still_here AS SELECT 1")


def test_missing_table_and_an_invalid_database_are_refused(engine: Engine, out: Path) -> None:
    engine.write_database(out / "a.duckdb", {"people": PEOPLE})
    (out / "b.duckdb").write_text("no database")
    for name, table in (("a.duckdb", "others"), ("b.duckdb", "people"), ("c.duckdb", "people")):
        with pytest.raises(InputError):
            engine.open_source(SourceSpec(path=out / name, table=table))
    assert len(text_rows(engine, SourceSpec(path=out / "a.duckdb", table="people"))) == 3


@pytest.mark.parametrize("columns", [("a", "A"), ("", "b")])
def test_columns_that_differ_only_in_case_are_refused(columns: tuple[str, ...]) -> None:
    check_database_columns({"t": ("a", "b")})
    with pytest.raises(InputError, match="differ only in case"):
        check_database_columns({"t": columns})
