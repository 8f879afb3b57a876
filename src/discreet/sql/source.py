"""The cells of a source as SQL expressions: their text, and which of them are NULL.

Contract: a value is the cell's text (in formats with types, the canonical text that a cast to text gives),
and matches leaves exactly; cell texts in ``null_values`` are read as NULL.
"""

from __future__ import annotations

from collections.abc import Sequence

from discreet.sql.dialect import DUCKDB, Dialect
from discreet.sql.names import literal

ENUMERATED = "ENUM"
"""The house type of a column of few different texts, whichever they are."""
_TEXT = {"VARCHAR", "CHAR", "BPCHAR", "TEXT", "STRING"}
_WHOLE = {f"{sign}{size}INT" for sign in ("", "U") for size in ("TINY", "SMALL", "BIG", "HUGE")}
_NATIVE = _TEXT | _WHOLE | {"INTEGER", "UINTEGER", "BOOLEAN", "DATE", "TIME", "UUID", "DECIMAL", ENUMERATED}
_NATIVE |= {f"TIMESTAMP{suffix}" for suffix in ("", "_S", "_MS", "_NS")}
_NATIVE |= {"TIMESTAMP WITH TIME ZONE", "TIMESTAMPTZ", "TIMESTAMPTZ_NS"}
_FLOATING = {"DOUBLE", "FLOAT", "REAL"}
_NEVER_TEXT = (_NATIVE - _TEXT - {ENUMERATED}) | _FLOATING
LIST = "LIST"
"""The house type of a column of lists or structures that an engine reads as their text."""
_NESTED = {"STRUCT", "MAP", "UNION", LIST, "ARRAY", "VARIANT"}
_BINARY = {"BLOB", "BYTEA", "BINARY", "VARBINARY", "GEOMETRY"}


def column_name(position: int) -> str:
    """The name that a source's column has in SQL: ``c0``, ``c1``, … by its place."""
    return f"c{position}"


def canonical_text(column: str, type_name: str, dialect: Dialect = DUCKDB) -> str:
    """The text of a column's cells; NULL stays NULL."""
    return column if _base(type_name) in _TEXT else dialect.text(column, type_name)


def cell_text(column: str, type_name: str, null_values: Sequence[str] = (), dialect: Dialect = DUCKDB) -> str:
    """The text of a column's cells, with ``null_values`` (whole texts, exactly) read as NULL."""
    text = canonical_text(column, type_name, dialect)
    if not null_values:
        return text
    return f"CASE WHEN {text} IN ({', '.join(map(literal, null_values))}) THEN NULL ELSE {text} END"


def group_key(column: str, type_name: str, dialect: Dialect = DUCKDB) -> str:
    """An expression to group by, such that cells of one group have one text.

    The column itself where equal values have one text: grouping text, whole numbers and dates as they are is
    faster than grouping their casts. Floating-point numbers and intervals are grouped by text, since 0.0 and
    -0.0, or a month and 30 days, are equal.
    """
    return column if _base(type_name) in _NATIVE else dialect.text(column, type_name)


def group_key_type(type_name: str) -> str:
    """The type of ``group_key``."""
    return type_name if _base(type_name) in _NATIVE else "VARCHAR"


def is_nested(type_name: str) -> bool:
    """Whether cells hold lists, structures or the like."""
    return _base(type_name) in _NESTED


def is_binary(type_name: str) -> bool:
    """Whether cells hold bytes that are not declared to be text."""
    return _base(type_name) in _BINARY


def is_text(type_name: str) -> bool:
    """Whether cells are texts, of any length."""
    return _base(type_name) in _TEXT


def is_never_text(type_name: str) -> bool:
    """Whether cells are numbers, dates, times or booleans, whose texts are no words or stars."""
    return _base(type_name) in _NEVER_TEXT


def decimals_of(type_name: str) -> int | None:
    """The decimals of a type of exact numbers; None for any other type."""
    base = _base(type_name)
    if base in _WHOLE | {"INTEGER", "UINTEGER"}:
        return 0
    scale = type_name.rstrip(") ").rpartition(",")[2].strip()
    return int(scale) if base == "DECIMAL" and scale.isdecimal() else None


def fits_long(type_name: str) -> bool:
    """Whether cells are exact numbers of which every one, in units of its last decimal, is a BIGINT."""
    digits = type_name.partition("(")[2].partition(",")[0].strip()
    if _base(type_name) == "DECIMAL":
        return digits.isdecimal() and int(digits) <= 18
    return is_long(type_name)


def is_long(type_name: str) -> bool:
    """Whether cells are whole numbers by their type, of which every one is a BIGINT."""
    return _base(type_name) in (_WHOLE | {"INTEGER", "UINTEGER"}) - {"HUGEINT", "UHUGEINT", "UBIGINT"}


def is_floating(type_name: str) -> bool:
    """Whether cells are floating-point numbers, of which 0.0 and -0.0 are equal and read otherwise."""
    return _base(type_name) in _FLOATING


def any_null(texts: Sequence[str]) -> str:
    """The predicate that one of several cell texts is NULL (decision 0002: ``nulls = "drop"``)."""
    return "(" + " OR ".join(f"({text}) IS NULL" for text in texts) + ")" if texts else "FALSE"


def _base(type_name: str) -> str:
    if type_name.endswith("]"):
        return LIST
    return type_name.partition("(")[0].strip().upper()
