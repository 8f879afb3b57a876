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

import numpy as np
from numpy.typing import NDArray

from discreet.engines import failures
from discreet.engines.base import SourceTable
from discreet.engines.declaration import Identity, database_identities, view_dependencies
from discreet.engines.duckdb.engine import LocalExport
from discreet.engines.engine_mixins import SequentialGroupsMixin, SingleLoadMixin, UnorderedRowsMixin
from discreet.engines.files.delimited_text import SPOOLED_NULL, spooled_rows_query
from discreet.engines.mariadb.dialect import MARIADB
from discreet.engines.mariadb.session import MariadbSession
from discreet.engines.process_resources import TemporaryFolder
from discreet.engines.source_query import open_by_query
from discreet.errors import InputError, InternalError
from discreet.model.registry import suggest_name
from discreet.model.table_spec import SourceSpec
from discreet.settings import Settings
from discreet.sql.cell_expressions import column_name
from discreet.sql.dialect import Dialect
from discreet.sql.quoting import identifier, literal, table_parts

# Type codes of the protocol.
_WHOLE: Mapping[int, str] = {1: "TINYINT", 2: "SMALLINT", 9: "INTEGER", 3: "INTEGER", 8: "BIGINT"}
_OTHER: Mapping[int, str] = {4: "FLOAT", 5: "DOUBLE", 10: "DATE", 14: "DATE", 12: "TIMESTAMP", 13: "SMALLINT"}
_OTHER = {**_OTHER, 7: "TIMESTAMP WITH TIME ZONE", 11: "TIME", 16: "BIT"}
_DECIMAL = (0, 246)
_GEOMETRY = 255
_UNSIGNED, _BINARY_LETTERS, _MOST_DIGITS = 32, 63, 38
_TEXTS = (15, 247, 248, 249, 250, 251, 252, 253, 254)


def house_type(field: Any) -> str:
    """Return the house type of a column; empty without one, which is read as text."""
    code = field.type_code
    if code in _WHOLE:
        return f"U{_WHOLE[code]}" if field.flags & _UNSIGNED else _WHOLE[code]
    if code in _DECIMAL:
        signs = (field.scale > 0) + (not field.flags & _UNSIGNED)
        digits = field.length - signs
        return f"DECIMAL({digits},{field.scale})" if digits <= _MOST_DIGITS else ""
    if code == _GEOMETRY:
        return "STRUCT"
    if code in _TEXTS:
        return "BLOB" if field.charsetnr == _BINARY_LETTERS else "VARCHAR"
    return _OTHER.get(code, "")


def cell_expression(column: str, house: str) -> tuple[str, str]:
    """Return the SQL expression that reads a column, and the house type of its result.

    A single-precision number is read as a double: as text the server rounds it to six digits.
    """
    if house == "FLOAT":
        return f"CAST({column} AS DOUBLE)", "DOUBLE"
    if house == "BIT":
        return f"CAST({column} AS UNSIGNED)", "UBIGINT"
    if house in ("VARCHAR", "TIME", ""):
        return f"CONVERT(CAST({column} AS CHAR) USING utf8mb4) COLLATE utf8mb4_nopad_bin", "VARCHAR"
    return column, house


_STATEMENT_BYTES = 1 << 20
_LONGEST_INDEXED = 700
_JOINED = (re.compile(r"[kq]\d+"), re.compile(r"id|position|number|class"))
_MOST_INDEXED, _PREFIX = 8, 48
_KINDS = {"i": "BIGINT", "u": "BIGINT UNSIGNED", "f": "DOUBLE", "b": "BOOLEAN"}
_NUMBERS = {
    "BOOLEAN",
    "DOUBLE",
    "FLOAT",
    *(f"{u}{s}INT" for u in ("", "U") for s in ("TINY", "SMALL", "BIG")),
}
_NUMBERS |= {"INTEGER", "UINTEGER"}
_RESPELLED = ("BLOB", "TIMESTAMP WITH TIME ZONE")


def fetch_arrays(session: MariadbSession, query: str) -> dict[str, NDArray[Any]]:
    """Return a result of NULL-free cells column by column."""
    fields = session.described(query)
    kinds = [house_type(field) for field in fields]
    columns: list[list[Any]] = [[] for _ in fields]

    def keep(rows: Iterator[Sequence[Any]]) -> None:
        for row in rows:
            for column, cell in zip(columns, row, strict=True):
                column.append(cell)

    session.stream(query, keep)
    return {f.name: _array(f.name, k, c) for f, k, c in zip(fields, kinds, columns, strict=True)}


def _array(name: str, kind: str, cells: list[Any]) -> NDArray[Any]:
    if any(cell is None for cell in cells):
        raise InternalError(f"NULL in column {name} of an array query")
    if kind in _NUMBERS:
        return np.array(cells, dtype=np.float64 if kind in ("DOUBLE", "FLOAT") else np.int64)
    if kind.startswith("DECIMAL"):
        is_integer = kind.endswith(",0)")
        return np.array([int(c) if is_integer else float(c) for c in cells])
    result = np.empty(len(cells), dtype=object)
    result[:] = cells
    return result


