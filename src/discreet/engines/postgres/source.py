"""A table of PostgreSQL as a source: which one is meant, which columns may be read, and how."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from discreet.engines.postgres.session import Session
from discreet.engines.postgres.types import house_type, nested_type
from discreet.errors import InputError
from discreet.model.closest import closest
from discreet.sql.names import identifier, literal, table_parts
from discreet.sql.source import column_name

RELATIONS = ("r", "p", "v", "m", "f")
"""Tables, partitioned tables, views, materialized views and foreign tables (``pg_class.relkind``)."""

_OWN_COLLATIONS = 'COLLATE "C"'


@dataclass(frozen=True)
class TablePlace:
    """A table of a schema."""

    schema: str
    name: str

    @property
    def sql(self) -> str:
        """The table in SQL."""
        return f"{identifier(self.schema)}.{identifier(self.name)}"

    @property
    def regclass(self) -> str:
        """The table's number, as an expression."""
        return f"CAST({literal(self.sql)} AS regclass)"


@dataclass(frozen=True)
class ReadColumn:
    """A column of a table: its name, its house type, and its cells in SQL."""

    name: str
    type: str
    expression: str


def find_table(session: Session, text: str, path: Sequence[str]) -> TablePlace:
    """The table that a spec names, by ``schema.table`` or by ``path``, the user's search path.

    ``InputError`` where there is none, or where the role may not look into its schema.
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
        raise _missing(session, text, name, schemas, {n for _, n in found})
    if not session.fetch(f"SELECT has_schema_privilege({literal(schema)}, 'USAGE')")[0][0]:
        raise InputError(
            f"{session.place}: the role may not look into the schema '{schema}'",
            advice=f"Ask for GRANT USAGE ON SCHEMA {identifier(schema)} TO {role(session)}.",
        )
    return TablePlace(schema, name)


def role(session: Session) -> str:
    """The role of a session, quoted."""
    return identifier(str(session.fetch("SELECT current_user")[0][0]))


def readable_columns(session: Session, table: TablePlace) -> tuple[ReadColumn, ...]:
    """The columns that the role may read, in order; ``InputError`` where there is none."""
    held = session.fetch(
        "SELECT a.attname, t.typcategory, a.attcollation, d.oid IS NOT NULL, "
        f"has_column_privilege({table.regclass}, a.attnum, 'SELECT') "
        "FROM pg_attribute AS a JOIN pg_type AS t ON t.oid = a.atttypid "
        "LEFT JOIN pg_collation AS d ON d.oid = a.attcollation AND d.collname IN ('default', 'C') "
        f"WHERE a.attrelid = {table.regclass} AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum"
    )
    readable = [row for row in held if row[4]]
    if not readable:
        raise InputError(
            f"{session.place}: the role may not read the table {table.schema}.{table.name}",
            allowed="a table with columns that the role may read",
            advice=f"Ask for GRANT SELECT ON {table.sql} TO {role(session)}.",
        )
    names = ", ".join(identifier(row[0]) for row in readable)
    described = session.described(f"SELECT {names} FROM {table.sql}")
    columns = []
    for (name, category, _, plain, _), column in zip(readable, described, strict=True):
        kind = house_type(column) or nested_type(category)
        cells = identifier(name)
        if kind in (None, "VARCHAR"):
            cells = f"CAST({cells} AS TEXT)" + ("" if plain else f" {_OWN_COLLATIONS}")
        elif kind is not None and not kind.endswith("]") and kind != "STRUCT":
            cells = f"CAST({cells} AS {column.type_display})"
        columns.append(ReadColumn(name, kind or "VARCHAR", cells))
    return tuple(columns)


def source_view(table: TablePlace, columns: Sequence[ReadColumn]) -> str:
    """The query whose columns are ``c0``, ``c1``, …"""
    cells = ", ".join(f"{c.expression} AS {column_name(i)}" for i, c in enumerate(columns))
    return f"SELECT {cells} FROM {table.sql}"


def _missing(session: Session, text: str, name: str, schemas: Sequence[str], there: set[str]) -> InputError:
    places = ", ".join(f"'{schema}'" for schema in schemas) or "no schema of the search path"
    advice = closest(name, sorted(there)) or "Write SCHEMA.TABLE; capital letters count."
    return InputError(f"{session.place}: no table '{text}' in {places}", advice=advice)
