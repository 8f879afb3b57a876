"""Tables of Python libraries: Arrow, pandas and polars input and output, and streams of record batches.

A library is imported only if such a table is passed or requested. A stream yields its rows only once, so it
is spooled to a Parquet file batch by batch.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any
from weakref import finalize

import numpy as np

from discreet.engines.files.delimited_text import check_unique_names
from discreet.engines.files.parquet_files import ParquetFile
from discreet.engines.process_resources import TemporaryFolder
from discreet.errors import InputError, InternalError
from discreet.sql.cell_expressions import column_name
from discreet.sql.quoting import identifier

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow


_CONTAINERS = (list, tuple, dict, set, frozenset, np.ndarray)
_DATASETS = ("FileSystemDataset", "UnionDataset")
"""Arrow datasets whose rows are in files, which every scan reads again."""


@dataclass(frozen=True)
class PythonTable:
    """Table that can be scanned repeatedly, registered under ``name``, with its columns.

    ``nested`` are columns of Python objects that contain lists or other containers; they are read as text.
    """

    name: str
    label: str
    rows: Any
    columns: tuple[str, ...]
    nested: frozenset[str] = frozenset()

    def relation(self, *, serial: bool = False) -> str:
        """Return the table for a FROM clause, with columns ``c0``, ``c1``, …; always read in parallel."""
        del serial
        names = ", ".join(column_name(i) for i in range(len(self.columns)))
        return f"{identifier(self.name)} AS t({names})"


def adapt_table(data: object, name: str, label: str) -> PythonTable:
    """Convert an Arrow, pandas or polars table to a ``PythonTable``.

    A pandas index is ignored; a lazy frame of an older polars, which yields no batches, is read into memory.
    Raises ``InputError`` for any other type, and for duplicate column names.
    """
    library, kind = _type_of(data)
    nested: frozenset[str] = frozenset()
    try:
        if library == "pandas" and kind == "DataFrame":
            columns = [str(column) for column in data.columns]  # type: ignore[attr-defined]
            check_unique_names(columns, label)
            rows = _pandas_rows(data)
            nested = _nested(rows, columns)
        elif library == "polars" and kind in ("DataFrame", "LazyFrame"):
            frame: Any = data.collect() if kind == "LazyFrame" else data  # type: ignore[attr-defined]
            rows, columns = frame.to_arrow(), list(frame.columns)
        elif library == "pyarrow" and kind in ("Table", "RecordBatch", *_DATASETS):
            rows = _scannable(data, kind)
            columns = list(rows.schema.names)
        else:
            raise InputError(
                f"a source of type {library}.{kind}",
                allowed="a path, a pyarrow, pandas or polars table, an Arrow dataset, or a stream of Arrow's "
                "record batches",
            )
    except ModuleNotFoundError as error:
        raise InputError(
            f"a {library} table needs the package {error.name}, which is not installed",
            advice=f"Install {error.name}, or write the table to a Parquet file first.",
        ) from None
    check_unique_names(columns, label)
    if not columns:
        raise InputError(f"{label} has no columns", allowed="at least one column")
    return PythonTable(name, label, rows, tuple(columns), nested)


def known_columns(data: object) -> tuple[str, ...] | None:
    """Return the names of a table's columns if they are available without reading rows, else None.

    Streams and lazy frames return None: a stream can be read only once, and a lazy frame would run its query.
    """
    library, kind = _type_of(data)
    if (library, kind) in (("pandas", "DataFrame"), ("polars", "DataFrame"), ("pyspark", "DataFrame")):
        return tuple(str(column) for column in data.columns)  # type: ignore[attr-defined]
    if library == "pyarrow" and kind in ("Table", "RecordBatch", *_DATASETS):
        return tuple(data.schema.names)  # type: ignore[attr-defined]
    return None


def _scannable(data: Any, kind: str) -> Any:
    if kind == "RecordBatch":
        import pyarrow

        return pyarrow.Table.from_batches([data])
    return data


def _pandas_rows(frame: Any) -> Any:
    """Return the frame with plain column names, and with non-text categories as text."""
    rows = frame.set_axis([column_name(i) for i in range(frame.shape[1])], axis="columns")
    for column in rows.columns:
        values = rows[column]
        if values.dtype.name == "category" and not all(isinstance(c, str) for c in values.cat.categories):
            texts = [str(category) for category in values.cat.categories]
            distinct = len(set(texts)) == len(texts)
            as_text = values.cat.rename_categories(texts) if distinct else values.astype(object)
            rows = rows.assign(**{column: as_text})
    return rows


def _nested(rows: Any, columns: Sequence[str]) -> frozenset[str]:
    """Return the columns of Python objects that contain a list, a mapping or another container."""
    return frozenset(
        name
        for i, name in enumerate(columns)
        if rows.dtypes.iloc[i].kind == "O" and any(isinstance(cell, _CONTAINERS) for cell in rows.iloc[:, i])
    )


Spool = Callable[[Any, int, Path], None]
"""Function that writes the rows of a record-batch reader with n columns to a new owner-only Parquet file."""

_IN_MEMORY = ("pandas", "polars")
_CURSOR = ("adbc_driver_manager", "Cursor")


@dataclass(frozen=True)
class _SpooledStream:
    """Rows of a stream in a temporary folder, which is removed with this value."""

    folder: TemporaryFolder
    columns: tuple[str, ...]

    @property
    def path(self) -> Path:
        return self.folder.path / "rows.parquet"


_SPOOLED_STREAMS: dict[int, _SpooledStream | None] = {}
"""Streams already read, by identity (a lazy frame has no hash), while they exist.

