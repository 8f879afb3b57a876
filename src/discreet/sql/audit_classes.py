"""Equivalence classes of a published table for the audit: sizes and distinct sensitive values.

Written independently of search and recoding (docs/decisions/0005): a row is the texts of its cells, one
grouping forms the classes (NULLs together), and a second grouping counts the distinct values. For attributes
of at most 62 values, one bit per value replaces the second grouping. Every function returns SQL text (a
SELECT in the common subset, or a part of one) and executes nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from discreet.sql.cell_expressions import can_hold_stars, canonical_text, star_predicate
from discreet.sql.dialect import Dialect
from discreet.sql.quoting import identifier, literal, numbered

PUBLISHED_STAR = "*"


@dataclass(frozen=True)
class RowCounting:
    """Aggregates that count the rows of ``published_texts`` and add up their ``h`` (empty: no sum).

    ``pairs`` means that no two rows agree in all quasi-identifiers and in the one sensitive attribute. With
    ``line``, an aggregate over the column ``e``, the classes have it as a column. Rows are grouped by their
    quasi-identifiers in the order of ``by``, where that order matters.
    """

    rows: str = "count(*)"
    summed: str = ""
    pairs: bool = False
    line: str = ""
    by: tuple[int, ...] = ()

    @classmethod
    def of(
        cls, dialect: Dialect, *, summed: bool, repeated: bool = False, pairs: bool = False
    ) -> RowCounting:
        """Return the aggregates of single rows or, if ``repeated``, of distinct rows with a count ``w``."""
        if not repeated:
            return cls(summed=dialect.hash_sum.format("h") if summed else "")
        total = dialect.repeated_sum.format("h", "w") if summed else ""
        return cls("CAST(sum(w) AS BIGINT)", total, pairs)


ONE_BY_ONE = RowCounting()


key = numbered("q")
"""Column name of a quasi-identifier in the tables of the audit."""

value = numbered("s")
"""Column name of a sensitive attribute."""


def published_texts(
    relation: str,
    keys: Sequence[str],
    values: Sequence[str],
    every: Sequence[str],
    term: str | None = None,
    *,
    starred_apart: bool,
    repeated: str | None = None,
    entry: str | None = None,
    subject: str | None = None,
    starred: str | None = None,
) -> str:
    """Select the published rows as texts: quasi-identifiers, sensitive attributes, ``subject``, ``starred``.

    ``every`` contains the texts of all columns: a row is starred if each of them is ``*`` or, if given, by
    the predicate ``starred``. Optional columns: ``term``, a number, as ``h``; ``repeated``, the number of
    copies of the row, as ``w``; ``entry``, a text, as ``e``.
    """
    columns = [f"{text} AS {key(i)}" for i, text in enumerate(keys)]
    columns += [f"{text} AS {value(i)}" for i, text in enumerate(values)]
    columns += [] if subject is None else [f"{subject} AS subject"]
    apart = _all_stars(every) if starred is None else starred
    columns.append(f"{apart if starred_apart else 'FALSE'} AS starred")
    columns += [] if term is None else [f"{term} AS h"]
    columns += [] if repeated is None else [f"{repeated} AS w"]
    columns += [] if entry is None else [f"{entry} AS e"]
    return f"SELECT {', '.join(columns)} FROM {relation}"


def witness_rows(relation: str, columns: Sequence[str], keys: int, *, starred_apart: bool) -> str:
    """Select the rows of a subject table: the columns of ``published_texts``, and the subject.

    ``columns`` are the columns of the table in order.
    """
    names = [key(i) for i in range(keys)] + [value(i) for i in range(len(columns) - keys - 2)]
    named = [f"{column} AS {name}" for column, name in zip(columns, [*names, "subject"], strict=False)]
    star = f"{columns[-1]} = 'true'" if starred_apart else "FALSE"
    return f"SELECT {', '.join(named)}, {star} AS starred FROM {relation}"


def row_differences(rows: str, witness: str, keys: int, values: int) -> str:
    """Count the distinct rows that occur with different counts in two tables; 0 means equal multisets."""
    columns = ", ".join([*map(key, range(keys)), *map(value, range(values))])
    both = " UNION ALL ".join(
        f"SELECT {columns}, {sign} AS n FROM ({table}) AS {name} WHERE NOT starred"
        for table, sign, name in ((rows, 1, "published"), (witness, -1, "lent"))
    )
    sums = f"SELECT sum(n) AS n FROM ({both}) AS both_tables GROUP BY {columns}"
    return f"SELECT count(*) FROM ({sums}) AS sums WHERE n <> 0"


def classes_table(rows: str, texts: Sequence[str], values: int, counting: RowCounting = ONE_BY_ONE) -> str:
    """Select the equivalence classes, with the starred rows as one separate line.

    ``rows`` may contain keys instead of texts, if rows with equal keys are equal; ``texts`` are then the
    texts of the columns ``q…``. Columns: ``q…``, ``starred``, ``n`` (rows), ``size`` (the count that k
    limits, here rows) and ``d…`` (distinct sensitive values, without NULL). The values of each attribute are
    counted by a separate grouping: plain groupings are cheaper than an aggregate of distinct values on every
    engine. With ``counting.summed``, the classes have the sums of the rows' ``h`` as ``h``.
    """
    columns = ", ".join(["starred", *map(key, counting.by or range(len(texts)))])
    common = ""
    if values == 0:
        counted = (
            f"SELECT {columns}, {row_count_columns(counting)} FROM ({rows}) AS published GROUP BY {columns}"
        )
    elif values == 1 and counting.pairs:
        line = f", {counting.line} AS line" if counting.line else ""
        distinct = f"{row_count_columns(counting)}, count({value(0)}) AS d0{line}"
        counted = f"SELECT {columns}, {distinct} FROM ({rows}) AS published GROUP BY {columns}"
    elif values == 1:
        counted = _with_distinct(
            columns, f"({rows}) AS published", row_count_columns(counting), 0, counting.summed
        )
    else:
        common, counted = _of_several(rows, columns, values, counting)
    selected = ", ".join(["starred", *(f"{text} AS {key(i)}" for i, text in enumerate(texts))])
    distinct = "".join(f", d{i}" for i in range(values))
    total = (", h" if counting.summed else "") + (", line" if counting.line else "")
    return f"{common}SELECT {selected}, n, n AS size{distinct}{total} FROM ({counted}) AS counted"


def row_count_columns(counting: RowCounting) -> str:
    """Return the aggregates of a group's rows and of the sum of their ``h``."""
    return f"{counting.rows} AS n{f', {counting.summed} AS h' if counting.summed else ''}"


