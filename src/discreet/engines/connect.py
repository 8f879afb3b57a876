"""The engine of a run: where the rows of its source live."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from discreet.engines.base import Engine
from discreet.model.table_spec import SourceSpec
from discreet.settings import Settings
from discreet.sql.dialect import DUCKDB, POSTGRES, SPARK


def connect(settings: Settings, source: SourceSpec | None = None) -> Engine:
    """The engine of a source within ``settings``; close it, or use it as a context.

    A source with a PostgreSQL address is worked on in that database, one of Spark in a Spark session, any
    other, or none, by the embedded engine. Raises ``InputError`` where it cannot be reached, or where what
    it needs is not installed.
    """
    if source is not None and source.url is not None:
        from discreet.engines.postgres.engine import PostgresEngine

        return PostgresEngine(settings, source.url)
    if source is not None and source.is_spark:
        from discreet.engines.spark.engine import SparkEngine

        return SparkEngine(settings, source)
    from discreet.engines.duckdb.engine import DuckdbEngine

    return DuckdbEngine(settings)


@contextmanager
def engine_for(engine: Engine, settings: Settings, source: SourceSpec) -> Iterator[Engine]:
    """An engine that reads a source: ``engine`` where it does, else a further one while the context lasts.

    A table and its release, or an attacker's file, may lie in different places.
    """
    if _name(source) == engine.dialect.name and getattr(engine, "url", None) == source.url:
        yield engine
        return
    with connect(settings, source) as found:
        yield found


def _name(source: SourceSpec) -> str:
    """The name of the dialect of the engine that reads a source."""
    if source.url is not None:
        return POSTGRES.name
    return SPARK.name if source.is_spark else DUCKDB.name
