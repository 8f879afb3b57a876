"""The identity of a table of MariaDB: its server, database and name, and the tables behind a view."""

from __future__ import annotations

from discreet.engines.mariadb.engine import MariadbEngine
from discreet.engines.view_tables import Identity, database_identities, tables_behind
from discreet.model.table_spec import SourceSpec

_SERVER = "SELECT @@hostname, @@port, @@datadir"
_UNIQUE = "SELECT variable_value FROM information_schema.global_variables WHERE variable_name = 'SERVER_UID'"
_TABLES = "SELECT table_schema, table_name FROM information_schema.tables WHERE table_type <> 'SYSTEM VIEW'"
_VIEWS = "SELECT table_schema, table_name, view_definition FROM information_schema.views"


def identities(engine: MariadbEngine, source: SourceSpec) -> tuple[Identity, ...]:
    """Return the identities of the table that a source names, and of the tables that a view names.

    The statement of a view is known where the user may see it; the view itself is known in any case.
    """
    database, name = engine.found_table(str(source.table))
    servers = ["mariadb " + ":".join(map(str, engine.fetch_rows(_SERVER)[0]))]
    servers += [f"mariadb {value}" for (value,) in engine.fetch_rows(_UNIQUE) if value]
    views = {(str(schema), str(view)): str(text or "") for schema, view, text in engine.fetch_rows(_VIEWS)}
    found = {(database, name)}
    if (database, name) in views:
        # A statement names tables with their database, so a name of any database counts.
        tables = [(str(schema), str(table)) for schema, table in engine.fetch_rows(_TABLES)]
        statements = {view: text for (_, view), text in views.items()}
        behind = tables_behind(name, [table for _, table in tables], statements)
        found |= {(schema, table) for schema, table in tables if table in behind}
    return database_identities(servers, [f"{schema}.{table}" for schema, table in sorted(found)])
