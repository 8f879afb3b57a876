"""What a publisher forgoes by a node: the game of a publisher and an adversary (Wan and others 2015).

A published row of a class of f rows is worth ``benefit`` · (1 − L) to its publisher, L being the share of its
information that generalization takes away: Σ log m / Σ log D over the attributes. An adversary succeeds with
probability 1 / f (the prosecutor's attack), gains ``gain`` then and pays ``cost`` for trying; where that is
worth while, the publisher loses ``loss`` with that probability. A suppressed row is worth nothing.

The cost is what all rows together stay below n · ``benefit``; the factor of generalization and suppression
weighs published and suppressed rows. Higher nodes are worth less and safer, so that it rises and falls on the
way up. Without attack it is a sum over cells, which bounds it from below.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import log

import numpy as np
from numpy.typing import NDArray

from discreet.measures.cell_sums import Factors, LeastSums, LevelSum, LevelSums, leaves_shown, rows_by_code
from discreet.measures.cost_kinds import Floats, Levels
from discreet.measures.node_statistics import NodeStatistics
from discreet.model.frequency_set import FrequencySet
from discreet.model.lattice import LatticeNode


@dataclass(frozen=True)
class Game:
    """What is at stake for each row."""

    benefit: float
    loss: float
    gain: float
    cost: float

    def lost_by_attack(self, sizes: NDArray[np.int64]) -> Floats:
        """What the publisher of classes of these sizes loses by attacks that are worth while, per row."""
        success = 1.0 / sizes
        return np.where(self.gain * success - self.cost > 0, self.loss * success, 0.0)


@dataclass(frozen=True, eq=False)
class PayoutCost:
    """The payout that is forgone; ``sums`` are the shares of information lost, without any attack."""

    name: str
    table: FrequencySet
    game: Game
    factors: Factors
    sums: LevelSums
    monotone: bool = False
    always_monotone: bool = False
    narrows: bool = True

    @classmethod
    def over(cls, name: str, table: FrequencySet, game: Game, factors: Factors) -> PayoutCost:
        """The cost of the nodes of a table."""
        domains = [log(len(h.leaves)) for h in table.hierarchies]
        whole, sums = sum(domains) or 1.0, []
        for i, hierarchy in enumerate(table.hierarchies):
            rows, levels = rows_by_code(table, i), []
            for level in range(hierarchy.height + 1):
                lost = factors.published * np.log(leaves_shown(hierarchy, level)) / whole
                penalty = factors.suppressed * domains[i] / whole - lost
                levels.append(LevelSum(float((rows * lost).sum()), penalty, rows))
            sums.append(tuple(levels))
        return cls(name, table, game, factors, tuple(sums))

    @cached_property
    def _least(self) -> tuple[LeastSums, ...]:
        return tuple(map(LeastSums.of, self.sums))

    def of(self, statistics: NodeStatistics) -> float:
        """The cost of a node."""
        attacked = statistics.sizes * self.game.lost_by_attack(statistics.sizes)
        codes, sizes = statistics.suppressed_codes, statistics.suppressed_sizes
        lost = sum(s[statistics.node[i]].of(codes[:, i], sizes) for i, s in enumerate(self.sums))
        return self.game.benefit * float(lost) + self.factors.published * float(np.sort(attacked).sum())

    def known(self, node: LatticeNode, suppressed: int) -> float | None:  # noqa: ARG002
        """Never: classes must be counted."""
        return None

    def least(self, node: LatticeNode, suppressed: int = 0) -> float:
        """What is forgone where nobody attacks."""
        levels = [sums[level] for sums, level in zip(self.sums, node, strict=True)]
        least = sum(each.total + float(each.least_penalty_from(suppressed)) for each in levels)
        return self.game.benefit * least

    def least_of(self, levels: Levels, suppressed: NDArray[np.int64]) -> Floats:
        """The same of many nodes."""
        total = np.zeros(len(levels))
        for i, sums in enumerate(self.sums):
            for level, each in enumerate(sums):
                at = np.flatnonzero(levels[:, i] == level)
                total[at] += each.total + each.least_penalty(suppressed[at])
        return self.game.benefit * total

    def least_from(self, levels: Levels, suppressed: NDArray[np.int64]) -> Floats:
        """``least`` of many nodes."""
        total = np.zeros(len(levels))
        for i, least in enumerate(self._least):
            total += least.at(levels[:, i], suppressed)
        return self.game.benefit * total
