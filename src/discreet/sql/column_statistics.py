"""Column statistics: values that occur once, and agreement of traits within the values of a key.

Counts rows with a value that no other row has, in the table or within its class, and compares rows within
each value of a presumed person key (linear groupings of one small table). Every function returns SQL text.
"""

from __future__ import annotations

from collections.abc import Sequence

from discreet.sql.cell_expressions import star_predicate, unpivot
from discreet.sql.dialect import Dialect
from discreet.sql.quoting import identifier, numbered

_ONCE = "HAVING count(*) = 1"


def unique_in_table(dialect: Dialect, relation: str, texts: Sequence[str]) -> str:
    """Count the rows whose value occurs once, per column index; columns without such rows have no line.

    A cell of stars is not a value.
    """
    if len(texts) == 1:
        turned = f"SELECT 0 AS place, {texts[0]} AS v FROM {relation}"
    else:
        turned = unpivot(dialect, relation, texts)
    once = f"SELECT place, v FROM ({turned}) AS c WHERE v IS NOT NULL GROUP BY place, v {_ONCE}"
    # Stars are tested after the grouping, on the few values that occur once.
    test = f"NOT {star_predicate('v', dialect)}"
    return f"SELECT place, count(*) FROM ({once}) AS o WHERE {test} GROUP BY place ORDER BY place"


def unique_in_class(dialect: Dialect, relation: str, keys: Sequence[str], text: str) -> str:
    """Count the rows whose value, except stars, occurs once among the rows with equal ``keys``."""
    named = [f"{key} AS k{i}" for i, key in enumerate(keys)]
    rows = f"SELECT {', '.join([*named, f'{text} AS v'])} FROM {relation}"
    grouped = ", ".join([*(f"k{i}" for i in range(len(keys))), "v"])
    once = f"SELECT v FROM ({rows}) AS r WHERE v IS NOT NULL GROUP BY {grouped} {_ONCE}"
    return f"SELECT count(*) FROM ({once}) AS o WHERE NOT {star_predicate('v', dialect)}"


TRAIT_KEY, COMBINATION_ROWS = "x", "n"


trait_name = numbered("t")
"""Column name of a trait in a table of ``combinations``."""


def combinations(relation: str, key: str, traits: Sequence[str]) -> str:
    """Count the rows of each distinct combination of a key and traits (expressions)."""
    cells = [f"{key} AS {TRAIT_KEY}", *(f"{trait} AS {trait_name(i)}" for i, trait in enumerate(traits))]
    names = [TRAIT_KEY, *(trait_name(i) for i in range(len(traits)))]
    listed, rows = ", ".join(names), f"SELECT {', '.join(cells)} FROM {relation}"
    return f"SELECT {listed}, count(*) AS {COMBINATION_ROWS} FROM ({rows}) AS r GROUP BY {listed}"


def key_sizes(table: str) -> str:
    """Select rows without the key, rows with it, its values, and the rows of its most frequent value."""
    sizes = f"SELECT {TRAIT_KEY}, sum({COMBINATION_ROWS}) AS s FROM {identifier(table)} GROUP BY {TRAIT_KEY}"
    return (
        f"SELECT CAST(coalesce(sum(s) FILTER (WHERE {TRAIT_KEY} IS NULL), 0) AS BIGINT), "
        f"CAST(coalesce(sum(s) FILTER (WHERE {TRAIT_KEY} IS NOT NULL), 0) AS BIGINT), count({TRAIT_KEY}), "
        f"CAST(coalesce(max(s) FILTER (WHERE {TRAIT_KEY} IS NOT NULL), 0) AS BIGINT) FROM ({sizes}) AS k"
    )


