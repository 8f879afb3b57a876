"""SQL that counts rows whose value of a column no other row has, in a table or in a class of it."""

from __future__ import annotations

from collections.abc import Sequence

from discreet.sql.cells import cells
from discreet.sql.dialect import Dialect
from discreet.sql.starred_cells import is_star

_ONCE = "HAVING count(*) = 1"


def alone_in_table(dialect: Dialect, relation: str, texts: Sequence[str]) -> str:
    """Per column: its place, and the rows whose value occurs once; no line for a column without such.

    A cell of stars is no value.
    """
    if len(texts) == 1:
        turned = f"SELECT 0 AS place, {texts[0]} AS v FROM {relation}"
    else:
        turned = cells(dialect, relation, texts)
    once = f"SELECT place, v FROM ({turned}) AS c WHERE v IS NOT NULL GROUP BY place, v {_ONCE}"
    # Stars are looked for behind the grouping, among the few values that occur once.
    test = f"NOT {is_star('v', dialect)}"
    return f"SELECT place, count(*) FROM ({once}) AS o WHERE {test} GROUP BY place ORDER BY place"


def alone_in_class(dialect: Dialect, relation: str, keys: Sequence[str], text: str) -> str:
    """The rows whose value of a column, no star, occurs once among the rows that have the same ``keys``."""
    named = [f"{key} AS k{i}" for i, key in enumerate(keys)]
    rows = f"SELECT {', '.join([*named, f'{text} AS v'])} FROM {relation}"
    grouped = ", ".join([*(f"k{i}" for i in range(len(keys))), "v"])
    once = f"SELECT v FROM ({rows}) AS r WHERE v IS NOT NULL GROUP BY {grouped} {_ONCE}"
    return f"SELECT count(*) FROM ({once}) AS o WHERE NOT {is_star('v', dialect)}"
