"""Which cells of a file are NULL because their word has no quotes around it."""

from __future__ import annotations

from dataclasses import replace

from discreet.engines.base import Engine
from discreet.engines.scratch import opened
from discreet.model.table_spec import SourceSpec
from discreet.sql.names import literal


def told_unquoted(engine: Engine, source: SourceSpec) -> tuple[str, ...]:
    """Name the columns with such cells and their rows; nothing where there are none. Cost: two scans.

    ``source`` says which words are NULL without quotes.
    """
    words = source.unquoted_nulls or ()
    if not words:
        return ()
    quoted, every = (_rows_with(engine, replace(source, unquoted_nulls=n), words) for n in (words, ()))
    rows = {name: every[name] - number for name, number in quoted.items()}
    cells = ", ".join(f"'{n}' in {number:,} row{'s' * (number != 1)}" for n, number in rows.items() if number)
    if not cells:
        return ()
    return (
        f"{', '.join(words)} without quotes is NULL, as the file quotes its texts: {cells}. In quotes it is "
        "a value.",
    )


def _rows_with(engine: Engine, source: SourceSpec, words: tuple[str, ...]) -> dict[str, int]:
    """The rows of each column that have one of some texts."""
    listed = ", ".join(map(literal, words))
    with opened(engine, source) as table:
        tests = [f"CASE WHEN {table.column(name)} IN ({listed}) THEN 1 ELSE 0 END" for name in table.columns]
        counts = [f"CAST(coalesce(sum({test}), 0) AS BIGINT)" for test in tests]
        found = engine.fetch_rows(f"SELECT {', '.join(counts)} FROM {table.relation}")[0]
        return dict(zip(table.columns, map(int, found), strict=True))
