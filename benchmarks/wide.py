"""Tables of 200 rows and 1,000 and 10,000 columns through ``init``, ``publish``, ``audit`` and ``report``.

Each command is a separate process on two threads; its processor time and its largest memory count: the time
may grow with the cells, not with the square of the columns.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from shutil import rmtree
from time import perf_counter

import duckdb

from benchmarks.fresh_process import run_fresh
from benchmarks.harness import ROOT, Benchmark, parser

ROWS = 200
GOALS = {1000: 5.0, 10_000: 60.0}
MOST_MEMORY = 1 << 30
KEYS = ("age", "zip", "sex")
SPEC = """[source]
path = "people.{0}"
unlisted_columns = "insensitive"

[attributes]
age = {{ role = "quasi-identifier", hierarchy = {{ kind = "intervals", widths = [5, 10, 20] }} }}
zip = {{ role = "quasi-identifier", hierarchy = {{ kind = "mask" }} }}
sex = {{ role = "quasi-identifier" }}
disease = {{ role = "sensitive" }}
"""
REQUEST = ("--k", "5", "--max-suppressed", "10%")


def make(folder: Path, columns: int) -> None:
    """Create a table as CSV and Parquet, and a spec for each."""
    folder.mkdir(parents=True)
    cells = ["20 + i % 40 AS age", "lpad((2138 + i % 12)::VARCHAR, 5, '0') AS zip", "'fm'[i % 2 + 1] AS sex"]
    cells += ["'d' || (i % 8) AS disease"]
    cells += [f"(i * 31 + {place}) % 50 AS x{place}" for place in range(columns - len(cells))]
    query = f"SELECT {', '.join(cells)} FROM range({ROWS}) AS r(i)"
    for ending in ("csv", "parquet"):
        duckdb.sql(f"COPY ({query}) TO '{folder / 'people'}.{ending}'")
        (folder / f"{ending}.toml").write_text(SPEC.format(ending), encoding="utf-8")


def run(arguments: Sequence[str], folder: Path) -> tuple[float, float, int]:
    """Return wall and processor seconds, and largest memory in bytes, of one command in a fresh process."""
    command = [str(Path(sys.executable).parent / "discreet"), *arguments, "--threads", "2"]
    start = perf_counter()
    done = run_fresh(command, folder)
    if done.status:
        raise SystemExit(f"discreet {' '.join(arguments)} ended with status {done.status}")
    return perf_counter() - start, done.processor, done.memory


def commands(ending: str) -> dict[str, Sequence[str]]:
    """Return the commands on a table, by name, each after those that it needs."""
    release, permuted = f"release.{ending}", f"permuted.{ending}"
    spec, over = f"{ending}.toml", "--overwrite"
    keys = [argument for name in KEYS for argument in ("--quasi-identifier", name)]
    by_classes = ("publish", spec, *REQUEST, "--model", "mondrian", "--output", f"classes.{ending}", over)
    return {
        "init": ("init", f"people.{ending}", "--output", f"first-{ending}.toml", over),
        "negotiate": ("negotiate", spec, *REQUEST),
        "publish": ("publish", spec, *REQUEST, "--output", release, over),
        "publish mondrian": by_classes,
        "publish permuted": (
            "publish",
            spec,
            "--k",
            "3",
            "--model",
            "permutation",
            "--output",
            permuted,
            over,
        ),
        "audit": ("audit", release, *keys, "--k", "5"),
        "report": ("report", release, "--output", f"{ending}.html", over),
    }


def main() -> None:
    """Create the tables, run the commands, report processor time and memory against the goals."""
    options = parser(__doc__)
    options.add_argument("--columns", type=int, nargs="+", default=list(GOALS))
    chosen = options.parse_args()
    bench = Benchmark("wide", f"tables of {ROWS} rows and many columns, each command in a process of its own")
    for columns in chosen.columns:
        folder = ROOT / "out" / "benchmarks" / f"wide_{columns}"
        rmtree(folder, ignore_errors=True)
        make(folder, columns)
        slowest, largest = 0.0, 0
        for ending in ("csv", "parquet"):
            for name, arguments in commands(ending).items():
                wall, processor, memory = run(arguments, folder)
                bench.record(f"{columns:,} columns, {ending}: {name}", [wall], [processor])
                slowest, largest = max(slowest, processor), max(largest, memory)
        goal = GOALS.get(columns)
        bench.state(f"{columns:,} columns, slowest command, processor s", slowest, at_most=goal)
        bench.state(
            f"{columns:,} columns, largest memory, GiB",
            largest / (1 << 30),
            at_most=MOST_MEMORY / (1 << 30) if goal else None,
        )
    bench.report(chosen)


if __name__ == "__main__":
    main()
