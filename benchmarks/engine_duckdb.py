"""DuckDB: the whole way to an audited Parquet file, and the same engine's bare GROUP BY, join and COPY.

Both run in fresh processes with the same memory limit and threads. Imports are not timed: modules that verbs
import when they are called are imported before.
"""

from __future__ import annotations

import tempfile
from importlib import import_module
from pathlib import Path
from typing import Any

from benchmarks import engine_table as table
from benchmarks.harness import Timed, Written, timed

_LATER = ("verbs.table", "verbs.release_publication", "engines.duckdb.engine", "kernels.plan_evaluation")
"""Modules that import the lazy imports of the verbs."""


def ours(spec: Path, folder: Path, memory: int, threads: int) -> Timed:
    """Negotiate and publish; return the number of published rows."""
    import discreet
    from discreet.settings import Settings

    for name in _LATER:
        import_module(f"discreet.{name}")
    output = folder / "release.parquet"
    settings = Settings(memory_limit=memory, threads=threads, private_log=folder / "private.jsonl")

    def run() -> Written:
        opened = discreet.open(spec, settings=settings)
        answer = opened.negotiate(k=table.K, max_suppressed=table.MAX_SUPPRESSED)
        release = opened.publish(answer.exact, output, overwrite=True)
        return Written(release.release.audit.rows)

    return timed(run)


def bare(data: Path, folder: Path, memory: int, threads: int) -> Timed:
    """Run only the engine: classes of k rows by GROUP BY, NULL-safe join, Parquet; nothing is checked."""
    import duckdb

    with tempfile.TemporaryDirectory(dir=folder) as spill:
        config: dict[str, str | bool | int | float | list[str]] = {
            "memory_limit": f"{memory}B",
            "threads": str(threads),
            "preserve_insertion_order": "false",
            "temp_directory": spill,
        }
        relation, output = f"'{data}'", folder / "bare.parquet"

        def run() -> Written:
            with duckdb.connect(config=config) as engine:
                engine.execute(f"CREATE TEMP TABLE g AS {table.groups(relation)}")
                engine.execute(f"CREATE TEMP TABLE m AS {table.classes('g')}")
                query = table.joined(relation, "m", table.same_cells())
                row = engine.execute(f"COPY ({query}) TO '{output}' (FORMAT parquet)").fetchone()
                return Written(int(row[0]) if row else 0)

        return timed(run)


def cases(folder: Path, rows: int, memory: int, threads: int) -> dict[str, tuple[Any, ...]]:
    """Return the functions that children run, with their arguments, by name."""
    data = table.write_rows(folder, rows)
    spec = table.write_spec(folder, "duckdb", {"path": str(data)})
    return {
        "discreet": (ours, spec, folder, memory, threads),
        "bare": (bare, data, folder, memory, threads),
    }
