"""Rows in and out of Spark: sources read in place or copied, stored temporary tables, folders and catalog
tables.

A temporary table is computed once into Parquet files that every executor can read: a cached partition may be
recomputed, with other random keys. What Spark does not read itself the embedded engine copies to Parquet.
"""

from __future__ import annotations

import os
import re
import secrets
import shutil
import tempfile
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet.engines import failures
from discreet.engines.base import SourceTable
from discreet.engines.duckdb.engine import DuckdbEngine
from discreet.engines.files.delimited_text import check_unique_names
from discreet.engines.files.output_files import check_parquet_names
from discreet.engines.files.parquet_files import read_parquet_schema
from discreet.engines.files.sources import file_kind, is_versioned_table
from discreet.engines.process_resources import TemporaryFolder
from discreet.engines.spark.session import SparkSessions
from discreet.engines.spark.types import house_type, is_frame, reads_as_text, transfer_type
from discreet.errors import InputError
from discreet.model.table_spec import SourceSpec
from discreet.sql.cell_expressions import column_name, is_nested
from discreet.sql.quoting import identifier, table_parts

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType


_HERE = "file:"
_PATTERN = re.compile(r"[{}\[\]*?\\]")


def spark_path(path: Path) -> str:
    """A path of this machine as Spark takes it: no character is encoded."""
    return f"{_HERE}{path}"


def read_parquet_files(
    session: SparkSession, *places: str, schema: StructType | None = None, base: str | None = None
) -> DataFrame:
    """The rows of Parquet files at addresses in which no character stands for others.

    Folders between the ``base`` and the files, ``column=value``, are columns. Such characters are escaped one
    by one: ``__globPaths__`` would do for one address, but of several Spark reads each as often as there are
    addresses with such a character.
    """
    reader = session.read.options(mergeSchema="false")
    if base is not None:
        reader = reader.option("basePath", base)
    escaped = (_PATTERN.sub(r"\\\g<0>", place) for place in places)
    return (reader if schema is None else reader.schema(schema)).parquet(*escaped)


class SparkScratch:
    """An owner-only folder for one engine, here or on the cluster's file system, removed by ``close``."""

    def __init__(self, sessions: SparkSessions) -> None:
        self._session: SparkSession = sessions.own
        place = os.environ.get("DISCREET_SPARK_SCRATCH") or _default_place(sessions)
        self._remote: str | None = None
        if "://" in place and not place.startswith("file:"):
            self._remote = f"{place.rstrip('/')}/discreet-{secrets.token_hex(8)}"
            self._make_remote()
        self._temporary = _owner_only_folder(None if self._remote else place)
        self._folder = self._temporary.path
        self._number = 0

    @property
    def folder(self) -> Path:
        """The part of it on this machine."""
        return self._folder

    def new_place(self) -> str:
        """An address for a table's files, where nothing is yet."""
        self._number += 1
        if self._remote is not None:
            return f"{self._remote}/t{self._number}"
        return spark_path(self._folder / f"t{self._number}")

    def store(self, frame: DataFrame) -> str:
        """Compute a frame, once, into files; their address."""
        place = self.new_place()
        try:
            frame.write.parquet(place)
        except BaseException:
            self.remove(place)
            raise
        return place

    def hand_over(self, path: Path) -> str:
        """The address of a file of this machine's part, put where the executors reach it."""
        if self._remote is None:
            return spark_path(path)
        place = f"{self.new_place()}.parquet"
        system, target = self._system(place)
        system.copyFromLocalFile(True, True, self._java_path(spark_path(path)), target)
        return place

    def files(self, place: str) -> list[Path]:
        """The files of a stored table, on this machine and in the order of its rows."""
        if self._remote is not None:
            copy = self._folder / place.rpartition("/")[2]
            system, source = self._system(place)
            system.copyToLocalFile(False, source, self._java_path(spark_path(copy)), True)
            folder = copy
        else:
            folder = Path(place.removeprefix(_HERE))
        return sorted(folder.glob("part-*.parquet"))

    def remove(self, place: str) -> None:
        """Remove a stored table's files, and the copy of them on this machine."""
        copy = self._folder / place.rpartition("/")[2]
        shutil.rmtree(copy, ignore_errors=True)
        copy.unlink(missing_ok=True)
        if self._remote is not None:
            with suppress(Exception):
                system, path = self._system(place)
                system.delete(path, True)

    def close(self) -> None:
        """Remove everything; a second call does nothing."""
        if self._remote is not None:
            with suppress(Exception):
                system, path = self._system(self._remote)
                system.delete(path, True)
        self._temporary.remove()

    def _make_remote(self) -> None:
        system, path = self._system(str(self._remote))
        owner_only = self._java("org.apache.hadoop.fs.permission.FsPermission")("700")
        system.mkdirs(path, owner_only)
        system.setPermission(path, owner_only)

    def _system(self, place: str) -> tuple[Any, Any]:
        path = self._java_path(place)
        context: Any = self._session.sparkContext
        return path.getFileSystem(context._jsc.hadoopConfiguration()), path

    def _java_path(self, place: str) -> Any:
        return self._java("org.apache.hadoop.fs.Path")(place)

    def _java(self, name: str) -> Any:
        found: Any = self._session.sparkContext._jvm
        for part in name.split("."):
            found = getattr(found, part)
        return found


