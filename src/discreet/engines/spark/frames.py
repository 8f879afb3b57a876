"""DataFrames, statements and functions passed to Spark.

Escaped literals, Arrow tables, and functions of numpy arrays applied to groups in the executors. Executors
import this module, so it must stay small: no pyspark, no embedded engine.
"""

from __future__ import annotations

import re
import secrets
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from discreet.engines.base import GroupFunction
from discreet.sql.quoting import glob_literal

if TYPE_CHECKING:
    import pyarrow
    from pyspark.sql import DataFrame


_QUOTED = re.compile(r"""'(?:[^']|'')*'|"(?:[^"]|"")*\"""")


def escape_backslashes(statement: str) -> str:
    r"""Escape the backslashes in a statement's string literals.

    Spark has a setting for plain backslashes, but with it a doubled quote remains two quotes.

    >>> print(escape_backslashes(r'''SELECT 'it''s a \d', "a\b"'''))
    SELECT 'it''s a \\d', "a\b"
    """
    if "\\" not in statement:
        return statement
    return _QUOTED.sub(lambda match: _escaped(match.group()), statement)


def _escaped(quoted: str) -> str:
    return quoted.replace("\\", "\\\\") if quoted.startswith("'") else quoted


_SIGNED = {1: np.int16, 2: np.int32, 4: np.int64, 8: np.int64}


def arrow_table(columns: Mapping[str, Sequence[str | None] | NDArray[Any]]) -> Any:
    """Convert columns of equal length (texts, or arrays of numbers) to an Arrow table with Spark's types."""
    import pyarrow

    arrays = {}
    for name, values in columns.items():
        if isinstance(values, np.ndarray) and values.dtype.kind in "iufb":
            signed = values.astype(_SIGNED[values.itemsize]) if values.dtype.kind == "u" else values
            arrays[name] = pyarrow.array(signed)
        else:
            arrays[name] = pyarrow.array(list(values), pyarrow.string())
    return pyarrow.table(arrays)


def store_arrow_table(table: Any, folder: Path) -> Path:
    """Write an Arrow table to a new Parquet file in a folder."""
    from pyarrow import parquet

    path = folder / f"loaded-{secrets.token_hex(4)}.parquet"
    parquet.write_table(table, path)
    return path


def cast_untyped_columns(frame: DataFrame) -> DataFrame:
    """Cast a frame's columns that contain only NULL literals to text, because files need a type."""
    untyped = [field.name for field in frame.schema.fields if field.dataType.typeName() == "void"]
    return (
        frame.withColumns({name: frame[_quoted(name)].cast("string") for name in untyped})
        if untyped
        else frame
    )


def is_constant_frame(frame: DataFrame) -> bool:
    """Return True if Spark computes a frame's rows while planning: loaded rows, at most with casts.

    No job runs for such rows, and every computation returns the same rows.
    """
    plans: Any = frame._jdf.queryExecution()
    return bool(plans.analyzed().deterministic()) and plans.optimizedPlan().nodeName() == "LocalRelation"


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def parquet_query(files: Sequence[Path]) -> str:
    """Return the query by which the embedded engine reads Spark's files, in their order."""
    paths = ", ".join(glob_literal(path) for path in files)
    return f"SELECT * FROM read_parquet([{paths}], hive_partitioning=false)"


def grouped_frame(
    frame: DataFrame, group: str, function: GroupFunction, columns: Mapping[str, str]
) -> DataFrame:
    """Apply a function to each group of a frame lazily (see ``Engine.apply_to_groups``)."""
    from pyspark.sql.types import LongType, StringType, StructField, StructType

    kinds = {"BIGINT": LongType(), "VARCHAR": StringType()}
    schema = StructType([StructField(name, kinds[house]) for name, house in columns.items()])
    arrow = _ArrowFunction(function, tuple(columns.items()))
    with warnings.catch_warnings():
        # Spark imports pandas before it sends Arrow data, and warns about newer versions, which are not used
        # here.
        warnings.simplefilter("ignore", FutureWarning)
        # Spark inspects the function's signature: a function without type hints receives an Arrow table.
        applied: DataFrame = frame.groupBy(group).applyInArrow(lambda table: arrow(table), schema)
    return applied


@dataclass(frozen=True)
class _ArrowFunction:
    """Function of numpy columns wrapped as a function of an Arrow table, as Spark calls it."""

    function: GroupFunction
    columns: tuple[tuple[str, str], ...]

    def __call__(self, table: pyarrow.Table) -> pyarrow.Table:
        import pyarrow

        columns: dict[str, Any] = {
            name: column.to_numpy() for name, column in zip(table.column_names, table.columns, strict=True)
        }
        found = self.function(columns)
        kinds = {"BIGINT": pyarrow.int64(), "VARCHAR": pyarrow.string()}
        arrays = [pyarrow.array(found[name], kinds[house]) for name, house in self.columns]
        return pyarrow.table(dict(zip((name for name, _ in self.columns), arrays, strict=True)))
