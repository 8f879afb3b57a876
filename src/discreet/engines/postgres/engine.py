"""PostgreSQL (15 and later) as an engine: the work is done in temporary tables of one transaction.

Only frequency sets and releases to files leave the database. Table identities include the tables behind a
view and the parents of a partition.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.engines.base import SourceTable
from discreet.engines.declaration import Identity, database_identities
from discreet.engines.duckdb.engine import LocalExport
from discreet.engines.engine_mixins import SequentialGroupsMixin, SingleLoadMixin, UnorderedRowsMixin
from discreet.engines.postgres import schema_tables
from discreet.engines.postgres.schema_tables import (
    TablePlace,
    current_role,
    find_table,
    readable_columns,
    source_view,
)
from discreet.engines.postgres.session import PostgresSession
from discreet.engines.postgres.transfer import (
    fetch_numbers,
    house_type,
    load_columns,
    spool_rows_to_file,
    statistics_of,
)
from discreet.engines.process_resources import TemporaryFolder
from discreet.engines.source_query import open_by_query
from discreet.errors import DiscreetError, InputError, InternalError
from discreet.model.table_spec import SourceSpec
from discreet.settings import Settings
from discreet.sql.dialect import POSTGRES, Dialect
from discreet.sql.quoting import identifier, literal

_TEMPORARY = "pg_temp"
_READ_IN_ORDER = "SET max_parallel_workers_per_gather = 0; SET synchronize_seqscans = off"


class PostgresEngine(SequentialGroupsMixin, SingleLoadMixin, UnorderedRowsMixin, LocalExport):
    """PostgreSQL database as an ``Engine``, as a context manager. Not thread-safe."""

    name: str = "postgres"

    def __init__(self, settings: Settings, url: str) -> None:
        self.url: str | None = url
        super().__init__(settings)
        self._session = PostgresSession(settings, url)
        self._token = secrets.token_hex(4)
        self._opened = 0
        self._kept: dict[str, str] = {}
        self._shared: dict[str, TablePlace] = {}
        self._releases: str | None = None
        try:
            self._path = [str(row[0]) for row in self._session.fetch("SELECT unnest(current_schemas(false))")]
            self._scratch = self._scratch_schema()
            self._session.run(f"SET search_path = {identifier(self._scratch)}")
            if self._scratch != _TEMPORARY:
                # Parallel and synchronized scans of stored tables would change the order of rows; temporary
                # tables are never scanned so.
                self._session.run(_READ_IN_ORDER)
            self._session.commit()
        except BaseException:
            self._session.close()
            raise

    def _scratch_schema(self) -> str:
        """Return the schema for temporary tables: the session's own, else the first with the right CREATE."""
        if self._session.fetch("SELECT has_database_privilege(current_database(), 'TEMPORARY')")[0][0]:
            return _TEMPORARY
        for schema in self._path:
            if self._session.fetch(f"SELECT has_schema_privilege({literal(schema)}, 'CREATE')")[0][0]:
                return schema
        database = identifier(str(self._session.fetch("SELECT current_database()")[0][0]))
        who = current_role(self._session)
        raise InputError(
            f"{self._session.label}: the role may create neither temporary tables nor tables in a schema of "
            "its search path",
            advice=f"Request GRANT TEMPORARY ON DATABASE {database} TO {who}.",
        )

    @property
    def dialect(self) -> Dialect:
        """PostgreSQL's dialect."""
        return POSTGRES

    def open_source(self, source: SourceSpec) -> SourceTable:
        """Make a table or view available as a view with columns ``c0``, ``c1``, … (see ``Engine``).

        Columns that the role may not read are not part of the source.
        """
        if source.table is None:
            raise InputError("the spec names no table of the database", advice="Give table in [source].")
        table_name = self.resolve_table(source.table)
        columns = readable_columns(self._session, table_name)
        self._session.label = source.label
        self._opened += 1
        name = f"source_{self._token}_{self._opened}"
        names, types = [column.name for column in columns], [column.type for column in columns]
        rows = source_view(table_name, columns)
        query, table = open_by_query(self.fetch_rows, source, names, types, rows, POSTGRES)
        self._create("VIEW", name, query)
        return replace(table, relation=identifier(name))

    def resolve_table(self, text: str) -> TablePlace:
        """Return the table that a spec names, with its schema; raises ``InputError`` if there is none."""
        return find_table(self._session, text, self._path)

    def close_source(self, table: SourceTable) -> None:
        """Drop the view of an opened source (see ``Engine``)."""
        self._drop(table.relation.strip('"'))

    def execute(self, statement: str) -> None:
        """Run one statement that returns no rows."""
        self._session.run(statement)

    def create_table(self, name: str, query: str, *, shared: bool = False) -> None:
        """Create a temporary table of a query's result (see ``Engine``).

        Parallel workers cannot read temporary tables. During a publication, a shared table is therefore an
        unlogged table in the release's schema with a view of its name; it is dropped before the commit.
        """
        self._drop(name)
        if not shared or self._releases is None or self._scratch != _TEMPORARY:
            self._create("TABLE", name, query, analyzed=True)
            return
        table_name = TablePlace(self._releases, name)
        self._session.run(
            f"CREATE UNLOGGED TABLE {table_name.sql} AS {query}; {statistics_of(table_name.sql)}; "
            f"CREATE TEMP VIEW {identifier(name)} AS SELECT * FROM {table_name.sql}"
        )
        self._kept[name], self._shared[name] = "VIEW", table_name

    def drop_table(self, name: str) -> None:
        """Drop a temporary table if it exists."""
        self._drop(name)

    def column_types(self, query: str) -> tuple[str, ...]:
        """Return the house types of a query's columns (see ``Engine``)."""
        return tuple(house_type(column) or "" for column in self._session.described(query))

    def fetch_rows(self, query: str) -> list[tuple[Any, ...]]:
        """Return a small result row by row."""
        return self._session.fetch(query)

    def fetch_arrays(self, query: str) -> dict[str, NDArray[Any]]:
        """Return a large result of NULL-free numbers column by column; texts are fetched more slowly."""
        result = fetch_numbers(self._session, query)
        if result is not None:
            return result
        names = [column.name for column in self._session.described(query)]
        rows = self._session.fetch(query)
        return {name: _array(name, [row[i] for row in rows]) for i, name in enumerate(names)}

    def load_table(self, name: str, columns: Mapping[str, Sequence[str | None] | NDArray[Any]]) -> None:
        """Create a temporary table from columns of equal length (see ``Engine``)."""
        self._drop(name)
        load_columns(
            self._session, identifier(name), columns, f"CREATE {self._kind('TABLE')} {identifier(name)}"
        )
        self._kept[name] = "TABLE"

    def check_target(self, schema: str, name: str, *, overwrite: bool = False) -> None:
        """Raise ``InputError`` if the role may not create tables there, or if the name is taken."""
        schema_tables.check_schema_table(self._session, TablePlace(schema, name), overwrite=overwrite)

    @contextmanager
    def reserved(self, schema: str, name: str) -> Iterator[None]:
        """Lock a name against other publications; raises ``InputError`` if another one holds it.

        If there are no temporary tables yet, a new transaction begins under the lock and sees the current
        state.
        """
        table_name = TablePlace(schema, name)
        schema_tables.reserve_name(self._session, table_name)
        if not self._kept:
            self._session.commit()
        self._releases = schema
        try:
            yield
        finally:
            self._releases = None
            with suppress(DiscreetError):
                schema_tables.release_name(self._session, table_name)

    def write_table(
        self,
        query: str,
        schema: str,
        name: str,
        columns: Sequence[str],
        indexes: Sequence[Sequence[str]] = (),
    ) -> None:
        """Create a table of the query's rows in the query's order, with indexes and statistics."""
        schema_tables.create_release_table(self._session, query, TablePlace(schema, name), columns, indexes)

    def create_view(self, schema: str, name: str, query: str, columns: Sequence[str] | None = None) -> None:
        """Create a view."""
        schema_tables.create_view(self._session, TablePlace(schema, name), query, columns)

    def drop_relation(self, schema: str, name: str) -> None:
        """Drop a table or view if it exists; raises ``InputError`` if other relations depend on it."""
        schema_tables.drop_relation(self._session, TablePlace(schema, name))

    def table_exists(self, schema: str, name: str) -> bool:
        """Return True if a table or view of that name exists."""
        return schema_tables.relation_kind(self._session, TablePlace(schema, name)) is not None

    def temporary_table(self, name: str) -> str:
        """Return the qualified name by which a source names a temporary table of this session."""
        found = self.fetch_rows(
            "SELECT n.nspname, c.relname FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace "
            f"WHERE c.oid = to_regclass({literal(identifier(name))})"
        )
        return ".".join(map(identifier, found[0]))

    def commit(self) -> None:
        """Commit, so that other sessions see the written tables; the next statement begins a transaction."""
        # Scratch tables that are stored as ordinary tables are dropped first: the commit would publish them.
        for name in reversed(list(self._kept if self._scratch != _TEMPORARY else self._shared)):
            self._drop(name)
        self._session.commit()

    def interrupt(self) -> None:
        """Stop the statement that another thread runs (see ``Engine``)."""
        self._session.interrupt()
        super().interrupt()

    def close(self) -> None:
        """Close the session, which drops temporary tables and rolls back; a second call does nothing."""
        self._session.close()
        super().close()

    @contextmanager
    def fetched(self, query: str) -> Iterator[str]:
        """Fetch a query's rows into an owner-only file, and yield the query by which DuckDB reads it."""
        with TemporaryFolder() as folder:
            yield spool_rows_to_file(self._session, query, Path(folder, "rows.csv"))

    def _kind(self, kind: str) -> str:
        if self._scratch == _TEMPORARY:
            return f"TEMP {kind}"
        return "UNLOGGED TABLE" if kind == "TABLE" else kind

    def _create(self, kind: str, name: str, query: str, *, analyzed: bool = False) -> None:
        statistics = f"; {statistics_of(identifier(name))}" if analyzed else ""
        self._session.run(f"CREATE {self._kind(kind)} {identifier(name)} AS {query}{statistics}")
        self._kept[name] = kind

    def _drop(self, name: str) -> None:
        kind, table_name = self._kept.get(name), self._shared.get(name)
        if kind is not None:
            table = f"; DROP TABLE IF EXISTS {table_name.sql}" if table_name is not None else ""
            self._session.run(f"DROP {kind} IF EXISTS {identifier(name)}{table}")
            # Forgotten only after the drop succeeded: a failed drop is retried before the commit.
            del self._kept[name]
            self._shared.pop(name, None)


