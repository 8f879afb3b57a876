"""Counting a published table again, for the audit alone.

Written apart from the counting of the search and of the recoding, so that two independent paths must agree:
here a published row is its cells' texts, one GROUP BY makes the classes (NULLs together), and distinct values
are counted by the engine's own aggregate.
"""

from __future__ import annotations

from collections.abc import Sequence

from discreet.sql.names import identifier, literal

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


def classes_table(name: str, rows: str, keys: int, values: int) -> str:
    """Create the table of equivalence classes, the starred rows as one line of their own.

    Columns: ``id``, ``q…``, ``starred``, ``n`` (rows), ``size`` (what k counts: rows here) and ``d…``
    (distinct sensitive values, NULL is none).
    """
    columns = ", ".join(["starred", *map(key, range(keys))])
    distinct = "".join(f", count(DISTINCT {value(i)}) AS d{i}" for i in range(values))
    return (
        f"CREATE TEMP TABLE {identifier(name)} AS SELECT row_number() OVER () AS id, * FROM ("
        f"SELECT {columns}, count(*) AS n, count(*) AS size{distinct} FROM ({rows}) GROUP BY {columns})"
    )


def totals(classes: str, values: int) -> str:
    """One row: rows, classes, smallest class, starred rows, then the smallest number of each attribute."""
    least = "".join(f", coalesce(min(d{i}) FILTER (WHERE NOT starred), 0)" for i in range(values))
    return (
        "SELECT coalesce(sum(n) FILTER (WHERE NOT starred), 0)::BIGINT, count(*) FILTER (WHERE NOT starred), "
        "coalesce(min(size) FILTER (WHERE NOT starred), 0), "
        f"coalesce(sum(n) FILTER (WHERE starred), 0)::BIGINT{least} FROM {identifier(classes)}"
    )


def count_rows(rows: str) -> str:
    """One row: ordinary and starred rows among published rows."""
    return f"SELECT count(*) FILTER (WHERE NOT starred), count(*) FILTER (WHERE starred) FROM ({rows})"


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


def lent_rows(name: str, witness: str, classes: str, keys: int, values: int) -> str:
    """Create the table of the witness's rows by class: ``id``, the subject ``u``, and ``s…``."""
    same = " AND ".join(f"r.{key(i)} IS NOT DISTINCT FROM c.{key(i)}" for i in range(keys))
    columns = ", ".join(["c.id", "r.subject AS u", *(f"r.{value(i)}" for i in range(values))])
    return (
        f"CREATE TEMP TABLE {identifier(name)} AS SELECT {columns} FROM ({witness}) AS r "
        f"JOIN {identifier(classes)} AS c ON {same} WHERE NOT r.starred AND NOT c.starred"
    )


def count_subjects(classes: str, lent: str) -> str:
    """Take the size of each class from its distinct subjects."""
    sizes = f"SELECT id, count(u) AS n FROM (SELECT DISTINCT id, u FROM {identifier(lent)}) GROUP BY id"
    return f"UPDATE {identifier(classes)} AS c SET size = x.n FROM ({sizes}) AS x WHERE c.id = x.id"


def pairs_table(name: str, lent: str, index: int) -> str:
    """Create the table of distinct ``id``, value ``v`` and subject ``u`` of an attribute."""
    v = value(index)
    return (
        f"CREATE TEMP TABLE {identifier(name)} AS SELECT DISTINCT id, {v} AS v, u FROM {identifier(lent)} "
        f"WHERE {v} IS NOT NULL AND u IS NOT NULL"
    )


def degrees(name: str, pairs: str, ends: str) -> str:
    """Create the table ``id, n`` of the numbers of pairs of each ``v``, or ``u``, of each class."""
    return (
        f"CREATE TEMP TABLE {identifier(name)} AS "
        f"SELECT id, count(*) AS n FROM {identifier(pairs)} GROUP BY id, {ends}"
    )


def cap_by_subjects(classes: str, subjects: str, index: int) -> str:
    """Lower the distinct values of each class to the subjects that have one (``degrees`` by ``u``)."""
    carriers = f"SELECT id, count(*) AS n FROM {identifier(subjects)} GROUP BY id"
    return (
        f"UPDATE {identifier(classes)} AS c SET d{index} = least(d{index}, x.n) "
        f"FROM ({carriers}) AS x WHERE c.id = x.id"
    )


def settle_plain_classes(pairs: str, values: str, subjects: str, most: int) -> str:
    """Drop the pairs of classes of which the matching is known to be what it is capped at, or ``most``.

    Those where each value has one subject or each subject one value; and those with ``most`` values (or
    subjects) of as many subjects (or values) each, which find partners one after the other.
    """
    side = "SELECT id, max(n) AS most, count(*) FILTER (WHERE n >= {}) AS rich FROM {} GROUP BY id"
    v, u = (side.format(most, identifier(table)) for table in (values, subjects))
    plain = (
        f"SELECT v.id FROM ({v}) AS v JOIN ({u}) AS u ON v.id = u.id "
        f"WHERE v.most = 1 OR u.most = 1 OR v.rich >= {most} OR u.rich >= {most}"
    )
    return f"DELETE FROM {identifier(pairs)} WHERE id IN ({plain})"


def thin_out(name: str, pairs: str, ends: str, most: int) -> str:
    """Create a copy of the pairs with at most ``most`` of each ``v``, or ``u``: more never help to match."""
    other = "u" if ends == "v" else "v"
    return (
        f"CREATE TEMP TABLE {identifier(name)} AS SELECT * FROM {identifier(pairs)} "
        f"QUALIFY row_number() OVER (PARTITION BY id, {ends} ORDER BY {other}) <= {most}"
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
        f"UPDATE {identifier(classes)} AS c SET d{index} = x.d FROM {identifier(numbers)} AS x "
        "WHERE c.id = x.id"
    )
