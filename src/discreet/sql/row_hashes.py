"""Digests of a table's rows that do not depend on their order.

SHA-256 of the distinct rows with their counts, the same on every engine: rows that agree in all cells but one
column's are hashed together as one line. For comparing two tables of one run, an additive multiset hash
(Clarke, Devadas, van Dijk, Gassend and Suh 2003, section 5), which costs one scan.
"""

from __future__ import annotations

from collections.abc import Sequence

from discreet.sql.cell_expressions import batched, column_name
from discreet.sql.dialect import Dialect

DISTINCT_ROW_COUNT = "n"
"""How often a row is there."""

MOST_LINE_CELLS = 1024
"""How many different cells of a column stand in one line at most."""


def distinct_cell_count(relation: str, key: str, rows: int | None = None) -> str:
    """One row: the number of different cells of a column, counted up to one above ``MOST_CELLS``.

    Where ``rows`` is given, those of as many rows alone, whichever these are: a column that has too many
    cells there has too many. A database groups all rows before it gives the first of the groups.
    """
    seen = f"SELECT {key} AS k FROM {relation}" + ("" if rows is None else f" LIMIT {rows}")
    found = f"SELECT k FROM ({seen}) AS seen GROUP BY k LIMIT {MOST_LINE_CELLS + 1}"
    return f"SELECT count(*) FROM ({found}) AS cells"


def distinct_cell_count_and_length(relation: str, key: str) -> str:
    """As ``distinct_cell_count`` of a column of texts, and their length; NULL where it is not of all, or one
    is NULL.

    In a line texts of one length go in their own order.
    """
    found = (
        f"SELECT k FROM (SELECT {key} AS k FROM {relation}) AS seen GROUP BY k LIMIT {MOST_LINE_CELLS + 1}"
    )
    alike = "CASE WHEN count(k) = count(*) AND min(length(k)) = max(length(k)) THEN min(length(k)) END"
    return f"SELECT count(*), {alike} FROM ({found}) AS cells"


def distinct_row_counts(relation: str, keys: Sequence[str], order: Sequence[int] = ()) -> str:
    """The different rows of a relation, each once: ``c0``, ``c1``, …, and ``n``, how often it is there.

    ``keys`` are expressions over the relation by which cells of one text are equal. Where ``order`` names
    all places, rows are sorted by those before: of rows that lie sorted already nothing is hashed then.
    """
    named = ", ".join(f"{key} AS {column_name(i)}" for i, key in enumerate(keys))
    every = ", ".join(map(column_name, range(len(keys))))
    by = ", ".join(map(column_name, order or range(len(keys))))
    rows = f"SELECT {named} FROM {relation}" + (f" ORDER BY {by}" if order else "")
    return f"SELECT {every}, count(*) AS {DISTINCT_ROW_COUNT} FROM ({rows}) AS r GROUP BY {by}"


def rows_digest(
    dialect: Dialect, counted: str, texts: Sequence[str], together: int | None, entered: Sequence[int] = ()
) -> str:
    """One row with one text: the SHA-256 of rows as a multiset.

    ``counted`` is a relation of ``counted_rows``, ``texts`` are its cells' texts; ``together`` is the place
    of the column whose cells share a line. ``entered`` are the places by which rows are sorted, where that
    one's cells are of ``entry``, and the last to be sorted by.
    """
    told = [length_prefixed(dialect, text) for text in texts]
    if together is None:
        number = dialect.cast(DISTINCT_ROW_COUNT, "VARCHAR")
        hashed = f"SELECT {_digest(dialect).format(' || '.join([*told, number]))} AS h FROM {counted}"
    else:
        places = [i for i in range(len(texts)) if i != together]
        # By the order that rows have: others would have to be hashed or sorted.
        kept = [column_name(i) for i in entered[:-1] or places]
        cell = column_name(together) if entered else told[together]
        entries = f"SELECT {', '.join([*kept, f'{counted_cell(dialect, cell)} AS e'])} FROM {counted}"
        joined = dialect.joined_in_order
        if entered and dialect.joined_as_sorted is not None:
            joined = dialect.joined_as_sorted
            entries += f" ORDER BY {', '.join(map(column_name, entered))}"
        # Hashed where it is grouped: a database may compute a cell again wherever it is named.
        line = line_digest(dialect, [texts[i] for i in places], joined.format("e"))
        grouped = f" GROUP BY {', '.join(kept)}" if kept else " HAVING count(*) > 0"
        hashed = f"SELECT {line} AS h FROM ({entries}) AS p{grouped}"
    return lines_digest(dialect, hashed)


