"""Class statistics of nodes under one requirement: of single nodes, and of batches of nodes.

``StatisticsCounter`` counts one node at a time, from the nearest counted node. A ``NodeBatch`` computes
the number of published classes and their squared sizes for many nodes at once, from the histograms of an
evaluated lattice or with the size kernels, and lists the class sizes of a single node when a cost reads
them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, partial

import numpy as np
from numpy.typing import NDArray

from discreet.frequency.fact_counter import FactCounter
from discreet.frequency.node_classes import NodeClassCounter, NodeClasses
from discreet.frequency.rollup import count_matching_people
from discreet.kernels.histograms import Histograms
from discreet.lattice.evaluated_lattice import EvaluatedLattice
from discreet.lattice.size_counter import NodeSizes, SizeCounter
from discreet.measures.node_statistics import NodeStatistics, SizesAndFailures, size_order
from discreet.model.criteria.base import Need
from discreet.model.criterion_inputs import ClassPopulation, ClassStatistics, ClassValues
from discreet.model.frequency_set import FrequencySet
from discreet.model.lattice import LatticeNode
from discreet.model.requirement import Requirement, suppression_mask, threshold_mask
from discreet.search.search_problem import SearchProblem, evaluate_if_fits


class StatisticsCounter:
    """Counter of nodes of one table under one requirement, each from the nearest stored node.

    ``memory`` (bytes) limits the stored states; the row types are not included.
    """

    @classmethod
    def of(cls, task: SearchProblem) -> StatisticsCounter:
        """Build the counter of a problem; its states take at most a quarter of the memory limit."""
        return cls(task.frequency_set, task.requirement, task.settings.memory_limit // 4)

    def __init__(self, table: FrequencySet, requirement: Requirement, memory: int) -> None:
        self._requirement = requirement
        self._facts = FactCounter.of(table, requirement)
        self._table, needs = self._facts.table, self._facts.needs
        self._positions = [index for index, need in enumerate(needs) if need is not None]
        subjects = [] if self._table.subjects is None else [self._table.subjects]
        sets = [*subjects, *(self._table.sensitive[index] for index in self._positions)]
        by_value = [False] * len(subjects) + [needs[index] is Need.COUNTS for index in self._positions]
        self.classes = NodeClassCounter(self._table, sets, memory, by_value)

    @property
    def counted(self) -> int:
        """Number of counted nodes."""
        return self.classes.counted

    @property
    def scans(self) -> int:
        """Number of nodes counted from the row types."""
        return self.classes.scans

    def count(self, node: LatticeNode) -> NodeStatistics:
        """Count the classes of a node, and mark those that fail the requirement."""
        classes = self.classes.count(node)
        return NodeStatistics(
            node=node,
            hierarchies=self._table.hierarchies,
            requirement=self._requirement,
            class_sizes=classes.sizes,
            failing=self.failing(classes),
            codes_at=partial(self.classes.codes, classes),
        )

    def forget(self) -> None:
        """Discard all stored states, and store none from now on."""
        self.classes.forget()

    def failing(self, classes: NodeClasses) -> NDArray[np.bool_]:
        """Mark the classes that the requirement suppresses."""
        before = len(classes.items) - len(self._positions)
        sizes = classes.distinct[0] if before else classes.sizes
        values: list[ClassValues | None] = [None] * len(self._table.sensitive)
        for kind, index in enumerate(self._positions, before):
            (owners, codes), rows = classes.members[kind], classes.rows[kind]
            attribute = self._table.sensitive[index].of
            values[index] = ClassValues(classes.distinct[kind], owners, codes, rows, attribute)
        cells = None
        if self._requirement.of_cells is not None:
            # The labels of a class follow from its key, in which equal values have the code of one leaf.
            cells = self.classes.codes(classes, np.arange(classes.classes))
        facts = ClassStatistics(sizes, tuple(values), self._population(classes), cells)
        return suppression_mask(self._facts.bound, facts)

    def _population(self, classes: NodeClasses) -> ClassPopulation | None:
        if not self._facts.of_population:
            return None
        leaves = self.classes.codes(classes, np.arange(classes.classes))
        levels = zip(self._table.hierarchies, classes.node, strict=True)
        columns = [hierarchy.level_map(level)[leaves[:, i]] for i, (hierarchy, level) in enumerate(levels)]
        return count_matching_people(self._table, classes.node, np.column_stack(columns))


def _range_sums(
    values: NDArray[np.int64], starts: NDArray[np.int64], stops: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Sum ranges of an array; totals may wrap around at 64 bits, and the differences remain correct."""
    totals = np.zeros(len(values) + 1, np.int64)
    np.cumsum(values, out=totals[1:])
    return totals[stops] - totals[starts]


