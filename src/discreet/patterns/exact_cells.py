"""The cells of a pattern mask: which row types could share an output row type (Bredereck et al. 2013).

A cell is a pattern together with values for the columns that it shows, at its levels; whoever agrees with it
on those columns may be published as that one output row type. Only cells with at least k rows can ever be
used, and this filter alone takes most of them away.

Cost: one grouping of the row types per pattern.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from discreet.errors import LimitReached
from discreet.model.frequency_set import FrequencySet
from discreet.model.pattern import PatternMask

_FINEST = 10**6
_SAME = 1e-12
_LARGEST_KEY = 2**62
_BYTES_PER_PAIR = 200


@dataclass(frozen=True, eq=False)
class PatternTable:
    """Row types, patterns and what a row costs under each pattern.

    ``columns[j][level]`` holds the value of attribute j at a level for each row type, as codes from 0; below
    the top only, for at the top all agree. ``counts`` holds rows. ``levels`` has shape ``(patterns,
    attributes)`` and lacks the pattern of all stars; ``costs`` holds the cost of one row under each pattern
    in whole steps, ``outlier_cost`` that of a row of all stars; ``steps`` of them make a cost of 1.
    """

    columns: tuple[tuple[NDArray[np.int64], ...], ...]
    counts: NDArray[np.int64]
    levels: NDArray[np.int16]
    costs: NDArray[np.int64]
    outlier_cost: int
    steps: int = 1

    @property
    def rows(self) -> int:
        """Rows of the table."""
        return int(self.counts.sum())

    def values(self, pattern: int) -> list[NDArray[np.int64]]:
        """The columns that a pattern shows, at its levels."""
        shown = zip(self.columns, self.levels[pattern].tolist(), strict=True)
        return [column[level] for column, level in shown if level < len(column)]


def table_of(frequency_set: FrequencySet, mask: PatternMask) -> tuple[PatternTable, NDArray[np.int64]]:
    """The table of a mask, and the place in the mask of each of its patterns; costs in whole steps.

    Costs are taken for fractions with a small common denominator where they are; else they are rounded to a
    millionth of the cost of all stars.
    """
    columns = tuple(
        tuple(hierarchy.level_map(level)[codes].astype(np.int64) for level in range(hierarchy.height))
        for hierarchy, codes in zip(frequency_set.hierarchies, frequency_set.codes.T, strict=True)
    )
    places = np.flatnonzero(np.arange(len(mask)) != (-1 if mask.all_star is None else mask.all_star))
    every = np.append(mask.pattern_costs[places], mask.top_cost)
    steps = _denominator(every)
    costs = np.rint(every * steps).astype(np.int64)
    levels = mask.levels[places]
    return PatternTable(columns, frequency_set.counts, levels, costs[:-1], int(costs[-1]), steps), places


def _denominator(costs: NDArray[np.float64]) -> int:
    """The least common denominator of the costs up to a million, else one that rounds them to a millionth."""
    found = 1
    for cost in np.unique(costs):
        fraction = Fraction(float(cost)).limit_denominator(1000)
        if abs(float(fraction) - float(cost)) > _SAME * max(1.0, float(cost)):
            return math.ceil(_FINEST / max(float(costs.max()), 1.0))
        found = math.lcm(found, fraction.denominator)
        if found > _FINEST:
            return math.ceil(_FINEST / max(float(costs.max()), 1.0))
    return found


@dataclass(frozen=True, eq=False)
class CellCover:
    """Cells in order of (cost, pattern), and the row types that fit each.

    Cell c belongs to pattern ``patterns[c]``, costs ``costs[c]`` a row, and its row types are
    ``members[offsets[c]:offsets[c + 1]]``, ascending; together they hold ``sizes[c]`` rows.
    """

    patterns: NDArray[np.int64]
    costs: NDArray[np.int64]
    sizes: NDArray[np.int64]
    offsets: NDArray[np.int64]
    members: NDArray[np.int64]

    @property
    def cell_count(self) -> int:
        """The number of cells."""
        return len(self.patterns)

    def cell_of_pair(self) -> NDArray[np.int64]:
        """The cell beside each entry of ``members``."""
        return np.repeat(np.arange(self.cell_count), np.diff(self.offsets))

    def kept(self, keep: NDArray[np.bool_]) -> CellCover:
        """The cover with the cells of ``keep`` alone."""
        lengths = np.diff(self.offsets)
        return CellCover(
            self.patterns[keep],
            self.costs[keep],
            self.sizes[keep],
            np.concatenate([[0], np.cumsum(lengths[keep])]).astype(np.int64),
            self.members[np.repeat(keep, lengths)],
        )


def group_row_types(columns: list[NDArray[np.int64]], row_types: int) -> NDArray[np.int64]:
    """Group numbers from 0: row types that agree in every column share one. Shape ``(row types,)``."""
    key = np.zeros(row_types, np.int64)
    groups = 1
    for column in columns:
        size = int(column.max(initial=0)) + 1
        if groups * size >= _LARGEST_KEY:
            key = np.unique(key, return_inverse=True)[1].astype(np.int64)
            groups = int(key.max(initial=0)) + 1
        key = key * size + column
        groups *= size
    return np.unique(key, return_inverse=True)[1].astype(np.int64)


def cover_of(table: PatternTable, k: int, memory_limit: int) -> CellCover:
    """Every cell of at least k rows. ``LimitReached`` where they would not fit ``memory_limit``."""
    order = np.argsort(table.costs, kind="stable")
    patterns, sizes, lengths, members = [], [], [], []
    pairs = 0
    for pattern in order:
        group = group_row_types(table.values(int(pattern)), len(table.counts))
        rows = np.bincount(group, weights=table.counts).astype(np.int64)
        large = rows >= k
        number = np.cumsum(large) - 1
        inside = np.flatnonzero(large[group])
        inside = inside[np.argsort(number[group[inside]], kind="stable")]
        pairs += len(inside)
        if pairs * _BYTES_PER_PAIR > memory_limit:
            raise LimitReached(
                f"the cells of {len(order):,} patterns with at least {k} rows hold more than "
                f"{pairs:,} row types",
                allowed=f"about {memory_limit // _BYTES_PER_PAIR:,} within the memory limit",
                advice="Allow fewer patterns, raise the memory limit, or use the greedy.",
            )
        members.append(inside)
        lengths.append(np.bincount(number[group[inside]], minlength=int(large.sum())))
        sizes.append(rows[large])
        patterns.append(np.full(int(large.sum()), pattern, np.int64))
    found = np.concatenate([np.zeros(0, np.int64), *patterns])
    return CellCover(
        found,
        table.costs[found],
        np.concatenate([np.zeros(0, np.int64), *sizes]),
        np.concatenate([[0], np.cumsum(np.concatenate([np.zeros(0, np.int64), *lengths]))]).astype(np.int64),
        np.concatenate([np.zeros(0, np.int64), *members]).astype(np.int64),
    )
