"""The tables of a file that a source reads: of a database file by the name, of any other file itself."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from discreet.engines.files.sources import sheets_in
from discreet.engines.files.sqlite_file import Fetch, is_sqlite, tables_behind_of
from discreet.engines.view_tables import tables_behind
from discreet.errors import DiscreetError
from discreet.model.table_spec import SourceSpec
from discreet.sql.names import identifier, literal

WHOLE = ""
"""The name of the table that a file is."""
_STORED = "stored_tables"
_LISTED = f"WHERE database_name = {literal(_STORED)} AND NOT internal"


def stored_tables(source: SourceSpec, fetch: Fetch) -> tuple[str, ...]:
    """Return the tables that a source reads, through views, each by the name that the file gives it.

    The only table of a file is also the file itself, since it may be read without its name. ``fetch`` runs a
    query in the embedded engine.
    """
    path = source.path
    if path is None or path.is_dir():
        return (source.table or WHOLE,)
    names: tuple[str, ...] = ()
    if is_sqlite(path):
        with suppress(DiscreetError):
            names = tables_behind_of(path, source.table)
        return names or (source.table or WHOLE,)
    with suppress(DiscreetError):
        names = sheets_in(source)
    if names:
        return (source.table or names[0], *((WHOLE,) if len(names) == 1 else ()))
    return (WHOLE,) if source.table is None else _of_database(path, source.table, fetch)


def _of_database(path: Path, table: str, fetch: Fetch) -> tuple[str, ...]:
    """The table or view of a DuckDB file, and the tables that a view names."""
    try:
        fetch(f"ATTACH {literal(str(path.absolute()))} AS {identifier(_STORED)} (READ_ONLY)")
    except DiscreetError:
        return (table,)
    try:
        tables = [str(name) for (name,) in fetch(f"SELECT table_name FROM duckdb_tables() {_LISTED}")]
        views = fetch(f"SELECT view_name, sql FROM duckdb_views() {_LISTED}")
    finally:
        fetch(f"DETACH {identifier(_STORED)}")
    found = tables_behind(table, tables, {str(name): str(sql) for name, sql in views})
    return (*found, *((WHOLE,) if len(tables) + len(views) == 1 else ()))
