"""Streams of rows from Python, which yield them once: spooled to a Parquet file batch by batch, never held.

A stream is whatever hands rows over as Arrow does (``__arrow_c_stream__``): a record-batch reader, a DuckDB
relation, the reader of another library; a cursor of an ADBC driver whose query was run; and a lazy frame of
polars, whose query would else be run, and its result held, at each scan. Rows take part several times, also
after the first engine is closed, so the file stays for as long as the stream lives.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from weakref import finalize

from discreet.engines.files.delimited_text import check_names
from discreet.engines.files.parquet_file import ParquetFile
from discreet.engines.temporary_folder import TemporaryFolder
from discreet.errors import InputError, InternalError

Spool = Callable[[Any, int, Path], None]
"""Writes the rows of a record-batch reader with so many columns to a new owner-only Parquet file."""

_IN_MEMORY = ("pandas", "polars")
_CURSOR = ("adbc_driver_manager", "Cursor")


@dataclass(frozen=True)
class _Spooled:
    """A stream's rows in a file of a folder that goes with this value."""

    folder: TemporaryFolder
    columns: tuple[str, ...]

    @property
    def path(self) -> Path:
        return self.folder.path / "rows.parquet"


_SPOOLED: dict[int, _Spooled | None] = {}
"""Streams that were read, by identity (a lazy frame has no hash), for as long as they live; None for one that
failed, or is being read."""


def is_stream(data: object) -> bool:
    """Whether rows come from an object once."""
    library, kind = _type_of(data)
    if (library in _IN_MEMORY and not _is_lazy(data)) or (
        library == "pyarrow" and kind in ("Table", "RecordBatch")
    ):
        return False
    return hasattr(data, "__arrow_c_stream__") or _is_cursor(data) or _is_lazy(data)


def read_stream(data: object, label: str, spool: Spool) -> ParquetFile:
    """The rows of a stream, which are read at the first call.

    ``InputError`` where a stream breaks off, or did so before: the rows that it still has are not all; and
    where pyarrow is not installed.
    """
    key = id(data)
    if key not in _SPOOLED:
        rows = _reader_of(data, label)
        _SPOOLED[key] = None
        finalize(data, _SPOOLED.pop, key, None)
        _SPOOLED[key] = _spooled(rows, label, spool)
    found = _SPOOLED[key]
    if found is None:
        raise InputError(
            f"{label}: the stream was read in part before, and the rest of it is not the table",
            advice="Run its query again, and hand over a new stream.",
        )
    return ParquetFile((found.path,), label, found.columns)


def spool_rows(rows: Any, path: Path, label: str, spool: Spool) -> ParquetFile:
    """The rows of a record-batch reader in a new file, columns ``c0``, ``c1``, … by their places."""
    columns = tuple(rows.schema.names)
    check_names(columns, label)
    if not columns:
        raise InputError(f"{label} has no columns", allowed="at least one column")
    try:
        spool(rows, len(columns), path)
    except InternalError:
        raise InputError(
            f"{label}: the rows could not be read to their end",
            advice="Run the query that gives them again; where it fails the same way, write its result to a "
            "file first.",
        ) from None
    return ParquetFile((path,), label, columns)


def _spooled(rows: Any, label: str, spool: Spool) -> _Spooled:
    found = _Spooled(TemporaryFolder(), tuple(rows.schema.names))
    try:
        spool_rows(rows, found.path, label, spool)
    except BaseException:
        found.folder.remove()
        raise
    return found


def _type_of(data: object) -> tuple[str, str]:
    """The library that an object's type is of, and the type's name."""
    return type(data).__module__.partition(".")[0], type(data).__name__


def _is_lazy(data: object) -> bool:
    """Whether an object is a lazy frame of a polars that gives its result batch by batch."""
    return _type_of(data) == ("polars", "LazyFrame") and hasattr(data, "collect_batches")


def _is_cursor(data: object) -> bool:
    """Whether an object is a cursor of an ADBC driver, some of which derive one of their own."""
    return any((c.__module__.partition(".")[0], c.__name__) == _CURSOR for c in type(data).__mro__)


def _reader_of(data: Any, label: str) -> Any:
    try:
        import pyarrow
    except ModuleNotFoundError:
        raise InputError(
            f"{label}: a stream of rows needs the package pyarrow, which is not installed",
            advice="Install it: pip install pyarrow.",
        ) from None
    try:
        if _is_cursor(data):
            return data.fetch_record_batch()
        rows = data.collect_batches(lazy=True) if _is_lazy(data) else data
        return pyarrow.RecordBatchReader.from_stream(rows)
    except Exception:
        raise InputError(
            f"{label}: the {type(data).__name__} has no rows to read",
            allowed="a cursor after its query was run, a stream that nobody has read, or a lazy frame whose "
            "query can be run",
        ) from None
