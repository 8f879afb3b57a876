"""Every node counted, every solution found: the reference of the other searches.

Where the lattice fits the memory limit it is evaluated (``lattice.evaluate``), faster than any of them by
far: all nodes share the work of their prefixes, and the histograms answer. Where it does not, and in the
database, the nodes are walked depth first, the last attribute fastest, and each is rolled up from the node
before it that differs in one level; so one frequency set per attribute is held at a time.

Cost: one scan, and a check of every node between the bounds.
"""

from __future__ import annotations

from discreet.lattice.evaluated import EvaluatedLattice
from discreet.model.lattice import LatticeNode
from discreet.model.search_result import SearchResult
from discreet.search.fact_table import FactTable
from discreet.search.frequencies import Frequencies, FrequencyClasses
from discreet.search.open_frequencies import frequencies_of
from discreet.search.outcome import Tally, box_size, check_nodes, result_of
from discreet.search.task import SearchTask
from discreet.search.whole_lattice import evaluated_lattice, levels_of, nodes_within


def exhaustive(task: SearchTask) -> SearchResult:
    """Every solution, with every node's suppression counted."""
    tally = Tally()
    evaluated = None if isinstance(task.table, FactTable) else evaluated_lattice(task)
    with frequencies_of(task) as frequencies:
        tally.checked = box_size(task.low, task.high)
        if evaluated is None:
            check_nodes(tally.checked, task)
            solutions = _DepthFirst(task, frequencies).run()
        else:
            solutions = _within(task, evaluated)
            frequencies.scans += 1
        return result_of(task, "exhaustive", frequencies, solutions, tally)


def _within(task: SearchTask, evaluated: EvaluatedLattice) -> dict[LatticeNode, int]:
    """The solutions between the bounds."""
    suppressed = evaluated.suppression(task.requirement)
    nodes = nodes_within(task, suppressed)
    found = zip(map(tuple, levels_of(task, nodes).tolist()), suppressed[nodes].tolist(), strict=True)
    return dict(found)


class _DepthFirst:
    """The walk from the lowest node, one attribute raised after the other."""

    def __init__(self, task: SearchTask, frequencies: Frequencies) -> None:
        self._task = task
        self._frequencies = frequencies
        self._total = box_size(task.low, task.high)
        self._done = 0
        self._solutions: dict[LatticeNode, int] = {}

    def run(self) -> dict[LatticeNode, int]:
        """The solutions with their suppressed rows."""
        counts = self._frequencies.count(range(len(self._task.low)), self._task.low)
        self._descend(counts, 0)
        counts.release()
        return self._solutions

    def _descend(self, counts: FrequencyClasses, attribute: int) -> None:
        """Visit the nodes that agree with ``counts`` before ``attribute``; from there on it is lowest."""
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

    def _visit(self, counts: FrequencyClasses) -> None:
        rows = counts.suppressed()
        if rows <= self._task.limit:
            self._solutions[counts.levels] = rows
        self._done += 1
        self._task.advance(self._done, self._total)
