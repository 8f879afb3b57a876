"""Samarati's binary search on height (Samarati 2001).

Where a node meets the requirement, so does one of every greater height above it. So the least height that has
a solution is found by bisection: at the middle height the nodes are checked one by one until one meets the
requirement; the search goes on below where one does, else above.

Differences from the paper: a node is checked by a GROUP BY rather than by the matrix of distances of all
pairs of rows, and the answer is not any solution of the least height but the one that the tie rule prefers,
the fewest suppressed rows, then the paper's node order. So the nodes of that height that were passed over are
checked at the end, until one suppresses nothing.

It finds one solution of the least height. Other minimal solutions, which lie higher, it does not see.

Cost: about log2(height of the lattice) heights, each with at most the width of the lattice there; every check
is a scan. No memory beyond one frequency set.
"""

from __future__ import annotations

from collections.abc import Iterator

from discreet.model.lattice import LatticeNode
from discreet.model.search_result import SearchResult
from discreet.search.frequencies import Frequencies
from discreet.search.open_frequencies import frequencies_of
from discreet.search.outcome import Tally, check_nodes, result_of
from discreet.search.task import SearchTask
from discreet.search.walk import at_height, width_at


def samarati(task: SearchTask) -> SearchResult:
    """A solution of the least height: the tie rule's, or none."""
    task.require_monotone("samarati")
    with frequencies_of(task) as frequencies:
        search = _BinarySearch(task, frequencies)
        best = search.run()
        solutions = {} if best is None else {best[0]: best[1]}
        return result_of(task, "samarati", frequencies, solutions, search.tally)


class _BinarySearch:
    def __init__(self, task: SearchTask, frequencies: Frequencies) -> None:
        self._task = task
        self._frequencies = frequencies
        self._suppressed: dict[LatticeNode, int] = {}
        self.tally = Tally()

    def run(self) -> tuple[LatticeNode, int] | None:
        """The preferred solution with its suppressed rows."""
        low, high = sum(self._task.low), sum(self._task.high)
        total = max((high - low).bit_length(), 1) + 1
        done = 0
        while low < high:
            middle = (low + high) // 2
            if any(rows <= self._task.limit for _, rows in self._checked(middle)):
                high = middle
            else:
                low = middle + 1
            done += 1
            self._task.advance(min(done, total - 1), total)
        return self._preferred(low)

    def _preferred(self, height: int) -> tuple[LatticeNode, int] | None:
        best: tuple[LatticeNode, int] | None = None
        for node, rows in self._checked(height):
            if rows <= self._task.limit and (best is None or rows < best[1]):
                best = node, rows
                if rows == 0:
                    break
        return best

    def _checked(self, height: int) -> Iterator[tuple[LatticeNode, int]]:
        """The nodes of a height, in the paper's order, each with its suppressed rows."""
        check_nodes(width_at(self._task.low, self._task.high, height), self._task)
        for node in at_height(self._task.low, self._task.high, height):
            if node not in self._suppressed:
                counts = self._frequencies.count(range(len(node)), node)
                self._suppressed[node] = counts.suppressed()
                counts.release()
                self.tally.checked += 1
            yield node, self._suppressed[node]
