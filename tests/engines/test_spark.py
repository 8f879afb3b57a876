"""The Spark engine: given and created sessions, sources, output, and failures."""

from __future__ import annotations

import os
import resource
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pyarrow
import pyarrow.parquet
import pytest

from discreet.engines.connection import connect
from discreet.engines.source_tables import open_source_table
from discreet.engines.spark.engine import SparkEngine
from discreet.errors import DiscreetError, InputError, InternalError, LimitReached
from discreet.model.table_spec import SourceSpec
from discreet.settings import Settings
from tests.engines.rows import Rows, sorted_rows
from tests.servers.spark import addresses_beyond_loopback, java_of_this_process
from tests.waiting import wait_for

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("spark_process")]

SECRET = "Oberhausen 46047"
CATALOG = SourceSpec(engine="spark", table="nothing")


@pytest.fixture
def engine(settings: Settings) -> Iterator[SparkEngine]:
    with connect(settings, CATALOG) as found:
        assert isinstance(found, SparkEngine)
        yield found


@pytest.fixture
def session(engine: SparkEngine) -> Any:
    """Return the session of this process as a caller has it, instead of the engine's."""
    from pyspark.sql import SparkSession

    return SparkSession.builder.getOrCreate()


def cells(engine: Any, source: SourceSpec) -> Rows:
    return sorted_rows(engine, source)


# --- sources -----------------------------------------------------------------------------------------------


