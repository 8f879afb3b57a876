"""Two attributes divided at least cost, all others being divided: by the kernels, or by their twins."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.kernels.interval_pairs_twin import divide_pair_twin, pair_costs_twin
from discreet.taxonomy.class_costs import BIG, CostRule
from discreet.taxonomy.divided_table import Starts

Whole = NDArray[np.int64]


@dataclass(frozen=True)
class PairDivision:
    """The least cost found (``BIG`` where none is below what was asked), its starts, and a lower bound.

    ``ended`` says that a larger budget would find no more. Even then the bound may be below the cost: where
    rows may be suppressed in more ways than the kernel keeps apart.
    """

    cost: int
    lower: int
    x: Starts
    y: Starts
    ended: bool = True


@dataclass(frozen=True)
class PairSolver:
    """Divides pairs of attributes under a rule; ``compiled`` by the kernels."""

    rule: CostRule
    compiled: bool

    def divide(self, counts: Whole, below: int, budget: int) -> PairDivision:
        """The best division of x and y; ``counts`` are rows by class, x and y.

        Only what costs less than ``below`` is looked for. After ``budget`` nodes the search ends, and
        ``lower`` is less than the cost; else it is the least cost, or ``below`` where there is none.
        """
        rule, (_, wide, high) = self.rule, counts.shape
        if not self.compiled:
            costs, fails = pair_costs_twin(counts, rule.k, rule.penalty)
            cost, x_starts, y_starts = divide_pair_twin(costs, fails, wide, high, rule.limit, below)
            return PairDivision(cost, min(cost, below), x_starts, y_starts)
        from discreet.kernels.interval_pairs import divide_pair, pair_costs

        shape = (wide * (wide + 1) // 2, high * (high + 1) // 2)
        costs, fails = np.empty(shape, np.int64), np.empty(shape, np.int64)
        pair_costs(np.ascontiguousarray(counts), rule.k, rule.penalty, costs, fails)
        x, y = np.zeros(wide, np.bool_), np.zeros(high, np.bool_)
        best, lower, nodes = divide_pair(costs, fails, wide, high, rule.limit, below, budget, x, y)
        return PairDivision(int(best), int(lower), _starts(x), _starts(y), nodes <= budget)

    def divide_alone(self, counts: Whole, budget: int) -> Whole:
        """A lower bound of what each box costs by itself; ``counts`` are rows by box, x and y."""
        rule, found = self.rule, np.full(len(counts), BIG, np.int64)
        if not self.compiled:
            rows = counts.sum(axis=(1, 2))
            return rule.bound(rows, rows if rule.penalty == 0 else np.zeros_like(rows))
        from discreet.kernels.interval_pairs import divide_boxes

        divide_boxes(np.ascontiguousarray(counts), rule.k, rule.penalty, rule.limit, budget, found)
        return found


def _starts(marks: NDArray[np.bool_]) -> Starts:
    return tuple(np.flatnonzero(marks).tolist())
