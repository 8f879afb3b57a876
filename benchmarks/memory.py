"""Peak memory of whole commands, measured from outside, compared with their limit.

A table of people with four quasi-identifiers, some thousand row types, and a salary that is unique in nearly
every row, as numbers and as texts: the worst case of a limit, since each value may be stored separately.
Every command is a separate process; it must stay within ``--memory-limit``, or be refused with status 4,
which a peak of zero reports.
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

ROWS = (250_000, 1_000_000, 4_000_000)
LIMIT = 10**9
REFUSED = 4
KINDS = {"numbers": "(i * 7919) % 1000000007", "texts": "printf('M%09d', (i * 7919) % 1000000007)"}
SPEC = """[source]
path = "people.parquet"

[attributes]
age = {{ role = "quasi-identifier", hierarchy = {{ kind = "intervals", widths = [5, 10, 20] }} }}
zip = {{ role = "quasi-identifier", hierarchy = {{ kind = "mask" }} }}
sex = {{ role = "quasi-identifier" }}
work = {{ role = "quasi-identifier" }}
salary = {{ role = "{}" }}
"""
REQUEST = ("--k", "10", "--max-suppressed", "5%")
OVER = "--overwrite"


def make(folder: Path, rows: int, kind: str) -> None:
    """Create the table, and a spec of it with the salary sensitive and one with it a quasi-identifier."""
    folder.mkdir(parents=True)
    cells = [
        "20 + (hash(i) % 60)::INTEGER AS age",
        "lpad((hash(i + 1) % 40)::VARCHAR, 3, '0') AS zip",
        "'fm'[1 + (hash(i + 2) % 2)::INTEGER] AS sex",
        "'w' || (hash(i + 3) % 5) AS work",
        f"{KINDS[kind]} AS salary",
    ]
    query = f"SELECT {', '.join(cells)} FROM range({rows}) AS r(i)"
    duckdb.sql(f"COPY ({query}) TO '{folder / 'people.parquet'}'")
    for name, role in (("sensitive", "sensitive"), ("key", "quasi-identifier")):
        (folder / f"{name}.toml").write_text(SPEC.format(role), encoding="utf-8")


def commands() -> dict[str, Sequence[str]]:
    """Return the commands on a table, by name, each after those that it needs."""
    spec, request = "sensitive.toml", REQUEST
    permuted = ("publish", spec, "--model", "permutation", "--k", "10")
    return {
        "init": ("init", "people.parquet", "--output", "first.toml", OVER),
        "negotiate": ("negotiate", spec, *request, "--l", "5"),
        "publish": ("publish", spec, *request, "--l", "5", "--output", "levels.parquet", OVER),
        "publish mondrian": (
            "publish", spec, *request, "--model", "mondrian", "--output", "classes.parquet", OVER,
        ),
        "publish permuted": (*permuted, "--output", "permuted.parquet", OVER),
        "audit": ("audit", "levels.parquet"),
        "audit permuted": ("audit", "permuted.parquet"),
        "query": ("query", "permuted.parquet", "SELECT AVG(salary) FROM people WHERE age < 40"),
        "report": ("report", "levels.parquet", "--output", "report.html", OVER),
        "negotiate, a key of its own for each row": ("negotiate", "key.toml", *request),
    }  # fmt: skip


def main() -> None:
    """Create the tables, run the commands, and report each one's peak as a share of the limit."""
    options = parser(__doc__)
    options.add_argument("--rows", type=int, nargs="+", default=list(ROWS))
    options.add_argument("--limit", type=int, default=LIMIT, help="memory limit in bytes (1 GB)")
    options.add_argument("--kinds", nargs="+", choices=list(KINDS), default=list(KINDS))
    options.add_argument("--commands", nargs="+", help="names of commands (default: all)")
    chosen = options.parse_args()
    bench = Benchmark("memory", "commands on nearly all-different values: peak memory by the limit")
    bench.fact("limit", f"{chosen.limit / 10**9:g} GB, threads 2")
    program = str(Path(sys.executable).parent / "discreet")
    for kind in chosen.kinds:
        for rows in chosen.rows:
            folder = ROOT / "out" / "benchmarks" / f"memory_{kind}_{rows}"
            rmtree(folder, ignore_errors=True)
            make(folder, rows, kind)
            for name, arguments in commands().items():
                if chosen.commands and name not in chosen.commands:
                    continue
                case, begun = f"{rows:,} {kind}: {name}", perf_counter()
                limits = ("--memory-limit", str(chosen.limit), "--threads", "2")
                done = run_fresh([program, *arguments, *limits], folder)
                bench.record(case, [perf_counter() - begun], [done.processor])
                bench.fact(case, f"status {done.status}, {done.memory / 10**6:.0f} MB")
                print(
                    f"{case}: status {done.status}, {done.memory / 10**6:.0f} MB, {done.processor:.1f} s",
                    file=sys.stderr,
                    flush=True,
                )
                within = 0.0 if done.status == REFUSED else done.memory / chosen.limit
                bench.state(f"{case}: peak / limit", within, at_most=1.0)
    bench.report(chosen)


if __name__ == "__main__":
    main()
