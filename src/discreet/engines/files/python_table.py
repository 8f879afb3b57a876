"""Tables from Python: Arrow, pandas and polars, as something that the engine can scan.

The libraries are imported only where such a table was passed in. The caller's table is never changed. A
stream of rows (a record-batch reader, the result of an ADBC driver, a DuckDB relation, a lazy frame) is
``files.stream``'s.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.engines.files.delimited_text import check_names
from discreet.errors import InputError
from discreet.sql.names import identifier
from discreet.sql.source import column_name

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


def adapt(data: object, name: str, label: str) -> PythonTable:
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
            check_names(columns, label)
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
    check_names(columns, label)
    if not columns:
        raise InputError(f"{label} has no columns", allowed="at least one column")
    return PythonTable(name, label, rows, tuple(columns), nested)


def cheap_columns(data: object) -> tuple[str, ...] | None:
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
