"""A digest of a table's rows, whatever their order: computed in the database, the same in each.

Each distinct row (its cells' canonical texts, each with its length before it) is hashed together with the
number of times that it occurs; the hashes are sorted, put together and hashed again, in 65,536 parts so that
no text becomes too long.

Cost: one GROUP BY of all columns, and a sort of the hashes of distinct rows.
"""

from __future__ import annotations

from collections.abc import Sequence

from discreet.sql.dialect import Dialect


def rows_digest(dialect: Dialect, relation: str, texts: Sequence[str]) -> str:
    """One row with one text: the SHA-256 of rows as a multiset; ``texts`` are the cells' texts in SQL."""
    names = [f"t{i}" for i in range(len(texts))]
    cells = ", ".join(f"{text} AS {name}" for text, name in zip(texts, names, strict=True))
    keys = ", ".join(names)
    counted = f"SELECT {keys}, count(*) AS n FROM (SELECT {cells} FROM {relation}) AS r GROUP BY {keys}"
    row = " || ".join([*(_cell(dialect, name) for name in names), dialect.cast("n", "VARCHAR")])
    hashed = f"SELECT {dialect.sha256.format(row)} AS h FROM ({counted}) AS c"
    joined = dialect.joined_in_order.format("h")
    parts = f"SELECT {dialect.sha256.format(joined)} AS h FROM ({hashed}) AS x GROUP BY substring(h, 1, 4)"
    return f"SELECT {dialect.sha256.format(f'coalesce({joined}, {_NOTHING})')} FROM ({parts}) AS p"


_NOTHING = "''"


def _cell(dialect: Dialect, text: str) -> str:
    """A cell, told apart from its neighbours: ``3:abc``, or ``-`` for NULL."""
    length = dialect.cast(f"length({text})", "VARCHAR")
    return f"coalesce({length} || ':' || {text}, '-') || ','"
