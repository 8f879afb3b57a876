"""The frontier: the nodes among which a publisher really chooses.

For a requirement each node has a height, a loss and a number of suppressed rows, and less is better in all
three. A node is dominated when another is at least as good in all and better in one. The frontier holds
every node that is not dominated (of a cost of one's choice in place of height and loss: ``cost_frontier``);
nodes that agree in all three stand there together. Losses that agree to
twelve decimals count as equal, so that the rounding of a product does not decide.

The method is the sweep of Kung, Luccio and Preparata (1975): heights are taken
from the lowest; of all lower nodes only the staircase of loss and suppression is kept, and one binary search
in it tells whether a lower node dominates. Cost: O(n log n) for n nodes, vectorised within each height.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from discreet.measures.loss import LossTables
from discreet.model.lattice import LatticeNode
from discreet.model.requirement import Requirement
from discreet.negotiation.lookup import SuppressionLookup
from discreet.negotiation.order import order_of

_DECIMALS = 12


@dataclass(frozen=True)
class FrontierPoint:
    """One node of the frontier; ``loss`` is the contract's Loss with no row suppressed.

    ``cost`` is that of the cost that was named, None where none was.
    """

    node: LatticeNode
    height: int
    loss: float
    suppressed: int
    cost: float | None = None


def frontier(
    evaluated: SuppressionLookup, requirement: Requirement, loss_tables: LossTables
) -> tuple[FrontierPoint, ...]:
    """The nodes not dominated in height, loss and suppressed rows.

    They come by height, then fewest suppressed, then the paper's node order (decision 0004).
    """
    order = order_of(evaluated.lattice.heights)
    losses = loss_tables.losses[order.nodes]
    keys = np.round(losses, _DECIMALS)
    suppressed = evaluated.suppression(requirement)[order.nodes]
    staircase = _Staircase()
    points: list[FrontierPoint] = []
    for height, (start, end) in enumerate(pairwise(order.starts)):
        best = start + _undominated(keys[start:end], suppressed[start:end], staircase)
        points += [
            FrontierPoint(order.node_of(rank), height, float(losses[rank]), int(suppressed[rank]))
            for rank in best[np.argsort(suppressed[best], kind="stable")].tolist()
        ]
        staircase.add(keys[best], suppressed[best])
    return tuple(points)


class _Staircase:
    """The least suppression at or below each loss, over the nodes added so far."""

    def __init__(self) -> None:
        self._losses: NDArray[np.float64] = np.array([-np.inf])
        self._fewest: NDArray[np.int64] = np.array([np.iinfo(np.int64).max])

    def fewest(self, losses: NDArray[np.float64]) -> NDArray[np.int64]:
        """The fewest suppressed rows of any added node whose loss is at most each of ``losses``."""
        return self._fewest[np.searchsorted(self._losses, losses, side="right") - 1]

    def add(self, losses: NDArray[np.float64], suppressed: NDArray[np.int64]) -> None:
        """Add nodes."""
        joined = np.concatenate([self._losses, losses])
        fewest = np.concatenate([self._fewest, suppressed])
        by_loss = np.argsort(joined, kind="stable")
        joined, fewest = joined[by_loss], np.minimum.accumulate(fewest[by_loss])
        steps = np.append(True, fewest[1:] < fewest[:-1])
        self._losses, self._fewest = joined[steps], fewest[steps]


def _undominated(
    losses: NDArray[np.float64], suppressed: NDArray[np.int64], lower: _Staircase
) -> NDArray[np.int64]:
    """Positions, ascending, of the nodes of one height that no node of it and no lower node dominates."""
    open_nodes = np.flatnonzero(suppressed < lower.fewest(losses))
    if not len(open_nodes):
        return open_nodes
    by_loss = open_nodes[np.lexsort((suppressed[open_nodes], losses[open_nodes]))]
    loss, count = losses[by_loss], suppressed[by_loss]
    opens_group = np.append(True, loss[1:] != loss[:-1])
    fewest_of_group = count[opens_group]
    fewest_before = np.append(np.iinfo(np.int64).max, np.minimum.accumulate(fewest_of_group)[:-1])
    group = np.cumsum(opens_group) - 1
    kept = (count == fewest_of_group[group]) & (count < fewest_before[group])
    return np.sort(by_loss[kept])
