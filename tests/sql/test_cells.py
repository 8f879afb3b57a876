"""Columns turned into rows: the cells, their owners, and the batch size."""

import duckdb

from discreet.sql.cell_expressions import batched, unpivot
from discreet.sql.dialect import DUCKDB


def test_every_cell_has_the_place_of_its_column() -> None:
    table = "(VALUES ('a', NULL, 'x'), ('b', 'b', '*')) AS t(p, q, r)"
    found = duckdb.sql(unpivot(DUCKDB, table, ["p", "q", "r"])).fetchall()
    assert sorted(found, key=str) == [(0, "a"), (0, "b"), (1, "b"), (1, None), (2, "*"), (2, "x")]


def test_parts_are_all_columns_in_their_order() -> None:
    assert [list(part) for part in batched(range(7), 3)] == [[0, 1, 2], [3, 4, 5], [6]]
    assert list(batched([], 3)) == []
