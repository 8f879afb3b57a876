"""Audit queries beyond class counts: criterion scores, population matches, persons over several tables.

The SQL of a criterion (``Criterion.audit_query``) computes a score per class; a population table is matched
to the classes; over related tables, a person's quasi-identifiers in all of them are digested (MD5) and
counted. Every function returns SQL text.
"""

from __future__ import annotations

from collections.abc import Sequence

from discreet.model.criteria.release_level import AUDITED_SIZES
from discreet.sql.audit_classes import join_rows_to_classes, key, published_texts, value
from discreet.sql.quoting import identifier, numbered

AUDITED_ROWS = "audited_rows"
"""Name of the published rows in a criterion's query."""

_LARGEST = 2**63 - 1


score_column = numbered("score")
"""Column name of a criterion's scores in the table of classes."""


def members(rows: str, classes: str, keys: int, places: Sequence[int]) -> str:
    """Select the published rows as ``class`` (the ``id`` of their class) and their ``s…`` at ``places``.

    Starred rows are left out. ``classes`` names a table of ``sql.audit_classes.numbered_classes``.
    """
    columns = ["c.id AS class", *(f"r.{value(index)}" for index in places)]
    return join_rows_to_classes(rows, classes, keys, columns)


def witness_members(witness_table: str) -> str:
    """Select the distinct subjects of each ``class``, from ``sql.audit_classes.witness_rows_by_class``."""
    return f"SELECT DISTINCT id AS class, u FROM {identifier(witness_table)} WHERE u IS NOT NULL"


def distinct_published_rows(rows: str, keys: Sequence[str], values: Sequence[str]) -> str:
    """Select the distinct published rows by their columns, with ``number``, without starred rows."""
    columns = ", ".join([*keys, *values])
    return f"SELECT {columns}, count(*) AS number FROM ({rows}) AS r WHERE NOT starred GROUP BY {columns}"


def count_members(table: str) -> str:
    """Count the rows of a table of ``members``."""
    return f"SELECT count(*) FROM {identifier(table)}"


def rows_by_value(rows: str, index: int) -> str:
    """Count the rows of each text of a sensitive attribute, without starred rows."""
    v = value(index)
    known = f"NOT starred AND {v} IS NOT NULL"
    return f"SELECT {v}, count(*) FROM ({rows}) AS published WHERE {known} GROUP BY {v}"


def class_scores_query(table: str, index: int | None, query: str) -> str:
    """Select ``class`` and ``score``, one line for each class that ``query`` scores.

    ``table`` contains ``members``; ``index`` is the index of the sensitive attribute, None for a criterion
    without one; ``query`` reads ``AUDITED_ROWS``. If it returns several scores of a class, the smallest
    counts.
    """
    value_column = "" if index is None else f", {value(index)} AS value"
    rows = f"WITH {AUDITED_ROWS} AS (SELECT class{value_column} FROM {identifier(table)})"
    return f"{rows} SELECT class, min(score) AS score FROM ({query}) AS scores GROUP BY class"


def population_scores(table: str, query: str) -> str:
    """Select the same for a population criterion: ``table`` contains ``population_rows``."""
    rows = f"WITH {AUDITED_ROWS} AS (SELECT * FROM {identifier(table)})"
    return f"{rows} SELECT class, min(score) AS score FROM ({query}) AS scores GROUP BY class"


def no_scores(classes: str) -> str:
    """Select no rows of ``class`` and ``score``, for a criterion that cannot be evaluated."""
    return f"SELECT id AS class, CAST(NULL AS BIGINT) AS score FROM {identifier(classes)} WHERE FALSE"


def release_score_query(classes: str, query: str) -> str:
    """Select one row: the smallest score that ``query`` has for the whole release; NULL if it has none.

    ``query`` reads ``model.criteria.release_level.AUDITED_SIZES``: the number of classes of each ``size``.
    """
    counted = f"SELECT size, count(*) AS number FROM {identifier(classes)} WHERE NOT starred GROUP BY size"
    return f"WITH {AUDITED_SIZES} AS ({counted}) SELECT min(score) FROM ({query}) AS scores"


def scored_classes(classes: str, queries: Sequence[str]) -> str:
    """Select numbered classes with the scores of ``queries``, NULL for a class without a score."""
    columns = "".join(f", x{i}.score AS {score_column(i)}" for i in range(len(queries)))
    joins = " ".join(f"LEFT JOIN ({query}) AS x{i} ON c.id = x{i}.class" for i, query in enumerate(queries))
    return f"SELECT c.*{columns} FROM {identifier(classes)} AS c {joins}"


def below_threshold(index: int, threshold: int) -> str:
    """Return the predicate that the score of a class is below ``threshold``, missing, or not an integer.

    The upper end refuses infinity and NaN, which databases sort after every number.
    """
    return f"NOT coalesce({score_column(index)} BETWEEN {threshold} AND {_LARGEST}, FALSE)"


def worst_scores(classes: str, thresholds: Sequence[int]) -> str:
    """Select one row: per criterion the least score, classes below its threshold, classes without one."""
    columns = ", ".join(
        f"min({score_column(i)}) FILTER (WHERE NOT starred), "
        f"count(*) FILTER (WHERE NOT starred AND {below_threshold(i, threshold)}), "
        f"count(*) FILTER (WHERE NOT starred AND {below_threshold(i, -_LARGEST)})"
        for i, threshold in enumerate(thresholds)
    )
    return f"SELECT {columns} FROM {identifier(classes)}"


