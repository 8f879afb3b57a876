"""How badly a node's classes predict a target: the classification metric (Iyengar 2002), in the rival's form.

Rows are judged by the class that the other attributes put them in: in one that has a most frequent value of
the target, the rows of all its other values are charged; in one where several values are equally frequent,
every row is. A suppressed row is charged, too. With g, the factor of generalization and suppression, these
three weigh 1 (2 (1 − g) above 0.5), 1 (2 g below 0.5) and g. A target that is generalized itself predicts
less: of its D leaves, V values are left, and the charges approach the largest of the three as
(V − 1) / (D − 1) falls to 0; at its top every row costs that. The cost is the sum as a share of n times the
largest.

It rises and falls on the way up, and nothing bounds it but 0 and 1.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.measures.cell_sums import Factors
from discreet.measures.cost_kinds import Floats, Levels
from discreet.measures.node_statistics import NodeStatistics
from discreet.model.frequency_set import FrequencySet
from discreet.model.lattice import LatticeNode


@dataclass(frozen=True, eq=False)
class ClassificationCost:
    """The charge; ``target`` is the place of the quasi-identifier that is predicted."""

    name: str
    table: FrequencySet
    target: int
    gs_factor: float
    monotone: bool = False
    always_monotone: bool = False
    narrows: bool = False

    def of(self, statistics: NodeStatistics) -> float:
        """The cost of a node."""
        factors = Factors.of(self.gs_factor)
        most = max(self.gs_factor, factors.published, factors.suppressed)
        blurred = self._blurred(statistics.node[self.target])
        if blurred == 1:
            charged = most * int(statistics.sizes.sum())
        else:
            minority, undecided = _judged(statistics, self.target)
            kept = (1.0 - blurred) * np.array([factors.published, factors.suppressed]) + blurred * most
            charged = float(kept @ np.array([minority, undecided]))
        charged += self.gs_factor * statistics.suppressed
        return float(charged / (most * max(self.table.rows, 1)))

    def _blurred(self, level: int) -> float:
        """How much of the target's detail its own level gives up."""
        hierarchy = self.table.hierarchies[self.target]
        leaves = len(hierarchy.leaves)
        return 1.0 - (len(hierarchy.labels[level]) - 1) / (leaves - 1) if leaves > 1 else 0.0

    def known(self, node: LatticeNode, suppressed: int) -> float | None:  # noqa: ARG002
        """Never: classes must be counted."""
        return None

    def least(self, node: LatticeNode, suppressed: int = 0) -> float:  # noqa: ARG002
        """Nothing is known."""
        return 0.0

    def least_of(self, levels: Levels, suppressed: NDArray[np.int64]) -> Floats:  # noqa: ARG002
        """Nothing is known."""
        return np.zeros(len(levels))

    def least_from(self, levels: Levels, suppressed: NDArray[np.int64]) -> Floats:
        """Nothing is known."""
        return self.least_of(levels, suppressed)


def _judged(statistics: NodeStatistics, target: int) -> tuple[int, int]:
    """The rows that are not of their class's one most frequent value, and those of classes without one."""
    codes, sizes = statistics.codes, statistics.sizes
    if not len(sizes):
        return 0, 0
    maps = [h.level_map(level) for h, level in zip(statistics.hierarchies, statistics.node, strict=True)]
    shown = [at[codes[:, i]] for i, at in enumerate(maps) if i != target]
    # The classes of a node are the pairs of what the other attributes show and the target's value.
    others = np.stack(shown, axis=1) if shown else np.zeros((len(sizes), 0), np.int64)
    _, group = np.unique(others, axis=0, return_inverse=True)
    group = group.ravel()
    order = np.lexsort((-sizes, group))
    first = np.flatnonzero(np.append(True, np.diff(group[order]) > 0))
    rows = np.add.reduceat(sizes[order], first)
    largest = sizes[order][first]
    second = np.append(first[1:], len(order)) - first > 1
    runner_up = np.where(second, sizes[order][np.minimum(first + 1, len(order) - 1)], 0)
    tied = largest == runner_up
    return int((rows - largest)[~tied].sum()), int(rows[tied].sum())
