"""Spark's data types by the house's names. Loaded at every start by the declaration, so it imports neither
numpy nor pyspark.
"""

from __future__ import annotations

import re
from typing import Any

_HOUSE = {
    "string": "VARCHAR",
    "void": "VARCHAR",
    "boolean": "BOOLEAN",
    "tinyint": "TINYINT",
    "smallint": "SMALLINT",
    "int": "INTEGER",
    "bigint": "BIGINT",
    "float": "FLOAT",
    "double": "DOUBLE",
    "date": "DATE",
    "timestamp_ntz": "TIMESTAMP",
    "timestamp": "TIMESTAMP WITH TIME ZONE",
    "binary": "BLOB",
    "variant": "VARIANT",
}

# How the embedded engine hands a column of one of its types to Spark, where Spark has no such type.
_WIDER = {
    "UTINYINT": "SMALLINT",
    "USMALLINT": "INTEGER",
    "UINTEGER": "BIGINT",
    "UBIGINT": "DECIMAL(20,0)",
    "HUGEINT": "DECIMAL(38,0)",
    "TIMESTAMP_S": "TIMESTAMP",
    "TIMESTAMP_MS": "TIMESTAMP",
}
_SHARED = {*_HOUSE.values()} - {"VARIANT"}


def house_type(kind: Any) -> str:
    """The house's name of a Spark data type; nested ones by their kind alone.

    Types that the house has no name for are text: ``reads_as_text`` says which.
    """
    name: str = kind.simpleString()
    base = re.split(r"[(<]", name, maxsplit=1)[0]
    if base == "decimal":
        return name.upper()
    if base in ("array", "struct", "map"):
        return {"array": "LIST", "struct": "STRUCT", "map": "MAP"}[base]
    return _HOUSE.get(name, "VARCHAR")


def reads_as_text(kind: Any) -> bool:
    """Whether a column of a Spark data type is to be cast to plain text before it is read.

    That is text with a length or a collation of its own, and types without a name of the house's.
    """
    return house_type(kind) == "VARCHAR" and kind.simpleString() != "string"


def transfer_type(house: str) -> str:
    """The type in which the embedded engine hands a column of a house type to Spark."""
    if house in _SHARED or house.startswith("DECIMAL"):
        return house
    return _WIDER.get(house, "VARCHAR")


def is_frame(data: object) -> bool:
    """Whether a table in memory is Spark's."""
    return type(data).__module__.partition(".")[0] == "pyspark"
