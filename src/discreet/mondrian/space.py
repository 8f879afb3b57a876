"""Space that Mondrian cuts, and the choice of a cut (LeFevre et al. 2006, the greedy).

A number has its value as coordinate; any other value has its position in the publisher's order, or in
depth-first order if cuts follow the hierarchy. NULL is one step after the last. Ranges are normalized by
that of the whole table. Coordinates are whole numbers of a unit, so equal ranges compare as equal.

Attributes are tried from the widest normalized range down. With ``median``, an attribute has one cut: after
the median if a larger value exists, else before it. With ``best``, it has every cut that leaves k rows on
both sides, the nearest to the half first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Context, Decimal
from functools import cached_property
from math import ceil
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from discreet.model.frequency_set import FrequencySet
from discreet.model.hierarchy import GeneralizationHierarchy, LeafOrder, order_leaves, order_leaves_by_tree
from discreet.mondrian.mondrian_options import Categorical, Cut, MondrianOptions, Tie

_EXACT = Context(prec=1400)


def leaf_order_of_cuts(hierarchy: GeneralizationHierarchy, categorical: Categorical) -> LeafOrder:
    """Return the order of an attribute's leaves along which Mondrian cuts."""
    return (
        order_leaves_by_tree(hierarchy) if categorical is Categorical.HIERARCHY else order_leaves(hierarchy)
    )


