"""The base step, from a Parquet file to the frequency set, against DuckDB's bare GROUP BY of its columns.

Each run is a separate process, for its peak memory; the two alternate. The bare query gets the same memory
limit and threads. ``--table distinct_5m`` is the table in which nearly all rows are distinct.
"""

from __future__ import annotations

import statistics
from dataclasses import replace
from pathlib import Path

from benchmarks import tables
from benchmarks.harness import Benchmark, Timed, in_child, parser, timed

GOALS = {"wide_50m": 1.5}


def ours(spec_path: Path, memory: int, threads: int) -> Timed:
    """Load the spec, connect, and time the count."""
    from discreet.engines.connection import connect
    from discreet.frequency.table_scan import count_frequency_set
    from discreet.settings import Settings
    from discreet.spec.spec_reader import load_spec

    settings = replace(Settings.from_environment(threads=threads), memory_limit=memory)
    spec = load_spec(spec_path)
    with connect(settings) as engine:
        done = timed(lambda: count_frequency_set(engine, spec, settings))
    return replace(done, result=(done.result.rows, done.result.row_types))


def bare(spec_path: Path, columns: tuple[str, ...], memory: int, threads: int) -> Timed:
    """Connect to DuckDB and time its GROUP BY into a temporary table."""
    import duckdb

    data = next(spec_path.parent.glob("*.parquet"))
    names = ", ".join(columns)
    query = f"CREATE TEMP TABLE types AS SELECT {names}, count(*) AS n FROM '{data}' GROUP BY {names}"
    config = {"memory_limit": f"{memory}B", "threads": str(threads)}
    with duckdb.connect(config=config) as engine:
        done = timed(lambda: engine.execute(query))
        row = engine.execute("SELECT CAST(sum(n) AS BIGINT), count(*) FROM types").fetchone()
    return replace(done, result=row)


def main() -> None:
    """Create the table, alternate the two, report time and peak memory."""
    options = parser(__doc__)
    options.add_argument("--table", choices=list(tables.TABLES), default="wide_50m")
    options.add_argument("--rows", type=int, help="a smaller table of the same kind")
    options.add_argument("--memory", type=int, default=700 * 10**6, help="memory limit in bytes")
    options.add_argument("--threads", type=int, default=2)
    chosen = options.parse_args()
    table = tables.TABLES[chosen.table]
    spec = tables.make(table, rows=chosen.rows)
    columns = tuple(column.name for column in table.columns)

    walls: dict[str, list[float]] = {"discreet": [], "bare GROUP BY": []}
    processors: dict[str, list[float]] = {"discreet": [], "bare GROUP BY": []}
    peaks: dict[str, list[int]] = {"discreet": [], "bare GROUP BY": []}
    results = set()
    for _ in range(chosen.repeats):
        for name, child in (
            ("discreet", in_child(ours, spec, chosen.memory, chosen.threads)),
            ("bare GROUP BY", in_child(bare, spec, columns, chosen.memory, chosen.threads)),
        ):
            walls[name].append(child.wall)
            processors[name].append(child.processor)
            peaks[name].append(child.peak)
            results.add(child.result)
    if len(results) != 1:
        raise SystemExit(f"the two do not count the same rows and row types: {sorted(results)}")

    rows, row_types = results.pop()
    bench = Benchmark(
        "base_step", f"base step: {table.name}, {len(columns)} quasi-identifiers", f" --table {table.name}"
    )
    bench.fact("rows", rows)
    bench.fact("row types", row_types)
    bench.fact("memory limit", f"{chosen.memory / 2**20:.0f} MiB, threads {chosen.threads}")
    for name in walls:
        bench.record(name, walls[name], processors[name])
        bench.fact(f"peak memory, {name}", f"{max(peaks[name]) / 2**20:.0f} MiB")
    bench.ratio("discreet", "bare GROUP BY", at_most=GOALS.get(table.name))
    bench.state("peak memory in GiB", max(peaks["discreet"]) / 2**30, at_most=1.0)
    bench.state(
        "peak memory / bare GROUP BY's",
        statistics.median(peaks["discreet"]) / statistics.median(peaks["bare GROUP BY"]),
    )
    bench.report(chosen)


if __name__ == "__main__":
    main()
