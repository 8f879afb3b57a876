"""A lower bound by prices, for components that are too large for the solver.

Give every row a price such that any k rows of a cell together are worth at most k times the cell's cost, and
no row is worth more than an outlier costs. Then no class is worth more than it costs, for the average of its
rows is at most that of its k dearest; so no solution costs less than all prices together. (These are the
feasible solutions of the dual of the integer program's relaxation, with everything but the prices
eliminated.)

The prices start at the cost of each row's cheapest cell, which is the bound of counting. Then, over and over,
all are raised by a factor and lowered again, each by the smallest ratio of allowance to worth among its
cells. No price ever falls, and what rises is what shares its cells with rows that are worth less than they
cost there: rows with a cheaper cell of their own. In the end prices are rounded down to whole parts, and
every cell is counted in whole numbers: unlike the solver's, this bound is exact arithmetic, and anyone can
check it.

Cost of a round: one sort of the pairs of row type and cell.
"""

from __future__ import annotations

import time
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InternalError
from discreet.patterns.exact_reduce import Component

ROUNDS = 40
_PARTS = 2**16
_FACTORS = (2.0, 1.5, 1.2, 1.1, 1.05)
_Price = TypeVar("_Price", np.float64, np.int64)


def price_bound(
    component: Component, k: int, outlier_cost: int, *, deadline: float = np.inf, rounds: int = ROUNDS
) -> int:
    """A cost in steps that no solution of the component goes below; the prices are checked before.

    It ends after so many rounds, when prices no longer rise, or at the deadline (``time.monotonic``).
    """
    return _worth(component, row_prices(component, k, outlier_cost, deadline=deadline, rounds=rounds))


def row_prices(
    component: Component, k: int, outlier_cost: int, *, deadline: float = np.inf, rounds: int = ROUNDS
) -> NDArray[np.int64]:
    """The price of a row of each part type, in parts of a step (65,536 to one), as checked."""
    prices = np.full(len(component.rows), float(outlier_cost))
    np.minimum.at(prices, component.types, component.costs[component.places].astype(np.float64))
    allowed = k * component.costs.astype(np.float64)
    worth = float((prices * component.rows).sum())
    for turn in range(rounds):
        if time.monotonic() > deadline:
            break
        factor = _FACTORS[min(turn // 3, len(_FACTORS) - 1)]
        raised = np.minimum(prices * factor, outlier_cost)
        dearest = _dearest(component, raised, k)
        ratio = np.ones(len(allowed))
        np.divide(allowed, dearest, out=ratio, where=dearest > allowed)
        least = np.ones(len(prices))
        np.minimum.at(least, component.types, ratio[component.places])
        prices = np.maximum(raised * least * (1 - 1e-12), 0.0)
        before, worth = worth, float((prices * component.rows).sum())
        if turn >= 3 * len(_FACTORS) and worth <= before * (1 + 1e-6):
            break
    whole: NDArray[np.int64] = np.floor(prices * _PARTS).astype(np.int64)
    if (_dearest(component, whole, k) > k * component.costs * _PARTS).any():
        raise InternalError("prices of rows are higher than what their cells allow")
    return whole


def _worth(component: Component, prices: NDArray[np.int64]) -> int:
    """All prices together, rounded up to a whole step."""
    return -(-int((prices * component.rows).sum()) // _PARTS)


def _dearest(component: Component, prices: NDArray[_Price], k: int) -> NDArray[_Price]:
    """The price of the k dearest rows of each cell; a cell holds at least k."""
    of_pair = prices[component.types]
    order = np.lexsort((-of_pair, component.places))
    rows = component.rows[component.types][order]
    ends = np.cumsum(rows)
    starts = np.searchsorted(component.places, np.arange(len(component.costs)))
    before = ends - rows
    before -= np.repeat(before[starts], np.diff(np.append(starts, component.pairs)))
    taken = np.clip(k - before, 0, rows)
    found: NDArray[_Price] = np.add.reduceat(of_pair[order] * taken, starts)
    return found
