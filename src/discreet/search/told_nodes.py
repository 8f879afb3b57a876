"""What tells of many nodes at once: sums over their classes, and the sizes of the classes of each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Protocol, Self

import numpy as np
from numpy.typing import NDArray

from discreet.kernels.histograms import Histograms
from discreet.lattice.evaluated import EvaluatedLattice
from discreet.lattice.some_nodes import SizeCounter
from discreet.measures.told_statistics import Sizes, order_of_sizes
from discreet.model.judge import below
from discreet.model.requirement import Requirement
from discreet.search.class_sizes import sized_nodes
from discreet.search.task import SearchTask
from discreet.search.whole_lattice import evaluated_lattice

Positions = NDArray[np.int64]

_AS_SOON_EVALUATED = 32
"""A node that is counted by itself takes as long as so many that are evaluated together."""


class Sums(Protocol):
    """Of each node: the classes that are published, and the sum of their squared sizes."""

    @property
    def classes(self) -> NDArray[np.int64]:
        """The number of them."""

    @property
    def squares(self) -> NDArray[np.int64]:
        """The sum."""


class ToldNodes(Protocol):
    """Some nodes of a task whose sizes are rows."""

    def sums(self, *, every: bool = False) -> Sums:
        """The sums; with ``every`` classes that are suppressed count, too."""

    def sizes_of(self, position: int) -> Callable[[], Sizes] | None:
        """What lists the sizes of one node's classes; None where the node must be counted."""

    def only(self, chosen: Positions) -> Self:
        """Those at some positions."""


@dataclass(frozen=True, eq=False)
class EvaluatedNodes:
    """Nodes of an evaluated lattice, by their indices."""

    evaluated: EvaluatedLattice
    requirement: Requirement
    nodes: NDArray[np.int64]

    def sums(self, *, every: bool = False) -> Sums:
        """By a pass over the histograms."""
        return sized_nodes(self.evaluated, self.requirement, self.nodes, every=every)

    def sizes_of(self, position: int) -> Callable[[], Sizes]:
        """The histogram written out."""
        return partial(self._listed, int(self.nodes[position]))

    def only(self, chosen: Positions) -> EvaluatedNodes:
        """Those at some positions."""
        return replace(self, nodes=self.nodes[chosen])

    @cached_property
    def _told(self) -> tuple[Histograms, tuple[int | None, ...]]:
        asked = self.requirement.thresholds(self.evaluated.scores, self.evaluated.sensitive_attributes)
        return self.evaluated.histograms.told(asked)

    def _listed(self, node: int) -> Sizes:
        histograms, thresholds = self._told
        signatures, rows = histograms.entries(node)
        sizes, fails = signatures[0], below(tuple(signatures), thresholds)
        order = order_of_sizes(sizes, fails)
        classes = rows[order] // sizes[order]
        return np.repeat(sizes[order], classes), np.repeat(fails[order], classes)


@dataclass(frozen=True, eq=False)
class StagedNodes:
    """Nodes that stages leave over, of which a class fails for its number of rows alone."""

    task: SearchTask
    counter: SizeCounter
    levels: NDArray[np.int64]

    def sums(self, *, every: bool = False) -> Sums:
        """Counted by the kernels, all nodes at once."""
        least = 1 if every else self.task.requirement.least_rows
        return self.counter.count(range(self.levels.shape[1]), self.levels, least)

    def sizes_of(self, position: int) -> Callable[[], Sizes] | None:
        """By the whole lattice where so many nodes are left that it is as soon evaluated."""
        if len(self.levels) * _AS_SOON_EVALUATED < self.task.lattice.size or self._evaluated is None:
            return None
        return self._evaluated.sizes_of(position)

    def only(self, chosen: Positions) -> StagedNodes:
        """Those at some positions."""
        return replace(self, levels=self.levels[chosen])

    @cached_property
    def _evaluated(self) -> EvaluatedNodes | None:
        evaluated = evaluated_lattice(self.task)
        if evaluated is None:
            return None
        nodes = self.levels @ np.array(self.task.lattice.strides, dtype=np.int64)
        return EvaluatedNodes(evaluated, self.task.requirement, nodes)
