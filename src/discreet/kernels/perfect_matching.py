"""Compiled minimum-weight perfect matching of a complete graph, with the dual solution that proves it.

Edmonds' primal-dual algorithm with blossoms (Edmonds 1965), one alternating forest per stage
(``alternating_forest``), in O(n³) for n vertices. It runs as a maximum-weight matching of B - cost, B so
large that no matching of fewer edges is heavier.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.kernels.alternating_forest import (
    EVEN,
    FREE,
    HEAD,
    NODES,
    ODD,
    TAIL,
    Array,
    Forest,
    augment,
    enqueue,
    expand,
    meeting,
    offer,
    shrink,
    slack_of,
)
from discreet.kernels.local_jit import compiled_lean

# Beyond any slack, and two of them still fit.
_FAR = 1 << 60


@compiled_lean
def _use(forest: Forest, a: int, b: int) -> bool:
    """Take a tight edge from an even node: grow, shrink, or augment (then true)."""
    end, u, v = forest.near[a, b], forest.top[forest.near[a, b]], forest.top[forest.far[a, b]]
    if forest.label[v] == FREE:
        forest.parent[v] = end
        forest.label[v] = ODD
        even = forest.top[forest.mate[v]]
        forest.tight[v] = forest.tight[even] = 0
        forest.label[even] = EVEN
        enqueue(forest, even)
    elif forest.label[v] == EVEN:
        base = meeting(forest, u, v)
        if base == 0:
            augment(forest, u, v)
            augment(forest, v, u)
            return True
        shrink(forest, u, base, v)
    return False


@compiled_lean
def _scan(forest: Forest) -> bool:
    """Use the tight edges of the vertices in the queue; true where one augments."""
    while forest.marks[HEAD] < forest.marks[TAIL]:
        u = forest.queue[forest.marks[HEAD]]
        forest.marks[HEAD] += 1
        if forest.label[forest.top[u]] == ODD:
            continue
        for v in range(1, forest.weight.shape[0]):
            if u != v and forest.top[u] != forest.top[v]:
                if slack_of(forest, u, v) == 0:
                    if _use(forest, u, v):
                        return True
                else:
                    offer(forest, u, forest.top[v])
    return False


@compiled_lean
def _step(forest: Forest) -> int:
    """How far the duals can move before an edge becomes tight or a blossom is used up."""
    n = forest.weight.shape[0] - 1
    step = _FAR
    for b in range(n + 1, forest.marks[NODES] + 1):
        if forest.top[b] == b and forest.label[b] == ODD:
            step = min(step, forest.dual[b] // 2)
    for x in range(1, forest.marks[NODES] + 1):
        if forest.top[x] == x and forest.tight[x] > 0:
            if forest.label[x] == FREE:
                step = min(step, slack_of(forest, forest.tight[x], x))
            elif forest.label[x] == EVEN:
                # Both ends move, so half the slack is enough.
                step = min(step, slack_of(forest, forest.tight[x], x) // 2)
    return step


@compiled_lean
def _move(forest: Forest, step: int) -> None:
    """Move the duals of vertices and blossoms by ``step``."""
    n = forest.weight.shape[0] - 1
    for u in range(1, n + 1):
        if forest.label[forest.top[u]] == EVEN:
            forest.dual[u] -= step
        elif forest.label[forest.top[u]] == ODD:
            forest.dual[u] += step
    for b in range(n + 1, forest.marks[NODES] + 1):
        if forest.top[b] == b:
            if forest.label[b] == EVEN:
                forest.dual[b] += 2 * step
            elif forest.label[b] == ODD:
                forest.dual[b] -= 2 * step


@compiled_lean
def _stage(forest: Forest) -> bool:
    """Match two more vertices; false where all are matched."""
    n = forest.weight.shape[0] - 1
    forest.marks[HEAD] = forest.marks[TAIL] = 0
    for x in range(1, forest.marks[NODES] + 1):
        forest.label[x] = FREE
        forest.tight[x] = 0
    for x in range(1, forest.marks[NODES] + 1):
        if forest.top[x] == x and forest.mate[x] == 0:
            forest.parent[x] = 0
            forest.label[x] = EVEN
            enqueue(forest, x)
    if forest.marks[TAIL] == 0:
        return False
    while True:
        if _scan(forest):
            return True
        _move(forest, _step(forest))
        forest.marks[HEAD] = forest.marks[TAIL] = 0
        for x in range(1, forest.marks[NODES] + 1):
            t = forest.tight[x]
            if (
                forest.top[x] == x
                and t > 0
                and forest.top[t] != x
                and slack_of(forest, t, x) == 0
                and _use(forest, t, x)
            ):
                return True
        for b in range(n + 1, forest.marks[NODES] + 1):
            if forest.top[b] == b and forest.label[b] == ODD and forest.dual[b] == 0:
                expand(forest, b)


@compiled_lean
def _run(forest: Forest) -> None:
    """Match stage by stage, from every vertex alone."""
    while _stage(forest):
        pass


def _begin(costs: Array, bound: int) -> Forest:
    """Every vertex alone; its dual the largest weight."""
    n = len(costs)
    nodes = n + n // 2 + 2
    vertices = np.arange(n + 1)
    weight = np.zeros((n + 1, n + 1), np.int64)
    weight[1:, 1:] = bound - costs
    near, far = np.zeros((2, nodes, nodes), np.int64)
    near[: n + 1, : n + 1] = vertices[:, None]
    far[: n + 1, : n + 1] = vertices[None, :]
    near[0, :] = near[:, 0] = 0
    near[vertices, vertices] = 0
    dual, mate, tight, top, parent, label, stamp, ring_size = np.zeros((8, nodes), np.int64)
    dual[1 : n + 1] = bound
    top[: n + 1] = vertices
    holder = np.zeros((nodes, n + 1), np.int64)
    holder[vertices, vertices] = vertices
    return Forest(
        weight=weight,
        near=near,
        far=far,
        dual=dual,
        mate=mate,
        tight=tight,
        top=top,
        parent=parent,
        label=label,
        stamp=stamp,
        holder=holder,
        ring=np.zeros((nodes, nodes), np.int64),
        ring_size=ring_size,
        queue=np.zeros(4 * nodes, np.int64),
        stack=np.zeros(2 * nodes, np.int64),
        pairs=np.zeros((2 * nodes, 2), np.int64),
        marks=np.array([n, 0, 0, 0], np.int64),
    )


class PerfectMatching(NamedTuple):
    """A cheapest perfect matching of n vertices and the dual solution that proves it.

    ``mate`` holds each vertex's partner. In quarters of a cost: ``potential[u] + potential[v]`` and the
    ``thickness`` of the blossoms that hold just one of u and v are together at most four times the cost of
    the edge, as much for mates, and all potentials and thicknesses add up to four times the cost of the
    matching. ``members`` has shape ``(blossoms, n)``; blossoms have an odd number of vertices, and a
    thickness above 0.
    """

    mate: NDArray[np.int64]
    potential: NDArray[np.int64]
    thickness: NDArray[np.int64]
    members: NDArray[np.bool_]


def minimum_perfect_matching(costs: NDArray[np.int64]) -> PerfectMatching:
    """The cheapest perfect matching of an even number of vertices.

    ``costs`` is symmetric, of shape ``(n, n)``, 0 or more; the diagonal is not read. (n + 1)² times the
    largest cost must stay below 2⁶⁰.
    """
    n = len(costs)
    bound = (int(costs.max(initial=0)) + 1) * (n + 1)
    forest = _begin(costs, bound)
    _run(forest)
    thick = np.flatnonzero((forest.top > 0) & (forest.dual > 0))
    thick = thick[thick > n]
    thickness = forest.dual[thick].copy()
    members = forest.holder[thick, 1:] > 0
    potential = 2 * (bound - forest.dual[1 : n + 1]) - (thickness[:, None] * members).sum(axis=0)
    return PerfectMatching(forest.mate[1 : n + 1] - 1, potential, thickness, members)
