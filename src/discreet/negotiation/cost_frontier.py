"""The frontier of one cost: the nodes that no other beats in that cost and in suppressed rows.

Less is better in both. Nodes that agree in both stand there together; costs that differ by rounding alone are
equal. Suppressed rows are known of every node, and a cost has a lower bound, so that nodes are taken by their
suppressed rows, and within these by their bounds: whatever costs less than all before may be reckoned, and
the others never are (the maxima of Kung, Luccio and Preparata 1975 in two coordinates, one of them lazy).

Cost: a sort of the nodes, and the exact cost of those whose bound lies below the best so far.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from discreet.measures.aggregates import clearly_less, cost_at


def cost_frontier(
    suppressed: NDArray[np.int64], bounds: NDArray[np.float64], exact: Callable[[int], float]
) -> dict[int, float]:
    """The positions of the nodes that are not dominated, with their costs, from the fewest suppressed rows.

    ``suppressed`` has shape ``(nodes,)``; ``bounds`` has a lower bound of each cost, or its parts, the first
    to be compared in front. ``exact`` tells the cost at a position.
    """
    parts = [bounds] if bounds.ndim == 1 else [bounds[:, i] for i in range(bounds.shape[1])]
    order = np.lexsort((*parts[::-1], suppressed))
    rows = suppressed[order]
    edges = [0, *(np.flatnonzero(rows[1:] != rows[:-1]) + 1).tolist(), len(order)] if len(order) else []
    found: dict[int, float] = {}
    best: float | None = None
    for start, end in pairwise(edges):
        cheaper = _cheapest(order[start:end].tolist(), bounds, exact, best)
        found |= cheaper
        best = min(cheaper.values(), default=best)
    return found


def _cheapest(
    positions: list[int],
    bounds: NDArray[np.float64],
    exact: Callable[[int], float],
    best: float | None,
) -> dict[int, float]:
    """The cheapest of some nodes, in the order of their bounds; none where none is below ``best``."""
    costs: dict[int, float] = {}
    for position in positions:
        if best is not None and clearly_less(best, cost_at(bounds, position)):
            break
        cost = exact(position)
        if not costs and best is not None and not clearly_less(cost, best):
            continue
        costs[position] = cost
        best = cost if best is None else min(best, cost)
    least = min(costs.values(), default=0.0)
    return {position: cost for position, cost in costs.items() if not clearly_less(least, cost)}
