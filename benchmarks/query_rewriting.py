"""A query of a permuted release against the same query of the original: 10 million rows in DuckDB.

Tables are narrow and clustered by group, on disk; the sensitive value is drawn log-normal and depends on age.
Groups are runs of the sorted values: either ten distinct values each (the (k,e) partition of a numeric
attribute), or ten rows each (the most groups that k = 10 allows, where the help table is met everywhere). The
cases of one query are the original, the hits per group alone (the rewritten query's first step), all bounds
with their estimates, and the same where the help table is held with a line per group, as a release that is
opened to be asked often holds it; so what the rest goes to can be read off. Making that table is timed once.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import duckdb

from benchmarks.harness import Benchmark, parser
from discreet.queries.operand import ColumnKind
from discreet.queries.reading import Readable, read_query
from discreet.queries.rewriting import PermutedTables, rewritten
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
READABLE = Readable(
    dict.fromkeys(("age", "sex", "education", "state"), ColumnKind.INTEGER), {"salary": True}, {}
)
TABLES = PermutedTables("release", "help", "group_id", numeric=True, scale=0, has_null=False)
HELD = replace(TABLES, by_group="help_by_group")


def main() -> None:
    """Make the tables of each partition, alternate the cases, and report."""
    options = parser(__doc__)
    options.add_argument("--rows", type=int, default=10_000_000, help="rows (default 10,000,000)")
    chosen = options.parse_args()
    bench = Benchmark("query_rewriting", f"a rewritten query against the original: {chosen.rows:,} rows")
    for partition in PARTITIONS:
        with tempfile.TemporaryDirectory() as folder:
            connection = duckdb.connect(
                str(Path(folder) / "release.duckdb"), config={"threads": "2", "memory_limit": "6GB"}
            )
            _make(connection, chosen.rows, partition)
            assert DUCKDB.dense_groups is not None
            connection.execute(DUCKDB.dense_groups[0])
            groups = connection.execute("SELECT count(DISTINCT group_id) FROM release").fetchall()[0][0]
            bench.fact(f"groups of {partition}", groups)
            bench.fact(f"seconds of processor time to hold {partition} by group", f"{_hold(connection):.2f}")
            cases = _cases(connection, partition)
            bench.alternate(cases, chosen.repeats)
            connection.close()
        for name in QUERIES:
            bench.ratio(f"{name}, {partition}: all", f"{name}, {partition}: original", at_most=4)
            if f"{name}, {partition}: held" in cases:
                bench.ratio(f"{name}, {partition}: held", f"{name}, {partition}: original", at_most=4)
            bench.ratio(f"{name}, {partition}: hits", f"{name}, {partition}: original")
    bench.report(chosen)


def _make(connection: duckdb.DuckDBPyConnection, rows: int, partition: str) -> None:
    """The original and the release, both clustered by group, and the help table."""
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
    connection.execute("CREATE TABLE release AS SELECT age, sex, education, state, group_id FROM original")
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


def _hold(connection: duckdb.DuckDBPyConnection) -> float:
    """Make the help table by group; the processor time of it in seconds."""
    begun = time.process_time()
    query = by_group_query(TABLES.help, TABLES.group_column, numeric=True, has_null=False)
    connection.execute(f"CREATE TEMP TABLE {HELD.by_group} AS {query}")
    return time.process_time() - begun


def _cases(connection: duckdb.DuckDBPyConnection, partition: str) -> dict[str, Callable[[], object]]:
    cases: dict[str, Callable[[], object]] = {}
    for name, text in QUERIES.items():
        asked = read_query(text, READABLE)
        rest = text.split(" FROM people", 1)[1]
        keys = "".join(f", {key.sql}" for key in asked.keys)
        hits = rest if keys else rest + " GROUP BY ALL"
        statements = {
            "original": text.replace("FROM people", "FROM original"),
            "hits": f"SELECT count(*), sum(hits) FROM (SELECT group_id{keys}, count(*) AS hits FROM release"
            f"{hits.replace('GROUP BY', 'GROUP BY group_id,') if keys else hits})",
            "all": rewritten(asked, TABLES),
        }
        if not asked.keys:
            statements["held"] = rewritten(asked, HELD)
        for case, statement in statements.items():
            cases[f"{name}, {partition}: {case}"] = _running(connection, statement)
    return cases


def _running(connection: duckdb.DuckDBPyConnection, statement: str) -> Callable[[], object]:
    return lambda: connection.execute(statement).fetchall()


if __name__ == "__main__":
    main()
