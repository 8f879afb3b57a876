"""The order of released rows that tells nothing beside them: by their cells.

Rows that tie are the same row, cell for cell. So the order is a function of the released rows as a multiset,
and whoever has these can put them into it: no order of the source survives in it, and nothing of rows that
were left out (docs/decisions/0014). Texts go by their code points, NULL comes last.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from discreet.sql.dialect import Dialect
from discreet.sql.source import group_key, is_floating, is_text

ALIAS = "shown"


def cell_keys(dialect: Dialect, cell: str, type_name: str) -> list[str]:
    """Expressions to sort by, such that cells of a house type that tie in all of them read the same.

    Numbers go by size, 0.0 and -0.0, which are equal, by their texts; what has no order of its own goes by
    its text. A text may come as a type that the house has no name for, which is the empty text.
    """
    if is_floating(type_name):
        return [cell, _bytewise(dialect, f"CASE WHEN {cell} = 0 THEN {dialect.text(cell, type_name)} END")]
    key = group_key(cell, type_name, dialect)
    return [_bytewise(dialect, key) if key != cell or is_text(type_name) else key]


def in_order(dialect: Dialect, keys: Iterable[str]) -> str:
    """The end of a query whose rows are to go by keys, NULL last."""
    listed = list(dict.fromkeys(keys))
    ordered = ", ".join(dialect.nulls_last.format(key) for key in listed)
    return " " + dialect.sorted_rows.format(ordered, ", ".join(listed)) if listed else ""


def sorted_by_cells(
    dialect: Dialect, query: str, types: Sequence[str], names: Sequence[str], first: Sequence[int] = ()
) -> str:
    """The rows of a query by their cells, those of the columns at the places ``first`` before the others.

    ``types`` and ``names`` are those of its columns, by place.
    """
    places = [*first, *(i for i in range(len(types)) if i not in first)]
    keys = [key for i in places for key in cell_keys(dialect, f"{ALIAS}.{names[i]}", types[i])]
    return f"SELECT * FROM ({query}) AS {ALIAS}{in_order(dialect, keys)}"


def _bytewise(dialect: Dialect, text: str) -> str:
    return dialect.binary_order.format(f"({text})")
