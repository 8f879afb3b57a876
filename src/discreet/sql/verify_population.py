"""Who of a population matches the classes of a published table, for the audit alone.

Every builder returns a SELECT, in the common subset.
"""

from __future__ import annotations

from collections.abc import Sequence

from discreet.sql.names import identifier
from discreet.sql.verify import key, rows_of, rows_of_classes


def people(relation: str, texts: Sequence[str]) -> str:
    """The combinations of texts in a population, ``q…``, with their ``people``; ``starred`` is false."""
    columns = ", ".join(["starred", *map(key, range(len(texts)))])
    rows = rows_of(relation, texts, [], [], starred_apart=False)
    return f"SELECT {columns}, count(*) AS people FROM ({rows}) AS persons GROUP BY {columns}"


def people_of_classes(people_table: str, classes: str, keys: int) -> str:
    """``class``, its rows ``number``, and the ``people`` of its cells; none for a class that nobody matches.

    ``classes`` names a table of ``sql.verify.numbered_classes``.
    """
    columns = ["c.id AS class", "c.n AS number", "r.people AS people"]
    return rows_of_classes(f"SELECT * FROM {identifier(people_table)}", classes, keys, columns)


def totals(people_table: str, found: str) -> str:
    """One row: all people, and those who match a class."""
    everybody = f"SELECT coalesce(sum(people), 0) AS a FROM {identifier(people_table)}"
    matching = f"SELECT coalesce(sum(people), 0) AS m FROM {identifier(found)}"
    return f"SELECT CAST(a AS BIGINT), CAST(m AS BIGINT) FROM ({everybody}) AS e CROSS JOIN ({matching}) AS f"


def matched(found: str, unmatched: int, suppressed: int) -> str:
    """What a criterion of the population is shown: a line for each class of ``people_of_classes``.

    Beside its columns: ``unmatched`` people, who match no class, and the ``suppressed`` rows, which are
    theirs; the same numbers in every line.
    """
    return (
        f"SELECT class, number, people, CAST({unmatched} AS BIGINT) AS unmatched, "
        f"CAST({suppressed} AS BIGINT) AS suppressed FROM {identifier(found)}"
    )
