"""Tables of a PostgreSQL schema: finding and reading sources; creating, indexing and replacing releases.

All statements run in the session's transaction: other sessions see nothing before the commit.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

from discreet.engines.postgres.session import DatabaseLimitReached, PostgresSession
from discreet.engines.postgres.transfer import house_type, nested_type
from discreet.errors import InputError
from discreet.model.registry import suggest_name
from discreet.sql.cell_expressions import column_name
from discreet.sql.quoting import identifier, literal, table_parts

RELATIONS = ("r", "p", "v", "m", "f")
"""Tables, partitioned tables, views, materialized views and foreign tables (``pg_class.relkind``)."""

_OWN_COLLATIONS = 'COLLATE "C"'


@dataclass(frozen=True)
class TablePlace:
    """Qualified name of a table: its schema and its name."""

    schema: str
    name: str

    @property
    def sql(self) -> str:
        """Quoted table name for SQL."""
        return f"{identifier(self.schema)}.{identifier(self.name)}"

    @property
    def regclass(self) -> str:
        """SQL expression of the table's OID."""
        return f"CAST({literal(self.sql)} AS regclass)"


@dataclass(frozen=True)
class ReadColumn:
    """Column of a source table: its name, its house type, and the SQL expression of its cells."""

    name: str
    type: str
    expression: str


def find_table(session: PostgresSession, text: str, path: Sequence[str]) -> TablePlace:
    """Find the table that a spec names, by ``schema.table`` or in ``path``, the user's search path.

    Raises ``InputError`` if there is no such table, or if the role may not use its schema.
    """
    *before, name = table_parts(text)
    if len(before) > 1:
        raise InputError(f"'{text}' has {len(before) + 1} parts", allowed="SCHEMA.TABLE, or TABLE")
    schemas = before or list(path)
    kinds = ", ".join(map(literal, RELATIONS))
    found = session.fetch(
        "SELECT n.nspname, c.relname FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace "
        f"WHERE c.relkind IN ({kinds}) AND n.nspname IN ({', '.join(map(literal, schemas)) or 'NULL'})"
    )
    tables = {schema: {n for s, n in found if s == schema} for schema in schemas}
    schema = next((schema for schema in schemas if name in tables[schema]), None)
    if schema is None:
        raise _missing_table_error(session, text, name, schemas, {n for _, n in found})
    if not session.fetch(f"SELECT has_schema_privilege({literal(schema)}, 'USAGE')")[0][0]:
        raise InputError(
            f"{session.label}: the role may not use the schema '{schema}'",
            advice=f"Request GRANT USAGE ON SCHEMA {identifier(schema)} TO {current_role(session)}.",
        )
    return TablePlace(schema, name)


def current_role(session: PostgresSession) -> str:
    """Return the quoted name of the session's role."""
    return identifier(str(session.fetch("SELECT current_user")[0][0]))


def readable_columns(session: PostgresSession, table: TablePlace) -> tuple[ReadColumn, ...]:
    """Return the columns that the role may read, in order; raises ``InputError`` if there are none."""
    rows = session.fetch(
        "SELECT a.attname, t.typcategory, a.attcollation, d.oid IS NOT NULL, "
        f"has_column_privilege({table.regclass}, a.attnum, 'SELECT') "
        "FROM pg_attribute AS a JOIN pg_type AS t ON t.oid = a.atttypid "
        "LEFT JOIN pg_collation AS d ON d.oid = a.attcollation AND d.collname IN ('default', 'C') "
        f"WHERE a.attrelid = {table.regclass} AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum"
    )
    readable = [row for row in rows if row[4]]
    if not readable:
        raise InputError(
            f"{session.label}: the role may not read the table {table.schema}.{table.name}",
            allowed="a table with columns that the role may read",
            advice=f"Request GRANT SELECT ON {table.sql} TO {current_role(session)}.",
        )
    names = ", ".join(identifier(row[0]) for row in readable)
    described = session.described(f"SELECT {names} FROM {table.sql}")
    columns = []
    for (name, category, _, plain, _), column in zip(readable, described, strict=True):
        kind = house_type(column) or nested_type(category)
        cells = identifier(name)
        if kind in (None, "VARCHAR"):
            # Text with a collation other than the default or "C" is compared by its bytes.
            cells = f"CAST({cells} AS TEXT)" + ("" if plain else f" {_OWN_COLLATIONS}")
        elif kind is not None and not kind.endswith("]") and kind != "STRUCT":
            cells = f"CAST({cells} AS {column.type_display})"
        columns.append(ReadColumn(name, kind or "VARCHAR", cells))
    return tuple(columns)


