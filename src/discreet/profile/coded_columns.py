"""A table's columns as numbers, in memory: what live questions about sets of columns are answered from.

One query reads the rows; each column's distinct texts get codes. Cost: a scan, one GROUP BY per column, and
4 bytes per cell.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from discreet.engines.base import Engine, SourceTable
from discreet.engines.scratch import TemporaryTables
from discreet.errors import InputError, LimitReached
from discreet.hierarchy.messages import listed, shown
from discreet.hierarchy.value_order import in_order
from discreet.sql.frequency import value_code, value_type, values_of
from discreet.sql.names import identifier
from discreet.sql.source import is_binary, is_nested


@dataclass(frozen=True, eq=False)
class CodedColumns:
    """Columns of a table; rows in one order for all of them, which is no promised one.

    ``values[i]`` are the distinct texts of column ``names[i]`` in their order (numbers by size, text
    naturally), NULL left out; ``codes[i]`` has one entry per row, the place of its value, or
    ``len(values[i])`` for NULL.
    """

    names: tuple[str, ...]
    values: tuple[tuple[str, ...], ...]
    codes: tuple[NDArray[np.int32], ...]
    rows: int

    def position(self, name: str) -> int:
        """The place of a column; ``InputError`` where there is none of that name."""
        if name not in self.names:
            raise InputError(f"there is no column {shown(name)}", allowed=listed(self.names, 20))
        return self.names.index(name)

    def with_null_values(self, texts: Collection[str]) -> CodedColumns:
        """The same columns with some texts read as NULL, in every column."""
        values, codes = [], []
        for occurring, own in zip(self.values, self.codes, strict=True):
            kept = [value for value in occurring if value not in texts]
            if len(kept) < len(occurring):
                place_of = {value: place for place, value in enumerate(kept)}
                places = [place_of.get(value, len(kept)) for value in occurring]
                own = np.array([*places, len(kept)], dtype=np.int32)[own]
            values.append(tuple(kept))
            codes.append(own)
        return replace(self, values=tuple(values), codes=tuple(codes))

    def counts(self, name: str) -> NDArray[np.int64]:
        """The rows of each value of a column, then those of NULL, shape ``(values + 1,)``."""
        place = self.position(name)
        return np.bincount(self.codes[place], minlength=len(self.values[place]) + 1).astype(np.int64)


def read_coded_columns(
    engine: Engine,
    table: SourceTable,
    *,
    memory_limit: int,
    progress: Callable[[int, int], None] | None = None,
) -> CodedColumns:
    """Every column of an opened source that holds text, numbers, dates or booleans.

    Texts that the source reads as NULL are NULL. ``LimitReached`` where the codes would take over a quarter
    of ``memory_limit`` bytes, ``InputError`` where the source cannot be read.
    """
    names = tuple(n for n in table.columns if not (is_nested(table.types[n]) or is_binary(table.types[n])))
    with TemporaryTables(engine) as tables:
        rows_table = tables.new_name()
        texts = ", ".join(f"{table.text(name)} AS k{i}" for i, name in enumerate(names))
        engine.execute(f"CREATE TEMP TABLE {identifier(rows_table)} AS SELECT {texts} FROM {table.relation}")
        rows = int(engine.fetch_rows(f"SELECT count(*) FROM {identifier(rows_table)}")[0][0])
        _check_memory(rows, len(names), memory_limit)
        values, codes = [], []
        for place in range(len(names)):
            occurring, own = _coded(engine, rows_table, place)
            values.append(occurring)
            codes.append(own)
            if progress is not None:
                progress(place + 1, len(names))
    return CodedColumns(names, tuple(values), tuple(codes), rows)


def _coded(engine: Engine, table: str, place: int) -> tuple[tuple[str, ...], NDArray[np.int32]]:
    """A column's values in order, and the code of each row, in the order that the table is stored in."""
    kind = f"{table}_values"
    column = f"k{place}"
    engine.execute(value_type(kind, table, column))
    try:
        found = [str(value) for value in engine.fetch_rows(values_of([kind]))[0][0] or ()]
        code = value_code(column, kind, len(found))
        query = f"SELECT {code}::INTEGER AS c FROM {identifier(table)} ORDER BY rowid"
        stored = engine.fetch_arrays(query)["c"]
    finally:
        engine.execute(f"DROP TYPE IF EXISTS {identifier(kind)}")
    ordered = in_order(found)
    place_of = {value: number for number, value in enumerate(ordered)}
    renumber = np.array([*(place_of[value] for value in found), len(found)], dtype=np.int32)
    return tuple(ordered), renumber[stored]


def _check_memory(rows: int, columns: int, memory_limit: int) -> None:
    needed = 4 * rows * columns
    if needed > memory_limit // 4:
        raise LimitReached(
            f"{rows:,} rows of {columns} columns need {needed:,} bytes, over a quarter of the memory limit",
            advice="Raise DISCREET_MEMORY_LIMIT, or leave columns out of the source.",
        )
