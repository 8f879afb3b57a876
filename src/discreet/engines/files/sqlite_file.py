"""SQLite database files: a table copied to Parquet for reading, and a release as a new file.

SQLite types values, not columns, so types are derived from the values (``typeof``); blobs and invalid texts
are refused. Loaded on demand. https://sqlite.org/datatype3.html
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from math import isnan
from pathlib import Path
from typing import Any

from discreet.engines import failures
from discreet.engines.declaration import view_dependencies
from discreet.engines.files.delimited_text import check_unique_names, read_delimited_header
from discreet.engines.files.output_files import check_distinct_names
from discreet.engines.files.parquet_files import ParquetFile
from discreet.errors import InputError, InternalError
from discreet.model.registry import suggest_name
from discreet.sql.cell_expressions import column_name, is_long
from discreet.sql.quoting import identifier, literal

RELEASE_TABLE = "release"
"""Name of the table of a release in its file."""

_MAGIC = b"SQLite format 3\0"
_EXACT = 2**53
_AT_ONCE = 10_000
_WORDS = {"integer": "whole numbers", "real": "decimal numbers", "text": "texts"}
_REAL = {"DOUBLE", "FLOAT"}

RunQuery = Callable[[str], list[tuple[Any, ...]]]


@dataclass(frozen=True)
class _Column:
    """Column with its name, its number of values of each SQLite type, and the type that fits all of them."""

    name: str
    kinds: dict[str, int]
    type: str

    @property
    def note(self) -> str | None:
        """Note on a column whose values have several types; None for other columns."""
        if len(self.kinds) < 2:
            return None
        found = ", ".join(f"{number:,} {_WORDS[kind]}" for kind, number in sorted(self.kinds.items()))
        read = "decimal numbers" if self.type == "DOUBLE" else "texts"
        return f"The column {self.name} of the SQLite table contains {found}: all are read as {read}."


def is_sqlite(path: Path) -> bool:
    """Return True if a file begins with SQLite's signature."""
    try:
        with path.open("rb") as file:
            return file.read(len(_MAGIC)) == _MAGIC
    except OSError:
        return False


def as_parquet(path: Path, table: str | None, copy: Path, label: str, fetch: RunQuery) -> ParquetFile:
    """Copy the rows of a table or view to a Parquet file at ``copy``, which ``fetch`` writes.

    Without a name the only table is used. Raises ``InputError`` for several tables, an unknown name, an
    unreadable file, a blob, and an invalid text.
    """
    text = copy.with_suffix(".csv")
    with _opened(path, label) as database:
        chosen = _table(database, table, label)
        columns = _columns(database, chosen, label)
        with text.open("w", encoding="utf-8", newline="") as file:
            number = _write(file, database, chosen, columns, label)
    rows = read_delimited_header(text, label, ",", '"').relation(serial=True)
    cells = ", ".join(f"CAST({column_name(i)} AS {column.type})" for i, column in enumerate(columns))
    names = ", ".join(column_name(i) for i in range(len(columns)))
    query = f"SELECT * FROM (SELECT {cells} FROM {rows}) AS t({names})"
    copied = fetch(f"COPY ({query}) TO {literal(str(copy))} (FORMAT parquet)")[0][0]
    text.unlink()
    if copied != number:
        raise InternalError(f"{label}: {number} rows were read, and {copied} copied")
    return ParquetFile((copy,), label, tuple(column.name for column in columns))


def list_sqlite_tables(path: Path, label: str) -> tuple[str, ...]:
    """Return the names of the file's tables and views; raises ``InputError`` if it cannot be read."""
    with _opened(path, label) as database:
        return _names(database)


def sqlite_view_dependencies(path: Path, table: str | None) -> tuple[str, ...]:
    """Return the table that a source reads, and the tables behind a view of that name.

    The only table of the file also counts as the file itself (an empty name). Raises ``InputError`` if the
    file cannot be read.
    """
    with _opened(path, str(path)) as database:
        listed = database.execute("SELECT name, type, sql FROM sqlite_master").fetchall()
        names, chosen = _names(database), _table(database, table, str(path))
    views = {name: sql or "" for name, kind, sql in listed if kind == "view"}
    found = view_dependencies(chosen, [name for name in names if name not in views], views)
    return (*found, *(("",) if len(names) == 1 else ()))


