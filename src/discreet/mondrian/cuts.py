"""Choosing a cut: which attribute of a class, and where (LeFevre et al. 2006, the greedy).

Attributes are tried from the widest normalized range down. With ``median`` an attribute has one cut: behind
the median where a larger value exists, else before it. With ``best`` it has every cut that leaves k rows on
both sides, the nearest to the half first, the lower of two equally near.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from discreet.model.frequency_set import FrequencySet
from discreet.mondrian.options import Cut, MondrianOptions
from discreet.mondrian.space import Space


@dataclass(frozen=True, eq=False)
class Fragment:
    """Some of the row types, in a class of their own until it is cut again."""

    space: Space
    row_types: NDArray[np.int64]

    @property
    def frequency_set(self) -> FrequencySet:
        """The frequency set that ``row_types`` are positions in."""
        return self.space.frequency_set

    @cached_property
    def ranks(self) -> NDArray[np.int64]:
        """Places in each attribute's order, shape ``(row types, attributes)``."""
        return self.space.ranks[self.row_types]

    @cached_property
    def rows(self) -> NDArray[np.int64]:
        """Rows of each row type."""
        return self.space.frequency_set.counts[self.row_types]

    @cached_property
    def total(self) -> int:
        """Rows in all."""
        return int(self.rows.sum())

    def widths(self) -> NDArray[np.float64]:
        """The normalized range of each attribute, shape ``(attributes,)``."""
        low, high = self.ranks.min(axis=0), self.ranks.max(axis=0)
        return self.space.widths(low, high)

    def rows_by_place(self, attribute: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The places of an attribute that occur, ascending, and the rows of each."""
        places, place_of = np.unique(self.ranks[:, attribute], return_inverse=True)
        rows = np.zeros(len(places), dtype=np.int64)
        np.add.at(rows, place_of, self.rows)
        return places, rows


@dataclass(frozen=True)
class ProposedCut:
    """Row types whose place in ``attribute`` is at most ``last`` go left, the others right."""

    attribute: int
    last: int


class Marginals(Protocol):
    """What the paper's choice of a cut needs of a class: its rows by place of each attribute."""

    @property
    def space(self) -> Space:
        """The space that the class lies in."""

    @property
    def total(self) -> int:
        """Rows in all."""

    def widths(self) -> NDArray[np.float64]:
        """The normalized range of each attribute."""

    def rows_by_place(self, attribute: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The places of an attribute that occur, ascending, and the rows of each."""


class CutChooser(Protocol):
    """Proposes the cuts of a class."""

    def __call__(self, fragment: Fragment) -> Iterable[ProposedCut]:
        """Cuts in order of preference; the first whose both sides meet the requirement is made."""


@dataclass(frozen=True, eq=False)
class WidestFirst:
    """The paper's choice; ``least_rows`` is k, where it is known: cuts that leave fewer are not proposed."""

    options: MondrianOptions
    least_rows: int = 1

    def __call__(self, fragment: Marginals) -> Iterator[ProposedCut]:
        """The cuts of one class."""
        widths = fragment.widths()
        order = sorted(fragment.space.priority, key=lambda j: -widths[j])
        for attribute in order:
            if widths[attribute] > 0:
                for last in self._places(fragment, attribute):
                    yield ProposedCut(attribute, last)

    def _places(self, fragment: Marginals, attribute: int) -> list[int]:
        places, below = rows_below(fragment, attribute)
        total = fragment.total
        if self.options.cut is Cut.MEDIAN:
            at_half = np.flatnonzero(2 * below >= total)
            chosen = int(at_half[0]) if len(at_half) else len(places) - 1
            places, below = places[[chosen]], below[[chosen]]
        allowable = (below >= self.least_rows) & (total - below >= self.least_rows)
        places, below = places[allowable], below[allowable]
        nearest = np.argsort(np.abs(2 * below - total), kind="stable")
        found: list[int] = places[nearest].tolist()
        return found


def rows_below(fragment: Marginals, attribute: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The places after which an attribute of a class may be cut, and the rows up to each, both ascending."""
    places, rows = fragment.rows_by_place(attribute)
    below = np.cumsum(rows)
    strengths = fragment.space.strengths[attribute][places[0] : places[-1]]
    strongest = strengths.max(initial=0)
    if strongest <= 1:
        return places[:-1], below[:-1]
    cuts = places[0] + np.flatnonzero(strengths == strongest)
    return cuts, below[np.searchsorted(places, cuts, side="right") - 1]
