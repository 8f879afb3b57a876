"""Minimal sample uniques: by how few columns a row is already alone (SUDA2: Manning, Haglin and Keane 2008).

A set of quasi-identifiers singles a row out when no other row of the table has the same values in them. It is
minimal when no smaller set within it does. A row with small and many minimal sets is in greater danger: less
need be known of it. Difference from the paper: all sets up to a size are counted, by one sort each, instead
of a recursive search for the rows' sets; for the sizes used here that costs (d choose 3) sorts and finds the
same. Where that would be too much, the size is lowered, and the result says so.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

LARGEST = 3
_MOST_CELLS = 1 << 28


@dataclass(frozen=True)
class MinimalUniques:
    """Minimal sample uniques of a table.

    ``rows`` are alone by all quasi-identifiers together. ``sets`` counts minimal sets by size, 1 to
    ``largest``; ``rows_by_size`` the rows whose smallest set has that size; ``by_attribute`` the rows that
    are alone by a minimal set with that attribute in it.
    """

    rows: int
    largest: int
    sets: tuple[int, ...]
    rows_by_size: tuple[int, ...]
    by_attribute: tuple[tuple[str, int], ...]

    def as_json(self) -> dict[str, Any]:
        """The document's part."""
        return {
            "unique_rows": self.rows,
            "largest_set": self.largest,
            "minimal_sets": {str(size + 1): number for size, number in enumerate(self.sets)},
            "rows_by_smallest_set": {str(size + 1): number for size, number in enumerate(self.rows_by_size)},
            "rows_by_attribute": dict(self.by_attribute),
        }


def minimal_uniques(
    attributes: tuple[str, ...],
    codes: NDArray[np.int64],
    counts: NDArray[np.int64],
    largest: int = LARGEST,
    progress: Callable[[int, int], None] | None = None,
) -> MinimalUniques:
    """Minimal sample uniques of distinct ``codes``, shape ``(row types, attributes)``, with their rows."""
    width = len(attributes)
    largest = _affordable(len(codes), width, min(largest, width))
    alone_by: dict[tuple[int, ...], NDArray[np.bool_]] = {}
    smallest = np.zeros(len(codes), dtype=np.int64)
    in_set = np.zeros((len(codes), width), dtype=np.bool_)
    sets, done = [0] * largest, 0
    total = sum(comb(width, size) for size in range(1, largest + 1))
    for size in range(1, largest + 1):
        for chosen in combinations(range(width), size):
            alone = _alone(codes[:, chosen], counts)
            minimal = alone.copy()
            for smaller in combinations(chosen, size - 1):
                if smaller:
                    minimal &= ~alone_by[smaller]
            alone_by[chosen] = alone
            sets[size - 1] += int(minimal.sum())
            smallest[minimal & (smallest == 0)] = size
            for column in chosen:
                in_set[minimal, column] = True
            done += 1
            if progress is not None:
                progress(done, total)
    return MinimalUniques(
        rows=int((counts == 1).sum()),
        largest=largest,
        sets=tuple(sets),
        rows_by_size=tuple(int((smallest == size).sum()) for size in range(1, largest + 1)),
        by_attribute=tuple((name, int(in_set[:, i].sum())) for i, name in enumerate(attributes)),
    )


def _affordable(row_types: int, width: int, largest: int) -> int:
    """The largest size of sets, at least 1, whose sorts stay affordable."""
    while largest > 1 and row_types * sum(comb(width, size) * size for size in range(1, largest + 1)) > (
        _MOST_CELLS
    ):
        largest -= 1
    return largest


def _alone(codes: NDArray[np.int64], counts: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Which row types are one row that nobody shares these values with."""
    order = np.lexsort(codes.T)
    ordered = codes[order]
    differs = (ordered[1:] != ordered[:-1]).any(axis=1)
    edge = np.concatenate(([True], differs, [True]))
    found = np.empty(len(codes), dtype=np.bool_)
    found[order] = edge[:-1] & edge[1:]
    found &= counts == 1
    return found