def describe_mixed_columns(path: Path, table: str | None, label: str) -> tuple[str, ...]:
    """Describe in sentences the columns with values of several types; ``InputError`` if unreadable."""
    with _opened(path, label) as database:
        columns = _columns(database, _table(database, table, label), label)
    return tuple(note for column in columns if (note := column.note) is not None)


@dataclass(frozen=True)
class SqliteRelease:
    """Query of a release's rows with SQLite's types, its column names, and their declared types."""

    query: str
    columns: tuple[str, ...]
    declared: tuple[str, ...]


def sqlite_release(
    query: str, described: Sequence[tuple[Any, ...]], columns: Sequence[str] | None
) -> SqliteRelease:
    """Build the query of a release whose columns are ``described`` by name and type; ``columns`` rename them.

    Integers and doubles keep their types, all others become texts. Raises ``InputError`` for columns that
    SQLite considers equal.
    """
    names = [str(row[0]) for row in described] if columns is None else columns
    check_distinct_names(names, "SQLite")
    types = [str(row[1]) for row in described]
    places = [column_name(i) for i in range(len(types))]
    cells = ", ".join(map(_stored_expression, places, types))
    return SqliteRelease(
        f"SELECT {cells} FROM ({query}) AS t({', '.join(places)})",
        tuple(names),
        tuple("INTEGER" if is_long(kind) else "REAL" if kind in _REAL else "TEXT" for kind in types),
    )


def write_sqlite_file(
    path: Path, release: SqliteRelease, fetch_many: Callable[[int], list[tuple[Any, ...]]]
) -> None:
    """Write rows, fetched in batches, into the table ``release`` of an existing empty file.

    Raises ``InputError`` for NaN, which SQLite would store as NULL, and for a NUL character.
    """
    declared = ", ".join(
        f"{identifier(name)} {kind}" for name, kind in zip(release.columns, release.declared, strict=True)
    )
    values = ", ".join("?" * len(release.columns))
    try:
        with closing(sqlite3.connect(path, isolation_level=None)) as database:
            # The file is new and is removed on failure, so a rollback journal is useless.
            database.execute("PRAGMA journal_mode = OFF")
            database.execute("BEGIN")
            database.execute(f"CREATE TABLE {RELEASE_TABLE} ({declared})")
            while rows := fetch_many(_AT_ONCE):
                checked = _checked(rows, release.columns)
                database.executemany(f"INSERT INTO {RELEASE_TABLE} VALUES ({values})", checked)
            database.execute("COMMIT")
    except sqlite3.Error as error:
        raise InputError(f"the SQLite file cannot be written ({error})", advice="Write Parquet.") from None


def _stored_expression(name: str, kind: str) -> str:
    if is_long(kind) or kind == "DOUBLE":
        return name
    text = f"CAST({name} AS VARCHAR)"
    return f"CAST({text} AS DOUBLE)" if kind == "FLOAT" else text


def _checked(rows: Iterable[tuple[Any, ...]], columns: Sequence[str]) -> Iterator[tuple[Any, ...]]:
    for row in rows:
        for name, cell in zip(columns, row, strict=True):
            if isinstance(cell, float) and isnan(cell):
                raise InputError(
                    f"the column {name} contains NaN, which SQLite cannot store", advice="Write Parquet."
                )
            if isinstance(cell, str) and "\0" in cell:
                raise InputError(f"the column {name} has a NUL character", advice="Write Parquet.")
        yield row


@contextmanager
def _opened(path: Path, label: str) -> Iterator[sqlite3.Connection]:
    """Open the file read-only, in one transaction."""
    if not is_sqlite(path):
        raise InputError(
            f"{label} is not a SQLite database", advice="Copy the file again, or give its format."
        )
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as database:
            database.execute("PRAGMA query_only = ON")
            database.execute("PRAGMA trusted_schema = OFF")
            database.execute("BEGIN")
            yield database
    except sqlite3.Error as error:
        raise InputError(
            f"{label} cannot be read by SQLite ({error})",
            advice="See that no other program is writing to it, and that sqlite3 opens it.",
        ) from None
    except OSError as error:  # pragma: no cover - the copy's disk
        raise failures.from_os_error(error, path) from None


