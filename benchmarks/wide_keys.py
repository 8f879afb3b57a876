"""Row types whose keys take more than a word: a lattice of nine attributes, and a table of events.

The lattice is evaluated with keys of 64 and of 128 bits, for as many row types and nodes, on one thread: for
k, and with the values of a sensitive attribute; the baseline is the narrow one of the same run. The events
(3.08 million rows of eight quasi-identifiers, nearly all distinct, 104 bits) go from ``init`` to an audited
release, each command in a separate process; the baseline is the engine's bare GROUP BY of the same file.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from time import perf_counter

import duckdb
import numpy as np

from benchmarks.fresh_process import run_fresh
from benchmarks.harness import Benchmark, in_child, parser, timed
from benchmarks.tables import folder
from discreet.lattice.evaluated_lattice import EvaluatedLattice
from discreet.lattice.evaluation import evaluate_lattice
from discreet.model.frequency_set import FrequencySet, ValueSets
from discreet.model.hierarchy import TOP, GeneralizationHierarchy
from discreet.settings import Settings

ROWS = 3_080_000
HEIGHTS = (4, 4, 3, 3, 3, 2, 2, 1, 1)
"""Heights of the nine attributes: 43,200 nodes."""
WIDEST = {64: (8, 8, 8, 8, 7, 7, 7, 7, 4), 128: (17, 17, 16, 16, 15, 15, 14, 14, 4)}
"""Bits of each attribute's leaves."""
REQUEST = ("--k", "10", "--max-suppressed", "1%")
SECONDS, MEMORY = 120.0, 4.0


def frequency_set(bits: tuple[int, ...], row_types: int) -> FrequencySet:
    """Generate row types: leaves are skewed, so that upper levels join many; values of one attribute."""
    random = np.random.default_rng(1)
    hierarchies, columns = [], []
    drawn = random.random((len(bits), row_types)) ** 2
    for place, (width, height) in enumerate(zip(bits, HEIGHTS, strict=True)):
        leaves = 1 << width
        levels = [np.arange(leaves)]
        for level in range(1, height):
            # The same groups for narrow and wide leaves: 2^(7 - level) and fewer.
            levels.append(np.arange(leaves) >> max(width - 2 * (height - level), 1))
        levels.append(np.zeros(leaves, np.int64))
        labels = tuple(tuple(map(str, range(int(each[-1]) + 1))) for each in levels[:-1])
        hierarchies.append(GeneralizationHierarchy(f"q{place}", (*labels, (TOP,)), tuple(levels), "drawn"))
        columns.append((drawn[place] * leaves).astype(np.int64))
    values = ValueSets("s", 16, np.arange(row_types + 1), random.integers(0, 16, row_types))
    ones = np.ones(row_types, np.int64)
    return FrequencySet(tuple(hierarchies), np.stack(columns, axis=1), ones, (values,))


def events(rows: int) -> Path:
    """Write the table of events as CSV: each cell is a function of its row's number."""
    home = folder() / f"events-{rows}"
    path = home / "events.csv"
    duckdb.execute("SET enable_progress_bar = false")
    if not path.exists():
        home.mkdir(parents=True, exist_ok=True)
        u = [f"((hash(i * 16 + {salt}) >> 11)::DOUBLE / 9007199254740992.0)" for salt in range(8)]
        query = f"""
            SELECT DATE '1930-01-01' + (pow({u[0]}, 0.8) * 32000)::INT AS birth_date,
                   lpad((1000 + (pow({u[1]}, 1.5) * 98000)::INT)::VARCHAR, 5, '0') AS zip,
                   TIMESTAMP '2015-01-01' + INTERVAL 1 DAY * ({u[2]} * 3650)::INT
                       + INTERVAL 1 MINUTE * ({u[3]} * 1440)::INT AS recorded,
                   exp(5 + 2.4 * ({u[4]} + {u[5]} + {u[6]} - 1.5))::DECIMAL(12, 2) AS amount,
                   exp(3 + 2 * ({u[4]} + {u[5]} + {u[7]} - 1.5))::DECIMAL(12, 2) AS fee,
                   (18 + 10 * ({u[6]} + {u[7]}))::DECIMAL(6, 2) AS bmi,
                   'category ' || (pow({u[7]}, 2) * 20)::INT AS category,
                   ['female', 'male'][1 + (i % 2)::INT] AS sex
            FROM range({rows}) AS r(i)"""
        partial = path.with_suffix(".partial")
        duckdb.sql(f"COPY ({query}) TO '{partial}' (FORMAT csv, HEADER)")
        partial.rename(path)
    return path


