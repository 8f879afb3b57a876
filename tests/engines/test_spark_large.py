"""Work that Spark avoids: equal rows are sorted once, and loaded rows are not stored."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import chain
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

import discreet
from discreet.engines.connection import connect
from discreet.engines.spark import engine as spark
from discreet.engines.spark import startup
from discreet.errors import InternalError
from discreet.model.table_spec import SourceSpec
from discreet.recoding import direct_recoding
from discreet.settings import Settings

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("spark_process")]


def people(path: Path) -> Path:
    """Write the spec of 300 rows, many of them equal; one class is too small."""
    numbers = range(300)
    table = pa.table(
        {
            "town": [["Ulm", "Kiel", None][i % 3] for i in numbers] + ["Bonn"],
            "age": [20 + i % 7 for i in numbers] + [99],
            "illness": [["flu", "", None, "gout", "it's"][i % 5] for i in numbers] + ["rare"],
            "ward": [i % 2 for i in numbers] + [7],
        }
    )
    pyarrow.parquet.write_table(table, path)
    spec = path.with_suffix(".toml")
    spec.write_text(
        f'[source]\nengine = "spark"\npath = "{path}"\n[attributes]\n'
        'town.role = "quasi-identifier"\nillness.role = "sensitive"\nward.role = "insensitive"\n'
        'age = {role = "quasi-identifier", hierarchy = {kind = "intervals", widths = [10]}}\n'
    )
    return spec


def test_equal_rows_are_counted_and_repeated(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = people(tmp_path / "people.parquet")
    stored: list[str] = []
    monkeypatch.setattr(direct_recoding, "_ROWS_PER_COMBINATION", 0)
    create = spark.SparkEngine.create_table

    def spied(self: spark.SparkEngine, name: str, query: str, **options: bool) -> None:
        stored.append(query)
        create(self, name, query, **options)

    monkeypatch.setattr(spark.SparkEngine, "create_table", spied)
    found = []
    for least in (0, 10**9):
        monkeypatch.setattr(spark, "SPARK", replace(spark.SPARK, counts_rows=least))
        output = tmp_path / f"from {least}"
        release = discreet.open(spec, settings=settings).publish(
            {"age": 1}, output, k=2, max_suppressed="5%", suppressed_rows="star"
        )
        counting = sum("r.number AS q0" in query and "count(*) AS n" in query for query in stored)
        assert counting == 1
        parts = [pyarrow.parquet.read_table(part).to_pylist() for part in sorted(output.iterdir())]
        shown = [[str(tuple(row.values())) for row in part] for part in parts]
        found.append((release.suppressed, release.release.audit, Counter(chain.from_iterable(shown))))
    assert found[0][0] == 1
    assert found[0] == found[1]


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
def test_the_collector_of_a_session_that_does_the_work(
    master: str, options: str, named: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A collector is set only if none is named, because Java does not start with two."""
    monkeypatch.delenv("JDK_JAVA_OPTIONS", raising=False)
    monkeypatch.setenv("JAVA_TOOL_OPTIONS", options)
    assert ("-XX:+UseParallelGC" in startup._collector(master)) == named


def test_what_is_drawn_is_stored(settings: Settings) -> None:
    """Drawn rows are stored, because computing them again would draw other rows."""
    with connect(settings, SourceSpec(engine="spark", table="nothing")) as engine:
        assert isinstance(engine, spark.SparkEngine)
        engine.load_table("loaded", {"n": np.arange(3)})
        engine.create_table("drawn", f"SELECT n, {spark.SPARK.random_key} AS key FROM loaded")
        assert "drawn" in engine._places
        read = "SELECT * FROM drawn ORDER BY n"
        assert engine.fetch_rows(read) == engine.fetch_rows(read)
