"""A table's columns as numbers, in memory: what live questions about sets of columns are answered from.

One query reads the rows; each column's distinct texts get codes. Cost: a scan, one GROUP BY per column of a
long table, and 4 bytes per cell. Rows of a database stay there: its columns come as groups of rows, without
those that name nearly every row by themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.engines.base import Engine, SourceTable
from discreet.engines.scratch import TemporaryTables
from discreet.errors import InputError, LimitReached
from discreet.hierarchy.messages import listed, shown
from discreet.hierarchy.value_order import in_order
from discreet.profile.columns import columns_at_once
from discreet.sql.cells import in_parts
from discreet.sql.frequency import (
    group_rows,
    groups_as_texts,
    key_name,
    value_code,
    value_type,
    values_of,
)
from discreet.sql.names import identifier
from discreet.sql.source import is_binary, is_nested

_FEW_ENTRIES = 10_000
"""Up to so many, texts are coded here, those of many columns by one statement; above, in the engine.

There each column takes four statements, and each of them as long as the table is wide.
"""


@dataclass(frozen=True, eq=False)
class CodedColumns:
    """Columns of a table; entries in one order for all of them, which is no promised one.

    ``values[i]`` are the distinct texts of column ``names[i]`` in their order (numbers by size, text
    naturally), NULL left out; ``codes[i]`` has one entry per row, the place of its value, or
    ``len(values[i])`` for NULL. With ``weights`` an entry stands for so many rows.
    """

    names: tuple[str, ...]
    values: tuple[tuple[str, ...], ...]
    codes: tuple[NDArray[np.int32], ...]
    rows: int
    weights: NDArray[np.int64] | None = None

    @property
    def entries(self) -> int:
        """The length of each of ``codes``."""
        return self.rows if self.weights is None else len(self.weights)

    def rows_of(self, keys: NDArray[Any], number: int) -> NDArray[np.int64]:
        """The rows of each key from 0 to ``number`` - 1, of one key per entry."""
        return np.bincount(keys, self.weights, minlength=number).astype(np.int64)

    def position(self, name: str) -> int:
        """The place of a column; ``InputError`` where there is none of that name."""
        if name not in self.places:
            raise InputError(f"there is no column {shown(name)}", allowed=listed(self.names, 20))
        return self.places[name]

    @cached_property
    def places(self) -> dict[str, int]:
        """The place of each column."""
        return {name: place for place, name in enumerate(self.names)}

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
        return self.rows_of(self.codes[place], len(self.values[place]) + 1)


def read_coded_columns(
    engine: Engine,
    table: SourceTable,
    *,
    memory_limit: int,
    progress: Callable[[int, int], None] | None = None,
    left_out: Collection[str] | None = None,
) -> CodedColumns:
    """Every column of an opened source that holds text, numbers, dates or booleans.

    Texts that the source reads as NULL are NULL. With ``left_out`` the rows are grouped where they live by
    all columns but those, and groups come instead of rows. ``LimitReached`` where the codes would take over a
    quarter of ``memory_limit`` bytes, ``InputError`` where the source cannot be read.
    """
    dropped = left_out or ()
    names = tuple(
        n
        for n in table.columns
        if n not in dropped and not (is_nested(table.types[n]) or is_binary(table.types[n]))
    )
    texts = [table.text(name) for name in names]
    with TemporaryTables(engine) as tables:
        if left_out is None:
            kept = tables.create(_rows(table.relation, texts))
            rows = int(engine.fetch_rows(f"SELECT count(*) FROM {identifier(kept)}")[0][0])
            _check_memory(rows, len(names), memory_limit)
            return _all_coded(engine, kept, names, rows, None, progress)
        most = memory_limit // 4 // (4 * len(names) + 8)
        kept = tables.new_name()
        groups = group_rows(table.relation, texts or ["1"])
        places = [key_name(i) for i in range(len(names))]
        embedded = engine.keep_result(kept, groups_as_texts(groups, places, most + 1))
        weights = embedded.fetch_arrays(f"SELECT n FROM {identifier(kept)} ORDER BY rowid")["n"]
        if len(weights) > most:
            raise _too_many(most, len(names), memory_limit)
        found = _all_coded(embedded, kept, names, int(weights.sum()), weights.astype(np.int64), progress)
        embedded.drop_table(kept)
        return found


def _rows(relation: str, texts: Sequence[str]) -> str:
    named = ", ".join(f"{text} AS {key_name(i)}" for i, text in enumerate(texts))
    return f"SELECT {named} FROM {relation}"


def _all_coded(
    engine: Engine,
    table: str,
    names: tuple[str, ...],
    rows: int,
    weights: NDArray[np.int64] | None,
    progress: Callable[[int, int], None] | None,
) -> CodedColumns:
    """The columns of a table of texts in the embedded engine."""
    entries = rows if weights is None else len(weights)
    is_short = 0 < entries <= _FEW_ENTRIES
    values, codes = [], []
    for places in in_parts(range(len(names)), columns_at_once(entries) if is_short else 1):
        several = _coded_here(engine, table, places) if is_short else [_coded(engine, table, places[0])]
        for occurring, own in several:
            values.append(occurring)
            codes.append(own)
        if progress is not None:
            progress(len(codes), len(names))
    return CodedColumns(names, tuple(values), tuple(codes), rows, weights)


def _coded_here(
    engine: Engine, table: str, places: Sequence[int]
) -> Iterator[tuple[tuple[str, ...], NDArray[np.int32]]]:
    """The same as ``_coded`` of each of some columns, from their texts."""
    columns = ", ".join(key_name(place) for place in places)
    stored = engine.fetch_rows(f"SELECT {columns} FROM {identifier(table)} ORDER BY rowid")
    for texts in zip(*stored, strict=True):
        ordered = in_order([*{text for text in texts if text is not None}])
        place_of = {value: number for number, value in enumerate(ordered)}
        codes = [place_of.get(text, len(ordered)) for text in texts]
        yield tuple(ordered), np.array(codes, dtype=np.int32)


def _coded(engine: Engine, table: str, place: int) -> tuple[tuple[str, ...], NDArray[np.int32]]:
    """A column's values in order, and the code of each row, in the order that the table is stored in."""
    kind = f"{table}_values"
    column = key_name(place)
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


def _too_many(most: int, columns: int, memory_limit: int) -> LimitReached:
    return LimitReached(
        f"the rows have more than {most:,} distinct combinations of {columns} columns, which need over a "
        f"quarter of the memory limit of {memory_limit:,} bytes",
        advice="Raise DISCREET_MEMORY_LIMIT, or leave columns out of the source.",
    )


def _check_memory(rows: int, columns: int, memory_limit: int) -> None:
    needed = 4 * rows * columns
    if needed > memory_limit // 4:
        raise LimitReached(
            f"{rows:,} rows of {columns} columns need {needed:,} bytes, over a quarter of the memory limit",
            advice="Raise DISCREET_MEMORY_LIMIT, or leave columns out of the source.",
        )
