"""Counting a published table again, for the audit alone.

Written apart from the counting of the search and of the recoding, so that two independent paths must agree:
here a published row is its cells' texts, one GROUP BY makes the classes (NULLs together), and distinct values
are counted by the engine's own aggregate.
"""

from __future__ import annotations

from collections.abc import Sequence

from discreet.sql.names import identifier, literal, qualified

STAR = "*"


def key(index: int) -> str:
    """The column of a quasi-identifier in the tables made here."""
    return f"q{index}"


def value(index: int) -> str:
    """The column of a sensitive attribute."""
    return f"s{index}"


def rows_of(
    relation: str, keys: Sequence[str], values: Sequence[str], every: Sequence[str], *, starred_apart: bool
) -> str:
    """The published rows as texts: quasi-identifiers, sensitive attributes, and ``starred``.

    ``every`` are the texts of all columns: a row is starred where each of them is ``*``.
    """
    star = " AND ".join(f"coalesce({text} = {literal(STAR)}, FALSE)" for text in every)
    columns = [f"{text} AS {key(i)}" for i, text in enumerate(keys)]
    columns += [f"{text} AS {value(i)}" for i, text in enumerate(values)]
    columns.append(f"{star if starred_apart else 'FALSE'} AS starred")
    return f"SELECT {', '.join(columns)} FROM {relation}"


def witness_rows(relation: str, columns: Sequence[str], keys: int, *, starred_apart: bool) -> str:
    """The rows of a file of subjects, by its columns in order: those of ``rows_of``, and the subject."""
    names = [key(i) for i in range(keys)] + [value(i) for i in range(len(columns) - keys - 2)]
    named = [f"{column} AS {name}" for column, name in zip(columns, [*names, "subject"], strict=False)]
    star = f"{columns[-1]} = 'true'" if starred_apart else "FALSE"
    return f"SELECT {', '.join(named)}, {star} AS starred FROM {relation}"


def unlike_rows(rows: str, witness: str, keys: int, values: int) -> str:
    """How many distinct rows two tables have in different numbers; 0 where they hold the same rows."""
    columns = ", ".join([*map(key, range(keys)), *map(value, range(values))])
    both = " UNION ALL ".join(
        f"SELECT {columns}, {sign} AS n FROM ({table}) WHERE NOT starred"
        for table, sign in ((rows, 1), (witness, -1))
    )
    return f"SELECT count(*) FROM (SELECT sum(n) AS n FROM ({both}) GROUP BY {columns}) WHERE n <> 0"


def classes_table(name: str, rows: str, keys: int, values: int, *, subjects: bool = False) -> str:
    """Create the table of equivalence classes, the starred rows as one line of their own.

    Columns: ``id``, ``q…``, ``starred``, ``n`` (rows), ``size`` (what k counts: rows, or subjects) and ``d…``
    (distinct sensitive values, NULL is none; with subjects at most the subjects that have one).
    """
    columns = ", ".join(["starred", *map(key, range(keys))])
    size = "count(DISTINCT subject)" if subjects else "count(*)"
    counts = [f"count(DISTINCT {value(i)})" for i in range(values)]
    if subjects:
        carriers = "count(DISTINCT subject) FILTER (WHERE {} IS NOT NULL)"
        counts = [f"least({n}, {carriers.format(value(i))})" for i, n in enumerate(counts)]
    distinct = "".join(f", {n} AS d{i}" for i, n in enumerate(counts))
    return (
        f"CREATE TEMP TABLE {identifier(name)} AS SELECT row_number() OVER () AS id, * FROM ("
        f"SELECT {columns}, count(*) AS n, {size} AS size{distinct} FROM ({rows}) GROUP BY {columns})"
    )


def totals(classes: str, values: int) -> str:
    """One row: rows, classes, smallest class, starred rows, then the smallest number of each attribute."""
    least = "".join(f", coalesce(min(d{i}) FILTER (WHERE NOT starred), 0)" for i in range(values))
    return (
        "SELECT coalesce(sum(n) FILTER (WHERE NOT starred), 0)::BIGINT, count(*) FILTER (WHERE NOT starred), "
        "coalesce(min(size) FILTER (WHERE NOT starred), 0), "
        f"coalesce(sum(n) FILTER (WHERE starred), 0)::BIGINT{least} FROM {identifier(classes)}"
    )


def count_starred(rows: str) -> str:
    """The number of starred rows among published rows."""
    return f"SELECT count(*) FROM ({rows}) WHERE starred"


def class_sizes(classes: str) -> str:
    """Each size of a class and the number of classes of that size, ascending."""
    return f"SELECT size, count(*) FROM {identifier(classes)} WHERE NOT starred GROUP BY size ORDER BY size"


