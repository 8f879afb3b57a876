"""Released rows of held rows and arrays that stand side by side: nothing is joined, all is counted after."""

from __future__ import annotations

from collections.abc import Sequence

from discreet.sql.dialect import Dialect
from discreet.sql.multiset import multiset_hash, row_hash
from discreet.sql.names import identifier
from discreet.sql.permuted import GROUP, ROW, STORED_ROW, VALUE


def rows_beside(held: str, move: str, kept: Sequence[str], value: str) -> str:
    """As ``moved_rows``, of a ``move`` that has every held row's group and ``moved_value``, in their order.

    Tables are read side by side, and nothing is joined; a row that would stand beside another's is left out.
    """
    columns = "".join(f"h.{column} AS {column}, " for column in kept)
    return (
        f"SELECT {columns}CAST(m.{GROUP} AS BIGINT) AS {GROUP}, {value} AS {VALUE} "
        f"FROM {identifier(held)} AS h POSITIONAL JOIN {identifier(move)} AS m "
        f"WHERE h.{STORED_ROW} = m.{ROW}"
    )


def values_alike(dialect: Dialect, held: str, value: str, moved: str, released: str, house: str) -> str:
    """One row: how many rows are released, and whether they have just the values that the held ones have."""

    def of(table: str, column: str) -> str:
        return multiset_hash(dialect, identifier(table), row_hash(dialect, [dialect.cast(column, house)]))

    return (
        f"SELECT a.n, a.n = b.n AND a.h IS NOT DISTINCT FROM b.h FROM ({of(moved, released)}) AS a(n, h) "
        f"CROSS JOIN ({of(held, value)}) AS b(n, h)"
    )
