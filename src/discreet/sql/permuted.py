"""A table whose sensitive values are permuted within groups: held rows, codes of values, released rows.

The *held table* has one row per row of the source (after the NULL policy), numbered by ``row``: leaf codes of
the quasi-identifiers (``q0``, …) and the cells of other columns (``o0``, …). The *move* says of each row its
group and from which row it gets its sensitive value. Both numberings end here: released rows have neither.
"""

from __future__ import annotations

from collections.abc import Sequence

from discreet.sql.names import identifier, literal
from discreet.sql.recode import POSITION, SORT_KEYS, key_name

ROW, SOURCE, GROUP, VALUE = "row_number", "source_row", "group_number", "moved_value"
TEXT, CODE, NUMBER = "text", "code", "number"
EXACT_DIGITS = 38

_PLAIN = r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)"
_ANY = _PLAIN + r"([eE][+-]?[0-9]{1,3})?"


def held_table(name: str, coded: str) -> str:
    """Create the held table from a coded table (``sql.recode.coded_table``), its rows numbered from 0."""
    rows = f"SELECT row_number() OVER () - 1 AS {ROW}, * FROM {identifier(coded)}"
    return f"CREATE TEMP TABLE {identifier(name)} AS {rows}"


def leaf_codes(held: str, keys: int) -> str:
    """The leaf codes of every row, in no order: ``row_number``, ``q0``, …"""
    codes = ", ".join(f"CAST({key_name(i)} AS INTEGER) AS {key_name(i)}" for i in range(keys))
    return f"SELECT {ROW}, {codes} FROM {identifier(held)}"


def distinct_texts(name: str, held: str, text: str) -> str:
    """Create the table of distinct texts of a column, NULL left out."""
    texts = f"SELECT DISTINCT {text} AS {TEXT} FROM {identifier(held)}"
    return f"CREATE TEMP TABLE {identifier(name)} AS SELECT * FROM ({texts}) WHERE {TEXT} IS NOT NULL"


def kinds_of_texts(texts: str) -> str:
    """One row: texts, plain decimals among them, numbers of any form, most decimals, most whole digits."""
    number = f"trim({TEXT})"
    plain = f"regexp_full_match({number}, {literal(_PLAIN)})"
    any_form = f"regexp_full_match({number}, {literal(_ANY)}) AND isfinite(TRY_CAST({number} AS DOUBLE))"
    whole = f"length(ltrim(split_part({number}, '.', 1), '+-0'))"
    return (
        f"SELECT count(*), count(*) FILTER (WHERE {plain}), count(*) FILTER (WHERE {any_form}), "
        f"coalesce(max(length(split_part({number}, '.', 2))) FILTER (WHERE {plain}), 0), "
        f"coalesce(max({whole}) FILTER (WHERE {plain}), 0) FROM {identifier(texts)}"
    )


def number_of(text: str, scale: int | None) -> str:
    """The number that a cell's text says: exact with ``scale`` decimals, or a double where it is None."""
    return f"CAST(trim({text}) AS {number_type(scale)})"


def number_type(scale: int | None) -> str:
    """The type that exact numbers of so many decimals are computed with, or doubles."""
    return "DOUBLE" if scale is None else f"DECIMAL({EXACT_DIGITS}, {scale})"


def widest_number(texts: str, scale: int) -> str:
    """One row: the largest magnitude of the exact numbers, as a decimal."""
    return f"SELECT max(abs({number_of(TEXT, scale)})) FROM {identifier(texts)}"


def codes_by_number(name: str, texts: str, scale: int | None) -> str:
    """Create the table of texts with codes from 0 in the order of their numbers; equal numbers share one.

    A negative zero is the zero.
    """
    number = f"{number_of(TEXT, scale)} + 0"
    ranked = f"dense_rank() OVER (ORDER BY {NUMBER}) - 1"
    return (
        f"CREATE TEMP TABLE {identifier(name)} AS SELECT {TEXT}, {NUMBER}, {ranked} AS {CODE} "
        f"FROM (SELECT {TEXT}, {number} AS {NUMBER} FROM {identifier(texts)})"
    )


def codes_by_text(name: str, texts: str) -> str:
    """Create the table of texts with codes from 0 in the order of the texts."""
    ranked = f"row_number() OVER (ORDER BY {TEXT}) - 1"
    return (
        f"CREATE TEMP TABLE {identifier(name)} AS SELECT {TEXT}, {ranked} AS {CODE} FROM {identifier(texts)}"
    )


def texts_by_code(codes: str) -> str:
    """One text of each code, by code."""
    return f"SELECT min({TEXT}) AS {TEXT} FROM {identifier(codes)} GROUP BY {CODE} ORDER BY {CODE}"


