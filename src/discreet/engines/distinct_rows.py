"""The different rows of a table, each with how often it is there: asked in place of all rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from discreet.engines.base import Engine, SourceTable
from discreet.engines.scratch import TemporaryTables, opened
from discreet.model.table_spec import SourceSpec
from discreet.sql import digest as sql
from discreet.sql.names import identifier
from discreet.sql.source import canonical_text, column_name, group_key, group_key_type, is_text

_LOOKED_AT = 1 << 14
"""Rows of which the different cells are counted first."""


@dataclass(frozen=True)
class DistinctRows:
    """The different rows of an opened table, as a temporary table that one GROUP BY made.

    ``table`` has its columns under their names, with types in which cells of one text are equal; in SQL the
    column ``sql.digest.ROWS`` beside them says how often the row is there.
    """

    engine: Engine
    table: SourceTable

    @classmethod
    def of(cls, engine: Engine, tables: TemporaryTables, table: SourceTable) -> DistinctRows:
        """Those of an opened table, whose NULLs are read as it says; they last as long as ``tables``."""
        keyed = _Keyed.of(table)
        name = tables.create(sql.counted_rows(table.relation, keyed.keys))
        types = dict(zip(table.columns, keyed.types, strict=True))
        return cls(engine, replace(table, relation=identifier(name), types=types, null_values=(), written={}))

    def digest(self) -> str:
        """SHA-256 of the table's rows, whatever their order (``sql.digest``)."""
        relation = self.table.relation
        keyed = _Keyed(
            tuple(map(column_name, range(len(self.table.columns)))), tuple(self.table.types.values())
        )
        return _digest(self.engine, keyed, relation, lambda _: relation)


@dataclass(frozen=True)
class _Keyed:
    """Expressions over a relation by which cells of one text are equal, by column, and their types."""

    keys: tuple[str, ...]
    types: tuple[str, ...]

    @classmethod
    def of(cls, table: SourceTable) -> _Keyed:
        """Those of an opened table, whose NULLs are read as it says."""
        if table.null_values:
            return cls(tuple(map(table.text, table.columns)), ("VARCHAR",) * len(table.columns))
        kinds = [(table.column(name), table.types[name]) for name in table.columns]
        return cls(
            tuple(group_key(column, kind, table.dialect) for column, kind in kinds),
            tuple(group_key_type(kind) for _, kind in kinds),
        )


def _digest(engine: Engine, keyed: _Keyed, relation: str, counted: Callable[[int | None], str]) -> str:
    """SHA-256 of rows; ``counted`` is a relation of the different ones, given whose cells share a line."""
    texts = [canonical_text(column_name(i), kind, engine.dialect) for i, kind in enumerate(keyed.types)]
    together = _together(engine, keyed, relation)
    return str(engine.fetch_rows(sql.rows_digest(engine.dialect, counted(together), texts, together))[0][0])


def _together(engine: Engine, keyed: _Keyed, relation: str) -> int | None:
    """The place of the last column with few different cells."""
    for place in reversed(range(len(keyed.keys))):
        key = keyed.keys[place]
        if all(
            engine.fetch_rows(sql.few_cells(relation, key, rows))[0][0] <= sql.MOST_CELLS
            for rows in (_LOOKED_AT, None)
        ):
            return place
    return None


def table_digest(engine: Engine, source: SourceSpec) -> str:
    """SHA-256 of a table's rows, whatever their order (``sql.digest``)."""
    with opened(engine, source) as table:
        return rows_digest(engine, table)


def rows_digest(engine: Engine, table: SourceTable) -> str:
    """SHA-256 of an opened table's rows, whatever their order (``sql.digest``)."""
    keyed = _Keyed.of(table)

    def counted(together: int | None) -> str:
        order = [i for i in range(len(keyed.keys)) if i != together]
        order += [] if together is None else [together]
        # Where a text may have to be compared by the rules of a language, hashing is the faster way.
        sorted_first = not any(is_text(kind) for kind in keyed.types)
        return f"({sql.counted_rows(table.relation, keyed.keys, order if sorted_first else ())}) AS counted"

    return _digest(engine, keyed, table.relation, counted)