_COUNT_TO_EVALUATE_RATIO = 32
"""Nodes evaluated together in the time of one node that is counted separately."""


@dataclass(frozen=True, eq=False)
class EvaluatedBatch:
    """Nodes of an evaluated lattice, by their indices."""

    evaluated: EvaluatedLattice
    requirement: Requirement
    nodes: NDArray[np.int64]

    def sums(self, *, every: bool = False) -> NodeSizes:
        """Sum over each node's published classes, or all (``every``). Cost: a pass over the histograms."""
        counted = Requirement() if every else self.requirement
        suppressed = self.evaluated.suppression(counted)[self.nodes]
        published = self.evaluated.published_sums(counted)
        if published is not None:
            return NodeSizes(suppressed, published[0][self.nodes], published[1][self.nodes])
        return NodeSizes(suppressed, *self._class_sums(counted))

    def _class_sums(self, requirement: Requirement) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Count the classes that meet class criteria, and sum their squared sizes, for each node."""
        histograms, thresholds = self._translate(requirement)
        sizes = histograms.signatures[0].astype(np.int64)
        fails = threshold_mask(tuple(histograms.signatures), thresholds)
        rows = np.where(fails, 0, histograms.rows.astype(np.int64))
        starts, stops = histograms.starts[self.nodes], histograms.stops[self.nodes]
        # A signature's rows divided by its size are its classes, because sizes are rows, not subjects.
        classes = _range_sums(rows // np.maximum(sizes, 1), starts, stops)
        squares = _range_sums(rows * sizes, starts, stops)
        if histograms.partial:
            least = max(thresholds[0] or 1, 1)
            rows_of_size = np.diff(histograms.small[self.nodes].astype(np.int64), axis=1)[:, least - 1 :]
            small = np.arange(least, least + rows_of_size.shape[1])
            classes += (rows_of_size // small).sum(axis=1)
            squares += (rows_of_size * small).sum(axis=1)
        return classes, squares

    def sizes_of(self, position: int) -> Callable[[], SizesAndFailures]:
        """Return a function that expands the node's histogram."""
        return partial(self._listed, int(self.nodes[position]))

    def only(self, chosen: NDArray[np.int64]) -> EvaluatedBatch:
        """Return the batch of the nodes at some positions."""
        return replace(self, nodes=self.nodes[chosen])

    def _translate(self, requirement: Requirement) -> tuple[Histograms, tuple[int | None, ...]]:
        least_scores = requirement.thresholds(self.evaluated.scores, self.evaluated.sensitive_attributes)
        return self.evaluated.histograms.translate(least_scores)

    @cached_property
    def _thresholds(self) -> tuple[Histograms, tuple[int | None, ...]]:
        return self._translate(self.requirement)

    def _listed(self, node: int) -> SizesAndFailures:
        histograms, thresholds = self._thresholds
        signatures, rows = histograms.entries(node)
        sizes, fails = signatures[0], threshold_mask(tuple(signatures), thresholds)
        order = size_order(sizes, fails)
        classes = rows[order] // sizes[order]
        return np.repeat(sizes[order], classes), np.repeat(fails[order], classes)


@dataclass(frozen=True, eq=False)
class CandidateBatch:
    """Nodes that remain after the stages, for requirements under which a class fails only for its rows."""

    task: SearchProblem
    counter: SizeCounter
    levels: NDArray[np.int64]

    def sums(self, *, every: bool = False) -> NodeSizes:
        """Count all nodes at once with the size kernels."""
        least = 1 if every else self.task.requirement.least_rows
        return self.counter.count(range(self.levels.shape[1]), self.levels, least)

    def sizes_of(self, position: int) -> Callable[[], SizesAndFailures] | None:
        """Look up the evaluated lattice; None if few nodes remain, so that counting them is faster."""
        if len(self.levels) * _COUNT_TO_EVALUATE_RATIO < self.task.lattice.size or self._evaluated is None:
            return None
        return self._evaluated.sizes_of(position)

    def only(self, chosen: NDArray[np.int64]) -> CandidateBatch:
        """Return the batch of the nodes at some positions."""
        return replace(self, levels=self.levels[chosen])

    @cached_property
    def _evaluated(self) -> EvaluatedBatch | None:
        evaluated = evaluate_if_fits(self.task)
        if evaluated is None:
            return None
        nodes = self.levels @ np.array(self.task.lattice.strides, dtype=np.int64)
        return EvaluatedBatch(evaluated, self.task.requirement, nodes)


NodeBatch = EvaluatedBatch | CandidateBatch
"""Some nodes of a problem whose class sizes are rows."""
