"""Special-purpose costs of nodes: KL divergence, the payout game, and the classification metric.

Sources: Kifer and Gehrke 2006 (divergence), Wan et al. 2015 (payout), Iyengar 2002 in ARX's form
(classification).

Classification. The attributes other than the target put each row in a class. If a class has one most frequent
value of the target, the rows with other values are charged; if several values are equally frequent, every row
is charged. A suppressed row is charged, too. With g, the factor of generalization and suppression, these
three charges weigh 1 (2 (1 − g) above 0.5), 1 (2 g below 0.5) and g. A generalized target predicts less: if V
values remain of its D leaves, the charges approach the largest of the three as (V − 1) / (D − 1) falls to 0;
at the target's top level every row costs the largest charge. The cost is the sum as a share of n times the
largest charge. The cost is not monotone, and its only bounds are 0 and 1.

KL divergence. The cost compares the original's distribution p over row types with q, in which each published
row is spread evenly over the combinations of leaves that its class covers, and a suppressed row over all
combinations: Σ p · log2(p / q). With n rows, S of them suppressed, f the rows of a class, V its combinations
(NULL is an additional value where the original has it) and W all combinations, a row of a published class has
q = (f / V + S / W) / n, a suppressed one S / W / n. The sum therefore runs over classes, not row types. It is
the metric ``kl-divergence`` of a release. While the same rows are suppressed it never falls on the way up: −f
· log2(f / V + s) is concave and homogeneous in f and V, so a merged class costs no less than its parts, and
it rises with V. Without suppression it is the entropy of the classes minus that of the row types, plus the
mean of log2 V. The entropy of the classes is at least that of any one attribute; the other terms come from a
table per level.

Payout. A published row of a class of f rows is worth ``benefit`` · (1 − L) to its publisher; L is the share
of its information that generalization removes: Σ log m / Σ log D over the attributes. An adversary succeeds
with probability 1 / f (the prosecutor's attack), then gains ``gain``, and pays ``cost`` for each attempt. If
the attempt is profitable, the publisher loses ``loss`` with that probability. A suppressed row is worth
nothing. The cost is the shortfall of all rows below n · ``benefit``; the factor of generalization and
suppression weighs published and suppressed rows. Higher nodes are worth less and are safer, so the cost is
not monotone. Without attack it is a sum over cells, which bounds it from below.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import fsum, log
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError
from discreet.measures.cell_sums import Factors, LevelSum, LevelSums, LowerBoundSums
from discreet.measures.cost_kinds import Cost, CostArray, LevelArray
from discreet.measures.loss import leaf_counts
from discreet.measures.named_costs import NamedCost
from discreet.measures.node_statistics import NodeStatistics
from discreet.measures.standard_costs import gs_factor_option
from discreet.model.frequency_set import FrequencySet
from discreet.model.lattice import LatticeNode
from discreet.model.option import OptionKind, option
from discreet.model.requirement import Requirement


@dataclass(frozen=True, eq=False)
class ClassificationCost(Cost):
    """Classification metric; ``target`` is the index of the quasi-identifier that is predicted."""

    name: str
    table: FrequencySet
    target: int
    gs_factor: float

    def of(self, statistics: NodeStatistics) -> float:
        """Return the cost of a node."""
        factors = Factors.of(self.gs_factor)
        most = max(self.gs_factor, factors.published, factors.suppressed)
        blurred = self._blurred(statistics.node[self.target])
        if blurred == 1:
            charged = most * int(statistics.sizes.sum())
        else:
            minority, undecided = _minority_and_undecided(statistics, self.target)
            expected = (1.0 - blurred) * np.array([factors.published, factors.suppressed]) + blurred * most
            charged = float(expected @ np.array([minority, undecided]))
        charged += self.gs_factor * statistics.suppressed
        return float(charged / (most * max(self.table.rows, 1)))

    def _blurred(self, level: int) -> float:
        """Return the share of the target's detail that its own level removes."""
        hierarchy = self.table.hierarchies[self.target]
        leaves = len(hierarchy.leaves)
        return 1.0 - (len(hierarchy.labels[level]) - 1) / (leaves - 1) if leaves > 1 else 0.0


def _minority_and_undecided(statistics: NodeStatistics, target: int) -> tuple[int, int]:
    """Count the rows outside their class's single most frequent value, and the rows of tied classes."""
    codes, sizes = statistics.codes, statistics.sizes
    if not len(sizes):
        return 0, 0
    maps = [h.level_map(level) for h, level in zip(statistics.hierarchies, statistics.node, strict=True)]
    generalized = [at[codes[:, i]] for i, at in enumerate(maps) if i != target]
    # The classes of a node are the pairs of the other attributes' labels and the target's value. Groups of
    # equal other attributes are sorted by size, so the first class of a group is its most frequent value and
    # the second one shows whether it is tied.
    others = np.stack(generalized, axis=1) if generalized else np.zeros((len(sizes), 0), np.int64)
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


