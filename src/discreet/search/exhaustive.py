"""Exhaustive search: count every node and report every solution; the reference of the other searches.

If the lattice fits the memory limit it is evaluated (``lattice.evaluation``). Otherwise, and in the
database, nodes are visited depth first, the last attribute fastest, and each is rolled up from its
predecessor, so that one frequency set per attribute is in memory.

Cost: one scan, and a check of every node between the bounds.
"""

from __future__ import annotations

from discreet.lattice.evaluated_lattice import EvaluatedLattice
from discreet.model.lattice import LatticeNode
from discreet.model.search_result import SearchResult
from discreet.search.database_frequency_sets import open_frequency_sets
from discreet.search.frequency_sets import AttributeFrequencySet, FrequencySets
from discreet.search.search_problem import (
    FactTable,
    SearchProblem,
    evaluate_if_fits,
    levels_of_nodes,
    solution_indices,
)
from discreet.search.solutions import SearchTally, box_size, build_result, check_node_limit


def exhaustive(task: SearchProblem) -> SearchResult:
    """Find every solution by counting the suppressed rows of every node between the bounds.

    Cost: one scan and a check per node. The evaluated lattice if it fits the memory limit, otherwise one
    frequency set per attribute.
    """
    tally = SearchTally()
    evaluated = None if isinstance(task.table, FactTable) else evaluate_if_fits(task)
    with open_frequency_sets(task) as frequencies:
        tally.checked = box_size(task.low, task.high)
        if evaluated is None:
            check_node_limit(tally.checked, task)
            solutions = _DepthFirst(task, frequencies).run()
        else:
            solutions = _within(task, evaluated)
            frequencies.scans += 1
        return build_result(task, "exhaustive", frequencies, solutions, tally)


def _within(task: SearchProblem, evaluated: EvaluatedLattice) -> dict[LatticeNode, int]:
    """Return the solutions between the bounds with their suppressed rows."""
    suppressed = evaluated.suppression(task.requirement)
    nodes = solution_indices(task, suppressed)
    found = zip(map(tuple, levels_of_nodes(task, nodes).tolist()), suppressed[nodes].tolist(), strict=True)
    return dict(found)


class _DepthFirst:
    """Depth-first traversal from the lowest node, raising one attribute after the other."""

    def __init__(self, task: SearchProblem, frequencies: FrequencySets) -> None:
        self._task = task
        self._frequencies = frequencies
        self._total = box_size(task.low, task.high)
        self._done = 0
        self._solutions: dict[LatticeNode, int] = {}

    def run(self) -> dict[LatticeNode, int]:
        """Return the solutions with their suppressed rows."""
        counts = self._frequencies.count(range(len(self._task.low)), self._task.low)
        self._descend(counts, 0)
        counts.release()
        return self._solutions

    def _descend(self, counts: AttributeFrequencySet, attribute: int) -> None:
        """Visit the nodes that agree with ``counts`` before ``attribute``; the others start at the bottom."""
        if attribute == len(self._task.low):
            self._visit(counts)
            return
        current = counts
        for level in range(self._task.low[attribute], self._task.high[attribute] + 1):
            if level > current.levels[attribute]:
                node = (*current.levels[:attribute], level, *current.levels[attribute + 1 :])
                above = current.roll_up(node)
                if current is not counts:
                    current.release()
                current = above
            self._descend(current, attribute + 1)
        if current is not counts:
            current.release()

    def _visit(self, counts: AttributeFrequencySet) -> None:
        rows = counts.suppressed()
        if rows <= self._task.limit:
            self._solutions[counts.levels] = rows
        self._done += 1
        self._task.advance(self._done, self._total)
