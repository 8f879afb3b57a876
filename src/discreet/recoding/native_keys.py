"""Values of a quasi-identifier as the source's own type: comparing numbers is cheaper than their texts.

Contract: a value is the cell's text, and matches leaves exactly. So a leaf is a value of the type only where
it reads just as the type's canonical text; another one cannot occur in such a column. (Dates that are
infinite or of more than four digits can: where leaves say such, or no date, texts are compared.)
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from datetime import date

import numpy as np
from numpy.typing import NDArray

from discreet.engines.base import SourceTable

_WHOLE = re.compile(r"0|-?[1-9][0-9]{0,18}")
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_DECIMAL = re.compile(r"DECIMAL\(([0-9]+), ?([0-9]+)\)")
_WHOLE_TYPES = {"TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER"}


def native_key(
    table: SourceTable, name: str, leaves: Sequence[str]
) -> tuple[str, str, NDArray[np.bool_]] | None:
    """A column's cell as a house type, that type, and which leaves it can hold; None to compare texts.

    The cell is of the relation's alias ``s``.
    """
    if table.null_values:
        return None
    found = _canonical(table.types[name])
    if found is None:
        return None
    type_name, is_canonical = found
    held = np.fromiter((is_canonical(leaf) for leaf in leaves), dtype=np.bool_, count=len(leaves))
    if type_name == "DATE" and not held.all():
        return None
    cell = table.column(name, "s")
    if type_name != table.types[name]:
        cell = table.dialect.cast(cell, type_name)
    return cell, type_name, held


def _canonical(type_name: str) -> tuple[str, Callable[[str], bool]] | None:
    """The type to compare as, and whether a text is the canonical one of a value of the column's type."""
    if type_name in _WHOLE_TYPES:
        return "BIGINT", lambda text: _WHOLE.fullmatch(text) is not None and -(2**63) <= int(text) < 2**63
    if type_name == "BOOLEAN":
        return type_name, lambda text: text in ("true", "false")
    if type_name == "DATE":
        return type_name, _is_date
    decimal = _DECIMAL.fullmatch(type_name)
    if decimal is None:
        return None
    width, scale = int(decimal.group(1)), int(decimal.group(2))
    return type_name, lambda text: _is_decimal(text, width, scale)


def _is_date(text: str) -> bool:
    if not _DATE.fullmatch(text):
        return False
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return True


def _is_decimal(text: str, width: int, scale: int) -> bool:
    """Whether a text is a number of ``scale`` decimals within ``width`` digits, as casts write it."""
    whole, point, decimals = text.removeprefix("-").partition(".")
    if len(decimals) != scale or bool(point) != bool(scale) or not (whole + decimals).isdecimal():
        return False
    if not (whole + decimals).isascii() or len(whole.lstrip("0")) > width - scale:
        return False
    negative_zero = text.startswith("-") and not (whole + decimals).strip("0")
    if negative_zero or width == scale:
        return not negative_zero and not whole
    return whole == "0" or (bool(whole) and not whole.startswith("0"))
