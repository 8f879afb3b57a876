"""Groups of a query's rows, one at a time, and the parts that come of them put together."""

from __future__ import annotations

from collections.abc import Sequence

from discreet.sql.names import identifier


def one_group(query: str, group: str, number: int) -> str:
    """The rows of one group; ``group`` is the column of group numbers."""
    return f"SELECT * FROM ({query}) AS held WHERE {identifier(group)} = {number}"


def united(tables: Sequence[str], columns: Sequence[str]) -> str:
    """The rows of all of some tables that have the same columns; there is at least one.

    Halves are united first, so that the nesting grows by the logarithm of their number.
    """
    if len(tables) == 1:
        return f"SELECT {', '.join(map(identifier, columns))} FROM {identifier(tables[0])}"
    half = len(tables) // 2
    return f"({united(tables[:half], columns)}) UNION ALL ({united(tables[half:], columns)})"
