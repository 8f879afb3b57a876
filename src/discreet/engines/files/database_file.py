"""DuckDB database files: writing tables and views into a new one, and reading a table of one.

A file is made owner-only, and belongs to one run: it is attached, filled, and detached again. A reader
attaches it read-only for as long as the source is open.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Any

from discreet.engines import failures
from discreet.errors import DiscreetError, InputError
from discreet.sql.names import identifier, literal
from discreet.sql.source import column_name

Execute = Callable[[str], None]
_WRITTEN = "written_database"
_ONE_WRITER = Lock()


@dataclass(frozen=True)
class NewTable:
    """A table to write: a query, and the names of its columns.

    ``unordered`` is a query of the same rows that does not sort them, where there is one; ``unchanged`` are
    the columns whose cells are the source's own; ``types`` are the house types of the query's columns, where
    they are known without asking the engine.
    """

    query: str
    columns: tuple[str, ...]
    unordered: str | None = None
    unchanged: frozenset[str] = frozenset()
    types: tuple[str, ...] | None = None


@dataclass(frozen=True)
class DatabaseTable:
    """A table of a database file that is attached as ``alias``, by the names of its columns."""

    path: Path
    label: str
    columns: tuple[str, ...]
    alias: str
    table: str

    def relation(self, *, serial: bool = False) -> str:
        """The table in a FROM clause, columns ``c0``, ``c1``, …"""
        del serial
        names = ", ".join(column_name(i) for i in range(len(self.columns)))
        return f"{identifier(self.alias)}.main.{identifier(self.table)} AS t({names})"


def write_tables(
    execute: Execute, path: Path, tables: Mapping[str, NewTable], statements: Sequence[str]
) -> None:
    """Write a new owner-only database of tables, in their queries' order, and what ``statements`` create.

    The statements (views, macros) name tables as a reader of the file will.
    ``InputError`` where the file is there already or cannot be made; on a failure it is removed.
    """
    if os.path.lexists(path):
        raise InputError(f"{path} is there already", advice="Choose another name.")
    try:
        with _owner_only(path):
            execute(f"ATTACH {literal(str(path))} AS {_WRITTEN}")
            try:
                for name, table in tables.items():
                    columns = ", ".join(map(identifier, table.columns))
                    rows = f"SELECT * FROM ({table.query}) AS t({columns})"
                    execute(f"CREATE TABLE {_WRITTEN}.{identifier(name)} AS {rows}")
                execute(f"USE {_WRITTEN}")
                for statement in statements:
                    execute(statement)
                # Into the file itself: what lies in the log beside it would not be moved with it.
                execute(f"CHECKPOINT {_WRITTEN}")
            finally:
                execute("USE memory")
                execute(f"DETACH {_WRITTEN}")
    except BaseException:
        remove_database(path)
        raise


def remove_database(path: Path) -> None:
    """Remove a database file and what its engine keeps beside it while it is open."""
    path.unlink(missing_ok=True)
    path.with_name(f"{path.name}.wal").unlink(missing_ok=True)


def attach(
    fetch: Callable[[str], list[tuple[Any, ...]]], path: Path, table: str, alias: str, label: str
) -> DatabaseTable:
    """A table of a database file, attached read-only; ``InputError`` where there is no such table."""
    try:
        fetch(f"ATTACH {literal(str(path))} AS {identifier(alias)} (READ_ONLY)")
    except DiscreetError:
        raise InputError(f"{label} is no DuckDB database", advice="Copy the file again.") from None
    names = fetch(
        "SELECT column_name FROM duckdb_columns() "
        f"WHERE database_name = {literal(alias)} AND table_name = {literal(table)} ORDER BY column_index"
    )
    if not names:
        with suppress(DiscreetError):
            fetch(f"DETACH {identifier(alias)}")
        raise InputError(f"{label} has no table '{table}'")
    return DatabaseTable(path, label, tuple(name for (name,) in names), alias, table)


def check_columns(tables: Mapping[str, Sequence[str]]) -> None:
    """Raise ``InputError`` for column names that a database cannot tell apart."""
    for name, columns in tables.items():
        if not all(columns) or len({column.casefold() for column in columns}) < len(columns):
            raise InputError(
                f"the table {name} would have columns that are empty or differ in case alone",
                advice="Write CSV, or rename the columns.",
            )


@contextmanager
def _owner_only(path: Path) -> Iterator[None]:
    """Files made within are for their owner alone: the database, and the log that its engine makes later.

    The mask is the whole process's, so one database is written at a time: another writer would put it back.
    """
    # The mask is the whole process's, so two threads must not set it and set it back at once.
    with _ONE_WRITER:
        before = os.umask(0o077)
        try:
            yield
        except OSError as error:  # pragma: no cover - the engine reports its own
            raise failures.from_os(error, path) from None
        finally:
            os.umask(before)