@dataclass(frozen=True, eq=False)
class DivergenceCost(Cost):
    """KL divergence in bits; the module's docstring has the formula."""

    frequency_set: FrequencySet
    name: str = "kl-divergence"
    monotone = True

    @cached_property
    def _bits(self) -> tuple[tuple[CostArray, ...], ...]:
        """Log2 of the leaves under each leaf code's value, by attribute and level, including NULL."""
        found = []
        for hierarchy, rows in zip(
            self.frequency_set.hierarchies, self.frequency_set.rows_by_code, strict=True
        ):
            leaves = [leaf_counts(hierarchy, level) for level in range(hierarchy.height + 1)]
            leaves[-1] = leaves[-1] + (rows[-1] > 0)
            found.append(tuple(np.log2(values) for values in leaves))
        return tuple(found)

    @cached_property
    def _whole(self) -> float:
        """Log2 of the number of all combinations."""
        return fsum(float(levels[-1][0]) for levels in self._bits)

    @cached_property
    def _row_types(self) -> float:
        """Entropy of the row types, in bits."""
        return _entropy_of_rows(self.frequency_set.counts)

    def of(self, statistics: NodeStatistics) -> float:
        """Return the cost of a node."""
        rows, suppressed = self.frequency_set.rows, statistics.suppressed
        if not rows:
            return 0.0
        combinations = np.zeros(len(statistics.sizes))
        for i, level in enumerate(statistics.node):
            combinations += self._bits[i][level][statistics.codes[:, i]]
        everywhere = suppressed * 2.0**-self._whole
        spread = np.log2(statistics.sizes * 2.0**-combinations + everywhere)
        lost = [-float(part) for part in statistics.sizes * spread]
        if suppressed:
            lost.append(suppressed * (self._whole - float(np.log2(suppressed))))
        return max(fsum(lost) / rows + float(np.log2(rows)) - self._row_types, 0.0)

    def lower_bounds(self, levels: LevelArray, suppressed: NDArray[np.int64]) -> CostArray:
        """Return the bound of each node that suppresses no row, and 0 for the others."""
        width, classes = np.zeros(len(levels)), np.zeros(len(levels))
        for i, (hierarchy, rows) in enumerate(
            zip(self.frequency_set.hierarchies, self.frequency_set.rows_by_code, strict=True)
        ):
            number = max(int(rows.sum()), 1)
            means = np.array([float((bits * rows).sum()) / number for bits in self._bits[i]])
            entropies = np.array(
                [
                    _entropy_of_rows(np.bincount(hierarchy.level_map(level), rows))
                    for level in range(hierarchy.height + 1)
                ]
            )
            width += means[levels[:, i]]
            classes = np.maximum(classes, entropies[levels[:, i]])
        return np.where(suppressed == 0, np.maximum(classes - self._row_types + width, 0.0), 0.0)


def _entropy_of_rows(rows: NDArray[np.int64] | CostArray) -> float:
    shares = rows[rows > 0] / max(rows.sum(), 1)
    return -fsum((shares * np.log2(shares)).tolist())


@dataclass(frozen=True)
class PayoutGame:
    """Amounts at stake for each row in the payout game."""

    benefit: float
    loss: float
    gain: float
    cost: float

    def expected_loss(self, sizes: NDArray[np.int64]) -> CostArray:
        """Return the publisher's expected loss per row by profitable attacks, for classes of these sizes."""
        success = 1.0 / sizes
        return np.where(self.gain * success - self.cost > 0, self.loss * success, 0.0)


