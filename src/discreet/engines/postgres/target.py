"""Publishing tables into a schema of PostgreSQL: the rights that it takes, tables, indexes, views.

All of it happens in the session's transaction: nobody else sees any of it before ``Session.commit``, and
where something fails nothing of it is left.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

from discreet.engines.postgres.failures import TooLarge
from discreet.engines.postgres.session import Session
from discreet.engines.postgres.source import TablePlace, role
from discreet.errors import InputError
from discreet.sql.names import identifier, literal

_LONGEST_NAME = 63
_MOST_INDEXED = 2
_SYSTEM_COLUMNS = {"tableoid", "ctid", "xmin", "xmax", "cmin", "cmax"}
_DROPPED = {"r": "TABLE", "p": "TABLE", "v": "VIEW", "m": "MATERIALIZED VIEW", "f": "FOREIGN TABLE"}


def check_target(session: Session, table: TablePlace, *, overwrite: bool) -> None:
    """Raise ``InputError`` where a table cannot be created: the schema, a right, the name, a replica."""
    _check_name(table.name)
    schema = literal(table.schema)
    found = session.fetch(
        "SELECT has_schema_privilege(oid, 'CREATE') AND has_schema_privilege(oid, 'USAGE'), "
        "pg_is_in_recovery() OR current_setting('transaction_read_only') = 'on' "
        f"FROM pg_namespace WHERE nspname = {schema}"
    )
    if not found:
        raise InputError(
            f"{session.place}: there is no schema '{table.schema}'",
            advice=f"Ask for CREATE SCHEMA {identifier(table.schema)} AUTHORIZATION {role(session)}.",
        )
    may_create, read_only = found[0]
    if read_only:
        raise InputError(
            f"{session.place} takes no writes: it is a read-only replica, or the session is read-only",
            advice="Name the primary server in the address.",
        )
    if not may_create:
        raise InputError(
            f"{session.place}: the role may not create tables in the schema '{table.schema}'",
            advice=f"Ask for GRANT USAGE, CREATE ON SCHEMA {identifier(table.schema)} TO {role(session)}.",
        )
    _check_taken(session, table, overwrite=overwrite)


def _check_taken(session: Session, table: TablePlace, *, overwrite: bool) -> None:
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
            f"{session.place}: {table.schema}.{table.name} is there already",
            advice="Choose another name, or add --overwrite." if kind in _DROPPED else "Choose another name.",
        )
    if not owned:
        raise InputError(
            f"{session.place}: {table.schema}.{table.name} belongs to another role, and is not replaced",
            advice="Choose another name.",
        )


def reserve(session: Session, table: TablePlace) -> None:
    """Keep other publications away from a name until the session releases it or ends.

    ``InputError`` where another has it. The lock is the session's, and taken before the transaction that sees
    whether the name is free: a snapshot that is older than the lock would not see what its last owner made.
    """
    if not session.fetch(f"SELECT pg_try_advisory_lock({_lock_of(table)})")[0][0]:
        raise InputError(
            f"{session.place}: another publication to {table.schema}.{table.name} is under way",
            advice="Wait until it has ended, or choose another name.",
        )


def release(session: Session, table: TablePlace) -> None:
    """Let other publications have a name again."""
    session.fetch(f"SELECT pg_advisory_unlock({_lock_of(table)})")


def _lock_of(table: TablePlace) -> str:
    return f"hashtextextended({literal(f'discreet publishes {table.sql}')}, 0)"


def relation_kind(session: Session, table: TablePlace) -> str | None:
    """What a name of a schema is (``TABLE``, ``VIEW``, …), None where nothing has it."""
    found = session.fetch(
        "SELECT c.relkind FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace "
        f"WHERE n.nspname = {literal(table.schema)} AND c.relname = {literal(table.name)}"
    )
    return _DROPPED.get(found[0][0]) if found else None


def drop_relation(session: Session, table: TablePlace) -> None:
    """Drop a table or view, if there is one; ``InputError`` where others depend on it."""
    kind = relation_kind(session, table)
    if kind is not None:
        session.run(f"DROP {kind} {table.sql}")


def write_table(
    session: Session,
    query: str,
    table: TablePlace,
    columns: Sequence[str],
    indexes: Sequence[Sequence[str]] = (),
) -> None:
    """Create a table of a query's rows in its order, with statistics and indexes.

    An index has those two of its columns that have the most different cells: further ones narrow little down,
    and make it several times as dear. One whose entries would be too long for the database (texts of more
    than 2,700 bytes) is left out.
    """
    _check_columns(columns)
    session.run(f"CREATE TABLE {table.sql} ({', '.join(map(identifier, columns))}) AS {query}")
    session.run(f"ANALYZE {table.sql}")
    for index in indexes:
        telling = _most_telling(session, table, index)
        with suppress(TooLarge):
            session.run(f"CREATE INDEX ON {table.sql} ({', '.join(map(identifier, telling))})")


def _most_telling(session: Session, table: TablePlace, columns: Sequence[str]) -> list[str]:
    """As many columns as are indexed, those with the most different cells (by statistics) first."""
    if len(columns) <= _MOST_INDEXED:
        return list(columns)
    found = session.fetch(
        "SELECT attname, CASE WHEN n_distinct < 0 THEN -n_distinct * c.reltuples ELSE n_distinct END "
        "FROM pg_stats JOIN pg_namespace AS n ON n.nspname = schemaname "
        "JOIN pg_class AS c ON c.relnamespace = n.oid AND c.relname = tablename "
        f"WHERE schemaname = {literal(table.schema)} AND tablename = {literal(table.name)}"
    )
    cells = {str(name): float(number) for name, number in found}
    return sorted(columns, key=lambda name: -cells.get(name, 0.0))[:_MOST_INDEXED]


def create_view(session: Session, table: TablePlace, query: str, columns: Sequence[str] | None) -> None:
    """Create a view of a query, whose columns are named where ``columns`` says so."""
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
