"""What Spark writes to stay: a folder of Parquet files, and a table of the catalog."""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from discreet.engines import failures
from discreet.engines.files.written_file import check_parquet_names
from discreet.engines.spark.scratch import address_of
from discreet.engines.spark.session import SparkSessions
from discreet.errors import InputError
from discreet.sql.names import identifier, table_parts

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def write_folder(frame: DataFrame, folder: Path, columns: Sequence[str] | None) -> None:
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
        named.write.parquet(address_of(beside / "written"))
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
        raise failures.from_os(error, folder) from None
    finally:
        shutil.rmtree(beside, ignore_errors=True)


def write_table(sessions: SparkSessions, frame: DataFrame, name: str, columns: Sequence[str] | None) -> None:
    """Compute a frame, once, into a new table of the catalog, which appears whole or not at all."""
    target = in_backticks(name)
    named = _named(frame, columns)
    if sessions.own.catalog.tableExists(target):
        raise InputError(f"the table {name} is there already", advice="Choose another name.")
    try:
        named.write.format("parquet").saveAsTable(target)
    except BaseException:
        with suppress(Exception):
            sessions.own.sql(f"DROP TABLE IF EXISTS {quoted(name)}")
        raise
    refresh(sessions, name)


def refresh(sessions: SparkSessions, name: str) -> None:
    """Let the given session forget the files of a table that had this name before."""
    with suppress(Exception):
        sessions.given.catalog.refreshTable(in_backticks(name))


def quoted(name: str) -> str:
    """A table's name as its user writes it, in our own session's SQL."""
    return ".".join(map(identifier, table_parts(name)))


def in_backticks(name: str) -> str:
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
