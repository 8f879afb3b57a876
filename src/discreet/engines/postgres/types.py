"""PostgreSQL's types by the house's names, and how their cells are sent."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from psycopg import Column

# The numbers of types that every server has (pg_type.oid).
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
"""How numbers of a house type are sent in binary, as numpy says it."""


def house_type(column: Column) -> str | None:
    """The house's name of a column's type, None where it has none: its cells are read as text."""
    if column.type_code == _NUMERIC:
        precision, scale = column.precision, column.scale
        if precision is None or scale is None or not 0 <= scale <= precision <= _MOST_DIGITS:
            return None
        return f"DECIMAL({precision},{scale})"
    return _HOUSE.get(column.type_code)


def nested_type(category: str) -> str | None:
    """The house's name of a type that holds several values, by its category (``pg_type.typcategory``)."""
    return {_ARRAY: "VARCHAR[]", _COMPOSITE: "STRUCT"}.get(category)
