"""Single nodes under one requirement: their classes, which of them fail, and what a cost reads of them."""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import NDArray

from discreet.frequency.node_classes import ClassCounter, NodeClasses
from discreet.measures.node_statistics import NodeStatistics
from discreet.model.frequency_set import FrequencySet, ValueSets
from discreet.model.lattice import LatticeNode
from discreet.model.requirement import Requirement


class StatisticsCounter:
    """Counts nodes of one table under one requirement, each from the nearest one that is kept.

    ``memory`` is in bytes and bounds what is kept; the row types come on top.
    """

    def __init__(self, table: FrequencySet, requirement: Requirement, memory: int) -> None:
        self._table = table
        self._requirement = requirement
        self._by_subject = table.subjects is not None and requirement.k is not None
        asked: list[tuple[int | None, ValueSets]] = []
        if table.subjects is not None:
            asked.append((requirement.k, table.subjects))
        asked += zip(requirement.l_of(table.sensitive_attributes), table.sensitive, strict=True)
        self._least = [least for least, _ in asked if least is not None]
        self._counter = ClassCounter(table, [sets for least, sets in asked if least is not None], memory)

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
        failing = np.zeros(classes.classes, np.bool_)
        if self._requirement.k is not None and not self._by_subject:
            failing |= classes.sizes < self._requirement.k
        for least, distinct in zip(self._least, classes.distinct, strict=True):
            failing |= distinct < least
        return failing
