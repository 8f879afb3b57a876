"""Standard costs of nodes: sums over cells, class sizes, ambiguity and height.

Precision, loss, entropy and detail are sums over cells; average size and discernibility read class sizes.
Cell costs declare the charge of suppressed rows, ARX's factor between generalization and suppression, and the
aggregate of the attributes. Each part is multiplied by its attribute's weight.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property, partial
from math import prod
from operator import mul
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.measures.cell_sums import (
    CostAggregate,
    Factors,
    LevelSum,
    LevelSums,
    LowerBoundSums,
    domain_sums,
    information_sums,
    penalized_among_suppressed,
    without_penalties,
)
from discreet.measures.cost_kinds import CellCost, ClassSizeCost, Cost, CostArray, LevelArray, LevelCost
from discreet.measures.loss import leaf_counts
from discreet.measures.named_costs import NamedCost
from discreet.measures.node_statistics import NodeStatistics
from discreet.measures.recoding_metrics import level_shares
from discreet.model.frequency_set import FrequencySet
from discreet.model.lattice import LatticeNode
from discreet.model.option import OptionKind, option
from discreet.model.requirement import Requirement


class Charge(StrEnum):
    """Charge of a suppressed row: its whole domain, its value among suppressed rows, or nothing."""

    DOMAIN = "domain"
    SUPPRESSED = "suppressed"
    NONE = "none"


def aggregate_option(default: CostAggregate) -> Any:
    """Return the option ``aggregate`` with the given default of a cost."""
    return option(
        None, choices=tuple(CostAggregate), help="aggregation of the attributes' parts", shown=default
    )


def gs_factor_option() -> Any:
    """Return the option ``gs_factor``."""
    return option(
        0.5,
        kind=OptionKind.DECIMAL,
        least=0,
        most=1,
        metavar="X",
        help="0 favours suppression, 1 generalization",
        label="Generalization against suppression",
    )


def charge_option(*choices: Charge) -> Any:
    """Return the option ``charge``."""
    return option(Charge.DOMAIN, choices=choices, help="cost of a suppressed row")


@dataclass(frozen=True, kw_only=True)
class Precision(NamedCost):
    """1 − Prec (Sweeney 2002): the mean of level / height; a suppressed row counts as the top level."""

    name = "precision"
    meaning = "the mean of level / height, a suppressed row at the top"

    aggregate: str | None = aggregate_option(CostAggregate.ARITHMETIC_MEAN)
    charge: str = charge_option(Charge.DOMAIN, Charge.NONE)
    gs_factor: float = gs_factor_option()

    def over(self, table: FrequencySet, requirement: Requirement, weights: tuple[float, ...]) -> Cost:
        """Build the cost of the nodes of a table; without rows, the cost depends only on the levels."""
        factors, rows = Factors.of(self.gs_factor), max(table.rows, 1)
        sums = []
        for i, hierarchy in enumerate(table.hierarchies):
            of_code = table.rows_by_code[i]
            shares = [
                factors.published * level / max(hierarchy.height, 1) for level in range(hierarchy.height + 1)
            ]
            penalties = [
                0.0 if self.charge == Charge.NONE else factors.suppressed - share for share in shares
            ]
            levels = zip(shares, penalties, strict=True)
            sums.append(tuple(LevelSum(s * rows, np.full(len(of_code), p), of_code) for s, p in levels))
        parts = tuple(partial(_per_row, weight, rows) for weight in weights)
        aggregate = CostAggregate(self.aggregate or CostAggregate.ARITHMETIC_MEAN)
        return CellCost(self.name, tuple(sums), parts, aggregate)


@dataclass(frozen=True, kw_only=True)
class Loss(NamedCost):
    """ARX's Loss: x = (mean of m/D − g/D) / (1 − g/D) for each attribute, g the factor of generalization.

    A suppressed row has m = D, or only part of the way there if ``gs_factor`` favours suppression.
    """

    name = "loss"
    meaning = "the share of each domain that a value covers (ARX's Loss)"

    aggregate: str | None = aggregate_option(CostAggregate.GEOMETRIC_MEAN)
    gs_factor: float = gs_factor_option()

    def over(self, table: FrequencySet, requirement: Requirement, weights: tuple[float, ...]) -> Cost:
        """Build the cost of the nodes of a table."""
        factors = Factors.of(self.gs_factor)
        parts = tuple(
            partial(_share_lost, weight, table.rows, len(hierarchy.leaves), factors.published)
            for hierarchy, weight in zip(table.hierarchies, weights, strict=True)
        )
        aggregate = CostAggregate(self.aggregate or CostAggregate.GEOMETRIC_MEAN)
        return CellCost(self.name, domain_sums(table, factors), parts, aggregate)


@dataclass(frozen=True, kw_only=True)
class Entropy(NamedCost):
    """Non-uniform entropy: the mean over rows of the bits by which a row's values leave its leaves open.

    For each attribute log2(rows with the value / rows with the leaf). A suppressed row shows the whole domain
    (``charge`` ``domain``), or its value plus log2(suppressed rows / suppressed rows with its value)
    (``suppressed``, as in ARX), or only its value (``none``, ARX's monotonic variant).
    """

    name = "entropy"
    meaning = "bits by which a row's values leave its leaves open"

    aggregate: str | None = aggregate_option(CostAggregate.SUM)
    charge: str = charge_option(*Charge)
    gs_factor: float = gs_factor_option()

    def over(self, table: FrequencySet, requirement: Requirement, weights: tuple[float, ...]) -> Cost:
        """Build the cost of the nodes of a table."""
        factors = Factors.of(self.gs_factor)
        sums: LevelSums = information_sums(table, factors)
        if self.charge != Charge.DOMAIN:
            sums = without_penalties(sums)
        if self.charge == Charge.SUPPRESSED:
            sums = penalized_among_suppressed(table, sums, factors.suppressed)
        parts = tuple(partial(_per_row, weight, max(table.rows, 1)) for weight in weights)
        # Generalization raises the entropy of a value as it lowers the penalty for suppressing it. Of the
        # penalty, only the share given by the lighter of the two weights is certain to remain.
        persistent_share = min(factors.published / factors.suppressed, 1.0) if factors.suppressed else 1.0
        return CellCost(
            self.name, sums, parts, CostAggregate(self.aggregate or CostAggregate.SUM), persistent_share
        )


def _per_row(weight: float, rows: int, total: Any) -> Any:
    return weight * total / rows


def _share_lost(weight: float, rows: int, leaves: int, published: float, total: Any) -> Any:
    """Return x from the leaves shown, summed over the rows; a domain of one leaf loses nothing."""
    if not rows or leaves <= 1:
        return 0.0 * total
    return weight * ((total - published * rows) / (rows * (leaves - published)))


_ROW_TYPES_AT_ONCE = 4096


@dataclass(frozen=True, eq=False)
class AmbiguityCost(Cost):
    """Average number of leaf combinations, in integers until the division by the number of rows."""

    frequency_set: FrequencySet
    name: str = "ambiguity"
    monotone = True

    @cached_property
    def _shown(self) -> tuple[tuple[NDArray[np.int64], ...], ...]:
        return tuple(
            tuple(leaf_counts(h, level) for level in range(h.height + 1))
            for h in self.frequency_set.hierarchies
        )

    @cached_property
    def _domain(self) -> int:
        return prod(len(h.leaves) for h in self.frequency_set.hierarchies)

    def of(self, statistics: NodeStatistics) -> float:
        """Return the cost of a node."""
        found = self._combinations(statistics.node, statistics.codes, statistics.sizes)
        return float((found + statistics.suppressed * self._domain) / max(self.frequency_set.rows, 1))

    def known(self, node: LatticeNode, suppressed: int) -> float | None:
        """Return the cost of a node without suppression, from the row types; None for other nodes."""
        if suppressed:
            return None
        found = self._combinations(node, self.frequency_set.codes, self.frequency_set.counts)
        return float(found / max(self.frequency_set.rows, 1))

    def _combinations(self, node: LatticeNode, codes: NDArray[np.int64], sizes: NDArray[np.int64]) -> int:
        """Return the sum of leaf combinations over rows, as an exact integer.

        Uses int64 if the largest possible sum is below 2^62, and Python integers otherwise.
        """
        exact: Any = np.int64 if self._domain * self.frequency_set.rows < 2**62 else object
        total = sizes.astype(exact)
        for i, level in enumerate(node):
            total = total * self._shown[i][level][codes[:, i]]
        return int(total.sum())

    def least(self, node: LatticeNode, suppressed: int = 0) -> float:
        """Return a bound: the combinations without suppression, with the largest rows suppressed."""
        rows = self.frequency_set.rows
        if not rows:
            return 0.0
        product = np.ones(self.frequency_set.row_types)
        for i, level in enumerate(node):
            product *= self._shown[i][level][self.frequency_set.codes[:, i]]
        total = float((product * self.frequency_set.counts).sum())
        return (total + suppressed * (self._domain - float(product.max()))) / rows

    def lower_bounds(self, levels: LevelArray, suppressed: NDArray[np.int64]) -> CostArray:
        """Return ``least`` of each node, with its exact number of suppressed rows.

        Splits the levels into two halves: the sums over row types are a matrix product of the halves'
        products.
        """
        rows, half = self.frequency_set.rows, levels.shape[1] // 2
        if not rows:
            return np.zeros(len(levels))
        left, left_of = np.unique(levels[:, :half], axis=0, return_inverse=True)
        right, right_of = np.unique(levels[:, half:], axis=0, return_inverse=True)
        total = np.zeros((len(left), len(right)))
        for start in range(0, self.frequency_set.row_types, _ROW_TYPES_AT_ONCE):
            part = slice(start, start + _ROW_TYPES_AT_ONCE)
            counted = self._half(left, 0, part) * self.frequency_set.counts[part]
            total += counted @ self._half(right, half, part).T
        found: CostArray = total[left_of.ravel(), right_of.ravel()] / rows
        largest = np.ones(len(levels))
        for i, level_leaves in enumerate(self._shown):
            largest *= np.array([m.max() for m in level_leaves])[levels[:, i]]
        by_suppression = (suppressed * (self._domain / rows)).astype(np.float64)
        return np.maximum(found - suppressed * (largest / rows), 0.0) + by_suppression

    @cached_property
    def _logarithms(self) -> tuple[LowerBoundSums, ...]:
        """Logarithms of the leaves shown, summed over the rows; a suppressed row shows all leaves."""
        found = []
        for i, level_leaves in enumerate(self._shown):
            rows, most = self.frequency_set.rows_by_code[i], np.log(max(int(level_leaves[-1].max()), 1))
            parts = [np.log(values) for values in level_leaves]
            levels = (LevelSum(float((rows * p).sum()), most - p, rows) for p in parts)
            found.append(LowerBoundSums.of(tuple(levels)))
        return tuple(found)

    def cheap_lower_bounds(self, levels: LevelArray, suppressed: NDArray[np.int64]) -> CostArray:
        """Return the geometric mean of each node, which bounds the arithmetic mean, from level tables."""
        total = np.zeros(len(levels))
        for i, least in enumerate(self._logarithms):
            total += least.at(levels[:, i], suppressed)
        rows = self.frequency_set.rows
        return np.exp(total / rows) if rows else np.zeros(len(levels))

    def _half(self, levels: LevelArray, first: int, part: slice) -> CostArray:
        """Return the product of the leaves under some attributes' values, shape ``(nodes, row types)``."""
        codes = self.frequency_set.codes[part]
        result = np.ones((len(levels), len(codes)))
        for i in range(levels.shape[1]):
            leaves = np.stack([m[codes[:, first + i]] for m in self._shown[first + i]])
            result *= leaves[levels[:, i]]
        return result


@dataclass(frozen=True, kw_only=True)
class Height(NamedCost):
    """Sum of the levels (Samarati 2001)."""

    name = "height"
    meaning = "the sum of the levels"

    def over(self, table: FrequencySet, requirement: Requirement, weights: tuple[float, ...]) -> Cost:
        """Build the cost of the nodes of a table."""
        return LevelCost(self.name, tuple(tuple(map(float, range(h.height + 1))) for h in table.hierarchies))


@dataclass(frozen=True, kw_only=True)
class AverageClass(NamedCost):
    """n / (classes + 1 if any row is suppressed): the average class; suppressed rows are one class."""

    name = "aecs"
    meaning = "the average class size, suppressed rows being one class"

    def over(self, table: FrequencySet, requirement: Requirement, weights: tuple[float, ...]) -> Cost:
        """Build the cost of the nodes of a table."""
        rows = table.rows
        return ClassSizeCost(
            self.name,
            rows,
            requirement.least_rows,
            lambda classes, _squares, suppressed: rows / np.maximum(classes + (suppressed > 0), 1),
        )


@dataclass(frozen=True, kw_only=True)
class Discernibility(NamedCost):
    """Σ f² + n · S: each row costs the number of rows that it is indistinguishable from.

    Source: Bayardo and Agrawal 2005.
    """

    name = "dm"
    meaning = "discernibility: squared class sizes, and all rows for each suppressed one"

    def over(self, table: FrequencySet, requirement: Requirement, weights: tuple[float, ...]) -> Cost:
        """Build the cost of the nodes of a table."""
        rows = table.rows
        return ClassSizeCost(
            self.name,
            rows,
            requirement.least_rows,
            lambda _classes, squares, suppressed: squares + rows * suppressed,
        )


@dataclass(frozen=True, kw_only=True)
class DiscernibilityStar(NamedCost):
    """DM*: Σ f² over all classes, as if no class were suppressed (ARX's monotonic discernability)."""

    name = "dm-star"
    meaning = "discernibility DM*: squared class sizes, suppressed classes like the others"

    def over(self, table: FrequencySet, requirement: Requirement, weights: tuple[float, ...]) -> Cost:
        """Build the cost of the nodes of a table."""
        return ClassSizeCost(
            self.name, table.rows, 1, lambda _classes, squares, _suppressed: squares, of_all=True
        )


@dataclass(frozen=True, kw_only=True)
class NormalizedAverageClass(NamedCost):
    """n / classes / k (LeFevre and others 2006).

    k = 1 if the request has no k; classes = 1 if no class remains.
    """

    name = "c-avg"
    meaning = "the average class size in multiples of k"

    def over(self, table: FrequencySet, requirement: Requirement, weights: tuple[float, ...]) -> Cost:
        """Build the cost of the nodes of a table."""
        rows, k = table.rows, requirement.k or 1
        return ClassSizeCost(
            self.name,
            rows,
            requirement.least_rows,
            lambda classes, _squares, _suppressed: rows / np.maximum(classes, 1) / k,
        )


@dataclass(frozen=True, kw_only=True)
class Ambiguity(NamedCost):
    """Mean of Π m over the rows: the combinations of leaves that a row's values cover; Π D if suppressed."""

    name = "ambiguity"
    meaning = "combinations of leaves that a row's values cover"

    def over(self, table: FrequencySet, requirement: Requirement, weights: tuple[float, ...]) -> Cost:
        """Build the cost of the nodes of a table."""
        return AmbiguityCost(table)


def detail_cost(frequency_set: FrequencySet, weights: Mapping[str, float]) -> CellCost:
    """Build the cost of the detail lost at the nodes of a table; the default weight is 1."""
    sums, parts = [], []
    for i, hierarchy in enumerate(frequency_set.hierarchies):
        shares, rows = level_shares(hierarchy), frequency_set.rows_by_code[i]
        most = shares[-1].max(initial=0.0)
        sums.append(tuple(LevelSum(float((share * rows).sum()), most - share, rows) for share in shares))
        parts.append(partial(mul, weights.get(hierarchy.attribute, 1.0)))
    return CellCost("detail", tuple(sums), tuple(parts), CostAggregate.SUM)
