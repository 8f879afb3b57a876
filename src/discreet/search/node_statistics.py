"""Single nodes under one requirement: their classes, which of them fail, and what a cost reads of them."""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import NDArray

from discreet.frequency.class_facts import FactCounter
from discreet.frequency.node_classes import ClassCounter, NodeClasses
from discreet.frequency.population import people_of_classes
from discreet.measures.node_statistics import NodeStatistics
from discreet.model.class_facts import ClassFacts, ClassPopulation, ClassValues
from discreet.model.criteria.base import Need
from discreet.model.frequency_set import FrequencySet
from discreet.model.judge import suppressed
from discreet.model.lattice import LatticeNode
from discreet.model.requirement import Requirement


class StatisticsCounter:
    """Counts nodes of one table under one requirement, each from the nearest one that is kept.

    ``memory`` is in bytes and bounds what is kept; the row types come on top.
    """

    def __init__(self, table: FrequencySet, requirement: Requirement, memory: int) -> None:
        self._requirement = requirement
        self._facts = FactCounter.of(table, requirement)
        self._table, asked = self._facts.table, self._facts.asked
        self._places = [place for place, need in enumerate(asked) if need is not None]
        subjects = [] if self._table.subjects is None else [self._table.subjects]
        sets = [*subjects, *(self._table.sensitive[place] for place in self._places)]
        by_value = [False] * len(subjects) + [asked[place] is Need.COUNTS for place in self._places]
        self._counter = ClassCounter(self._table, sets, memory, by_value)

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
        before = len(classes.items) - len(self._places)
        sizes = classes.distinct[0] if before else classes.sizes
        values: list[ClassValues | None] = [None] * len(self._table.sensitive)
        for kind, place in enumerate(self._places, before):
            (owners, codes), rows = classes.members[kind], classes.rows[kind]
            whole = self._table.sensitive[place].of
            values[place] = ClassValues(classes.distinct[kind], owners, codes, rows, whole)
        cells = None
        if self._requirement.of_cells is not None:
            # What a class shows follows from its key, in which equal values are one leaf's.
            cells = self._counter.codes(classes, np.arange(classes.classes))
        facts = ClassFacts(sizes, tuple(values), self._population(classes), cells)
        return suppressed(self._facts.bound, facts)

    def _population(self, classes: NodeClasses) -> ClassPopulation | None:
        if not self._facts.of_population:
            return None
        leaves = self._counter.codes(classes, np.arange(classes.classes))
        levels = zip(self._table.hierarchies, classes.node, strict=True)
        columns = [hierarchy.level_map(level)[leaves[:, i]] for i, (hierarchy, level) in enumerate(levels)]
        return people_of_classes(self._table, classes.node, np.column_stack(columns))