def spool_rows_to_file(session: MariadbSession, query: str, path: Path) -> str:
    """Write a query's rows in order to an owner-only file, and return the query by which DuckDB reads it."""
    fields = session.described(query)
    kinds = [house_type(field) or "VARCHAR" for field in fields]
    names = [identifier(field.name) for field in fields]
    sent = [_sent(name, kind) for name, kind in zip(names, kinds, strict=True)]
    if sent != names:
        # MariaDB keeps the order of a subquery only if it has a LIMIT.
        query = f"SELECT {', '.join(sent)} FROM ({query} LIMIT {1 << 62}) AS spooled"

    def write(rows: Iterator[Sequence[Any]]) -> None:
        with path.open("x", encoding="utf-8", newline="", buffering=1 << 20) as file:
            path.chmod(0o600)
            for row in rows:
                file.write(",".join(SPOOLED_NULL if cell is None else _quoted(cell) for cell in row) + "\n")

    try:
        session.stream(query, write)
    except OSError as error:
        raise failures.from_os_error(error, path) from None
    cells = list(map(column_name, range(len(fields))))
    return spooled_rows_query(path, [field.name for field in fields], kinds, cells)


def _sent(column: str, kind: str) -> str:
    """Return the expression that sends a column; it converts types whose text DuckDB cannot parse."""
    return f"{MARIADB.text(column, kind)} AS {column}" if kind in _RESPELLED else column


def _quoted(cell: Any) -> str:
    return '"' + str(cell).replace('"', '""') + '"'


def load_columns(
    session: MariadbSession, name: str, columns: Mapping[str, Sequence[str | None] | NDArray[Any]]
) -> None:
    """Create a temporary table of columns, indexed by the first one, which joins use."""
    kinds = [_kind(values) for values in columns.values()]
    named = [f"{identifier(c)} {k}" for c, k in zip(columns, kinds, strict=True)]
    if kinds and not kinds[0].startswith("LONGTEXT"):
        named.append(f"KEY ({identifier(next(iter(columns)))})")
    session.run(f"CREATE TEMPORARY TABLE {identifier(name)} ({', '.join(named)})")
    cells = [_literals(values) for values in columns.values()]
    batch: list[str] = []
    size = 0
    for row in zip(*cells, strict=True):
        batch.append(f"({', '.join(row)})")
        size += len(batch[-1])
        if size > _STATEMENT_BYTES:
            session.run(f"INSERT INTO {identifier(name)} VALUES {', '.join(batch)}")
            batch, size = [], 0
    if batch:
        session.run(f"INSERT INTO {identifier(name)} VALUES {', '.join(batch)}")


def index_keys(session: MariadbSession, name: str) -> None:
    """Index a temporary table by the columns that joins use: its keys, and its row number.

    Hash joins are unsafe (see ``_settings`` of the session), so joins without an index scan all rows for each
    row.
    """
    fields = session.described(f"SELECT * FROM {identifier(name)}")
    added = []
    for joined in _JOINED:
        keys = [_indexed(field) for field in fields if joined.fullmatch(field.name)][:_MOST_INDEXED]
        if keys:
            added.append(f"ADD KEY ({', '.join(keys)})")
    if added:
        session.run(f"ALTER TABLE {identifier(name)} {', '.join(added)}")


def _indexed(field: Any) -> str:
    """Return a column for an index; of a long text only a prefix."""
    long = house_type(field) in ("VARCHAR", "BLOB") and field.length > 4 * _PREFIX
    return identifier(field.name) + (f"({_PREFIX})" if long else "")


def _kind(values: Sequence[str | None] | NDArray[Any]) -> str:
    if isinstance(values, np.ndarray) and values.dtype.kind in _KINDS:
        return _KINDS[values.dtype.kind]
    longest = max((len(value) for value in values if value is not None), default=1)
    kind = f"VARCHAR({max(longest, 1)})" if longest <= _LONGEST_INDEXED else "LONGTEXT"
    return f"{kind} CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin"


def _literals(values: Sequence[str | None] | NDArray[Any]) -> Iterator[str]:
    if isinstance(values, np.ndarray) and values.dtype.kind in _KINDS:
        return map(repr, values.tolist())
    return ("NULL" if value is None else literal(str(value)) for value in values)


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
        index_keys(self._session, name)

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
        return fetch_arrays(self._session, self._spelled_out(query))

    def load_table(self, name: str, columns: Mapping[str, Sequence[str | None] | NDArray[Any]]) -> None:
        """Create a temporary table from columns of equal length (see ``Engine``)."""
        self.drop_table(name)
        load_columns(self._session, name, columns)
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
            yield spool_rows_to_file(self._session, self._spelled_out(query), Path(folder, "rows.csv"))


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
