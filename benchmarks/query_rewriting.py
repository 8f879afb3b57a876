"""A query of a permuted release against the same query of the original: 10 million rows in DuckDB.

Tables are narrow and clustered by group, on disk; the sensitive value is drawn log-normal and depends on age.
Groups are runs of the sorted values: either ten distinct values each (the (k,e) partition of a numeric
attribute), or ten rows each (the most groups that k = 10 allows, where the help table is read everywhere).
The cases of one query are the original, only the hits per group (the rewritten query's first step), all
bounds with their estimates, and the same for a release that is prepared for many queries: *held* with the
groups' values in arrays, *lists* with a line of the help table per group, as required if some row has no
value. The differences show the cost of each step. Creating either is timed once.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

from benchmarks.harness import Benchmark, parser
from discreet.bounds.permuted_tables import GroupValueArrays, load_group_values
from discreet.engines.base import Engine
from discreet.engines.connection import connect
from discreet.queries.permuted_query import PermutedTables, rewrite_query
from discreet.queries.select_query_parser import QueryableColumns, parse_release_query
from discreet.queries.sql_expression import ColumnKind
from discreet.settings import Settings
from discreet.sql.dialect import DUCKDB
from discreet.sql.help_table import by_group_query

CONDITION = "age BETWEEN 30 AND 40 AND state IN (3, 17, 41) AND NOT (education = 2 AND sex = 1)"
QUERIES = {
    "AVG where": f"SELECT AVG(salary) FROM people WHERE {CONDITION}",
    "SUM where, by sex": f"SELECT SUM(salary) FROM people WHERE {CONDITION} GROUP BY sex",
    "AVG of half": "SELECT AVG(salary) FROM people WHERE age < 42",
    "AVG of half, by state": "SELECT AVG(salary) FROM people WHERE age < 42 GROUP BY state",
    "MIN of half": "SELECT MIN(salary) FROM people WHERE age < 42",
}
PARTITIONS = {"values": "dense_rank() OVER (ORDER BY salary)", "rows": "row_number() OVER (ORDER BY salary)"}
READABLE = QueryableColumns(
    dict.fromkeys(("age", "sex", "education", "state"), ColumnKind.INTEGER), {"salary": True}, {}
)
TABLES = PermutedTables("release", "help", "group_id", numeric=True, scale=0, has_null=False)
LISTS = replace(TABLES, by_group="help_by_group")


def main() -> None:
    """Create the tables of each partition, alternate the cases, and report."""
    options = parser(__doc__)
    options.add_argument("--rows", type=int, default=10_000_000, help="rows (default 10,000,000)")
    chosen = options.parse_args()
    bench = Benchmark("query_rewriting", f"a rewritten query against the original: {chosen.rows:,} rows")
    for partition in PARTITIONS:
        with tempfile.TemporaryDirectory() as folder, connect(_settings(Path(folder))) as engine:
            _make(engine, Path(folder), chosen.rows, partition)
            assert DUCKDB.dense_groups is not None
            engine.execute(DUCKDB.dense_groups[0])
            groups = engine.fetch_rows("SELECT count(DISTINCT group_id) FROM release")[0][0]
            bench.fact(f"groups of {partition}", groups)
            seconds = f"seconds of processor time to hold {partition}"
            begun = time.process_time()
            held = load_group_values(engine, TABLES)
            bench.fact(f"{seconds} in arrays", f"{time.process_time() - begun:.2f}")
            assert held is not None
            bench.fact(f"{seconds} in lists", f"{_lists(engine):.2f}")
            cases = _cases(engine, held, partition)
            bench.alternate(cases, chosen.repeats)
        for name in QUERIES:
            bench.ratio(f"{name}, {partition}: all", f"{name}, {partition}: original", at_most=4)
            bench.ratio(f"{name}, {partition}: held", f"{name}, {partition}: original", at_most=4)
            if f"{name}, {partition}: lists" in cases:
                bench.ratio(f"{name}, {partition}: lists", f"{name}, {partition}: original")
            bench.ratio(f"{name}, {partition}: hits", f"{name}, {partition}: original")
    bench.report(chosen)


def _settings(folder: Path) -> Settings:
    return Settings(memory_limit=6 * 10**9, threads=2, private_log=folder / "private.jsonl")


def _make(connection: Engine, folder: Path, rows: int, partition: str) -> None:
    """Create the original and the release, both clustered by group, and the help table."""
    connection.execute(f"ATTACH '{folder / 'release.duckdb'}' AS asked")
    connection.execute("USE asked")
    connection.execute("SELECT setseed(0.42)")
    connection.execute(
        "CREATE TEMP TABLE drawn AS SELECT (18 + floor(random() * 72))::UTINYINT AS age, "
        "floor(random() * 2)::UTINYINT AS sex, floor(random() * 16)::UTINYINT AS education, "
        "floor(random() * 50)::UTINYINT AS state, random() AS u, random() AS v "
        f"FROM range({rows})"
    )
    connection.execute(
        "CREATE TEMP TABLE people AS SELECT age, sex, education, state, "
        "(20000 * exp(0.6 * sqrt(-2 * ln(1 - u)) * cos(2 * pi() * v) + age / 100))::INTEGER AS salary "
        "FROM drawn"
    )
    connection.execute(
        "CREATE TABLE original AS SELECT * EXCLUDE (n), ((n - 1) // 10 + 1)::INTEGER AS group_id "
        f"FROM (SELECT *, {PARTITIONS[partition]} AS n FROM people) ORDER BY group_id, random()"
    )
    connection.execute(
        "CREATE TABLE release AS SELECT age, sex, education, state, group_id FROM original ORDER BY group_id"
    )
    running = "PARTITION BY group_id ORDER BY salary ROWS UNBOUNDED PRECEDING"
    connection.execute(
        "CREATE TEMP TABLE ranked AS SELECT group_id, salary, row_number() OVER w AS i, "
        "sum(salary) OVER w AS upto, count(*) OVER g AS n, sum(salary) OVER g AS total FROM original "
        f"WINDOW w AS ({running}), g AS (PARTITION BY group_id)"
    )
    connection.execute(
        "CREATE TABLE help AS SELECT a.group_id, a.i::BIGINT AS hits, a.i::BIGINT AS values_lower, "
        "a.i::BIGINT AS values_upper, a.n AS group_rows, a.n AS group_values, a.total::BIGINT AS group_sum, "
        "a.upto::BIGINT AS sum_lower, (a.total - b.upto + b.salary)::BIGINT AS sum_upper, "
        "min(a.salary) OVER g AS min_lower, b.salary AS min_upper, a.salary AS max_lower, "
        "max(a.salary) OVER g AS max_upper, a.salary AS lowest, b.salary AS highest "
        "FROM ranked AS a JOIN ranked AS b ON a.group_id = b.group_id AND b.i = a.n - a.i + 1 "
        "WINDOW g AS (PARTITION BY a.group_id) ORDER BY a.group_id, a.i"
    )
    connection.execute("DROP TABLE ranked")
    connection.execute("DROP TABLE people")
    connection.execute("DROP TABLE drawn")
    connection.execute("CHECKPOINT")


def _lists(engine: Engine) -> float:
    """Create the help table by group; return its processor time in seconds."""
    begun = time.process_time()
    query = by_group_query(TABLES.help, TABLES.group_column, numeric=True, has_null=False)
    engine.execute(f"CREATE TEMP TABLE {LISTS.by_group} AS {query}")
    return time.process_time() - begun


def _cases(engine: Engine, held: GroupValueArrays, partition: str) -> dict[str, Callable[[], object]]:
    cases: dict[str, Callable[[], object]] = {}
    for name, text in QUERIES.items():
        asked = parse_release_query(text, READABLE)
        rest = text.split(" FROM people", 1)[1]
        keys = "".join(f", {key.sql}" for key in asked.keys)
        hits = rest if keys else rest + " GROUP BY ALL"
        statements = {
            "original": text.replace("FROM people", "FROM original"),
            "hits": f"SELECT count(*), sum(hits) FROM (SELECT group_id{keys}, count(*) AS hits FROM release"
            f"{hits.replace('GROUP BY', 'GROUP BY group_id,') if keys else hits})",
            "all": rewrite_query(asked, TABLES),
        }
        if not asked.keys:
            statements["lists"] = rewrite_query(asked, LISTS)
        for case, statement in statements.items():
            cases[f"{name}, {partition}: {case}"] = partial(engine.fetch_rows, statement)
        cases[f"{name}, {partition}: held"] = partial(held.lines, engine, asked)
    return cases


if __name__ == "__main__":
    main()
