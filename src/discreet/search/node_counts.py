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
from typing import Protocol, Self

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
    """Counts nodes of one table under one requirement, each from the nearest one that is kept.

    ``memory`` is in bytes and bounds what is kept; the row types come on top.
    """

    def __init__(self, table: FrequencySet, requirement: Requirement, memory: int) -> None:
        self._requirement = requirement
        self._facts = FactCounter.of(table, requirement)
        self._table, needs = self._facts.table, self._facts.needs
        self._positions = [place for place, need in enumerate(needs) if need is not None]
        subjects = [] if self._table.subjects is None else [self._table.subjects]
        sets = [*subjects, *(self._table.sensitive[place] for place in self._positions)]
        by_value = [False] * len(subjects) + [needs[place] is Need.COUNTS for place in self._positions]
        self._counter = NodeClassCounter(self._table, sets, memory, by_value)

    @property
    def counted(self) -> int:
        """The nodes counted."""
        return self._counter.counted

    @property
    def scans(self) -> int:
        """How many of them were counted from the row types."""
        return self._counter.scans

    def count(self, node: LatticeNode) -> NodeStatistics:
        """A node's classes, and which of them fail the requirement."""
        classes = self._counter.count(node)
        return NodeStatistics(
            node=node,
            hierarchies=self._table.hierarchies,
            requirement=self._requirement,
            class_sizes=classes.sizes,
            failing=self._failing(classes),
            codes_at=partial(self._counter.codes, classes),
        )

    def forget(self) -> None:
        """Keep nothing, now and from now on."""
        self._counter.forget()

    def _failing(self, classes: NodeClasses) -> NDArray[np.bool_]:
        before = len(classes.items) - len(self._positions)
        sizes = classes.distinct[0] if before else classes.sizes
        values: list[ClassValues | None] = [None] * len(self._table.sensitive)
        for kind, place in enumerate(self._positions, before):
            (owners, codes), rows = classes.members[kind], classes.rows[kind]
            whole = self._table.sensitive[place].of
            values[place] = ClassValues(classes.distinct[kind], owners, codes, rows, whole)
        cells = None
        if self._requirement.of_cells is not None:
            # What a class shows follows from its key, in which equal values are one leaf's.
            cells = self._counter.codes(classes, np.arange(classes.classes))
        facts = ClassStatistics(sizes, tuple(values), self._population(classes), cells)
        return suppression_mask(self._facts.bound, facts)

    def _population(self, classes: NodeClasses) -> ClassPopulation | None:
        if not self._facts.of_population:
            return None
        leaves = self._counter.codes(classes, np.arange(classes.classes))
        levels = zip(self._table.hierarchies, classes.node, strict=True)
        columns = [hierarchy.level_map(level)[leaves[:, i]] for i, (hierarchy, level) in enumerate(levels)]
        return count_matching_people(self._table, classes.node, np.column_stack(columns))


def size_nodes(
    evaluated: EvaluatedLattice, requirement: Requirement, nodes: NDArray[np.int64], *, every: bool
) -> NodeSizes:
    """The sums of nodes' classes: of every one, or of those that are published."""
    counted = Requirement() if every else requirement
    classes, squares = sum_class_sizes(evaluated, counted, nodes)
    return NodeSizes(evaluated.suppression(counted)[nodes], classes, squares)


