"""Texts and numbers of an opened table that say that a value is missing."""

from __future__ import annotations

from collections.abc import Sequence

from discreet.engines.base import Engine, SourceTable
from discreet.model.missing_marks import NUMBERS, OPENINGS, SPELLINGS, Mark, OtherCells, marks_among
from discreet.sql.cells import cells, in_parts
from discreet.sql.names import literal
from discreet.sql.source import decimals_of, is_binary, is_floating, is_nested, is_never_text

_AT_ONCE = 100
_CODES = frozenset(NUMBERS)


def marks_in(
    engine: Engine, table: SourceTable, names: Sequence[str], sensitive: Sequence[str]
) -> dict[str, tuple[Mark, ...]]:
    """Find the marks of some columns, the most frequent first; columns without are left out.

    A number is one only where it lies apart from the column's other numbers. Cost: a scan for each hundred
    columns, and another where such numbers occur.
    """
    readable = [name for name in names if _may_hold(table.types[name])]
    found: dict[str, tuple[Mark, ...]] = {}
    for some in in_parts(readable, _AT_ONCE):
        found |= _of_columns(engine, table, some, sensitive)
    return found


def _may_hold(type_name: str) -> bool:
    if is_nested(type_name) or is_binary(type_name):
        return False
    return not is_never_text(type_name) or is_floating(type_name) or decimals_of(type_name) is not None


def _of_columns(
    engine: Engine, table: SourceTable, names: Sequence[str], sensitive: Sequence[str]
) -> dict[str, tuple[Mark, ...]]:
    every = cells(table.dialect, table.relation, list(map(table.text, names)))
    listed = ", ".join(literal(text) for text in SPELLINGS)
    begins = ", ".join(literal(mark) for mark in f" \t\u00a0{OPENINGS}")
    numbers = ", ".join(literal(number) for number in NUMBERS)
    counted = engine.fetch_rows(
        f"SELECT place, v, count(*) AS n FROM ({every}) AS c WHERE v IN ({numbers}) "
        f"OR lower(v) IN ({listed}) OR left(v, 1) IN ({begins}) GROUP BY place, v"
    )
    texts: dict[int, list[tuple[str, int]]] = {}
    for place, text, rows in counted:
        texts.setdefault(int(place), []).append((str(text), int(rows)))
    coded = [place for place in sorted(texts) if any(text in _CODES for text, _ in texts[place])]
    others = _other_cells(engine, table, every, coded) if coded else {}
    found = {}
    for place in sorted(texts):
        marks = marks_among(
            [text for text, _ in texts[place]],
            [rows for _, rows in texts[place]],
            sensitive=names[place] in sensitive,
            others=others.get(place, OtherCells(0, 0)),
        )
        if marks:
            found[names[place]] = marks
    return found


def _other_cells(
    engine: Engine, table: SourceTable, every: str, places: Sequence[int]
) -> dict[int, OtherCells]:
    number = table.dialect.try_double.format("v")
    listed = ", ".join(literal(text) for text in NUMBERS)
    found = engine.fetch_rows(
        f"SELECT place, count(y), count(*), min(y), max(y) FROM (SELECT place, {number} AS y "
        f"FROM ({every}) AS c WHERE v IS NOT NULL AND v NOT IN ({listed}) "
        f"AND place IN ({', '.join(map(str, places))})) AS n GROUP BY place"
    )
    return {
        int(place): OtherCells(int(numbers), int(rows) - int(numbers), float(least or 0), float(most or 0))
        for place, numbers, rows, least, most in found
    }