def population_counts(relation: str, texts: Sequence[str]) -> str:
    """Count the ``people`` of each combination of texts in a population, ``q…``; ``starred`` is false."""
    columns = ", ".join(["starred", *map(key, range(len(texts)))])
    rows = published_texts(relation, texts, [], [], starred_apart=False)
    return f"SELECT {columns}, count(*) AS people FROM ({rows}) AS persons GROUP BY {columns}"


def class_people(people_table: str, classes: str, keys: int) -> str:
    """Select ``class``, its rows ``number``, and the ``people`` with its cells.

    Classes without a match are left out. ``classes`` names a table of ``sql.audit_classes.numbered_classes``.
    """
    columns = ["c.id AS class", "c.n AS number", "r.people AS people"]
    return join_rows_to_classes(f"SELECT * FROM {identifier(people_table)}", classes, keys, columns)


def population_totals(people_table: str, class_people_table: str) -> str:
    """Select one row: all people, and the people with a matching class."""
    everybody = f"SELECT coalesce(sum(people), 0) AS a FROM {identifier(people_table)}"
    matching = f"SELECT coalesce(sum(people), 0) AS m FROM {identifier(class_people_table)}"
    return f"SELECT CAST(a AS BIGINT), CAST(m AS BIGINT) FROM ({everybody}) AS e CROSS JOIN ({matching}) AS f"


def population_rows(class_people_table: str, unmatched: int, suppressed: int) -> str:
    """Select the input of a population criterion: one line for each class of ``class_people``.

    Additional columns, equal in every line: ``unmatched``, the people without a matching class, and
    ``suppressed``, the suppressed rows, which belong to those people.
    """
    return (
        f"SELECT class, number, people, CAST({unmatched} AS BIGINT) AS unmatched, "
        f"CAST({suppressed} AS BIGINT) AS suppressed FROM {identifier(class_people_table)}"
    )


ROW_KEY, PARENT_KEY, PERSON_VIEW, VIEW_PEOPLE = "own", "up", "view", "people"


def row_views(
    relation: str, cells: Sequence[str], own: str | None, up: str | None, under: Sequence[str]
) -> str:
    """Select the view of each row, its own key and its parent's key, as texts or NULL.

    A view is the MD5 digest of the row's quasi-identifiers, whose texts are ``cells``, and of the views below
    it; ``under`` contains the relations of views by key of each child table.
    """
    parts = [f"coalesce('v' || length({cell}) || ':' || {cell}, 'n')" for cell in cells]
    parts += [f"coalesce(u{index}.{PERSON_VIEW}, '-')" for index in range(len(under))]
    joins = "".join(
        f" LEFT JOIN {table} AS u{index} ON u{index}.{PARENT_KEY} = {own}"
        for index, table in enumerate(under)
    )
    text = " || ';' || ".join(parts) or "''"
    return (
        f"SELECT {own or 'CAST(NULL AS VARCHAR)'} AS {ROW_KEY}, {up or 'CAST(NULL AS VARCHAR)'} AS "
        f"{PARENT_KEY}, md5({text}) AS {PERSON_VIEW} FROM {relation} AS s{joins}"
    )


def views_by_key(rows: str) -> str:
    """Concatenate the sorted views under each key, so that their order in the table does not matter."""
    return (
        f"SELECT {PARENT_KEY}, string_agg({PERSON_VIEW}, ',' ORDER BY {PERSON_VIEW}) AS {PERSON_VIEW} "
        f"FROM {rows} GROUP BY {PARENT_KEY}"
    )


def people_by_view(rows: str) -> str:
    """Count the people with each view."""
    return f"SELECT {PERSON_VIEW}, count(*) AS {VIEW_PEOPLE} FROM {rows} GROUP BY {PERSON_VIEW}"


def view_sizes(views: str) -> str:
    """Select the fewest people of a view, the people with a unique view, the views, and all people."""
    return (
        f"SELECT coalesce(min({VIEW_PEOPLE}), 0), count(*) FILTER (WHERE {VIEW_PEOPLE} = 1), count(*), "
        f"coalesce(sum({VIEW_PEOPLE}), 0) FROM {views}"
    )


def people_of_large_views(rows: str, views: str, least: int) -> str:
    """Select the keys of the people whose view has at least ``least`` people."""
    return (
        f"SELECT r.{ROW_KEY} FROM {rows} AS r JOIN {views} AS v USING ({PERSON_VIEW}) WHERE v.{VIEW_PEOPLE} "
        f">= {int(least)}"
    )


def count_dangling_keys(relation: str, text: str, other: str, key: str) -> str:
    """Count the rows whose foreign key is NULL or not a key of the other table."""
    return (
        f"SELECT count(*) FROM {relation} AS s LEFT JOIN (SELECT DISTINCT {key} AS k FROM {other} AS o) AS o "
        f"ON o.k = {text} WHERE o.k IS NULL"
    )


def count_mismatched_people(relation: str, up: str, person: str, other: str, key: str, theirs: str) -> str:
    """Count the rows whose person differs from the person of their parent row."""
    return (
        f"SELECT count(*) FROM {relation} AS s JOIN {other} AS o ON {key} = {up} "
        f"WHERE {person} IS DISTINCT FROM {theirs}"
    )


def count_repeated_keys(relation: str, key: str) -> str:
    """Count the excess rows of a key: those with NULL or with a repeated value."""
    return f"SELECT count(*) - count(DISTINCT {key}) FROM {relation} AS s"