def numbers_by_code(codes: str, scale: int | None) -> str:
    """The number of each code, by code: whole numbers in units of the last decimal, or doubles."""
    number = f"min({NUMBER})"
    if scale is not None:
        kept = f"CAST({number} AS DECIMAL({EXACT_DIGITS}, {scale}))"
        number = f"CAST(replace(CAST({kept} AS VARCHAR), '.', '') AS BIGINT)"
    return f"SELECT {number} AS {NUMBER} FROM {identifier(codes)} GROUP BY {CODE} ORDER BY {CODE}"


def codes_of_rows(held: str, text: str, codes: str) -> str:
    """The code of every row's text, -1 for NULL, in no order: ``row_number``, ``code``."""
    return (
        f"SELECT h.{ROW} AS {ROW}, coalesce(c.{CODE}, -1) AS {CODE} "
        f"FROM (SELECT {ROW}, {text} AS {TEXT} FROM {identifier(held)}) AS h "
        f"LEFT JOIN {identifier(codes)} AS c ON h.{TEXT} = c.{TEXT}"
    )


def other_texts(held: str, column: str) -> str:
    """One row: cells of a column of texts, and those that are not just what a whole number reads as."""
    same = f"CAST(TRY_CAST({column} AS BIGINT) AS VARCHAR) IS NOT DISTINCT FROM {column}"
    return f"SELECT count({column}), count({column}) FILTER (WHERE NOT ({same})) FROM {identifier(held)}"


def moved_rows(name: str, held: str, move: str, kept: Sequence[str], value: str) -> str:
    """Create the table of released rows before they are shuffled: ``kept`` columns, group and moved value.

    ``move`` has ``row_number``, ``source_row`` and ``group_number``; ``value`` is an expression over the held
    table. Rows that are not in ``move`` are left out.
    """
    columns = "".join(f"h.{column} AS {column}, " for column in kept)
    values = f"SELECT {ROW}, {value} AS {VALUE} FROM {identifier(held)}"
    return (
        f"CREATE TEMP TABLE {identifier(name)} AS SELECT {columns}m.{GROUP} AS {GROUP}, s.{VALUE} AS {VALUE} "
        f"FROM {identifier(move)} AS m JOIN {identifier(held)} AS h ON h.{ROW} = m.{ROW} "
        f"JOIN ({values}) AS s ON s.{ROW} = m.{SOURCE}"
    )


def rows_without_value(moved: str) -> str:
    """The released rows whose sensitive value is NULL."""
    return f"SELECT count(*) - count({VALUE}) FROM {identifier(moved)}"


def values_table(name: str, moved: str) -> str:
    """Create the table of groups and sensitive values alone."""
    rows = f"SELECT {GROUP}, {VALUE} FROM {identifier(moved)}"
    return f"CREATE TEMP TABLE {identifier(name)} AS {rows}"


def shuffled_rows(table: str, columns: Sequence[str], labels: Sequence[tuple[int, str]]) -> str:
    """The rows of a table with sort keys, in their order.

    ``columns`` are expressions over the rows ``t`` and the tables of labels ``l0``, ``l1``, … by
    quasi-identifier. Labels are joined to the rows in their new order only.
    """
    named = ", ".join(f"{column} AS c{i}" for i, column in enumerate(columns))
    order = ", ".join(f"t.{key}" for key in SORT_KEYS)
    joins = " ".join(
        f"LEFT JOIN {identifier(texts)} AS l{i} ON t.{key_name(i)} = l{i}.{POSITION}" for i, texts in labels
    )
    return f"SELECT {named} FROM (SELECT t.* FROM {identifier(table)} AS t ORDER BY {order}) AS t {joins}"


def failing_groups(moved: str, number: str | None, k: int, e: str) -> str:
    """One row: groups, groups that fail, fewest rows, fewest distinct values, smallest range.

    ``number`` is the value's number, an expression over the released rows; None where values are no numbers,
    which have no range. ``e`` is a literal of the number's type.
    """
    value = number or f"CAST({VALUE} AS VARCHAR)"
    width = "max(v) - min(v)" if number else "NULL"
    groups = (
        f"SELECT count(*) AS n, count(DISTINCT v) AS d, {width} AS w "
        f"FROM (SELECT {GROUP}, {value} AS v FROM {identifier(moved)}) GROUP BY {GROUP}"
    )
    narrow = f" OR coalesce(w < {e}, TRUE)" if number else ""
    return f"SELECT count(*), count(*) FILTER (WHERE d < {k}{narrow}), min(n), min(d), min(w) FROM ({groups})"
