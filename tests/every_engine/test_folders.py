"""Tests of folders of Parquet files: both engines that read them read the same files, without losing rows."""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet
import pytest

from discreet.engines.connection import connect
from discreet.engines.files.parquet_files import folder_digest, read_parquet_schema
from discreet.errors import InputError
from discreet.model.table_spec import SourceSpec
from discreet.settings import Settings
from tests.engines.rows import Rows, sorted_rows

Read = Callable[[Path], tuple[tuple[str, ...], Rows]]


@pytest.fixture(params=["duckdb", pytest.param("spark", marks=pytest.mark.spark)])
def read(request: pytest.FixtureRequest, settings: Settings) -> Read:
    """Return the columns and the sorted cells of a path, by one of the engines."""
    if request.param == "spark":
        request.getfixturevalue("spark_process")

    def read_all(path: Path) -> tuple[tuple[str, ...], Rows]:
        source = SourceSpec(path=path, engine="spark" if request.param == "spark" else None)
        with connect(settings, source) as engine:
            return engine.open_source(source).columns, sorted_rows(engine, source)

    return read_all


def write(path: Path, *values: str, column: str = "age") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    pyarrow.parquet.write_table(pyarrow.table({column: list(values)}), path)
    return path


LOGS = {
    "Delta Lake": "_delta_log/00000000000000000000.json",
    "Apache Iceberg": "metadata/v1.metadata.json",
    "Apache Hudi": ".hoodie/hoodie.properties",
}


@pytest.mark.parametrize("kind", LOGS)
def test_folder_with_a_log_is_not_read_as_plain_files(kind: str, read: Read, tmp_path: Path) -> None:
    """The old and the new version of two rows are both stored: reading all files counts them twice."""
    table = tmp_path / "lake" / "people"
    for version in ("old", "new"):
        write(table / f"{version}.parquet", "1", "2")
        write(table / "x=1" / f"{version}.parquet", "1", "2")
        write(table / "data" / f"{version}.parquet", "1", "2")
    log = table / LOGS[kind]
    log.parent.mkdir()
    log.write_text("{}")
    for path in (table, table / "x=1", table / "data", table / "old.parquet", table / "x=1" / "new.parquet"):
        with pytest.raises(InputError, match=kind) as error:
            read(path)
        assert "catalog" in str(error.value)
        assert "export" in str(error.value)
    plain = write(tmp_path / "lake" / "plain.parquet", "1").parent
    with pytest.raises(InputError, match=kind):
        read(plain)
    assert read(plain / "plain.parquet") == (("age",), [("1",)])


def test_markers_of_writers_are_skipped(read: Read, tmp_path: Path) -> None:
    folder = tmp_path / "peo {p,l}e [1]?*"
    write(folder / "a.parquet", "1")
    write(folder / "b.PARQUET", "2")
    write(folder / "_temporary" / "0" / "c.parquet", "3")
    (folder / "docs").mkdir()
    for name in ("_SUCCESS", ".gone.parquet.crc", "README.md", "sha256sums", "docs/help.txt"):
        (folder / name).write_text("x")
    assert read(folder) == (("age",), [("1",), ("2",)])


HIDDEN = ("_b.parquet", ".b.parquet", "b.csv", "b.pq", "000000_0", "b.json.gz")
BELOW = ("sub/b.parquet", "sub/deep/b.parquet", "x=1/b.parquet", "sub/b.parquet/c")


@pytest.mark.parametrize("name", HIDDEN + BELOW)
def test_files_that_would_be_skipped_are_refused(name: str, read: Read, tmp_path: Path) -> None:
    folder = write(tmp_path / "people" / "a.parquet", "1").parent
    write(folder / name, "2")
    with pytest.raises(InputError) as error:
        read(folder)
    assert name.partition("/")[0] in str(error.value)


def test_broken_link_and_empty_folder_are_refused(read: Read, tmp_path: Path) -> None:
    folder = write(tmp_path / "people" / "a.parquet", "1").parent
    (folder / "b.parquet").symlink_to(tmp_path / "gone")
    with pytest.raises(InputError, match=r"b\.parquet is not a regular file"):
        read(folder)
    shutil.rmtree(folder)
    write(folder / "part" / "a.parquet", "1")
    with pytest.raises(InputError, match=r"without Parquet files.*part"):
        read(folder)


def test_folders_named_as_columns_are_read_as_columns(read: Read, tmp_path: Path) -> None:
    folder = tmp_path / "peo {ple} [1]*"
    for zip_code, city in (("02174", "x%2Fy"), ("10115", "__HIVE_DEFAULT_PARTITION__"), ("7", "é o")):
        write(folder / f"zip={zip_code}" / f"City={city}" / "a.parquet", zip_code)
    rows = [("02174", "02174", "x/y"), ("10115", "10115", None), ("7", "7", "é o")]
    assert read(folder) == (("age", "zip", "City"), rows)
    assert read(folder / "zip=7" / "City=é o") == (("age",), [("7",)])


@pytest.mark.parametrize(
    "names", [("x=1/a.parquet", "y=1/b.parquet"), ("x=1/x=2/a.parquet",), ("Age=1/a.parquet",)]
)
def test_inconsistent_column_folders_are_refused(names: tuple[str, ...], read: Read, tmp_path: Path) -> None:
    for name in names:
        write(tmp_path / "people" / name, "1")
    with pytest.raises(InputError):
        read(tmp_path / "people")


def test_files_of_different_columns_are_refused(read: Read, tmp_path: Path) -> None:
    folder = write(tmp_path / "people" / "a.parquet", "1").parent
    write(folder / "b.parquet", "2", column="weight")
    with pytest.raises(InputError, match=r"'age' is not a column of both a\.parquet and b\.parquet"):
        read(folder)


@pytest.mark.parametrize("seed", range(5))
def test_columns_are_those_of_the_first_file(seed: int, tmp_path: Path, settings: Settings) -> None:
    """Threads read a file each: the engine answers in any order, but names cells by the first file."""
    folder = tmp_path / "peo {p,l}e [1]?*"
    folder.mkdir()
    names = ["b", "c", "a"]
    for number in range(4):
        inner = pyarrow.array([{"c": [1], "d": {"e": 2}}])
        ordered = names[number % 3 :] + names[: number % 3]
        pyarrow.parquet.write_table(
            pyarrow.table(dict.fromkeys(ordered, inner)), folder / f"{number}.parquet"
        )
    with connect(settings) as engine:

        def fetch(query: str) -> list[tuple[Any, ...]]:
            rows = engine.fetch_rows(query)
            if len(rows[0]) == 4:  # numbered: DuckDB 1.5 and later
                random.Random(seed).shuffle(rows)
            return rows

        assert read_parquet_schema(folder, "people", fetch).columns == ("b", "c", "a")


def test_digest_is_of_the_files_that_are_read(tmp_path: Path) -> None:
    folder = write(tmp_path / "people" / "x=1" / "a.parquet", "1").parent.parent
    before = folder_digest(folder)
    (folder / "_SUCCESS").write_text("")
    assert folder_digest(folder) == before
    (folder / "x=1").rename(folder / "x=2")
    assert folder_digest(folder) != before
