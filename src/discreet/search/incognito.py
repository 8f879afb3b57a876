"""Incognito: find every solution by searching ever larger sets of attributes (LeFevre et al. 2005).

A set of attributes that fails makes every larger set fail (subset property), so candidates of i + 1
attributes are joined from the survivors of i. The frequency sets of roots are counted from the table
(basic), rolled up from one super-root per family, or rolled up from a cube: the frequency sets of all
sets of attributes at the lowest levels, and under a memory budget points of higher levels with the
greatest benefit per byte (Harinarayan, Rajaraman and Ullman 1996). The three variants check the same
nodes and differ in scans.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Mapping
from itertools import combinations
from math import comb
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from discreet.errors import LimitReached
from discreet.model.lattice import LatticeNode
from discreet.model.search_result import SearchResult
from discreet.search.breadth_first import (
    CountedRootSets,
    Family,
    FamilyNodes,
    FamilySearch,
    SuperRootSets,
    join_candidates,
)
from discreet.search.database_frequency_sets import open_frequency_sets
from discreet.search.frequency_sets import AttributeFrequencySet, FrequencySets
from discreet.search.search_problem import SearchProblem
from discreet.search.solutions import SearchTally, build_result, list_nodes

_ROOT_SHARE = 1 / 32
"""Assumed share of nodes that become roots."""

ClassEstimates = NDArray[np.float64]


def materialize_points(points: Mapping[Family, list[AttributeFrequencySet]], task: SearchProblem) -> None:
    """Append the points of greatest benefit to each family's list.

    The first entry of a list is the family's lowest point.
    """
    left = task.cube_budget
    choices = {
        f: _FamilyPoints(f, frequency_sets[0], task)
        for f, frequency_sets in points.items()
        if frequency_sets[0].classes
    }
    queue: list[tuple[float, Family, tuple[int, ...]]] = []

    def enqueue(family: Family) -> None:
        density, index = choices[family].best(left)
        if density > 0:
            heapq.heappush(queue, (-density, family, index))

    for family in choices:
        enqueue(family)
    while queue:
        _, family, index = heapq.heappop(queue)
        choice = choices[family]
        if choice.nbytes(index) <= left:
            levels = choice.levels(index)
            made = smallest_below(points[family], levels).roll_up(levels)
            if made.nbytes <= left:
                left -= made.nbytes
                points[family].append(made)
                choice.take(index, made.classes)
            else:
                made.release()
                choice.refuse(index)
        enqueue(family)


def smallest_below(points: list[AttributeFrequencySet], levels: tuple[int, ...]) -> AttributeFrequencySet:
    """Return the smallest point with no level above ``levels``."""
    below = [p for p in points if all(a <= b for a, b in zip(p.levels, levels, strict=True))]
    return min(below, key=lambda point: point.classes)


class _FamilyPoints:
    """Points of one family, one axis per attribute.

    For each point: the estimated classes, and the classes that a roll-up to it reads now.
    """

    def __init__(self, family: Family, lowest: AttributeFrequencySet, task: SearchProblem) -> None:
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

    def levels(self, index: tuple[int, ...]) -> tuple[int, ...]:
        """Return the levels of a point."""
        return tuple(low + i for low, i in zip(self._low, index, strict=True))

    def nbytes(self, index: tuple[int, ...]) -> float:
        """Estimate the size of a point in bytes."""
        return float(self._classes[index] * self._bytes)

    def best(self, left: float) -> tuple[float, tuple[int, ...]]:
        """Return the greatest benefit per byte among the points that fit, and its index; 0 if none helps."""
        reads, above = self._read, np.ones_like(self._read)
        # Sums over a point and all points above it, which can be rolled up from it.
        for axis in range(reads.ndim):
            reads = np.flip(np.cumsum(np.flip(reads, axis), axis=axis), axis)
            above = np.flip(np.cumsum(np.flip(above, axis), axis=axis), axis)
        size = self._classes * self._bytes
        with np.errstate(invalid="ignore"):
            density = (_ROOT_SHARE * (reads - self._classes * above) - self._read) / size
        # A refused point has infinite size and a NaN density; the negated test excludes it as too large.
        density[~(size <= left)] = 0.0
        index = np.unravel_index(int(density.argmax()), density.shape)
        return float(density[index]), tuple(int(i) for i in index)

    def take(self, index: tuple[int, ...], classes: int) -> None:
        """Record that a point was materialized; all points above it can be rolled up from it."""
        self._classes[index] = max(classes, 1)
        above = self._read[tuple(slice(i, None) for i in index)]
        np.minimum(above, classes, out=above)

    def refuse(self, index: tuple[int, ...]) -> None:
        """Record that a point does not fit."""
        self._classes[index] = np.inf


def expected_distinct(values: ClassEstimates, draws: int) -> ClassEstimates:
    """Estimate the distinct values among uniform draws with replacement (Cardenas 1975)."""
    # 1 - (1 - 1/v)^n, in a form that does not round small chances away.
    with np.errstate(divide="ignore"):
        missed = np.expm1(draws * np.log1p(-1.0 / values))
    result: ClassEstimates = np.maximum(-values * missed, 1.0)
    return result


class CubeRootSets(CountedRootSets):
    """Roots of cube Incognito, rolled up from materialized points of each family."""

    def __init__(self, task: SearchProblem, frequencies: FrequencySets) -> None:
        super().__init__(frequencies)
        self._points: dict[Family, list[AttributeFrequencySet]] = {}
        number = len(task.low)
        for size in range(number, 0, -1):
            for family in combinations(range(number), size):
                self._points[family] = [self._lowest_point(family, task.low)]
        if task.cube_budget:
            materialize_points(self._points, task)

    @property
    def points(self) -> int:
        """Number of materialized points, at the lowest levels and above."""
        return sum(map(len, self._points.values()))

    def _lowest_point(self, family: Family, low: LatticeNode) -> AttributeFrequencySet:
        if len(family) == len(low):
            return self._frequencies.count(family, low)
        supersets = [
            (self._points[tuple(sorted((*family, extra)))][0], extra)
            for extra in range(len(low))
            if extra not in family
        ]
        smallest, extra = min(supersets, key=lambda pair: pair[0].classes)
        return smallest.sum_out(extra)

    def of(self, root: LatticeNode) -> AttributeFrequencySet:
        """Return the root's own point, or roll it up from the smallest point below it."""
        smallest = smallest_below(self._points[self._family], root)
        return smallest if smallest.levels == root else smallest.roll_up(root)

    def keeps(self, counts: AttributeFrequencySet) -> bool:
        """Check whether the frequency set is a point; points remain until their family is left."""
        return any(counts is point for point in self._points.get(self._family, ()))

    def leave(self) -> None:
        """Release the family's points: each family is searched once."""
        for point in self._points.pop(self._family, ()):
            point.release()