def sum_class_sizes(
    evaluated: EvaluatedLattice, requirement: Requirement, nodes: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The number of classes that are published, and the sum of their squared sizes, by node.

    Sizes must be rows, not subjects. A signature's rows divided by its size are its classes. Cost: a pass
    over the entries of all nodes.
    """
    released = evaluated.published_sums(requirement)
    if released is not None:
        return released[0][nodes], released[1][nodes]
    asked = requirement.thresholds(evaluated.scores, evaluated.sensitive_attributes)
    histograms, thresholds = evaluated.histograms.translate(asked)
    sizes = histograms.signatures[0].astype(np.int64)
    fails = threshold_mask(tuple(histograms.signatures), thresholds)
    rows = np.where(fails, 0, histograms.rows.astype(np.int64))
    starts, stops = histograms.starts[nodes], histograms.stops[nodes]
    classes = _range_sums(rows // np.maximum(sizes, 1), starts, stops)
    squares = _range_sums(rows * sizes, starts, stops)
    if histograms.partial:
        least = max(thresholds[0] or 1, 1)
        rows_of_size = np.diff(histograms.small[nodes].astype(np.int64), axis=1)[:, least - 1 :]
        small = np.arange(least, least + rows_of_size.shape[1])
        classes += (rows_of_size // small).sum(axis=1)
        squares += (rows_of_size * small).sum(axis=1)
    return classes, squares


def _range_sums(
    values: NDArray[np.int64], starts: NDArray[np.int64], stops: NDArray[np.int64]
) -> NDArray[np.int64]:
    """The sums of stretches; a total beyond 64 bits wraps around, and the differences come out right."""
    totals = np.zeros(len(values) + 1, np.int64)
    np.cumsum(values, out=totals[1:])
    return totals[stops] - totals[starts]


Positions = NDArray[np.int64]

_COUNT_TO_EVALUATE_RATIO = 32
"""A node that is counted by itself takes as long as so many that are evaluated together."""


class ClassSums(Protocol):
    """Of each node: the classes that are published, and the sum of their squared sizes."""

    @property
    def classes(self) -> NDArray[np.int64]:
        """The number of them."""

    @property
    def squares(self) -> NDArray[np.int64]:
        """The sum."""


class NodeBatch(Protocol):
    """Some nodes of a task whose sizes are rows."""

    def sums(self, *, every: bool = False) -> ClassSums:
        """The sums; with ``every`` classes that are suppressed count, too."""

    def sizes_of(self, position: int) -> Callable[[], SizesAndFailures] | None:
        """What lists the sizes of one node's classes; None where the node must be counted."""

    def only(self, chosen: Positions) -> Self:
        """Those at some positions."""


@dataclass(frozen=True, eq=False)
class EvaluatedBatch:
    """Nodes of an evaluated lattice, by their indices."""

    evaluated: EvaluatedLattice
    requirement: Requirement
    nodes: NDArray[np.int64]

    def sums(self, *, every: bool = False) -> ClassSums:
        """By a pass over the histograms."""
        return size_nodes(self.evaluated, self.requirement, self.nodes, every=every)

    def sizes_of(self, position: int) -> Callable[[], SizesAndFailures]:
        """The histogram written out."""
        return partial(self._listed, int(self.nodes[position]))

    def only(self, chosen: Positions) -> EvaluatedBatch:
        """Those at some positions."""
        return replace(self, nodes=self.nodes[chosen])

    @cached_property
    def _thresholds(self) -> tuple[Histograms, tuple[int | None, ...]]:
        asked = self.requirement.thresholds(self.evaluated.scores, self.evaluated.sensitive_attributes)
        return self.evaluated.histograms.translate(asked)

    def _listed(self, node: int) -> SizesAndFailures:
        histograms, thresholds = self._thresholds
        signatures, rows = histograms.entries(node)
        sizes, fails = signatures[0], threshold_mask(tuple(signatures), thresholds)
        order = size_order(sizes, fails)
        classes = rows[order] // sizes[order]
        return np.repeat(sizes[order], classes), np.repeat(fails[order], classes)


@dataclass(frozen=True, eq=False)
class CandidateBatch:
    """Nodes that stages leave over, of which a class fails for its number of rows alone."""

    task: SearchProblem
    counter: SizeCounter
    levels: NDArray[np.int64]

    def sums(self, *, every: bool = False) -> ClassSums:
        """Counted by the kernels, all nodes at once."""
        least = 1 if every else self.task.requirement.least_rows
        return self.counter.count(range(self.levels.shape[1]), self.levels, least)

    def sizes_of(self, position: int) -> Callable[[], SizesAndFailures] | None:
        """By the whole lattice where so many nodes are left that it is as soon evaluated."""
        if len(self.levels) * _COUNT_TO_EVALUATE_RATIO < self.task.lattice.size or self._evaluated is None:
            return None
        return self._evaluated.sizes_of(position)

    def only(self, chosen: Positions) -> CandidateBatch:
        """Those at some positions."""
        return replace(self, levels=self.levels[chosen])

    @cached_property
    def _evaluated(self) -> EvaluatedBatch | None:
        evaluated = evaluate_if_fits(self.task)
        if evaluated is None:
            return None
        nodes = self.levels @ np.array(self.task.lattice.strides, dtype=np.int64)
        return EvaluatedBatch(evaluated, self.task.requirement, nodes)
