"""An in-memory database is reused by successive engines, and nothing passes from one to the next."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from discreet.engines.duckdb import database as duckdb_database
from discreet.engines.duckdb.engine import DuckdbEngine
from discreet.errors import DiscreetError
from discreet.model.table_spec import SourceSpec
from discreet.settings import Settings

SETTINGS = (
    "SELECT name, value FROM duckdb_settings() "
    "WHERE name NOT IN ('temp_directory', 'max_memory') AND name NOT LIKE '%memory_limit'"
)


@pytest.fixture(autouse=True)
def none_kept(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Start without a database of earlier tests, and keep databases open however the process grows.

    The first engine of a process loads 30 MB of its library, nearly the growth at which databases close.
    """
    monkeypatch.setattr("discreet.engines.duckdb.database.resident_bytes", lambda: 3 * 10**8)
    _close_kept()
    yield
    _close_kept()


def _close_kept() -> None:
    while duckdb_database._REUSABLE:
        duckdb_database._REUSABLE.pop()[1].close()


def test_engine_reuses_the_previous_database(settings: Settings) -> None:
    with DuckdbEngine(settings) as first:
        database = first._database
        assert not duckdb_database._REUSABLE
    with DuckdbEngine(settings) as second, DuckdbEngine(settings) as third:
        assert second._database is database
        assert third._database is not database
    assert len(duckdb_database._REUSABLE) == 1


def test_engine_leaves_nothing_in_its_database(settings: Settings, tmp_path: Path) -> None:
    with DuckdbEngine(settings) as engine:
        before = engine.fetch_rows(SETTINGS)
    (tmp_path / "wide.csv").write_text(",".join(f"c{i}" for i in range(1100)) + "\n" + "1," * 1099 + "1\n")
    other = Settings(memory_limit=10**9, threads=1, private_log=tmp_path / "log.jsonl")
    with DuckdbEngine(other) as engine:
        engine.open_source(SourceSpec(path=tmp_path / "wide.csv"))
        engine.create_table("of_somebody", "SELECT 'secret' AS value")
        engine.execute("SET TimeZone = 'Asia/Tokyo'")
        engine.execute("SET threads = 1")
        engine.execute("SET preserve_insertion_order = true")
        with pytest.raises(DiscreetError):
            engine.execute("SELECT * FROM nowhere")
    with DuckdbEngine(settings) as engine:
        assert engine.fetch_rows(SETTINGS) == before
        assert engine.fetch_rows("SELECT table_name FROM duckdb_tables()") == []
        assert engine.fetch_rows("SELECT view_name FROM duckdb_views() WHERE NOT internal") == []
        assert engine.fetch_rows("SELECT sum(memory_usage_bytes) FROM duckdb_memory()")[0][0] == 0
        query = "SELECT current_setting('temp_directory'), current_setting('memory_limit')"
        expected = engine.fetch_rows(query)
        engine.execute(f"SET memory_limit = '{engine._buffers.limit}B'")
        assert expected == engine.fetch_rows(query)
        assert expected[0][0] == str(engine._spill)


def test_database_that_has_spilled_is_closed(settings: Settings) -> None:
    with DuckdbEngine(settings) as engine:
        engine.execute("SET memory_limit = '30MB'")
        engine.create_table("many", "SELECT random() AS a, range AS b FROM range(3_000_000)")
        assert any(engine._spill.iterdir())
    assert not duckdb_database._REUSABLE
    assert not engine._spill.exists()


def test_database_that_has_grown_is_closed(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    with DuckdbEngine(settings):
        monkeypatch.setattr("discreet.engines.duckdb.database.resident_bytes", lambda: 10**12)
    assert not duckdb_database._REUSABLE


def test_database_with_a_file_attached_is_closed(settings: Settings, tmp_path: Path) -> None:
    with DuckdbEngine(settings) as engine:
        engine.execute(f"ATTACH '{tmp_path / 'other.duckdb'}' AS other")
    assert not duckdb_database._REUSABLE


def test_database_ended_by_a_fault_is_not_reused(settings: Settings) -> None:
    DuckdbEngine(settings).close()
    duckdb_database._REUSABLE[0][1].close()
    with DuckdbEngine(settings) as engine:
        assert engine.fetch_rows("SELECT 1") == [(1,)]


def test_forked_process_creates_its_own_database(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    with DuckdbEngine(settings) as engine:
        database = engine._database
    monkeypatch.setattr(os, "getpid", lambda: -1)
    with DuckdbEngine(settings) as engine:
        assert engine._database is not database
    assert duckdb_database._REUSABLE[0][1] is database
