"""Rows to and from PostgreSQL by COPY: binary arrays, text files for the embedded engine, loaded tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from discreet.engines import failures
from discreet.engines.files.delimited_text import SPOOLED_NULL, spooled_rows_query
from discreet.errors import InternalError
from discreet.sql.cell_expressions import column_name
from discreet.sql.dialect import POSTGRES
from discreet.sql.quoting import identifier, literal

if TYPE_CHECKING:
    from psycopg import Column, Cursor

    from discreet.engines.postgres.session import PostgresSession


# OIDs of the types that every server has (pg_type.oid).
_HOUSE: Mapping[int, str] = {
    16: "BOOLEAN",
    17: "BLOB",
    20: "BIGINT",
    21: "SMALLINT",
    23: "INTEGER",
    25: "VARCHAR",
    700: "FLOAT",
    701: "DOUBLE",
    1043: "VARCHAR",
    1082: "DATE",
    1083: "TIME",
    1114: "TIMESTAMP",
    1184: "TIMESTAMP WITH TIME ZONE",
    2950: "UUID",
}
_NUMERIC = 1700
_MOST_DIGITS = 38
_ARRAY, _COMPOSITE = "A", "C"

SENT: Mapping[str, str] = {
    "BOOLEAN": "?",
    "SMALLINT": ">i2",
    "INTEGER": ">i4",
    "BIGINT": ">i8",
    "FLOAT": ">f4",
    "DOUBLE": ">f8",
}
"""Numpy formats in which numbers of a house type are sent by binary COPY."""


def house_type(column: Column) -> str | None:
    """Return the house type of a column; None without one, which is read as text."""
    if column.type_code == _NUMERIC:
        precision, scale = column.precision, column.scale
        if precision is None or scale is None or not 0 <= scale <= precision <= _MOST_DIGITS:
            return None
        return f"DECIMAL({precision},{scale})"
    return _HOUSE.get(column.type_code)


def nested_type(category: str) -> str | None:
    """Return the house type of an array or composite type by its category (``pg_type.typcategory``)."""
    return {_ARRAY: "VARCHAR[]", _COMPOSITE: "STRUCT"}.get(category)


_HEADER = b"PGCOPY\n\xff\r\n\0" + bytes(8)
_TRAILER = 2
_ROWS_PER_CHUNK = 1 << 15

_ROWS_AS_VALUES = 500
_TARGET = 20
_LOADED = {"i1": "SMALLINT", "i2": "SMALLINT", "i4": "INTEGER", "i8": "BIGINT", "u1": "SMALLINT"}
_LOADED |= {"u2": "INTEGER", "u4": "BIGINT", "f4": "DOUBLE", "f8": "DOUBLE", "b1": "BOOLEAN"}
_ESCAPES = str.maketrans({"\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"})


def fetch_numbers(session: PostgresSession, query: str) -> dict[str, NDArray[Any]] | None:
    """Return a result of NULL-free fixed-width numbers by binary COPY; None if a column has another type."""
    kinds = {column.name: house_type(column) for column in session.described(query)}
    formats = [SENT.get(kind or "") for kind in kinds.values()]
    if not formats or None in formats:
        return None
    fields: list[tuple[str, str]] = [("cells", ">i2")]
    for i, kind in enumerate(formats):
        fields += [(f"length{i}", ">i4"), (f"value{i}", str(kind))]
    # Binary COPY rows without NULL have a fixed layout: the number of cells, then the length and value of
    # each cell. A length other than the type's size means NULL.
    layout = np.dtype(fields)

    def read(cursor: Cursor[Any]) -> bytearray:
        sent = bytearray()
        with cursor.copy(f"COPY ({query}) TO STDOUT (FORMAT binary)".encode()) as copy:
            for part in copy:
                sent += part
        return sent

    sent = session.within(read)
    body = len(sent) - len(_HEADER) - _TRAILER
    rows = np.frombuffer(sent, layout, body // layout.itemsize, len(_HEADER)) if body else np.zeros(0, layout)
    is_complete = body == rows.size * layout.itemsize
    for i, (name, kind) in enumerate(zip(kinds, formats, strict=True)):
        if not is_complete or (rows[f"length{i}"] != np.dtype(str(kind)).itemsize).any():
            raise InternalError(f"NULL in column {name} of an array query")
    return {
        name: rows[f"value{i}"].astype(np.dtype(str(kind)).newbyteorder("="))
        for i, (name, kind) in enumerate(zip(kinds, formats, strict=True))
    }


def spool_rows_to_file(session: PostgresSession, query: str, path: Path) -> str:
    """Write a query's rows to a file in their order, and return the query by which DuckDB reads it.

    Cells are quoted texts, which the embedded engine casts to house types. Raises ``LimitReached`` if the
    disk is full.
    """
    columns = session.described(query)
    kinds = [house_type(column) or "VARCHAR" for column in columns]
    names = [column.name for column in columns]
    quoted = list(map(identifier, names))
    sent = [_sent(name, kind) for name, kind in zip(quoted, kinds, strict=True)]
    rows = query if sent == quoted else f"SELECT {', '.join(sent)} FROM ({query}) AS spooled"
    statement = f"COPY ({rows}) TO STDOUT (FORMAT csv, NULL '{SPOOLED_NULL}', FORCE_QUOTE *)"

    def write(cursor: Cursor[Any]) -> None:
        with path.open("xb", buffering=1 << 20) as handle, cursor.copy(statement.encode()) as copy:
            path.chmod(0o600)
            for part in copy:
                handle.write(part)

    try:
        session.within(write)
    except OSError as error:
        raise failures.from_os_error(error, path) from None
    texts = map(column_name, range(len(names)))
    # COPY writes bytes as \x and hexadecimal digits.
    cells = [f"unhex(substr({t}, 3))" if kind == "BLOB" else t for t, kind in zip(texts, kinds, strict=True)]
    return spooled_rows_query(path, names, kinds, cells)


def _sent(column: str, kind: str) -> str:
    """Return the expression that sends a column; it converts types whose text DuckDB cannot parse."""
    if kind in POSTGRES.texts and kind not in SENT:
        return f"{POSTGRES.text(column, kind)} AS {column}"
    return column


def statistics_of(table_name: str) -> str:
    """Return the statements that compute an intermediate table's statistics from a fifth of the usual sample.

    These statistics serve only the planner. Release tables get the server's own statistics.
    """
    return f"SET default_statistics_target = {_TARGET}; ANALYZE {table_name}; RESET default_statistics_target"


def load_columns(
    session: PostgresSession,
    table_name: str,
    columns: Mapping[str, Sequence[str | None] | NDArray[Any]],
    create: str,
) -> None:
    """Create a table by ``create`` and the columns' types, fill it, and compute its statistics.

    A small table is created by one message.
    """
    kinds = [_loaded_kind(values) for values in columns.values()]
    types = ", ".join(
        f"{identifier(name)} {POSTGRES.type_name(kind)}" for name, kind in zip(columns, kinds, strict=True)
    )

    arrays = list(columns.values())
    if arrays and len(arrays[0]) <= _ROWS_AS_VALUES:
        session.run(f"{create} ({types}); {_inserted(table_name, arrays, kinds)}{statistics_of(table_name)}")
        return

    def fill(cursor: Cursor[Any]) -> None:
        cursor.execute(f"{create} ({types})".encode())
        with cursor.copy(f"COPY {table_name} FROM STDIN".encode()) as copy:
            for chunk in _lines(arrays, kinds):
                copy.write(chunk)
        cursor.execute(statistics_of(table_name).encode())

    session.within(fill)


def _inserted(table_name: str, columns: Sequence[Any], kinds: Sequence[str]) -> str:
    """Return the INSERT statement of the rows, with its separator; empty without rows."""
    cells = [
        (
            "NULL" if value is None else literal(str(value))
            for value in (values if kind == "VARCHAR" else np.asarray(values).tolist())
        )
        for values, kind in zip(columns, kinds, strict=True)
    ]
    rows = ", ".join(f"({', '.join(row)})" for row in zip(*cells, strict=True))
    return f"INSERT INTO {table_name} VALUES {rows}; " if rows else ""


def _loaded_kind(values: Sequence[str | None] | NDArray[Any]) -> str:
    if not isinstance(values, np.ndarray) or values.dtype.kind not in "iufb":
        return "VARCHAR"
    return _LOADED.get(f"{values.dtype.kind}{values.dtype.itemsize}", "UBIGINT")


def _lines(columns: Sequence[Any], kinds: Sequence[str]) -> Iterator[bytes]:
    cells = [_cells(values, kind) for values, kind in zip(columns, kinds, strict=True)]
    rows = map("\t".join, zip(*cells, strict=True))
    while chunk := list(islice(rows, _ROWS_PER_CHUNK)):
        yield "\n".join(chunk).encode() + b"\n"


def _cells(values: Any, kind: str) -> Iterator[str]:
    if kind == "VARCHAR":
        return (SPOOLED_NULL if value is None else str(value).translate(_ESCAPES) for value in values)
    return map(repr, np.asarray(values).tolist())
