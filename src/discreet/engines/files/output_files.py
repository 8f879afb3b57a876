"""Output files: COPY statements, column-name checks, codebooks, and DuckDB database files.

Also defines values of the engine interface (``NewTable``, ``Codebook``). DuckDB files are written owner-only
by one writer at a time, and attached read-only for reading.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import Lock
from typing import Any

from discreet.engines import failures
from discreet.errors import DiscreetError, InputError
from discreet.sql.cell_expressions import ENUMERATED, column_name, is_text
from discreet.sql.quoting import identifier, literal

STATISTICS_PROGRAMS = {"sav": "SPSS", "zsav": "SPSS", "dta": "Stata", "sas7bdat": "SAS", "xpt": "SAS"}
"""File extensions, which are the format names, and the programs whose files they are."""

WRITABLE_STATISTICS_FORMATS = ("sav", "zsav", "dta", "xpt")
"""Statistics formats that can be written."""


@dataclass(frozen=True)
class Codebook:
    """Labels of a file's columns (``titles``) and of their values, by the text of each value's code.

    ``coded`` is True if the values are read as codes instead of labels.
    """

    titles: Mapping[str, str] = field(default_factory=dict)
    labels: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    coded: bool = False

    def of_values_in(self, columns: frozenset[str]) -> Codebook:
        """Return a copy with value labels of only some columns."""
        return replace(self, labels={name: self.labels[name] for name in self.labels if name in columns})


_CSV = "FORMAT csv, DELIMITER ',', QUOTE '\"', ESCAPE '\"', NULLSTR '', COMPRESSION none, USE_TMP_FILE false"
_PARQUET = "FORMAT parquet, USE_TMP_FILE false"


def copy_statement(
    query: str,
    path: Path,
    file_format: str,
    columns: Sequence[str] | None,
    types: Sequence[str] | None = None,
) -> str:
    """Return the statement that writes a query's result in its order; ``types`` are its house types if known.

    CSV is written in UTF-8 with LF and a header; NULL is an empty cell, the empty text ``""``. DuckDB cannot
    name two columns that differ only in case, or a column without a name: in CSV their names are written as a
    first row; in Parquet they raise ``InputError``.
    """
    if file_format not in ("csv", "parquet"):
        raise InputError(f"output format '{file_format}'", allowed="csv, parquet")
    options = f"{_CSV}, HEADER true" if file_format == "csv" else _PARQUET
    if columns is not None and not _can_name(columns):
        if file_format == "parquet":
            check_parquet_names(columns)
        query, options = _with_header_row(query, columns), f"{_CSV}, HEADER false"
    else:
        # Two threads would race on enumerated types; DuckdbEngine therefore writes with one thread.
        cells = _as_texts(columns, types) if file_format == "csv" else "*"
        names = "" if columns is None else f"({', '.join(map(identifier, columns))})"
        query = f"SELECT {cells} FROM ({query}) AS t{names}"
    return f"COPY ({query}) TO {literal(str(path))} ({options})"


def _as_texts(columns: Sequence[str] | None, types: Sequence[str] | None) -> str:
    """Return a SELECT list of all columns as texts; texts and enumerated labels are not cast.

    One cast among 10,000 columns takes 300 MB, and thousands of casts take half a gigabyte.
    """
    if columns is None or types is None:
        return "CAST(COLUMNS(*) AS VARCHAR)"
    typed_columns = zip(columns, types, strict=True)
    others = [identifier(name) for name, kind in typed_columns if kind != ENUMERATED and not is_text(kind)]
    cast = ", ".join(f"CAST({name} AS VARCHAR) AS {name}" for name in others)
    return f"* REPLACE ({cast})" if others else "*"


def check_parquet_names(columns: Sequence[str]) -> None:
    """Raise ``InputError`` for names that Parquet readers may consider equal."""
    check_distinct_names(columns, "Parquet")


def check_distinct_names(columns: Sequence[str], target: str) -> None:
    """Raise ``InputError`` for names that ``target`` cannot contain together."""
    if not _can_name(columns):
        raise InputError(
            f"column names that are empty or differ only in case cannot be written to {target}",
            advice="Write CSV, or rename the columns.",
        )


def _can_name(columns: Sequence[str]) -> bool:
    return all(columns) and len({name.casefold() for name in columns}) == len(columns)


def _with_header_row(query: str, columns: Sequence[str]) -> str:
    names = [column_name(i) for i in range(len(columns))]
    header = ", ".join(map(literal, columns))
    cells = ", ".join(f"CAST({name} AS VARCHAR)" for name in names)
    return f"SELECT {header} UNION ALL SELECT {cells} FROM ({query}) AS t({', '.join(names)})"


Execute = Callable[[str], None]
_WRITTEN_DATABASE = "written_database"
_ONE_WRITER = Lock()


@dataclass(frozen=True)
class NewTable:
    """Table to write: a query, and the names of its columns.

    ``unordered`` is a query for the same rows without sorting, if there is one; ``unchanged`` are the columns
    whose cells are unmodified source cells; ``types`` are the house types of the query's columns, if they are
    known without a query.
    """

    query: str
    columns: tuple[str, ...]
    unordered: str | None = None
    unchanged: frozenset[str] = frozenset()
    types: tuple[str, ...] | None = None


@dataclass(frozen=True)
class DatabaseTable:
    """Table of a database file that is attached as ``alias``, with its column names."""

    path: Path
    label: str
    columns: tuple[str, ...]
    alias: str
    table: str

    def relation(self, *, serial: bool = False) -> str:
        """Return the table for a FROM clause, with columns ``c0``, ``c1``, …"""
        del serial
        names = ", ".join(column_name(i) for i in range(len(self.columns)))
        return f"{identifier(self.alias)}.main.{identifier(self.table)} AS t({names})"


def write_database_tables(
    execute: Execute, path: Path, tables: Mapping[str, NewTable], statements: Sequence[str]
) -> None:
    """Write a new owner-only database of tables, in their queries' order, and the objects of ``statements``.

    The statements (views, macros) name tables as readers of the file do. Raises ``InputError`` if the file
    exists or cannot be created; on failure it is removed.
    """
    if os.path.lexists(path):
        raise InputError(f"{path} already exists", advice="Choose another name.")
    try:
        with _owner_only(path):
            execute(f"ATTACH {literal(str(path))} AS {_WRITTEN_DATABASE}")
            try:
                for name, table in tables.items():
                    columns = ", ".join(map(identifier, table.columns))
                    rows = f"SELECT * FROM ({table.query}) AS t({columns})"
                    execute(f"CREATE TABLE {_WRITTEN_DATABASE}.{identifier(name)} AS {rows}")
                execute(f"USE {_WRITTEN_DATABASE}")
                for statement in statements:
                    execute(statement)
                # The checkpoint moves all changes into the file: the separate log would not be moved with it.
                execute(f"CHECKPOINT {_WRITTEN_DATABASE}")
            finally:
                execute("USE memory")
                execute(f"DETACH {_WRITTEN_DATABASE}")
    except BaseException:
        remove_database(path)
        raise


def remove_database(path: Path) -> None:
    """Remove a database file and the log that DuckDB keeps next to an open file."""
    path.unlink(missing_ok=True)
    path.with_name(f"{path.name}.wal").unlink(missing_ok=True)


def attach_table(
    fetch: Callable[[str], list[tuple[Any, ...]]], path: Path, table: str, alias: str, label: str
) -> DatabaseTable:
    """Attach a database file read-only and return a table of it; ``InputError`` if the table is missing."""
    try:
        fetch(f"ATTACH {literal(str(path))} AS {identifier(alias)} (READ_ONLY)")
    except DiscreetError:
        raise InputError(f"{label} is not a DuckDB database", advice="Copy the file again.") from None
    names = fetch(
        "SELECT column_name FROM duckdb_columns() "
        f"WHERE database_name = {literal(alias)} AND table_name = {literal(table)} ORDER BY column_index"
    )
    if not names:
        with suppress(DiscreetError):
            fetch(f"DETACH {identifier(alias)}")
        raise InputError(f"{label} has no table '{table}'")
    return DatabaseTable(path, label, tuple(name for (name,) in names), alias, table)


def check_database_columns(tables: Mapping[str, Sequence[str]]) -> None:
    """Raise ``InputError`` for column names that a database considers equal."""
    for name, columns in tables.items():
        if not all(columns) or len({column.casefold() for column in columns}) < len(columns):
            raise InputError(
                f"the table {name} would have columns that are empty or differ only in case",
                advice="Write CSV, or rename the columns.",
            )


@contextmanager
def _owner_only(path: Path) -> Iterator[None]:
    """Make files that are created within the context owner-only: the database and its later log."""
    # The mask is process-wide: without the lock another thread could restore it too early.
    with _ONE_WRITER:
        before = os.umask(0o077)
        try:
            yield
        except OSError as error:  # pragma: no cover - the engine reports its own
            raise failures.from_os_error(error, path) from None
        finally:
            os.umask(before)
