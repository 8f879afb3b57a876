"""Streams from Python: each row is read once, spooled instead of held, and usable in several steps."""

from __future__ import annotations

import gc
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import adbc_driver_sqlite.dbapi
import duckdb
import polars
import pyarrow
import pyarrow.dataset
import pyarrow.parquet
import pytest

from discreet.engines.connection import connect
from discreet.engines.source_tables import open_source_table
from discreet.errors import InputError
from discreet.model.table_spec import SourceSpec
from discreet.settings import Settings
from tests.engines.conftest import Read
from tests.engines.rows import rows_of

PEOPLE = {"zip": ["02174", None, "", "NULL"], "n": [1, 2, 3, 4]}
ROWS = [("02174", "1"), (None, "2"), ("", "3"), ("NULL", "4")]
SCHEMA = pyarrow.schema([("zip", pyarrow.string()), ("n", pyarrow.int64())])


def _reader(*parts: tuple[int, int]) -> Any:
    whole = pyarrow.record_batch(PEOPLE, schema=SCHEMA)
    batches = [whole.slice(start, length) for start, length in parts]
    return pyarrow.RecordBatchReader.from_batches(SCHEMA, iter(batches))


@pytest.fixture
def cursor() -> Iterator[Any]:
    """Yield a cursor of a real ADBC driver (SQLite in memory) with the rows."""
    with adbc_driver_sqlite.dbapi.connect() as connection, connection.cursor() as found:
        found.execute("CREATE TABLE people (zip TEXT, n INTEGER)")
        found.executemany(
            "INSERT INTO people VALUES (?, ?)", list(zip(PEOPLE["zip"], PEOPLE["n"], strict=True))
        )
        connection.commit()
        found.execute("SELECT zip, n FROM people ORDER BY n")
        yield found


