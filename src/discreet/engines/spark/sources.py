"""From a source in the spec to rows that Spark reads.

Parquet files and folders, tables of the catalog and DataFrames are read in place. All else (delimited text,
JSON lines, DuckDB files, tables in memory, those with a log) the embedded engine reads as it always does,
once, into Parquet that Spark then reads: so a text file means the same on every engine.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from discreet.engines.base import SourceTable
from discreet.engines.duckdb.engine import DuckdbEngine
from discreet.engines.files.delimited_text import check_names
from discreet.engines.files.logged_table import is_logged_table
from discreet.engines.files.parquet_file import read_schema
from discreet.engines.files.sources import format_of
from discreet.engines.spark.output import in_backticks
from discreet.engines.spark.scratch import Scratch, address_of, parquet_at
from discreet.engines.spark.session import SparkSessions
from discreet.engines.spark.types import handed_over, house_type, is_frame, reads_as_text
from discreet.errors import InputError
from discreet.model.table_spec import SourceSpec
from discreet.sql.names import identifier
from discreet.sql.source import column_name, is_nested

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

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


def read_rows(
    source: SourceSpec,
    sessions: SparkSessions,
    scratch: Scratch,
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
            return _by_place(sessions.own.table(in_backticks(source.table)), source.label)
        name = in_backticks(source.table) if '"' in source.table else source.table
        return _shared_rows(sessions.given.table(name), source.label, sessions)
    if source.data is None and source.table is None and _is_parquet(source):
        assert source.path is not None
        return _files_in_place(source.path.absolute(), source.label, sessions, embedded())
    return _copied_rows(source, sessions, scratch, embedded())


def _is_parquet(source: SourceSpec) -> bool:
    """Whether Spark reads a path itself; ``InputError`` for a folder of other files."""
    assert source.path is not None
    if is_logged_table(source.path.absolute()):
        return False
    if source.path.is_dir():
        if source.format not in (None, "parquet"):
            raise InputError(f"{source.label} is a folder", allowed="a file, or a folder of Parquet files")
        return True
    return format_of(source.path, source.format) == "parquet" and _spark_sees(source.path)


def _files_in_place(path: Path, label: str, sessions: SparkSessions, embedded: DuckdbEngine) -> SparkRows:
    """The rows of the files that the embedded engine would read, each of them named to Spark.

    Left to itself, Spark has rules of its own on what it leaves out of a folder.
    """
    with embedded.order.kept():
        known = read_schema(path, label, embedded.fetch_rows)
    places = [address_of(file) for file in known.files]
    frame = parquet_at(sessions.own, *places, base=address_of(path) if known.partitions else None)
    return _by_place(frame, label)


def _spark_sees(path: Path) -> bool:
    """Spark leaves out files whose name begins so, even where they are named outright."""
    return path.is_file() and not path.name.startswith(_SPARK_SKIPS)


def _shared_rows(frame: DataFrame, label: str, sessions: SparkSessions) -> SparkRows:
    """Rows of the given session, by a name that both sessions see."""
    rows = _by_place(frame, label)
    name = f"discreet_{secrets.token_hex(8)}"
    rows.frame.createGlobalTempView(name)
    database = sessions.own.conf.get("spark.sql.globalTempDatabase", "global_temp")
    return SparkRows(sessions.own.table(f"{database}.{name}"), rows.columns, rows.types, shared=name)


def _by_place(frame: DataFrame, label: str) -> SparkRows:
    """A frame with its columns named by place, and text of a length or collation of its own as plain text."""
    from pyspark.sql import functions

    fields = frame.schema.fields
    columns = tuple(field.name for field in fields)
    check_names(columns, label)
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
    source: SourceSpec, sessions: SparkSessions, scratch: Scratch, embedded: DuckdbEngine
) -> SparkRows:
    """Rows that the embedded engine reads as they are written, copied into a Parquet file."""
    as_it_lies = replace(source, written={}, decimal=None, strip=False, subset=None)
    table = embedded.open_source(replace(as_it_lies, star_free=(), set_apart=()))
    types = {name: kind if is_nested(kind) else handed_over(kind) for name, kind in table.types.items()}
    cells = ", ".join(
        f"{'NULL' if is_nested(kind) else table.column(name)}::{'VARCHAR' if is_nested(kind) else kind} "
        f"AS {identifier(column_name(i))}"
        for i, (name, kind) in enumerate(types.items())
    )
    path = scratch.folder / f"copy-{secrets.token_hex(4)}.parquet"
    embedded.write_file(f"SELECT {cells} FROM {table.relation}", path, "parquet")
    place = scratch.hand_over(path)
    return SparkRows(parquet_at(sessions.own, place), table.columns, types, copied=table, place=place)
