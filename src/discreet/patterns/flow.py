"""Row assignment: rows to given output row types of at least k rows (Bredereck et al. 2013, Theorem 3).

With the output row types fixed, what is left is a flow of least cost with lower bounds: from each row type as
many rows as it has, to the cells that it fits, at least k into each. A lower bound is a demand of the cell's
own; what a cell gets beyond it flows on to one sink. (The sums over patterns in the printed conditions must
run over the output row types.) Solved by the network simplex algorithm of networkx, in whole numbers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError

_SINK = "sink"


@dataclass(frozen=True, eq=False)
class Assignment:
    """Rows of each pair of row type and cell, in the order of the pairs, rows left over, and the cost."""

    rows: NDArray[np.int64]
    left: NDArray[np.int64]
    cost: int


def assign_rows(
    counts: NDArray[np.int64],
    pairs: list[tuple[int, int]],
    costs: NDArray[np.int64],
    k: int,
    outlier_cost: int | None,
) -> Assignment | None:
    """The cheapest assignment that gives each cell at least k rows; None where there is none.

    ``counts`` holds the rows of each row type, ``pairs`` says which row type fits which cell, ``costs`` what
    a row costs in each cell. Rows may be left over at ``outlier_cost`` each, or not at all where it is None.
    """
    networkx = _networkx()
    spare = int(counts.sum()) - k * len(costs)
    if spare < 0:
        return None
    graph = networkx.DiGraph()
    graph.add_node(_SINK, demand=spare)
    for row_type, rows in enumerate(counts.tolist()):
        graph.add_node(("row type", row_type), demand=-rows)
        if outlier_cost is not None:
            graph.add_edge(("row type", row_type), _SINK, weight=outlier_cost)
    for cell in range(len(costs)):
        graph.add_node(("cell", cell), demand=k)
        graph.add_edge(("cell", cell), _SINK, weight=0)
    for row_type, cell in pairs:
        graph.add_edge(("row type", row_type), ("cell", cell), weight=int(costs[cell]))
    try:
        cost, flow = networkx.network_simplex(graph)
    except networkx.NetworkXUnfeasible:
        return None
    taken = [flow["row type", row_type]["cell", cell] for row_type, cell in pairs]
    left = [flow["row type", row_type].get(_SINK, 0) for row_type in range(len(counts))]
    return Assignment(np.array(taken, np.int64), np.array(left, np.int64), int(cost))


def _networkx() -> Any:
    try:
        import networkx
    except ImportError:
        raise InputError(
            "row assignment needs networkx, which is not installed",
            advice="Install discreet[exact], or use the greedy.",
        ) from None
    return networkx
