"""The nodes that a greedy walks, cheapest first.

A node's cost is the sum over the attributes of the mean loss of its level over the attribute's leaves that
occur. So the order is a sort where the nodes within the level limits can be listed. Larger lattices are
walked lazily: a heap yields nodes in order of cost, each one once (a node comes from the one in which its
last raised attribute is a level lower), up to a number of nodes. Beyond them lie too many nodes of nearly
equal cost to see each, so nodes on random ways from the bottom to the top follow, in order of cost, and the
top itself is last.
"""

from __future__ import annotations

from collections.abc import Iterator
from heapq import heappop, heappush
from itertools import islice
from math import prod

import numpy as np
from numpy.typing import NDArray

from discreet.local.keys import KeySpace

LISTED = 1 << 18
"""The nodes of a lattice that is listed whole."""

WALKED = 1 << 13
"""The nodes of a larger lattice that are walked one by one."""

SAMPLED = 1 << 14
"""The nodes of a larger lattice that are sampled beyond."""

_BATCH = 4096
_DIGITS = 12
"""Costs are compared to so many digits, so that what is equal but for rounding stays in the nodes' order."""


def level_costs(space: KeySpace) -> list[NDArray[np.float64]]:
    """The cost of each level allowed, one array per attribute: the mean loss over the leaves that occur."""
    costs = []
    for j, table in enumerate(space.losses):
        occurs = np.bincount(space.frequency_set.codes[:, j], minlength=table.shape[1]) > 0
        places = [space.levels[j].index(level) for level in space.allowed[j]]
        costs.append(table[places][:, occurs].mean(axis=1))
    return costs


def walk_masks(space: KeySpace, seed: int, listed: int = LISTED) -> Iterator[NDArray[np.uint64]]:
    """The masks of the nodes to walk, in batches of shape ``(nodes, words)``."""
    costs = level_costs(space)
    tables = _level_masks(space)
    if prod(len(levels) for levels in costs) <= listed:
        yield _all_masks(costs, tables)
        return
    last_cost = 0.0
    nodes = cheapest_nodes(costs)
    for start in range(0, WALKED, _BATCH):
        found = list(islice(nodes, min(_BATCH, WALKED - start)))
        last_cost = found[-1][0]
        yield _masks_of(np.array([node for _, node in found], np.int64), tables)
    for chunk in np.array_split(sampled_nodes(costs, last_cost, seed), SAMPLED // _BATCH):
        yield _masks_of(chunk, tables)
    yield _masks_of(np.array([[len(levels) - 1 for levels in costs]], np.int64), tables)


def cheapest_nodes(costs: list[NDArray[np.float64]]) -> Iterator[tuple[float, tuple[int, ...]]]:
    """Every node with its cost, cheapest first, equal costs in the order of the levels; a lazy walk.

    Nodes hold places in ``costs[j]``, which must not fall. Cost: a heap of at most (attributes) entries per
    node yielded.
    """
    steps = [table.tolist() for table in costs]
    bottom = (0,) * len(steps)
    heap: list[tuple[float, tuple[int, ...], int]] = [(_cost(steps, bottom), bottom, 0)]
    while heap:
        cost, node, last = heappop(heap)
        yield cost, node
        for j in range(last, len(steps)):
            if node[j] + 1 < len(steps[j]):
                raised = (*node[:j], node[j] + 1, *node[j + 1 :])
                heappush(heap, (_cost(steps, raised), raised, j))


def _cost(steps: list[list[float]], node: tuple[int, ...]) -> float:
    return float(round(sum(levels[place] for levels, place in zip(steps, node, strict=True)), _DIGITS))


def sampled_nodes(costs: list[NDArray[np.float64]], above: float, seed: int) -> NDArray[np.int64]:
    """Nodes on random ways from the bottom to the top that cost more than ``above``, in order of cost."""
    random = np.random.default_rng([seed, len(costs)])
    steps = np.repeat(np.arange(len(costs)), [len(levels) - 1 for levels in costs])
    ways = []
    for _ in range(max(SAMPLED // max(len(steps), 1), 1)):
        raised = random.permutation(steps)
        node = np.zeros((len(raised), len(costs)), np.int64)
        node[np.arange(len(raised)), raised] = 1
        ways.append(np.cumsum(node, axis=0))
    nodes = np.unique(np.concatenate(ways), axis=0)
    cost = sum((table[nodes[:, j]] for j, table in enumerate(costs)), start=np.zeros(len(nodes)))
    cost = np.round(cost, _DIGITS)
    order = np.argsort(cost, kind="stable")
    found: NDArray[np.int64] = nodes[order[cost[order] > above]]
    return found


def _level_masks(space: KeySpace) -> list[NDArray[np.uint64]]:
    return [
        masks[[space.levels[j].index(level) for level in space.allowed[j]]]
        for j, masks in enumerate(space.node_masks)
    ]


def _all_masks(costs: list[NDArray[np.float64]], tables: list[NDArray[np.uint64]]) -> NDArray[np.uint64]:
    """The masks of all nodes in order of cost, nodes of equal cost in mixed-radix order."""
    cost = np.zeros(1)
    masks = np.zeros((1, tables[0].shape[1]), np.uint64)
    for levels, table in zip(costs, tables, strict=True):
        cost = np.add.outer(cost, levels).ravel()
        masks = (masks[:, np.newaxis] | table).reshape(-1, masks.shape[1])
    return masks[np.argsort(np.round(cost, _DIGITS), kind="stable")]


def _masks_of(nodes: NDArray[np.int64], tables: list[NDArray[np.uint64]]) -> NDArray[np.uint64]:
    masks = np.zeros((len(nodes), tables[0].shape[1]), np.uint64)
    for j, table in enumerate(tables):
        masks |= table[nodes[:, j]]
    return masks
