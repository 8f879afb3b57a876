"""Incognito: every solution, by searching ever larger sets of attributes (LeFevre et al. 2005).

What a set of attributes fails, every larger set fails (subset property): where a class of the subset is too
small, so are those that it falls into. So the nodes of single attributes are searched first, then those of
pairs whose attributes both survived, and so on; candidates of i + 1 attributes are joined from the survivors
of i and pruned (``candidates``). The survivors of all attributes together are the solutions, all of them.

The nodes of one set of attributes, a family, are searched breadth first (``breadth_first``) from the roots,
the candidates that no edge leads to. The frequency set of a node that is no root is rolled up. Roots are
counted from the table (basic Incognito), or rolled up too: from one super-root per family (``root_sets``), or
from a cube of all sets of attributes at the lowest levels (``cube``). The three check the same nodes and
differ in scans.

With a suppression limit all this holds too where criteria are growing, as k and l are: the classes of a
subset are unions of classes, so its failing ones have no more rows.

Cost: exponential in the number of attributes; a byte per node of every set of attributes.
"""

from __future__ import annotations

from collections.abc import Callable
from math import comb
from time import perf_counter

from discreet.errors import LimitReached
from discreet.model.lattice import LatticeNode
from discreet.model.search_result import SearchResult
from discreet.search.breadth_first import FamilySearch
from discreet.search.candidates import Family, Nodes, candidates
from discreet.search.cube import Cube, families
from discreet.search.frequencies import Frequencies
from discreet.search.open_frequencies import frequencies_of
from discreet.search.outcome import Tally, nodes_of, result_of
from discreet.search.root_sets import CountedRoots, RootSets, SuperRoots
from discreet.search.task import SearchTask

Open = Callable[[Frequencies, Tally], RootSets]


def incognito(task: SearchTask) -> SearchResult:
    """Every solution; roots are counted from the table."""
    return _search(task, "incognito", lambda frequencies, _: CountedRoots(frequencies))


def incognito_superroots(task: SearchTask) -> SearchResult:
    """Every solution; the roots of a family are rolled up from their greatest common specialization."""
    return _search(task, "incognito-superroots", lambda frequencies, _: SuperRoots(frequencies))


def incognito_cube(task: SearchTask) -> SearchResult:
    """Every solution; roots are rolled up from a cube, whose building is told apart."""

    def build(frequencies: Frequencies, tally: Tally) -> Cube:
        cube = Cube(task, frequencies)
        tally.build_seconds = perf_counter() - tally.started
        return cube

    return _search(task, "incognito-cube", build)


def _search(task: SearchTask, name: str, open_roots: Open) -> SearchResult:
    task.require_monotone(name)
    levels = [b - a + 1 for a, b in zip(task.low, task.high, strict=True)]
    _check_memory(task, levels)
    number = len(levels)
    with frequencies_of(task) as frequencies:
        tally = Tally()
        root_sets = open_roots(frequencies, tally)
        smaller: dict[Family, Nodes] = {}
        suppressed: dict[LatticeNode, int] = {}
        done = 0
        for size in range(1, number + 1):
            larger: dict[Family, Nodes] = {}
            for family in families(number, size):
                search = FamilySearch(task, family, candidates(family, levels, smaller), root_sets, tally)
                larger[family] = search.run()
                suppressed = search.suppressed
                done += 1
                task.advance(done, 2**number - 1)
            smaller = larger
        found = nodes_of(smaller[tuple(range(number))], task)
        solutions = {node: suppressed.get(node) for node in found}
        return result_of(task, name, frequencies, solutions, tally)


def _check_memory(task: SearchTask, levels: list[int]) -> None:
    """Refuse families whose nodes alone would not fit; a byte each, of two sizes of families at a time."""
    number = len(levels)
    by_size = [1] + [0] * number
    for side in levels:
        for size in range(number, 0, -1):
            by_size[size] += by_size[size - 1] * side
    needed = max(a + b for a, b in zip(by_size, [*by_size[1:], 0], strict=True)) + comb(number, number // 2)
    if needed > task.settings.memory_limit:
        raise LimitReached(
            f"Incognito would keep a byte for each of {needed:,} nodes of sets of attributes, "
            f"but the memory limit is {task.settings.memory_limit:,}",
            advice="Lower max_level, name fewer quasi-identifiers, or use --algorithm anytime.",
        )
