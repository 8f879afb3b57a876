"""The audit's count of equivalence classes: sizes and distinct sensitive values of a published table.

Written independently of search and recoding (docs/decisions/0005): a row is its cells' texts, a grouping
makes the classes (NULLs together), a second grouping counts the distinct values. With at most 62 values per
attribute, a bit per value replaces the second grouping. Every function returns a SELECT in the common subset.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from discreet.sql.cell_expressions import can_hold_stars, canonical_text, star_predicate
from discreet.sql.dialect import Dialect
from discreet.sql.quoting import identifier, literal

PUBLISHED_STAR = "*"


@dataclass(frozen=True)
class RowCounting:
    """How the rows of a query of ``rows_of`` are counted, and their ``h`` added up (nothing where empty).

    ``pairs`` says that no two of them agree in all quasi-identifiers and in one sensitive attribute. Where
    ``line`` is given, an aggregate over their ``e``, classes have it as a column. They are grouped by their
    quasi-identifiers in the order of ``by``, where that matters.
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
        """Of rows that stand there one by one; or, ``repeated``, once each, with their number ``w``."""
        if not repeated:
            return cls(summed=dialect.hash_sum.format("h") if summed else "")
        total = dialect.repeated_sum.format("h", "w") if summed else ""
        return cls("CAST(sum(w) AS BIGINT)", total, pairs)


ONE_BY_ONE = RowCounting()


def key(index: int) -> str:
    """The column of a quasi-identifier in the tables made here."""
    return f"q{index}"


def value(index: int) -> str:
    """The column of a sensitive attribute."""
    return f"s{index}"


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
    """The published rows as texts: quasi-identifiers, sensitive attributes, ``subject``, ``starred``.

    ``every`` are the texts of all columns: a row is starred where each of them is ``*``, or as the predicate
    ``starred`` says. ``term`` is a number, which becomes ``h``; so does ``repeated``, how often the row is
    there, as ``w``, and ``entry``, a text, as ``e``.
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
    """The rows of a table of subjects, by its columns in order: those of ``rows_of``, and the subject."""
    names = [key(i) for i in range(keys)] + [value(i) for i in range(len(columns) - keys - 2)]
    named = [f"{column} AS {name}" for column, name in zip(columns, [*names, "subject"], strict=False)]
    star = f"{columns[-1]} = 'true'" if starred_apart else "FALSE"
    return f"SELECT {', '.join(named)}, {star} AS starred FROM {relation}"


def row_differences(rows: str, witness: str, keys: int, values: int) -> str:
    """How many distinct rows two tables have in different numbers; 0 where they hold the same rows."""
    columns = ", ".join([*map(key, range(keys)), *map(value, range(values))])
    both = " UNION ALL ".join(
        f"SELECT {columns}, {sign} AS n FROM ({table}) AS {name} WHERE NOT starred"
        for table, sign, name in ((rows, 1, "published"), (witness, -1, "lent"))
    )
    sums = f"SELECT sum(n) AS n FROM ({both}) AS both_tables GROUP BY {columns}"
    return f"SELECT count(*) FROM ({sums}) AS sums WHERE n <> 0"


def classes_table(rows: str, texts: Sequence[str], values: int, counting: RowCounting = ONE_BY_ONE) -> str:
    """The equivalence classes, the starred rows as one line of their own.

    ``rows`` may have keys in the place of texts, by which the same rows are equal; ``texts`` are then the
    texts of the columns ``q…``. Columns: ``q…``, ``starred``, ``n`` (rows), ``size`` (what k counts: rows
    here) and ``d…`` (distinct sensitive values, NULL is none). Each attribute's values are found by a
    grouping of their own: plain groupings cost less than an aggregate of distinct values, on every engine.
    ``counting`` may add up the column ``h`` of the rows; the classes have its sums as ``h``.
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
    shown = ", ".join(["starred", *(f"{text} AS {key(i)}" for i, text in enumerate(texts))])
    distinct = "".join(f", d{i}" for i in range(values))
    total = (", h" if counting.summed else "") + (", line" if counting.line else "")
    return f"{common}SELECT {shown}, n, n AS size{distinct}{total} FROM ({counted}) AS counted"


def row_count_columns(counting: RowCounting) -> str:
    """The rows of a group, and the sum of their ``h``."""
    return f"{counting.rows} AS n{f', {counting.summed} AS h' if counting.summed else ''}"


def _totals(summed: str) -> str:
    """The rows of some groups, and the sum of their ``h``."""
    return f"CAST(sum(n) AS BIGINT) AS n{', sum(h) AS h' if summed else ''}"


