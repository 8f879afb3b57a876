"""Oracle: the cheapest node by trying every node of a small lattice."""

from __future__ import annotations

from discreet.measures.named_costs import NamedCost
from discreet.model.lattice import LatticeNode
from discreet.model.search_result import cost_parts
from discreet.search.search_problem import SearchProblem
from tests.oracle import plain_criteria
from tests.oracle.plain_costs import cost_by_hand

Found = tuple[LatticeNode, int, bool, float]
"""Node, suppressed rows, whether it is minimal, cost."""


def cheapest(task: SearchProblem, cost: NamedCost | str) -> Found | None:
    """Return the node of least cost within the limit; costs that differ only by rounding are equal."""
    inside = [
        node
        for node in task.lattice.nodes()
        if all(a <= v <= b for a, v, b in zip(task.low, node, task.high, strict=True))
    ]
    suppressed = {
        node: plain_criteria.suppressed(task.frequency_set, node, task.requirement) for node in inside
    }
    solutions = [node for node in inside if suppressed[node] <= task.limit]
    if not solutions:
        return None
    weights = dict(task.weights)
    costs = {n: cost_by_hand(cost, task.frequency_set, n, task.requirement, weights) for n in solutions}
    least = min(costs.values())
    equal = [n for n in solutions if all(map(_about, cost_parts(costs[n]), cost_parts(least)))]
    best = min(equal, key=lambda n: (sum(n), suppressed[n], n[-1:], n[:-1]))
    minimal = not any(child in solutions for child in task.lattice.children(best))
    return best, suppressed[best], minimal, costs[best]


def _about(first: float, second: float) -> bool:
    return abs(first - second) <= 1e-9 * (1 + abs(second))