def _default_place(sessions: SparkSessions) -> str:
    """The temporary folder of this machine for a local session, else that of the cluster's file system."""
    if sessions.is_local:
        return tempfile.gettempdir()
    context: Any = sessions.own.sparkContext
    shared = str(context._jsc.hadoopConfiguration().get("fs.defaultFS") or "file:///")
    if shared.startswith("file:"):
        raise InputError(
            "the Spark cluster has no file system that all its machines reach",
            allowed="DISCREET_SPARK_SCRATCH: a shared folder, or an address such as hdfs://…/tmp",
            advice="Set it to where temporary tables may be kept.",
        )
    return f"{shared.rstrip('/')}/tmp"


def _owner_only_folder(parent: str | None) -> TemporaryFolder:
    within = None if parent is None else parent.removeprefix("file://")
    try:
        return TemporaryFolder(within)
    except OSError as error:
        raise failures.from_os_error(error, Path(within or tempfile.gettempdir())) from None


def write_parquet_folder(frame: DataFrame, folder: Path, columns: Sequence[str] | None) -> None:
    """Compute a frame, once, into a new owner-only folder: ``part-00000.parquet``, … in its order.

    The folder appears whole, by one rename, or not at all. ``InputError`` where it cannot be made.
    """
    folder = folder.absolute()
    if os.path.lexists(folder):
        raise InputError(f"{folder} is there already", advice="Choose another name.")
    named = _named(frame, columns)
    beside = folder.parent / f".{folder.name}.{secrets.token_hex(8)}"
    try:
        beside.mkdir(mode=0o700)
        named.write.parquet(spark_path(beside / "written"))
        whole = beside / "whole"
        whole.mkdir(mode=0o700)
        for number, part in enumerate(sorted((beside / "written").glob("part-*.parquet"))):
            part.chmod(0o600)
            _sync(part)
            part.rename(whole / f"part-{number:05}.parquet")
        _sync(whole)
        whole.rename(folder)
        _sync(folder.parent)
    except ConnectionError:
        raise
    except OSError as error:
        raise failures.from_os_error(error, folder) from None
    finally:
        shutil.rmtree(beside, ignore_errors=True)


def write_catalog_table(
    sessions: SparkSessions, frame: DataFrame, name: str, columns: Sequence[str] | None
) -> None:
    """Compute a frame, once, into a new table of the catalog, which appears whole or not at all."""
    target = backticked_table(name)
    named = _named(frame, columns)
    if sessions.own.catalog.tableExists(target):
        raise InputError(f"the table {name} is there already", advice="Choose another name.")
    try:
        named.write.format("parquet").saveAsTable(target)
    except BaseException:
        with suppress(Exception):
            sessions.own.sql(f"DROP TABLE IF EXISTS {quoted_table(name)}")
        raise
    refresh_table(sessions, name)


def refresh_table(sessions: SparkSessions, name: str) -> None:
    """Let the given session forget the files of a table that had this name before."""
    with suppress(Exception):
        sessions.given.catalog.refreshTable(backticked_table(name))


def quoted_table(name: str) -> str:
    """A table's name as its user writes it, in our own session's SQL."""
    return ".".join(map(identifier, table_parts(name)))


def backticked_table(name: str) -> str:
    """A table's name as its user writes it (``schema."odd name"``), for Spark's own methods."""
    return ".".join("`" + part.replace("`", "``") + "`" for part in table_parts(name))


def _named(frame: DataFrame, columns: Sequence[str] | None) -> DataFrame:
    check_parquet_names(frame.columns if columns is None else columns)
    return frame if columns is None else frame.toDF(*columns)


