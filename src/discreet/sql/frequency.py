"""Counting rows by their values: the GROUP BY of the frequency set, and what it is encoded with.

The engine where the rows live groups each row once, by the raw cells. Whatever follows reads the groups, and
only the embedded engine does that: ``value_type`` and what stands below it are DuckDB's alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from discreet.sql.names import identifier

COUNT = "n"


def key_name(position: int) -> str:
    """The name of a grouping column."""
    return f"k{position}"


def group_rows(relation: str, keys: Sequence[str]) -> str:
    """One row per combination of ``keys`` (at least one), and the number of rows of each.

    Columns: ``k0``, ``k1``, … and ``n`` (BIGINT).
    """
    named = [f"{key} AS {key_name(i)}" for i, key in enumerate(keys)]
    columns = ", ".join([*named, f"count(*) AS {COUNT}"])
    places = ", ".join(str(i + 1) for i in range(len(keys)))
    return f"SELECT {columns} FROM {relation} GROUP BY {places}"


def groups_as_texts(groups: str, texts: Sequence[str], limit: int) -> str:
    """At most ``limit`` groups of ``group_rows``, with ``texts`` of their keys in the keys' place."""
    named = [f"{text} AS {key_name(i)}" for i, text in enumerate(texts)]
    return f"SELECT {', '.join([*named, COUNT])} FROM ({groups}) AS g LIMIT {limit}"


def first_groups(table: str, keys: int, limit: int) -> str:
    """Up to ``limit`` groups as they are: their texts and their rows."""
    named = [key_name(i) for i in range(keys)]
    return f"SELECT {', '.join([*named, COUNT])} FROM {identifier(table)} LIMIT {limit}"


def size_of(table: str) -> str:
    """Groups and rows of a table of groups."""
    return f"SELECT count(*), CAST(coalesce(sum({COUNT}), 0) AS BIGINT) FROM {identifier(table)}"


def value_type(name: str, table: str, text: str) -> str:
    """Create an enumerated type of the distinct texts of an expression over a table, NULL left out."""
    values = f"SELECT DISTINCT {text} FROM {identifier(table)} WHERE {text} IS NOT NULL"
    return f"CREATE OR REPLACE TEMP TYPE {identifier(name)} AS ENUM ({values})"


def values_of(names: Sequence[str]) -> str:
    """One row with the list of texts of each enumerated type, in the order of its codes."""
    return "SELECT " + ", ".join(f"enum_range(NULL::{identifier(name)})" for name in names)


def texts_about(table: str, texts: Sequence[str]) -> str:
    """One row: of each key the different texts, nearly, and the bytes of a text on average."""
    told = (f"approx_count_distinct({text}), coalesce(avg(strlen({text})), 0)" for text in texts)
    return f"SELECT {', '.join(told)} FROM {identifier(table)}"


def value_code(text: str, name: str, null_code: int) -> str:
    """The code of a text in an enumerated type; ``null_code`` for NULL."""
    return f"coalesce(enum_code(({text})::{identifier(name)}), {null_code})"


def number_values(groups: str, text: str) -> str:
    """The distinct texts of an expression over a table of groups, numbered from 0.

    Columns: ``v`` and ``i``. Unlike an enumerated type it may spill to disk, so it suits subjects, of which
    there are as many as rows, and columns of very many values, for which it is several times faster.
    """
    values = f"SELECT DISTINCT {text} AS v FROM {identifier(groups)} WHERE {text} IS NOT NULL"
    return f"SELECT v, row_number() OVER () - 1 AS i FROM ({values})"


def sorted_values(groups: str, text: str) -> str:
    """The same, numbered in the order of the texts."""
    return f"SELECT v, row_number() OVER (ORDER BY v) - 1 AS i FROM ({number_values(groups, text)}) AS d"


def texts_in_order(values: str) -> str:
    """The texts of a table of ``sorted_values`` in the order of their numbers."""
    return f"SELECT v FROM {identifier(values)} ORDER BY i"


def joined_code(place: int, null_code: int) -> str:
    """The code of key ``place`` in ``encoded_groups`` by a join; ``null_code`` for NULL."""
    return f"coalesce(j{place}.i, {null_code})"


def encoded_groups(
    groups: str,
    codes: Sequence[str],
    *,
    joined: Mapping[int, str] | None = None,
    subjects: str | None = None,
    subject_text: str | None = None,
) -> str:
    """The groups as numbers: ``c0``, ``c1``, …, ``subject`` where asked (-1 for NULL), and ``n``.

    ``joined`` are tables of ``sorted_values`` by the places of their keys (``joined_code``).
    """
    columns = [f"{code} AS c{i}" for i, code in enumerate(codes)]
    source = f"{identifier(groups)} AS g"
    for place, values in (joined or {}).items():
        source += f" LEFT JOIN {identifier(values)} AS j{place} ON {key_name(place)} = j{place}.v"
    if subjects is not None:
        columns.append("coalesce(s.i, -1) AS subject")
        source += f" LEFT JOIN {identifier(subjects)} AS s ON ({subject_text}) = s.v"
    return f"SELECT {', '.join([*columns, COUNT])} FROM {source}"
