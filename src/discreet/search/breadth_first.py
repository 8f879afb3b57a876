"""Breadth-first search of one set of attributes (LeFevre et al. 2005), and bottom-up search with it.

A *family* is a set of attributes; its nodes are an array of truth values with one axis per attribute.
Candidates are the nodes whose projections on all attributes but one survived: one AND per subset, which
is the paper's join and prune at once. Nodes are checked by height from the roots. A node that meets the
requirement marks its direct generalizations (with transitive marking, all of them); a node that fails is
removed, and its generalizations join the queue. Bottom-up searches the whole lattice as one family.

Cost: one check per node that fails, and per node that meets the requirement and is not marked; a byte
per node of a family. With roll-up the frequency sets of the failing nodes of two heights are in memory.
"""

from __future__ import annotations

import heapq
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from discreet.errors import LimitReached
from discreet.model.lattice import LatticeNode, tie_break_key
from discreet.model.search_result import SearchResult
from discreet.search.database_frequency_sets import open_frequency_sets
from discreet.search.frequency_sets import AttributeFrequencySet, FrequencySets
from discreet.search.search_problem import Marking, SearchProblem, children_within, parents_within
from discreet.search.solutions import SearchTally, box_size, build_result, check_node_limit, list_nodes

Family = tuple[int, ...]
"""Positions of attributes in the lattice, ascending."""

FamilyNodes = NDArray[np.bool_]
"""Truth value per node of a family; one axis per attribute, as long as the number of its searched levels."""


def join_candidates(
    family: Family, levels: Sequence[int], survivors: Mapping[Family, FamilyNodes]
) -> FamilyNodes:
    """Return the nodes of a family whose projections on all attributes but one survived.

    ``levels`` contains the number of levels of every attribute of the lattice.
    """
    result = np.ones([levels[attribute] for attribute in family], dtype=np.bool_)
    if len(family) > 1:
        for axis in range(len(family)):
            result &= np.expand_dims(survivors[family[:axis] + family[axis + 1 :]], axis)
    return result


def roots(nodes: FamilyNodes) -> FamilyNodes:
    """Return the nodes without a direct specialization among ``nodes``."""
    reached = np.zeros_like(nodes)
    for axis in range(nodes.ndim):
        upper, lower = [slice(None)] * nodes.ndim, [slice(None)] * nodes.ndim
        upper[axis], lower[axis] = slice(1, None), slice(None, -1)
        reached[tuple(upper)] |= nodes[tuple(lower)]
    result: FamilyNodes = nodes & ~reached
    return result


class CountedRootSets:
    """Frequency sets of roots, one family after the other; here each is counted from the table (basic)."""

    def __init__(self, frequencies: FrequencySets) -> None:
        self._frequencies = frequencies
        self._family: Family = ()

    def enter(self, family: Family, roots: Sequence[LatticeNode]) -> None:  # noqa: ARG002
        """Begin with a family and its roots."""
        self._family = family

    def of(self, root: LatticeNode) -> AttributeFrequencySet:
        """Return the frequency set of a root of the family."""
        return self._frequencies.count(self._family, root)

    def keeps(self, counts: AttributeFrequencySet) -> bool:  # noqa: ARG002
        """Check whether the frequency set is needed again, so that callers must not release it."""
        return False

    def leave(self) -> None:
        """End with the family, and release what was kept for it."""


class SuperRootSets(CountedRootSets):
    """Roots of super-roots Incognito, rolled up from one frequency set per family.

    The super-root is the greatest common specialization of the roots, that is, the least level of each
    attribute (the paper calls it the least upper bound). Of the family only it is counted from the table. It
    is no candidate unless it is the only root.
    """

    _base: AttributeFrequencySet | None = None

    def enter(self, family: Family, roots: Sequence[LatticeNode]) -> None:
        """Count the super-root of the family."""
        levels = tuple(min(level) for level in zip(*roots, strict=True))
        self._base = self._frequencies.count(family, levels)

    def of(self, root: LatticeNode) -> AttributeFrequencySet:
        """Roll up the frequency set of a root from the super-root."""
        assert self._base is not None
        return self._base if self._base.levels == root else self._base.roll_up(root)

    def keeps(self, counts: AttributeFrequencySet) -> bool:
        """Check whether the frequency set is the super-root."""
        return counts is self._base

    def leave(self) -> None:
        """Release the super-root."""
        if self._base is not None:
            self._base.release()
            self._base = None


