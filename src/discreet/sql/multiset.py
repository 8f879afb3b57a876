"""A hash of rows as a multiset: what tells whether two tables have the same rows, whatever their order.

A row's hash depends on every cell and on its place, NULL told apart from every value; the hashes of all rows
are added up (Clarke, Devadas, van Dijk, Gassend and Suh 2003, section 5: additive multiset hashes). Each row
is hashed by a function that is not linear in its cells, so that a value that two rows exchange changes the
sum; the product of two hashes, each of other cells, is such a function. It guards against an engine that
writes something else than it was told, not against somebody who looks for rows of one sum; that is what the
SHA-256 of ``sql.digest`` is for.

Cost: one scan, and one call for each cell. Cells of one engine are hashed as they are, by its own function;
of two engines as canonical texts, by MD5, which both have.
"""

from __future__ import annotations

from collections.abc import Sequence

from discreet.sql.cells import in_parts
from discreet.sql.dialect import Dialect
from discreet.sql.digest import told_apart

_AT_ONCE = 64
"""PostgreSQL's functions take 100 arguments at most."""


def row_hash(dialect: Dialect, cells: Sequence[str]) -> str:
    """A number for a row of cells, by the engine's own function; cells of one place have one type.

    Of very many cells it is that of the numbers of parts of them: PostgreSQL's rows have 1,664 at most.
    """
    parts = [
        dialect.row_hash.format(", ".join(dialect.hash_cell.format(cell) for cell in part))
        for part in in_parts(cells)
    ]
    return parts[0] if len(parts) == 1 else dialect.row_hash.format(", ".join(parts))


def one_text_hash(dialect: Dialect, text: str) -> str:
    """As ``row_hash`` of one text, which a database may hash faster than a row of it."""
    phrase = dialect.one_text_hash
    return row_hash(dialect, [text]) if phrase is None else phrase.format(text)


def text_hash(dialect: Dialect, texts: Sequence[str]) -> str:
    """A number for a row of texts, the same in every database."""
    parts = [told_apart(dialect, text) for text in texts]
    while len(parts) > 1:
        groups = [parts[i : i + _AT_ONCE] for i in range(0, len(parts), _AT_ONCE)]
        parts = [f"concat({', '.join(group)})" for group in groups]
    return dialect.text_hash.format(parts[0])


def multiset_hash(dialect: Dialect, relation: str, hashed: str, number: str | None = None) -> str:
    """One row: how many rows there are, and the sum of their hashes, an expression over the relation.

    A row of the relation stands for as many as its column ``number`` says, where that is given.
    """
    if number is None:
        rows = f"SELECT {hashed} AS h FROM {relation}"
        return f"SELECT count(*), {dialect.hash_sum.format('h')} FROM ({rows}) AS r"
    times = f"{dialect.cast(hashed, 'HUGEINT')} * {number}"
    return f"SELECT sum(n), sum(h) FROM (SELECT {number} AS n, {times} AS h FROM {relation}) AS r"
