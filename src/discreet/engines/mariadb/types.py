"""MariaDB's types by the house's names, as a result's columns tell them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

# Numbers of the protocol's types.
_WHOLE: Mapping[int, str] = {1: "TINYINT", 2: "SMALLINT", 9: "INTEGER", 3: "INTEGER", 8: "BIGINT"}
_OTHER: Mapping[int, str] = {4: "FLOAT", 5: "DOUBLE", 10: "DATE", 14: "DATE", 12: "TIMESTAMP", 13: "SMALLINT"}
_OTHER = {**_OTHER, 7: "TIMESTAMP WITH TIME ZONE", 11: "TIME", 16: "BIT"}
_DECIMAL = (0, 246)
_GEOMETRY = 255
_UNSIGNED, _BINARY_LETTERS, _MOST_DIGITS = 32, 63, 38
_TEXTS = (15, 247, 248, 249, 250, 251, 252, 253, 254)


def house_type(field: Any) -> str:
    """The house's name of a column's type; empty where it has none, and its cells are read as text."""
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


def cell(column: str, house: str) -> tuple[str, str]:
    """How a column of a table is read, in SQL, and the house type of what comes.

    A single-precision number is read as the double that it is: as text the server rounds it to six digits.
    """
    if house == "FLOAT":
        return f"CAST({column} AS DOUBLE)", "DOUBLE"
    if house == "BIT":
        return f"CAST({column} AS UNSIGNED)", "UBIGINT"
    if house in ("VARCHAR", "TIME", ""):
        return f"CONVERT(CAST({column} AS CHAR) USING utf8mb4) COLLATE utf8mb4_nopad_bin", "VARCHAR"
    return column, house