def _totals(summed: str) -> str:
    """Return the aggregates that add up the rows, and the ``h``, of several groups."""
    return f"CAST(sum(n) AS BIGINT) AS n{', sum(h) AS h' if summed else ''}"


def _with_distinct(columns: str, source: str, rows: str, index: int, summed: str) -> str:
    """Select classes with their rows and the distinct values of one attribute."""
    v = value(index)
    pairs = f"SELECT {columns}, {v}, {rows} FROM {source} GROUP BY {columns}, {v}"
    return (
        f"SELECT {columns}, {_totals(summed)}, count({v}) AS d{index} "
        f"FROM ({pairs}) AS pairs GROUP BY {columns}"
    )


def _of_several(rows: str, columns: str, values: int, counting: RowCounting) -> tuple[str, str]:
    """Build the classes with the distinct values of several attributes: one common grouping and two each.

    Returns the common table expression and the query that uses it.
    """
    names = ", ".join(map(value, range(values)))
    combined = (
        f"SELECT {columns}, {names}, {row_count_columns(counting)} "
        f"FROM ({rows}) AS published GROUP BY {columns}, {names}"
    )
    parts, summed = [], counting.summed
    for i in range(values):
        numbers = ", ".join(f"{f'd{j}' if j == i else '0'} AS d{j}" for j in range(values))
        found = _with_distinct(columns, "combined", _totals(summed), i, summed)
        own = ["n", "h"] if summed else ["n"]
        # Every part contains all rows, so only the first part counts them.
        once = ", ".join(f"{name if i == 0 else '0'} AS {name}" for name in own)
        parts.append(f"SELECT {columns}, {once}, {numbers} FROM ({found}) AS of_{value(i)}")
    sums = "".join(f", CAST(sum(d{i}) AS BIGINT) AS d{i}" for i in range(values))
    return f"WITH combined AS ({combined}) ", (
        f"SELECT {columns}, {_totals(summed)}{sums} "
        f"FROM ({' UNION ALL '.join(parts)}) AS parts GROUP BY {columns}"
    )


