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
class Lines:
    """The lines of a digest where those rows make one that agree in all cells but the last column's.

    ``entry`` is the text of a distinct row in its line, in SQL, and ``joined`` the aggregate of all of them.
    """

    entry: str
    joined: str


@dataclass(frozen=True)
class DistinctRows:
    """The different rows of an opened table, as a temporary table that one GROUP BY made.

    ``table`` has its columns under their names, with types in which cells of one text are equal; in SQL the
    column ``sql.digest.ROWS`` beside them says how often the row is there. Where ``lines`` are given, rows
    are no table but a query, to be asked once, and sorted by all columns.
    """

    engine: Engine
    table: SourceTable
    lines: Lines | None = None

    @classmethod
    def of(cls, engine: Engine, tables: TemporaryTables, table: SourceTable) -> DistinctRows:
        """Those of an opened table, whose NULLs are read as it says; they last as long as ``tables``."""
        keyed = _Keyed.of(table)
        name = tables.create(sql.counted_rows(table.relation, keyed.keys))
        return cls(engine, keyed.counted(table, identifier(name)))

    @classmethod
    def in_lines(cls, engine: Engine, table: SourceTable) -> DistinctRows | None:
        """Those of an opened table whose rows lie in the order of their cells, sorted once more.

        None where the engine gains nothing by that, or lines are others than ``Lines`` says.
        """
        dialect, keyed = engine.dialect, _Keyed.of(table).binary(engine.dialect)
        if dialect.sorted_groups is None or len(keyed.keys) == 1:
            return None
        key, kind, places = keyed.keys[-1], keyed.types[-1], range(len(keyed.keys))
        if not _few(engine, table.relation, key, _LOOKED_AT):
            return None
        text = canonical_text(key, kind, dialect)
        found, length = engine.fetch_rows(sql.alike_cells(table.relation, text))[0]
        if found > sql.MOST_CELLS:
            return None
        told, joined = sql.told_apart(dialect, keyed.texts(dialect)[-1]), dialect.joined_in_order
        if length is not None and is_text(kind) and dialect.joined_as_sorted is not None:
            told = sql.of_length(int(length), column_name(len(places) - 1))
            joined = dialect.joined_as_sorted
        rows = sql.counted_rows(table.relation, keyed.keys)
        ordered = f"({rows} ORDER BY {', '.join(map(column_name, places))}) AS counted"
        return cls(engine, keyed.counted(table, ordered), Lines(sql.numbered(dialect, told), joined))

    def digest(self, lines: str | None = None) -> str:
        """SHA-256 of the table's rows, whatever their order (``sql.digest``).

        ``lines`` is a query of the ``h`` of each line, where these are computed already.
        """
        if lines is not None:
            return _fetched(self.engine, sql.lines_digest(self.engine.dialect, lines))
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

    def binary(self, dialect: Dialect) -> _Keyed:
        """The same, with texts that are sorted by their code points."""
        keys = zip(self.keys, self.types, strict=True)
        sorted_keys = (dialect.binary_order.format(k) if is_text(kind) else k for k, kind in keys)
        return replace(self, keys=tuple(sorted_keys))

    def counted(self, table: SourceTable, relation: str) -> SourceTable:
        """The relation of the different rows of the table that they are of."""
        types = dict(zip(table.columns, self.types, strict=True))
        return replace(table, relation=relation, types=types, null_values=(), written={})

    def texts(self, dialect: Dialect) -> tuple[str, ...]:
        """The texts of what the expressions found, by column."""
        return tuple(canonical_text(column_name(i), kind, dialect) for i, kind in enumerate(self.types))


def _together(engine: Engine, keyed: _Keyed, relation: str) -> int | None:
    """The place of the last column with few different cells."""
    for place in reversed(range(len(keyed.keys))):
        key = keyed.keys[place]
        if all(_few(engine, relation, key, rows) for rows in (_LOOKED_AT, None)):
            return place
    return None


def _few(engine: Engine, relation: str, key: str, rows: int | None) -> bool:
    return bool(engine.fetch_rows(sql.few_cells(relation, key, rows))[0][0] <= sql.MOST_CELLS)


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