def _with_distinct(columns: str, source: str, rows: str, index: int, summed: str) -> str:
    """Classes by rows, with the distinct values of one attribute."""
    v = value(index)
    pairs = f"SELECT {columns}, {v}, {rows} FROM {source} GROUP BY {columns}, {v}"
    return (
        f"SELECT {columns}, {_totals(summed)}, count({v}) AS d{index} "
        f"FROM ({pairs}) AS pairs GROUP BY {columns}"
    )


def _of_several(rows: str, columns: str, values: int, counting: RowCounting) -> tuple[str, str]:
    """The classes with the distinct values of several attributes: one grouping for all, and two for each.

    The first part is the common table expression that the second names.
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
        # Every part has all rows, so they count in the first alone.
        once = ", ".join(f"{name if i == 0 else '0'} AS {name}" for name in own)
        parts.append(f"SELECT {columns}, {once}, {numbers} FROM ({found}) AS of_{value(i)}")
    sums = "".join(f", CAST(sum(d{i}) AS BIGINT) AS d{i}" for i in range(values))
    return f"WITH combined AS ({combined}) ", (
        f"SELECT {columns}, {_totals(summed)}{sums} "
        f"FROM ({' UNION ALL '.join(parts)}) AS parts GROUP BY {columns}"
    )


def class_lines(classes: str) -> str:
    """The ``line`` of each class, as ``h``."""
    return f"SELECT line AS h FROM {identifier(classes)}"


def numbered_classes(dialect: Dialect, classes: str) -> str:
    """A table of classes with ``id``, a number of each class's own."""
    return f"SELECT {dialect.distinct_number} AS id, c.* FROM {identifier(classes)} AS c"


def class_totals(classes: str, values: int, terms: Sequence[str] = ()) -> str:
    """One row: rows, classes, smallest class, starred rows, then the smallest number of each attribute.

    Behind them are the sums of ``terms``, of starred rows too.
    """
    least = "".join(f", coalesce(min(d{i}) FILTER (WHERE NOT starred), 0)" for i in range(values))
    least += "".join(f", sum({term})" for term in terms)
    return (
        "SELECT CAST(coalesce(sum(n) FILTER (WHERE NOT starred), 0) AS BIGINT), "
        "count(*) FILTER (WHERE NOT starred), coalesce(min(size) FILTER (WHERE NOT starred), 0), "
        f"CAST(coalesce(sum(n) FILTER (WHERE starred), 0) AS BIGINT){least} FROM {identifier(classes)}"
    )


def count_published_rows(rows: str, summed: str = "") -> str:
    """One row: ordinary and starred rows among published rows, and ``summed``."""
    return (
        "SELECT count(*) FILTER (WHERE NOT starred), count(*) FILTER (WHERE starred)"
        f"{f', {summed}' if summed else ''} FROM ({rows}) AS published"
    )


def term_of_class(factor: str | None = None) -> str:
    """A class's column ``h``, the sum of its rows', times its ``factor``."""
    return "h" if factor is None else f"h * {factor}"


def chosen_classes(classes: str, predicate: str) -> str:
    """Rows and size of the classes for which a predicate holds, starred rows left out."""
    return f"SELECT n, size FROM {identifier(classes)} WHERE NOT starred AND {predicate}"


def class_row_counts(classes: str) -> str:
    """One row per number of rows of a class: that number, classes."""
    return f"SELECT n, count(*) FROM {identifier(classes)} WHERE NOT starred GROUP BY n"


def class_size_counts(classes: str) -> str:
    """Each size of a class and the number of classes of that size."""
    return f"SELECT size, count(*) FROM {identifier(classes)} WHERE NOT starred GROUP BY size"


def failing_class_predicate(
    k: int | None, thresholds: Sequence[int | None], further: Sequence[str] = ()
) -> str:
    """The predicate that a class fails ``k``, one of the thresholds of l, or one of ``further`` tests."""
    tests = [] if k is None else [f"size < {k}"]
    tests += [f"d{i} < {l}" for i, l in enumerate(thresholds) if l is not None]
    tests += further
    return f"NOT starred AND ({' OR '.join(tests) or 'FALSE'})"


def count_classes(classes: str, predicate: str) -> str:
    """The number of classes for which a predicate holds."""
    return f"SELECT count(*) FROM {identifier(classes)} WHERE {predicate}"


def homogeneous_class_counts(classes: str, values: int) -> str:
    """One row: the classes in which a sensitive attribute has one value at most, for each attribute."""
    counts = (f"count(*) FILTER (WHERE NOT starred AND d{i} <= 1)" for i in range(values))
    return f"SELECT {', '.join(counts)} FROM {identifier(classes)}"


