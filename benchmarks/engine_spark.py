"""Spark in one process: from Parquet to an audited folder of Parquet, and the same session's bare queries.

Each child first creates its session, and lets it read the table's first rows; neither is timed. The peak
memory is that of the Java process, in which Spark does its work; on a cluster it is only the driver's.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks import engine_table as table
from benchmarks.harness import Timed, Written, peak_memory, timed

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from discreet.settings import Settings

_SAME = "({0} <=> {1})"


def missing() -> str | None:
    """Return why Spark cannot be measured here, if it cannot."""
    if find_spec("pyspark") is None or find_spec("pyarrow") is None:
        return "pyspark is missing: pip install 'discreet[spark]'"
    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        return "Java is missing: apt install default-jre-headless"
    return None


def ours(spec: Path, folder: Path, memory: int, threads: int) -> Timed:
    """Negotiate and publish a folder; return the number of published rows."""
    import discreet

    settings = _settings(folder, memory, threads)

    def run() -> int:
        opened = discreet.open(spec, settings=settings)
        answer = opened.negotiate(k=table.K, max_suppressed=table.MAX_SUPPRESSED)
        release = opened.publish(answer.exact, _free(folder / "release"))
        return int(release.release.audit.rows)

    return _in_session(settings, folder, lambda _: run())


def bare(data: Path, folder: Path, memory: int, threads: int) -> Timed:
    """Run only the session: classes of k rows by GROUP BY, NULL-safe join, a folder of Parquet."""

    def run(session: SparkSession) -> int:
        session.read.parquet(str(data)).createOrReplaceTempView("people")
        session.sql(table.groups("people")).createOrReplaceTempView("g")
        session.sql(table.classes("g")).cache().createOrReplaceTempView("m")
        written = str(_free(folder / "bare"))
        session.sql(table.joined("people", "m", table.same_cells(_SAME))).write.parquet(written)
        return int(session.read.parquet(written).count())

    return _in_session(_settings(folder, memory, threads), folder, run)


def _settings(folder: Path, memory: int, threads: int) -> Settings:
    from discreet.settings import Settings

    return Settings(memory_limit=memory, threads=threads, private_log=folder / "private.jsonl")


def _free(folder: Path) -> Path:
    shutil.rmtree(folder, ignore_errors=True)
    return folder


def java() -> int:
    """Return the process of the session's Java."""
    from pyspark.core.context import SparkContext

    gateway: Any = SparkContext._gateway
    return int(gateway.proc.pid)


def _in_session(settings: Settings, folder: Path, run: Callable[[SparkSession], int]) -> Timed:
    """Time one call in the session that discreet creates for these settings; rows, and Java's peak memory."""
    from discreet.engines.spark.session import open_sessions
    from discreet.engines.spark.startup import stop_session

    try:
        session = open_sessions(settings, None).own
        session.read.parquet(str(next(folder.glob("*.parquet")))).limit(1000).toArrow()
        done = timed(lambda: run(session))
        return replace(done, result=Written(done.result, peak_memory(java())))
    finally:
        stop_session()


def cases(folder: Path, rows: int, memory: int, threads: int) -> dict[str, tuple[Any, ...]]:
    """Return the functions that children run, with their arguments, by name."""
    data = table.write_rows(folder, rows)
    spec = table.write_spec(folder, "spark", {"path": str(data), "engine": "spark"})
    return {
        "discreet": (ours, spec, folder, memory, threads),
        "bare": (bare, data, folder, memory, threads),
    }
