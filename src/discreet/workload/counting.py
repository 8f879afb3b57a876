"""Distinct combinations of some columns of a source, with their numbers of rows, as arrays.

The engine groups the rows once; the groups come back as texts and numbers, and are encoded here. Used for
releases, whose labels are not the leaves of any hierarchy, and for originals where a workload names columns
beyond the quasi-identifiers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.engines.base import Engine, SourceTable
from discreet.engines.scratch import confirm_all_read
from discreet.errors import InputError, LimitReached
from discreet.frequency.kept_groups import GroupCodes, kept_groups
from discreet.frequency.merge import sort_rows
from discreet.settings import Settings
from discreet.sql import frequency as sql
from discreet.sql.names import literal
from discreet.sql.source import cell_text, group_key, group_key_type, is_binary, is_nested


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
    keys = [group_key(table.column(name), table.types[name], table.dialect) for name in columns]
    texts = [
        cell_text(sql.key_name(i), group_key_type(table.types[name]), table.null_values, table.dialect)
        for i, name in enumerate(columns)
    ]
    most = settings.memory_limit // _bytes_of_group(len(columns))
    with kept_groups(engine, table.relation, keys, texts, most) as kept:
        if kept.groups > most:
            raise _too_many(most, len(columns), settings)
        confirm_all_read(engine, table, kept.rows)
        return _in_order(tuple(columns), kept.codes())


def count_starred(engine: Engine, table: SourceTable) -> int:
    """Rows whose every cell is ``*``."""
    cells = " AND ".join(f"{table.text(name)} = {literal('*')}" for name in table.columns)
    return int(engine.fetch_rows(f"SELECT count(*) FROM {table.relation} WHERE {cells}")[0][0])


def _in_order(columns: tuple[str, ...], found: GroupCodes) -> CountedColumns:
    """The groups with each column's texts in order; groups of equal texts are one."""
    ordered, codes = [], np.empty((len(found.rows), len(columns)), dtype=np.int64)
    for i, texts in enumerate(found.values):
        order = sorted(range(len(texts)), key=texts.__getitem__)
        rank = np.empty(len(texts) + 1, dtype=np.int64)
        rank[order], rank[-1] = np.arange(len(texts)), len(texts)
        ordered.append(tuple(texts[place] for place in order))
        codes[:, i] = rank[found.codes[i]]
    if not len(codes):
        return CountedColumns(columns, tuple(ordered), codes, found.rows.astype(np.int64))
    place, starts = sort_rows(list(codes.T), [len(texts) + 1 for texts in ordered])
    rows = np.add.reduceat(found.rows[place], starts).astype(np.int64)
    return CountedColumns(columns, tuple(ordered), codes[place[starts]], rows)


def _check_kind(table: SourceTable, name: str) -> None:
    table.position(name)
    kind = table.types[name]
    if is_nested(kind) or is_binary(kind):
        raise InputError(
            f"{table.label}: column '{name}' holds nested or binary values",
            allowed="text, numbers, dates or booleans",
        )


def _bytes_of_group(columns: int) -> int:
    return 12 * columns + 64


def _too_many(most: int, columns: int, settings: Settings) -> LimitReached:
    return LimitReached(
        f"the rows have more than {most:,} distinct combinations of {columns} columns; each needs about "
        f"{_bytes_of_group(columns)} bytes, and the memory limit is {settings.memory_limit:,}",
        advice="Raise DISCREET_MEMORY_LIMIT, or name fewer columns.",
    )
