"""The audit's queries beyond class counts: criterion scores, population matches, persons over several tables.

A criterion's own SQL (``Criterion.audit_query``) gives a score per class; a population table is matched to
the classes; over related tables a person's quasi-identifiers in all of them are digested (MD5) and counted.
"""

from __future__ import annotations

from collections.abc import Sequence

from discreet.model.criteria.release_level import AUDITED_SIZES
from discreet.sql.audit_classes import join_rows_to_classes, key, published_texts, value
from discreet.sql.quoting import identifier

AUDITED_ROWS = "audited_rows"
"""What a criterion's query calls the published rows."""

_LARGEST = 2**63 - 1


def score_column(index: int) -> str:
    """The column of a criterion's scores in the table of classes."""
    return f"score{index}"


def members(rows: str, classes: str, keys: int, places: Sequence[int]) -> str:
    """The published rows by the ``id`` of their class (``class``), and those of their ``s…`` at ``places``.

    Starred rows are left out. ``classes`` names a table of ``sql.audit_classes.numbered_classes``.
    """
    columns = ["c.id AS class", *(f"r.{value(place)}" for place in places)]
    return join_rows_to_classes(rows, classes, keys, columns)


def witness_members(witness_table: str) -> str:
    """The distinct subjects of each class (``class``), of a table of ``sql.audit_classes.lent_rows``."""
    return f"SELECT DISTINCT id AS class, u FROM {identifier(witness_table)} WHERE u IS NOT NULL"


def distinct_published_rows(rows: str, keys: Sequence[str], values: Sequence[str]) -> str:
    """The distinct published rows by their columns, and the ``number`` of each; starred rows are left out."""
    columns = ", ".join([*keys, *values])
    return f"SELECT {columns}, count(*) AS number FROM ({rows}) AS r WHERE NOT starred GROUP BY {columns}"


def count_members(table: str) -> str:
    """The number of rows in a table of ``members``."""
    return f"SELECT count(*) FROM {identifier(table)}"


def rows_by_value(rows: str, place: int) -> str:
    """The texts of a sensitive attribute, and the rows of each; starred rows tell of none."""
    v = value(place)
    known = f"NOT starred AND {v} IS NOT NULL"
    return f"SELECT {v}, count(*) FROM ({rows}) AS published WHERE {known} GROUP BY {v}"


def class_scores_query(table: str, place: int | None, query: str) -> str:
    """``class`` and ``score``, one line for each class that ``query`` has a score for.

    ``table`` holds ``members``; ``place`` is that of the sensitive attribute, None for a criterion of none;
    ``query`` asks ``ROWS``. Where it answers twice of a class, the smaller score counts.
    """
    shown = "" if place is None else f", {value(place)} AS value"
    rows = f"WITH {AUDITED_ROWS} AS (SELECT class{shown} FROM {identifier(table)})"
    return f"{rows} SELECT class, min(score) AS score FROM ({query}) AS scores GROUP BY class"


def population_scores(table: str, query: str) -> str:
    """The same of a criterion of the population: ``table`` is one of ``sql.audit_criteria.matched``."""
    rows = f"WITH {AUDITED_ROWS} AS (SELECT * FROM {identifier(table)})"
    return f"{rows} SELECT class, min(score) AS score FROM ({query}) AS scores GROUP BY class"


def no_scores(classes: str) -> str:
    """``class`` and ``score`` of no class, for what cannot be judged."""
    return f"SELECT id AS class, CAST(NULL AS BIGINT) AS score FROM {identifier(classes)} WHERE FALSE"


def release_score_query(classes: str, query: str) -> str:
    """One row: the score of all published classes, the smallest that ``query`` has; NULL where it has none.

    ``query`` asks ``model.criteria.release_level.SIZES``: the number of classes of each ``size``.
    """
    counted = f"SELECT size, count(*) AS number FROM {identifier(classes)} WHERE NOT starred GROUP BY size"
    return f"WITH {AUDITED_SIZES} AS ({counted}) SELECT min(score) FROM ({query}) AS scores"


def scored_classes(classes: str, queries: Sequence[str]) -> str:
    """A table of numbered classes with the scores of ``queries`` (``scores``), NULL for a class without."""
    columns = "".join(f", x{i}.score AS {score_column(i)}" for i in range(len(queries)))
    joins = " ".join(f"LEFT JOIN ({query}) AS x{i} ON c.id = x{i}.class" for i, query in enumerate(queries))
    return f"SELECT c.*{columns} FROM {identifier(classes)} AS c {joins}"


def below_threshold(index: int, threshold: int) -> str:
    """The predicate that a class has a smaller score than ``threshold``, none, or what is no whole number.

    The upper end refuses infinity, and what is no number, which databases sort behind every number.
    """
    return f"NOT coalesce({score_column(index)} BETWEEN {threshold} AND {_LARGEST}, FALSE)"


def worst_scores(classes: str, thresholds: Sequence[int]) -> str:
    """One row: of each criterion the smallest score, the classes below its threshold, and those without."""
    columns = ", ".join(
        f"min({score_column(i)}) FILTER (WHERE NOT starred), "
        f"count(*) FILTER (WHERE NOT starred AND {below_threshold(i, threshold)}), "
        f"count(*) FILTER (WHERE NOT starred AND {below_threshold(i, -_LARGEST)})"
        for i, threshold in enumerate(thresholds)
    )
    return f"SELECT {columns} FROM {identifier(classes)}"


