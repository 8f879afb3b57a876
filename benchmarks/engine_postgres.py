"""PostgreSQL: source and release in one database, and the same server's bare GROUP BY, join and CREATE TABLE.

The benchmark starts a server and stops it. Both sides run with its settings (``SERVER``), so that the ratio
is of work and not of tuning; discreet's sessions set any further settings they need.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks import engine_table as table
from benchmarks.harness import Timed, Written, timed

if TYPE_CHECKING:
    from tests.servers.postgres import PostgresServer

DATABASE = "bench"
SERVER = {
    "fsync": "on",
    "synchronous_commit": "on",
    "full_page_writes": "on",
    "wal_level": "minimal",
    "max_wal_senders": "0",
    "max_wal_size": "8GB",
    "shared_buffers": "1GB",
    "effective_cache_size": "3GB",
    "jit": "off",
    "work_mem": "256MB",
    "hash_mem_multiplier": "2",
    "maintenance_work_mem": "256MB",
    "autovacuum": "off",
    "random_page_cost": "1.1",
}
STAND_INS = {
    "age": "-1",
    "sex": "''",
    "region": "''",
    "admitted": "DATE '0001-01-01'",
    "score": "-1",
    "marital": "''",
}
"""Replacements of NULL in the join, in addition to the test that both sides are NULL or neither."""
INDEXED = ("age", "region")
"""Index columns of the published table: its two quasi-identifiers with the most distinct cells."""
_COPIED_AT_ONCE = 1 << 22


def ours(url: str, spec: Path, folder: Path, memory: int, threads: int) -> Timed:
    """Negotiate and publish into a schema; return the number of published rows."""
    import discreet
    from discreet.settings import Settings

    settings = Settings(memory_limit=memory, threads=threads, private_log=folder / "private.jsonl")
    _forget(url)

    def run() -> Written:
        opened = discreet.open(spec, settings=settings)
        answer = opened.negotiate(k=table.K, max_suppressed=table.MAX_SUPPRESSED)
        release = opened.publish(answer.exact, table="public.release")
        return Written(release.release.audit.rows)

    return timed(run)


def indexed(url: str) -> Timed:
    """Run ``bare`` with the index and the statistics for queries that ours creates, too."""
    return bare(url, usable=True)


def bare(url: str, *, usable: bool = False) -> Timed:
    """Run only the server, in one transaction; the join is written so that it can hash, as ours must be too.

    If ``usable``, an index and statistics are created as well.
    """
    import psycopg

    _forget(url)

    def run() -> Written:
        with psycopg.connect(url) as connection, connection.cursor() as cursor:
            cursor.execute("SET LOCAL enable_mergejoin = off")
            cursor.execute(f"CREATE TEMP TABLE g AS {table.groups('people')}")
            cursor.execute(f"CREATE TEMP TABLE m AS {table.classes('g')}")
            cursor.execute("ANALYZE m")
            query = table.joined("people", "m", _same_cells())
            cursor.execute(f"CREATE TABLE bare AS {query}")
            rows = cursor.rowcount
            if usable:
                cursor.execute("ANALYZE bare")
                cursor.execute(f"CREATE INDEX ON bare ({', '.join(INDEXED)})")
            return Written(rows)

    return timed(run)


def _forget(url: str) -> None:
    """Drop the results of an earlier run, and let the server write out its buffers."""
    import psycopg

    with psycopg.connect(url, autocommit=True) as connection:
        names = "SELECT tablename FROM pg_tables WHERE schemaname = 'public' AND tablename <> 'people'"
        for (name,) in connection.execute(names).fetchall():
            connection.execute(f'DROP TABLE "{name}" CASCADE')
        connection.execute("CHECKPOINT")


def _same_cells() -> str:
    """Return NULL-safe equality that the server can hash, unlike ``IS NOT DISTINCT FROM``."""
    pairs = []
    for name, other in STAND_INS.items():
        pairs.append(f"coalesce(s.{name}, {other}) = coalesce(m.{name}, {other})")
        pairs.append(f"(s.{name} IS NULL) = (m.{name} IS NULL)")
    return " AND ".join(pairs)


def load(server: PostgresServer, data: Path) -> str:
    """Create a database with the table; return its address."""
    import duckdb
    import psycopg

    server.run(f"CREATE DATABASE {DATABASE}", database="postgres")
    url = server.url(DATABASE)
    columns = ", ".join(f"{name} {kind}" for name, kind in table.POSTGRES_TYPES.items())
    lines = data.with_suffix(".csv")
    try:
        with duckdb.connect() as engine:
            engine.execute(f"COPY (SELECT * FROM '{data}') TO '{lines}' (FORMAT csv, HEADER false)")
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute(f"CREATE TABLE people ({columns})")
            with (
                connection.cursor().copy("COPY people FROM STDIN (FORMAT csv)") as copy,
                lines.open("rb") as file,
            ):
                while part := file.read(_COPIED_AT_ONCE):
                    copy.write(part)
            connection.execute("VACUUM ANALYZE people")
    finally:
        lines.unlink(missing_ok=True)
    return url


def missing() -> str | None:
    """Return why PostgreSQL cannot be measured here, if that is known before a server is started."""
    absent = [name for name in ("psycopg", "pytest") if find_spec(name) is None]
    return f"{absent[0]} is missing: pip install 'discreet[postgres,dev]'" if absent else None


def server(threads: int) -> AbstractContextManager[PostgresServer]:
    """Run a server with the benchmark's settings; ``RuntimeError`` with the reason if that is impossible."""
    from tests.servers.postgres import running_server

    return running_server({**SERVER, "max_parallel_workers_per_gather": str(max(threads - 1, 0))})


def cases(
    running: PostgresServer, folder: Path, rows: int, memory: int, threads: int
) -> dict[str, tuple[Any, ...]]:
    """Load the table; return the functions that children run, with their arguments, by name."""
    url = load(running, table.write_rows(folder, rows))
    spec = table.write_spec(folder, "postgres", {"url": url, "table": "public.people"})
    return {
        "discreet": (ours, url, spec, folder, memory, threads),
        "bare": (bare, url),
        "bare with index and statistics": (indexed, url),
    }