RootSetsFactory = Callable[[FrequencySets, SearchTally], CountedRootSets]


def incognito(task: SearchProblem) -> SearchResult:
    """Find every solution with basic Incognito: roots are counted from the table.

    Parameters
    ----------
    task
        Table, requirement, suppression limit and bounds of the search.

    Returns
    -------
    Every solution with its suppressed rows, and the numbers of checked and marked nodes and of scans.

    Raises
    ------
    InputError
        For criteria under which suppression may rise from a node to one above it.
    LimitReached
        If the nodes or the frequency sets would not fit the memory limit.

    Notes
    -----
    Cost: exponential in the number of attributes; one scan per root, a byte per node of every set of
    attributes.

    References
    ----------
    LeFevre, DeWitt and Ramakrishnan (2005), *Incognito: Efficient Full-Domain K-Anonymity*. SIGMOD, 49–60.

    Examples
    --------
    >>> incognito(SearchProblem.of(table, Request.of(k=10), settings)).solutions  # doctest: +SKIP
    """
    return _search(task, "incognito", lambda frequencies, _: CountedRootSets(frequencies))


def incognito_superroots(task: SearchProblem) -> SearchResult:
    """Find every solution; the roots of a family are rolled up from their greatest common specialization.

    Parameters, result and errors are those of ``incognito``.

    Notes
    -----
    Cost: as ``incognito``, with one scan per family.

    References
    ----------
    LeFevre, DeWitt and Ramakrishnan (2005), *Incognito: Efficient Full-Domain K-Anonymity*. SIGMOD, 49–60.

    Examples
    --------
    >>> incognito_superroots(SearchProblem.of(table, Request.of(k=10), settings)).solutions  # doctest: +SKIP
    """
    return _search(task, "incognito-superroots", lambda frequencies, _: SuperRootSets(frequencies))