def _sync(path: Path) -> None:
    with suppress(OSError):
        handle = os.open(path, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


_SPARK_SKIPS = ("_", ".")


@dataclass(frozen=True)
class SparkRows:
    """An opened source: its frame with columns ``c0``, ``c1``, …, its own names, and their house types.

    ``copied`` is the embedded engine's table where that read it, and ``place`` the copy. ``shared`` is the
    name by which another session knows the frame. ``subset`` says that rows of the source may be left out.
    """

    frame: DataFrame
    columns: tuple[str, ...]
    types: dict[str, str]
    copied: SourceTable | None = None
    place: str | None = None
    shared: str | None = None
    subset: bool = False


def read_source_rows(
    source: SourceSpec,
    sessions: SparkSessions,
    scratch: SparkScratch,
    embedded: Callable[[], DuckdbEngine],
    *,
    own: bool = False,
) -> SparkRows:
    """The rows of a source; ``InputError`` where it is wrong. Spark's own exceptions pass.

    ``own`` says that ``table`` is a temporary table of our own session.
    """
    if source.data is not None and is_frame(source.data):
        return _shared_rows(source.data, source.label, sessions)  # type: ignore[arg-type]
    if source.data is None and source.path is None:
        if source.table is None:
            raise InputError("the spec names no source", advice="Give path or table in [source].")
        if own:
            return _numbered_columns(sessions.own.table(backticked_table(source.table)), source.label)
        name = backticked_table(source.table) if '"' in source.table else source.table
        return _shared_rows(sessions.given.table(name), source.label, sessions)
    if source.data is None and source.table is None and _is_parquet(source):
        assert source.path is not None
        return _files_in_place(source.path.absolute(), source.label, sessions, embedded())
    return _copied_rows(source, sessions, scratch, embedded())


def _is_parquet(source: SourceSpec) -> bool:
    """Whether Spark reads a path itself; ``InputError`` for a folder of other files."""
    assert source.path is not None
    if is_versioned_table(source.path.absolute()):
        return False
    if source.path.is_dir():
        if source.format not in (None, "parquet"):
            raise InputError(f"{source.label} is a folder", allowed="a file, or a folder of Parquet files")
        return True
    return file_kind(source.path, source.format) == "parquet" and _spark_sees(source.path)


def _files_in_place(path: Path, label: str, sessions: SparkSessions, embedded: DuckdbEngine) -> SparkRows:
    """The rows of the files that the embedded engine would read, each of them named to Spark.

    Left to itself, Spark has rules of its own on what it leaves out of a folder.
    """
    with embedded.order.preserved():
        known = read_parquet_schema(path, label, embedded.fetch_rows)
    places = [spark_path(file) for file in known.files]
    frame = read_parquet_files(sessions.own, *places, base=spark_path(path) if known.partitions else None)
    return _numbered_columns(frame, label)


def _spark_sees(path: Path) -> bool:
    """Spark leaves out files whose name begins so, even where they are named outright."""
    return path.is_file() and not path.name.startswith(_SPARK_SKIPS)


def _shared_rows(frame: DataFrame, label: str, sessions: SparkSessions) -> SparkRows:
    """Rows of the given session, by a name that both sessions see."""
    rows = _numbered_columns(frame, label)
    name = f"discreet_{secrets.token_hex(8)}"
    rows.frame.createGlobalTempView(name)
    database = sessions.own.conf.get("spark.sql.globalTempDatabase", "global_temp")
    return SparkRows(sessions.own.table(f"{database}.{name}"), rows.columns, rows.types, shared=name)


def _numbered_columns(frame: DataFrame, label: str) -> SparkRows:
    """A frame with its columns named by place, and text of a length or collation of its own as plain text."""
    from pyspark.sql import functions

    fields = frame.schema.fields
    columns = tuple(field.name for field in fields)
    check_unique_names(columns, label)
    if not columns:
        raise InputError(f"{label} has no columns", allowed="at least one column")
    named = frame.toDF(*(column_name(i) for i in range(len(columns))))
    cells = [
        functions.col(column_name(i)).cast("string").alias(column_name(i))
        if reads_as_text(field.dataType)
        else functions.col(column_name(i))
        for i, field in enumerate(fields)
    ]
    return SparkRows(named.select(*cells), columns, {f.name: house_type(f.dataType) for f in fields})


def _copied_rows(
    source: SourceSpec, sessions: SparkSessions, scratch: SparkScratch, embedded: DuckdbEngine
) -> SparkRows:
    """Rows that the embedded engine reads as they are written, copied into a Parquet file."""
    unmodified = replace(source, written={}, decimal=None, strip=False, subset=None)
    table = embedded.open_source(replace(unmodified, star_free=(), set_apart=()))
    types = {name: kind if is_nested(kind) else transfer_type(kind) for name, kind in table.types.items()}
    cells = ", ".join(
        f"{'NULL' if is_nested(kind) else table.column(name)}::{'VARCHAR' if is_nested(kind) else kind} "
        f"AS {identifier(column_name(i))}"
        for i, (name, kind) in enumerate(types.items())
    )
    path = scratch.folder / f"copy-{secrets.token_hex(4)}.parquet"
    embedded.write_file(f"SELECT {cells} FROM {table.relation}", path, "parquet")
    place = scratch.hand_over(path)
    return SparkRows(read_parquet_files(sessions.own, place), table.columns, types, copied=table, place=place)
