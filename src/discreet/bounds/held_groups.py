"""Queries of a permuted release that is held, answered by arrays: nothing is joined with the help table.

Where every row has an exact number, all columns of a help table follow from one, the values in order (the
audit compares them): sums are differences of running ones. So 16 bytes per row are held. For a query the
engine names the group and the key of each row that meets the condition, in one whole number; a compiled loop
counts them and looks up what they stand for.

Cost of a query of h hits: the scan (twice where keys that are no small numbers are numbered first), and h
numbers fetched.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.engines.base import Engine
from discreet.engines.scratch import TemporaryTables
from discreet.errors import LimitReached
from discreet.frequency.kernel_choice import choose_kernels
from discreet.kernels.hit_bounds_twin import GroupedValues, HitBounds, bound_hits_twin
from discreet.queries.asked import AskedAggregate, AskedQuery
from discreet.queries.packed_hits import (
    CODE,
    PACKED,
    KeyNumbers,
    key_ends,
    key_types,
    numbered_keys,
    numbers_between,
    packed_hits,
)
from discreet.queries.query import Aggregate
from discreet.queries.rewriting import PermutedTables
from discreet.sql.help_table import GROUP_ROWS, GROUP_VALUES, HITS
from discreet.sql.names import identifier
from discreet.sql.source import is_long
from discreet.sql.units import LONG_DIGITS, in_units

Whole = NDArray[np.int64]

_EXACT = 1 << 53
"""Sums below it are the same as doubles, which averages are."""
_NUMBERED = 1 << 31
_BYTES = 48
"""Per row, while values are put in their places."""
_WORTH = 500_000


@dataclass(frozen=True, eq=False)
class HeldGroups:
    """The values of each group in units of the last of ``scale`` decimals, and the tables they are of."""

    grouped: GroupedValues
    scale: int
    tables: PermutedTables

    def lines(self, engine: Engine, asked: AskedQuery) -> list[tuple[Any, ...]]:
        """What the rewritten query of ``queries.rewriting`` gives: a line for each key."""
        with TemporaryTables(engine) as scratch:
            numbers = self._numbers(engine, asked, scratch)
            last = self.grouped.first + len(self.grouped.starts)
            query = packed_hits(asked, self.tables, engine.dialect, numbers, last)
            packed = engine.fetch_arrays(query)[PACKED]
        found = self._bounds(packed, numbers.bits, asked, len(numbers.keys))
        met = [place for place in range(len(numbers.keys)) if found.hits[place] or not asked.keys]
        return [self._line(asked.aggregates, numbers.keys[place], found, place) for place in met]

    def _numbers(self, engine: Engine, asked: AskedQuery, scratch: TemporaryTables) -> KeyNumbers:
        if not asked.keys:
            return KeyNumbers()
        if len(asked.keys) == 1:
            (kind,) = engine.column_types(key_types(asked, self.tables))
            if is_long(kind):
                least, most = engine.fetch_rows(key_ends(asked, self.tables))[0]
                numbers = numbers_between(asked, engine.dialect, kind, (least, most))
                if numbers is not None:
                    return numbers
        table = identifier(scratch.create(numbered_keys(asked, self.tables, engine.dialect)))
        occurring = engine.fetch_rows(f"SELECT * FROM {table} ORDER BY {CODE}")
        return KeyNumbers(tuple(line[1:] for line in occurring), f"k.{CODE}", table)

    def _bounds(self, packed: NDArray[Any], bits: int, asked: AskedQuery, keys: int) -> HitBounds:
        """What hits stand for, by key."""
        found, part = HitBounds.of_none(keys), f"hit-bounds-{packed.dtype.itemsize}"
        if not choose_kernels([part], "query", worth=len(packed) > _WORTH):
            bound_hits_twin(packed, bits, self.grouped, found)
            return found
        from discreet.kernels.hit_bounds import bound_hits
        from discreet.kernels.readiness import mark_compiled

        with_ends = any(a.aggregate in (Aggregate.MIN, Aggregate.MAX) for a in asked.aggregates)
        bound_hits(packed, bits, with_ends, self.grouped, found)
        mark_compiled(part)
        return found

    def _line(
        self, asked: Sequence[AskedAggregate], key: tuple[Any, ...], found: HitBounds, place: int
    ) -> tuple[Any, ...]:
        hits = int(found.hits[place])
        sums = int(found.sum_lower[place]), int(found.sum_upper[place])
        expected = float(found.expected[place]) / 10**self.scale
        ends = [Decimal(int(end)).scaleb(-self.scale) for end in found.ends[place]]
        cells: dict[Aggregate, tuple[Any, ...]] = dict.fromkeys(Aggregate, (None, None, None))
        cells[Aggregate.COUNT] = hits, hits, float(hits)
        if hits:
            cells[Aggregate.SUM] = (*(Decimal(sum_).scaleb(-self.scale) for sum_ in sums), expected)
            cells[Aggregate.AVG] = (*(sum_ / 10**self.scale / hits for sum_ in sums), expected / hits)
            cells[Aggregate.MIN] = (*ends[:2], float(ends[2]))
            cells[Aggregate.MAX] = (*ends[3:5], float(ends[5]))
        return (*key, *(cell for aggregate in asked for cell in cells[aggregate.aggregate]))


def hold_groups(engine: Engine, tables: PermutedTables) -> HeldGroups | None:
    """The values of a release's groups, read from its help table.

    None where some row has no value, values are no exact numbers or their sums pass 53 bits, memory does not
    hold them, or the help table's lines are not those of the release's groups.
    """
    if not tables.numeric or tables.has_null or tables.scale is None or tables.scale + 1 >= LONG_DIGITS:
        return None
    reading = _Reading(engine, tables, tables.scale)
    starts = reading.starts()
    if starts is None or not reading.is_exact():
        return None
    try:
        engine.leave_room(_BYTES * int(starts[1][-1]))
    except LimitReached:
        return None
    grouped = reading.grouped(*starts)
    return None if grouped is None else HeldGroups(grouped, tables.scale, tables)


@dataclass(frozen=True)
class _Reading:
    """Reads a help table, whose lines come in no order: each says its group and hits."""

    engine: Engine
    tables: PermutedTables
    scale: int

    @property
    def _group(self) -> str:
        return self.engine.dialect.identifier(self.tables.group_column)

    def starts(self) -> tuple[int, Whole] | None:
        """The first group's number, and where each begins; None where groups or their lines are not whole."""
        same = [f"min({name}) = count(*) AND max({name}) = count(*)" for name in (GROUP_ROWS, GROUP_VALUES)]
        same += [f"min({HITS}) = 1 AND max({HITS}) = count(*) AND count({HITS}) = count(*)"]
        lines = self._counts(self.tables.help, f"CASE WHEN {' AND '.join(same)} THEN 1 ELSE 0 END")
        rows = self._counts(self.tables.release, "1")
        groups = lines["g"].astype(np.int64)
        if not len(groups) or groups[0] < 0 or groups[-1] + 1 >= _NUMBERED or not lines["same"].all():
            return None
        alike = all(np.array_equal(lines[name], rows[name]) for name in ("g", "n"))
        if not alike or not np.array_equal(groups, groups[0] + np.arange(len(groups))):
            return None
        return int(groups[0]), np.concatenate(([0], np.cumsum(lines["n"]))).astype(np.int64)

    def _counts(self, relation: str, same: str) -> dict[str, NDArray[Any]]:
        """How many rows of a table each group has, by group; -1 is none."""
        group = f"coalesce({self._group}, -1)"
        columns = f"{group} AS g, count(*) AS n, {same} AS same"
        counted = self.engine.fetch_arrays(f"SELECT {columns} FROM {relation} AS t GROUP BY {group}")
        order = np.argsort(counted["g"])
        return {name: cells[order] for name, cells in counted.items()}

    def is_exact(self) -> bool:
        """Whether no value is NULL, and no sum of them passes 53 bits."""
        summed = "count(*) FILTER (WHERE lowest IS NULL), sum(abs(lowest))"
        nulls, sums = self.engine.fetch_rows(f"SELECT {summed} FROM {self.tables.help} AS help")[0]
        return not nulls and sums * 10**self.scale < _EXACT

    def grouped(self, first: int, starts: Whole) -> GroupedValues | None:
        """The values; None where a group has not one line for each number of hits, or they do not ascend."""
        dialect, rows = self.engine.dialect, int(starts[-1])
        cells = {n: dialect.cast(sql, "INTEGER") for n, sql in (("g", self._group), ("h", HITS))}
        cells["v"] = in_units(dialect, "lowest", self.scale)
        columns = ", ".join(f"{sql} AS {name}" for name, sql in cells.items())
        found = self.engine.fetch_arrays(f"SELECT {columns} FROM {self.tables.help} AS help")
        values = np.full(rows, _EXACT, dtype=np.int64)
        values[starts[found["g"] - first] + (found["h"] - 1)] = found["v"]
        rises = values[1:] >= values[:-1]
        rises[starts[1:-1] - 1] = True
        if (values == _EXACT).any() or not rises.all():
            return None
        return GroupedValues(first, starts, values, np.concatenate(([0], np.cumsum(values))))