def _names(database: sqlite3.Connection) -> tuple[str, ...]:
    listed = database.execute(
        "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') "
        "AND substr(name, 1, 7) <> 'sqlite_' ORDER BY rowid"
    )
    return tuple(name for (name,) in listed)


def _table(database: sqlite3.Connection, name: str | None, label: str) -> str:
    tables = _names(database)
    if name is not None and name not in tables:
        raise InputError(
            f"{label} has no table '{name}'",
            allowed=", ".join(tables) or "none",
            advice=suggest_name(name, tables),
        )
    if not tables:
        raise InputError(f"{label} has no table", allowed="a table or a view")
    if name is None and len(tables) > 1:
        raise InputError(
            f"{label} has several tables",
            allowed=", ".join(tables),
            advice="Name one by --table TABLE, or by table in the spec's [source].",
        )
    return name or tables[0]


def _columns(database: sqlite3.Connection, table: str, label: str) -> tuple[_Column, ...]:
    """Return the columns with the types that fit all their values; raises ``InputError`` for a blob."""
    names = [entry[0] for entry in database.execute(f"SELECT * FROM {identifier(table)} LIMIT 0").description]
    check_unique_names(names, label)
    found = []
    for name in names:
        kind = f"typeof({identifier(name)})"
        query = f"SELECT {kind}, count(*) FROM {identifier(table)} GROUP BY 1"
        kinds = dict(database.execute(query).fetchall())
        kinds.pop("null", None)
        if "blob" in kinds:
            _refuse_blob(database, table, name, label)
        found.append(_Column(name, kinds, _type(database, table, name, set(kinds))))
    return tuple(found)


def _type(database: sqlite3.Connection, table: str, name: str, kinds: set[str]) -> str:
    if not kinds or "text" in kinds:
        return "VARCHAR"
    if kinds == {"integer"}:
        return "BIGINT"
    # DOUBLE would round integers beyond 2**53: a mixed column that contains such an integer is read as text.
    cell = identifier(name)
    query = (
        f"SELECT 1 FROM {identifier(table)} WHERE typeof({cell}) = 'integer' "
        f"AND {cell} NOT BETWEEN {-_EXACT} AND {_EXACT} LIMIT 1"
    )
    return "DOUBLE" if database.execute(query).fetchone() is None else "VARCHAR"


def _refuse_blob(database: sqlite3.Connection, table: str, name: str, label: str) -> None:
    kinds = database.execute(f"SELECT typeof({identifier(name)}) FROM {identifier(table)}")
    row = next(number for number, (kind,) in enumerate(kinds, start=1) if kind == "blob")
    raise InputError(
        f"{label}, column {name}, row {row}: a blob, which cannot be published",
        allowed="texts, numbers and NULL",
        advice="Read a view of the table without the column.",
    )


def _write(
    file: Any, database: sqlite3.Connection, table: str, columns: Sequence[_Column], label: str
) -> int:
    """Write the rows as CSV and return their number; NULL is an empty cell."""
    database.text_factory = bytes
    file.write(",".join(_quoted(column.name) for column in columns) + "\n")
    cells = ", ".join(identifier(column.name) for column in columns)
    number = 0
    for row in database.execute(f"SELECT {cells} FROM {identifier(table)}"):
        number += 1
        texts = (_text(cell, column, number, label) for cell, column in zip(row, columns, strict=True))
        file.write(",".join(texts) + "\n")
    return number


def _text(cell: Any, column: _Column, number: int, label: str) -> str:
    if cell is None:
        return ""
    if isinstance(cell, bytes):
        try:
            text = cell.decode("utf-8")
        except UnicodeDecodeError:
            raise _invalid_text_error(label, column, number, "bytes that are not UTF-8") from None
        if "\0" in text:
            raise _invalid_text_error(label, column, number, "a text with a NUL character")
        return _quoted(text)
    is_integer = (
        isinstance(cell, float) and column.type == "VARCHAR" and cell.is_integer() and abs(cell) < _EXACT
    )
    return _quoted(str(int(cell)) if is_integer else repr(cell))


def _invalid_text_error(label: str, column: _Column, number: int, what: str) -> InputError:
    return InputError(
        f"{label}, column {column.name}, row {number}: {what}",
        allowed="texts in UTF-8 without NUL characters",
        advice="Correct the value, or read a view of the table without the column.",
    )


def _quoted(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'
