"""The classes of a published file, as a table in the engine, and what they amount to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from discreet.engines.base import Engine, SourceTable
from discreet.engines.scratch import TemporaryTables
from discreet.sql import verify as sql


@dataclass(frozen=True)
class PublishedRows:
    """The rows of an opened file: ``query`` yields their texts (``sql.verify.rows_of``)."""

    table: SourceTable
    query: str
    quasi_identifiers: tuple[str, ...]
    sensitive: tuple[str, ...]
    starred_apart: bool

    @classmethod
    def of(
        cls, table: SourceTable, keys: Sequence[str], values: Sequence[str], *, starred_apart: bool
    ) -> PublishedRows:
        """The rows of an opened file; ``InputError`` for a column that it does not have."""
        query = sql.rows_of(
            table.relation,
            [table.text(name) for name in keys],
            [table.text(name) for name in values],
            [table.text(name) for name in table.columns],
            starred_apart=starred_apart,
        )
        return cls(table, query, tuple(keys), tuple(values), starred_apart)


@dataclass(frozen=True)
class ClassCounts:
    """Totals over the classes in ``table``: see ``AuditReport``."""

    table: str
    rows: int
    classes: int
    k: int
    starred: int
    l: Mapping[str, int]


def count_rows(engine: Engine, tables: TemporaryTables, published: PublishedRows) -> ClassCounts:
    """The classes by rows; ``InputError`` where the file has rows that could not be read."""
    table = tables.new_name()
    keys, values = len(published.quasi_identifiers), len(published.sensitive)
    engine.execute(sql.classes_table(table, published.query, keys, values))
    counts = totals(engine, table, published.sensitive)
    engine.confirm_rows(published.table, counts.rows + counts.starred)
    return counts


def totals(engine: Engine, table: str, sensitive: Sequence[str]) -> ClassCounts:
    """What a table of classes amounts to."""
    rows, classes, k, starred, *least = engine.fetch_rows(sql.totals(table, len(sensitive)))[0]
    return ClassCounts(table, rows, classes, k, starred, dict(zip(sensitive, least, strict=True)))
