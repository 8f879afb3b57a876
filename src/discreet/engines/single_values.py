"""Count the rows of an opened table that a value of a column singles out."""

from __future__ import annotations

from collections.abc import Sequence

from discreet.engines.base import Engine, SourceTable
from discreet.model.single_values import SingleValues
from discreet.sql import single_values as sql
from discreet.sql.cells import in_parts
from discreet.sql.source import is_binary, is_nested, is_never_text
from discreet.sql.verify import without_stars

_MOST_COLUMNS = 16


def single_values(
    engine: Engine,
    table: SourceTable,
    columns: Sequence[str],
    keys: Sequence[str],
    rows: int,
    *,
    starred_apart: bool = False,
    every: bool = False,
) -> tuple[SingleValues, ...]:
    """Count the rows that have a value of a column which no other row has, of each column.

    ``keys`` are the quasi-identifiers, ``rows`` the rows of the table; with ``starred_apart`` rows of which
    every cell is ``*`` are left out. Within classes, columns are counted that have a value in one row only,
    and with ``every`` the others too; at most sixteen. Cost: a grouping of the columns' cells, and one by the
    quasi-identifiers for each column that is counted within classes.
    """
    named = [name for name in columns if not (is_nested(table.types[name]) or is_binary(table.types[name]))]
    apart = starred_apart and not any(map(is_never_text, table.types.values()))
    relation = without_stars(table.relation, [table.text(name) for name in table.columns] if apart else [])
    found: list[SingleValues] = []
    for some in in_parts(named):
        texts = [table.text(name) for name in some]
        alone = dict(engine.fetch_rows(sql.alone_in_table(table.dialect, relation, texts)))
        found += [SingleValues(name, rows, int(alone.get(place, 0)), 0) for place, name in enumerate(some)]
    counted = [each.column for each in found if each.alone or every][:_MOST_COLUMNS]
    return tuple(
        _with_classes(engine, table, relation, keys, each) if each.column in counted else each
        for each in found
    )


def _with_classes(
    engine: Engine, table: SourceTable, relation: str, keys: Sequence[str], found: SingleValues
) -> SingleValues:
    """The same with the rows that are alone within their class."""
    if not keys:
        return SingleValues(found.column, found.rows, found.alone, found.alone)
    texts = [table.text(key) for key in keys]
    number = engine.fetch_rows(sql.alone_in_class(table.dialect, relation, texts, table.text(found.column)))[
        0
    ][0]
    return SingleValues(found.column, found.rows, found.alone, int(number))