def test_text_files_and_types_are_those_of_the_embedded_engine(engine: SparkEngine, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes(
        'Age,age,"a""`b.c",,select\n1,"","x,\ny",,NULL\n02174,é,"?",7,8\n'.encode("latin-1")
    )
    (tmp_path / "a.jsonl").write_text('{"a": "01", "A": 1.5, "": true}\n{"a": null}\n')
    with duckdb.connect(str(tmp_path / "people.duckdb")) as connection:
        connection.execute(
            "CREATE TABLE people AS SELECT 18446744073709551615::UBIGINT AS u, -170::HUGEINT AS h, "
            "7::UTINYINT AS t, '01:02:03.5'::TIME AS w, 'x'::ENUM('x') AS e, "
            "'2020-01-02 03:04:05.123456789'::TIMESTAMP_NS AS n, DATE '1500-02-28' AS d"
        )
    sources: list[dict[str, Any]] = [
        {"path": tmp_path / "a.csv", "encoding": "latin-1", "null_values": ("?",)},
        {"path": tmp_path / "a.jsonl"},
        {"path": tmp_path / "people.duckdb", "table": "people"},
    ]
    with connect(engine._settings) as embedded:
        for options in sources:
            found = cells(engine, SourceSpec(engine="spark", **options))
            assert found == cells(embedded, SourceSpec(**options))
    with open_source_table(engine, SourceSpec(engine="spark", **sources[0])) as table:
        assert engine.locate(table, "Age", "02174") == "line 4"
        with pytest.raises(InputError, match="the file has more"):
            engine.confirm_rows(table, 1)
    with open_source_table(engine, SourceSpec(engine="spark", **sources[2])) as table:
        assert (table.types["u"], table.types["d"]) == ("DECIMAL(20,0)", "DATE")


def test_hidden_parquet_file_is_read_if_named(engine: SparkEngine, tmp_path: Path) -> None:
    """Spark itself skips it by its name; test_folders reads folders and partitions by both engines."""
    hidden = tmp_path / "peo ple [1]" / "_hidden.parquet"
    hidden.parent.mkdir()
    pyarrow.parquet.write_table(pyarrow.table({"Age": [1], "age": ["02174"], " ": ["x"]}), hidden)
    assert cells(engine, SourceSpec(path=hidden, engine="spark")) == [("1", "02174", "x")]


def test_invalid_sources_are_refused(engine: SparkEngine, tmp_path: Path) -> None:
    (tmp_path / "no.parquet").write_text(SECRET)
    (tmp_path / "empty").mkdir()
    wrong = [
        SourceSpec(engine="spark", table="nix.nox"),
        SourceSpec(engine="spark", path=tmp_path / "missing.parquet"),
        SourceSpec(engine="spark", path=tmp_path / "no.parquet"),
        SourceSpec(engine="spark", path=tmp_path / "empty"),
        SourceSpec(engine="spark", path=tmp_path / "empty", format="csv"),
        SourceSpec(engine="spark"),
    ]
    for source in wrong:
        with pytest.raises(InputError) as caught:
            engine.open_source(source)
        assert SECRET not in str(caught.value)


# --- a given session ---------------------------------------------------------------------------------------


def tables_of(session: Any, schema: str = "default") -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = session.sql(f"SHOW TABLES IN {schema}").toArrow().to_pylist()
    return found


def test_given_session_is_left_unchanged(session: Any, settings: Settings) -> None:
    session.conf.set("spark.sql.ansi.enabled", "false")
    session.conf.set("spark.sql.shuffle.partitions", "3")
    session.sparkContext.setJobGroup("mine", "my work")
    frame = session.createDataFrame(pyarrow.table({"Age": [1, None], "b": ["x", "y"]})).selectExpr(
        "Age", "b AS age"
    )
    frame.createOrReplaceTempView("people")
    before = dict(session.conf.getAll), tables_of(session)
    for source in (SourceSpec(data=frame), SourceSpec(engine="spark", table="people")):
        with connect(settings, source) as engine:
            assert cells(engine, source) == [("1", "x"), (None, "y")]
            assert engine.fetch_rows('SELECT "c" FROM (SELECT \'\\n\' AS "c") AS t') == [("\\n",)]
            engine.create_table("people", "SELECT 1 AS n")
            engine.load_table("loaded", {"a": ["x"]})
            active = type(session).getActiveSession()
            assert active is None or active.conf.get("spark.sql.ansi.enabled") == "false"
        assert (dict(session.conf.getAll), tables_of(session)) == before
        views = [one for one in tables_of(session) if one["isTemporary"]]
        assert tables_of(session, "global_temp") == views
    assert session.sparkContext.getLocalProperty("spark.jobGroup.id") == "mine"
    assert session.sql('SELECT CAST("x" AS INT)').toArrow().num_rows == 1
    session.sparkContext._jsc.clearJobGroup()
    session.catalog.dropTempView("people")
    session.conf.unset("spark.sql.shuffle.partitions")


def test_retry_after_a_stopped_session_succeeds(settings: Settings, session: Any) -> None:
    frame = session.createDataFrame(pyarrow.table({"a": [1]}))
    with connect(settings, SourceSpec(data=frame)) as engine:
        session.stop()
        with pytest.raises(InputError, match="session was stopped"):
            engine.fetch_rows("SELECT 1 AS n")
    with pytest.raises(InputError, match="session was stopped"):
        connect(settings, SourceSpec(data=frame))
    with connect(settings, CATALOG) as engine:
        assert engine.fetch_rows("SELECT 1 AS n") == [(1,)]


def test_map_of_row_types_is_sent_to_the_rows_in_any_session(settings: Settings, session: Any) -> None:
    name, frame = "spark.sql.autoBroadcastJoinThreshold", session.createDataFrame(pyarrow.table({"a": [1]}))
    for threshold, expected in (
        (None, str(max(settings.memory_limit // 64, 10 * 2**20)) + "b"),
        ("-1", "-1"),
    ):
        if threshold is not None:
            session.conf.set(name, threshold)
        try:
            with connect(settings, SourceSpec(data=frame)) as engine:
                assert engine._session.conf.get(name) == expected  # type: ignore[attr-defined]
        finally:
            session.conf.unset(name)


def test_spark_connect_is_refused_with_the_reason(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    frame = type("DataFrame", (), {"__module__": "pyspark.sql.connect.dataframe"})()
    with pytest.raises(InputError, match="this DataFrame is one of Spark Connect: discreet needs"):
        connect(settings, SourceSpec(data=frame))
    monkeypatch.setattr("discreet.engines.spark.session._active", lambda: None)
    monkeypatch.setenv("SPARK_REMOTE", "sc://cluster:15002")
    with pytest.raises(InputError, match="SPARK_REMOTE"):
        connect(settings, CATALOG)


# --- the created session -----------------------------------------------------------------------------------


def test_no_port_is_open_to_others_and_no_file_is_in_the_working_folder(engine: SparkEngine) -> None:
    engine.create_table("t", "SELECT id % 3 AS g, count(*) AS n FROM range(1000) GROUP BY id % 3")
    assert addresses_beyond_loopback(java_of_this_process()) == []
    left = {"spark-warehouse", "metastore_db", "derby.log", "artifacts"}
    assert left & {path.name for path in Path.cwd().iterdir()} == set()
    assert engine._scratch.folder.stat().st_mode & 0o777 == 0o700
    folder = engine._scratch.folder
    engine.close()
    assert not folder.exists()


def test_invalid_settings_are_refused(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from discreet.engines.spark.startup import check_java, check_master

    java = tmp_path / "bin" / "java"
    java.parent.mkdir()
    java.write_text("#!/bin/sh\necho 'openjdk version \"11.0.2\"' >&2\n")
    java.chmod(0o755)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(InputError, match="cannot run on Java 11"):
        check_java()
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "nowhere"))
    with pytest.raises(InputError, match="needs Java, which was not found"):
        check_java()
    with pytest.raises(InputError, match="does not answer"):
        check_master("spark://127.0.0.1:1")
    with pytest.raises(InputError, match="DISCREET_SPARK_MASTER"):
        check_master("spark://nonsense")
    monkeypatch.setitem(__import__("sys").modules, "pyspark.sql", None)
    with pytest.raises(InputError, match="packages pyspark and pyarrow"):
        connect(settings, CATALOG)


# --- output ------------------------------------------------------------------------------------------------


def test_folder_appears_whole_or_not_at_all(engine: SparkEngine, out: Path) -> None:
    query = "SELECT id, id % 2 AS g FROM range(0, 1000, 1, 4) ORDER BY id DESC"
    engine.write_folder(query, out / "rows", ["Id", 'the "g"'])
    parts = sorted((out / "rows").iterdir())
    assert [part.name for part in parts] == [f"part-{i:05}.parquet" for i in range(len(parts))]
    assert {part.stat().st_mode & 0o777 for part in parts} == {0o600}
    assert (out / "rows").stat().st_mode & 0o777 == 0o700
    rows = pyarrow.concat_tables([pyarrow.parquet.read_table(part) for part in parts])
    assert rows.column_names == ["Id", 'the "g"']
    assert rows["Id"].to_pylist() == list(range(999, -1, -1))
    with pytest.raises(InputError, match="already exists"):
        engine.write_folder(query, out / "rows")
    with pytest.raises(InputError, match="is missing"):
        engine.write_folder(query, out / "no" / "rows")
    with pytest.raises(InputError, match="differ only in case"):
        engine.write_folder(query, out / "more", ["a", "A"])
    with pytest.raises(InternalError, match="DIVIDE_BY_ZERO"):
        engine.write_folder("SELECT id / (id - 700) AS x FROM range(0, 1000, 1, 4)", out / "more")
    assert [path.name for path in out.iterdir()] == ["rows"]


def test_table_of_the_catalog_is_read(engine: SparkEngine) -> None:
    engine.write_table("SELECT id FROM range(3)", "default.published", ["N"])
    assert engine.has_table("default.published")
    assert cells(engine, SourceSpec(engine="spark", table="default.published")) == [("0",), ("1",), ("2",)]
    with pytest.raises(InputError, match="already exists"):
        engine.write_table("SELECT id FROM range(3)", "default.published")
    engine.write_table("SELECT id FROM range(2)", "default.other", ["N"])
    engine.drop_catalog_table("default.published")
    engine.rename_table("default.other", "default.published")
    assert cells(engine, SourceSpec(engine="spark", table="default.published")) == [("0",), ("1",)]
    engine.drop_catalog_table("default.published")
    # Only one task: with several, a task not yet notified of the failure may write into the removed folder.
    with pytest.raises(InternalError, match="DIVIDE_BY_ZERO"):
        engine.write_table("SELECT id / (id - 700) AS x FROM range(0, 1000, 1, 1)", "default.published")
    assert not engine.has_table("default.published")
    engine.write_table("SELECT id FROM range(3)", "default.published")
    engine.drop_catalog_table("default.published")
    engine.create_table("published", "SELECT 7 AS n")
    assert cells(engine, SourceSpec(engine="spark", table="published")) == [("7",)]
    with pytest.raises(InputError, match="does not take"):
        engine.write_table("SELECT id FROM range(3)", 'default."odd name"')


def test_scratch_may_be_on_another_file_system(
    session: Any, settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Scratch space is on a file system whose addresses are not local paths (Hadoop's viewfs, simulated)."""
    shared = tmp_path / "shared"
    shared.mkdir()
    hadoop = session.sparkContext._jsc.hadoopConfiguration()
    hadoop.set("fs.viewfs.mounttable.cluster.link./scratch", f"file:{shared}")
    monkeypatch.setenv("DISCREET_SPARK_SCRATCH", "viewfs://cluster/scratch")
    monkeypatch.setattr("discreet.engines.spark.engine._BYTES_IN_PLANS", 0)
    (tmp_path / "a.csv").write_text("a,b\n1,x\n2,\n")
    with connect(settings, CATALOG) as engine:
        assert cells(engine, SourceSpec(path=tmp_path / "a.csv", engine="spark")) == [("1", "x"), ("2", None)]
        engine.load_table("loaded", {"a": ["x", None]})
        engine.create_table("made", "SELECT a, 1 AS n FROM loaded")
        engine.write_file("SELECT n, a FROM made ORDER BY a DESC", tmp_path / "out.csv", "csv")
        assert (tmp_path / "out.csv").read_text() == "n,a\n1,x\n1,\n"
        assert engine.keep_result("kept", "SELECT * FROM made").fetch_rows("SELECT count(*) FROM kept") == [
            (2,)
        ]
        (folder,) = shared.iterdir()
        assert folder.stat().st_mode & 0o777 == 0o700
        engine.drop_table("made")
        assert [path.name for path in folder.glob("t*")] == ["t2.parquet"]
    assert list(shared.iterdir()) == []


# --- failures ----------------------------------------------------------------------------------------------


def test_errors_contain_no_cell(engine: SparkEngine, capfd: pytest.CaptureFixture[str]) -> None:
    engine.load_table("t", {"a": [SECRET, None]})
    for statement in ("SELECT CAST(a AS INTEGER) AS n FROM t", f"SELECT nothing FROM t WHERE a = '{SECRET}'"):
        with pytest.raises(InternalError) as caught:
            engine.fetch_rows(statement)
        assert SECRET not in str(caught.value)
        assert caught.value.__suppress_context__
    printed = capfd.readouterr()
    assert SECRET not in printed.out + printed.err


def test_interrupt_stops_only_the_statement(engine: SparkEngine) -> None:
    raised: list[DiscreetError] = []

    def work() -> None:
        try:
            engine.fetch_rows(
                "SELECT count(*) FROM range(100000000) AS a JOIN range(100000000) AS b ON a.id < b.id"
            )
        except DiscreetError as error:
            raised.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    wait_for(lambda: engine.interrupt() or not thread.is_alive(), "the statement has stopped")
    assert [type(error) for error in raised] == [LimitReached]
    assert "cancelled" in str(raised[0])
    assert engine.fetch_rows("SELECT 1 AS n") == [(1,)]


def test_full_disk_is_a_limit(engine: SparkEngine, out: Path) -> None:
    """A limit on the size of files that the Java process writes simulates a full disk."""
    java = java_of_this_process()
    before = resource.prlimit(java, resource.RLIMIT_FSIZE)
    query = "SELECT id, sha2(CAST(id AS STRING), 256) AS x FROM range(200000)"
    try:
        resource.prlimit(java, resource.RLIMIT_FSIZE, (1 << 16, before[1]))
        with pytest.raises(LimitReached, match="no space is left"):
            engine.create_table("large", query)
        with pytest.raises(LimitReached, match="no space is left"):
            engine.write_folder(query, out / "rows")
        assert list(out.iterdir()) == []
        assert [path for path in engine._scratch.folder.iterdir() if path.name.startswith("t")] == []
    finally:
        resource.prlimit(java, resource.RLIMIT_FSIZE, before)
    engine.create_table("large", query)
    assert engine.fetch_rows("SELECT count(*) FROM large") == [(200000,)]


@pytest.mark.slow
def test_retry_after_a_killed_process_succeeds(settings: Settings, out: Path) -> None:
    with connect(settings, CATALOG) as engine:
        assert isinstance(engine, SparkEngine)
        killer = threading.Timer(1.0, os.kill, (java_of_this_process(), 9))
        killer.start()
        with pytest.raises(LimitReached, match="has ended"):
            engine.write_folder(
                "SELECT a.id FROM range(10000000) AS a JOIN range(30000) AS b ON a.id < b.id", out / "a"
            )
    assert list(out.iterdir()) == []
    with connect(settings, CATALOG) as again:
        assert again.fetch_rows("SELECT 1 AS n") == [(1,)]
