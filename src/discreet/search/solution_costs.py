"""What each of many solutions costs, for the searches that find all of them and weigh none."""

from __future__ import annotations

from collections.abc import Mapping

from discreet.model.lattice import LatticeNode, tie_key
from discreet.search.node_statistics import StatisticsCounter
from discreet.search.task import SearchTask


def costs_of(task: SearchTask, suppressed: Mapping[LatticeNode, int]) -> dict[LatticeNode, float]:
    """The cost of every node of ``suppressed`` (its rows suppressed); none where the task names no cost.

    A node whose cost its levels and suppressed rows do not tell is counted, from the nearest one counted
    before.
    """
    if task.cost is None:
        return {}
    table = task.frequency_set
    cost = task.cost_or("height")
    counter = StatisticsCounter(table, task.requirement, task.settings.memory_limit // 4)
    found = {}
    for node in sorted(suppressed, key=lambda node: (sum(node), tie_key(node))):
        known = cost.known(node, suppressed[node])
        found[node] = cost.of(counter.count(node)) if known is None else known
    return found
