"""Functions of arrays, sent to where Spark keeps the rows of a group.

Each group goes to one task as Arrow batches, and what the function returns stays distributed. Executors need
this package, numpy and pyarrow: one environment on all nodes, or an archive of it (``spark.archives``). Where
numba is missing there, the numpy twins compute.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from discreet.engines.base import GroupFunction

if TYPE_CHECKING:
    import pyarrow
    from pyspark.sql import DataFrame


def grouped_frame(
    frame: DataFrame, group: str, function: GroupFunction, columns: Mapping[str, str]
) -> DataFrame:
    """What ``function`` makes of each group of a frame, not yet computed (see ``Engine.apply_to_groups``)."""
    from pyspark.sql.types import LongType, StringType, StructField, StructType

    kinds = {"BIGINT": LongType(), "VARCHAR": StringType()}
    schema = StructType([StructField(name, kinds[house]) for name, house in columns.items()])
    arrow = _ArrowFunction(function, tuple(columns.items()))
    with warnings.catch_warnings():
        # Spark asks for pandas before it sends Arrow, and warns of newer ones, which nothing here uses.
        warnings.simplefilter("ignore", FutureWarning)
        # It reads from a signature what a function takes: a plain one, without hints, takes a table.
        applied: DataFrame = frame.groupBy(group).applyInArrow(lambda table: arrow(table), schema)
    return applied


@dataclass(frozen=True)
class _ArrowFunction:
    """A function of numpy columns as one of an Arrow table, as Spark calls it."""

    function: GroupFunction
    columns: tuple[tuple[str, str], ...]

    def __call__(self, table: pyarrow.Table) -> pyarrow.Table:
        import pyarrow

        held: dict[str, Any] = {
            name: column.to_numpy() for name, column in zip(table.column_names, table.columns, strict=True)
        }
        found = self.function(held)
        kinds = {"BIGINT": pyarrow.int64(), "VARCHAR": pyarrow.string()}
        arrays = [pyarrow.array(found[name], kinds[house]) for name, house in self.columns]
        return pyarrow.table(dict(zip((name for name, _ in self.columns), arrays, strict=True)))
