"""Digests of a table's rows that do not depend on their order.

SHA-256 of the distinct rows with their counts, the same on every engine: rows that agree in all cells except
one column's are hashed together as one line. For comparing two tables of one run, an additive multiset hash
(Clarke, Devadas, van Dijk, Gassend and Suh 2003, section 5), which costs one scan. Every function returns SQL
text.
"""

from __future__ import annotations

from collections.abc import Sequence

from discreet.sql.cell_expressions import batched, column_name
from discreet.sql.dialect import Dialect

DISTINCT_ROW_COUNT = "n"
"""Column of a row's number of copies."""

MOST_LINE_CELLS = 1024
"""Most distinct cells of a column in one line."""


def distinct_cell_count(relation: str, key: str, rows: int | None = None) -> str:
    """Select the number of distinct cells of a column, counted up to ``MOST_LINE_CELLS`` + 1.

    With ``rows``, only that many rows are read, in no particular order: a column with too many cells there
    has too many in total. Without it, a database groups all rows before it returns the first group.
    """
    seen = f"SELECT {key} AS k FROM {relation}" + ("" if rows is None else f" LIMIT {rows}")
    found = f"SELECT k FROM ({seen}) AS seen GROUP BY k LIMIT {MOST_LINE_CELLS + 1}"
    return f"SELECT count(*) FROM ({found}) AS cells"


def distinct_cell_count_and_length(relation: str, key: str) -> str:
    """Select ``distinct_cell_count`` of a column of texts, and their common length.

    The length is NULL if texts differ in length or one is NULL. Texts of one length sort in a line in their
    own order.
    """
    found = (
        f"SELECT k FROM (SELECT {key} AS k FROM {relation}) AS seen GROUP BY k LIMIT {MOST_LINE_CELLS + 1}"
    )
    alike = "CASE WHEN count(k) = count(*) AND min(length(k)) = max(length(k)) THEN min(length(k)) END"
    return f"SELECT count(*), {alike} FROM ({found}) AS cells"


def distinct_row_counts(relation: str, keys: Sequence[str], order: Sequence[int] = ()) -> str:
    """Group equal rows of a relation: ``c0``, ``c1``, …, and ``n``, the number of copies.

    ``keys`` are expressions over the relation by which cells of one text are equal. If ``order`` contains all
    indices, rows are sorted by those columns first: an engine then need not hash rows that are already
    sorted.
    """
    named = ", ".join(f"{key} AS {column_name(i)}" for i, key in enumerate(keys))
    every = ", ".join(map(column_name, range(len(keys))))
    by = ", ".join(map(column_name, order or range(len(keys))))
    rows = f"SELECT {named} FROM {relation}" + (f" ORDER BY {by}" if order else "")
    return f"SELECT {every}, count(*) AS {DISTINCT_ROW_COUNT} FROM ({rows}) AS r GROUP BY {by}"


def rows_digest(
    dialect: Dialect, counted: str, texts: Sequence[str], together: int | None, entered: Sequence[int] = ()
) -> str:
    """Select one text: the SHA-256 of rows as a multiset.

    ``counted`` is a relation of ``distinct_row_counts``, ``texts`` are the texts of its cells; ``together``
    is the index of the column whose cells share a line. ``entered`` contains the indices by which rows are
    sorted, if the cells of ``together`` are ``sortable_cell`` and it is the last of them.
    """
    prefixed = [length_prefixed(dialect, text) for text in texts]
    if together is None:
        number = dialect.cast(DISTINCT_ROW_COUNT, "VARCHAR")
        hashed = f"SELECT {_digest(dialect).format(' || '.join([*prefixed, number]))} AS h FROM {counted}"
    else:
        places = [i for i in range(len(texts)) if i != together]
        # In the existing row order: any other would have to be hashed or sorted.
        columns = [column_name(i) for i in entered[:-1] or places]
        cell = column_name(together) if entered else prefixed[together]
        entries = f"SELECT {', '.join([*columns, f'{counted_cell(dialect, cell)} AS e'])} FROM {counted}"
        joined = dialect.joined_in_order
        if entered and dialect.joined_as_sorted is not None:
            joined = dialect.joined_as_sorted
            entries += f" ORDER BY {', '.join(map(column_name, entered))}"
        # Hashed in the grouping query itself: a database may recompute a named cell for each use.
        line = line_digest(dialect, [texts[i] for i in places], joined.format("e"))
        grouped = f" GROUP BY {', '.join(columns)}" if columns else " HAVING count(*) > 0"
        hashed = f"SELECT {line} AS h FROM ({entries}) AS p{grouped}"
    return lines_digest(dialect, hashed)