@pytest.fixture(
    params=["reader", "empty batches", "relation", "cursor", "cursor's reader", "scanner", "lazy"]
)
def stream(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    if request.param == "reader":
        return _reader((0, 4))
    if request.param == "empty batches":
        return _reader((0, 0), (0, 1), (1, 0), (1, 3), (4, 0))
    if request.param == "relation":
        table = pyarrow.table(PEOPLE)
        return duckdb.connect().from_arrow(table)
    if request.param == "lazy":
        return polars.LazyFrame(PEOPLE)
    if request.param == "scanner":
        pyarrow.parquet.write_table(pyarrow.table(PEOPLE), tmp_path / "people.parquet")
        return pyarrow.dataset.dataset(tmp_path / "people.parquet").scanner().to_reader()
    found = request.getfixturevalue("cursor")
    return found if request.param == "cursor" else found.fetch_record_batch()


def test_every_kind_of_stream_is_read_once_and_usable_twice(
    stream: Any, read: Read, settings: Settings
) -> None:
    assert read(stream) == ROWS
    assert read(stream, null_values=("NULL", "1"))[3] == (None, "4")
    assert rows_of(settings, SourceSpec(data=stream)) == ROWS


def test_dataset_is_scanned_from_its_files(read: Read, tmp_path: Path) -> None:
    """A dataset is scanned from its files.

    Its schema may have a column that an older file lacks, and folders that are columns.
    """
    for year, columns in (("2024", {"n": [1, 2]}), ("2025", {"n": [3], "zip": ["02174"]})):
        folder = tmp_path / f"year={year}"
        folder.mkdir()
        pyarrow.parquet.write_table(pyarrow.table(columns), folder / "part.parquet")
    dataset = pyarrow.dataset.dataset(
        tmp_path,
        schema=pyarrow.schema([("n", pyarrow.int64()), ("zip", pyarrow.string()), ("year", pyarrow.int32())]),
        partitioning="hive",
    )
    expected = [("1", None, "2024"), ("2", None, "2024"), ("3", "02174", "2025")]
    assert sorted(read(dataset)) == expected
    pyarrow.parquet.write_table(pyarrow.table({"n": [9, 9]}), tmp_path / "year=2024" / "part.parquet")
    assert [row[0] for row in sorted(read(dataset))] == ["3", "9", "9"]


def test_rows_are_not_kept_in_memory(settings: Settings) -> None:
    """Rows are not held: while a stream of 24 MB is read, Arrow holds only a part of it."""
    # The proxy pool counts only this test's allocations: memory of earlier tests may be freed meanwhile.
    pool = pyarrow.proxy_memory_pool(pyarrow.default_memory_pool())
    rows, parts, most = 1 << 16, 48, 0

    def batches() -> Iterator[Any]:
        nonlocal most
        for number in range(parts):
            values = range(number * rows, (number + 1) * rows)
            batch = pyarrow.record_batch({"n": pyarrow.array(values, memory_pool=pool)})
            # Measure before yielding: the reader may have freed the batch by the time it requests the next.
            most = max(most, pool.bytes_allocated())
            yield batch

    source = SourceSpec(
        data=pyarrow.RecordBatchReader.from_batches(pyarrow.schema([("n", pyarrow.int64())]), batches())
    )
    with connect(settings, source) as engine, open_source_table(engine, source) as table:
        found = engine.fetch_rows(f"SELECT count(*), sum(c0) FROM {table.relation}")
    assert found == [(rows * parts, rows * parts * (rows * parts - 1) // 2)]
    assert rows * 8 <= most < rows * parts * 8 / 8


def test_lazy_frame_is_run_once_and_never_collected(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs: list[int] = []

    def counted(frame: polars.DataFrame) -> polars.DataFrame:
        runs.append(1)
        return frame

    frame = polars.LazyFrame(PEOPLE).map_batches(counted)
    monkeypatch.delattr(polars.LazyFrame, "collect")
    for _ in range(2):
        assert rows_of(settings, SourceSpec(data=frame)) == ROWS
    assert runs == [1]


def test_lazy_frame_whose_query_fails_is_an_error_of_the_input(read: Read) -> None:
    frame = polars.LazyFrame({"n": ["1", "x"]}).with_columns(polars.col("n").cast(polars.Int64))
    with pytest.raises(InputError, match="rows"):
        read(frame)
    missing = polars.LazyFrame(PEOPLE).select("none")
    with pytest.raises(InputError, match="LazyFrame has no rows to read"):
        read(missing)


def test_frame_at_the_address_of_an_ended_one_is_read_anew(read: Read) -> None:
    """A frame that reuses the memory address of an ended one, by which frames are known, is read anew."""
    for number in range(20):
        assert read(polars.LazyFrame({"n": [number]})) == [(str(number),)]


def test_file_is_owner_only_and_removed_with_the_stream(
    read: Read, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    stream = _reader((0, 4))
    read(stream)
    (path,) = tmp_path.glob("*/*.parquet")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert pyarrow.parquet.read_metadata(path).num_rows == 4
    del stream
    gc.collect()
    assert not path.parent.exists()


def test_broken_stream_is_not_read_further(read: Read, tmp_path: Path) -> None:
    """A stream that breaks off is never read further: its remaining rows would silently be too few."""

    def batches() -> Iterator[Any]:
        yield pyarrow.record_batch(PEOPLE, schema=SCHEMA)
        raise ValueError("02174 is secret")

    stream = pyarrow.RecordBatchReader.from_batches(SCHEMA, batches())
    with pytest.raises(InputError, match="could not be read to their end") as error:
        read(stream)
    assert "02174" not in str(error.value)
    with pytest.raises(InputError, match="partly read before"):
        read(stream)


def test_streams_without_rows_or_with_bad_columns_are_refused(read: Read) -> None:
    with (
        adbc_driver_sqlite.dbapi.connect() as connection,
        connection.cursor() as cursor,
        pytest.raises(InputError, match="has no rows to read"),
    ):
        read(cursor)
    twice = pyarrow.schema([("n", pyarrow.int64()), ("n", pyarrow.int64())])
    for schema, words in ((pyarrow.schema([]), "has no columns"), (twice, "'n'")):
        with pytest.raises(InputError, match=words):
            read(pyarrow.RecordBatchReader.from_batches(schema, iter([])))


def test_no_microsecond_of_an_interval_is_lost(read: Read) -> None:
    assert read(duckdb.connect().sql("SELECT INTERVAL '1 month 2 microseconds' AS since")) == [
        ("1 month 00:00:00.000002",)
    ]
