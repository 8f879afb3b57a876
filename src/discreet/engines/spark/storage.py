"""Rows in and out of Spark: sources read in place or copied, temporary tables, folders and catalog tables.

A temporary table is computed once into Parquet files that every executor can read: a cached partition may be
recomputed, with other random keys. Files that Spark cannot read are copied to Parquet by the embedded engine.
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
    """Return a local path as Spark expects it, without encoded characters."""
    return f"{_HERE}{path}"


def read_parquet_files(
    session: SparkSession, *places: str, schema: StructType | None = None, base: str | None = None
) -> DataFrame:
    """Read Parquet files at addresses without active wildcards.

    Folders between ``base`` and the files, ``column=value``, are columns. Wildcards are escaped one by one:
    ``__globPaths__`` works for one address, but of several addresses Spark reads each as often as there are
    addresses with a wildcard character.
    """
    reader = session.read.options(mergeSchema="false")
    if base is not None:
        reader = reader.option("basePath", base)
    escaped = (_PATTERN.sub(r"\\\g<0>", path) for path in places)
    return (reader if schema is None else reader.schema(schema)).parquet(*escaped)


class SparkScratch:
    """Owner-only folder of one engine, local or on the cluster's file system, removed by ``close``."""

    def __init__(self, sessions: SparkSessions) -> None:
        self._session: SparkSession = sessions.own
        folder = os.environ.get("DISCREET_SPARK_SCRATCH") or _default_place(sessions)
        self._remote: str | None = None
        if "://" in folder and not folder.startswith("file:"):
            self._remote = f"{folder.rstrip('/')}/discreet-{secrets.token_hex(8)}"
            self._make_remote()
        self._temporary = _owner_only_folder(None if self._remote else folder)
        self._folder = self._temporary.path
        self._number = 0

    @property
    def folder(self) -> Path:
        """Local part of the folder."""
        return self._folder

    def new_place(self) -> str:
        """Return an unused address for a table's files."""
        self._number += 1
        if self._remote is not None:
            return f"{self._remote}/t{self._number}"
        return spark_path(self._folder / f"t{self._number}")

    def store(self, frame: DataFrame) -> str:
        """Compute a frame once into files, and return their address."""
        stored_path = self.new_place()
        try:
            frame.write.parquet(stored_path)
        except BaseException:
            self.remove(stored_path)
            raise
        return stored_path

    def hand_over(self, path: Path) -> str:
        """Move a file of the local part to an address that the executors can read."""
        if self._remote is None:
            return spark_path(path)
        stored_path = f"{self.new_place()}.parquet"
        system, target = self._system(stored_path)
        system.copyFromLocalFile(True, True, self._java_path(spark_path(path)), target)
        return stored_path

    def files(self, address: str) -> list[Path]:
        """Return the files of a stored table on this machine, in the order of its rows."""
        if self._remote is not None:
            copy = self._folder / address.rpartition("/")[2]
            system, source = self._system(address)
            system.copyToLocalFile(False, source, self._java_path(spark_path(copy)), True)
            folder = copy
        else:
            folder = Path(address.removeprefix(_HERE))
        return sorted(folder.glob("part-*.parquet"))

    def remove(self, address: str) -> None:
        """Remove a stored table's files and their copy on this machine."""
        copy = self._folder / address.rpartition("/")[2]
        shutil.rmtree(copy, ignore_errors=True)
        copy.unlink(missing_ok=True)
        if self._remote is not None:
            with suppress(Exception):
                system, path = self._system(address)
                system.delete(path, True)

    def close(self) -> None:
        """Remove the folder with its contents; a second call does nothing."""
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

    def _system(self, address: str) -> tuple[Any, Any]:
        path = self._java_path(address)
        context: Any = self._session.sparkContext
        return path.getFileSystem(context._jsc.hadoopConfiguration()), path

    def _java_path(self, address: str) -> Any:
        return self._java("org.apache.hadoop.fs.Path")(address)

    def _java(self, name: str) -> Any:
        result: Any = self._session.sparkContext._jvm
        for part in name.split("."):
            result = getattr(result, part)
        return result


def _default_place(sessions: SparkSessions) -> str:
    """Return the local temporary folder for a local session, else that of the cluster's file system."""
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
    """Compute a frame once into a new owner-only folder of files ``part-00000.parquet``, … in its order.

    The folder appears complete, by one rename, or not at all. Raises ``InputError`` if it cannot be created.
    """
    folder = folder.absolute()
    if os.path.lexists(folder):
        raise InputError(f"{folder} already exists", advice="Choose another name.")
    named = _named(frame, columns)
    staging = folder.parent / f".{folder.name}.{secrets.token_hex(8)}"
    try:
        # All files are written and synced in a hidden folder first; the last step is the rename.
        staging.mkdir(mode=0o700)
        named.write.parquet(spark_path(staging / "written"))
        complete = staging / "whole"
        complete.mkdir(mode=0o700)
        for number, part in enumerate(sorted((staging / "written").glob("part-*.parquet"))):
            part.chmod(0o600)
            _sync(part)
            part.rename(complete / f"part-{number:05}.parquet")
        _sync(complete)
        complete.rename(folder)
        _sync(folder.parent)
    except ConnectionError:
        raise
    except OSError as error:
        raise failures.from_os_error(error, folder) from None
    finally:
        shutil.rmtree(staging, ignore_errors=True)


