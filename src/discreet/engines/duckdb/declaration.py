"""Declaration of the embedded engine: DuckDB reads files, in-memory tables, and all other sources."""

from __future__ import annotations

from typing import TYPE_CHECKING

from discreet.engines.declaration import EngineDeclaration
from discreet.sql.dialect import DUCKDB

if TYPE_CHECKING:
    from discreet.engines.base import Engine
    from discreet.model.table_spec import SourceSpec
    from discreet.settings import Settings


def _connect(settings: Settings, source: SourceSpec | None) -> Engine:
    from discreet.engines.duckdb.engine import DuckdbEngine

    del source
    return DuckdbEngine(settings)


EMBEDDED_ENGINE = EngineDeclaration(
    name="duckdb", title="the embedded engine", connect=_connect, dialect=DUCKDB, embedded=True
)