def failing(k: int | None, thresholds: Sequence[int | None]) -> str:
    """The predicate that a class fails ``k`` or one of the thresholds of l."""
    tests = [] if k is None else [f"size < {k}"]
    tests += [f"d{i} < {l}" for i, l in enumerate(thresholds) if l is not None]
    return f"NOT starred AND ({' OR '.join(tests) or 'FALSE'})"


def count_classes(classes: str, predicate: str) -> str:
    """The number of classes for which a predicate holds."""
    return f"SELECT count(*) FROM {identifier(classes)} WHERE {predicate}"


def list_classes(classes: str, predicate: str, keys: int, limit: int) -> str:
    """Rows and published values of classes, the smallest first, ties by their values."""
    columns = ", ".join(map(key, range(keys)))
    order = ", ".join(f"{key(i)} ASC NULLS FIRST" for i in range(keys))
    return (
        f"SELECT n, {columns} FROM {identifier(classes)} WHERE {predicate} ORDER BY n, {order} LIMIT {limit}"
    )


def distinct_texts(relation: str, texts: Sequence[str], every: Sequence[str], *, exact: bool) -> str:
    """One row: the number of distinct texts per column, rows in which every cell is ``*`` left out."""
    star = " AND ".join(f"coalesce({text} = {literal(STAR)}, FALSE)" for text in every)
    count = "count(DISTINCT {})" if exact else "approx_count_distinct({})"
    return f"SELECT {', '.join(count.format(text) for text in texts)} FROM {relation} WHERE NOT ({star})"


def shared_pairs(name: str, rows: str, classes: str, keys: int, index: int, most: int) -> str:
    """Create the table ``id, v, u`` of values and subjects of the classes in which both recur.

    At most ``most`` subjects of a value and values of a subject are kept: more never help to match that many.
    """
    same = " AND ".join(f"r.{key(i)} IS NOT DISTINCT FROM c.{key(i)}" for i in range(keys))
    pairs = (
        f"SELECT DISTINCT c.id, r.{value(index)} AS v, r.subject AS u FROM ({rows}) AS r "
        f"JOIN {identifier(classes)} AS c ON {same} "
        f"WHERE NOT r.starred AND NOT c.starred AND r.{value(index)} IS NOT NULL AND r.subject IS NOT NULL"
    )
    recurring = "count(*) > count(DISTINCT v) AND count(*) > count(DISTINCT u)"
    shared = f"SELECT * FROM pairs WHERE id IN (SELECT id FROM pairs GROUP BY id HAVING {recurring})"
    by_value = f"SELECT id, v, unnest(min(u, {most})) AS u FROM shared GROUP BY id, v"
    by_subject = f"SELECT id, unnest(min(v, {most})) AS v, u FROM by_value GROUP BY id, u"
    return (
        f"CREATE TEMP TABLE {identifier(name)} AS WITH pairs AS MATERIALIZED ({pairs}), "
        f"shared AS ({shared}), by_value AS ({by_value}) {by_subject}"
    )


def drop_rich_classes(pairs: str, most: int) -> str:
    """Drop the pairs of classes that have more than ``most - 1`` values and subjects can cover (König)."""
    rich = f"SELECT id FROM {identifier(pairs)} GROUP BY id HAVING count(*) > {most * (most - 1)}"
    return f"DELETE FROM {identifier(pairs)} WHERE id IN ({rich})"


def class_numbers(pairs: str) -> str:
    """The classes of a table of pairs and the number of pairs of each, by ``id``."""
    return f"SELECT id, count(*) AS n FROM {identifier(pairs)} GROUP BY id ORDER BY id"


def pairs_between(pairs: str, first: int, last: int) -> str:
    """The pairs of a range of classes as numbers, class by class."""
    return (
        "SELECT id, dense_rank() OVER (PARTITION BY id ORDER BY v) AS v, "
        f"dense_rank() OVER (PARTITION BY id ORDER BY u) AS u FROM {identifier(pairs)} "
        f"WHERE id BETWEEN {first} AND {last} ORDER BY id, u, v"
    )


def set_distinct(classes: str, index: int, numbers: str) -> str:
    """Take the number of distinct values of classes from a table ``id, d``."""
    return (
        f"UPDATE {identifier(classes)} AS c SET d{index} = {qualified('d', 'x')} "
        f"FROM {identifier(numbers)} AS x WHERE c.id = x.id"
    )


def drop(table: str) -> str:
    """Drop a table that may not be there."""
    return f"DROP TABLE IF EXISTS {identifier(table)}"
