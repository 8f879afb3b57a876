"""Columns on their way to Spark, and Spark's files on their way to the embedded engine."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from discreet.sql.names import glob_literal

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_SIGNED = {1: np.int16, 2: np.int32, 4: np.int64, 8: np.int64}


def arrow_of(columns: Mapping[str, Sequence[str | None] | NDArray[Any]]) -> Any:
    """Columns of equal length (texts, or arrays of numbers) as an Arrow table of types that Spark has."""
    import pyarrow

    arrays = {}
    for name, values in columns.items():
        if isinstance(values, np.ndarray) and values.dtype.kind in "iufb":
            signed = values.astype(_SIGNED[values.itemsize]) if values.dtype.kind == "u" else values
            arrays[name] = pyarrow.array(signed)
        else:
            arrays[name] = pyarrow.array(list(values), pyarrow.string())
    return pyarrow.table(arrays)


def stored(table: Any, folder: Path) -> Path:
    """An Arrow table as a new Parquet file in a folder."""
    from pyarrow import parquet

    path = folder / f"loaded-{secrets.token_hex(4)}.parquet"
    parquet.write_table(table, path)
    return path


def without_untyped(frame: DataFrame) -> DataFrame:
    """A frame whose columns of nothing but NULL literals are texts, since files need a type."""
    untyped = [field.name for field in frame.schema.fields if field.dataType.typeName() == "void"]
    return (
        frame.withColumns({name: frame[_quoted(name)].cast("string") for name in untyped})
        if untyped
        else frame
    )


def is_made_of_constants(frame: DataFrame) -> bool:
    """Whether Spark makes a frame's rows while it plans: rows that were loaded, each cell cast at most.

    No job is run for them, and whoever makes them again makes the same ones.
    """
    plans: Any = frame._jdf.queryExecution()
    return bool(plans.analyzed().deterministic()) and plans.optimizedPlan().nodeName() == "LocalRelation"


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def embedded_rows(files: Sequence[Path]) -> str:
    """The query by which the embedded engine reads Spark's files, in their order."""
    paths = ", ".join(glob_literal(path) for path in files)
    return f"SELECT * FROM read_parquet([{paths}], hive_partitioning=false)"