def write_catalog_table(
    sessions: SparkSessions, frame: DataFrame, name: str, columns: Sequence[str] | None
) -> None:
    """Compute a frame once into a new table of the catalog, which appears complete or not at all."""
    target = backticked_table(name)
    named = _named(frame, columns)
    if sessions.own.catalog.tableExists(target):
        raise InputError(f"the table {name} already exists", advice="Choose another name.")
    try:
        named.write.format("parquet").saveAsTable(target)
    except BaseException:
        with suppress(Exception):
            sessions.own.sql(f"DROP TABLE IF EXISTS {quoted_table(name)}")
        raise
    refresh_table(sessions, name)


def refresh_table(sessions: SparkSessions, name: str) -> None:
    """Drop the given session's cached file list of an earlier table of this name."""
    with suppress(Exception):
        sessions.user_session.catalog.refreshTable(backticked_table(name))


def quoted_table(name: str) -> str:
    """Quote a table's name for the SQL of discreet's own session."""
    return ".".join(map(identifier, table_parts(name)))


def backticked_table(name: str) -> str:
    """Quote a table's name (``schema."odd name"``) with backticks for Spark's own methods."""
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
    """Opened source: its frame with columns ``c0``, ``c1``, …, its original names, and their house types.

    ``copied`` is the embedded engine's table if that engine read the source, and ``address`` the address of
    the copy. ``shared`` is the name under which another session can read the frame. ``subset`` means that
    rows of the source may be left out.
    """

    frame: DataFrame
    columns: tuple[str, ...]
    types: dict[str, str]
    copied: SourceTable | None = None
    address: str | None = None
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
    """Read the rows of a source; raises ``InputError`` for an invalid source, and Spark's own exceptions.

    ``own`` means that ``table`` is a temporary table of discreet's own session.
    """
    if source.data is not None and is_frame(source.data):
        return _shared_rows(source.data, source.label, sessions)  # type: ignore[arg-type]
    if source.data is None and source.path is None:
        if source.table is None:
            raise InputError("the spec names no source", advice="Give path or table in [source].")
        if own:
            return _numbered_columns(sessions.own.table(backticked_table(source.table)), source.label)
        name = backticked_table(source.table) if '"' in source.table else source.table
        return _shared_rows(sessions.user_session.table(name), source.label, sessions)
    if source.data is None and source.table is None and _is_parquet(source):
        assert source.path is not None
        return _files_in_place(source.path.absolute(), source.label, sessions, embedded())
    return _copied_rows(source, sessions, scratch, embedded())


def _is_parquet(source: SourceSpec) -> bool:
    """Return True if Spark reads a path itself; raises ``InputError`` for a folder of other files."""
    assert source.path is not None
    if is_versioned_table(source.path.absolute()):
        return False
    if source.path.is_dir():
        if source.format not in (None, "parquet"):
            raise InputError(f"{source.label} is a folder", allowed="a file, or a folder of Parquet files")
        return True
    return file_kind(source.path, source.format) == "parquet" and _spark_sees(source.path)


def _files_in_place(path: Path, label: str, sessions: SparkSessions, embedded: DuckdbEngine) -> SparkRows:
    """Read the same files as the embedded engine, each passed to Spark by its path.

    Given only the folder, Spark would omit files by rules of its own.
    """
    with embedded.order.preserved():
        known = read_parquet_schema(path, label, embedded.fetch_rows)
    places = [spark_path(file) for file in known.files]
    frame = read_parquet_files(sessions.own, *places, base=spark_path(path) if known.partitions else None)
    return _numbered_columns(frame, label)


def _spark_sees(path: Path) -> bool:
    """Return True unless Spark skips the file by its name; it does so even for explicitly named files."""
    return path.is_file() and not path.name.startswith(_SPARK_SKIPS)


def _shared_rows(frame: DataFrame, label: str, sessions: SparkSessions) -> SparkRows:
    """Return rows of the given session through a global view that both sessions can read."""
    rows = _numbered_columns(frame, label)
    name = f"discreet_{secrets.token_hex(8)}"
    rows.frame.createGlobalTempView(name)
    database = sessions.own.conf.get("spark.sql.globalTempDatabase", "global_temp")
    return SparkRows(sessions.own.table(f"{database}.{name}"), rows.columns, rows.types, shared=name)


def _numbered_columns(frame: DataFrame, label: str) -> SparkRows:
    """Name a frame's columns by position, and cast texts with a length or collation to plain text."""
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
    """Copy rows, unparsed, into a Parquet file with the embedded engine."""
    unmodified = replace(source, formats={}, decimal=None, strip=False, subset=None)
    table = embedded.open_source(replace(unmodified, star_free=(), set_apart=()))
    types = {name: kind if is_nested(kind) else transfer_type(kind) for name, kind in table.types.items()}
    cells = ", ".join(
        f"{'NULL' if is_nested(kind) else table.column(name)}::{'VARCHAR' if is_nested(kind) else kind} "
        f"AS {identifier(column_name(i))}"
        for i, (name, kind) in enumerate(types.items())
    )
    path = scratch.folder / f"copy-{secrets.token_hex(4)}.parquet"
    embedded.write_file(f"SELECT {cells} FROM {table.relation}", path, "parquet")
    address = scratch.hand_over(path)
    return SparkRows(
        read_parquet_files(sessions.own, address), table.columns, types, copied=table, address=address
    )
