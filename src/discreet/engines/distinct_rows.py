"""The different rows of a table, each with how often it is there: asked in place of all rows."""

from __future__ import annotations

from dataclasses import dataclass, replace

from discreet.engines.base import Engine, SourceTable
from discreet.engines.scratch import TemporaryTables, opened
from discreet.model.table_spec import SourceSpec
from discreet.sql import digest as sql
from discreet.sql.names import identifier
from discreet.sql.source import canonical_text, column_name, group_key, group_key_type


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
        keys, types = [], {}
        for name in table.columns:
            kind = table.types[name]
            asked = bool(table.null_values)
            keys.append(table.text(name) if asked else group_key(table.column(name), kind, table.dialect))
            types[name] = "VARCHAR" if asked else group_key_type(kind)
        name = tables.create(sql.counted_rows(table.relation, keys))
        return cls(engine, replace(table, relation=identifier(name), types=types, null_values=(), written={}))

    def digest(self) -> str:
        """SHA-256 of the table's rows, whatever their order (``sql.digest``)."""
        dialect, columns = self.engine.dialect, self.table.columns
        texts = [
            canonical_text(column_name(i), self.table.types[name], dialect) for i, name in enumerate(columns)
        ]
        query = sql.rows_digest(dialect, self.table.relation, texts, self._together())
        return str(self.engine.fetch_rows(query)[0][0])

    def _together(self) -> int | None:
        """The place of the last column with few different cells."""
        for place in reversed(range(len(self.table.columns))):
            query = sql.few_cells(self.table.relation, column_name(place))
            if self.engine.fetch_rows(query)[0][0] <= sql.MOST_CELLS:
                return place
        return None


def table_digest(engine: Engine, source: SourceSpec) -> str:
    """SHA-256 of a table's rows, whatever their order (``sql.digest``)."""
    with opened(engine, source) as table:
        return rows_digest(engine, table)


def rows_digest(engine: Engine, table: SourceTable) -> str:
    """SHA-256 of an opened table's rows, whatever their order (``sql.digest``)."""
    with TemporaryTables(engine) as tables:
        return DistinctRows.of(engine, tables, table).digest()
