"""Scans of an opened table's columns: missing-value codes, and values that occur in only one row.

Codes need one scan per hundred columns. Unique values need one grouping of the cells, and one grouping by the
quasi-identifiers per column.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from discreet.engines.base import Engine, SourceTable
from discreet.model.coded_warnings import SingleValues
from discreet.model.missing_value_codes import (
    MARK_NUMBERS,
    MARK_OPENINGS,
    MARK_SPELLINGS,
    MissingMark,
    RemainingCells,
    detect_marks,
)
from discreet.sql import column_statistics as sql
from discreet.sql.audit_classes import relation_without_stars
from discreet.sql.cell_expressions import (
    batched,
    decimals_of,
    is_binary,
    is_floating,
    is_nested,
    is_never_text,
    unpivot,
)
from discreet.sql.quoting import literal

_AT_ONCE = 100
_CODES = frozenset(MARK_NUMBERS)


def find_missing_marks(
    engine: Engine, table: SourceTable, names: Sequence[str], sensitive: Sequence[str]
) -> dict[str, tuple[MissingMark, ...]]:
    """Find the missing-value marks of some columns, the most frequent first.

    Columns without marks are omitted. A number counts as a mark only if it is far from the column's other
    numbers. Cost: one scan per hundred columns, and another one if such numbers occur.
    """
    readable = [name for name in names if _may_hold(table.types[name])]
    result: dict[str, tuple[MissingMark, ...]] = {}
    for some in batched(readable, _AT_ONCE):
        result |= _of_columns(engine, table, some, sensitive)
    return result


def _may_hold(type_name: str) -> bool:
    if is_nested(type_name) or is_binary(type_name):
        return False
    return not is_never_text(type_name) or is_floating(type_name) or decimals_of(type_name) is not None


def _of_columns(
    engine: Engine, table: SourceTable, names: Sequence[str], sensitive: Sequence[str]
) -> dict[str, tuple[MissingMark, ...]]:
    every = unpivot(table.dialect, table.relation, list(map(table.text, names)))
    listed = ", ".join(literal(text) for text in MARK_SPELLINGS)
    begins = ", ".join(literal(mark) for mark in f" \t\u00a0{MARK_OPENINGS}")
    numbers = ", ".join(literal(number) for number in MARK_NUMBERS)
    counted = engine.fetch_rows(
        f"SELECT place, v, count(*) AS n FROM ({every}) AS c WHERE v IN ({numbers}) "
        f"OR lower(v) IN ({listed}) OR left(v, 1) IN ({begins}) GROUP BY place, v"
    )
    texts: dict[int, list[tuple[str, int]]] = {}
    for index, text, rows in counted:
        texts.setdefault(int(index), []).append((str(text), int(rows)))
    coded = [index for index in sorted(texts) if any(text in _CODES for text, _ in texts[index])]
    others = _other_cells(engine, table, every, coded) if coded else {}
    result = {}
    for index in sorted(texts):
        marks = detect_marks(
            [text for text, _ in texts[index]],
            [rows for _, rows in texts[index]],
            sensitive=names[index] in sensitive,
            others=others.get(index, RemainingCells(0, 0)),
        )
        if marks:
            result[names[index]] = marks
    return result


def _other_cells(
    engine: Engine, table: SourceTable, every: str, places: Sequence[int]
) -> dict[int, RemainingCells]:
    number = table.dialect.try_double.format("v")
    listed = ", ".join(literal(text) for text in MARK_NUMBERS)
    found = engine.fetch_rows(
        # Only numbers that are not codes: their range decides whether a code is far from them.
        f"SELECT place, count(y), count(*), min(y), max(y) FROM (SELECT place, {number} AS y "
        f"FROM ({every}) AS c WHERE v IS NOT NULL AND v NOT IN ({listed}) "
        f"AND place IN ({', '.join(map(str, places))})) AS n GROUP BY place"
    )
    return {
        int(index): RemainingCells(
            int(numbers), int(rows) - int(numbers), float(least or 0), float(most or 0)
        )
        for index, numbers, rows, least, most in found
    }


_MOST_COLUMNS = 16


def count_single_values(
    engine: Engine,
    table: SourceTable,
    columns: Sequence[str],
    keys: Sequence[str],
    rows: int,
    *,
    starred_apart: bool = False,
    every: bool = False,
) -> tuple[SingleValues, ...]:
    """Count, for each column, the rows whose value of the column occurs in no other row.

    ``keys`` are the quasi-identifiers, ``rows`` is the number of rows of the table. With ``starred_apart``,
    rows whose cells are all ``*`` are left out. Counts within classes cover the columns that have a unique
    value, with ``every`` also the others, at most sixteen columns. Cost: one grouping of the columns' cells,
    and one by the quasi-identifiers for each column that is counted within classes.
    """
    named = [name for name in columns if not (is_nested(table.types[name]) or is_binary(table.types[name]))]
    apart = starred_apart and not any(map(is_never_text, table.types.values()))
    relation = relation_without_stars(
        table.relation, [table.text(name) for name in table.columns] if apart else []
    )
    found: list[SingleValues] = []
    for some in batched(named):
        texts = [table.text(name) for name in some]
        unique_counts = dict(engine.fetch_rows(sql.unique_in_table(table.dialect, relation, texts)))
        found += [
            SingleValues(name, rows, int(unique_counts.get(index, 0)), 0) for index, name in enumerate(some)
        ]
    counted = [each.column for each in found if each.unique_rows or every][:_MOST_COLUMNS]
    return tuple(
        _with_classes(engine, table, relation, keys, each) if each.column in counted else each
        for each in found
    )


def _with_classes(
    engine: Engine, table: SourceTable, relation: str, keys: Sequence[str], single_values: SingleValues
) -> SingleValues:
    """Add the number of rows whose value is unique within their class."""
    if not keys:
        return replace(single_values, in_class=single_values.unique_rows)
    texts = [table.text(key) for key in keys]
    number = engine.fetch_rows(
        sql.unique_in_class(table.dialect, relation, texts, table.text(single_values.column))
    )[0][0]
    return replace(single_values, in_class=int(number))