def incognito_cube(task: SearchProblem) -> SearchResult:
    """Find every solution; roots are rolled up from a cube, whose construction is timed separately.

    Parameters, result and errors are those of ``incognito``.

    Notes
    -----
    Cost: as ``incognito``, with one scan and 2^d frequency sets for d attributes; ``cube_budget`` bytes for
    further points.

    References
    ----------
    LeFevre, DeWitt and Ramakrishnan (2005), *Incognito: Efficient Full-Domain K-Anonymity*. SIGMOD, 49–60.
    Harinarayan, Rajaraman and Ullman (1996), *Implementing Data Cubes Efficiently*. SIGMOD.

    Examples
    --------
    >>> incognito_cube(SearchProblem.of(table, Request.of(k=10), settings)).solutions  # doctest: +SKIP
    """

    def build(frequencies: FrequencySets, tally: SearchTally) -> CubeRootSets:
        cube = CubeRootSets(task, frequencies)
        tally.build_seconds = perf_counter() - tally.started
        return cube

    return _search(task, "incognito-cube", build)


def _search(task: SearchProblem, name: str, open_roots: RootSetsFactory) -> SearchResult:
    task.require_monotone(name)
    levels = [b - a + 1 for a, b in zip(task.low, task.high, strict=True)]
    _check_memory(task, levels)
    number = len(levels)
    with open_frequency_sets(task) as frequencies:
        tally = SearchTally()
        root_sets = open_roots(frequencies, tally)
        smaller: dict[Family, FamilyNodes] = {}
        suppressed: dict[LatticeNode, int] = {}
        done = 0
        for size in range(1, number + 1):
            larger: dict[Family, FamilyNodes] = {}
            for family in combinations(range(number), size):
                search = FamilySearch(
                    task, family, join_candidates(family, levels, smaller), root_sets, tally
                )
                larger[family] = search.run()
                suppressed = search.suppressed
                done += 1
                task.advance(done, 2**number - 1)
            smaller = larger
        found = list_nodes(smaller[tuple(range(number))], task)
        solutions = {node: suppressed.get(node) for node in found}
        return build_result(task, name, frequencies, solutions, tally)


def _check_memory(task: SearchProblem, levels: list[int]) -> None:
    """Refuse families whose nodes would not fit: a byte each, for two sizes of families at a time."""
    number = len(levels)
    by_size = [1] + [0] * number
    for side in levels:
        for size in range(number, 0, -1):
            by_size[size] += by_size[size - 1] * side
    needed = max(a + b for a, b in zip(by_size, [*by_size[1:], 0], strict=True)) + comb(number, number // 2)
    if needed > task.settings.memory_limit:
        raise LimitReached(
            f"Incognito needs one byte for each of {needed:,} nodes of sets of attributes, but the memory "
            f"limit is {task.settings.memory_limit:,}",
            advice="Lower max_level, name fewer quasi-identifiers, or use --algorithm anytime.",
        )
