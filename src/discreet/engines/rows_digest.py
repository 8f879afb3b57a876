"""The digest of a table's rows in any order, counted by the engine that has them."""

from __future__ import annotations

from collections.abc import Sequence

from discreet.engines.base import Engine, SourceTable
from discreet.engines.scratch import opened
from discreet.model.table_spec import SourceSpec
from discreet.sql import digest as sql
from discreet.sql.source import canonical_text, group_key, group_key_type


def table_digest(engine: Engine, source: SourceSpec) -> str:
    """SHA-256 of a table's rows, whatever their order (``sql.digest``)."""
    with opened(engine, source) as table:
        return rows_digest(engine, table)


def rows_digest(engine: Engine, table: SourceTable) -> str:
    """SHA-256 of an opened table's rows, whatever their order (``sql.digest``)."""
    dialect, keys, texts = engine.dialect, [], []
    for i, name in enumerate(table.columns):
        kind, own = table.types[name], sql.key_name(i)
        if table.null_values:
            keys.append(table.text(name))
            texts.append(own)
        else:
            keys.append(group_key(table.column(name), kind, dialect))
            texts.append(canonical_text(own, group_key_type(kind), dialect))
    query = sql.rows_digest(dialect, table.relation, keys, texts, _together(engine, table, keys))
    return str(engine.fetch_rows(query)[0][0])


def _together(engine: Engine, table: SourceTable, keys: Sequence[str]) -> int | None:
    """The place of the last column with few different cells."""
    for place in reversed(range(len(keys))):
        if engine.fetch_rows(sql.few_cells(table.relation, keys[place]))[0][0] <= sql.MOST_CELLS:
            return place
    return None
