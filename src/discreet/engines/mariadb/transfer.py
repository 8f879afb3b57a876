"""Rows to and from MariaDB: column types, arrays, text files for the embedded engine, loaded tables."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.engines import failures
from discreet.engines.files.delimited_text import SPOOLED_NULL, spooled_rows_query
from discreet.engines.mariadb.dialect import MARIADB
from discreet.engines.mariadb.session import MariadbSession
from discreet.errors import InternalError
from discreet.sql.cell_expressions import column_name
from discreet.sql.quoting import identifier, literal

# Type codes of the protocol.
_WHOLE: Mapping[int, str] = {1: "TINYINT", 2: "SMALLINT", 9: "INTEGER", 3: "INTEGER", 8: "BIGINT"}
_OTHER: Mapping[int, str] = {4: "FLOAT", 5: "DOUBLE", 10: "DATE", 14: "DATE", 12: "TIMESTAMP", 13: "SMALLINT"}
_OTHER = {**_OTHER, 7: "TIMESTAMP WITH TIME ZONE", 11: "TIME", 16: "BIT"}
_DECIMAL = (0, 246)
_GEOMETRY = 255
_UNSIGNED, _BINARY_LETTERS, _MOST_DIGITS = 32, 63, 38
_TEXTS = (15, 247, 248, 249, 250, 251, 252, 253, 254)


def house_type(field: Any) -> str:
    """Return the house type of a column; empty without one, which is read as text."""
    code = field.type_code
    if code in _WHOLE:
        return f"U{_WHOLE[code]}" if field.flags & _UNSIGNED else _WHOLE[code]
    if code in _DECIMAL:
        signs = (field.scale > 0) + (not field.flags & _UNSIGNED)
        digits = field.length - signs
        return f"DECIMAL({digits},{field.scale})" if digits <= _MOST_DIGITS else ""
    if code == _GEOMETRY:
        return "STRUCT"
    if code in _TEXTS:
        return "BLOB" if field.charsetnr == _BINARY_LETTERS else "VARCHAR"
    return _OTHER.get(code, "")


def cell_expression(column: str, house: str) -> tuple[str, str]:
    """Return the SQL expression that reads a column, and the house type of its result.

    A single-precision number is read as a double: as text the server rounds it to six digits.
    """
    if house == "FLOAT":
        return f"CAST({column} AS DOUBLE)", "DOUBLE"
    if house == "BIT":
        return f"CAST({column} AS UNSIGNED)", "UBIGINT"
    if house in ("VARCHAR", "TIME", ""):
        return f"CONVERT(CAST({column} AS CHAR) USING utf8mb4) COLLATE utf8mb4_nopad_bin", "VARCHAR"
    return column, house


_STATEMENT_BYTES = 1 << 20
_LONGEST_INDEXED = 700
_JOINED = (re.compile(r"[kq]\d+"), re.compile(r"id|position|number|class"))
_MOST_INDEXED, _PREFIX = 8, 48
_KINDS = {"i": "BIGINT", "u": "BIGINT UNSIGNED", "f": "DOUBLE", "b": "BOOLEAN"}
_NUMBERS = {
    "BOOLEAN",
    "DOUBLE",
    "FLOAT",
    *(f"{u}{s}INT" for u in ("", "U") for s in ("TINY", "SMALL", "BIG")),
}
_NUMBERS |= {"INTEGER", "UINTEGER"}
_RESPELLED = ("BLOB", "TIMESTAMP WITH TIME ZONE")


def fetch_arrays(session: MariadbSession, query: str) -> dict[str, NDArray[Any]]:
    """Return a result of NULL-free cells column by column."""
    fields = session.described(query)
    kinds = [house_type(field) for field in fields]
    columns: list[list[Any]] = [[] for _ in fields]

    def keep(rows: Iterator[Sequence[Any]]) -> None:
        for row in rows:
            for column, cell in zip(columns, row, strict=True):
                column.append(cell)

    session.stream(query, keep)
    return {f.name: _array(f.name, k, c) for f, k, c in zip(fields, kinds, columns, strict=True)}


def _array(name: str, kind: str, cells: list[Any]) -> NDArray[Any]:
    if any(cell is None for cell in cells):
        raise InternalError(f"NULL in column {name} of an array query")
    if kind in _NUMBERS:
        return np.array(cells, dtype=np.float64 if kind in ("DOUBLE", "FLOAT") else np.int64)
    if kind.startswith("DECIMAL"):
        is_integer = kind.endswith(",0)")
        return np.array([int(c) if is_integer else float(c) for c in cells])
    result = np.empty(len(cells), dtype=object)
    result[:] = cells
    return result


def spool_rows_to_file(session: MariadbSession, query: str, path: Path) -> str:
    """Write a query's rows in order to an owner-only file, and return the query by which DuckDB reads it."""
    fields = session.described(query)
    kinds = [house_type(field) or "VARCHAR" for field in fields]
    names = [identifier(field.name) for field in fields]
    sent = [_sent(name, kind) for name, kind in zip(names, kinds, strict=True)]
    if sent != names:
        # MariaDB keeps the order of a subquery only if it has a LIMIT.
        query = f"SELECT {', '.join(sent)} FROM ({query} LIMIT {1 << 62}) AS spooled"

    def write(rows: Iterator[Sequence[Any]]) -> None:
        with path.open("x", encoding="utf-8", newline="", buffering=1 << 20) as file:
            path.chmod(0o600)
            for row in rows:
                file.write(",".join(SPOOLED_NULL if cell is None else _quoted(cell) for cell in row) + "\n")

    try:
        session.stream(query, write)
    except OSError as error:
        raise failures.from_os_error(error, path) from None
    cells = list(map(column_name, range(len(fields))))
    return spooled_rows_query(path, [field.name for field in fields], kinds, cells)