def _array(name: str, values: list[Any]) -> NDArray[Any]:
    """Return cells as an array: of numbers, or of texts as objects."""
    if any(value is None for value in values):
        raise InternalError(f"NULL in column {name} of an array query")
    if values and isinstance(values[0], str):
        result = np.empty(len(values), dtype=object)
        result[:] = values
        return result
    return np.array([float(v) if v.__class__.__name__ == "Decimal" else v for v in values])


_READABLE = "SELECT has_function_privilege('pg_control_system()', 'EXECUTE')"
_SYSTEM = "SELECT system_identifier FROM pg_control_system()"
_ADDRESS = (
    "SELECT CASE WHEN inet_server_addr() IS NULL OR inet_server_addr() <<= '127.0.0.0/8' "
    "OR inet_server_addr() = '::1' THEN 'this machine' ELSE host(inet_server_addr()) END, "
    "coalesce(inet_server_port(), current_setting('port')::int)"
)
_DATABASE = "SELECT oid, datname FROM pg_database WHERE datname = current_database()"
# All relations behind a view, through nested views, and the parents of partitions and of inheriting tables;
# UNION visits each relation once.
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

    Each table is identified by its OID, which survives renaming, and by its name, which survives re-creation.
    """
    table_name = engine.resolve_table(str(source.table))
    found = engine.fetch_rows(_BEHIND.format(table=table_name.regclass))
    ((number, name),) = engine.fetch_rows(_DATABASE)
    server = _server(engine)
    by_number = database_identities([f"{server} {number}"], [str(oid) for oid, _, _ in found])
    by_name = database_identities([f"{server} {name}"], [f"{schema}.{table}" for _, schema, table in found])
    return (*by_number, *by_name)


def _server(engine: PostgresEngine) -> str:
    """Return the cluster's identifier, else the address on which the server listens."""
    # The right is checked first: a failed statement would abort the transaction.
    if engine.fetch_rows(_READABLE)[0][0]:
        return f"postgres {engine.fetch_rows(_SYSTEM)[0][0]}"
    host, port = engine.fetch_rows(_ADDRESS)[0]
    return f"postgres {host}:{port}"