def class_lines(classes: str) -> str:
    """Select the ``line`` of each class, as ``h``."""
    return f"SELECT line AS h FROM {identifier(classes)}"


def numbered_classes(dialect: Dialect, classes: str) -> str:
    """Select a table of classes with ``id``, a unique number per class."""
    return f"SELECT {dialect.distinct_number} AS id, c.* FROM {identifier(classes)} AS c"


def class_totals(classes: str, values: int, terms: Sequence[str] = ()) -> str:
    """Select one row: rows, classes, smallest class, starred rows, and the least ``d…`` of each attribute.

    Appends the sums of ``terms``, which include starred rows.
    """
    least = "".join(f", coalesce(min(d{i}) FILTER (WHERE NOT starred), 0)" for i in range(values))
    least += "".join(f", sum({term})" for term in terms)
    return (
        "SELECT CAST(coalesce(sum(n) FILTER (WHERE NOT starred), 0) AS BIGINT), "
        "count(*) FILTER (WHERE NOT starred), coalesce(min(size) FILTER (WHERE NOT starred), 0), "
        f"CAST(coalesce(sum(n) FILTER (WHERE starred), 0) AS BIGINT){least} FROM {identifier(classes)}"
    )


def count_published_rows(rows: str, summed: str = "") -> str:
    """Select one row: the ordinary and the starred rows among published rows, and ``summed``."""
    return (
        "SELECT count(*) FILTER (WHERE NOT starred), count(*) FILTER (WHERE starred)"
        f"{f', {summed}' if summed else ''} FROM ({rows}) AS published"
    )


def term_of_class(factor: str | None = None) -> str:
    """Return the column ``h`` of a class, the sum over its rows, times ``factor``."""
    return "h" if factor is None else f"h * {factor}"


def chosen_classes(classes: str, predicate: str) -> str:
    """Select rows and size of the classes that satisfy a predicate, without starred rows."""
    return f"SELECT n, size FROM {identifier(classes)} WHERE NOT starred AND {predicate}"


def class_row_counts(classes: str) -> str:
    """Count the classes of each number of rows; columns: rows, classes."""
    return f"SELECT n, count(*) FROM {identifier(classes)} WHERE NOT starred GROUP BY n"


def class_size_counts(classes: str) -> str:
    """Count the classes of each size; columns: size, classes."""
    return f"SELECT size, count(*) FROM {identifier(classes)} WHERE NOT starred GROUP BY size"


def failing_class_predicate(
    k: int | None, thresholds: Sequence[int | None], further: Sequence[str] = ()
) -> str:
    """Return the predicate that a class fails ``k``, a threshold of l, or one of ``further`` tests."""
    tests = [] if k is None else [f"size < {k}"]
    tests += [f"d{i} < {l}" for i, l in enumerate(thresholds) if l is not None]
    tests += further
    return f"NOT starred AND ({' OR '.join(tests) or 'FALSE'})"


def count_classes(classes: str, predicate: str) -> str:
    """Count the classes that satisfy a predicate."""
    return f"SELECT count(*) FROM {identifier(classes)} WHERE {predicate}"


def homogeneous_class_counts(classes: str, values: int) -> str:
    """Select one row: for each sensitive attribute, the classes in which it has at most one value."""
    counts = (f"count(*) FILTER (WHERE NOT starred AND d{i} <= 1)" for i in range(values))
    return f"SELECT {', '.join(counts)} FROM {identifier(classes)}"


def list_classes(dialect: Dialect, classes: str, predicate: str, keys: int, limit: int) -> str:
    """Select rows and published values of up to ``limit`` classes, smallest first, ties by their values."""
    columns = ", ".join(map(key, range(keys)))
    order = ", ".join(f"{dialect.binary_order.format(key(i))} ASC NULLS FIRST" for i in range(keys))
    return (
        f"SELECT n, {columns} FROM {identifier(classes)} WHERE {predicate} ORDER BY n, {order} LIMIT {limit}"
    )