def list_classes(dialect: Dialect, classes: str, predicate: str, keys: int, limit: int) -> str:
    """Rows and published values of classes, the smallest first, ties by their values."""
    columns = ", ".join(map(key, range(keys)))
    order = ", ".join(f"{dialect.binary_order.format(key(i))} ASC NULLS FIRST" for i in range(keys))
    return (
        f"SELECT n, {columns} FROM {identifier(classes)} WHERE {predicate} ORDER BY n, {order} LIMIT {limit}"
    )


def witness_rows_by_class(witness: str, classes: str, keys: int, values: int) -> str:
    """The witness's rows by class: ``id``, the subject ``u``, and ``s…``."""
    columns = ["c.id", "r.subject AS u", *(f"r.{value(i)}" for i in range(values))]
    return join_rows_to_classes(witness, classes, keys, columns)


def join_rows_to_classes(rows: str, classes: str, keys: int, columns: Sequence[str]) -> str:
    """``columns`` of the rows ``r`` and their classes ``c``, starred rows left out.

    NULLs meet in a join of two equalities per column, which every engine can hash.
    """
    # Not by an equality of NULLs: PostgreSQL would compare every row with every class.
    tests = " AND ".join(
        f"coalesce(r.{key(i)}, '') = coalesce(c.{key(i)}, '') AND (r.{key(i)} IS NULL) = (c.{key(i)} IS NULL)"
        for i in range(keys)
    )
    return (
        f"SELECT {', '.join(columns)} FROM ({rows}) AS r "
        f"JOIN {identifier(classes)} AS c ON {tests} WHERE NOT r.starred AND NOT c.starred"
    )


def subjects_of_classes(witness_table: str) -> str:
    """``id`` and ``n``, the distinct subjects, of each class of ``witness_rows_by_class``."""
    pairs = f"SELECT DISTINCT id, u FROM {identifier(witness_table)}"
    return f"SELECT id, count(u) AS n FROM ({pairs}) AS pairs GROUP BY id"


def distinct_pairs(witness_table: str, index: int) -> str:
    """The distinct ``id``, value ``v`` and subject ``u`` of an attribute."""
    v = value(index)
    return f"SELECT DISTINCT id, {v} AS v, u FROM {identifier(witness_table)} WHERE {v} IS NOT NULL AND u IS NOT NULL"


def degrees(pairs: str, ends: str) -> str:
    """``id`` and ``n``, the number of pairs of each ``v``, or ``u``, of each class."""
    return f"SELECT id, count(*) AS n FROM {identifier(pairs)} GROUP BY id, {ends}"


def bounds_by_subjects(classes: str, subjects: str, index: int) -> str:
    """``id`` and ``d``: distinct values of each class, at most its subjects that have one (``degrees``)."""
    carriers = f"SELECT id, count(*) AS n FROM {identifier(subjects)} GROUP BY id"
    return (
        f"SELECT c.id, least(c.d{index}, coalesce(x.n, c.d{index})) AS d FROM {identifier(classes)} AS c "
        f"LEFT JOIN ({carriers}) AS x ON c.id = x.id WHERE NOT c.starred"
    )


def smallest_bound(bounds: str) -> str:
    """The smallest of ``bounds_by_subjects``; 0 where there is no class."""
    return f"SELECT coalesce(min(d), 0) FROM {identifier(bounds)}"


def unsettled_pairs(pairs: str, values: str, subjects: str, most: int) -> str:
    """The pairs without those of classes whose matching is known to be what it is capped at, or ``most``.

    Known are those where each value has one subject or each subject one value; and those with ``most`` values
    (or subjects) of as many subjects (or values) each, which find partners one after the other.
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
    """The pairs with at most ``most`` of each ``v``, or ``u``: more never help to match."""
    other = "u" if ends == "v" else "v"
    place = f"row_number() OVER (PARTITION BY id, {ends} ORDER BY {other}) AS place"
    return (
        f"SELECT id, v, u FROM (SELECT id, v, u, {place} FROM {identifier(pairs)}) AS placed "
        f"WHERE place <= {most}"
    )


def undecided_class_pairs(pairs: str, most: int) -> str:
    """The pairs of classes that ``most - 1`` values and subjects may cover; others have enough (König)."""
    poor = f"SELECT id FROM {identifier(pairs)} GROUP BY id HAVING count(*) <= {most * (most - 1)}"
    return f"SELECT p.id, p.v, p.u FROM {identifier(pairs)} AS p JOIN ({poor}) AS poor ON p.id = poor.id"


def class_numbers(pairs: str) -> str:
    """The classes of a table of pairs and the number of pairs of each, by ``id``."""
    return f"SELECT id, count(*) AS n FROM {identifier(pairs)} GROUP BY id ORDER BY id"


def numbered_pairs(pairs: str, first: int, last: int) -> str:
    """The pairs of a range of classes as numbers, class by class."""
    return (
        "SELECT id, dense_rank() OVER (PARTITION BY id ORDER BY v) AS v, "
        f"dense_rank() OVER (PARTITION BY id ORDER BY u) AS u FROM {identifier(pairs)} "
        f"WHERE id BETWEEN {first} AND {last} ORDER BY id, u, v"
    )


def classes_by_subjects(
    classes: str, sizes: str, keys: int, bounds: Sequence[str], matched: Sequence[str]
) -> str:
    """The classes as ``numbered_classes`` has them, their ``size`` and ``d…`` counted in subjects.

    ``bounds`` and ``matched`` are tables of ``id`` and ``d`` for each attribute; what is matched counts.
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
    """A relation without the rows in which all of ``texts`` are ``*``; itself where there are none."""
    return f"(SELECT * FROM {relation} WHERE NOT ({_all_stars(texts)})) AS told" if texts else relation


