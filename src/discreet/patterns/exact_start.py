"""First solutions: of a component, by cells; of a whole table, by patterns, which may prove itself."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from discreet.patterns.exact_cells import PatternTable, group_row_types
from discreet.patterns.exact_reduce import Component
from discreet.patterns.exact_result import ExactSize, Plan


def greedy_start(component: Component, k: int, outlier_cost: int) -> NDArray[np.int64]:
    """The cheaper of two greedy solutions: cells by cost and then by most or by fewest rows.

    Returns the rows of each pair, shape ``(pairs,)``: every cell holds none or at least k.
    """
    offsets = np.searchsorted(component.places, np.arange(len(component.costs) + 1))
    sizes = np.add.reduceat(component.rows[component.types], offsets[:-1])
    found = [
        _in_order(component, k, offsets, np.lexsort((sign * sizes, component.costs))) for sign in (-1, 1)
    ]
    worth = outlier_cost - component.costs[component.places]
    return max(found, key=lambda rows: int((rows * worth).sum()))


def _in_order(
    component: Component, k: int, offsets: NDArray[np.int64], order: NDArray[np.intp]
) -> NDArray[np.int64]:
    left = component.rows.copy()
    taken = np.zeros(component.pairs, np.int64)
    for cell in order:
        pairs = slice(offsets[cell], offsets[cell + 1])
        members = component.types[pairs]
        if int(left[members].sum()) >= k:
            taken[pairs] = left[members]
            left[members] = 0
    return taken


def counted_plan(table: PatternTable, k: int, *, star_class: bool) -> Plan | None:
    """The solution of a table where a greedy meets the bound of counting; None where it does not.

    A row costs at least as much as the cheapest pattern under which k rows of the whole table agree with it.
    The greedy gives patterns, cheapest first, all rows left that agree with k − 1 others left; where each row
    gets one as cheap as that, it is optimal. Equal costs are tried in both orders of the columns.
    """
    everyone = np.arange(len(table.counts))
    costs = np.append(table.costs, table.outlier_cost)
    least = _first_large(table, k, np.argsort(table.costs, kind="stable"), greedy=False)
    for digits in (table.levels.T[::-1], table.levels.T):
        taken = _first_large(table, k, np.lexsort((*digits, table.costs)), greedy=True)
        outliers = int(table.counts[taken < 0].sum())
        if star_class and 0 < outliers < k:
            continue
        if (costs[taken] == costs[least]).all():
            cost = int((costs[taken] * table.counts).sum())
            size = ExactSize(0, 0, 0, 0, 0)
            return Plan(everyone, taken, table.counts, cost, cost, cost, size)
    return None


def _first_large(table: PatternTable, k: int, order: NDArray[np.intp], *, greedy: bool) -> NDArray[np.int64]:
    """The first pattern of each row type under which it is in a group of k rows; −1 where there is none.

    Groups are those of the whole table, or (``greedy``) of the row types that have no pattern yet.
    """
    found = np.full(len(table.counts), -1, np.int64)
    for pattern in order:
        left = np.flatnonzero(found < 0)
        if not len(left):
            break
        chosen = left if greedy else np.arange(len(found))
        columns = [column[chosen] for column in table.values(int(pattern))]
        group = group_row_types(columns, len(chosen))
        large = np.bincount(group, weights=table.counts[chosen]) >= k
        chosen = chosen[large[group]]
        found[chosen[found[chosen] < 0]] = pattern
    return found
