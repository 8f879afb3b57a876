"""Counting rows by keys, in what all engines have in common: for tables of counts that get noise.

Names: the source is ``s``, the lookup of key ``i`` is ``m{i}`` with the columns ``value`` and ``place``; keys
are ``k0``, ``k1``, …, and ``n`` is a number of rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from discreet.sql.dialect import Dialect
from discreet.sql.frequency import COUNT, key_name
from discreet.sql.names import identifier, literal

ROWS = "s"
_DRAWN, _SUBJECT, _TURN = "drawn", "subject", "turn"


def place_of(position: int, missing: int) -> str:
    """The place of a key's value by its lookup; ``missing`` where that has none, as for NULL."""
    return f"coalesce(m{position}.place, {missing})"


def keyed_rows(
    relation: str,
    keys: Sequence[str],
    lookups: Mapping[int, tuple[str, str]],
    kept: str | None,
    subject: str | None = None,
) -> str:
    """One row per row of ``relation``: its keys, and its subject where one is asked.

    ``lookups`` are, by key, the table that holds places, and the text that is looked up; ``kept`` is the
    condition of rows that count. Rows without a subject are nobody's and are left out.
    """
    columns = [f"{key} AS {key_name(i)}" for i, key in enumerate(keys)]
    joins = [
        f" LEFT JOIN {identifier(table)} AS m{i} ON {text} = m{i}.value"
        for i, (table, text) in lookups.items()
    ]
    conditions = [kept] if kept else []
    if subject is not None:
        columns.append(f"{subject} AS {_SUBJECT}")
        conditions.append(f"({subject}) IS NOT NULL")
    where = f" WHERE {' AND '.join(conditions)}" if conditions else ""
    return f"SELECT {', '.join(columns)} FROM {relation} AS {ROWS}{''.join(joins)}{where}"


def bounded_rows(rows: str, keys: int, most: int, salt: str, dialect: Dialect) -> str:
    """At most ``most`` rows of each subject of ``keyed_rows``.

    Which ones is decided by a salted digest of the subject and of the rows' keys: a function of the subject's
    own rows alone, so that another subject, come or gone, changes nothing here. Rows with equal keys are
    interchangeable.
    """
    texts = [f"coalesce({dialect.cast(key_name(i), 'VARCHAR')}, '')" for i in range(keys)]
    told = " || '|' || ".join([literal(salt), _SUBJECT, *texts])
    drawn = f"SELECT r.*, {dialect.sha256.format(told)} AS {_DRAWN} FROM ({rows}) AS r"
    turn = f"row_number() OVER (PARTITION BY {_SUBJECT} ORDER BY {_DRAWN})"
    return f"SELECT * FROM (SELECT d.*, {turn} AS {_TURN} FROM ({drawn}) AS d) AS t WHERE {_TURN} <= {most}"


def counted_rows(rows: str, keys: int) -> str:
    """The rows of each combination of keys that occurs."""
    names = ", ".join(key_name(i) for i in range(keys))
    return f"SELECT {names}, count(*) AS {COUNT} FROM ({rows}) AS r GROUP BY {names}"


def summed(table: str, keys: Sequence[int], dialect: Dialect) -> str:
    """The rows of each combination of some keys, from a table of ``counted_rows``."""
    names = ", ".join(key_name(i) for i in keys)
    total = dialect.cast(f"sum({COUNT})", "BIGINT")
    return f"SELECT {names}, {total} AS {COUNT} FROM {identifier(table)} GROUP BY {names}"


def number_of_rows(relation: str) -> str:
    """How many rows there are."""
    return f"SELECT count(*) FROM {relation} AS {ROWS}"
