"""Bottom-up breadth-first search for every solution, without and with roll-up (LeFevre et al. 2005).

The whole lattice is one family, whose only root is the lowest node, and is searched from there
(``breadth_first``). Marking as the paper has it is direct: a node that is skipped does not mark on, so nodes
above it may be checked although they are known to meet the requirement. The paper's printed counts come from
that.

Without roll-up each check counts the table: one scan. With roll-up the table is scanned once, and each
further frequency set is made from the smallest one of a direct specialization.

Cost: about one check for each node that fails. With roll-up, the frequency sets of the failing nodes of two
heights are held.
"""

from __future__ import annotations

import numpy as np

from discreet.errors import LimitReached
from discreet.model.search_result import SearchResult
from discreet.search.breadth_first import FamilySearch
from discreet.search.open_frequencies import frequencies_of
from discreet.search.outcome import Tally, box_size, check_nodes, nodes_of, result_of
from discreet.search.root_sets import CountedRoots
from discreet.search.task import SearchTask

_MOST_ATTRIBUTES = 64
"""The axes that an array may have."""


def bottom_up(task: SearchTask) -> SearchResult:
    """Every solution; each checked node's frequency set is counted from the table."""
    return _search(task, "bottom-up", roll_up=False)


def bottom_up_rollup(task: SearchTask) -> SearchResult:
    """Every solution; each checked node's frequency set but the first is rolled up from one below it."""
    return _search(task, "bottom-up-rollup", roll_up=True)


def _search(task: SearchTask, name: str, *, roll_up: bool) -> SearchResult:
    task.require_monotone(name)
    check_nodes(box_size(task.low, task.high), task)
    if len(task.low) > _MOST_ATTRIBUTES:
        raise LimitReached(
            f"the search takes {_MOST_ATTRIBUTES} quasi-identifiers at most, and there are {len(task.low)}",
            advice="Name fewer quasi-identifiers, or use --algorithm samarati, optimal or anytime.",
        )
    every_node = np.ones([b - a + 1 for a, b in zip(task.low, task.high, strict=True)], dtype=np.bool_)
    attributes = tuple(range(len(task.low)))
    with frequencies_of(task) as frequencies:
        tally = Tally()
        search = FamilySearch(
            task, attributes, every_node, CountedRoots(frequencies), tally, roll_up=roll_up, watched=True
        )
        survivors = search.run()
        solutions = {node: search.suppressed.get(node) for node in nodes_of(survivors, task)}
        return result_of(task, name, frequencies, solutions, tally)
