"""Class sizes of releases, and what would be left of each without its smallest classes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

Whole = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class SizeTails:
    """The class sizes of one release or of many, one release behind the other.

    Each entry is a size that occurs in a release, ``sizes`` ascending within it, and ``classes`` how many
    classes have it; ``starts`` are the places where releases begin (shape ``(releases,)``, one may be empty),
    all else has shape ``(entries,)``. An entry's *tail* is what is left of its release where all smaller
    classes are suppressed: the entry and those behind it. Numbers below are of tails, an entry each.
    """

    sizes: Whole
    classes: Whole
    starts: Whole

    @classmethod
    def of_classes(cls, sizes: Whole) -> SizeTails:
        """One release, by the size of each of its classes."""
        found, classes = np.unique(sizes, return_counts=True)
        return cls(found.astype(np.int64), classes.astype(np.int64), np.zeros(1, np.int64))

    @cached_property
    def ends(self) -> Whole:
        """The place behind the last entry of each release."""
        return np.append(self.starts[1:], len(self.sizes))

    @cached_property
    def total_rows(self) -> Whole:
        """The rows."""
        return self.sums(self.sizes * self.classes)

    @cached_property
    def total_classes(self) -> Whole:
        """The classes."""
        return self.sums(self.classes)

    @cached_property
    def total_squares(self) -> Whole:
        """The squared sizes of the classes."""
        return self.sums(self.sizes**2 * self.classes)

    def sums(self, values: Whole) -> Whole:
        """A number of each entry, added up over tails."""
        totals = np.zeros(len(self.sizes) + 1, np.int64)
        np.cumsum(values, out=totals[1:])
        behind = np.repeat(totals[self.ends], self.ends - self.starts)
        return behind - totals[:-1]

    def first(self, holds: NDArray[np.bool_]) -> Whole:
        """The place of the first tail of each release that ``holds``, -1 where none does."""
        places = np.append(np.flatnonzero(holds), len(self.sizes))
        found = places[np.searchsorted(places[:-1], self.starts)]
        return np.where(found < self.ends, found, -1)
