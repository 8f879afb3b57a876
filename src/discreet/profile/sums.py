"""Columns that are sums of others, in every row: what a release hides of one, the others tell.

A difference is such a sum, too: net = gross - tax says that gross = net + tax. A relation that holds in
every row holds for the sums of any rows, so candidates are looked for among sums of some rows, one for each
set of columns that are NULL together; only candidates are tried on every row. Cost: a scan of some thousand
rows, and one of the table where there is a candidate. No cell leaves the engine.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from discreet.engines.base import Engine, SourceTable
from discreet.engines.scratch import TemporaryTables
from discreet.profile.columns import ColumnProfile
from discreet.sql.names import identifier

MOST_COLUMNS = 24
"""Of a table's columns of numbers, those with most values are looked at, so many."""

FEWEST_ROWS = 20
"""A relation is told where at least so many rows have all its values."""

FEWEST_VALUES = 5
"""What is a sum has at least so many values: of few, coincidence makes sums."""

_MOST_PARTS = 4
_SOME_ROWS = 20_000
_MOST_NULL_SETS = 64
_MOST_CANDIDATES = 100
_OF_SUMS, _OF_CELLS = 1e-9, 1e-13


@dataclass(frozen=True)
class ColumnSum:
    """A column that is the sum of others in each of the ``rows`` that have all the values."""

    total: str
    parts: tuple[str, ...]
    rows: int

    def __str__(self) -> str:
        parts = " + ".join(f"'{part}'" for part in self.parts)
        return f"'{self.total}' = {parts}"


def sums_of(engine: Engine, table: SourceTable, columns: Sequence[ColumnProfile]) -> tuple[ColumnSum, ...]:
    """The columns of numbers that are sums of two to four others, with the fewest parts that make each.

    What says so is arithmetic of floating-point numbers: sums agree to the thirteenth digit.
    """
    numbers = [c for c in columns if c.numbers and c.distinct > 1 and c.filled >= FEWEST_ROWS]
    if len(numbers) < 3:
        return ()
    most = sorted(numbers, key=lambda column: -column.distinct)[:MOST_COLUMNS]
    kept = [c for c in numbers if c in most]
    asked = [c.name for c in kept]
    totals = [i for i, column in enumerate(kept) if column.distinct >= FEWEST_VALUES]
    candidates = list(_candidates(_some_sums(engine, table, asked), totals))[:_MOST_CANDIDATES]
    if not candidates:
        return ()
    counted = [part for total, parts in candidates for part in _verifying(total, parts)]
    with TemporaryTables(engine) as tables:
        # Stored, since the embedded engine writes what a cell is into each place that names it, and takes
        # ten seconds to plan the statement where cells are written in a form.
        stored = tables.create(
            _numbers(table, asked, {i for each in candidates for i in (each[0], *each[1])})
        )
        found = engine.fetch_rows(f"SELECT {', '.join(counted)} FROM {identifier(stored)}")[0]
    told: list[ColumnSum] = []
    for place, (total, parts) in enumerate(candidates):
        rows, wrong = map(int, found[2 * place : 2 * place + 2])
        known = [sum_ for sum_ in told if sum_.total == asked[total] and len(sum_.parts) < len(parts)]
        if rows >= FEWEST_ROWS and not wrong and not known:
            told.append(ColumnSum(asked[total], tuple(asked[part] for part in parts), rows))
    return tuple(told)


def _numbers(
    table: SourceTable, names: Sequence[str], places: Collection[int], some: int | None = None
) -> str:
    """Columns ``x0``, ``x1``, … at some places: the number of each cell, NULL for what is none.

    Of ``some`` rows, or of all.
    """
    rows = table.relation if some is None else f"(SELECT * FROM {table.relation} LIMIT {some}) AS taken"
    chosen = sorted(places)
    said = [f"{table.dialect.try_double.format(f'({table.text(names[i])})')} AS y{i}" for i in chosen]
    sure = [f"CASE WHEN y{i} BETWEEN -1e300 AND 1e300 THEN y{i} END AS x{i}" for i in chosen]
    return f"SELECT {', '.join(sure)} FROM (SELECT {', '.join(said)} FROM {rows}) AS numbers"


def _verifying(total: int, parts: Sequence[int]) -> tuple[str, str]:
    """How many rows have all the values, and in how many of these the parts do not make the total."""
    every = [f"x{i}" for i in (total, *parts)]
    there = " AND ".join(f"{cell} IS NOT NULL" for cell in every)
    made = " + ".join(every[1:])
    size = " + ".join(f"abs({cell})" for cell in every)
    differs = f"abs({every[0]} - ({made})) > {_OF_CELLS} * ({size})"
    return f"count(*) FILTER (WHERE {there})", f"count(*) FILTER (WHERE {there} AND {differs})"


def _some_sums(
    engine: Engine, table: SourceTable, names: Sequence[str]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Sums of each column, and of its absolute values, by the columns that some rows have; NaN where NULL."""
    some = _numbers(table, names, range(len(names)), _SOME_ROWS)
    nulls = " || ".join(f"CASE WHEN x{i} IS NULL THEN '0' ELSE '1' END" for i in range(len(names)))
    summed = ", ".join(f"sum(x{i}), sum(abs(x{i}))" for i in range(len(names)))
    found = engine.fetch_rows(
        f"SELECT {nulls} AS filled, count(*) AS n, {summed} FROM ({some}) AS s "
        f"GROUP BY {nulls} ORDER BY n DESC, filled LIMIT {_MOST_NULL_SETS}"
    )
    both = np.array([row[2:] for row in found], dtype=np.float64).reshape(-1, 2 * len(names))
    return both[:, ::2], both[:, 1::2]


def _candidates(
    sums: tuple[NDArray[np.float64], NDArray[np.float64]], totals: Sequence[int]
) -> Iterator[tuple[int, tuple[int, ...]]]:
    """Columns whose sums are those of two or more others, wherever some rows have them all; fewest first."""
    values, sizes = sums
    number = values.shape[1]
    for size in range(2, min(_MOST_PARTS, number - 1) + 1):
        sets = np.array(list(combinations(range(number), size)))
        made, scale = values[:, sets].sum(axis=2), sizes[:, sets].sum(axis=2)
        for total in totals:
            with np.errstate(invalid="ignore"):
                apart = np.abs(made - values[:, [total]]) > _OF_SUMS * (scale + sizes[:, [total]])
            there = ~np.isnan(made + values[:, [total]])
            fits = there.any(axis=0) & ~(apart & there).any(axis=0) & (sets != total).all(axis=1)
            yield from ((total, tuple(map(int, sets[place]))) for place in np.flatnonzero(fits))
