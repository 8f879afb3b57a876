"""The Pareto frontier: nodes that no other node dominates.

Nodes are compared in height, loss and suppressed rows, or in one cost and suppressed rows; less is
better in all. The method is the sweep of Kung, Luccio and Preparata (1975). Losses that agree to twelve
decimals are equal. With a cost, lower bounds order the nodes, and an exact cost is computed only where
the bound is below the best so far.

Cost: O(n log n) for n nodes, vectorized within each height; with a cost, a sort of the nodes and the
exact costs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from discreet.measures.cell_sums import clearly_less, cost_at
from discreet.measures.loss import LossTables
from discreet.model.lattice import LatticeNode
from discreet.model.requirement import Requirement
from discreet.negotiation.negotiator import SuppressionQueries, node_order

_DECIMALS = 12


@dataclass(frozen=True)
class FrontierPoint:
    """Node of the frontier; ``loss`` is the contract's Loss with no row suppressed.

    ``cost`` is None unless the request names a cost.
    """

    node: LatticeNode
    height: int
    loss: float
    suppressed: int
    cost: float | None = None


def compute_frontier(
    evaluated: SuppressionQueries, requirement: Requirement, loss_tables: LossTables
) -> tuple[FrontierPoint, ...]:
    """Compute the nodes that are not dominated in height, loss and suppressed rows.

    They are ordered by height, then fewest suppressed rows, then the paper's node order (decision 0004).

    Cost: O(n log n) for n nodes, vectorized within each height.

    References
    ----------
    Kung, Luccio and Preparata (1975), *On Finding the Maxima of a Set of Vectors*. Journal of the ACM 22(4),
    469–476.
    """
    order = node_order(evaluated.lattice.heights)
    losses = loss_tables.losses[order.nodes]
    keys = np.round(losses, _DECIMALS)
    suppressed = evaluated.suppression(requirement)[order.nodes]
    staircase = _Staircase()
    points: list[FrontierPoint] = []
    for height, (start, end) in enumerate(pairwise(order.starts)):
        best = start + _undominated_positions(keys[start:end], suppressed[start:end], staircase)
        points += [
            FrontierPoint(order.node_of(rank), height, float(losses[rank]), int(suppressed[rank]))
            for rank in best[np.argsort(suppressed[best], kind="stable")].tolist()
        ]
        staircase.add(keys[best], suppressed[best])
    return tuple(points)


class _Staircase:
    """Least suppression at or below each loss, over the nodes added so far."""

    def __init__(self) -> None:
        self._losses: NDArray[np.float64] = np.array([-np.inf])
        self._fewest: NDArray[np.int64] = np.array([np.iinfo(np.int64).max])

    def fewest(self, losses: NDArray[np.float64]) -> NDArray[np.int64]:
        """Return, for each loss, the fewest suppressed rows of the added nodes with at most that loss."""
        return self._fewest[np.searchsorted(self._losses, losses, side="right") - 1]

    def add(self, losses: NDArray[np.float64], suppressed: NDArray[np.int64]) -> None:
        """Add nodes."""
        joined = np.concatenate([self._losses, losses])
        fewest = np.concatenate([self._fewest, suppressed])
        by_loss = np.argsort(joined, kind="stable")
        joined, fewest = joined[by_loss], np.minimum.accumulate(fewest[by_loss])
        steps = np.append(True, fewest[1:] < fewest[:-1])
        self._losses, self._fewest = joined[steps], fewest[steps]


def _undominated_positions(
    losses: NDArray[np.float64], suppressed: NDArray[np.int64], lower: _Staircase
) -> NDArray[np.int64]:
    """Return the ascending positions of the nodes of one height that no node of it or below dominates."""
    open_nodes = np.flatnonzero(suppressed < lower.fewest(losses))
    if not len(open_nodes):
        return open_nodes
    by_loss = open_nodes[np.lexsort((suppressed[open_nodes], losses[open_nodes]))]
    loss, count = losses[by_loss], suppressed[by_loss]
    opens_group = np.append(True, loss[1:] != loss[:-1])
    fewest_of_group = count[opens_group]
    fewest_before = np.append(np.iinfo(np.int64).max, np.minimum.accumulate(fewest_of_group)[:-1])
    group = np.cumsum(opens_group) - 1
    retained = (count == fewest_of_group[group]) & (count < fewest_before[group])
    return np.sort(by_loss[retained])


def compute_cost_frontier(
    suppressed: NDArray[np.int64], bounds: NDArray[np.float64], exact: Callable[[int], float]
) -> dict[int, float]:
    """Return the positions of the undominated nodes with their costs, from the fewest suppressed rows up.

    ``suppressed`` has shape ``(nodes,)``. ``bounds`` contains lower bounds of the costs, shape ``(nodes,)``
    or ``(nodes, parts)`` with the most significant part first. ``exact`` returns the cost at a position.
    """
    parts = [bounds] if bounds.ndim == 1 else [bounds[:, i] for i in range(bounds.shape[1])]
    order = np.lexsort((*parts[::-1], suppressed))
    rows = suppressed[order]
    edges = [0, *(np.flatnonzero(rows[1:] != rows[:-1]) + 1).tolist(), len(order)] if len(order) else []
    result: dict[int, float] = {}
    best: float | None = None
    for start, end in pairwise(edges):
        cheaper = _cheapest_below(order[start:end].tolist(), bounds, exact, best)
        result |= cheaper
        best = min(cheaper.values(), default=best)
    return result


def _cheapest_below(
    positions: list[int], bounds: NDArray[np.float64], exact: Callable[[int], float], best: float | None
) -> dict[int, float]:
    """Return the cheapest of some nodes, computed in the order of bounds; empty if none is below ``best``."""
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
