"""MariaDB (10.11 and later) as an engine: the work is done in temporary tables of the server.

Statements contain a source's query, because a view would need an additional right. Table identities include
the tables behind a view.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from discreet.engines.base import SourceTable
from discreet.engines.declaration import Identity, database_identities, view_dependencies
from discreet.engines.duckdb.engine import LocalExport
from discreet.engines.engine_mixins import SequentialGroupsMixin, SingleLoadMixin, UnorderedRowsMixin
from discreet.engines.mariadb import transfer as cells
from discreet.engines.mariadb.dialect import MARIADB
from discreet.engines.mariadb.session import MariadbSession
from discreet.engines.mariadb.transfer import cell_expression, house_type
from discreet.engines.process_resources import TemporaryFolder
from discreet.engines.source_query import open_by_query
from discreet.errors import InputError
from discreet.model.registry import suggest_name
from discreet.model.table_spec import SourceSpec
from discreet.settings import Settings
from discreet.sql.cell_expressions import column_name
from discreet.sql.dialect import Dialect
from discreet.sql.quoting import identifier, literal, table_parts


class MariadbEngine(SequentialGroupsMixin, SingleLoadMixin, UnorderedRowsMixin, LocalExport):
    """MariaDB database as an ``Engine`` and ``CatalogWriter``, as a context manager. Not thread-safe."""

    name: str = "mariadb"

    def __init__(self, settings: Settings, url: str) -> None:
        self.url: str | None = url
        super().__init__(settings)
        self._session = MariadbSession(settings, url)
        self._token = f"source_{secrets.token_hex(6)}"
        self._sources: dict[str, str] = {}
        self._temporary: set[str] = set()
        self._opened = 0

    @property
    def dialect(self) -> Dialect:
        """MariaDB's dialect."""
        return MARIADB

    def open_source(self, source: SourceSpec) -> SourceTable:
        """Make a table or view available with columns ``c0``, ``c1``, … (see ``Engine``)."""
        if source.table is None:
            raise InputError("the spec names no table of the database", advice="Give table in [source].")
        table_name = self._found(source.table)
        self._session.label = source.label
        fields = self._session.described(f"SELECT * FROM {table_name}")
        read = [cell_expression(identifier(field.name), house_type(field)) for field in fields]
        names, types = [field.name for field in fields], [kind for _, kind in read]
        named = ", ".join(f"{expression} AS {column_name(i)}" for i, (expression, _) in enumerate(read))
        rows = f"SELECT {named} FROM {table_name}"
        query, table = open_by_query(self.fetch_rows, source, names, types, rows, MARIADB)
        self._opened += 1
        name = f"{self._token}_{self._opened}"
        self._sources[name] = self._spelled_out(query)
        return replace(table, relation=identifier(name))

    def resolve_table(self, text: str) -> tuple[str, str]:
        """Return the database and the name of a table that a spec names, as the server lists it."""
        self._found(text)
        *schema, name = self._parts(text)
        database = schema[0] if schema else self._session.database
        listed = [str(row[0]) for row in self._tables_of(database, name)]
        return database, name if name in listed else next(iter(listed), name)

    def close_source(self, table: SourceTable) -> None:
        """Forget the query of an opened source (see ``Engine``)."""
        self._sources.pop(table.relation.strip('"'), None)

    def execute(self, statement: str) -> None:
        """Run one statement that returns no rows."""
        self._session.run(self._spelled_out(statement))

    def create_table(self, name: str, query: str, *, shared: bool = False) -> None:
        """Create a temporary table of a query's result (see ``Engine``)."""
        del shared
        self.drop_table(name)
        self.execute(f"CREATE TEMPORARY TABLE {identifier(name)} AS {query}")
        self._temporary.add(name)
        cells.index_keys(self._session, name)

    def drop_table(self, name: str) -> None:
        """Drop a temporary table if it exists."""
        self._session.run(f"DROP TEMPORARY TABLE IF EXISTS {identifier(name)}")
        self._temporary.discard(name)

    def column_types(self, query: str) -> tuple[str, ...]:
        """Return the house types of a query's columns (see ``Engine``)."""
        return tuple(house_type(field) for field in self._session.described(self._spelled_out(query)))

    def fetch_rows(self, query: str) -> list[tuple[Any, ...]]:
        """Return a small result row by row."""
        return self._session.fetch(self._spelled_out(query))

    def fetch_arrays(self, query: str) -> dict[str, NDArray[Any]]:
        """Return a large result of NULL-free numbers column by column; texts must be few."""
        return cells.fetch_arrays(self._session, self._spelled_out(query))

    def load_table(self, name: str, columns: Mapping[str, Sequence[str | None] | NDArray[Any]]) -> None:
        """Create a temporary table from columns of equal length (see ``Engine``)."""
        self.drop_table(name)
        cells.load_columns(self._session, name, columns)
        self._temporary.add(name)

    def write_table(self, query: str, table: str, columns: Sequence[str] | None = None) -> None:
        """Create a new table of the query's rows, in the query's order."""
        query = self._spelled_out(query)
        if columns is not None:
            _check_names(columns)
            own = [field.name for field in self._session.described(query)]
            named = ", ".join(
                f"{identifier(a)} AS {identifier(b)}" for a, b in zip(own, columns, strict=True)
            )
            # MariaDB keeps the order of a subquery only if it has a LIMIT.
            query = f"SELECT {named} FROM ({query} LIMIT {1 << 62}) AS t"
        self._session.run(f"CREATE TABLE {self._place(table)} AS {query}")

    def has_table(self, table: str) -> bool:
        """Return True if a table or view of that name exists."""
        *schema, name = self._parts(table)
        return bool(self._tables_of(schema[0] if schema else self._session.database, name))

    def rename_table(self, old: str, new: str) -> None:
        """Rename a table."""
        self._session.run(f"RENAME TABLE {self._place(old)} TO {self._place(new)}")

    def drop_catalog_table(self, table: str) -> None:
        """Drop a table if it exists."""
        self._session.run(f"DROP TABLE IF EXISTS {self._place(table)}")

    def interrupt(self) -> None:
        """Stop the statement that another thread runs (see ``Engine``)."""
        self._session.interrupt()
        super().interrupt()

    def close(self) -> None:
        """Close the session, which drops its temporary tables; a second call does nothing."""
        self._session.close()
        super().close()

    def _spelled_out(self, statement: str) -> str:
        """Replace the names of sources in a statement by their queries."""

        def query_of(match: re.Match[str]) -> str:
            query = self._sources[match.group(1)]
            return f"({query}) AS " if match.group(2) else f'({query}) AS "{match.group(1)}"'

        return re.sub(rf'"({self._token}_\d+)"( AS )?', query_of, statement)

    def _found(self, table: str) -> str:
        """Return the quoted name of a table; raises ``InputError`` if this user cannot see it."""
        *schema, name = self._parts(table)
        if not schema and name in self._temporary:
            return identifier(name)
        database = schema[0] if schema else self._session.database
        if not self._tables_of(database, name):
            known = [str(row[0]) for row in self._tables_of(database)]
            raise InputError(
                f"{self._session.label}: no table '{table}' in '{database}' that this user may read",
                advice=suggest_name(name, known) or "Write DATABASE.TABLE; capital letters count.",
            )
        return self._place(table)

    def _tables_of(self, database: str, name: str | None = None) -> list[tuple[Any, ...]]:
        one = "" if name is None else f" AND table_name = {literal(name)}"
        return self._session.fetch(
            f"SELECT table_name FROM information_schema.tables WHERE table_schema = {literal(database)}{one}"
        )

    def _place(self, table: str) -> str:
        return ".".join(map(identifier, self._parts(table)))

    def _parts(self, table: str) -> tuple[str, ...]:
        parts = table_parts(table)
        if len(parts) > 2:
            raise InputError(f"'{table}' has {len(parts)} parts", allowed="DATABASE.TABLE, or TABLE")
        return parts

    @contextmanager
    def fetched(self, query: str) -> Iterator[str]:
        """Fetch a query's rows into an owner-only file, and yield the query by which DuckDB reads it."""
        with TemporaryFolder() as folder:
            yield cells.spool_rows_to_file(self._session, self._spelled_out(query), Path(folder, "rows.csv"))


