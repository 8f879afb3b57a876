"""Declaration of Spark: Parquet files and folders, catalog tables and DataFrames; other files are copied."""

from __future__ import annotations

from typing import TYPE_CHECKING

from discreet.engines.declaration import EngineDeclaration, catalog_tables
from discreet.engines.spark.types import is_frame
from discreet.sql.dialect import PLAIN_SPARK, SPARK

if TYPE_CHECKING:
    from discreet.engines.base import Engine
    from discreet.model.table_spec import SourceSpec
    from discreet.settings import Settings


def _connect(settings: Settings, source: SourceSpec | None) -> Engine:
    from discreet.engines.spark.engine import SparkEngine

    return SparkEngine(settings, source)


def _identities(engine: Engine, source: SourceSpec) -> tuple[tuple[str, str], ...]:
    from discreet.engines.spark.engine import SparkEngine, identities

    assert isinstance(engine, SparkEngine)
    return identities(engine, source)


SPARK_ENGINE = EngineDeclaration(
    name="spark",
    title="Spark",
    connect=_connect,
    dialect=SPARK,
    reader=PLAIN_SPARK,
    extra="spark",
    scheme="spark:",
    behind="FOLDER",
    catalog="Spark's catalog",
    holds=is_frame,
    on_request=True,
    folders=True,
    tables=catalog_tables,
    identities=_identities,
    tables_where="is read by Spark",
)
