"""Samarati's binary search on the generalization height (Samarati 2001).

If a node meets the requirement, so does one of every greater height above it; so the least height with a
solution is found by bisection. A node is checked by a GROUP BY instead of the paper's matrix of
distances, and the answer is the solution that the tie rule prefers. Minimal solutions of greater heights
are not found.
"""

from __future__ import annotations

from collections.abc import Iterator

from discreet.model.lattice import LatticeNode
from discreet.model.search_result import SearchResult
from discreet.search.database_frequency_sets import open_frequency_sets
from discreet.search.frequency_sets import FrequencySets
from discreet.search.search_problem import SearchProblem, nodes_at_height, width_at
from discreet.search.solutions import SearchTally, build_result, check_node_limit


def samarati(task: SearchProblem) -> SearchResult:
    """Find a solution of the least height, the one that the tie rule prefers.

    Parameters
    ----------
    task
        Table, requirement, suppression limit and bounds of the search.

    Returns
    -------
    The preferred solution with its suppressed rows, if any, and the number of checked nodes.

    Raises
    ------
    InputError
        For criteria under which suppression may rise from a node to one above it.
    LimitReached
        If the nodes or the frequency sets would not fit the memory limit.

    Notes
    -----
    Cost: about log2(height of the lattice) heights, each with at most the width of the lattice there;
    one scan per checked node, one frequency set in memory.

    References
    ----------
    Samarati (2001), *Protecting Respondents' Identities in Microdata Release*. IEEE TKDE 13(6), 1010–1027.

    Examples
    --------
    >>> samarati(SearchProblem.of(table, Request.of(k=10), settings)).solutions  # doctest: +SKIP
    """
    task.require_monotone("samarati")
    with open_frequency_sets(task) as frequencies:
        search = _BinarySearch(task, frequencies)
        best = search.run()
        solutions = {} if best is None else {best[0]: best[1]}
        return build_result(task, "samarati", frequencies, solutions, search.tally)


class _BinarySearch:
    def __init__(self, task: SearchProblem, frequencies: FrequencySets) -> None:
        self._task = task
        self._frequencies = frequencies
        self._suppressed: dict[LatticeNode, int] = {}
        self.tally = SearchTally()

    def run(self) -> tuple[LatticeNode, int] | None:
        """Return the preferred solution with its suppressed rows; None if there is none."""
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
        """Yield the nodes of a height in the paper's order, each with its suppressed rows."""
        check_node_limit(width_at(self._task.low, self._task.high, height), self._task)
        for node in nodes_at_height(self._task.low, self._task.high, height):
            if node not in self._suppressed:
                counts = self._frequencies.count(range(len(node)), node)
                self._suppressed[node] = counts.suppressed()
                counts.release()
                self.tally.checked += 1
            yield node, self._suppressed[node]
