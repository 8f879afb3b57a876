"""A cost of searches: squared levels, many small steps cost less than a large one."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from discreet.extending import NodesStatistics, NodeStatistics, node_cost, register_cost


def squared_levels(statistics: NodeStatistics) -> float:
    """Return the sum of the squared levels of a node."""
    return float(sum(level**2 for level in statistics.node))


def of_many(statistics: NodesStatistics) -> NDArray[np.int64]:
    """Return the same for many nodes; a search calls it once instead of once per node."""
    costs: NDArray[np.int64] = (statistics.levels**2).sum(axis=1)
    return costs


# It never falls on the way up the lattice, so a search need not count the nodes above a solution.
squared_levels.monotone = True  # type: ignore[attr-defined]

SQUARED_LEVELS = register_cost(
    node_cost("squared-levels", "the sum of the squared levels", squared_levels, over_nodes=of_many)
)
