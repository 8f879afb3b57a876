"""Output files: COPY statements, column-name checks, codebooks of statistics programs, and DuckDB database
files.

Values that the engine interface names (``NewTable``, ``Codebook``); DuckDB files are written owner-only by
one writer at a time, and attached read-only to be read.
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
"""The endings, which are the formats' names, and the programs whose files they are."""

WRITABLE_STATISTICS_FORMATS = ("sav", "zsav", "dta", "xpt")
"""The formats that are written."""


@dataclass(frozen=True)
class Codebook:
    """What a file says of its columns: what it calls them, and the labels of values by the text of the code.

    ``coded`` says that the codes are the values that are read.
    """

    titles: Mapping[str, str] = field(default_factory=dict)
    labels: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    coded: bool = False

    def of_values_in(self, columns: frozenset[str]) -> Codebook:
        """The same with the labels of values in some columns alone."""
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
    """The statement that writes a query's result in its order; ``types`` are its columns', if known.

    CSV is written in UTF-8 with LF and a header; NULL is an empty cell, the empty text ``""``. The engine
    cannot name two columns that differ in case alone, or a column without a name: in CSV they are written all
    the same, as a first row; in Parquet they are an ``InputError``.
    """
    if file_format not in ("csv", "parquet"):
        raise InputError(f"output format '{file_format}'", allowed="csv, parquet")
    options = f"{_CSV}, HEADER true" if file_format == "csv" else _PARQUET
    if columns is not None and not _can_name(columns):
        if file_format == "parquet":
            check_parquet_names(columns)
        query, options = _with_header_row(query, columns), f"{_CSV}, HEADER false"
    else:
        # Two threads would race on enumerated types; DuckdbEngine sees to it that one writes.
        cells = _as_texts(columns, types) if file_format == "csv" else "*"
        names = "" if columns is None else f"({', '.join(map(identifier, columns))})"
        query = f"SELECT {cells} FROM ({query}) AS t{names}"
    return f"COPY ({query}) TO {literal(str(path))} ({options})"


def _as_texts(columns: Sequence[str] | None, types: Sequence[str] | None) -> str:
    """All columns as texts; what is written as one already, an enumerated label too, is left alone.

    A single cast among 10,000 columns takes 300 MB, and thousands half a gigabyte.
    """
    if columns is None or types is None:
        return "CAST(COLUMNS(*) AS VARCHAR)"
    told = zip(columns, types, strict=True)
    others = [identifier(name) for name, kind in told if kind != ENUMERATED and not is_text(kind)]
    cast = ", ".join(f"CAST({name} AS VARCHAR) AS {name}" for name in others)
    return f"* REPLACE ({cast})" if others else "*"


def check_parquet_names(columns: Sequence[str]) -> None:
    """Raise ``InputError`` for names that a reader of Parquet may not tell apart."""
    check_distinct_names(columns, "Parquet")


def check_distinct_names(columns: Sequence[str], target: str) -> None:
    """Raise ``InputError`` for names that ``target`` cannot hold beside each other."""
    if not _can_name(columns):
        raise InputError(
            f"column names that are empty or differ in case alone cannot be written to {target}",
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


def write_database_tables(
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
            execute(f"ATTACH {literal(str(path))} AS {_WRITTEN_DATABASE}")
            try:
                for name, table in tables.items():
                    columns = ", ".join(map(identifier, table.columns))
                    rows = f"SELECT * FROM ({table.query}) AS t({columns})"
                    execute(f"CREATE TABLE {_WRITTEN_DATABASE}.{identifier(name)} AS {rows}")
                execute(f"USE {_WRITTEN_DATABASE}")
                for statement in statements:
                    execute(statement)
                # Into the file itself: what lies in the log beside it would not be moved with it.
                execute(f"CHECKPOINT {_WRITTEN_DATABASE}")
            finally:
                execute("USE memory")
                execute(f"DETACH {_WRITTEN_DATABASE}")
    except BaseException:
        remove_database(path)
        raise


def remove_database(path: Path) -> None:
    """Remove a database file and what its engine keeps beside it while it is open."""
    path.unlink(missing_ok=True)
    path.with_name(f"{path.name}.wal").unlink(missing_ok=True)


def attach_table(
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


def check_database_columns(tables: Mapping[str, Sequence[str]]) -> None:
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
            raise failures.from_os_error(error, path) from None
        finally:
            os.umask(before)