The value is None for a stream that failed or is being read.
"""


def is_stream(data: object) -> bool:
    """Return True if an object yields its rows only once."""
    library, kind = _type_of(data)
    if (library in _IN_MEMORY and not _is_lazy(data)) or (
        library == "pyarrow" and kind in ("Table", "RecordBatch")
    ):
        return False
    return hasattr(data, "__arrow_c_stream__") or _is_cursor(data) or _is_lazy(data)


def read_stream(data: object, label: str, spool: Spool) -> ParquetFile:
    """Return the rows of a stream, which are read and spooled at the first call.

    Raises ``InputError`` if a stream fails now or failed before, because its remaining rows are incomplete,
    and if pyarrow is not installed.
    """
    key = id(data)
    if key not in _SPOOLED_STREAMS:
        rows = _reader_of(data, label)
        _SPOOLED_STREAMS[key] = None
        finalize(data, _SPOOLED_STREAMS.pop, key, None)
        _SPOOLED_STREAMS[key] = _spooled(rows, label, spool)
    found = _SPOOLED_STREAMS[key]
    if found is None:
        raise InputError(
            f"{label}: the stream was partly read before, and the rest is not the whole table",
            advice="Run its query again, and pass a new stream.",
        )
    return ParquetFile((found.path,), label, found.columns)


def spool_rows(rows: Any, path: Path, label: str, spool: Spool) -> ParquetFile:
    """Write the rows of a record-batch reader to a new file, with columns ``c0``, ``c1``, … by position."""
    columns = tuple(rows.schema.names)
    check_unique_names(columns, label)
    if not columns:
        raise InputError(f"{label} has no columns", allowed="at least one column")
    try:
        spool(rows, len(columns), path)
    except InternalError:
        raise InputError(
            f"{label}: the rows could not be read to their end",
            advice="Run the query that gives them again; if it fails the same way, write its result to a "
            "file first.",
        ) from None
    return ParquetFile((path,), label, columns)


def _spooled(rows: Any, label: str, spool: Spool) -> _SpooledStream:
    result = _SpooledStream(TemporaryFolder(), tuple(rows.schema.names))
    try:
        spool_rows(rows, result.path, label, spool)
    except BaseException:
        result.folder.remove()
        raise
    return result


def _type_of(data: object) -> tuple[str, str]:
    """Return the library of an object's type, and the type's name."""
    return type(data).__module__.partition(".")[0], type(data).__name__


def _is_lazy(data: object) -> bool:
    """Return True for a lazy frame of a polars version that yields its result in batches."""
    return _type_of(data) == ("polars", "LazyFrame") and hasattr(data, "collect_batches")


def _is_cursor(data: object) -> bool:
    """Return True for a cursor of an ADBC driver, including driver-specific subclasses."""
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
            allowed="a cursor after its query was run, an unread stream, or a lazy frame whose "
            "query can be run",
        ) from None


def to_arrow(parquet: bytes) -> pyarrow.Table:
    """Read a Parquet file's bytes as an Arrow table; raises ``InputError`` if pyarrow is missing."""
    with _require_package("an Arrow table"):
        import pyarrow.parquet
    return pyarrow.parquet.read_table(BytesIO(parquet))


def to_pandas(parquet: bytes) -> pandas.DataFrame:
    """Read a Parquet file's bytes as a pandas frame with index 0, 1, …

    Integers and booleans with NULLs get pandas' nullable types, because floats would round them. Raises
    ``InputError`` if pandas or pyarrow is missing.
    """
    with _require_package("a pandas frame"):
        import pandas
        import pyarrow
    table = to_arrow(parquet)
    frame: pandas.DataFrame = table.to_pandas()
    exact = {pyarrow.bool_(): pandas.BooleanDtype()}
    for bits in (8, 16, 32, 64):
        exact[getattr(pyarrow, f"int{bits}")()] = getattr(pandas, f"Int{bits}Dtype")()
        exact[getattr(pyarrow, f"uint{bits}")()] = getattr(pandas, f"UInt{bits}Dtype")()
    for index, column in enumerate(table.columns):
        if column.null_count and column.type in exact:
            frame.isetitem(index, column.to_pandas(types_mapper=exact.get))
    return frame


def to_polars(parquet: bytes) -> polars.DataFrame:
    """Read a Parquet file's bytes as a polars frame; raises ``InputError`` if polars is missing."""
    with _require_package("a polars frame"):
        import polars
    return polars.read_parquet(BytesIO(parquet))


@contextmanager
def _require_package(what: str) -> Iterator[None]:
    """Raise ``InputError`` with the package to install if an import fails."""
    try:
        yield
    except ModuleNotFoundError as error:
        package = str(error.name).partition(".")[0]
        raise InputError(
            f"{what} needs the package {package}, which is not installed",
            advice=f"Install it: pip install {package}.",
        ) from None
