"""The engine's limits: memory, disk, temporary files, order, and error messages."""

import csv
import gc
import stat
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest

from discreet.engines.base import Engine
from discreet.engines.duckdb.database import Buffers, resident_bytes
from discreet.engines.duckdb.engine import _ON_ONE_THREAD, DuckdbEngine
from discreet.engines.files.output_files import copy_statement
from discreet.errors import InputError, InternalError, LimitReached
from discreet.model.table_spec import SourceSpec
from discreet.settings import Settings
from discreet.sql.quoting import identifier
from tests.engines.conftest import as_nobody

LIMIT = 4 * 2**30


@pytest.fixture
def limited(tmp_path: Path) -> Callable[[int], DuckdbEngine]:
    """Return a function that opens an engine with one thread and a memory limit in bytes."""
    return lambda limit: DuckdbEngine(Settings(limit, 1, tmp_path / "log"))


def test_limits_come_from_the_settings(limited: Callable[[int], DuckdbEngine]) -> None:
    with limited(512 * 2**20) as engine:
        found = engine.fetch_rows("SELECT current_setting('memory_limit'), current_setting('threads')")
        assert found == [("512.0 MiB", 1)]
        assert engine.fetch_rows("SELECT current_setting('autoinstall_known_extensions')") == [(False,)]


def buffers_of(engine: Engine) -> float:
    """Return the limit of the engine's buffers in bytes, which DuckDB reports to a tenth of a GiB."""
    amount, unit = engine.fetch_rows("SELECT current_setting('memory_limit')")[0][0].split()
    return float(amount) * {"MiB": 2**20, "GiB": 2**30}[unit]


def settled(engine: DuckdbEngine) -> float:
    """Return the buffer limit after the process has freed the memory of earlier tests."""
    gc.collect()
    engine._buffers._resident = 0
    engine.create_table("settled", "SELECT 1 AS a")
    return buffers_of(engine)


def test_memory_of_the_process_is_subtracted_from_the_buffers(
    limited: Callable[[int], DuckdbEngine],
) -> None:
    with limited(LIMIT) as engine:
        before = settled(engine)
        held = np.ones(300 * 2**20, dtype=np.uint8)
        engine.create_table("t", "SELECT 1 AS a")
        assert 2**29 <= buffers_of(engine) <= before - held.nbytes / 2
        used_bytes = held.nbytes
        del held
        engine.create_table("t", "SELECT 1 AS a")
        assert buffers_of(engine) >= before - used_bytes / 2


class Releasing:
    """A connection of an engine with 50 MB of buffers that frees memory only on request."""

    def __init__(self) -> None:
        self.resident = 300_000_000

    def execute(self, statement: str) -> "Releasing":
        if statement.startswith("SET memory_limit"):
            self.resident = min(self.resident, 350_000_000)
        return self

    def fetchall(self) -> list[tuple[int]]:
        return [(50_000_000,)]


def test_memory_released_by_the_engine_is_available_to_buffers(monkeypatch: pytest.MonkeyPatch) -> None:
    connection: Any = Releasing()
    monkeypatch.setattr("discreet.engines.duckdb.database.resident_bytes", lambda: connection.resident)
    buffers = Buffers(4_000_000_000)
    assert buffers.limit == 3_200_000_000
    connection.resident = 900_000_000
    buffers.follow(connection)
    assert buffers.limit == 3_200_000_000


def test_arrays_get_the_memory_they_request(limited: Callable[[int], DuckdbEngine]) -> None:
    """Rows move to disk while the engine is idle; the next large statement has its memory again."""
    with limited(LIMIT) as engine:
        engine.create_table("t", "SELECT hash(i) AS h FROM range(20000000) AS r(i)")
        before = settled(engine)
        engine.leave_room(2**20)
        assert buffers_of(engine) == before
        engine.leave_room(LIMIT - resident_bytes())
        assert buffers_of(engine) < before / 2
        assert engine.fetch_rows("SELECT count(*) FROM t") == [(20_000_000,)]
        engine.create_table("u", "SELECT 1 AS a")
        assert buffers_of(engine) > before / 2
        with pytest.raises(LimitReached, match="memory limit"):
            engine.leave_room(LIMIT)


