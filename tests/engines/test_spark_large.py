"""Work that Spark avoids: loaded rows are not stored."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.engines.connection import connect
from discreet.engines.spark import engine as spark
from discreet.engines.spark import startup
from discreet.errors import InternalError
from discreet.model.table_spec import SourceSpec
from discreet.settings import Settings

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("spark_process")]


def test_loaded_rows_with_types_are_not_stored(settings: Settings) -> None:
    with connect(settings, SourceSpec(engine="spark", table="nothing")) as engine:
        assert isinstance(engine, spark.SparkEngine)
        engine.load_table("loaded", {"n": np.arange(3), "t": ["1", "20", None]})
        engine.create_table("typed", "SELECT n, CAST(t AS BIGINT) AS t FROM loaded")
        assert "typed" not in engine._places
        engine.drop_table("loaded")
        assert sorted(engine.fetch_rows("SELECT n, t + 1 FROM typed"), key=str) == [
            (0, 2),
            (1, 21),
            (2, None),
        ]
        engine.create_table("typed", "SELECT n, t + 1 AS t FROM typed")
        assert engine.fetch_rows("SELECT sum(t) FROM typed") == [(23,)]
        engine.drop_table("typed")
        with pytest.raises(InternalError):
            engine.fetch_rows("SELECT * FROM typed")


@pytest.mark.parametrize(
    ("master", "options", "named"),
    [
        ("local[2]", "-Xss2m", True),
        ("local[2]", "-XX:+UseZGC", False),
        ("spark://127.0.0.1:7077", "", False),
    ],
)
def test_collector_is_set_only_where_none_is_named(
    master: str, options: str, named: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A collector is set only if none is named, because Java does not start with two."""
    monkeypatch.delenv("JDK_JAVA_OPTIONS", raising=False)
    monkeypatch.setenv("JAVA_TOOL_OPTIONS", options)
    assert ("-XX:+UseParallelGC" in startup._collector(master)) == named


def test_drawn_rows_are_stored(settings: Settings) -> None:
    """Drawn rows are stored, because computing them again would draw other rows."""
    with connect(settings, SourceSpec(engine="spark", table="nothing")) as engine:
        assert isinstance(engine, spark.SparkEngine)
        engine.load_table("loaded", {"n": np.arange(3)})
        engine.create_table("drawn", f"SELECT n, {spark.SPARK.random_key} AS key FROM loaded")
        assert "drawn" in engine._places
        read = "SELECT * FROM drawn ORDER BY n"
        assert engine.fetch_rows(read) == engine.fetch_rows(read)