class FamilySearch:
    """Breadth-first search of one family among the candidates ``nodes``.

    Without ``roll_up`` the frequency set of every node comes from ``root_sets``. With ``watched`` each node
    is reported to the problem's progress listener. ``suppressed`` contains the suppressed rows of the checked
    nodes that survive.
    """

    def __init__(
        self,
        task: SearchProblem,
        family: Family,
        nodes: FamilyNodes,
        root_sets: CountedRootSets,
        tally: SearchTally,
        *,
        roll_up: bool = True,
        watched: bool = False,
    ) -> None:
        self._task = task
        self._low = tuple(task.low[attribute] for attribute in family)
        self._high = tuple(task.high[attribute] for attribute in family)
        self._family = family
        self._nodes = nodes
        self._root_sets = root_sets
        self._tally = tally
        self._roll_up = roll_up
        self._watched = watched
        self._marked = np.zeros_like(nodes)
        self._failed: dict[LatticeNode, AttributeFrequencySet] = {}
        # Discovered nodes wait in a heap, by height and then in the paper's node order.
        self._queue: list[tuple[int, LatticeNode, LatticeNode]] = []
        self._seen: set[LatticeNode] = set()
        self.suppressed: dict[LatticeNode, int] = {}

    def run(self) -> FamilyNodes:
        """Return the nodes that survive."""
        first = [self._node(index) for index in np.argwhere(roots(self._nodes)).tolist()]
        if not first:
            return self._nodes
        self._root_sets.enter(self._family, first)
        for node in first:
            self._enqueue(node)
        height = sum(self._low)
        while self._queue:
            node = heapq.heappop(self._queue)[2]
            if sum(node) > height:
                height = sum(node)
                self._forget_below(height - 1)
            if self._marked[self._index_of(node)]:
                self._tally.marked += 1
            else:
                self._check(node)
            if self._watched:
                self._task.advance(len(self._seen) - len(self._queue), self._nodes.size)
        self._forget_below(sum(self._high) + 1)
        self._root_sets.leave()
        return self._nodes

    def _enqueue(self, node: LatticeNode) -> None:
        if node not in self._seen:
            self._seen.add(node)
            heapq.heappush(self._queue, (sum(node), tie_break_key(node), node))

    def _check(self, node: LatticeNode) -> None:
        counts = self._frequency_set(node)
        rows = counts.suppressed()
        self._tally.checked += 1
        if rows <= self._task.limit:
            self.suppressed[node] = rows
            self._mark_above(node)
            self._release(counts)
            return
        self._nodes[self._index_of(node)] = False
        if self._roll_up:
            self._failed[node] = counts
        else:
            self._release(counts)
        for parent in parents_within(node, self._high):
            self._enqueue(parent)

    def _frequency_set(self, node: LatticeNode) -> AttributeFrequencySet:
        below = [self._failed[c] for c in children_within(node, self._low) if c in self._failed]
        if not below:
            return self._root_sets.of(node)
        return min(below, key=lambda counts: counts.classes).roll_up(node)

    def _mark_above(self, node: LatticeNode) -> None:
        index = self._index_of(node)
        if self._task.marking is Marking.TRANSITIVE:
            self._marked[tuple(slice(i, None) for i in index)] = True
            return
        for parent in parents_within(node, self._high):
            self._marked[self._index_of(parent)] = True

    def _forget_below(self, height: int) -> None:
        """Release the frequency sets of nodes below a height: no node rolls up from them any more."""
        for node in [node for node in self._failed if sum(node) < height]:
            self._release(self._failed.pop(node))

    def _release(self, counts: AttributeFrequencySet) -> None:
        if not self._root_sets.keeps(counts):
            counts.release()

    def _node(self, index: list[int]) -> LatticeNode:
        return tuple(low + i for low, i in zip(self._low, index, strict=True))

    def _index_of(self, node: LatticeNode) -> tuple[int, ...]:
        return tuple(level - low for low, level in zip(self._low, node, strict=True))


_MOST_ATTRIBUTES = 64
"""Maximal number of axes of a numpy array."""


def bottom_up(task: SearchProblem) -> SearchResult:
    """Find every solution; the frequency set of each checked node is counted from the table.

    Parameters
    ----------
    task
        Table, requirement, suppression limit and bounds of the search.

    Returns
    -------
    Every solution with its suppressed rows, and the numbers of checked and marked nodes and of scans.

    Raises
    ------
    InputError
        For criteria under which suppression may rise from a node to one above it.
    LimitReached
        If the nodes or the frequency sets would not fit the memory limit.

    Notes
    -----
    Cost: one scan per checked node, one frequency set in memory, a byte per node of the lattice.

    References
    ----------
    LeFevre, DeWitt and Ramakrishnan (2005), *Incognito: Efficient Full-Domain K-Anonymity*. SIGMOD, 49–60.

    Examples
    --------
    >>> bottom_up(SearchProblem.of(table, Request.of(k=10), settings)).solutions  # doctest: +SKIP
    """
    return _search_bottom_up(task, "bottom-up", roll_up=False)


def bottom_up_rollup(task: SearchProblem) -> SearchResult:
    """Find every solution; each checked node but the first is rolled up from a node below it.

    Parameters, result and errors are those of ``bottom_up``.

    Notes
    -----
    Cost: one scan and a roll-up per checked node; the frequency sets of the failing nodes of two heights.

    References
    ----------
    LeFevre, DeWitt and Ramakrishnan (2005), *Incognito: Efficient Full-Domain K-Anonymity*. SIGMOD, 49–60.

    Examples
    --------
    >>> bottom_up_rollup(SearchProblem.of(table, Request.of(k=10), settings)).solutions  # doctest: +SKIP
    """
    return _search_bottom_up(task, "bottom-up-rollup", roll_up=True)


def _search_bottom_up(task: SearchProblem, name: str, *, roll_up: bool) -> SearchResult:
    task.require_monotone(name)
    check_node_limit(box_size(task.low, task.high), task)
    if len(task.low) > _MOST_ATTRIBUTES:
        raise LimitReached(
            f"the search supports at most {_MOST_ATTRIBUTES} quasi-identifiers; the table has "
            f"{len(task.low)}",
            advice="Name fewer quasi-identifiers, or use --algorithm samarati, optimal or anytime.",
        )
    every_node = np.ones([b - a + 1 for a, b in zip(task.low, task.high, strict=True)], dtype=np.bool_)
    attributes = tuple(range(len(task.low)))
    with open_frequency_sets(task) as frequencies:
        tally = SearchTally()
        search = FamilySearch(
            task, attributes, every_node, CountedRootSets(frequencies), tally, roll_up=roll_up, watched=True
        )
        survivors = search.run()
        solutions = {node: search.suppressed.get(node) for node in list_nodes(survivors, task)}
        return build_result(task, name, frequencies, solutions, tally)