def witness_rows_by_class(witness: str, classes: str, keys: int, values: int) -> str:
    """Select the witness rows by class: ``id``, the subject ``u``, and ``s…``."""
    columns = ["c.id", "r.subject AS u", *(f"r.{value(i)}" for i in range(values))]
    return join_rows_to_classes(witness, classes, keys, columns)


def join_rows_to_classes(rows: str, classes: str, keys: int, columns: Sequence[str]) -> str:
    """Select ``columns`` of the rows ``r`` joined to their classes ``c``, without starred rows.

    NULLs match by two equalities per column, which every engine can hash in a join.
    """
    # Not IS NOT DISTINCT FROM: PostgreSQL cannot hash it and would compare every row with every class.
    tests = " AND ".join(
        f"coalesce(r.{key(i)}, '') = coalesce(c.{key(i)}, '') AND (r.{key(i)} IS NULL) = (c.{key(i)} IS NULL)"
        for i in range(keys)
    )
    return (
        f"SELECT {', '.join(columns)} FROM ({rows}) AS r "
        f"JOIN {identifier(classes)} AS c ON {tests} WHERE NOT r.starred AND NOT c.starred"
    )


def subjects_of_classes(witness_table: str) -> str:
    """Count the distinct subjects ``n`` of each class ``id`` of ``witness_rows_by_class``."""
    pairs = f"SELECT DISTINCT id, u FROM {identifier(witness_table)}"
    return f"SELECT id, count(u) AS n FROM ({pairs}) AS pairs GROUP BY id"


def distinct_pairs(witness_table: str, index: int) -> str:
    """Select the distinct ``id``, value ``v`` and subject ``u`` of an attribute."""
    v = value(index)
    return (
        f"SELECT DISTINCT id, {v} AS v, u FROM {identifier(witness_table)} "
        f"WHERE {v} IS NOT NULL AND u IS NOT NULL"
    )


def degrees(pairs: str, ends: str) -> str:
    """Count the pairs of each ``v``, or ``u``, per class; columns: ``id`` and ``n``."""
    return f"SELECT id, count(*) AS n FROM {identifier(pairs)} GROUP BY id, {ends}"


def bounds_by_subjects(classes: str, subjects: str, index: int) -> str:
    """Select ``id`` and ``d``, an upper bound on the values of distinct subjects in each class.

    ``d`` is the number of distinct values, capped at the number of subjects that have one (``degrees``).
    """
    carriers = f"SELECT id, count(*) AS n FROM {identifier(subjects)} GROUP BY id"
    return (
        f"SELECT c.id, least(c.d{index}, coalesce(x.n, c.d{index})) AS d FROM {identifier(classes)} AS c "
        f"LEFT JOIN ({carriers}) AS x ON c.id = x.id WHERE NOT c.starred"
    )


def smallest_bound(bounds: str) -> str:
    """Select the smallest of ``bounds_by_subjects``; 0 if there is no class."""
    return f"SELECT coalesce(min(d), 0) FROM {identifier(bounds)}"


def unsettled_pairs(pairs: str, values: str, subjects: str, most: int) -> str:
    """Select the pairs of classes whose matching is not yet known to reach its cap, or ``most``.

    Known are classes in which each value has one subject or each subject one value, and classes with ``most``
    values (or subjects) of at least ``most`` subjects (or values) each, which find partners greedily.
    """
    side = "SELECT id, max(n) AS most, count(*) FILTER (WHERE n >= {}) AS rich FROM {} GROUP BY id"
    v, u = (side.format(most, identifier(table)) for table in (values, subjects))
    plain = (
        f"SELECT v.id FROM ({v}) AS v JOIN ({u}) AS u ON v.id = u.id "
        f"WHERE v.most = 1 OR u.most = 1 OR v.rich >= {most} OR u.rich >= {most}"
    )
    return (
        f"SELECT p.id, p.v, p.u FROM {identifier(pairs)} AS p LEFT JOIN ({plain}) AS plain "
        "ON p.id = plain.id WHERE plain.id IS NULL"
    )


