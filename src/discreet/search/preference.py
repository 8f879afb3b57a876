"""Which of several nodes a one-node search prefers: the least cost, then the tie rule (decision 0004)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.measures.aggregates import clearly_less, rounding, rounding_of
from discreet.model.cost_value import parts_of
from discreet.model.lattice import LatticeNode, tie_key


@dataclass(frozen=True)
class Candidate:
    """A node within the suppression limit, with its exact cost."""

    node: LatticeNode
    cost: float
    suppressed: int

    @property
    def tie_order(self) -> tuple[Any, ...]:
        """Height, suppressed rows, the paper's node order: the smaller, the better among equal costs."""
        return (sum(self.node), self.suppressed, tie_key(self.node))


def better(first: Candidate | None, second: Candidate) -> Candidate:
    """The preferred of two; costs that differ by rounding alone are equal."""
    if first is None or clearly_less(second.cost, first.cost):
        return second
    if beyond(second.cost, first):
        return first
    return second if second.tie_order < first.tie_order else first


def beyond(bound: float, best: Candidate | None) -> bool:
    """Whether nothing of at least this cost can be preferred; bounds are trusted up to rounding."""
    return best is not None and clearly_less(best.cost, bound)


def beyond_all(bounds: NDArray[np.float64], best: Candidate) -> NDArray[np.bool_]:
    """``beyond`` of many bounds, shape ``(nodes,)``; or of their parts, the first to be compared in front."""
    if bounds.ndim == 1:
        cost = float(best.cost)
        return (cost < bounds) & (bounds - cost > np.minimum(rounding(cost), rounding_of(bounds)))
    less, equal = np.zeros(len(bounds), np.bool_), np.ones(len(bounds), np.bool_)
    for part, column in zip(parts_of(best.cost), bounds.T, strict=True):
        less |= equal & (part < column)
        equal &= part == column
    return less


def preferred(
    levels: NDArray[np.int64], suppressed: NDArray[np.int64], costs: NDArray[np.float64]
) -> Candidate:
    """The preferred of one or more nodes; ``levels`` has shape ``(nodes, attributes)``."""
    least = float(costs.min())
    equal = np.flatnonzero(costs <= least + rounding(least))
    first = equal[order_of_preference(levels[equal], suppressed[equal], np.zeros(len(equal)))[0]]
    return Candidate(tuple(levels[first].tolist()), float(costs[first]), int(suppressed[first]))


def order_of_preference(
    levels: NDArray[np.int64], suppressed: NDArray[np.int64], costs: NDArray[np.float64]
) -> NDArray[np.int64]:
    """Positions of nodes (``levels`` has shape ``(nodes, attributes)``) from the preferred one down.

    ``costs`` has one for each node, or its parts, the first to be compared in front.
    """
    order = [levels[:, i] for i in range(levels.shape[1])]
    parts = [costs] if costs.ndim == 1 else [costs[:, i] for i in range(costs.shape[1])]
    return np.lexsort((*order[-2::-1], *order[-1:], suppressed, levels.sum(axis=1), *parts[::-1]))