def population_counts(relation: str, texts: Sequence[str]) -> str:
    """The combinations of texts in a population, ``q…``, with their ``people``; ``starred`` is false."""
    columns = ", ".join(["starred", *map(key, range(len(texts)))])
    rows = published_texts(relation, texts, [], [], starred_apart=False)
    return f"SELECT {columns}, count(*) AS people FROM ({rows}) AS persons GROUP BY {columns}"


def class_people(people_table: str, classes: str, keys: int) -> str:
    """``class``, its rows ``number``, and the ``people`` of its cells; none for a class that nobody matches.

    ``classes`` names a table of ``sql.audit_classes.numbered_classes``.
    """
    columns = ["c.id AS class", "c.n AS number", "r.people AS people"]
    return join_rows_to_classes(f"SELECT * FROM {identifier(people_table)}", classes, keys, columns)


def population_totals(people_table: str, class_people_table: str) -> str:
    """One row: all people, and those who match a class."""
    everybody = f"SELECT coalesce(sum(people), 0) AS a FROM {identifier(people_table)}"
    matching = f"SELECT coalesce(sum(people), 0) AS m FROM {identifier(class_people_table)}"
    return f"SELECT CAST(a AS BIGINT), CAST(m AS BIGINT) FROM ({everybody}) AS e CROSS JOIN ({matching}) AS f"


def population_rows(class_people_table: str, unmatched: int, suppressed: int) -> str:
    """What a criterion of the population is shown: a line for each class of ``people_of_classes``.

    Beside its columns: ``unmatched`` people, who match no class, and the ``suppressed`` rows, which are
    theirs; the same numbers in every line.
    """
    return (
        f"SELECT class, number, people, CAST({unmatched} AS BIGINT) AS unmatched, "
        f"CAST({suppressed} AS BIGINT) AS suppressed FROM {identifier(class_people_table)}"
    )


ROW_KEY, PARENT_KEY, PERSON_VIEW, VIEW_PEOPLE = "own", "up", "view", "people"


def row_views(
    relation: str, cells: Sequence[str], own: str | None, up: str | None, under: Sequence[str]
) -> str:
    """The view of each row, its own key and the key above it, as texts or NULL.

    ``cells`` are the texts of its quasi-identifiers, ``under`` the views by key of each table below.
    """
    parts = [f"coalesce('v' || length({cell}) || ':' || {cell}, 'n')" for cell in cells]
    parts += [f"coalesce(u{place}.{PERSON_VIEW}, '-')" for place in range(len(under))]
    joins = "".join(
        f" LEFT JOIN {table} AS u{place} ON u{place}.{PARENT_KEY} = {own}"
        for place, table in enumerate(under)
    )
    text = " || ';' || ".join(parts) or "''"
    return (
        f"SELECT {own or 'CAST(NULL AS VARCHAR)'} AS {ROW_KEY}, {up or 'CAST(NULL AS VARCHAR)'} AS {PARENT_KEY}, "
        f"md5({text}) AS {PERSON_VIEW} FROM {relation} AS s{joins}"
    )


def views_by_key(rows: str) -> str:
    """The views under each key, together: the number of rows and their views, whatever their order."""
    return f"SELECT {PARENT_KEY}, string_agg({PERSON_VIEW}, ',' ORDER BY {PERSON_VIEW}) AS {PERSON_VIEW} FROM {rows} GROUP BY {PARENT_KEY}"


def people_by_view(rows: str) -> str:
    """How many people have each view."""
    return f"SELECT {PERSON_VIEW}, count(*) AS {VIEW_PEOPLE} FROM {rows} GROUP BY {PERSON_VIEW}"


def view_sizes(views: str) -> str:
    """The fewest people of a view, those whose view is theirs alone, the views, and all people."""
    return (
        f"SELECT coalesce(min({VIEW_PEOPLE}), 0), count(*) FILTER (WHERE {VIEW_PEOPLE} = 1), count(*), "
        f"coalesce(sum({VIEW_PEOPLE}), 0) FROM {views}"
    )


def people_of_large_views(rows: str, views: str, least: int) -> str:
    """The keys of the people whose view ``least`` people have at least."""
    return f"SELECT r.{ROW_KEY} FROM {rows} AS r JOIN {views} AS v USING ({PERSON_VIEW}) WHERE v.{VIEW_PEOPLE} >= {int(least)}"


def count_dangling_keys(relation: str, text: str, other: str, key: str) -> str:
    """The rows whose foreign key is NULL or no key of another table."""
    return (
        f"SELECT count(*) FROM {relation} AS s LEFT JOIN (SELECT DISTINCT {key} AS k FROM {other} AS o) AS o "
        f"ON o.k = {text} WHERE o.k IS NULL"
    )


def count_mismatched_people(relation: str, up: str, person: str, other: str, key: str, theirs: str) -> str:
    """The rows whose person is not that of the row above them."""
    return (
        f"SELECT count(*) FROM {relation} AS s JOIN {other} AS o ON {key} = {up} "
        f"WHERE {person} IS DISTINCT FROM {theirs}"
    )


def count_repeated_keys(relation: str, key: str) -> str:
    """The rows that are too many for a key: NULL, or there before."""
    return f"SELECT count(*) - count(DISTINCT {key}) FROM {relation} AS s"
