"""Writing a query's result: the statement, and which column names a format can hold."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from discreet.errors import InputError
from discreet.sql.names import identifier, literal
from discreet.sql.source import ENUMERATED, column_name, is_text

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
    check_told_apart(columns, "Parquet")


def check_told_apart(columns: Sequence[str], target: str) -> None:
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