@dataclass(frozen=True, eq=False)
class PayoutCost(Cost):
    """Payout that the publisher forgoes; ``sums`` are the shares of information lost, without any attack."""

    name: str
    table: FrequencySet
    game: PayoutGame
    factors: Factors
    sums: LevelSums
    prunes_by_levels = True

    @classmethod
    def over(cls, name: str, table: FrequencySet, game: PayoutGame, factors: Factors) -> PayoutCost:
        """Build the cost of the nodes of a table."""
        domains = [log(len(h.leaves)) for h in table.hierarchies]
        total, sums = sum(domains) or 1.0, []
        for i, hierarchy in enumerate(table.hierarchies):
            rows, levels = table.rows_by_code[i], []
            for level in range(hierarchy.height + 1):
                lost = factors.published * np.log(leaf_counts(hierarchy, level)) / total
                penalty = factors.suppressed * domains[i] / total - lost
                levels.append(LevelSum(float((rows * lost).sum()), penalty, rows))
            sums.append(tuple(levels))
        return cls(name, table, game, factors, tuple(sums))

    @cached_property
    def _least(self) -> tuple[LowerBoundSums, ...]:
        return tuple(map(LowerBoundSums.of, self.sums))

    def of(self, statistics: NodeStatistics) -> float:
        """Return the cost of a node."""
        attacked = statistics.sizes * self.game.expected_loss(statistics.sizes)
        codes, sizes = statistics.suppressed_codes, statistics.suppressed_sizes
        lost = sum(s[statistics.node[i]].of(codes[:, i], sizes) for i, s in enumerate(self.sums))
        return self.game.benefit * float(lost) + self.factors.published * float(np.sort(attacked).sum())

    def least(self, node: LatticeNode, suppressed: int = 0) -> float:
        """Return the payout forgone if no row is attacked."""
        levels = [sums[level] for sums, level in zip(self.sums, node, strict=True)]
        least = sum(each.total + float(each.least_penalty_from(suppressed)) for each in levels)
        return self.game.benefit * least

    def lower_bounds(self, levels: LevelArray, suppressed: NDArray[np.int64]) -> CostArray:
        """Return the payout of each node that is forgone if no row is attacked."""
        total = np.zeros(len(levels))
        for i, sums in enumerate(self.sums):
            for level, each in enumerate(sums):
                at = np.flatnonzero(levels[:, i] == level)
                total[at] += each.total + each.least_penalty(suppressed[at])
        return self.game.benefit * total

    def cheap_lower_bounds(self, levels: LevelArray, suppressed: NDArray[np.int64]) -> CostArray:
        """Return ``least`` of each node."""
        total = np.zeros(len(levels))
        for i, least in enumerate(self._least):
            total += least.at(levels[:, i], suppressed)
        return self.game.benefit * total


@dataclass(frozen=True, kw_only=True)
class Divergence(NamedCost):
    """KL divergence Σ p · log2(p / q) over row types; q spreads rows over the leaves their cells cover.

    The formula is in the docstring of ``measures.special_purpose_costs``.
    """

    name = "kl-divergence"
    meaning = "bits by which the release's distribution is off the original's"

    def over(self, table: FrequencySet, requirement: Requirement, weights: tuple[float, ...]) -> Cost:
        """Build the cost of the nodes of a table."""
        return DivergenceCost(table)


def _money(default: float, text: str) -> Any:
    return option(default, kind=OptionKind.DECIMAL, least=0, most=1e15, metavar="X", help=text)


@dataclass(frozen=True, kw_only=True)
class Payout(NamedCost):
    """Payout that a publisher forgoes in the game with an adversary, summed over all rows.

    The formula is in the docstring of ``measures.special_purpose_costs``.
    """

    name = "payout"
    meaning = "payout that a publisher forgoes in the game with an adversary"

    publisher_benefit: float = _money(1200.0, "value of an unchanged row to its publisher")
    publisher_loss: float = _money(300.0, "loss of the publisher for an identified row")
    adversary_gain: float = _money(300.0, "gain of an adversary for an identified row")
    adversary_cost: float = _money(4.0, "cost of an attempt to the adversary")
    gs_factor: float = gs_factor_option()

    def over(self, table: FrequencySet, requirement: Requirement, weights: tuple[float, ...]) -> Cost:
        """Build the cost of the nodes of a table."""
        game = PayoutGame(
            self.publisher_benefit, self.publisher_loss, self.adversary_gain, self.adversary_cost
        )
        return PayoutCost.over(self.name, table, game, Factors.of(self.gs_factor))


@dataclass(frozen=True, kw_only=True)
class Classification(NamedCost):
    """Error of the classes as predictors of a quasi-identifier (Iyengar 2002).

    The formula is in the docstring of ``measures.special_purpose_costs``.
    """

    name = "classification"
    meaning = "rows without their class's most frequent value of the target"

    target: str | None = option(
        None, metavar="ATTR", help="the quasi-identifier that is predicted", shown="the last one"
    )
    gs_factor: float = gs_factor_option()

    def over(self, table: FrequencySet, requirement: Requirement, weights: tuple[float, ...]) -> Cost:
        """Build the cost of the nodes of a table.

        Raises ``InputError`` if the target is not a quasi-identifier.
        """
        target = table.attributes[-1] if self.target is None else self.target
        if target not in table.attributes:
            raise InputError(
                f"the target '{target}' of the cost '{self.name}'", allowed=", ".join(table.attributes)
            )
        return ClassificationCost(self.name, table, table.attributes.index(target), self.gs_factor)
