"""Counting the distinct sensitive values of a published table's classes where there are few different ones.

Each value gets a bit of a whole number; the bits that occur in a class are or-ed as its rows are counted, so
one grouping by the quasi-identifiers tells both, in place of a second one by the value too. Every builder
returns a SELECT; what stands for published rows is a query as of ``sql.verify.rows_of``.
"""

from __future__ import annotations

from collections.abc import Sequence

from discreet.sql.dialect import Dialect
from discreet.sql.names import identifier
from discreet.sql.source import canonical_text
from discreet.sql.starred_cells import holds_stars, is_star
from discreet.sql.verify import ONE_BY_ONE, Counting, counted_rows, key, value

MOST_VALUES = 62
"""As many bits as a 64-bit number has beside its sign, but one."""


def values_of_some(rows: str, index: int, number: int) -> str:
    """How many different cells an attribute has in as many rows, whichever come first."""
    v = value(index)
    some = f"SELECT {v} FROM ({rows}) AS published LIMIT {number}"
    return f"SELECT count(*) FROM (SELECT DISTINCT {v} FROM ({some}) AS some_rows) AS found"


def value_bits(
    dialect: Dialect, rows: str, index: int, type_name: str, counting: Counting = ONE_BY_ONE
) -> str:
    """The different cells ``v`` of an attribute, NULL left out, their rows ``n``, and a ``bit`` for each.

    A bit is a power of two; NULL for a cell of stars, which is no value; and 0 for cells beyond
    ``MOST_VALUES``: the table serves only where ``too_many`` finds none. ``type_name`` is the cells'.
    """
    cells = _different(rows, index, counting)
    numbered = f"SELECT v, n, row_number() OVER ({dialect.any_order}) AS i FROM ({cells}) AS cells"
    bit = dialect.cast("power(2, i - 1)", "BIGINT")
    star = ""
    if holds_stars(type_name):
        star = f"WHEN {is_star(canonical_text('v', type_name, dialect), dialect)} THEN NULL "
    return (
        f"SELECT v, n, CASE {star}WHEN i <= {MOST_VALUES} THEN {bit} ELSE 0 END AS bit "
        f"FROM ({numbered}) AS numbered"
    )


def values_with_rows(dialect: Dialect, bits: str, type_name: str) -> str:
    """The texts of a table of ``value_bits``, and the rows of each."""
    return f"SELECT {canonical_text('v', type_name, dialect)}, n FROM {identifier(bits)}"


def different_values(rows: str, index: int, counting: Counting = ONE_BY_ONE) -> str:
    """The different cells of an attribute and their rows, NULL left out, one more than have a bit at most."""
    return f"SELECT v, n FROM ({_different(rows, index, counting)}) AS cells LIMIT {MOST_VALUES + 1}"


def _different(rows: str, index: int, counting: Counting) -> str:
    v = value(index)
    # Starred rows are among them: to leave them out, every column would have to be read.
    cells = f"({rows}) AS published WHERE {v} IS NOT NULL"
    return f"SELECT {v} AS v, {counting.rows} AS n FROM {cells} GROUP BY {v}"


def too_many(bits: str) -> str:
    """How many cells of a table of ``value_bits`` have no bit."""
    return f"SELECT count(*) FROM {identifier(bits)} WHERE bit = 0"


def classes_by_bits(
    dialect: Dialect,
    rows: str,
    key_texts: Sequence[str],
    bits: Sequence[str],
    counting: Counting = ONE_BY_ONE,
) -> str:
    """The classes as of ``sql.verify.classes_table``; ``bits`` names each attribute's table of bits."""
    total = ", h" if counting.summed else ""
    keys = [key(i) for i in range(len(key_texts))]
    grouped = ", ".join(f"t.{name}" for name in ("starred", *keys))
    found = "".join(f", bit_or(b{i}.bit) AS e{i}" for i in range(len(bits)))
    joins = " ".join(
        f"LEFT JOIN {identifier(table)} AS b{i} ON t.{value(i)} = b{i}.v" for i, table in enumerate(bits)
    )
    counted = (
        f"SELECT {grouped}, {counted_rows(counting)}{found} FROM ({rows}) AS t {joins} GROUP BY {grouped}"
    )
    shown = ", ".join(f"{text} AS {name}" for text, name in zip(key_texts, keys, strict=True))
    distinct = "".join(
        f", CAST(coalesce({dialect.bit_count.format(f'e{i}')}, 0) AS BIGINT) AS d{i}"
        for i in range(len(bits))
    )
    return f"SELECT starred, {shown}, n, n AS size{distinct}{total} FROM ({counted}) AS counted"