def count_people_in_classes(relation: str, keys: Sequence[str], person: str, k: int) -> str:
    """One row: rows with a person, persons, classes, and classes of fewer than k persons.

    A row without a person counts as one of its own.
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
"""As many bits as a 64-bit number has beside its sign, but one."""


def sample_value_count(rows: str, index: int, number: int) -> str:
    """How many different cells an attribute has in as many rows, whichever come first."""
    v = value(index)
    some = f"SELECT {v} FROM ({rows}) AS published LIMIT {number}"
    return f"SELECT count(*) FROM (SELECT DISTINCT {v} FROM ({some}) AS some_rows) AS found"


def value_bits(
    dialect: Dialect, rows: str, index: int, type_name: str, counting: RowCounting = ONE_BY_ONE
) -> str:
    """The different cells ``v`` of an attribute, NULL left out, their rows ``n``, and a ``bit`` for each.

    A bit is a power of two; NULL for a cell of stars, which is no value; and 0 for cells beyond
    ``MOST_VALUES``: the table serves only where ``count_values_without_bit`` finds none. ``type_name`` is the
    cells'.
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
    """The texts of a table of ``value_bits``, and the rows of each."""
    return f"SELECT {canonical_text('v', type_name, dialect)}, n FROM {identifier(bits)}"


def distinct_value_rows(rows: str, index: int, counting: RowCounting = ONE_BY_ONE) -> str:
    """The different cells of an attribute and their rows, NULL left out, one more than have a bit at most."""
    return f"SELECT v, n FROM ({_distinct_cells(rows, index, counting)}) AS cells LIMIT {MOST_BIT_VALUES + 1}"


def _distinct_cells(rows: str, index: int, counting: RowCounting) -> str:
    v = value(index)
    # Starred rows are among them: to leave them out, every column would have to be read.
    cells = f"({rows}) AS published WHERE {v} IS NOT NULL"
    return f"SELECT {v} AS v, {counting.rows} AS n FROM {cells} GROUP BY {v}"


def count_values_without_bit(bits: str) -> str:
    """How many cells of a table of ``value_bits`` have no bit."""
    return f"SELECT count(*) FROM {identifier(bits)} WHERE bit = 0"


def classes_by_bits(
    dialect: Dialect,
    rows: str,
    key_texts: Sequence[str],
    bits: Sequence[str],
    counting: RowCounting = ONE_BY_ONE,
) -> str:
    """The classes as of ``sql.audit_classes.classes_table``; ``bits`` names each attribute's table of bits."""
    total = ", h" if counting.summed else ""
    keys = [key(i) for i in range(len(key_texts))]
    grouped = ", ".join(f"t.{name}" for name in ("starred", *keys))
    found = "".join(f", bit_or(b{i}.bit) AS e{i}" for i in range(len(bits)))
    joins = " ".join(
        f"LEFT JOIN {identifier(table)} AS b{i} ON t.{value(i)} = b{i}.v" for i, table in enumerate(bits)
    )
    counted = f"SELECT {grouped}, {row_count_columns(counting)}{found} FROM ({rows}) AS t {joins} GROUP BY {grouped}"
    shown = ", ".join(f"{text} AS {name}" for text, name in zip(key_texts, keys, strict=True))
    distinct = "".join(
        f", CAST(coalesce({dialect.bit_count.format(f'e{i}')}, 0) AS BIGINT) AS d{i}"
        for i in range(len(bits))
    )
    return f"SELECT starred, {shown}, n, n AS size{distinct}{total} FROM ({counted}) AS counted"
