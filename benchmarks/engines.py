"""Negotiate and publish 20 million rows on each engine, against its bare GROUP BY, join and write.

Ours counts, evaluates the lattice, answers, recodes, sorts and writes, audits the output by reading it again,
and writes a manifest. The bare engine groups the rows by six quasi-identifiers, joins them NULL-safely with
the combinations of ten rows or more, and writes the result in the same form under the same settings: it sorts
nothing, checks nothing and explains nothing. Runs alternate, each in a separate process. PostgreSQL has a
second ratio: to the bare engine with the same index and statistics as the release, which a table needs for
queries.

``--only duckdb`` runs one engine, ``--rows`` less, ``--large`` one hundred million rows on DuckDB with 4 GB.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from benchmarks import engine_duckdb, engine_table
from benchmarks.harness import Benchmark, Child, in_child, parser

GOALS = {"duckdb": 1.4, "postgres": 2.2, "spark": 2.0}
USABLE_GOAL = 1.8
LARGE_GOAL, LARGE_PEAK = 1.5, 2 * 10**9
ROWS, LARGE_ROWS, LARGE_MEMORY = 20_000_000, 100_000_000, 4 * 10**9
Cases = Mapping[str, tuple[Any, ...]]
"""The two sides by name: a module-level function that a child process runs, and its arguments."""


class Missing(Exception):
    """The reason why an engine cannot be measured here."""


@contextmanager
def duckdb_cases(folder: Path, chosen: argparse.Namespace) -> Iterator[Cases]:
    """Provide the cases of DuckDB, which needs only a Parquet file."""
    yield engine_duckdb.cases(folder, chosen.rows, chosen.memory, chosen.threads)


@contextmanager
def postgres_cases(folder: Path, chosen: argparse.Namespace) -> Iterator[Cases]:
    """Provide the cases of a server of the benchmark, loaded with the table; it is removed at the end."""
    from benchmarks import engine_postgres

    reason = engine_postgres.missing()
    if reason:
        raise Missing(reason)
    with ExitStack() as stack:
        try:
            server = stack.enter_context(engine_postgres.server(chosen.threads))
        except RuntimeError as error:
            raise Missing(str(error)) from None
        yield engine_postgres.cases(server, folder, chosen.rows, chosen.memory, chosen.threads)


@contextmanager
def spark_cases(folder: Path, chosen: argparse.Namespace) -> Iterator[Cases]:
    """Provide the cases of Spark, whose children create a local session each before the timed part."""
    from benchmarks import engine_spark

    reason = engine_spark.missing()
    if reason:
        raise Missing(reason)
    yield engine_spark.cases(folder, chosen.rows, chosen.memory, chosen.threads)


ENGINES: Mapping[str, Callable[[Path, argparse.Namespace], Any]] = {
    "duckdb": duckdb_cases,
    "postgres": postgres_cases,
    "spark": spark_cases,
}


def measure(engine: str, cases: Cases, chosen: argparse.Namespace) -> Benchmark:
    """Run both sides in turn, and compare."""
    runs: dict[str, list[Child]] = {name: [] for name in cases}
    for _ in range(chosen.repeats):
        for name, (run, *arguments) in cases.items():
            runs[name].append(in_child(run, *arguments))
            print(f"  {engine}, {name}: {runs[name][-1].wall:.1f} s", file=sys.stderr, flush=True)
    size = " --large" if chosen.large else "" if chosen.rows == ROWS else f" --rows {chosen.rows}"
    bench = Benchmark(
        "engines", f"negotiate and publish {chosen.rows:,} rows on {engine}", f" --only {engine}{size}"
    )
    bench.fact("memory", f"{chosen.memory / 10**9:g} GB, threads {chosen.threads}")
    written = {child.result.rows for children in runs.values() for child in children}
    if len(written) != 1:
        raise SystemExit(f"the two sides of {engine} write different numbers of rows: {sorted(written)}")
    bench.fact("rows written", written.pop())
    for name, children in runs.items():
        label = f"{engine}, {name}"
        bench.record(label, [child.wall for child in children], [child.processor for child in children])
        bench.fact(f"peak memory, {name}", f"{max(map(_peak, children)) / 2**20:.0f} MiB")
    goal = LARGE_GOAL if chosen.large else GOALS[engine]
    bench.ratio(f"{engine}, discreet", f"{engine}, bare", at_most=goal)
    for name in runs.keys() - {"discreet", "bare"}:
        bench.ratio(f"{engine}, discreet", f"{engine}, {name}", at_most=USABLE_GOAL)
    if engine == "duckdb":
        peak = max(map(_peak, runs["discreet"]))
        limit = LARGE_PEAK if chosen.large else chosen.memory
        bench.state("duckdb, peak memory in GiB", peak / 2**30, at_most=limit / 2**30)
    return bench


def _peak(child: Child) -> int:
    return int(child.result.peak or child.peak)


def options() -> argparse.Namespace:
    """Parse the command line."""
    found = parser(__doc__)
    found.add_argument("--only", nargs="+", choices=list(ENGINES), default=list(ENGINES))
    found.add_argument("--rows", type=int, help=f"rows of the table (default {ROWS:,})")
    found.add_argument("--large", action="store_true", help="100 million rows, DuckDB alone, 4 GB")
    found.add_argument("--memory", type=int, default=LARGE_MEMORY, help="memory limit in bytes (4 GB)")
    found.add_argument("--threads", type=int, default=2)
    found.add_argument("--folder", type=Path, help="where tables go (default: a temporary folder)")
    found.set_defaults(repeats=3)
    chosen = found.parse_args()
    chosen.rows = chosen.rows or (LARGE_ROWS if chosen.large else ROWS)
    chosen.only = ["duckdb"] if chosen.large else chosen.only
    return chosen


def main() -> None:
    """Measure each available engine, and report why another is not available."""
    chosen = options()
    with tempfile.TemporaryDirectory(prefix="discreet-bench-", dir=chosen.folder) as made:
        folder = chosen.folder or Path(made)
        engine_table.write_rows(folder, chosen.rows)
        for engine in chosen.only:
            try:
                with ENGINES[engine](folder, chosen) as cases:
                    bench = measure(engine, cases, chosen)
            except Missing as reason:
                print(f"{engine}: not measured: {reason}", flush=True)
                continue
            bench.report(chosen)


if __name__ == "__main__":
    main()