def _check_names(columns: Sequence[str]) -> None:
    """Raise ``InputError`` for column names that MariaDB considers equal or that are too long."""
    for name in columns:
        if not name or name != name.rstrip() or len(name) > 64 or "\0" in name:
            raise InputError(
                f"a column of MariaDB cannot be named '{name}'",
                allowed="1 to 64 letters, no blank at the end",
                advice="Rename the column.",
            )
    if len({name.casefold() for name in columns}) < len(columns):
        raise InputError(
            "two columns of the table would have names that differ only in case",
            advice="Rename one of them.",
        )


_SERVER = "SELECT @@hostname, @@port, @@datadir"
_UNIQUE = "SELECT variable_value FROM information_schema.global_variables WHERE variable_name = 'SERVER_UID'"
_TABLES = "SELECT table_schema, table_name FROM information_schema.tables WHERE table_type <> 'SYSTEM VIEW'"
_VIEWS = "SELECT table_schema, table_name, view_definition FROM information_schema.views"


def identities(engine: MariadbEngine, source: SourceSpec) -> tuple[Identity, ...]:
    """Return the identities of the table that a source names, and of the tables that a view names.

    A view's statement is available only if the user may see it; the view itself is always included.
    """
    database, name = engine.resolve_table(str(source.table))
    servers = ["mariadb " + ":".join(map(str, engine.fetch_rows(_SERVER)[0]))]
    servers += [f"mariadb {value}" for (value,) in engine.fetch_rows(_UNIQUE) if value]
    views = {(str(schema), str(view)): str(text or "") for schema, view, text in engine.fetch_rows(_VIEWS)}
    found = {(database, name)}
    if (database, name) in views:
        # Only names are compared, so tables of all databases with that name count.
        tables = [(str(schema), str(table)) for schema, table in engine.fetch_rows(_TABLES)]
        statements = {view: text for (_, view), text in views.items()}
        behind = view_dependencies(name, [table for _, table in tables], statements)
        found |= {(schema, table) for schema, table in tables if table in behind}
    return database_identities(servers, [f"{schema}.{table}" for schema, table in sorted(found)])
