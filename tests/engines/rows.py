"""Rows of an opened source as texts, for tests of every reader and engine."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from discreet.engines.base import Engine
from discreet.engines.connection import connect
from discreet.engines.source_tables import open_source_table
from discreet.model.table_spec import SourceSpec
from discreet.settings import Settings

Rows: TypeAlias = list[tuple[str | None, ...]]


def text_rows(engine: Engine, source: SourceSpec, names: Sequence[str] | None = None) -> Rows:
    """Return the text of every cell, in the order of the engine, and confirm the number of rows."""
    with open_source_table(engine, source) as table:
        cells = ", ".join(map(table.text, table.columns if names is None else names))
        rows = engine.fetch_rows(f"SELECT {cells} FROM {table.relation}")
        engine.confirm_rows(table, len(rows))
    return rows


def sorted_rows(engine: Engine, source: SourceSpec, names: Sequence[str] | None = None) -> Rows:
    """Return ``text_rows`` in an order of their own, because tables have none."""
    return sorted(text_rows(engine, source, names), key=str)


def rows_of(settings: Settings, source: SourceSpec) -> Rows:
    """Return ``text_rows`` of a source by the engine that reads it."""
    with connect(settings, source) as engine:
        return text_rows(engine, source)