def source_view(table: TablePlace, columns: Sequence[ReadColumn]) -> str:
    """Return the query of a source's columns, named ``c0``, ``c1``, …"""
    cells = ", ".join(f"{c.expression} AS {column_name(i)}" for i, c in enumerate(columns))
    return f"SELECT {cells} FROM {table.sql}"


def _missing_table_error(
    session: PostgresSession, text: str, name: str, schemas: Sequence[str], there: set[str]
) -> InputError:
    places = ", ".join(f"'{schema}'" for schema in schemas) or "no schema of the search path"
    advice = suggest_name(name, sorted(there)) or "Write SCHEMA.TABLE; capital letters count."
    return InputError(f"{session.label}: no table '{text}' in {places}", advice=advice)


_LONGEST_NAME = 63
_MOST_INDEXED = 2
_SYSTEM_COLUMNS = {"tableoid", "ctid", "xmin", "xmax", "cmin", "cmax"}
_DROPPED = {"r": "TABLE", "p": "TABLE", "v": "VIEW", "m": "MATERIALIZED VIEW", "f": "FOREIGN TABLE"}


def check_schema_table(session: PostgresSession, table: TablePlace, *, overwrite: bool) -> None:
    """Raise ``InputError`` if a table cannot be created.

    Checks the schema, the right to create, the name, and whether the server is a read-only replica.
    """
    _check_name(table.name)
    schema = literal(table.schema)
    found = session.fetch(
        "SELECT has_schema_privilege(oid, 'CREATE') AND has_schema_privilege(oid, 'USAGE'), "
        "pg_is_in_recovery() OR current_setting('transaction_read_only') = 'on' "
        f"FROM pg_namespace WHERE nspname = {schema}"
    )
    if not found:
        raise InputError(
            f"{session.label}: the schema '{table.schema}' does not exist",
            advice=f"Request CREATE SCHEMA {identifier(table.schema)} AUTHORIZATION {current_role(session)}.",
        )
    may_create, read_only = found[0]
    if read_only:
        raise InputError(
            f"{session.label} is read-only: it is a replica, or the session is read-only",
            advice="Name the primary server in the address.",
        )
    if not may_create:
        raise InputError(
            f"{session.label}: the role may not create tables in the schema '{table.schema}'",
            advice=f"Request GRANT USAGE, CREATE ON SCHEMA {identifier(table.schema)} "
            f"TO {current_role(session)}.",
        )
    _check_taken(session, table, overwrite=overwrite)


def _check_taken(session: PostgresSession, table: TablePlace, *, overwrite: bool) -> None:
    found = session.fetch(
        "SELECT pg_has_role(c.relowner, 'USAGE'), c.relkind FROM pg_class AS c "
        "JOIN pg_namespace AS n ON n.oid = c.relnamespace "
        f"WHERE n.nspname = {literal(table.schema)} AND c.relname = {literal(table.name)}"
    )
    if not found:
        return
    owned, kind = found[0]
    if not overwrite or kind not in _DROPPED:
        raise InputError(
            f"{session.label}: {table.schema}.{table.name} already exists",
            advice="Choose another name, or add --overwrite." if kind in _DROPPED else "Choose another name.",
        )
    if not owned:
        raise InputError(
            f"{session.label}: {table.schema}.{table.name} belongs to another role, and is not replaced",
            advice="Choose another name.",
        )


def reserve_name(session: PostgresSession, table: TablePlace) -> None:
    """Lock a name against other publications until the session releases it or ends.

    Raises ``InputError`` if another session holds the lock. It is an advisory lock of the session, taken
    before the transaction that checks whether the name is free: a snapshot older than the lock would not see
    the tables of the lock's previous owner.
    """
    if not session.fetch(f"SELECT pg_try_advisory_lock({_lock_of(table)})")[0][0]:
        raise InputError(
            f"{session.label}: another publication to {table.schema}.{table.name} is under way",
            advice="Wait until it has ended, or choose another name.",
        )


