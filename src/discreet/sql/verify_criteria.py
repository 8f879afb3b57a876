"""Scores of a published table's classes, by the SQL that each criterion brings for its audit.

A criterion is shown the published rows as a relation of class and value (``Criterion.audit_query``) and
answers with a score for each class. Every builder returns a SELECT, in the common subset.
"""

from __future__ import annotations

from collections.abc import Sequence

from discreet.model.criteria.of_release import SIZES
from discreet.sql.names import identifier
from discreet.sql.verify import rows_of_classes, value

ROWS = "audited_rows"
"""What a criterion's query calls the published rows."""

_LARGEST = 2**63 - 1


def score(index: int) -> str:
    """The column of a criterion's scores in the table of classes."""
    return f"score{index}"


def members(rows: str, classes: str, keys: int, places: Sequence[int]) -> str:
    """The published rows by the ``id`` of their class (``class``), and those of their ``s…`` at ``places``.

    Starred rows are left out. ``classes`` names a table of ``sql.verify.numbered_classes``.
    """
    columns = ["c.id AS class", *(f"r.{value(place)}" for place in places)]
    return rows_of_classes(rows, classes, keys, columns)


def lent_members(lent: str) -> str:
    """The distinct subjects of each class (``class``), of a table of ``sql.verify.lent_rows``."""
    return f"SELECT DISTINCT id AS class, u FROM {identifier(lent)} WHERE u IS NOT NULL"


def shown_rows(rows: str, keys: Sequence[str], values: Sequence[str]) -> str:
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


def scores(table: str, place: int | None, query: str) -> str:
    """``class`` and ``score``, one line for each class that ``query`` has a score for.

    ``table`` holds ``members``; ``place`` is that of the sensitive attribute, None for a criterion of none;
    ``query`` asks ``ROWS``. Where it answers twice of a class, the smaller score counts.
    """
    shown = "" if place is None else f", {value(place)} AS value"
    rows = f"WITH {ROWS} AS (SELECT class{shown} FROM {identifier(table)})"
    return f"{rows} SELECT class, min(score) AS score FROM ({query}) AS scores GROUP BY class"


def scores_beside(table: str, query: str) -> str:
    """The same of a criterion of the population: ``table`` is one of ``sql.verify_population.matched``."""
    rows = f"WITH {ROWS} AS (SELECT * FROM {identifier(table)})"
    return f"{rows} SELECT class, min(score) AS score FROM ({query}) AS scores GROUP BY class"


def no_scores(classes: str) -> str:
    """``class`` and ``score`` of no class, for what cannot be judged."""
    return f"SELECT id AS class, CAST(NULL AS BIGINT) AS score FROM {identifier(classes)} WHERE FALSE"


def release_score(classes: str, query: str) -> str:
    """One row: the score of all published classes, the smallest that ``query`` has; NULL where it has none.

    ``query`` asks ``model.criteria.of_release.SIZES``: the number of classes of each ``size``.
    """
    counted = f"SELECT size, count(*) AS number FROM {identifier(classes)} WHERE NOT starred GROUP BY size"
    return f"WITH {SIZES} AS ({counted}) SELECT min(score) FROM ({query}) AS scores"


def scored_classes(classes: str, queries: Sequence[str]) -> str:
    """A table of numbered classes with the scores of ``queries`` (``scores``), NULL for a class without."""
    columns = "".join(f", x{i}.score AS {score(i)}" for i in range(len(queries)))
    joins = " ".join(f"LEFT JOIN ({query}) AS x{i} ON c.id = x{i}.class" for i, query in enumerate(queries))
    return f"SELECT c.*{columns} FROM {identifier(classes)} AS c {joins}"


def below(index: int, threshold: int) -> str:
    """The predicate that a class has a smaller score than ``threshold``, none, or what is no whole number.

    The upper end refuses infinity, and what is no number, which databases sort behind every number.
    """
    return f"NOT coalesce({score(index)} BETWEEN {threshold} AND {_LARGEST}, FALSE)"


def worst(classes: str, thresholds: Sequence[int]) -> str:
    """One row: of each criterion the smallest score, the classes below its threshold, and those without."""
    columns = ", ".join(
        f"min({score(i)}) FILTER (WHERE NOT starred), "
        f"count(*) FILTER (WHERE NOT starred AND {below(i, threshold)}), "
        f"count(*) FILTER (WHERE NOT starred AND {below(i, -_LARGEST)})"
        for i, threshold in enumerate(thresholds)
    )
    return f"SELECT {columns} FROM {identifier(classes)}"
