"""GROUP BY counts: the raw groups of a frequency set and their encoding, and contingency tables.

Groups are counted by the source's engine; only DuckDB encodes their texts as integers. Contingency tables
count rows per combination of keys with at most n rows per subject, for differential privacy. Groups can be
selected one at a time and combined again by UNION ALL. Every function returns SQL text.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from discreet.sql.dialect import Dialect
from discreet.sql.quoting import identifier, literal

GROUP_COUNT = "n"


def group_key_name(position: int) -> str:
    """Return the name of a grouping column."""
    return f"k{position}"


def group_rows(relation: str, keys: Sequence[str]) -> str:
    """Count the rows of each combination of ``keys`` (at least one).

    Columns: ``k0``, ``k1``, … and ``n`` (BIGINT).
    """
    named = [f"{key} AS {group_key_name(i)}" for i, key in enumerate(keys)]
    columns = ", ".join([*named, f"count(*) AS {GROUP_COUNT}"])
    places = ", ".join(str(i + 1) for i in range(len(keys)))
    return f"SELECT {columns} FROM {relation} GROUP BY {places}"


def groups_as_texts(groups: str, texts: Sequence[str], limit: int) -> str:
    """Select at most ``limit`` groups of ``group_rows``, with the keys replaced by ``texts``."""
    named = [f"{text} AS {group_key_name(i)}" for i, text in enumerate(texts)]
    return f"SELECT {', '.join([*named, GROUP_COUNT])} FROM ({groups}) AS g LIMIT {limit}"


def group_table_size(table: str) -> str:
    """Select the groups and the rows of a table of groups."""
    return f"SELECT count(*), CAST(coalesce(sum({GROUP_COUNT}), 0) AS BIGINT) FROM {identifier(table)}"


def enum_type(name: str, table: str, text: str) -> str:
    """Create an enumerated type of the distinct texts of an expression over a table, without NULL."""
    values = f"SELECT DISTINCT {text} FROM {identifier(table)} WHERE {text} IS NOT NULL"
    return f"CREATE OR REPLACE TEMP TYPE {identifier(name)} AS ENUM ({values})"


def enum_values(names: Sequence[str]) -> str:
    """Select one row with the list of texts of each enumerated type, in the order of its codes."""
    return "SELECT " + ", ".join(f"enum_range(NULL::{identifier(name)})" for name in names)


def text_statistics(table: str, texts: Sequence[str]) -> str:
    """Select one row: per key the approximate number of distinct texts, and the mean bytes of a text."""
    statistics = (f"approx_count_distinct({text}), coalesce(avg(strlen({text})), 0)" for text in texts)
    return f"SELECT {', '.join(statistics)} FROM {identifier(table)}"


def value_code(text: str, name: str, null_code: int) -> str:
    """Return the code of a text in an enumerated type; ``null_code`` for NULL."""
    return f"coalesce(enum_code(({text})::{identifier(name)}), {null_code})"


def numbered_values(groups: str, text: str) -> str:
    """Number the distinct texts of an expression over a table of groups, from 0.

    Columns: ``v`` and ``i``. Unlike an enumerated type it may spill to disk, so it suits subjects, which may
    be as numerous as rows, and columns of very many values, for which it is several times faster.
    """
    values = f"SELECT DISTINCT {text} AS v FROM {identifier(groups)} WHERE {text} IS NOT NULL"
    return f"SELECT v, row_number() OVER () - 1 AS i FROM ({values})"


def sorted_texts(groups: str, text: str) -> str:
    """Number the distinct texts as ``numbered_values``, in the order of the texts."""
    return f"SELECT v, row_number() OVER (ORDER BY v) - 1 AS i FROM ({numbered_values(groups, text)}) AS d"


def texts_by_number(values: str) -> str:
    """Select the texts of a table of ``sorted_texts`` in the order of their numbers."""
    return f"SELECT v FROM {identifier(values)} ORDER BY i"


def joined_code(index: int, null_code: int) -> str:
    """Return the code of key ``index`` in ``encoded_groups`` by a join; ``null_code`` for NULL."""
    return f"coalesce(j{index}.i, {null_code})"


def encoded_groups(
    groups: str,
    codes: Sequence[str],
    *,
    joined: Mapping[int, str] | None = None,
    subjects: str | None = None,
    subject_text: str | None = None,
) -> str:
    """Select the groups as numbers: ``c0``, ``c1``, …, optionally ``subject`` (-1 for NULL), and ``n``.

    ``joined`` contains tables of ``sorted_texts`` by the index of their key (``joined_code``).
    """
    columns = [f"{code} AS c{i}" for i, code in enumerate(codes)]
    source = f"{identifier(groups)} AS g"
    for index, values in (joined or {}).items():
        source += f" LEFT JOIN {identifier(values)} AS j{index} ON {group_key_name(index)} = j{index}.v"
    if subjects is not None:
        columns.append("coalesce(s.i, -1) AS subject")
        source += f" LEFT JOIN {identifier(subjects)} AS s ON ({subject_text}) = s.v"
    return f"SELECT {', '.join([*columns, GROUP_COUNT])} FROM {source}"


SOURCE_ALIAS = "s"
_DRAWN, _SUBJECT, _TURN = "drawn", "subject", "turn"


def key_position(position: int, missing: int) -> str:
    """Return the position of a key's value by its lookup; ``missing`` for NULL and unknown values."""
    return f"coalesce(m{position}.place, {missing})"