def release_name(session: PostgresSession, table: TablePlace) -> None:
    """Release the lock on a name."""
    session.fetch(f"SELECT pg_advisory_unlock({_lock_of(table)})")


def _lock_of(table: TablePlace) -> str:
    return f"hashtextextended({literal(f'discreet publishes {table.sql}')}, 0)"


def relation_kind(session: PostgresSession, table: TablePlace) -> str | None:
    """Return the kind of a relation for DROP (``TABLE``, ``VIEW``, …), None if the name is free."""
    found = session.fetch(
        "SELECT c.relkind FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace "
        f"WHERE n.nspname = {literal(table.schema)} AND c.relname = {literal(table.name)}"
    )
    return _DROPPED.get(found[0][0]) if found else None


def drop_relation(session: PostgresSession, table: TablePlace) -> None:
    """Drop a table or view if it exists; raises ``InputError`` if other relations depend on it."""
    kind = relation_kind(session, table)
    if kind is not None:
        session.run(f"DROP {kind} {table.sql}")


def create_release_table(
    session: PostgresSession,
    query: str,
    table: TablePlace,
    columns: Sequence[str],
    indexes: Sequence[Sequence[str]] = (),
) -> None:
    """Create a table of a query's rows in the query's order, with statistics and indexes.

    Each index gets only the two of its columns with the most distinct cells: further columns hardly narrow a
    search and make the index several times as expensive. An index whose entries exceed the database's limit
    (texts of more than 2,700 bytes) is omitted.
    """
    _check_columns(columns)
    session.run(f"CREATE TABLE {table.sql} ({', '.join(map(identifier, columns))}) AS {query}")
    session.run(f"ANALYZE {table.sql}")
    for index in indexes:
        telling = _most_telling(session, table, index)
        with suppress(DatabaseLimitReached):
            session.run(f"CREATE INDEX ON {table.sql} ({', '.join(map(identifier, telling))})")


def _most_telling(session: PostgresSession, table: TablePlace, columns: Sequence[str]) -> list[str]:
    """Return the columns to index: those with the most distinct cells by the statistics."""
    if len(columns) <= _MOST_INDEXED:
        return list(columns)
    found = session.fetch(
        # pg_stats reports a negative n_distinct as a fraction of the number of rows.
        "SELECT attname, CASE WHEN n_distinct < 0 THEN -n_distinct * c.reltuples ELSE n_distinct END "
        "FROM pg_stats JOIN pg_namespace AS n ON n.nspname = schemaname "
        "JOIN pg_class AS c ON c.relnamespace = n.oid AND c.relname = tablename "
        f"WHERE schemaname = {literal(table.schema)} AND tablename = {literal(table.name)}"
    )
    cells = {str(name): float(number) for name, number in found}
    return sorted(columns, key=lambda name: -cells.get(name, 0.0))[:_MOST_INDEXED]


def create_view(
    session: PostgresSession, table: TablePlace, query: str, columns: Sequence[str] | None
) -> None:
    """Create a view of a query; ``columns`` rename its columns if given."""
    _check_columns(columns or ())
    names = "" if columns is None else f" ({', '.join(map(identifier, columns))})"
    session.run(f"CREATE VIEW {table.sql}{names} AS {query}")


def _check_name(name: str) -> None:
    if not name or "\0" in name or len(name.encode()) > _LONGEST_NAME:
        raise InputError(
            f"'{name}' cannot be a name in PostgreSQL", allowed=f"1 to {_LONGEST_NAME} bytes in UTF-8"
        )


def _check_columns(columns: Sequence[str]) -> None:
    for name in columns:
        _check_name(name)
        if name in _SYSTEM_COLUMNS:
            raise InputError(f"a column of PostgreSQL cannot be named '{name}'", advice="Rename the column.")
    if len(set(columns)) < len(columns):
        raise InputError("two columns of the table would have one name", advice="Rename one of them.")
