"""Distinct combinations of some columns of a source, with their numbers of rows, as arrays.

The engine groups the rows once; the distinct texts of each column and one number per cell come back. Used for
releases, whose labels are not the leaves of any hierarchy, and for originals where a workload names columns
beyond the quasi-identifiers.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray

from discreet.engines.base import Engine, SourceTable
from discreet.errors import DiscreetError, InputError, LimitReached
from discreet.settings import Settings
from discreet.sql import frequency as sql
from discreet.sql.names import identifier, literal
from discreet.sql.source import is_binary, is_nested


@dataclass(frozen=True, eq=False)
class CountedColumns:
    """Groups of rows.

    ``texts[i]`` are the distinct texts of column i, in order; ``codes`` has shape ``(groups, columns)`` and
    holds places in them, or ``len(texts[i])`` for NULL. ``rows`` holds the rows of each group.
    """

    columns: tuple[str, ...]
    texts: tuple[tuple[str, ...], ...]
    codes: NDArray[np.int64]
    rows: NDArray[np.int64]


def count_columns(
    engine: Engine, table: SourceTable, columns: Sequence[str], settings: Settings
) -> CountedColumns:
    """The groups of an opened source by the texts of ``columns`` (at least one). One scan.

    Raises ``InputError`` for a column that is missing or holds nested or binary values, ``LimitReached``
    where the groups would not fit the memory limit, before they are fetched.
    """
    for name in columns:
        _check_kind(table, name)
    mark = uuid4().hex[:12]
    groups, types = f"columns_{mark}", [f"texts_{mark}_{i}" for i in range(len(columns))]
    try:
        engine.execute(sql.group_rows(groups, table.relation, [table.text(name) for name in columns]))
        number, rows = engine.fetch_rows(sql.size_of(groups))[0]
        engine.confirm_rows(table, rows)
        _check_memory(number, len(columns), settings)
        return _fetch(engine, groups, types, tuple(columns))
    finally:
        with suppress(DiscreetError):
            engine.execute(f"DROP TABLE IF EXISTS {identifier(groups)}")
            for name in types:
                engine.execute(f"DROP TYPE IF EXISTS {identifier(name)}")


def count_starred(engine: Engine, table: SourceTable) -> int:
    """Rows whose every cell is ``*``."""
    cells = " AND ".join(f"{table.text(name)} = {literal('*')}" for name in table.columns)
    return int(engine.fetch_rows(f"SELECT count(*) FROM {table.relation} WHERE {cells}")[0][0])


def _fetch(engine: Engine, groups: str, types: list[str], columns: tuple[str, ...]) -> CountedColumns:
    keys = [sql.key_name(i) for i in range(len(columns))]
    for name, key in zip(types, keys, strict=True):
        engine.execute(sql.value_type(name, groups, key))
    values = [tuple(texts) for texts in engine.fetch_rows(sql.values_of(types))[0]]
    expressions = [
        sql.value_code(key, name, len(texts)) for key, name, texts in zip(keys, types, values, strict=True)
    ]
    arrays = engine.fetch_arrays(sql.encoded_groups(groups, expressions))
    ordered, codes = [], np.empty((len(arrays[sql.COUNT]), len(columns)), dtype=np.int64)
    for i, texts in enumerate(values):
        order = sorted(range(len(texts)), key=texts.__getitem__)
        rank = np.empty(len(texts) + 1, dtype=np.int64)
        rank[order], rank[-1] = np.arange(len(texts)), len(texts)
        ordered.append(tuple(texts[place] for place in order))
        codes[:, i] = rank[arrays[f"c{i}"]]
    return CountedColumns(columns, tuple(ordered), codes, arrays[sql.COUNT].astype(np.int64))


def _check_kind(table: SourceTable, name: str) -> None:
    table.position(name)
    kind = table.types[name]
    if is_nested(kind) or is_binary(kind):
        raise InputError(
            f"{table.label}: column '{name}' holds nested or binary values",
            allowed="text, numbers, dates or booleans",
        )


def _check_memory(groups: int, columns: int, settings: Settings) -> None:
    needed = groups * (12 * columns + 64)
    if needed > settings.memory_limit:
        raise LimitReached(
            f"{groups:,} distinct combinations of {columns} columns need about {needed:,} bytes, but the "
            f"memory limit is {settings.memory_limit:,}",
            advice="Raise DISCREET_MEMORY_LIMIT, or name fewer columns.",
        )
