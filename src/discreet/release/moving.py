"""Moving sensitive values within groups: which value goes to which row is drawn here, and never kept.

On the embedded engine by arrays: an order of all rows is drawn, and each row is told where its value comes
from. On any other inside the database: it is told how many rows of each stratum go to which group, draws
which ones, and matches rows and values of a group by two random rankings (``sql.permuted``).
"""

from __future__ import annotations

import numpy as np

from discreet.errors import InternalError
from discreet.permutation.draw import Draw
from discreet.permutation.narrow import Whole, narrow
from discreet.permutation.permuting import keeps_groups, permute_within
from discreet.permutation.strata import Strata
from discreet.release.held import HeldRows
from discreet.release.number_types import value_type
from discreet.sql import permuted as sql
from discreet.sql.side_by_side import rows_beside, values_alike
from discreet.sql.units import of_units


def moved_values(
    held: HeldRows,
    groups: Whole,
    numbers: Whole,
    rows: Whole | None,
    draw: Draw,
) -> str:
    """The table of released rows (``sql.permuted.moved_rows``), whose order is not that of what is written.

    ``groups`` (rows,) are of the held rows or places ``rows``, or of all; ``numbers`` (groups,) is what each
    group is called. ``InternalError`` where a value would leave its group.
    """
    if held.strata is None:
        return _by_arrays(held, groups, numbers, rows, draw)
    return _in_database(held, held.strata, groups, numbers, rows)


def _by_arrays(
    held: HeldRows,
    groups: Whole,
    numbers: Whole,
    rows: Whole | None,
    draw: Draw,
) -> str:
    sources = permute_within(groups, draw)
    if not keeps_groups(groups, sources):
        raise _left_its_group()
    if rows is None and held.told_by_codes:
        moved = _beside(held, groups, numbers, sources)
        if moved is not None:
            return moved
    if rows is not None:
        sources = rows[sources]
    chosen = np.arange(held.rows, dtype=sources.dtype) if rows is None else rows
    move = held.tables.load({sql.ROW: chosen, sql.SOURCE: sources, sql.GROUP: numbers[groups]})
    del chosen, sources
    moved = held.tables.create(sql.moved_rows(held.table, move, held.kept, held.value))
    for name in (move, held.table):
        held.tables.drop(name)
    return moved


def _beside(held: HeldRows, groups: Whole, numbers: Whole, sources: Whole) -> str | None:
    """The table of released rows, its values from arrays, so that rows need not look for them.

    None where the engine does not hold its rows in the order of their numbers.
    """
    column, dialect, tables = held.sensitive, held.engine.dialect, held.tables
    assert column.numbers is not None
    house = value_type(held)
    units = column.numbers.astype(narrow(held.widest + 1))[column.codes[sources]]
    rows = np.arange(held.rows, dtype=sources.dtype)
    move = tables.load({sql.ROW: rows, sql.GROUP: numbers[groups], sql.VALUE: units})
    del rows, units
    value = dialect.cast(of_units(dialect, f"m.{sql.VALUE}", column.scale), house)
    moved = tables.create(rows_beside(held.table, move, held.kept, value))
    tables.drop(move)
    query = values_alike(dialect, held.table, held.value, moved, sql.VALUE, house)
    found, alike = held.engine.fetch_rows(query)[0]
    if found != held.rows:
        tables.drop(moved)
        return None
    if not alike:
        raise _left_its_group()
    tables.drop(held.table)
    return moved


def _in_database(
    held: HeldRows,
    strata: Strata,
    groups: Whole,
    numbers: Whole,
    places: Whole | None,
) -> str:
    dialect, tables, kept = held.engine.dialect, held.tables, held.kept
    assert held.coded is not None
    stratum, group, first, rows = strata.parts(groups, places)
    whole, group = strata.whole(stratum, rows), numbers[group]
    split = ~whole
    of_whole = tables.load({sql.STRATUM: stratum[whole], sql.GROUP: group[whole]})
    parts = tables.load(
        {sql.STRATUM: stratum[split], sql.GROUP: group[split], sql.FIRST: first[split], sql.ROWS: rows[split]}
    )
    seated = tables.create(sql.seats(dialect, parts))
    keyed = tables.create(
        sql.keyed_rows(
            dialect,
            held.table,
            held.value_text,
            held.coded,
            strata.table,
            strata.keys,
            kept,
            held.value,
            of_whole,
        )
    )
    parted = None
    if np.count_nonzero(whole) < len(strata.counts):
        parted = tables.create(sql.split_rows(keyed, seated, kept))
    placed = sql.placed_rows(keyed, parted, kept)
    for name in (parts, seated, of_whole):
        tables.drop(name)
    moved = tables.create(sql.permuted_rows(placed, kept))
    found, lost = held.engine.fetch_rows(sql.lost_values(placed, moved))[0]
    if found != len(groups) or lost:
        raise _left_its_group()
    tables.drop(keyed)
    if parted is not None:
        tables.drop(parted)
    return moved


def _left_its_group() -> InternalError:
    return InternalError("a sensitive value would leave its group", advice="Please report this.")