def bare(path: Path) -> object:
    """Run only the engine's GROUP BY of all columns."""

    def run() -> object:
        duckdb.execute("SET enable_progress_bar = false")
        found = f"SELECT DISTINCT * FROM read_csv('{path}')"
        return duckdb.sql(f"SELECT count(*) FROM ({found})").fetchall()

    return timed(run)


def main() -> None:
    """Alternate the lattices, run the commands, report."""
    options = parser(__doc__)
    options.add_argument("--rows", type=int, default=ROWS, help=f"rows of the events (default {ROWS:,})")
    options.add_argument("--row-types", type=int, default=100_000, help="of the lattices (default 100,000)")
    options.add_argument("--only", choices=["lattice", "events"], help="one of the two parts")
    chosen = options.parse_args()
    bench = Benchmark("wide_keys", "keys of more than a word: nine attributes, and 3.08 million events")
    if chosen.only != "events":
        lattices(bench, chosen.row_types, chosen.repeats)
    if chosen.only != "lattice":
        commands(bench, chosen.rows)
    bench.report(chosen)


def lattices(bench: Benchmark, row_types: int, repeats: int) -> None:
    """Time keys of 64 and of 128 bits, in turn."""
    settings = Settings(memory_limit=8 * 10**9, threads=1, private_log=Path("unused"))
    tables = {bits: frequency_set(widths, row_types) for bits, widths in WIDEST.items()}
    bench.fact("row types", row_types)

    def case(table: FrequencySet, *, values: bool) -> Callable[[], EvaluatedLattice]:
        return lambda: evaluate_lattice(table, settings, diversity=values, evaluator="kernels")

    cases = {f"k, {bits} bits": case(table, values=False) for bits, table in tables.items()}
    cases |= {f"k and l, {bits} bits": case(table, values=True) for bits, table in tables.items()}
    bench.alternate(cases, repeats)
    bench.fact("nodes", case(tables[64], values=False)().lattice.size)
    bench.ratio("k, 128 bits", "k, 64 bits", at_most=1.5)
    bench.ratio("k and l, 128 bits", "k and l, 64 bits", at_most=1.5)


def commands(bench: Benchmark, rows: int) -> None:
    """Run ``init`` to an audited release, each command in a separate process on one thread."""
    path = events(rows)
    child = in_child(bare, path)
    bench.record("bare GROUP BY", [child.wall], [child.processor])
    keys = [
        word for name in ("birth_date", "zip", "recorded", "sex") for word in ("--quasi-identifier", name)
    ]
    steps = {
        "init": ("init", path.name, "--output", "events.toml", "--overwrite"),
        "negotiate": ("negotiate", "events.toml", *REQUEST),
        "publish, audit included": (
            "publish",
            "events.toml",
            *REQUEST,
            "--output",
            "release.csv",
            "--overwrite",
        ),
        "audit": ("audit", "release.csv", *keys, "--k", "10"),
    }
    spent, largest = {}, 0
    for name, arguments in steps.items():
        command = [str(Path(sys.executable).parent / "discreet"), *arguments, "--threads", "1"]
        start = perf_counter()
        done = run_fresh(command, path.parent)
        if done.status:
            raise SystemExit(f"discreet {' '.join(arguments)} ended with status {done.status}")
        bench.record(f"events: {name}", [perf_counter() - start], [done.processor])
        spent[name], largest = done.processor, max(largest, done.memory)
    released = spent["init"] + spent["publish, audit included"]
    bench.state("processor s from init to an audited release", released, at_most=SECONDS)
    bench.state("the same / bare GROUP BY", released / child.processor)
    bench.state("processor s with negotiate and audit of their own", sum(spent.values()))
    bench.state("largest memory, GB", largest / 1e9, at_most=MEMORY)


if __name__ == "__main__":
    main()