def limit_pairs(pairs: str, ends: str, most: int) -> str:
    """Select at most ``most`` pairs of each ``v``, or ``u``: further pairs never enlarge a matching."""
    other = "u" if ends == "v" else "v"
    rank = f"row_number() OVER (PARTITION BY id, {ends} ORDER BY {other}) AS place"
    return (
        f"SELECT id, v, u FROM (SELECT id, v, u, {rank} FROM {identifier(pairs)}) AS placed "
        f"WHERE place <= {most}"
    )


def undecided_class_pairs(pairs: str, most: int) -> str:
    """Select the pairs of classes that ``most - 1`` values and subjects may cover (König).

    The other classes have a matching of at least ``most``.
    """
    poor = f"SELECT id FROM {identifier(pairs)} GROUP BY id HAVING count(*) <= {most * (most - 1)}"
    return f"SELECT p.id, p.v, p.u FROM {identifier(pairs)} AS p JOIN ({poor}) AS poor ON p.id = poor.id"


def class_numbers(pairs: str) -> str:
    """Count the pairs of each class ``id`` of a table of pairs, in the order of ``id``."""
    return f"SELECT id, count(*) AS n FROM {identifier(pairs)} GROUP BY id ORDER BY id"


def numbered_pairs(pairs: str, first: int, last: int) -> str:
    """Select the pairs of a range of classes as numbers, in the order of the classes."""
    return (
        "SELECT id, dense_rank() OVER (PARTITION BY id ORDER BY v) AS v, "
        f"dense_rank() OVER (PARTITION BY id ORDER BY u) AS u FROM {identifier(pairs)} "
        f"WHERE id BETWEEN {first} AND {last} ORDER BY id, u, v"
    )


def classes_by_subjects(
    classes: str, sizes: str, keys: int, bounds: Sequence[str], matched: Sequence[str]
) -> str:
    """Select classes as in ``numbered_classes``, with ``size`` and ``d…`` counted in subjects.

    ``bounds`` and ``matched`` are tables of ``id`` and ``d`` per attribute; the matched number takes
    precedence.
    """
    columns = ", ".join(["c.id", "c.starred", *(f"c.{key(i)}" for i in range(keys))])
    source = f"{identifier(classes)} AS c LEFT JOIN {identifier(sizes)} AS x ON c.id = x.id"
    distinct = ""
    for i, (bound, found) in enumerate(zip(bounds, matched, strict=True)):
        distinct += f", coalesce(m{i}.d, b{i}.d, c.d{i}) AS d{i}"
        source += f" LEFT JOIN {identifier(bound)} AS b{i} ON c.id = b{i}.id"
        source += f" LEFT JOIN {identifier(found)} AS m{i} ON c.id = m{i}.id"
    return f"SELECT {columns}, c.n, coalesce(x.n, c.size) AS size{distinct} FROM {source}"


def relation_without_stars(relation: str, texts: Sequence[str]) -> str:
    """Return a relation without the rows in which all ``texts`` are ``*``; unchanged without ``texts``."""
    return f"(SELECT * FROM {relation} WHERE NOT ({_all_stars(texts)})) AS readable" if texts else relation


def count_people_in_classes(relation: str, keys: Sequence[str], person: str, k: int) -> str:
    """Select one row: rows with a person, persons, classes, and classes of fewer than k persons.

    A row without a person counts as a separate person.
    """
    named = [f"{key} AS k{i}" for i, key in enumerate(keys)]
    by = ", ".join(f"k{i}" for i in range(len(keys)))
    rows = f"SELECT {', '.join([*named, f'{person} AS p'])} FROM {relation}"
    classes = f"SELECT count(DISTINCT p) + count(*) - count(p) AS people FROM ({rows}) AS r GROUP BY {by}"
    persons = f"SELECT count(p) AS n, count(DISTINCT p) AS d FROM ({rows}) AS r"
    counted = f"SELECT count(*) AS c, count(*) FILTER (WHERE people < {k}) AS few FROM ({classes}) AS s"
    return f"SELECT a.n, a.d, b.c, b.few FROM ({persons}) AS a CROSS JOIN ({counted}) AS b"


def _all_stars(texts: Sequence[str]) -> str:
    return " AND ".join(f"coalesce({text} = {literal(PUBLISHED_STAR)}, FALSE)" for text in texts)


