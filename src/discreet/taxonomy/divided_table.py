"""A table while its attributes are divided into intervals, one attribute after the other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.frequency.merge import pack

Whole = NDArray[np.int64]
Starts = tuple[int, ...]
"""The first value of each interval of an attribute, ascending; the first is 0."""


@dataclass(frozen=True, eq=False)
class DividedTable:
    """Row types with the class of each by the attributes that are divided already.

    ``places``, shape ``(row types, attributes left)``, are the numbers of values; ``sizes`` how many values
    each of these attributes has; ``counts`` rows; ``classes`` numbers from 0 to ``class_count`` - 1.
    """

    places: Whole
    sizes: tuple[int, ...]
    counts: Whole
    classes: Whole
    class_count: int

    @classmethod
    def of(cls, places: Sequence[Whole], sizes: Sequence[int], counts: Whole) -> DividedTable:
        """Nothing divided: one class."""
        return cls(np.stack(places, axis=1), tuple(sizes), counts, np.zeros(len(counts), np.int64), 1)

    def divide(self, starts: Starts) -> DividedTable:
        """The table with its first attribute divided; row types that have become alike are merged."""
        interval = np.searchsorted(np.array(starts), self.places[:, 0], side="right") - 1
        keys, classes = np.unique(self.classes * len(starts) + interval, return_inverse=True)
        columns = [classes, *self.places[:, 1:].T]
        packed = pack(columns, [len(keys), *self.sizes[1:]])
        _, first, alike = np.unique(packed, return_index=True, return_inverse=True)
        counts = np.bincount(alike.ravel(), self.counts).astype(np.int64)
        return DividedTable(self.places[first, 1:], self.sizes[1:], counts, classes[first], len(keys))

    def cube(self, attributes: int, weights: Whole | None = None) -> Whole:
        """Rows, or sums of ``weights``, by class and by the values of the first attributes."""
        shape = (self.class_count, *self.sizes[:attributes])
        at = np.ravel_multi_index((self.classes, *self.places[:, :attributes].T), shape)
        values = self.counts if weights is None else weights
        return np.bincount(at, values, minlength=int(np.prod(shape))).astype(np.int64).reshape(shape)


def over_intervals(cube: Whole, axis: int) -> Whole:
    """Sums over every interval of an axis, numbered as ``kernels.interval_pairs.interval_of`` does."""
    size = cube.shape[axis]
    first, end = intervals(size)
    sums = np.cumsum(cube, axis=axis)
    zero = np.zeros_like(np.take(sums, [0], axis=axis))
    sums = np.concatenate([zero, sums], axis=axis)
    return np.asarray(np.take(sums, end, axis=axis) - np.take(sums, first, axis=axis))


def intervals(size: int) -> tuple[Whole, Whole]:
    """First value and end of every interval, in the order of their numbers."""
    first, end = np.triu_indices(size)
    return first.astype(np.int64), end.astype(np.int64) + 1


def numbers_of(starts: Starts, size: int) -> Whole:
    """The numbers of the intervals of a division."""
    first = np.array(starts, np.int64)
    end = np.append(first[1:], size)
    return np.asarray(first * size - first * (first - 1) // 2 + end - first - 1)