def rows_by_key(
    relation: str,
    keys: Sequence[str],
    lookups: Mapping[int, tuple[str, str]],
    condition: str | None,
    subject: str | None = None,
) -> str:
    """Select one row per row of ``relation``: its keys and, with ``subject``, its subject.

    ``lookups`` contains, by key, the table of positions and the text that is looked up; ``condition`` is the
    condition of the rows that count. Rows without a subject belong to nobody and are left out.
    """
    columns = [f"{key} AS {group_key_name(i)}" for i, key in enumerate(keys)]
    joins = [
        f" LEFT JOIN {identifier(table)} AS m{i} ON {text} = m{i}.value"
        for i, (table, text) in lookups.items()
    ]
    conditions = [condition] if condition else []
    if subject is not None:
        columns.append(f"{subject} AS {_SUBJECT}")
        conditions.append(f"({subject}) IS NOT NULL")
    where = f" WHERE {' AND '.join(conditions)}" if conditions else ""
    return f"SELECT {', '.join(columns)} FROM {relation} AS {SOURCE_ALIAS}{''.join(joins)}{where}"


def bounded_rows(rows: str, keys: int, most: int, salt: str, dialect: Dialect) -> str:
    """Select at most ``most`` rows of each subject of ``rows_by_key``.

    A salted digest of the subject and of the rows' keys chooses the rows: it depends only on the subject's
    own rows, so that adding or removing another subject changes nothing here. Rows with equal keys are
    interchangeable.
    """
    texts = [f"coalesce({dialect.cast(group_key_name(i), 'VARCHAR')}, '')" for i in range(keys)]
    row_text = " || '|' || ".join([literal(salt), _SUBJECT, *texts])
    drawn = f"SELECT r.*, {dialect.sha256.format(row_text)} AS {_DRAWN} FROM ({rows}) AS r"
    turn = f"row_number() OVER (PARTITION BY {_SUBJECT} ORDER BY {_DRAWN})"
    return f"SELECT * FROM (SELECT d.*, {turn} AS {_TURN} FROM ({drawn}) AS d) AS t WHERE {_TURN} <= {most}"


def key_counts(rows: str, keys: int) -> str:
    """Count the rows of each combination of keys that occurs."""
    names = ", ".join(group_key_name(i) for i in range(keys))
    return f"SELECT {names}, count(*) AS {GROUP_COUNT} FROM ({rows}) AS r GROUP BY {names}"


def marginal_counts(table: str, keys: Sequence[int], dialect: Dialect) -> str:
    """Sum the rows of each combination of some keys, from a table of ``key_counts``."""
    names = ", ".join(group_key_name(i) for i in keys)
    total = dialect.cast(f"sum({GROUP_COUNT})", "BIGINT")
    return f"SELECT {names}, {total} AS {GROUP_COUNT} FROM {identifier(table)} GROUP BY {names}"


def source_row_count(relation: str) -> str:
    """Count the rows of a relation."""
    return f"SELECT count(*) FROM {relation} AS {SOURCE_ALIAS}"


def select_group(query: str, group: str, number: int) -> str:
    """Select the rows of one group; ``group`` is the column of group numbers."""
    return f"SELECT * FROM ({query}) AS held WHERE {identifier(group)} = {number}"


def union_all(tables: Sequence[str], columns: Sequence[str]) -> str:
    """Concatenate the rows of one or more tables with the same columns.

    Halves are united first, so that the nesting grows with the logarithm of the number of tables.
    """
    if len(tables) == 1:
        return f"SELECT {', '.join(map(identifier, columns))} FROM {identifier(tables[0])}"
    half = len(tables) // 2
    return f"({union_all(tables[:half], columns)}) UNION ALL ({union_all(tables[half:], columns)})"
