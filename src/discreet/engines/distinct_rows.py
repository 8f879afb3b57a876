"""The different rows of a table, each with how often it is there: asked in place of all rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from discreet.engines.base import Engine, SourceTable
from discreet.engines.scratch import TemporaryTables, opened
from discreet.model.table_spec import SourceSpec
from discreet.sql import digest as sql
from discreet.sql.dialect import Dialect
from discreet.sql.names import identifier
from discreet.sql.source import canonical_text, column_name, group_key, group_key_type, is_text

_LOOKED_AT = 1 << 16
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
        relation, types = self.table.relation, tuple(self.table.types.values())
        keyed = _Keyed(tuple(map(column_name, range(len(types)))), types)
        together = _together(self.engine, keyed, relation)
        texts = keyed.texts(self.engine.dialect)
        return _fetched(self.engine, sql.rows_digest(self.engine.dialect, relation, texts, together))


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

    def texts(self, dialect: Dialect) -> tuple[str, ...]:
        """The texts of what the expressions found, by column."""
        return tuple(canonical_text(column_name(i), kind, dialect) for i, kind in enumerate(self.types))


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


def table_digest(engine: Engine, source: SourceSpec, first: Sequence[str] = ()) -> str:
    """SHA-256 of a table's rows, whatever their order (``sql.digest``); ``first`` as of ``rows_digest``."""
    with opened(engine, source) as table:
        return rows_digest(engine, table, first)


def rows_digest(engine: Engine, table: SourceTable, first: Sequence[str] = ()) -> str:
    """SHA-256 of an opened table's rows, whatever their order (``sql.digest``).

    Where rows lie in the order of the columns ``first``, they are sorted faster.
    """
    dialect, keyed = table.dialect, _Keyed.of(table)
    keys, texts = list(keyed.keys), keyed.texts(dialect)
    together = _together(engine, keyed, table.relation)
    # Where a text may have to be compared by the rules of a language, hashing is the faster way.
    sorted_first = not any(map(is_text, keyed.types))
    order = _order(table.columns, first, together) if sorted_first else ()
    entered: Sequence[int] = ()
    if together is not None and order and dialect.joined_as_sorted is not None:
        keys[together] = sql.entry(dialect, canonical_text(keys[together], keyed.types[together], dialect))
        entered = order
    counted = f"({sql.counted_rows(table.relation, keys, order)}) AS counted"
    return _fetched(engine, sql.rows_digest(dialect, counted, texts, together, entered))


def _order(columns: Sequence[str], first: Sequence[str], together: int | None) -> tuple[int, ...]:
    """The places of all columns: those first, then the others, and last the one whose cells share a line."""
    begun = [columns.index(name) for name in first if name in columns]
    places = dict.fromkeys([*begun, *range(len(columns))])
    last = () if together is None else (together,)
    return (*(place for place in places if place != together), *last)


def _fetched(engine: Engine, query: str) -> str:
    return str(engine.fetch_rows(query)[0][0])