def agreements(dialect: Dialect, table: str, traits: int) -> str:
    """Select per trait its index, the comparisons within values of the key, and how many of them agree.

    A value with n rows makes n - 1 comparisons, weighted by the share of its pairs of rows that agree.
    """
    n, squares = dialect.cast("m", "DOUBLE"), dialect.cast("q", "DOUBLE")
    counted = " UNION ALL ".join(
        f"SELECT {i} AS place, {TRAIT_KEY}, sum({COMBINATION_ROWS}) AS c FROM {identifier(table)} "
        f"WHERE {TRAIT_KEY} IS NOT NULL AND {trait_name(i)} IS NOT NULL GROUP BY {TRAIT_KEY}, {trait_name(i)}"
        for i in range(traits)
    )
    square = dialect.cast("c", "DOUBLE")
    values = (
        f"SELECT place, {TRAIT_KEY}, sum(c) AS m, sum({square} * {square}) AS q FROM ({counted}) AS c "
        f"GROUP BY place, {TRAIT_KEY}"
    )
    return (
        f"SELECT place, sum({n} - 1), sum(({squares} - {n}) / {n}) FROM ({values}) AS v WHERE m > 1 "
        "GROUP BY place ORDER BY place"
    )


def trait_frequencies(dialect: Dialect, table: str, traits: int) -> str:
    """Select per trait its index, the sum of its values' squared row counts, its rows, and its values."""
    counted = " UNION ALL ".join(
        f"SELECT {i} AS place, sum({COMBINATION_ROWS}) AS c FROM {identifier(table)} "
        f"WHERE {TRAIT_KEY} IS NOT NULL AND {trait_name(i)} IS NOT NULL GROUP BY {trait_name(i)}"
        for i in range(traits)
    )
    square = dialect.cast("c", "DOUBLE")
    return (
        f"SELECT place, sum({square} * {square}), sum({square}), count(*) FROM ({counted}) AS c "
        "GROUP BY place ORDER BY place"
    )


def spread(dialect: Dialect, table: str, index: int) -> str:
    """Select for a numeric trait: rows, sum of squares about the mean, that within the key, key values.

    Only numbers from -1e6 to 1e6 are included.
    """
    number = dialect.try_double.format(trait_name(index))
    rows = (
        f"SELECT {TRAIT_KEY}, a, {COMBINATION_ROWS} FROM (SELECT {TRAIT_KEY}, {number} AS a, "
        f"{COMBINATION_ROWS} FROM {identifier(table)} "
        f"WHERE {TRAIT_KEY} IS NOT NULL) AS r WHERE a BETWEEN -1e6 AND 1e6"
    )
    values = (
        f"SELECT {TRAIT_KEY}, sum({COMBINATION_ROWS}) AS m, sum({COMBINATION_ROWS} * a) AS s, "
        f"sum({COMBINATION_ROWS} * a * a) AS q "
        f"FROM ({rows}) AS a GROUP BY {TRAIT_KEY}"
    )
    m = dialect.cast("sum(m)", "DOUBLE")
    return (
        f"SELECT {m}, sum(q) - sum(s) * sum(s) / nullif({m}, 0), "
        f"sum(CASE WHEN m > 1 THEN q - s * s / m ELSE 0 END), {dialect.cast('count(*)', 'DOUBLE')} "
        f"FROM ({values}) AS v"
    )


def count_combinations(table: str, places: Sequence[int]) -> str:
    """Count the combinations of some traits among rows with a key."""
    names = ", ".join(trait_name(i) for i in places)
    return (
        f"SELECT count(*) FROM (SELECT {names} FROM {identifier(table)} WHERE {TRAIT_KEY} IS NOT NULL "
        f"GROUP BY {names}) AS d"
    )


def value_repetition(dialect: Dialect, relation: str, texts: Sequence[str], *, exact: bool) -> str:
    """Select, per expression, the rows with a value and the number of values, exact or estimated."""
    number = "count(DISTINCT {0})" if exact else dialect.approximate_distinct
    counts = ", ".join(f"count({text}), {number.format(text)}" for text in texts)
    return f"SELECT {counts} FROM {relation}"
