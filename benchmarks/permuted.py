"""Publishing permuted values, k = 10: in DuckDB against its sort of the same rows, and inside PostgreSQL.

The salary of a row is one of a hundred thousand; four quasi-identifiers are unchanged. The engine's own work
is measured twice. *Sorted*: the five columns of the source sorted by salary, the minimum of any partition by
values. *Drawn*: the sort that a permutation needs, of all published columns (these and the group) by group
and by a random key of each row, which is drawn and sorted with them. Both write the sorted rows; nothing is
counted, moved, written to a help table (fifteen columns, as many lines as rows), compared or checked. The
goal refers to the second; the first is reported for comparison. Processor time counts: of the process, and of
the server with its workers. Runs alternate, each in a separate process.
"""

from __future__ import annotations

import argparse
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.harness import Benchmark, Child, Timed, in_child, parser, timed

ROWS, IN_POSTGRES = 10_000_000, 300_000
LIMIT = 4 * 10**9
SORT_GOAL, POSTGRES_GOAL = 3.0, 10.0
CELLS = {
    "age": "20 + {0} % 60",
    "zip": "{1} % 40",
    "sex": "{2} % 2",
    "work": "{3} % 8",
    "salary": "{4} % 100000",
}
SPEC = "\n".join(
    ["[source]", "{}", *(f'[attributes.{name}]\nrole = "quasi-identifier"' for name in list(CELLS)[:-1]),
     '[attributes.salary]\nrole = "sensitive"', ""]
)  # fmt: skip


def ours(spec: Path, folder: Path, memory: int, table: str | None = None) -> Timed:
    """Permute, write and audit, to a file or a table."""
    import discreet
    from discreet.settings import Settings

    settings = Settings(memory_limit=memory, threads=2, private_log=folder / "private.jsonl")

    def run() -> int:
        opened = discreet.open(spec, settings=settings)
        where: dict[str, Any] = {"table": table} if table else {}
        output = () if table else (folder / "permuted.parquet",)
        return opened.publish("permutation", *output, k=10, overwrite=True, **where).release.audit.rows

    return timed(run)


def sorted_file(data: Path, folder: Path, memory: int) -> Timed:
    """Let the engine sort the rows by the value and write them."""
    return _copied(f"FROM '{data}' ORDER BY salary", folder, memory)


def drawn_file(data: Path, folder: Path, memory: int) -> Timed:
    """Let the engine sort the published columns by groups of ten values and random keys, and write them."""
    rows = f"SELECT *, (salary // 10)::INTEGER AS group_id, random() AS drawn FROM '{data}'"
    return _copied(f"SELECT * EXCLUDE (drawn) FROM ({rows}) ORDER BY group_id, drawn", folder, memory)


def _copied(query: str, folder: Path, memory: int) -> Timed:
    import duckdb

    with duckdb.connect(config={"memory_limit": f"{memory}B", "threads": "2"}) as engine:
        target = folder / "sorted.parquet"
        return timed(lambda: engine.execute(f"COPY ({query}) TO '{target}'").fetchall())


def sorted_table(url: str) -> Timed:
    """Let the server sort the rows by the value and write them."""
    import psycopg

    def run() -> None:
        with psycopg.connect(url) as connection:
            connection.execute("DROP TABLE IF EXISTS sorted")
            connection.execute("CREATE TABLE sorted AS SELECT * FROM people ORDER BY salary")

    return timed(run)


