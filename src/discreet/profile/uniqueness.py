"""How far a set of columns singles rows out: distinct combinations, unique rows, rows in small classes.

Definition: rows that agree in every column of a set form a class (NULL agrees with NULL); a row is unique
where its class has one row. A column that looks harmless by itself may be the one that makes a set unique, so
the worst pairs and triples are looked for too.

Cost: one sort of the rows per column beyond the first few (a count where the combinations are few enough to
number them all). The search for the worst sets looks at those first whose columns have most values, and stops
at a number of sets that keeps it near a second or two.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, islice
from math import comb

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError
from discreet.profile.coded_columns import CodedColumns

THRESHOLDS = (2, 3, 5, 10)
"""Sizes below which classes are counted as small."""

MOST_ROWS_READ = 40_000_000
"""The search for the worst sets reads about so many rows in all."""

FEWEST_SETS = 24
"""It looks at this many sets at least."""


@dataclass(frozen=True)
class SetUniqueness:
    """A set of columns, its ``distinct`` combinations, and how small their classes are.

    ``below`` has, for each of ``THRESHOLDS``, the rows in classes of fewer rows; ``smallest`` and ``mean``
    are class sizes in rows.
    """

    columns: tuple[str, ...]
    rows: int
    distinct: int
    unique_rows: int
    smallest: int
    mean: float
    below: tuple[int, ...]

    @property
    def share(self) -> float:
        """The share of the rows that are unique."""
        return self.unique_rows / self.rows if self.rows else 0.0


@dataclass(frozen=True)
class WorstSets:
    """The sets with most unique rows among those that were looked at; ``possible`` sets there are in all."""

    best: tuple[SetUniqueness, ...]
    looked_at: int
    possible: int


def uniqueness_of_set(columns: CodedColumns, names: Sequence[str]) -> SetUniqueness:
    """How far a set of columns singles rows out; ``InputError`` for a column that is not there."""
    places = [columns.position(name) for name in dict.fromkeys(names)]
    return _uniqueness(columns, places)


def worst_sets(columns: CodedColumns, names: Sequence[str], size: int, *, best: int = 5) -> WorstSets:
    """The sets of ``size`` among some columns with most unique rows; ties go to fewer, then earlier columns.

    ``InputError`` for a size below 1 or above the number of columns.
    """
    places = [columns.position(name) for name in dict.fromkeys(names)]
    if not 1 <= size <= len(places):
        raise InputError(f"sets of {size} of {len(places)} columns", allowed=f"1 to {len(places)}")
    ranked = sorted(places, key=lambda place: (-len(columns.values[place]), place))
    most = max(FEWEST_SETS, MOST_ROWS_READ // max(1, columns.rows))
    found = [_uniqueness(columns, sorted(each)) for each in islice(combinations(ranked, size), most)]
    found.sort(key=lambda each: (-each.unique_rows, -each.distinct))
    return WorstSets(tuple(found[:best]), len(found), comb(len(places), size))


def _uniqueness(columns: CodedColumns, places: Sequence[int]) -> SetUniqueness:
    sizes = class_sizes(columns, places)
    below = tuple(int(sizes[sizes < threshold].sum()) for threshold in THRESHOLDS)
    return SetUniqueness(
        columns=tuple(columns.names[place] for place in places),
        rows=columns.rows,
        distinct=len(sizes),
        unique_rows=below[0],
        smallest=int(sizes.min()) if len(sizes) else 0,
        mean=columns.rows / len(sizes) if len(sizes) else 0.0,
        below=below,
    )


def class_sizes(columns: CodedColumns, places: Sequence[int]) -> NDArray[np.int64]:
    """The rows of each class of the columns at ``places``, in no promised order; one class for no column."""
    if not columns.rows:
        return np.empty(0, dtype=np.int64)
    keys, number = np.zeros(columns.entries, dtype=np.int64), 1
    few = max(1 << 16, 4 * columns.entries)
    for place in places:
        size = len(columns.values[place]) + 1
        keys, number = keys * size + columns.codes[place], number * size
        if number > few:
            occurring, keys = np.unique(keys, return_inverse=True)
            keys, number = keys.astype(np.int64), len(occurring)
            if number == columns.entries:
                break
    sizes = columns.rows_of(keys, 1)
    return sizes[sizes > 0]
