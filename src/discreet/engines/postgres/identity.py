"""The identity of a table of PostgreSQL: its server, database and name, and the tables behind a view."""

from __future__ import annotations

from discreet.engines.postgres.engine import PostgresEngine
from discreet.engines.view_tables import Identity, database_identities
from discreet.model.table_spec import SourceSpec

_READABLE = "SELECT has_function_privilege('pg_control_system()', 'EXECUTE')"
_SYSTEM = "SELECT system_identifier FROM pg_control_system()"
_ADDRESS = (
    "SELECT CASE WHEN inet_server_addr() IS NULL OR inet_server_addr() <<= '127.0.0.0/8' "
    "OR inet_server_addr() = '::1' THEN 'this machine' ELSE host(inet_server_addr()) END, "
    "coalesce(inet_server_port(), current_setting('port')::int)"
)
_DATABASE = "SELECT oid, datname FROM pg_database WHERE datname = current_database()"
# A view's tables, through further views, and the tables of which one is a partition or a child.
_BEHIND = """
    WITH RECURSIVE behind(oid) AS (
        SELECT CAST({table} AS oid)
        UNION
        SELECT further.oid FROM behind, LATERAL (
            SELECT d.refobjid AS oid FROM pg_rewrite AS r
            JOIN pg_depend AS d ON d.classid = 'pg_rewrite'::regclass AND d.objid = r.oid
            WHERE r.ev_class = behind.oid AND d.refclassid = 'pg_class'::regclass
            UNION ALL
            SELECT i.inhparent FROM pg_inherits AS i WHERE i.inhrelid = behind.oid
        ) AS further
    )
    SELECT c.oid, n.nspname, c.relname FROM behind JOIN pg_class AS c ON c.oid = behind.oid
    JOIN pg_namespace AS n ON n.oid = c.relnamespace WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f')
"""


def identities(engine: PostgresEngine, source: SourceSpec) -> tuple[Identity, ...]:
    """Return the identities of the table that a source names, and of the tables behind it.

    Each is known by its number, which survives another name, and by its name, which survives a new table.
    """
    place = engine.found_table(str(source.table))
    found = engine.fetch_rows(_BEHIND.format(table=place.regclass))
    ((number, name),) = engine.fetch_rows(_DATABASE)
    server = _server(engine)
    by_number = database_identities([f"{server} {number}"], [str(oid) for oid, _, _ in found])
    by_name = database_identities([f"{server} {name}"], [f"{schema}.{table}" for _, schema, table in found])
    return (*by_number, *by_name)


def _server(engine: PostgresEngine) -> str:
    """The identifier of the cluster, else where the server says that it listens."""
    # The right is asked for first: a failed statement would end the transaction.
    if engine.fetch_rows(_READABLE)[0][0]:
        return f"postgres {engine.fetch_rows(_SYSTEM)[0][0]}"
    host, port = engine.fetch_rows(_ADDRESS)[0]
    return f"postgres {host}:{port}"
