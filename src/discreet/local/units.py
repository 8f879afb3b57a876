"""What annealing moves: rows, or whole row types; and the parts of the table that it works on at a time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.frequency.class_demand import Demand
from discreet.local.keys import KeySpace

PART_UNITS = 1 << 14
"""The units of a part, about: what it touches then stays in a processor's cache."""

_LEAST_CLASSES = 16
_SORTED_BY = 3


@dataclass(frozen=True, eq=False)
class Units:
    """Units: ``rows[u]`` rows of row type ``kind[u]``; ``start`` as in ``kernels.local_anneal``."""

    kind: NDArray[np.int64]
    rows: NDArray[np.int64]
    start: NDArray[np.int64]

    @classmethod
    def of(cls, demand: Demand) -> Units:
        """Where rows alone decide a row is a unit, else a row type.

        Of a row type with many rows, more than a class can do with stay together: they never need to part.
        """
        counts = demand.frequency_set.counts
        single = np.zeros(len(counts), np.int64)
        if demand.counts_only:
            single = np.minimum(counts - 1, np.maximum(2 * demand.need, 1))
            single = np.where(counts - single >= demand.need, single, counts - 1)
        number = single + 1
        start = np.concatenate(([0], np.cumsum(number)))
        kind = np.repeat(np.arange(len(counts)), number)
        rows = np.ones(len(kind), np.int64)
        rows[start[:-1]] = counts - single
        return cls(kind, rows, start)

    @classmethod
    def whole(cls, demand: Demand) -> Units:
        """Each row type is one unit."""
        counts = demand.frequency_set.counts
        return cls(np.arange(len(counts)), counts, np.arange(len(counts) + 1))


def sweep_parts(
    space: KeySpace, units: Units, class_of: NDArray[np.int64], seed: int, sweep: int
) -> Iterator[NDArray[np.int64]]:
    """The units in classes, in parts of whole classes that lie near each other; a new division every sweep.

    Classes are sorted by the leaves of a member, a few attributes at random first, and cut into parts of
    about equal size: at least two, so that two threads have work, unless the table is very small.
    """
    placed = np.flatnonzero(class_of >= 0)
    if not len(placed):
        return
    random = np.random.default_rng([seed, sweep])
    _, first, place = np.unique(class_of[placed], return_index=True, return_inverse=True)
    codes = space.frequency_set.codes[units.kind[placed[first]]]
    attributes = random.permutation(codes.shape[1])[:_SORTED_BY]
    rank = np.empty(len(first), np.int64)
    rank[np.lexsort([random.random(len(first)), *(codes[:, j] for j in attributes[::-1])])] = np.arange(
        len(first)
    )
    in_order = np.argsort(rank[place], kind="stable")
    number = 1 if len(first) < _LEAST_CLASSES else max(2, round(len(placed) / PART_UNITS))
    ends = np.flatnonzero(np.append(np.diff(rank[place][in_order]) != 0, True)) + 1
    wanted = np.arange(1, number) * len(placed) // number
    cuts = np.unique(ends[np.searchsorted(ends, wanted)])
    for part in np.split(placed[in_order], cuts[cuts < len(placed)]):
        yield np.sort(part)