def line_digest(dialect: Dialect, texts: Sequence[str], entries: str) -> str:
    """What is hashed of a line: cells by their ``texts``, and its joined ``entries`` (``numbered``)."""
    return _digest(dialect).format(
        " || ".join([*(length_prefixed(dialect, text) for text in texts), entries])
    )


def _digest(dialect: Dialect) -> str:
    return dialect.sha256 if dialect.hashes is None else dialect.hashes.digest


def counted_cell(dialect: Dialect, cell: str) -> str:
    """An entry of a line: a cell that is ``length_prefixed``, and the number of its rows."""
    return f"{cell} || {dialect.cast(DISTINCT_ROW_COUNT, 'VARCHAR')} || {_END}"


def lines_digest(dialect: Dialect, hashed: str) -> str:
    """One row with one text: the SHA-256 of rows by the ``h`` of each line, which ``hashed`` has."""
    hashes = dialect.hashes
    joined = dialect.joined_in_order.format("h")
    in_part, part, order = joined, "substring(h, 1, 4)", ""
    if hashes is not None:
        # One sort is cheaper than one for each part. It is by part first: so none is put behind it to group.
        in_part, part, order = hashes.joined.format("h"), hashes.part.format("h"), " ORDER BY part, h"
    lines = f"(SELECT h, {part} AS part FROM ({hashed}) AS l{order}) AS x"
    parts = f"SELECT {dialect.sha256.format(in_part)} AS h FROM {lines} GROUP BY part"
    return f"SELECT {dialect.sha256.format(f'coalesce({joined}, {_NOTHING})')} FROM ({parts}) AS p"


_NOTHING, _END = "''", "';'"


def length_prefixed(dialect: Dialect, text: str) -> str:
    """A cell, told apart from its neighbours: ``3:abc``, or ``-`` for NULL."""
    length = dialect.cast(f"length({text})", "VARCHAR")
    return f"coalesce({length} || ':' || {text}, '-') || ','"


def fixed_length_prefixed(length: int, text: str) -> str:
    """``length_prefixed``, of texts of one known length, none of them NULL: they are sorted as what this
    gives.
    """
    return f"'{length}:' || {text} || ','"


def sortable_cell(dialect: Dialect, text: str) -> str:
    """``length_prefixed``, of which no other is the beginning: it is sorted as what stands behind it would
    be.
    """
    return dialect.binary_order.format(f"({length_prefixed(dialect, text)})")


_AT_ONCE = 64
"""PostgreSQL's functions take 100 arguments at most."""


def row_hash(dialect: Dialect, cells: Sequence[str]) -> str:
    """A number for a row of cells, by the engine's own function; cells of one place have one type.

    Of very many cells it is that of the numbers of parts of them: PostgreSQL's rows have 1,664 at most.
    """
    parts = [
        dialect.row_hash.format(", ".join(dialect.hash_cell.format(cell) for cell in part))
        for part in batched(cells)
    ]
    return parts[0] if len(parts) == 1 else dialect.row_hash.format(", ".join(parts))


def one_text_hash(dialect: Dialect, text: str) -> str:
    """As ``row_hash`` of one text, which a database may hash faster than a row of it."""
    phrase = dialect.one_text_hash
    return row_hash(dialect, [text]) if phrase is None else phrase.format(text)


def text_hash(dialect: Dialect, texts: Sequence[str]) -> str:
    """A number for a row of texts, the same in every database."""
    parts = [length_prefixed(dialect, text) for text in texts]
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
