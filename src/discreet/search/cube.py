"""The cube of frequency sets from which cube Incognito rolls up its roots (LeFevre et al. 2005, section 3.3).

First come the frequency sets of every set of attributes at the lowest levels searched, the largest set first:
that of all attributes is counted from the table, each other one is summed out of the smallest one with one
attribute more. Building it scans the table once.

With a budget, points of higher levels are made too (``materialized_points``).

Cost: 2^d frequency sets.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

from discreet.model.lattice import LatticeNode
from discreet.search.candidates import Family
from discreet.search.frequencies import Frequencies, FrequencyClasses
from discreet.search.materialized_points import materialize_points, smallest_below
from discreet.search.task import SearchTask


def families(attributes: int, size: int) -> Iterator[Family]:
    """The sets of so many of the first attributes, in lexicographic order."""
    return combinations(range(attributes), size)


class Cube:
    """Materialized points by family; as ``RootSets`` they give roots."""

    def __init__(self, task: SearchTask, frequencies: Frequencies) -> None:
        self._points: dict[Family, list[FrequencyClasses]] = {}
        self._family: Family = ()
        number = len(task.low)
        for size in range(number, 0, -1):
            for family in families(number, size):
                self._points[family] = [self._lowest_point(family, task.low, frequencies)]
        if task.cube_budget:
            materialize_points(self._points, task)

    @property
    def points(self) -> int:
        """How many points are materialized, at the lowest levels or above."""
        return sum(map(len, self._points.values()))

    def _lowest_point(self, family: Family, low: LatticeNode, frequencies: Frequencies) -> FrequencyClasses:
        if len(family) == len(low):
            return frequencies.count(family, low)
        supersets = [
            (self._points[tuple(sorted((*family, extra)))][0], extra)
            for extra in range(len(low))
            if extra not in family
        ]
        smallest, extra = min(supersets, key=lambda pair: pair[0].classes)
        return smallest.sum_out(extra)

    def enter(self, family: Family, roots: Sequence[LatticeNode]) -> None:  # noqa: ARG002
        """Begin with a family."""
        self._family = family

    def of(self, root: LatticeNode) -> FrequencyClasses:
        """The root's own point, or a roll-up of the smallest point below it."""
        smallest = smallest_below(self._points[self._family], root)
        return smallest if smallest.levels == root else smallest.roll_up(root)

    def keeps(self, counts: FrequencyClasses) -> bool:
        """Points are kept until their family is left."""
        return any(counts is point for point in self._points.get(self._family, ()))

    def leave(self) -> None:
        """Release the family's points: each family is searched once."""
        for point in self._points.pop(self._family, ()):
            point.release()