@dataclass(frozen=True, eq=False)
class CutSpace:
    """Row types of a frequency set as points.

    ``ranks`` has shape ``(row types, attributes)`` and contains positions in ``LeafOrder`` (NULL last).
    ``values[j]`` contains the coordinate of each position of attribute j; the range of the occurring ones
    is ``spans[j]``. ``strengths[j][x]`` is the depth of the boundary between positions x and x + 1 in the
    hierarchy: the number of levels at which they differ, or 1 everywhere if any boundary may be cut.
    ``priority`` lists the attributes in the order that decides ties.
    """

    frequency_set: FrequencySet
    orders: tuple[LeafOrder, ...]
    values: tuple[NDArray[np.float64], ...]
    spans: NDArray[np.float64]
    strengths: tuple[NDArray[np.int64], ...]
    priority: tuple[int, ...]

    @classmethod
    def of(
        cls,
        frequency_set: FrequencySet,
        options: MondrianOptions,
        occurring: Sequence[NDArray[np.int64]] | None = None,
    ) -> CutSpace:
        """Build the space of a frequency set's quasi-identifiers.

        For a fragment of a table, ``occurring`` contains the positions of each attribute that occur in the
        whole table, in ascending order.
        """
        orders = tuple(leaf_order_of_cuts(h, options.categorical) for h in frequency_set.hierarchies)
        if occurring is None:
            occurring = [
                np.sort(order.rank[np.flatnonzero(rows)])
                for order, rows in zip(orders, frequency_set.rows_by_code, strict=True)
            ]
        places = list(range(len(orders)))
        if options.tie is Tie.FEWEST_VALUES:
            places.sort(key=lambda j: (len(occurring[j]), j))
        values = tuple(_coordinates(order, codes) for order, codes in zip(orders, occurring, strict=True))
        return cls(
            frequency_set=frequency_set,
            orders=orders,
            values=values,
            # The range of a single value counts as 1: its width is 0.
            spans=np.array(
                [np.ptp(v[o]) or 1.0 if len(o) else 1.0 for v, o in zip(values, occurring, strict=True)]
            ),
            strengths=tuple(
                _boundary_strengths(hierarchy, order, options.categorical)
                for hierarchy, order in zip(frequency_set.hierarchies, orders, strict=True)
            ),
            priority=tuple(places),
        )

    @cached_property
    def ranks(self) -> NDArray[np.int64]:
        """Position of each row type in ``LeafOrder`` (NULL last), shape ``(row types, attributes)``."""
        ranks = np.empty_like(self.frequency_set.codes)
        for j, order in enumerate(self.orders):
            ranks[:, j] = order.rank[self.frequency_set.codes[:, j]]
        return ranks

    def widths(self, low: NDArray[np.int64], high: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the normalized range of each attribute between two of its positions."""
        ends = zip(self.values, low.tolist(), high.tolist(), strict=True)
        return np.array([values[b] - values[a] for values, a, b in ends]) / self.spans


def _coordinates(order: LeafOrder, occurring: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the coordinate of each position, in a unit in which the occurring values are integers."""
    null = len(order.rank) - 1
    if order.numbers is None:
        return np.arange(null + 1, dtype=np.float64)
    numbers = [order.numbers[code] for code in order.code[:-1].tolist()]
    coordinates = [numbers[code_index] for code_index in occurring.tolist() if code_index < null]
    least, largest = (coordinates[0], coordinates[-1]) if coordinates else (numbers[0], numbers[0])
    digits = max([0, *(-int(number.as_tuple().exponent) for number in coordinates)])
    unit = Decimal(1).scaleb(-digits)
    units = [_EXACT.divide(_EXACT.subtract(number, least), unit) for number in numbers]
    span = _EXACT.divide(_EXACT.subtract(largest, least), unit)
    step = max(ceil(span / max(len(coordinates) - 1, 1)), 1)
    return np.array([float(u) for u in units] + [float(span + step)])


def _boundary_strengths(
    hierarchy: GeneralizationHierarchy, order: LeafOrder, categorical: Categorical
) -> NDArray[np.int64]:
    boundaries = len(order.rank) - 1
    if order.numeric or categorical is Categorical.ORDER:
        return np.ones(boundaries, dtype=np.int64)
    differ = np.zeros(boundaries, dtype=np.int64)
    for level in range(hierarchy.height):
        differ += np.diff(hierarchy.level_map(level)) != 0
    return differ


@dataclass(frozen=True, eq=False)
class Fragment:
    """Row types that form one class until it is cut again."""

    space: CutSpace
    row_types: NDArray[np.int64]

    @cached_property
    def ranks(self) -> NDArray[np.int64]:
        """Position of each row type in each attribute's order, shape ``(row types, attributes)``."""
        return self.space.ranks[self.row_types]

    @cached_property
    def rows(self) -> NDArray[np.int64]:
        """Rows of each row type."""
        return self.space.frequency_set.counts[self.row_types]

    @cached_property
    def total(self) -> int:
        """Number of rows."""
        return int(self.rows.sum())

    def widths(self) -> NDArray[np.float64]:
        """Return the normalized range of each attribute, shape ``(attributes,)``."""
        low, high = self.ranks.min(axis=0), self.ranks.max(axis=0)
        return self.space.widths(low, high)

    def rows_by_position(self, attribute: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the occurring positions of an attribute in ascending order, with the row count of each."""
        places, place_of = np.unique(self.ranks[:, attribute], return_inverse=True)
        rows = np.zeros(len(places), dtype=np.int64)
        np.add.at(rows, place_of, self.rows)
        return places, rows


@dataclass(frozen=True)
class ProposedCut:
    """Cut of an attribute: row types with a position of at most ``last`` go left, the others right."""

    attribute: int
    last: int


class Marginals(Protocol):
    """Statistics of a class for the paper's choice of a cut: row counts by position of each attribute."""

    @property
    def space(self) -> CutSpace:
        """Space that contains the class."""

    @property
    def total(self) -> int:
        """Number of rows."""

    def widths(self) -> NDArray[np.float64]:
        """Return the normalized range of each attribute."""

    def rows_by_position(self, attribute: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the occurring positions of an attribute in ascending order, with the row count of each."""


CutChooser = Callable[[Fragment], Iterable[ProposedCut]]
"""Proposes cuts of a class in order of preference; the first whose sides both hold is made."""


@dataclass(frozen=True, eq=False)
class WidestFirst:
    """The paper's chooser of cuts; each side of a proposed cut has at least ``least_rows`` rows (k)."""

    options: MondrianOptions
    least_rows: int = 1

    def __call__(self, fragment: Marginals) -> Iterator[ProposedCut]:
        """Yield the cuts of one class, from the widest attribute down."""
        widths = fragment.widths()
        order = sorted(fragment.space.priority, key=lambda j: -widths[j])
        for attribute in order:
            if widths[attribute] > 0:
                for last in self._places(fragment, attribute):
                    yield ProposedCut(attribute, last)

    def _places(self, fragment: Marginals, attribute: int) -> list[int]:
        places, below = count_rows_below(fragment, attribute)
        total = fragment.total
        if self.options.cut is Cut.MEDIAN:
            at_half = np.flatnonzero(2 * below >= total)
            chosen = int(at_half[0]) if len(at_half) else len(places) - 1
            places, below = places[[chosen]], below[[chosen]]
        allowable = (below >= self.least_rows) & (total - below >= self.least_rows)
        places, below = places[allowable], below[allowable]
        nearest = np.argsort(np.abs(2 * below - total), kind="stable")
        result: list[int] = places[nearest].tolist()
        return result


def count_rows_below(fragment: Marginals, attribute: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the ascending positions after which an attribute may be cut, and the rows up to each."""
    places, rows = fragment.rows_by_position(attribute)
    below = np.cumsum(rows)
    strengths = fragment.space.strengths[attribute][places[0] : places[-1]]
    strongest = strengths.max(initial=0)
    if strongest <= 1:
        return places[:-1], below[:-1]
    cuts = places[0] + np.flatnonzero(strengths == strongest)
    return cuts, below[np.searchsorted(places, cuts, side="right") - 1]