MOST_BIT_VALUES = 62
"""Number of bits per BIGINT that are used: all except the sign and one."""


def sample_value_count(rows: str, index: int, number: int) -> str:
    """Count the distinct cells of an attribute among the first ``number`` rows, in no particular order."""
    v = value(index)
    some = f"SELECT {v} FROM ({rows}) AS published LIMIT {number}"
    return f"SELECT count(*) FROM (SELECT DISTINCT {v} FROM ({some}) AS some_rows) AS found"


def value_bits(
    dialect: Dialect, rows: str, index: int, type_name: str, counting: RowCounting = ONE_BY_ONE
) -> str:
    """Select the distinct cells ``v`` of an attribute, without NULL, with rows ``n`` and a ``bit`` each.

    A bit is a power of two; NULL for a cell of stars, which is not a value; and 0 for cells beyond
    ``MOST_BIT_VALUES``: the table is usable only if ``count_values_without_bit`` returns 0. ``type_name`` is
    the type of the cells.
    """
    cells = _distinct_cells(rows, index, counting)
    numbered = f"SELECT v, n, row_number() OVER ({dialect.any_order}) AS i FROM ({cells}) AS cells"
    bit = dialect.cast("power(2, i - 1)", "BIGINT")
    star = ""
    if can_hold_stars(type_name):
        star = f"WHEN {star_predicate(canonical_text('v', type_name, dialect), dialect)} THEN NULL "
    return (
        f"SELECT v, n, CASE {star}WHEN i <= {MOST_BIT_VALUES} THEN {bit} ELSE 0 END AS bit "
        f"FROM ({numbered}) AS numbered"
    )


def values_with_rows(dialect: Dialect, bits: str, type_name: str) -> str:
    """Select the texts of a table of ``value_bits``, with their rows."""
    return f"SELECT {canonical_text('v', type_name, dialect)}, n FROM {identifier(bits)}"


def distinct_value_rows(rows: str, index: int, counting: RowCounting = ONE_BY_ONE) -> str:
    """Select the distinct cells of an attribute with their rows, without NULL.

    Returns at most ``MOST_BIT_VALUES`` + 1 rows, which is enough to detect too many values.
    """
    return f"SELECT v, n FROM ({_distinct_cells(rows, index, counting)}) AS cells LIMIT {MOST_BIT_VALUES + 1}"


def _distinct_cells(rows: str, index: int, counting: RowCounting) -> str:
    v = value(index)
    # Includes starred rows: excluding them would require reading every column.
    cells = f"({rows}) AS published WHERE {v} IS NOT NULL"
    return f"SELECT {v} AS v, {counting.rows} AS n FROM {cells} GROUP BY {v}"


def count_values_without_bit(bits: str) -> str:
    """Count the cells of a table of ``value_bits`` without a bit."""
    return f"SELECT count(*) FROM {identifier(bits)} WHERE bit = 0"


def classes_by_bits(
    dialect: Dialect,
    rows: str,
    key_texts: Sequence[str],
    bits: Sequence[str],
    counting: RowCounting = ONE_BY_ONE,
) -> str:
    """Select classes as in ``classes_table`` by an OR of value bits.

    ``bits`` contains the name of each attribute's table of bits.
    """
    total = ", h" if counting.summed else ""
    keys = [key(i) for i in range(len(key_texts))]
    grouped = ", ".join(f"t.{name}" for name in ("starred", *keys))
    found = "".join(f", bit_or(b{i}.bit) AS e{i}" for i in range(len(bits)))
    joins = " ".join(
        f"LEFT JOIN {identifier(table)} AS b{i} ON t.{value(i)} = b{i}.v" for i, table in enumerate(bits)
    )
    counted = (
        f"SELECT {grouped}, {row_count_columns(counting)}{found} FROM ({rows}) AS t {joins} "
        f"GROUP BY {grouped}"
    )
    columns = ", ".join(f"{text} AS {name}" for text, name in zip(key_texts, keys, strict=True))
    distinct = "".join(
        f", CAST(coalesce({dialect.bit_count.format(f'e{i}')}, 0) AS BIGINT) AS d{i}"
        for i in range(len(bits))
    )
    return f"SELECT starred, {columns}, n, n AS size{distinct}{total} FROM ({counted}) AS counted"