def _sent(column: str, kind: str) -> str:
    """Return the expression that sends a column; it converts types whose text DuckDB cannot parse."""
    return f"{MARIADB.text(column, kind)} AS {column}" if kind in _RESPELLED else column


def _quoted(cell: Any) -> str:
    return '"' + str(cell).replace('"', '""') + '"'


def load_columns(
    session: MariadbSession, name: str, columns: Mapping[str, Sequence[str | None] | NDArray[Any]]
) -> None:
    """Create a temporary table of columns, indexed by the first one, which joins use."""
    kinds = [_kind(values) for values in columns.values()]
    named = [f"{identifier(c)} {k}" for c, k in zip(columns, kinds, strict=True)]
    if kinds and not kinds[0].startswith("LONGTEXT"):
        named.append(f"KEY ({identifier(next(iter(columns)))})")
    session.run(f"CREATE TEMPORARY TABLE {identifier(name)} ({', '.join(named)})")
    cells = [_literals(values) for values in columns.values()]
    batch: list[str] = []
    size = 0
    for row in zip(*cells, strict=True):
        batch.append(f"({', '.join(row)})")
        size += len(batch[-1])
        if size > _STATEMENT_BYTES:
            session.run(f"INSERT INTO {identifier(name)} VALUES {', '.join(batch)}")
            batch, size = [], 0
    if batch:
        session.run(f"INSERT INTO {identifier(name)} VALUES {', '.join(batch)}")


def index_keys(session: MariadbSession, name: str) -> None:
    """Index a temporary table by the columns that joins use: its keys, and its row number.

    Hash joins are unsafe (see ``_settings`` of the session), so joins without an index scan all rows for each
    row.
    """
    fields = session.described(f"SELECT * FROM {identifier(name)}")
    added = []
    for joined in _JOINED:
        keys = [_indexed(field) for field in fields if joined.fullmatch(field.name)][:_MOST_INDEXED]
        if keys:
            added.append(f"ADD KEY ({', '.join(keys)})")
    if added:
        session.run(f"ALTER TABLE {identifier(name)} {', '.join(added)}")


def _indexed(field: Any) -> str:
    """Return a column for an index; of a long text only a prefix."""
    long = house_type(field) in ("VARCHAR", "BLOB") and field.length > 4 * _PREFIX
    return identifier(field.name) + (f"({_PREFIX})" if long else "")


def _kind(values: Sequence[str | None] | NDArray[Any]) -> str:
    if isinstance(values, np.ndarray) and values.dtype.kind in _KINDS:
        return _KINDS[values.dtype.kind]
    longest = max((len(value) for value in values if value is not None), default=1)
    kind = f"VARCHAR({max(longest, 1)})" if longest <= _LONGEST_INDEXED else "LONGTEXT"
    return f"{kind} CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin"


def _literals(values: Sequence[str | None] | NDArray[Any]) -> Iterator[str]:
    if isinstance(values, np.ndarray) and values.dtype.kind in _KINDS:
        return map(repr, values.tolist())
    return ("NULL" if value is None else literal(str(value)) for value in values)
