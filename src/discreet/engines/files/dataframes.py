"""Tables of Python libraries: Arrow, pandas and polars in and out, and streams of record batches.

Libraries are imported only where such a table is passed or requested. A stream yields its rows once, so it is
spooled to a Parquet file batch by batch.
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
"""Arrow datasets whose rows lie in files, which are scanned anew each time."""


@dataclass(frozen=True)
class PythonTable:
    """A table that can be scanned again and again, registered under ``name``, and its columns.

    ``nested`` are columns of Python objects, read as their texts, of which some are lists or the like.
    """

    name: str
    label: str
    rows: Any
    columns: tuple[str, ...]
    nested: frozenset[str] = frozenset()

    def relation(self, *, serial: bool = False) -> str:
        """The table in a FROM clause, columns ``c0``, ``c1``, …; it is always read in parallel."""
        del serial
        names = ", ".join(column_name(i) for i in range(len(self.columns)))
        return f"{identifier(self.name)} AS t({names})"


def adapt_table(data: object, name: str, label: str) -> PythonTable:
    """An Arrow, pandas or polars table as a ``PythonTable``.

    A pandas index is left out; a lazy frame of an older polars, which gives no batches, is read into memory.
    ``InputError`` for anything else, and for two columns of one name.
    """
    library = type(data).__module__.partition(".")[0]
    kind = type(data).__name__
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
    """The names of a table's columns where they are at hand; None where its rows would have to be asked for.

    A stream gives its rows once, and a query of a lazy frame is run, so neither is looked at.
    """
    library = type(data).__module__.partition(".")[0]
    kind = type(data).__name__
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
    """The frame with plain column names, and with categories as text where they are something else."""
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
    """The columns of Python objects that hold a list, a mapping or the like somewhere."""
    return frozenset(
        name
        for i, name in enumerate(columns)
        if rows.dtypes.iloc[i].kind == "O" and any(isinstance(cell, _CONTAINERS) for cell in rows.iloc[:, i])
    )


Spool = Callable[[Any, int, Path], None]
"""Writes the rows of a record-batch reader with so many columns to a new owner-only Parquet file."""

_IN_MEMORY = ("pandas", "polars")
_CURSOR = ("adbc_driver_manager", "Cursor")


@dataclass(frozen=True)
class _SpooledStream:
    """A stream's rows in a file of a folder that goes with this value."""

    folder: TemporaryFolder
    columns: tuple[str, ...]

    @property
    def path(self) -> Path:
        return self.folder.path / "rows.parquet"


_SPOOLED_STREAMS: dict[int, _SpooledStream | None] = {}
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
    if key not in _SPOOLED_STREAMS:
        rows = _reader_of(data, label)
        _SPOOLED_STREAMS[key] = None
        finalize(data, _SPOOLED_STREAMS.pop, key, None)
        _SPOOLED_STREAMS[key] = _spooled(rows, label, spool)
    found = _SPOOLED_STREAMS[key]
    if found is None:
        raise InputError(
            f"{label}: the stream was read in part before, and the rest of it is not the table",
            advice="Run its query again, and hand over a new stream.",
        )
    return ParquetFile((found.path,), label, found.columns)


def spool_rows(rows: Any, path: Path, label: str, spool: Spool) -> ParquetFile:
    """The rows of a record-batch reader in a new file, columns ``c0``, ``c1``, … by their places."""
    columns = tuple(rows.schema.names)
    check_unique_names(columns, label)
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


def _spooled(rows: Any, label: str, spool: Spool) -> _SpooledStream:
    found = _SpooledStream(TemporaryFolder(), tuple(rows.schema.names))
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


def to_arrow(parquet: bytes) -> pyarrow.Table:
    """The file as an Arrow table; ``InputError`` where pyarrow is missing."""
    with _require_package("an Arrow table"):
        import pyarrow.parquet
    return pyarrow.parquet.read_table(BytesIO(parquet))


def to_pandas(parquet: bytes) -> pandas.DataFrame:
    """The file as a pandas frame, its index 0, 1, …; ``InputError`` where pandas or pyarrow is missing.

    Whole numbers and booleans with NULLs take pandas' nullable types, since floats would round them.
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
    for place, column in enumerate(table.columns):
        if column.null_count and column.type in exact:
            frame.isetitem(place, column.to_pandas(types_mapper=exact.get))
    return frame


def to_polars(parquet: bytes) -> polars.DataFrame:
    """The file as a polars frame; ``InputError`` where polars is missing."""
    with _require_package("a polars frame"):
        import polars
    return polars.read_parquet(BytesIO(parquet))


@contextmanager
def _require_package(what: str) -> Iterator[None]:
    """Say what to install where an import fails."""
    try:
        yield
    except ModuleNotFoundError as error:
        package = str(error.name).partition(".")[0]
        raise InputError(
            f"{what} needs the package {package}, which is not installed",
            advice=f"Install it: pip install {package}.",
        ) from None
