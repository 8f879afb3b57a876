"""Identities of a source's table and of its rows, by which the ledger of privacy budgets recognizes them.

A table is identified by path, file number, database, catalog name and the tables behind a view; its rows by a
digest of all cells. Two sources that share an identity are the same table or overlap. Only the ledger loads
this module (it imports SQLite).
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from discreet.engines.declaration import Identity as Identity
from discreet.engines.declaration import view_dependencies
from discreet.engines.files.sources import list_sheets
from discreet.engines.files.sqlite_file import RunQuery, is_sqlite, sqlite_view_dependencies
from discreet.engines.process_resources import is_standard_input
from discreet.engines.registry import ENGINES
from discreet.engines.source_tables import open_unmodified_table, opened_table_digest
from discreet.errors import DiscreetError
from discreet.model.table_spec import SourceSpec
from discreet.sql.cell_expressions import column_name, is_nested
from discreet.sql.quoting import identifier, literal

if TYPE_CHECKING:
    from discreet.engines.base import Engine


WHOLE_FILE = ""
"""Table name for a file that is itself a table."""
_STORED = "stored_tables"
_LISTED = f"WHERE database_name = {literal(_STORED)} AND NOT internal"


def stored_tables(source: SourceSpec, fetch: RunQuery) -> tuple[str, ...]:
    """Return the tables that a source reads, through views, by their names in the file.

    The only table of a file also counts as the file itself, because it can be read without its name.
    ``fetch`` runs a query in the embedded engine.
    """
    path = source.path
    if path is None or path.is_dir():
        return (source.table or WHOLE_FILE,)
    names: tuple[str, ...] = ()
    if is_sqlite(path):
        with suppress(DiscreetError):
            names = sqlite_view_dependencies(path, source.table)
        return names or (source.table or WHOLE_FILE,)
    with suppress(DiscreetError):
        names = list_sheets(source)
    if names:
        return (source.table or names[0], *((WHOLE_FILE,) if len(names) == 1 else ()))
    return (WHOLE_FILE,) if source.table is None else _of_database(path, source.table, fetch)


def _of_database(path: Path, table: str, fetch: RunQuery) -> tuple[str, ...]:
    """Return the table or view of a DuckDB file, and the tables that a view names."""
    try:
        fetch(f"ATTACH {literal(str(path.absolute()))} AS {identifier(_STORED)} (READ_ONLY)")
    except DiscreetError:
        return (table,)
    try:
        tables = [str(name) for (name,) in fetch(f"SELECT table_name FROM duckdb_tables() {_LISTED}")]
        views = fetch(f"SELECT view_name, sql FROM duckdb_views() {_LISTED}")
    finally:
        fetch(f"DETACH {identifier(_STORED)}")
    found = view_dependencies(table, tables, {str(name): str(sql) for name, sql in views})
    return (*found, *((WHOLE_FILE,) if len(tables) + len(views) == 1 else ()))


def table_identities(engine: Engine, source: SourceSpec, tables: Iterable[str] = ()) -> tuple[Identity, ...]:
    """Return the identities of a source's table by its location.

    ``tables`` are, for a file, the tables in it that the source reads (``stored_tables``). Raises
    ``InputError`` if the source has no such table.
    """
    if source.path is not None:
        return () if is_standard_input(source.path) else tuple(_path_identities(source.path, tables))
    return ENGINES.named(engine.name).identities(engine, source)


def rows_identity(engine: Engine, source: SourceSpec) -> Identity | None:
    """Return the identity of a source's rows: a digest of all cells that ignores row and column order.

    Rows are read unmodified, without the spec's NULL texts, formats and filters, so that a copy in another
    format or database has the same identity. Returns None for a table without rows. Cost: one scan and one
    GROUP BY of all columns.
    """
    plain = replace(
        source,
        null_values=(),
        formats={},
        decimal=None,
        strip=False,
        subset=None,
        link=None,
        pseudonymizations={},
        date_shifts={},
    )
    with open_unmodified_table(engine, plain) as table:
        names = sorted((n for n in table.columns if not is_nested(table.types[n])), key=_folded)
        cells = ", ".join(f"{table.column(n)} AS {column_name(i)}" for i, n in enumerate(names))
        found = int(engine.fetch_rows(f"SELECT count(*) FROM {table.relation}")[0][0])
        if not names or not found:
            return None
        ordered = replace(
            table,
            relation=f"(SELECT {cells} FROM {table.relation}) AS ordered",
            columns=tuple(names),
            types={name: table.types[name] for name in names},
        )
        heading = "\t".join(map(_folded, names))
        return "rows", f"{heading}\n{opened_table_digest(engine, ordered)}"


def _path_identities(path: Path, tables: Iterable[str]) -> Iterable[Identity]:
    places = [str(real_path(path))]
    if path.is_file() and path.stat().st_nlink > 1:
        found = path.stat()
        places.append(f"file {found.st_dev}:{found.st_ino}")
    return [("path", f"{location}\n{table}") for table in tables for location in places]


def _folded(name: str) -> str:
    return name.strip().casefold()


def real_path(path: Path) -> Path:
    """Return a path without links, with its last part spelled as its folder lists it.

    On a case-insensitive file system several spellings lead to one file.
    """
    real = path.resolve()
    try:
        listed = [each for each in real.parent.iterdir() if each.name.casefold() == real.name.casefold()]
        return next((each for each in listed if each == real or each.samefile(real)), real)
    except OSError:
        return real
