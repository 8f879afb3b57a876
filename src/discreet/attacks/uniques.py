"""Minimal sample uniques, counted: by how few columns a row is already alone (Manning et al. 2008).

Sets of up to three columns are looked for, and fewer where a table is too wide: the result says so.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.attacks.minimal_sets import MinimalSets, minimal_sets

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

    @classmethod
    def of(cls, attributes: tuple[str, ...], counts: NDArray[np.int64], found: MinimalSets) -> MinimalUniques:
        """The counts of what was found of row types of ``counts`` rows."""
        smallest = np.full(len(counts), found.largest + 1, dtype=np.int64)
        np.minimum.at(smallest, found.rows, found.sizes)
        sizes = range(1, found.largest + 1)
        return cls(
            rows=int((counts == 1).sum()),
            largest=found.largest,
            sets=tuple(int((found.sizes == size).sum()) for size in sizes),
            rows_by_size=tuple(int((smallest == size).sum()) for size in sizes),
            by_attribute=tuple(
                (name, len(np.unique(found.rows[found.has(i)]))) for i, name in enumerate(attributes)
            ),
        )

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
    size = _affordable(len(codes), width, min(largest, width))
    return MinimalUniques.of(attributes, counts, minimal_sets(codes, counts, size, progress=progress))


def _affordable(row_types: int, width: int, largest: int) -> int:
    """The largest size of sets, at least 1, whose sorts stay affordable."""
    while largest > 1 and row_types * sum(comb(width, size) * size for size in range(1, largest + 1)) > (
        _MOST_CELLS
    ):
        largest -= 1
    return largest
