"""SQL that counts how far traits agree within the values of a key: linear groupings of one small table."""

from __future__ import annotations

from collections.abc import Sequence

from discreet.sql.dialect import Dialect
from discreet.sql.names import identifier

KEY, ROWS = "x", "n"


def trait_name(place: int) -> str:
    """The column of a trait in a table of ``combinations``."""
    return f"t{place}"


def combinations(relation: str, key: str, traits: Sequence[str]) -> str:
    """The distinct combinations of a key and traits (expressions) with their numbers of rows."""
    cells = [f"{key} AS {KEY}", *(f"{trait} AS {trait_name(i)}" for i, trait in enumerate(traits))]
    names = [KEY, *(trait_name(i) for i in range(len(traits)))]
    listed, rows = ", ".join(names), f"SELECT {', '.join(cells)} FROM {relation}"
    return f"SELECT {listed}, count(*) AS {ROWS} FROM ({rows}) AS r GROUP BY {listed}"


def key_sizes(table: str) -> str:
    """Rows without the key; rows with it; its values; the rows of the most frequent one."""
    sizes = f"SELECT {KEY}, sum({ROWS}) AS s FROM {identifier(table)} GROUP BY {KEY}"
    return (
        f"SELECT CAST(coalesce(sum(s) FILTER (WHERE {KEY} IS NULL), 0) AS BIGINT), "
        f"CAST(coalesce(sum(s) FILTER (WHERE {KEY} IS NOT NULL), 0) AS BIGINT), count({KEY}), "
        f"CAST(coalesce(max(s) FILTER (WHERE {KEY} IS NOT NULL), 0) AS BIGINT) FROM ({sizes}) AS k"
    )


def agreements(dialect: Dialect, table: str, traits: int) -> str:
    """Per trait: its place, the comparisons within values of the key, and how many of them agree.

    A value with n rows makes n - 1 comparisons, of which the share of its pairs of rows that agree do.
    """
    n, squares = dialect.cast("m", "DOUBLE"), dialect.cast("q", "DOUBLE")
    counted = " UNION ALL ".join(
        f"SELECT {i} AS place, {KEY}, sum({ROWS}) AS c FROM {identifier(table)} "
        f"WHERE {KEY} IS NOT NULL AND {trait_name(i)} IS NOT NULL GROUP BY {KEY}, {trait_name(i)}"
        for i in range(traits)
    )
    square = dialect.cast("c", "DOUBLE")
    values = (
        f"SELECT place, {KEY}, sum(c) AS m, sum({square} * {square}) AS q FROM ({counted}) AS c "
        f"GROUP BY place, {KEY}"
    )
    return (
        f"SELECT place, sum({n} - 1), sum(({squares} - {n}) / {n}) FROM ({values}) AS v WHERE m > 1 "
        "GROUP BY place ORDER BY place"
    )


def chances(dialect: Dialect, table: str, traits: int) -> str:
    """Per trait: its place, the sum of its values' squared rows, its rows, and its number of values."""
    counted = " UNION ALL ".join(
        f"SELECT {i} AS place, sum({ROWS}) AS c FROM {identifier(table)} "
        f"WHERE {KEY} IS NOT NULL AND {trait_name(i)} IS NOT NULL GROUP BY {trait_name(i)}"
        for i in range(traits)
    )
    square = dialect.cast("c", "DOUBLE")
    return (
        f"SELECT place, sum({square} * {square}), sum({square}), count(*) FROM ({counted}) AS c "
        "GROUP BY place ORDER BY place"
    )


def spread(dialect: Dialect, table: str, place: int) -> str:
    """Of a trait of numbers: rows with one, its sum of squares around the mean, and that within the key."""
    number = dialect.try_double.format(trait_name(place))
    rows = (
        f"SELECT {KEY}, a, {ROWS} FROM (SELECT {KEY}, {number} AS a, {ROWS} FROM {identifier(table)} "
        f"WHERE {KEY} IS NOT NULL) AS r WHERE a BETWEEN -1e6 AND 1e6"
    )
    values = (
        f"SELECT {KEY}, sum({ROWS}) AS m, sum({ROWS} * a) AS s, sum({ROWS} * a * a) AS q "
        f"FROM ({rows}) AS a GROUP BY {KEY}"
    )
    m = dialect.cast("sum(m)", "DOUBLE")
    return (
        f"SELECT {m}, sum(q) - sum(s) * sum(s) / nullif({m}, 0), "
        f"sum(CASE WHEN m > 1 THEN q - s * s / m ELSE 0 END), {dialect.cast('count(*)', 'DOUBLE')} "
        f"FROM ({values}) AS v"
    )


def different(table: str, places: Sequence[int]) -> str:
    """The number of combinations of some traits among rows with a key."""
    names = ", ".join(trait_name(i) for i in places)
    return (
        f"SELECT count(*) FROM (SELECT {names} FROM {identifier(table)} WHERE {KEY} IS NOT NULL "
        f"GROUP BY {names}) AS d"
    )


def repeats(dialect: Dialect, relation: str, texts: Sequence[str], *, exact: bool) -> str:
    """Rows with a value and the number of values, or an estimate of it, one pair per expression."""
    number = "count(DISTINCT {0})" if exact else dialect.approximate_distinct
    counts = ", ".join(f"count({text}), {number.format(text)}" for text in texts)
    return f"SELECT {counts} FROM {relation}"
