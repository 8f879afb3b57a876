"""The nodes that may cost least and keep the suppression limit, for whoever chooses among them.

``optimal`` chooses by the tie rule; others have orders of their own, and are given all that can win.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from discreet.lattice.some_nodes import SizeCounter
from discreet.measures.aggregates import cost_at
from discreet.measures.cost_kinds import Cost
from discreet.model.criteria.counts import SIZE
from discreet.model.subject_rows import one_row_each
from discreet.search.good_node import good_node
from discreet.search.node_statistics import StatisticsCounter
from discreet.search.preference import Candidate, better, beyond, order_of_preference
from discreet.search.staged import StagedSearch
from discreet.search.task import SearchTask
from discreet.search.whole_lattice import fits_memory, levels_of, nodes_within

FEW = 64
"""Where classes may fail for more than their rows, no more nodes are counted one by one."""

Levels = NDArray[np.int64]
Rows = NDArray[np.int64]


def contenders(task: SearchTask, cost: Cost) -> tuple[Levels, Rows] | None:
    """Nodes within the limit, among them every one of least cost, and the rows that each suppresses.

    Shapes ``(nodes, attributes)`` and ``(nodes,)``, in mixed-radix order. Looked up where the lattice is
    known; None where it is to be evaluated (``search.staged`` does not serve, or would count many nodes).
    """
    if task.known is not None:
        suppressed = task.known.suppression(task.requirement)
        nodes = nodes_within(task, suppressed)
        return levels_of(task, nodes), suppressed[nodes]
    if not fits_memory(task):
        return None
    counter = StatisticsCounter(task.frequency_set, task.requirement, task.settings.memory_limit // 4)
    search = staged_search(task, cost, counter)
    if search is None:
        return None
    levels, suppressed = search.run()
    if search.gave_up:
        return None
    if not sizes_tell(task):
        return _counted(task, cost, counter, levels, suppressed)
    return _in_order(levels, suppressed)


def staged_search(task: SearchTask, cost: Cost, counter: StatisticsCounter) -> StagedSearch | None:
    """For a task; None where classes of any size may pass, or no compiled kernel serves.

    None as well where the release is judged as a whole: which classes stay depends on all of them.
    """
    asked = task.requirement
    if asked.least_rows < 2 or any(criterion.of_release for criterion in asked.criteria):
        return None
    sizes = SizeCounter.of(task.frequency_set, task.settings, task.notice)
    if sizes is None:
        return None
    if not cost.narrows:
        return StagedSearch(task, cost, sizes, None)
    best, told = good_node(task, cost, counter, sizes if sizes_tell(task) else None)
    return StagedSearch(task, cost, sizes, best, checked=told)


def sizes_tell(task: SearchTask) -> bool:
    """Whether a class fails for its number of rows alone."""
    requirement = task.requirement
    if not all(criterion.counted == SIZE for criterion in requirement.criteria):
        return False
    if not one_row_each(task.frequency_set):
        return False
    return requirement.thresholds((SIZE,), ()) == (requirement.least_rows,)


def _counted(
    task: SearchTask, cost: Cost, counter: StatisticsCounter, levels: Levels, suppressed: Rows
) -> tuple[Levels, Rows] | None:
    """Those within the limit, counted in the order of their bounds until none may win; None if many."""
    rows = np.full(len(levels), task.limit + 1)
    best: Candidate | None = None
    bounds = cost.least_from(levels, suppressed)
    for position in order_of_preference(levels, suppressed, bounds).tolist():
        if beyond(cost_at(bounds, position), best):
            break
        if counter.counted > FEW:
            return None
        statistics = counter.count(tuple(levels[position].tolist()))
        rows[position] = statistics.suppressed
        if statistics.suppressed <= task.limit:
            best = better(best, Candidate(statistics.node, cost.of(statistics), statistics.suppressed))
    within = rows <= task.limit
    return _in_order(levels[within], rows[within])


def _in_order(levels: Levels, suppressed: Rows) -> tuple[Levels, Rows]:
    order = np.lexsort(levels.T[::-1])
    return levels[order], suppressed[order]