def in_duckdb(bench: Benchmark, folder: Path, chosen: argparse.Namespace) -> None:
    """Measure a Parquet file to a Parquet file."""
    import duckdb

    data, spec = folder / "people.parquet", folder / "duckdb.toml"
    cells = ", ".join(
        f"({cell.format(*_hashes('hash(i * 8 + {})'))})::INTEGER AS {name}" for name, cell in CELLS.items()
    )
    duckdb.sql(f"COPY (SELECT {cells} FROM range({chosen.rows}) AS r(i)) TO '{data}'")
    spec.write_text(SPEC.format(f'path = "{data}"'), encoding="utf-8")
    runs: dict[str, list[Child]] = {"permuted": [], "sorted": [], "drawn": []}
    for _ in range(chosen.repeats):
        runs["permuted"].append(in_child(ours, spec, folder, chosen.memory))
        runs["sorted"].append(in_child(sorted_file, data, folder, chosen.memory))
        runs["drawn"].append(in_child(drawn_file, data, folder, chosen.memory))
    for name, children in runs.items():
        bench.record(f"DuckDB, {name}", [c.wall for c in children], [c.processor for c in children])
    taken = {name: median(c.processor for c in children) for name, children in runs.items()}
    words = "DuckDB, processor time of permuted by that of"
    bench.state(f"{words} drawn", taken["permuted"] / taken["drawn"], at_most=SORT_GOAL)
    bench.state(f"{words} sorted", taken["permuted"] / taken["sorted"])
    peak = max(child.peak for child in runs["permuted"])
    bench.state("DuckDB, peak memory / limit", peak / chosen.memory, at_most=1)


def in_postgres(bench: Benchmark, folder: Path, chosen: argparse.Namespace) -> None:
    """Measure a table to a table."""
    import psycopg

    from benchmarks import engine_postgres

    reason = engine_postgres.missing()
    if reason:
        print(f"PostgreSQL: not measured: {reason}")
        return
    with engine_postgres.server(2) as server:
        server.run("CREATE DATABASE bench", database="postgres")
        url, spec = server.url("bench"), folder / "postgres.toml"
        hashes = _hashes("abs(hashint8(i * 8 + {})::bigint)")
        cells = ", ".join(f"({cell.format(*hashes)})::integer AS {name}" for name, cell in CELLS.items())
        with psycopg.connect(url, autocommit=True) as connection:
            rows = f"generate_series(1, {chosen.postgres_rows}::bigint) AS r(i)"
            connection.execute(f"CREATE TABLE people AS SELECT {cells} FROM {rows}")
            connection.execute("VACUUM ANALYZE people")
        spec.write_text(SPEC.format(f'url = "{url}"\ntable = "public.people"'), encoding="utf-8")
        cases: dict[str, Callable[[], Child]] = {
            "permuted": lambda: in_child(ours, spec, folder, chosen.memory, "public.permuted"),
            "sorted": lambda: in_child(sorted_table, url),
        }
        keeper = int((server.data / "postmaster.pid").read_text(encoding="utf-8").split("\n", 1)[0])
        walls: dict[str, list[float]] = {name: [] for name in cases}
        used: dict[str, list[float]] = {name: [] for name in cases}
        for _ in range(chosen.repeats):
            for name, run in cases.items():
                before = _of_ended(keeper)
                walls[name].append(run().wall)
                used[name].append(_of_ended(keeper) - before)
    for name in cases:
        bench.record(f"PostgreSQL, {name}, time of the server", walls[name], used[name])
    taken = median(used["permuted"])
    bench.state("PostgreSQL, permuted: processor s of the server", taken, at_most=POSTGRES_GOAL)
    bench.state("PostgreSQL, permuted by sorted", taken / median(used["sorted"]))


def _hashes(one: str) -> list[str]:
    return [one.format(place) for place in range(len(CELLS))]


def _of_ended(process: int) -> float:
    """Return processor seconds of a process's children that have ended (Linux)."""
    fields = Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(fields[13]) + int(fields[14])) / os.sysconf("SC_CLK_TCK")


def main() -> None:
    """Run both and report."""
    options = parser(__doc__)
    options.add_argument("--rows", type=int, default=ROWS, help="rows in DuckDB (default 10,000,000)")
    options.add_argument("--postgres-rows", type=int, default=IN_POSTGRES, help="in PostgreSQL (300,000)")
    options.add_argument("--memory", type=int, default=LIMIT, help="memory limit in bytes (4 GB)")
    options.set_defaults(repeats=3)
    chosen = options.parse_args()
    bench = Benchmark("permuted", "publishing permuted values, k = 10", f" --rows {chosen.rows}")
    bench.fact("rows", f"{chosen.rows:,} in DuckDB, {chosen.postgres_rows:,} in PostgreSQL")
    with tempfile.TemporaryDirectory(prefix="discreet-bench-") as made:
        in_postgres(bench, Path(made), chosen)
        in_duckdb(bench, Path(made), chosen)
    bench.report(chosen)


if __name__ == "__main__":
    main()
