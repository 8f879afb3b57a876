"""Counting rows by their values: the GROUP BY of the frequency set, and what it is encoded with.

The engine groups each row once, by the raw cells; whatever follows reads the groups.
"""

from __future__ import annotations

from collections.abc import Sequence

from discreet.sql.names import identifier

COUNT = "n"


def key_name(position: int) -> str:
    """The name of a grouping column in the table of groups."""
    return f"k{position}"


def group_rows(table: str, relation: str, keys: Sequence[str]) -> str:
    """Create a temporary table with one row per combination of ``keys``, and the number of rows of each.

    Columns: ``k0``, ``k1``, … and ``n`` (BIGINT).
    """
    named = [f"{key} AS {key_name(i)}" for i, key in enumerate(keys)]
    columns = ", ".join([*named, f"count(*) AS {COUNT}"])
    return (
        f"CREATE OR REPLACE TEMP TABLE {identifier(table)} AS SELECT {columns} FROM {relation} GROUP BY ALL"
    )


def size_of(table: str) -> str:
    """Groups and rows of a table of groups."""
    return f"SELECT count(*), coalesce(sum({COUNT}), 0)::BIGINT FROM {identifier(table)}"


def value_type(name: str, table: str, text: str) -> str:
    """Create an enumerated type of the distinct texts of an expression over a table, NULL left out."""
    values = f"SELECT DISTINCT {text} FROM {identifier(table)} WHERE {text} IS NOT NULL"
    return f"CREATE OR REPLACE TEMP TYPE {identifier(name)} AS ENUM ({values})"


def values_of(names: Sequence[str]) -> str:
    """One row with the list of texts of each enumerated type, in the order of its codes."""
    return "SELECT " + ", ".join(f"enum_range(NULL::{identifier(name)})" for name in names)


def value_code(text: str, name: str, null_code: int) -> str:
    """The code of a text in an enumerated type; ``null_code`` for NULL."""
    return f"coalesce(enum_code(({text})::{identifier(name)}), {null_code})"


def number_values(table: str, groups: str, text: str) -> str:
    """Create a table that numbers the distinct texts of an expression over a table of groups from 0.

    Columns: ``v`` and ``i``. Unlike an enumerated type it may spill to disk, so it suits subjects, of which
    there are as many as rows.
    """
    values = f"SELECT DISTINCT {text} AS v FROM {identifier(groups)} WHERE {text} IS NOT NULL"
    return (
        f"CREATE OR REPLACE TEMP TABLE {identifier(table)} AS "
        f"SELECT v, row_number() OVER () - 1 AS i FROM ({values})"
    )


def encoded_groups(
    groups: str, codes: Sequence[str], *, subjects: str | None = None, subject_text: str | None = None
) -> str:
    """The groups as numbers: ``c0``, ``c1``, …, ``subject`` where asked (-1 for NULL), and ``n``."""
    columns = [f"{code} AS c{i}" for i, code in enumerate(codes)]
    source = f"{identifier(groups)} AS g"
    if subjects is not None:
        columns.append("coalesce(s.i, -1) AS subject")
        source += f" LEFT JOIN {identifier(subjects)} AS s ON ({subject_text}) = s.v"
    return f"SELECT {', '.join([*columns, COUNT])} FROM {source}"
