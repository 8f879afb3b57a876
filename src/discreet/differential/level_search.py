"""Levels that a private search chooses: one draw among all nodes, by a score that one row changes little.

The score of a node is the number of its rows beyond the first ``least`` − 1 of each class, times the detail
that its levels keep. One row more adds at most one to one class, and takes nothing away; detail is told by
levels and heights alone. So all scores rise together by at most one, and choosing the largest with
exponential noise (McKenna and Sheldon 2020) of scale 1/ε, by OpenDP, is ε-differentially private; with no row
kept twice in any step, as SafePub's walk does (Bild, Kuhn and Prasser 2018), whose steps share their ε.

Detail is 1 less the mean share of the height that attributes are raised to, by their weights, in whole
thousandths and at least one: a release at the top is worth more than none.

Cost: a sort of the rows' types for each node, or less.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import product
from math import inf, nextafter, prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.differential.axes import OTHER, Axis, axes_of, highest_level
from discreet.differential.counting import key_of, labels_of
from discreet.differential.library import OpenDP, opendp
from discreet.errors import InputError
from discreet.model.table_spec import Attribute, TableSpec

MOST_NODES = 50_000
UNIT = 1000
"""Scores are whole numbers: rows, times thousandths of detail."""
_MOST_CELLS = 1 << 22

Whole = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Ladder:
    """One attribute: its axis of single values, those that may be chosen, its height and its weight."""

    lowest: Axis
    axes: tuple[Axis, ...]
    height: int
    weight: Fraction


@dataclass(frozen=True, eq=False)
class LevelSearch:
    """The nodes among which levels are chosen; no row has a say in them."""

    ladders: tuple[Ladder, ...]

    @classmethod
    def of(cls, spec: TableSpec, fixed: Mapping[str, int]) -> LevelSearch:
        """All levels within the spec's limits, and the ``fixed`` ones; ``InputError`` for too many."""
        found = cls(tuple(_ladder(spec, each, fixed) for each in spec.require_quasi_identifiers()))
        number = prod(len(ladder.axes) for ladder in found.ladders)
        if number > MOST_NODES:
            raise InputError(
                f"a private search among {number:,} combinations of levels",
                allowed=f"up to {MOST_NODES:,}",
                advice="Give some levels, or limit them by max_level in [request].",
            )
        return found

    @property
    def lowest(self) -> tuple[Axis, ...]:
        """What is counted, once for all nodes."""
        return tuple(ladder.lowest for ladder in self.ladders)

    @cached_property
    def nodes(self) -> tuple[tuple[Axis, ...], ...]:
        """One axis for each attribute, in mixed-radix order."""
        return tuple(product(*(ladder.axes for ladder in self.ladders)))

    def details(self) -> Whole:
        """The detail that each node keeps, from 1 to ``UNIT``."""
        counted = [ladder for ladder in self.ladders if ladder.height and ladder.weight]
        whole = sum((ladder.weight for ladder in counted), Fraction(0))
        found = []
        for node in self.nodes:
            lost = sum(
                (
                    ladder.weight * axis.level / ladder.height
                    for ladder, axis in zip(self.ladders, node, strict=True)
                    if ladder in counted
                ),
                Fraction(0),
            )
            found.append(max(1, int(UNIT * (1 - lost / whole))) if whole else UNIT)
        return np.array(found, np.int64)

    def scores(self, counted: Mapping[str, int], least: int) -> Whole:
        """The score of each node, from the counts of the lowest labels."""
        labels = [labels_of(key) for key in counted]
        rows = np.fromiter(counted.values(), np.int64, len(labels))
        ladders = [
            _codes(ladder, [each[place] for each in labels]) for place, ladder in enumerate(self.ladders)
        ]
        beyond = np.fromiter(_beyond(ladders, rows, least), np.int64, len(self.nodes))
        return beyond * self.details()

    def at(self, counted: Mapping[str, int], node: Sequence[Axis]) -> dict[str, int]:
        """The counts of a node's labels, from those of the lowest."""
        found: Counter[str] = Counter()
        labels = [_Labels(axis) for axis in node]
        for key, number in counted.items():
            found[key_of([told[value] for told, value in zip(labels, labels_of(key), strict=True)])] += number
        return dict(found)


class _Labels(dict[str, str]):
    """The label of each lowest label at an axis, told once."""

    def __init__(self, axis: Axis) -> None:
        super().__init__()
        self._axis = axis

    def __missing__(self, value: str) -> str:
        axis = self._axis
        if value == OTHER:
            label = OTHER
        elif axis.public:
            label = axis.labels[axis.places[value]] if value in axis.places else OTHER
        else:
            label = axis.label(value)
        self[value] = label
        return label


def _ladder(spec: TableSpec, attribute: Attribute, fixed: Mapping[str, int]) -> Ladder:
    name, height = attribute.name, highest_level(attribute)
    limits = spec.request
    low, high = limits.min_level.get(name, 0), min(limits.max_level.get(name, height), height)
    if name in fixed:
        low = high = fixed[name]
    # A level that there is none of is refused as of any other release.
    axes = axes_of(spec, [(name, level) for level in range(low, max(low, high) + 1)])
    return Ladder(axes_of(spec, ((name, 0),))[0], axes, height, Fraction(attribute.weight))


def _codes(ladder: Ladder, values: Sequence[str]) -> list[Whole]:
    """At each level, the rows' types' labels as numbers from 0 on."""
    distinct, place = np.unique(np.array(values, dtype=object), return_inverse=True)
    found = []
    for axis in ladder.axes:
        told = _Labels(axis)
        numbers: dict[str, int] = {}
        of_value = np.array([numbers.setdefault(told[value], len(numbers)) for value in distinct], np.int64)
        found.append(of_value[place] if len(distinct) else np.zeros(0, np.int64))
    return found


def _beyond(ladders: Sequence[Sequence[Whole]], rows: Whole, least: int) -> Iterator[int]:
    """Of each node in mixed-radix order, the rows beyond the first ``least`` - 1 of every class."""
    if not ladders:
        sizes = np.array([rows.sum()])
        yield int(np.maximum(sizes - (least - 1), 0).sum())
        return
    yield from _deeper(np.zeros(len(rows), np.int64), ladders, rows, least)


def _deeper(classes: Whole, ladders: Sequence[Sequence[Whole]], rows: Whole, least: int) -> Iterator[int]:
    for codes in ladders[0]:
        width = int(codes.max(initial=0)) + 1
        both = classes * width + codes
        if int(both.max(initial=0)) >= _MOST_CELLS or len(ladders) > 1:
            both = np.unique(both, return_inverse=True)[1]
        if len(ladders) > 1:
            yield from _deeper(both, ladders[1:], rows, least)
        else:
            sizes = np.bincount(both, rows)
            yield int(np.maximum(sizes - (least - 1), 0).sum())


def choose(scores: Whole, epsilon: Fraction) -> int:
    """The place of a large score, by OpenDP's noise of the least scale that keeps ε."""
    library = opendp()
    scale = max(float(UNIT / epsilon), 1e-3)
    while Fraction(_noisy_max(library, scale).map(UNIT)) > epsilon:
        scale = nextafter(scale, inf)
    return int(_noisy_max(library, scale)([int(score) for score in scores]))


def _noisy_max(library: OpenDP, scale: float) -> Any:
    domain = library.domains.vector_domain(library.domains.atom_domain(T="i64"))
    metric = library.metrics.linf_distance(T="i64", monotonic=True)
    return library.measurements.make_noisy_max(domain, metric, library.measures.max_divergence(), scale)
