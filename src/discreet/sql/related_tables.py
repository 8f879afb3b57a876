"""What several released tables tell of each person together, as SQL over the tables' files.

Each row has a *view*: its quasi-identifiers, and the views of the rows that stand under it, whatever their
order. A person's view is that of the row in the subjects' table. Views are digests (MD5, of which no two
meet by chance). The words are those of the embedded engine, which reads the files.
"""

from __future__ import annotations

from collections.abc import Sequence

OWN, UP, VIEW, PEOPLE = "own", "up", "view", "people"


def row_views(
    relation: str, cells: Sequence[str], own: str | None, up: str | None, under: Sequence[str]
) -> str:
    """The view of each row, its own key and the key above it, as texts or NULL.

    ``cells`` are the texts of its quasi-identifiers, ``under`` the views by key of each table below.
    """
    parts = [f"coalesce('v' || length({cell}) || ':' || {cell}, 'n')" for cell in cells]
    parts += [f"coalesce(u{place}.{VIEW}, '-')" for place in range(len(under))]
    joins = "".join(
        f" LEFT JOIN {table} AS u{place} ON u{place}.{UP} = {own}" for place, table in enumerate(under)
    )
    text = " || ';' || ".join(parts) or "''"
    return (
        f"SELECT {own or 'CAST(NULL AS VARCHAR)'} AS {OWN}, {up or 'CAST(NULL AS VARCHAR)'} AS {UP}, "
        f"md5({text}) AS {VIEW} FROM {relation} AS s{joins}"
    )


def views_by_key(rows: str) -> str:
    """The views under each key, together: the number of rows and their views, whatever their order."""
    return f"SELECT {UP}, string_agg({VIEW}, ',' ORDER BY {VIEW}) AS {VIEW} FROM {rows} GROUP BY {UP}"


def people_by_view(rows: str) -> str:
    """How many people have each view."""
    return f"SELECT {VIEW}, count(*) AS {PEOPLE} FROM {rows} GROUP BY {VIEW}"


def sizes(views: str) -> str:
    """The fewest people of a view, those whose view is theirs alone, the views, and all people."""
    return (
        f"SELECT coalesce(min({PEOPLE}), 0), count(*) FILTER (WHERE {PEOPLE} = 1), count(*), "
        f"coalesce(sum({PEOPLE}), 0) FROM {views}"
    )


def people_of_large_views(rows: str, views: str, least: int) -> str:
    """The keys of the people whose view ``least`` people have at least."""
    return (
        f"SELECT r.{OWN} FROM {rows} AS r JOIN {views} AS v USING ({VIEW}) WHERE v.{PEOPLE} >= {int(least)}"
    )


def dangling(relation: str, text: str, other: str, key: str) -> str:
    """The rows whose foreign key is NULL or no key of another table."""
    return (
        f"SELECT count(*) FROM {relation} AS s LEFT JOIN (SELECT DISTINCT {key} AS k FROM {other} AS o) AS o "
        f"ON o.k = {text} WHERE o.k IS NULL"
    )


def unlike_people(relation: str, up: str, person: str, other: str, key: str, theirs: str) -> str:
    """The rows whose person is not that of the row above them."""
    return (
        f"SELECT count(*) FROM {relation} AS s JOIN {other} AS o ON {key} = {up} "
        f"WHERE {person} IS DISTINCT FROM {theirs}"
    )


def repeated_keys(relation: str, key: str) -> str:
    """The rows that are too many for a key: NULL, or there before."""
    return f"SELECT count(*) - count(DISTINCT {key}) FROM {relation} AS s"
