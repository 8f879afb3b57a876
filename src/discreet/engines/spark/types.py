"""Spark's data types by house names.

The declaration loads this module at every start, so it imports neither numpy nor pyspark.
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

# Wider types for columns of the embedded engine whose type Spark does not have.
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
    """Return the house type of a Spark data type; nested types have only the name of their kind.

    Types without a house name are ``VARCHAR``: ``reads_as_text`` reports them.
    """
    name: str = kind.simpleString()
    base = re.split(r"[(<]", name, maxsplit=1)[0]
    if base == "decimal":
        return name.upper()
    if base in ("array", "struct", "map"):
        return {"array": "LIST", "struct": "STRUCT", "map": "MAP"}[base]
    return _HOUSE.get(name, "VARCHAR")


def reads_as_text(kind: Any) -> bool:
    """Return True if a column of a Spark data type must be cast to plain text before it is read.

    These are texts with a length or a collation, and types without a house name.
    """
    return house_type(kind) == "VARCHAR" and kind.simpleString() != "string"


def transfer_type(house: str) -> str:
    """Return the type in which the embedded engine passes a column of a house type to Spark."""
    if house in _SHARED or house.startswith("DECIMAL"):
        return house
    return _WIDER.get(house, "VARCHAR")


def is_frame(data: object) -> bool:
    """Return True for a table in memory of a pyspark type."""
    return type(data).__module__.partition(".")[0] == "pyspark"