def test_out_of_memory_and_a_full_temporary_disk_are_limits(limited: Callable[[int], DuckdbEngine]) -> None:
    many = "CREATE TEMP TABLE t AS SELECT hash(i) AS h, i FROM range(9000000) AS r(i)"
    with (
        limited(2_000_000) as engine,
        pytest.raises(LimitReached, match="memory limit of 2,000,000 bytes") as caught,
    ):
        engine.execute(many)
    assert "DISCREET_MEMORY_LIMIT" in str(caught.value.advice)
    with limited(60_000_000) as engine:
        engine.execute("SET max_temp_directory_size = '1MB'")
        with pytest.raises(LimitReached):
            engine.execute(many)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
def test_full_disk_of_the_output_is_a_limit(engine: DuckdbEngine) -> None:
    with pytest.raises(LimitReached, match="no space is left"):
        engine.execute("COPY (SELECT 1) TO '/dev/full' (FORMAT csv, USE_TMP_FILE false)")


def test_temporary_files_are_owner_only_and_removed(
    tmp_path: Path, limited: Callable[[int], DuckdbEngine], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    (tmp_path / "people.csv").write_bytes("a\nü\n".encode("latin-1"))
    with limited(50_000_000) as engine:
        (folder,) = tmp_path.glob("discreet-*")
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        table = engine.open_source(SourceSpec(path=tmp_path / "people.csv", encoding="latin-1"))
        (copy,) = folder.glob("*.csv")
        assert stat.S_IMODE(copy.stat().st_mode) == 0o600
        engine.close_source(table)
        assert not copy.exists()
        engine.execute("CREATE TEMP TABLE t AS SELECT hash(i) AS h, i FROM range(6000000) AS r(i)")
        assert any((folder / "spill").iterdir())
    assert not folder.exists()
    engine.close()


def test_failed_statement_is_an_internal_error_without_data(engine: DuckdbEngine, tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_bytes(b"a\nhiv-positive\n")
    table = engine.open_source(SourceSpec(path=path))
    with pytest.raises(InternalError, match="BinderException") as unknown:
        engine.fetch_rows(f"SELECT no_such_column FROM {table.relation}")
    assert "no_such_column" in str(unknown.value)
    with pytest.raises(InternalError, match="ConversionException") as converted:
        engine.fetch_rows("SELECT CAST('hiv-positive' AS INTEGER)")
    assert "hiv" not in str(converted.value)
    assert converted.value.__suppress_context__


def test_unknown_columns_are_refused_with_the_existing_ones(engine: DuckdbEngine, tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_bytes(b"age,marital_status,Zip\n1,2,3\n")
    table = engine.open_source(SourceSpec(path=path))
    for name, suggested in [("marital_staus", "marital_status"), ("zip", "Zip"), (" age", "age")]:
        with pytest.raises(InputError, match=f"has no column '{name}'") as caught:
            table.column(name)
        assert caught.value.allowed == "'age', 'marital_status', 'Zip'"
        assert caught.value.advice == f"Did you mean '{suggested}'?"


def test_loaded_tables_keep_texts_and_numbers(engine: DuckdbEngine) -> None:
    engine.load_table('a "b"', {"v": ["x", None], "V": np.array([1, 2], dtype=np.int64)})
    assert engine.fetch_rows('SELECT * FROM "a ""b""" ORDER BY 2') == [("x", 1), (None, 2)]
    engine.load_table("none", {"v": [], "n": np.empty(0, dtype=np.int64)})
    assert engine.fetch_rows("SELECT v || 'x', n + 1 FROM none") == []
    engine.load_table("late", {"v": [*[None] * 5000, "01"]})
    assert engine.fetch_rows("SELECT v FROM late WHERE v IS NOT NULL") == [("01",)]


@pytest.mark.parametrize("name", ["loaded", "stream", 'the "rows" in memory'])
def test_loaded_table_may_have_any_name(engine: DuckdbEngine, name: str) -> None:
    for number in (1, 2):
        engine.load_table(name, {"n": np.array([number])})
        assert engine.fetch_rows(f"SELECT n FROM {identifier(name)}") == [(number,)]


@pytest.mark.parametrize("rows", [_ON_ONE_THREAD, _ON_ONE_THREAD + 1, 300_000])
def test_loaded_rows_stay_in_order_with_any_number_of_threads(settings: Settings, rows: int) -> None:
    """Loaded rows stay in order with any number of threads.

    Without an explicit order, rows move in each of sixty runs, from 110,000 rows on.
    """
    with DuckdbEngine(replace(settings, threads=2)) as engine:
        for _ in range(5):
            engine.load_table("placed", {"v": np.arange(rows)})
            assert engine.fetch_rows("SELECT count(*) FROM placed WHERE rowid <> v") == [(0,)]


def test_many_columns_have_their_own_types(engine: DuckdbEngine) -> None:
    kinds = ["BIGINT" if i % 3 else "VARCHAR" for i in range(4200)]
    query = f"SELECT {', '.join(f'NULL::{kind} AS c{i}' for i, kind in enumerate(kinds))}"
    # Where the order of rows is lost, it is lost in four of five runs.
    for _ in range(5):
        assert list(engine.column_types(query)) == kinds


def test_locate_names_the_line_or_row(engine: DuckdbEngine, tmp_path: Path) -> None:
    (tmp_path / "p.csv").write_bytes(b'a,b\n1,"x\ny"\n\n2,?\n3,z\n4,""\n')
    (tmp_path / "p.jsonl").write_bytes(b'{"b": 1}\n{"b": "z"}\n{"b": "z"}\n')
    table = engine.open_source(SourceSpec(path=tmp_path / "p.csv", null_values=("?",)))
    assert engine.locate(table, "b", "z") == "line 6"
    assert engine.locate(table, "a", "2") == "line 5"
    assert engine.locate(table, "b", "") == "row 4"
    assert engine.locate(engine.open_source(SourceSpec(path=tmp_path / "p.jsonl")), "b", "z") == "row 2"


# --- writing ----------------------------------------------------------------------------------------------

ODD = """
SELECT * FROM (VALUES (2, NULL, ' a'), (1, '', 'c,"d"'), (3, E'x\\ny', 'NULL')) AS t(a, b, c) ORDER BY a DESC
"""


def test_csv_distinguishes_null_from_empty_text(engine: DuckdbEngine, tmp_path: Path) -> None:
    engine.write_file(ODD, tmp_path / "out.csv", "csv")
    assert (tmp_path / "out.csv").read_bytes() == b'a,b,c\n3,"x\ny",NULL\n2,, a\n1,"","c,""d"""\n'
    assert stat.S_IMODE((tmp_path / "out.csv").stat().st_mode) == 0o600


@pytest.mark.parametrize("file_format", ["csv", "parquet", "sqlite", "sav"])
def test_every_statement_of_writing_a_file_preserves_the_order(
    engine: DuckdbEngine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, file_format: str
) -> None:
    """The statements include DESCRIBE, whose own request for the order is nested in that of the file."""
    kept, run = [], DuckdbEngine._run

    def watched(self: DuckdbEngine, statement: str, consume: Any) -> Any:
        found = run(self, statement, consume)
        if "FROM range(3)" in statement:
            setting = "SELECT current_setting('preserve_insertion_order')"
            kept.append(self._connection.execute(setting).fetchall()[0][0])
        return found

    monkeypatch.setattr(DuckdbEngine, "_run", watched)
    engine.write_file("SELECT i FROM range(3) AS r(i)", tmp_path / f"out.{file_format}", file_format, ["i"])
    assert set(kept) == {True}
    engine.execute("CREATE TEMP TABLE counted AS SELECT 1 AS a FROM range(3)")
    assert kept[-1] is False


@pytest.mark.parametrize("file_format", ["csv", "parquet"])
def test_rows_of_a_join_are_written_in_the_order_of_its_table(
    engine: DuckdbEngine, tmp_path: Path, file_format: str
) -> None:
    """Two threads would move some, and the file would depend on the run instead of only on its rows."""
    rows = 1_000_000
    engine.create_table("labels", "SELECT range AS position, 'l' || range AS label FROM range(10)")
    engine.create_table("stored", f"SELECT range AS i, range % 10 AS q FROM range({rows}) ORDER BY i")
    joined = "SELECT t.i, l.label FROM stored AS t LEFT JOIN labels AS l ON t.q = l.position"
    engine.write_file(joined, tmp_path / "out", file_format, ["i", "label"])
    read = duckdb.read_csv if file_format == "csv" else duckdb.read_parquet
    assert read(str(tmp_path / "out")).fetchnumpy()["i"].tolist() == list(range(rows))
    assert engine.fetch_rows("SELECT current_setting('preserve_insertion_order')") == [(False,)]


def test_texts_of_known_types_are_written_the_same(engine: DuckdbEngine, tmp_path: Path) -> None:
    query = """SELECT CAST(v AS ENUM('a,b', 'x', '', '"')) AS c0, v AS c1, 1.50 AS c2, NULL::ENUM('x') AS c3,
        [CAST(v AS ENUM('a,b', 'x', '', '"'))] AS c4, INTERVAL 1 DAY AS c5
        FROM (VALUES ('x'), (NULL), ('a,b'), (''), ('"')) AS t(v) ORDER BY v"""
    names = ['"odd", Name', "b", "c", "d", "e", "f"]
    types = engine.column_types(query)
    assert types == ("ENUM", "VARCHAR", "DECIMAL(3,2)", "ENUM", "ENUM", "INTERVAL")
    engine.write_file(query, tmp_path / "known", "csv", names, types=types)
    engine.write_file(query, tmp_path / "unknown", "csv", names)
    assert (tmp_path / "known").read_bytes() == (tmp_path / "unknown").read_bytes()
    # A projection step would hold 2,048 rows of every column: 300 MB for 10,000 columns.
    assert "CAST" not in copy_statement("SELECT 1", Path("w"), "csv", ["a", "b"], ["ENUM", "VARCHAR"])


def test_impossible_column_names_are_refused(engine: DuckdbEngine, tmp_path: Path) -> None:
    engine.write_file(ODD, tmp_path / "out.csv", "csv", ["Age", "age", ""])
    with (tmp_path / "out.csv").open(newline="") as file:
        assert list(csv.reader(file))[:2] == [["Age", "age", ""], ["3", "x\ny", "NULL"]]
    engine.write_file(ODD, tmp_path / "quoted.csv", "csv", ['a"b', "c,d", " e"])
    assert (tmp_path / "quoted.csv").read_bytes().startswith(b'"a""b","c,d", e\n')
    with pytest.raises(InputError, match="differ only in case"):
        engine.write_file(ODD, tmp_path / "out.parquet", "parquet", ["Age", "age", "b"])
    assert not (tmp_path / "out.parquet").exists()


def test_nothing_is_overwritten_or_left_half_written(engine: DuckdbEngine, tmp_path: Path) -> None:
    (tmp_path / "there.csv").write_bytes(b"precious")
    with pytest.raises(InputError, match="already exists"):
        engine.write_file("SELECT 1", tmp_path / "there.csv", "csv")
    assert (tmp_path / "there.csv").read_bytes() == b"precious"
    with pytest.raises(InputError, match=r"the folder .* is missing"):
        engine.write_file("SELECT 1", tmp_path / "no" / "out.csv", "csv")
    with pytest.raises(InputError, match="output format 'xlsx'"):
        engine.write_file("SELECT 1", tmp_path / "out.xlsx", "xlsx")
    with pytest.raises(InternalError):
        engine.write_file("SELECT error('x') FROM nowhere", tmp_path / "out.csv", "csv")
    assert sorted(p.name for p in tmp_path.glob("*.*")) == ["there.csv"]


def test_read_only_folders_are_refused(engine: DuckdbEngine, open_folder: Path) -> None:
    open_folder.chmod(0o555)
    with as_nobody(), pytest.raises(InputError, match="cannot be written"):
        engine.write_file("SELECT 1", open_folder / "out.csv", "csv")


def test_interrupt_is_raised_as_keyboard_interrupt(
    engine: DuckdbEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Interrupted:
        def execute(self, *_: str) -> None:
            raise RuntimeError("Query interrupted")

        def close(self) -> None:
            connection.close()

    connection = engine._connection
    monkeypatch.setattr(engine, "_connection", Interrupted())
    with pytest.raises(KeyboardInterrupt):
        engine.execute("SELECT 1")
