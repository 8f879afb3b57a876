"""Which points of higher levels a cube holds under a memory budget.

The paper leaves open whether to materialize parts of the cube at several levels, where memory allows. Here
points are chosen as views of a data cube are (Harinarayan, Rajaraman and Ullman, "Implementing data cubes
efficiently", 1996). Rolling up a root costs the classes of what it is rolled up from. So the *benefit* of a
point is the number of classes that it saves, summed over the nodes of its family at or above it, one in 32
of which is taken to become a root, less what making it takes. The point of greatest benefit per byte is
materialized, benefits are reckoned anew, and so on until none that fits what is left of the budget has any.
The classes of a point not yet made are estimated as the distinct values of as many draws, at even odds, as
the family's lowest point has classes.

Cost: choosing a point takes a pass over its family per attribute.
"""

from __future__ import annotations

import heapq
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from discreet.search.candidates import Family
from discreet.search.frequencies import FrequencyClasses
from discreet.search.task import SearchTask

_ROOTS = 1 / 32
"""The share of nodes that are taken to become roots."""

Floats = NDArray[np.float64]


def materialize_points(points: Mapping[Family, list[FrequencyClasses]], task: SearchTask) -> None:
    """Add the points that save the most to each family's list, whose first is its lowest point."""
    left = task.cube_budget
    choices = {f: _FamilyPoints(f, held[0], task) for f, held in points.items() if held[0].classes}
    queue: list[tuple[float, Family, tuple[int, ...]]] = []

    def enqueue(family: Family) -> None:
        density, place = choices[family].best(left)
        if density > 0:
            heapq.heappush(queue, (-density, family, place))

    for family in choices:
        enqueue(family)
    while queue:
        _, family, place = heapq.heappop(queue)
        choice = choices[family]
        if choice.nbytes(place) <= left:
            levels = choice.levels(place)
            made = smallest_below(points[family], levels).roll_up(levels)
            if made.nbytes <= left:
                left -= made.nbytes
                points[family].append(made)
                choice.take(place, made.classes)
            else:
                made.release()
                choice.refuse(place)
        enqueue(family)


def smallest_below(points: list[FrequencyClasses], levels: tuple[int, ...]) -> FrequencyClasses:
    """The smallest point none of whose levels is higher."""
    below = [p for p in points if all(a <= b for a, b in zip(p.levels, levels, strict=True))]
    return min(below, key=lambda point: point.classes)


class _FamilyPoints:
    """The points of one family, one axis per attribute: estimated classes, and what a roll-up reads now."""

    def __init__(self, family: Family, lowest: FrequencyClasses, task: SearchTask) -> None:
        self._low = lowest.levels
        self._bytes = lowest.nbytes / lowest.classes
        values = np.array(1.0)
        for attribute in family:
            hierarchy = task.hierarchies[attribute]
            levels = range(task.low[attribute], task.high[attribute] + 1)
            sizes = [float(hierarchy.level_map(level).max()) + 1 for level in levels]
            values = np.multiply.outer(values, sizes)
        self._classes = expected_distinct(values, lowest.classes)
        self._read = np.full(values.shape, float(lowest.classes))

    def levels(self, place: tuple[int, ...]) -> tuple[int, ...]:
        """The levels of a place."""
        return tuple(low + i for low, i in zip(self._low, place, strict=True))

    def nbytes(self, place: tuple[int, ...]) -> float:
        """The bytes that a point is estimated to take."""
        return float(self._classes[place] * self._bytes)

    def best(self, left: float) -> tuple[float, tuple[int, ...]]:
        """The greatest benefit per byte among the points that fit, and its place; 0 where none has any."""
        reads, above = self._read, np.ones_like(self._read)
        # Sums over a point and all that lie above it: whatever may be rolled up from it.
        for axis in range(reads.ndim):
            reads = np.flip(np.cumsum(np.flip(reads, axis), axis=axis), axis)
            above = np.flip(np.cumsum(np.flip(above, axis), axis=axis), axis)
        size = self._classes * self._bytes
        with np.errstate(invalid="ignore"):
            density = (_ROOTS * (reads - self._classes * above) - self._read) / size
        # A point that was refused is endless, so that its density is no number; it goes with those too large.
        density[~(size <= left)] = 0.0
        place = np.unravel_index(int(density.argmax()), density.shape)
        return float(density[place]), tuple(int(i) for i in place)

    def take(self, place: tuple[int, ...], classes: int) -> None:
        """A point was materialized: whatever lies above it may be rolled up from it."""
        self._classes[place] = max(classes, 1)
        above = self._read[tuple(slice(i, None) for i in place)]
        np.minimum(above, classes, out=above)

    def refuse(self, place: tuple[int, ...]) -> None:
        """A point turned out not to fit."""
        self._classes[place] = np.inf


def expected_distinct(values: Floats, draws: int) -> Floats:
    """How many of so many values are expected among draws at even odds (Cardenas 1975)."""
    # 1 - (1 - 1/v)^n, in a form that does not round small chances away.
    with np.errstate(divide="ignore"):
        missed = np.expm1(draws * np.log1p(-1.0 / values))
    found: Floats = np.maximum(-values * missed, 1.0)
    return found