def line_digest(dialect: Dialect, texts: Sequence[str], entries: str) -> str:
    """Return the digest of a line: cells by their ``texts``, and joined ``entries`` (``counted_cell``)."""
    return _digest(dialect).format(
        " || ".join([*(length_prefixed(dialect, text) for text in texts), entries])
    )


def _digest(dialect: Dialect) -> str:
    return dialect.sha256 if dialect.hashes is None else dialect.hashes.digest


def counted_cell(dialect: Dialect, cell: str) -> str:
    """Return an entry of a line: a cell that is ``length_prefixed``, and the number of its rows."""
    return f"{cell} || {dialect.cast(DISTINCT_ROW_COUNT, 'VARCHAR')} || {_END}"


def lines_digest(dialect: Dialect, hashed: str) -> str:
    """Select one text: the SHA-256 of rows from the digest ``h`` of each line in ``hashed``."""
    hashes = dialect.hashes
    joined = dialect.joined_in_order.format("h")
    in_part, part, order = joined, "substring(h, 1, 4)", ""
    if hashes is not None:
        # One sort is cheaper than one per part; sorted by part first, the grouping needs no further sort.
        in_part, part, order = hashes.joined.format("h"), hashes.part.format("h"), " ORDER BY part, h"
    lines = f"(SELECT h, {part} AS part FROM ({hashed}) AS l{order}) AS x"
    parts = f"SELECT {dialect.sha256.format(in_part)} AS h FROM {lines} GROUP BY part"
    return f"SELECT {dialect.sha256.format(f'coalesce({joined}, {_NOTHING})')} FROM ({parts}) AS p"


_NOTHING, _END = "''", "';'"


def length_prefixed(dialect: Dialect, text: str) -> str:
    """Return a cell delimited from its neighbours: ``3:abc``, or ``-`` for NULL."""
    length = dialect.cast(f"length({text})", "VARCHAR")
    return f"coalesce({length} || ':' || {text}, '-') || ','"


def fixed_length_prefixed(length: int, text: str) -> str:
    """Return ``length_prefixed`` of texts of one known length without NULL, with the same sort order."""
    return f"'{length}:' || {text} || ','"


def sortable_cell(dialect: Dialect, text: str) -> str:
    """Return ``length_prefixed`` as a sort key.

    No such text is a prefix of another, so that it sorts like the line entry that begins with it.
    """
    return dialect.binary_order.format(f"({length_prefixed(dialect, text)})")


_AT_ONCE = 64
"""PostgreSQL's functions take at most 100 arguments."""


def row_hash(dialect: Dialect, cells: Sequence[str]) -> str:
    """Return a hash of a row of cells by the engine's own function; cells of one column have one type.

    Many cells are hashed in batches and then together: a row in PostgreSQL has at most 1,664 columns.
    """
    parts = [
        dialect.row_hash.format(", ".join(dialect.hash_cell.format(cell) for cell in part))
        for part in batched(cells)
    ]
    return parts[0] if len(parts) == 1 else dialect.row_hash.format(", ".join(parts))


def one_text_hash(dialect: Dialect, text: str) -> str:
    """Return ``row_hash`` of one text, which a database may compute faster than that of a row."""
    phrase = dialect.one_text_hash
    return row_hash(dialect, [text]) if phrase is None else phrase.format(text)


def text_hash(dialect: Dialect, texts: Sequence[str]) -> str:
    """Return a hash of a row of texts that is equal in every database."""
    parts = [length_prefixed(dialect, text) for text in texts]
    while len(parts) > 1:
        groups = [parts[i : i + _AT_ONCE] for i in range(0, len(parts), _AT_ONCE)]
        parts = [f"concat({', '.join(group)})" for group in groups]
    return dialect.text_hash.format(parts[0])


def multiset_hash(dialect: Dialect, relation: str, hashed: str) -> str:
    """Select the number of rows, and the sum of their hashes, an expression over the relation."""
    rows = f"SELECT {hashed} AS h FROM {relation}"
    return f"SELECT count(*), {dialect.hash_sum.format('h')} FROM ({rows}) AS r"
