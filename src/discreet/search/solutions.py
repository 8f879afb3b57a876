"""Solutions of a full-domain search as a ``SearchResult``.

Counts the suppressed rows and the cost of solutions that the search itself did not count, marks minimal
ones, and checks that the nodes to list fit the memory limit.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import prod
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from discreet.errors import LimitReached
from discreet.model.lattice import LatticeNode, tie_break_key
from discreet.model.search_result import SearchResult, Solution
from discreet.search.frequency_sets import AttributeFrequencySet, FrequencySets
from discreet.search.node_counts import StatisticsCounter
from discreet.search.search_problem import SearchProblem, children_within

BYTES_PER_NODE = 300
"""Approximate size in bytes of a listed node."""


@dataclass
class SearchTally:
    """Counters of a search's work."""

    checked: int = 0
    marked: int = 0
    build_seconds: float | None = None
    started: float = field(default_factory=perf_counter)


def build_result(
    task: SearchProblem,
    algorithm: str,
    frequencies: FrequencySets,
    solutions: Mapping[LatticeNode, int | None],
    tally: SearchTally,
) -> SearchResult:
    """Build the result of a search; its clock stops now.

    ``solutions`` maps each solution to its suppressed rows, or None if the search did not count them. They
    are counted here, as are the statistics that the problem's cost needs; this work is not part of
    ``seconds``, ``scans`` or ``nodes_checked``.
    """
    seconds, scans = perf_counter() - tally.started, frequencies.scans
    known = count_solutions(task, frequencies, solutions)
    costs = cost_solutions(task, known)
    found = [
        Solution(
            node=node,
            suppressed=known[node],
            minimal=not any(child in known for child in children_within(node, task.low)),
            cost=costs.get(node),
        )
        for node in sorted(known)
    ]
    return task.result(
        algorithm,
        tuple(found),
        nodes_checked=tally.checked,
        nodes_marked=tally.marked,
        scans=scans,
        seconds=seconds,
        build_seconds=tally.build_seconds,
        cost_name=None if task.cost is None else task.cost.name,
    )


def count_solutions(
    task: SearchProblem, frequencies: FrequencySets, solutions: Mapping[LatticeNode, int | None]
) -> dict[LatticeNode, int]:
    """Return the suppressed rows of every solution.

    Suppression never rises upwards, so nothing is counted above a node that suppresses nothing. The other
    solutions are rolled up from the frequency set of a minimal solution below them.
    """
    if task.limit == 0:
        return dict.fromkeys(solutions, 0)
    known = {node: rows for node, rows in solutions.items() if rows is not None}
    unknown = [node for node in solutions if node not in known]
    for node in sorted(unknown, key=sum):
        if any(known.get(child) == 0 for child in children_within(node, task.low)):
            known[node] = 0
    unknown = [node for node in unknown if node not in known]
    if not unknown:
        return known
    minimal = [n for n in solutions if not any(c in solutions for c in children_within(n, task.low))]
    above: dict[LatticeNode, list[LatticeNode]] = {}
    for node in unknown:
        lowest = max((m for m in minimal if _lies_above(node, m)), key=lambda m: (sum(m), tie_break_key(m)))
        above.setdefault(lowest, []).append(node)
    attributes = range(len(task.low))
    for lowest, nodes in above.items():
        base = frequencies.count(attributes, lowest)
        known |= {node: _suppressed_above(base, node) for node in nodes}
        base.release()
    return known


def _suppressed_above(base: AttributeFrequencySet, node: LatticeNode) -> int:
    """Roll up a frequency set to a node above it and count the suppressed rows."""
    made = base.roll_up(node)
    suppressed = made.suppressed()
    made.release()
    return suppressed


def _lies_above(node: LatticeNode, other: LatticeNode) -> bool:
    return all(a >= b for a, b in zip(node, other, strict=True))


def check_node_limit(number: int, task: SearchProblem) -> None:
    """Raise ``LimitReached`` if a list of ``number`` nodes would exceed the memory limit."""
    if number * BYTES_PER_NODE > task.settings.memory_limit:
        raise LimitReached(
            f"the search would list {number:,} nodes, which take about {number * BYTES_PER_NODE:,} bytes, "
            f"but the memory limit is {task.settings.memory_limit:,}",
            advice="Raise the limit, lower max_level, or use --algorithm optimal or anytime, which list one "
            "node.",
        )


def list_nodes(selected: NDArray[np.bool_], task: SearchProblem) -> list[LatticeNode]:
    """List the nodes of a truth array with one axis per attribute, from the lowest searched level.

    Raises ``LimitReached`` if they would not fit the memory limit.
    """
    check_node_limit(int(selected.sum()), task)
    return list(map(tuple, (np.argwhere(selected) + np.array(task.low)).tolist()))


def box_size(low: LatticeNode, high: LatticeNode) -> int:
    """Count the nodes between two nodes."""
    return prod(b - a + 1 for a, b in zip(low, high, strict=True))


def cost_solutions(task: SearchProblem, suppressed: Mapping[LatticeNode, int]) -> dict[LatticeNode, float]:
    """Compute the cost of every node of ``suppressed``; empty if the problem has no cost.

    ``suppressed`` contains the suppressed rows of each node. A node is counted, from the nearest one counted
    before, if its levels and suppressed rows do not determine its cost.
    """
    if task.cost is None:
        return {}
    cost = task.cost_or("height")
    counter = StatisticsCounter.of(task)
    result = {}
    for node in sorted(suppressed, key=lambda node: (sum(node), tie_break_key(node))):
        known = cost.known(node, suppressed[node])
        result[node] = cost.of(counter.count(node)) if known is None else known
    return result
