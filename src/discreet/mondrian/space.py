"""The space that Mondrian cuts: each attribute's values in order, with distances.

A number lies at its value, a value of another attribute at its place in the publisher's order, or in
depth-first order where cuts follow the hierarchy; NULL lies one step behind the last, for numbers about the
average distance of neighbours. Ranges are normalized: that of the whole table is 1. Values are kept as whole
numbers of a unit, so that ranges that are equal compare as equal.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Context, Decimal
from functools import cached_property
from math import ceil

import numpy as np
from numpy.typing import NDArray

from discreet.model.frequency_set import FrequencySet
from discreet.model.hierarchy import GeneralizationHierarchy
from discreet.model.leaf_order import LeafOrder, leaf_order, tree_order
from discreet.mondrian.options import Categorical, MondrianOptions, Tie

_EXACT = Context(prec=1400)


def cutting_order(hierarchy: GeneralizationHierarchy, categorical: Categorical) -> LeafOrder:
    """Return the order of an attribute's leaves along which Mondrian cuts."""
    return tree_order(hierarchy) if categorical is Categorical.HIERARCHY else leaf_order(hierarchy)


@dataclass(frozen=True, eq=False)
class Space:
    """The row types of a frequency set as points.

    ``ranks`` has shape ``(row types, attributes)``: the places of ``LeafOrder`` (NULL last). ``values[j]``
    has one entry per place of attribute j, of which those that occur span ``spans[j]``. ``strengths[j][x]``
    says how deep the boundary between places x and x + 1 cuts the hierarchy: the number of levels at which
    they differ, or 1 everywhere where any boundary may be cut. ``priority`` lists the attributes, first the
    one that wins ties.
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
    ) -> Space:
        """The space of a frequency set's quasi-identifiers.

        Where the frequency set is a fragment of a table, ``occurring`` are the places of each attribute that
        occur in the whole table, ascending.
        """
        orders = tuple(cutting_order(h, options.categorical) for h in frequency_set.hierarchies)
        if occurring is None:
            occurring = [_occurring(frequency_set.codes[:, j], order) for j, order in enumerate(orders)]
        places = list(range(len(orders)))
        if options.tie is Tie.FEWEST_VALUES:
            places.sort(key=lambda j: (len(occurring[j]), j))
        values = tuple(_values(order, held) for order, held in zip(orders, occurring, strict=True))
        return cls(
            frequency_set=frequency_set,
            orders=orders,
            values=values,
            spans=np.array([_span(v[held]) for v, held in zip(values, occurring, strict=True)]),
            strengths=tuple(
                _strengths(hierarchy, order, options.categorical)
                for hierarchy, order in zip(frequency_set.hierarchies, orders, strict=True)
            ),
            priority=tuple(places),
        )

    @cached_property
    def ranks(self) -> NDArray[np.int64]:
        """Each row type's places of ``LeafOrder`` (NULL last), shape ``(row types, attributes)``."""
        ranks = np.empty_like(self.frequency_set.codes)
        for j, order in enumerate(self.orders):
            ranks[:, j] = order.rank[self.frequency_set.codes[:, j]]
        return ranks

    def widths(self, low: NDArray[np.int64], high: NDArray[np.int64]) -> NDArray[np.float64]:
        """The normalized range of each attribute between two places of it."""
        ends = zip(self.values, low.tolist(), high.tolist(), strict=True)
        return np.array([values[b] - values[a] for values, a, b in ends]) / self.spans


def _occurring(codes: NDArray[np.int64], order: LeafOrder) -> NDArray[np.int64]:
    return np.sort(order.rank[np.flatnonzero(np.bincount(codes, minlength=len(order.rank)))])


def _values(order: LeafOrder, occurring: NDArray[np.int64]) -> NDArray[np.float64]:
    """Where each place lies, in units of which those that occur are whole numbers."""
    null = len(order.rank) - 1
    if order.numbers is None:
        return np.arange(null + 1, dtype=np.float64)
    numbers = [order.numbers[code] for code in order.code[:-1].tolist()]
    held = [numbers[place] for place in occurring.tolist() if place < null]
    least, largest = (held[0], held[-1]) if held else (numbers[0], numbers[0])
    digits = max([0, *(-int(number.as_tuple().exponent) for number in held)])
    unit = Decimal(1).scaleb(-digits)
    units = [_EXACT.divide(_EXACT.subtract(number, least), unit) for number in numbers]
    span = _EXACT.divide(_EXACT.subtract(largest, least), unit)
    step = max(ceil(span / max(len(held) - 1, 1)), 1)
    return np.array([float(u) for u in units] + [float(span + step)])


def _span(values: NDArray[np.float64]) -> float:
    """The range of the values that occur; 1 where it is a single one, which is never wide."""
    return float(values[-1] - values[0]) or 1.0 if len(values) else 1.0


def _strengths(
    hierarchy: GeneralizationHierarchy, order: LeafOrder, categorical: Categorical
) -> NDArray[np.int64]:
    boundaries = len(order.rank) - 1
    if order.numeric or categorical is Categorical.ORDER:
        return np.ones(boundaries, dtype=np.int64)
    differ = np.zeros(boundaries, dtype=np.int64)
    for level in range(hierarchy.height):
        differ += np.diff(hierarchy.level_map(level)) != 0
    return differ
