"""Compiled minimum-weight perfect matching of a complete graph, with its dual solution (Edmonds 1965).

Primal-dual algorithm with blossoms, one alternating forest per stage, O(n³).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.kernels.numba_jit import compiled_without_refcounts

Array = NDArray[Any]

FREE, EVEN, ODD = -1, 0, 1
# Indices of ``Forest.marks``: number of nodes, queue head, queue tail, latest stamp.
NODES, HEAD, TAIL, _STAMP = 0, 1, 2, 3


class Forest(NamedTuple):
    """State of a stage: n vertices, at most n + n // 2 nodes (vertices and blossoms), arrays by node.

    Vertices are numbered from 1; 0 is "none". ``near[a, b]`` and ``far[a, b]`` are the vertices of the best
    edge between nodes a and b. ``top`` is the outermost blossom around a node, ``holder[b, x]`` the child of
    blossom b that contains vertex x, and ``ring[b]`` the children of b around its odd cycle.
    """

    weight: Array
    near: Array
    far: Array
    dual: Array
    mate: Array
    tight: Array
    top: Array
    parent: Array
    label: Array
    stamp: Array
    holder: Array
    ring: Array
    ring_size: Array
    queue: Array
    stack: Array
    pairs: Array
    marks: Array


@compiled_without_refcounts
def slack_of(forest: Forest, a: int, b: int) -> int:
    """Return twice the slack of the edge recorded between nodes ``a`` and ``b``."""
    u, v = forest.near[a, b], forest.far[a, b]
    slack: int = forest.dual[u] + forest.dual[v] - 2 * forest.weight[u, v]
    return slack


@compiled_without_refcounts
def offer_tight_edge(forest: Forest, u: int, x: int) -> None:
    """Record the edge from vertex ``u`` as the tightest edge that reaches node ``x``, if it is."""
    if forest.tight[x] == 0 or slack_of(forest, u, x) < slack_of(forest, forest.tight[x], x):
        forest.tight[x] = u


@compiled_without_refcounts
def _find_tight(forest: Forest, x: int) -> None:
    """Find the tightest edge from an even vertex to node ``x``."""
    forest.tight[x] = 0
    for u in range(1, forest.weight.shape[0]):
        if forest.near[u, x] > 0 and forest.top[u] != x and forest.label[forest.top[u]] == EVEN:
            offer_tight_edge(forest, u, x)


@compiled_without_refcounts
def enqueue(forest: Forest, x: int) -> None:
    """Append the vertices of node ``x`` to the queue."""
    n = forest.weight.shape[0] - 1
    forest.stack[0] = x
    depth = 1
    while depth > 0:
        depth -= 1
        x = forest.stack[depth]
        if x <= n:
            forest.queue[forest.marks[TAIL]] = x
            forest.marks[TAIL] += 1
        else:
            for i in range(forest.ring_size[x]):
                forest.stack[depth] = forest.ring[x, i]
                depth += 1


@compiled_without_refcounts
def _set_top(forest: Forest, x: int, top: int) -> None:
    """Set ``top`` as the outermost node around everything inside node ``x``."""
    n = forest.weight.shape[0] - 1
    forest.stack[0] = x
    depth = 1
    while depth > 0:
        depth -= 1
        x = forest.stack[depth]
        forest.top[x] = top
        if x > n:
            for i in range(forest.ring_size[x]):
                forest.stack[depth] = forest.ring[x, i]
                depth += 1


@compiled_without_refcounts
def _reverse(forest: Forest, b: int, start: int, end: int) -> None:
    """Reverse a section of a blossom's ring."""
    end -= 1
    while start < end:
        first = forest.ring[b, start]
        forest.ring[b, start] = forest.ring[b, end]
        forest.ring[b, end] = first
        start += 1
        end -= 1


@compiled_without_refcounts
def _even_place(forest: Forest, b: int, child: int) -> int:
    """Return an even position of ``child`` in the ring of ``b``, reversing the ring if it is odd."""
    slot = 0
    while forest.ring[b, slot] != child:
        slot += 1
    if slot % 2 == 1:
        _reverse(forest, b, 1, forest.ring_size[b])
        slot = forest.ring_size[b] - slot
    return slot


@compiled_without_refcounts
def _rotate(forest: Forest, b: int, slot: int) -> None:
    """Rotate a blossom's ring to begin at ``slot``."""
    size = forest.ring_size[b]
    # Reversing both parts and then the whole ring puts the second part first, in place.
    _reverse(forest, b, 0, slot)
    _reverse(forest, b, slot, size)
    _reverse(forest, b, 0, size)


@compiled_without_refcounts
def _match(forest: Forest, u: int, v: int) -> None:
    """Match node ``u`` by its recorded edge to ``v``, and rematch the nodes inside ``u`` accordingly."""
    n = forest.weight.shape[0] - 1
    forest.pairs[0, 0], forest.pairs[0, 1] = u, v
    depth = 1
    while depth > 0:
        depth -= 1
        u, v = forest.pairs[depth, 0], forest.pairs[depth, 1]
        forest.mate[u] = forest.far[u, v]
        if u <= n:
            continue
        child = forest.holder[u, forest.near[u, v]]
        slot = _even_place(forest, u, child)
        for i in range(slot):
            # Children up to the matched one are matched in pairs: 0 with 1, 2 with 3, …
            forest.pairs[depth, 0], forest.pairs[depth, 1] = forest.ring[u, i], forest.ring[u, i ^ 1]
            depth += 1
        forest.pairs[depth, 0], forest.pairs[depth, 1] = child, v
        depth += 1
        _rotate(forest, u, slot)


@compiled_without_refcounts
def augment_path(forest: Forest, u: int, v: int) -> None:
    """Flip the alternating path from the edge ``u``-``v`` to the root of ``u``."""
    while True:
        before = forest.top[forest.mate[u]]
        _match(forest, u, v)
        if before == 0:
            return
        _match(forest, before, forest.top[forest.parent[before]])
        u, v = forest.top[forest.parent[before]], before


@compiled_without_refcounts
def find_meeting(forest: Forest, u: int, v: int) -> int:
    """Return the node where the paths of ``u`` and ``v`` to their roots meet; 0 if they do not."""
    # A new stamp, so that the stamps of earlier walks need not be cleared.
    forest.marks[_STAMP] += 1
    while u > 0 or v > 0:
        if u > 0:
            if forest.stamp[u] == forest.marks[_STAMP]:
                return u
            forest.stamp[u] = forest.marks[_STAMP]
            u = forest.top[forest.mate[u]]
            if u > 0:
                u = forest.top[forest.parent[u]]
        # Alternately, so that the cost depends on the shorter cycle instead of the longer path.
        u, v = v, u
    return 0


@compiled_without_refcounts
def _walk(forest: Forest, b: int, x: int, base: int) -> None:
    """Append the nodes from ``x`` up to ``base`` to the ring of ``b``."""
    while x != base:
        y = forest.top[forest.mate[x]]
        size = forest.ring_size[b]
        forest.ring[b, size], forest.ring[b, size + 1] = x, y
        forest.ring_size[b] = size + 2
        enqueue(forest, y)
        x = forest.top[forest.parent[y]]


@compiled_without_refcounts
def shrink_blossom(forest: Forest, u: int, base: int, v: int) -> None:
    """Shrink the odd cycle through ``u``, ``base`` and ``v`` to a blossom."""
    n = forest.weight.shape[0] - 1
    b = n + 1
    while b <= forest.marks[NODES] and forest.top[b] > 0:
        b += 1
    forest.marks[NODES] = max(forest.marks[NODES], b)
    forest.dual[b] = 0
    forest.label[b] = EVEN
    forest.mate[b] = forest.mate[base]
    forest.ring[b, 0] = base
    forest.ring_size[b] = 1
    _walk(forest, b, u, base)
    # This side was walked against the direction of the cycle; reversed, the ring follows it once.
    _reverse(forest, b, 1, forest.ring_size[b])
    _walk(forest, b, v, base)
    _set_top(forest, b, b)
    for x in range(1, forest.marks[NODES] + 1):
        forest.near[b, x] = forest.near[x, b] = 0
    for x in range(1, n + 1):
        forest.holder[b, x] = 0
    for i in range(forest.ring_size[b]):
        child = forest.ring[b, i]
        for x in range(1, forest.marks[NODES] + 1):
            if forest.near[child, x] > 0 and (
                forest.near[b, x] == 0 or slack_of(forest, child, x) < slack_of(forest, b, x)
            ):
                forest.near[b, x], forest.far[b, x] = forest.near[child, x], forest.far[child, x]
                forest.near[x, b], forest.far[x, b] = forest.far[child, x], forest.near[child, x]
        for x in range(1, n + 1):
            if forest.holder[child, x] > 0:
                forest.holder[b, x] = child
    _find_tight(forest, b)


@compiled_without_refcounts
def expand_blossom(forest: Forest, b: int) -> None:
    """Expand an odd blossom whose dual is 0."""
    for i in range(forest.ring_size[b]):
        _set_top(forest, forest.ring[b, i], forest.ring[b, i])
    entered = forest.holder[b, forest.near[b, forest.parent[b]]]
    slot = _even_place(forest, b, entered)
    for i in range(slot // 2):
        odd, even = forest.ring[b, 2 * i], forest.ring[b, 2 * i + 1]
        forest.parent[odd] = forest.near[even, odd]
        forest.label[odd] = ODD
        forest.label[even] = EVEN
        forest.tight[odd] = 0
        _find_tight(forest, even)
        enqueue(forest, even)
    forest.label[entered] = ODD
    forest.parent[entered] = forest.parent[b]
    for i in range(slot + 1, forest.ring_size[b]):
        forest.label[forest.ring[b, i]] = FREE
        _find_tight(forest, forest.ring[b, i])
    forest.top[b] = 0


# Larger than any slack, and the sum of two still fits.
_FAR = 1 << 60


@compiled_without_refcounts
def _use(forest: Forest, a: int, b: int) -> bool:
    """Use a tight edge from an even node: grow, shrink, or augment; return True if it augmented."""
    end, u, v = forest.near[a, b], forest.top[forest.near[a, b]], forest.top[forest.far[a, b]]
    if forest.label[v] == FREE:
        forest.parent[v] = end
        forest.label[v] = ODD
        even = forest.top[forest.mate[v]]
        forest.tight[v] = forest.tight[even] = 0
        forest.label[even] = EVEN
        enqueue(forest, even)
    elif forest.label[v] == EVEN:
        base = find_meeting(forest, u, v)
        if base == 0:
            augment_path(forest, u, v)
            augment_path(forest, v, u)
            return True
        shrink_blossom(forest, u, base, v)
    return False


@compiled_without_refcounts
def _scan(forest: Forest) -> bool:
    """Use the tight edges of the vertices in the queue; return True as soon as one augments."""
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
                    offer_tight_edge(forest, u, forest.top[v])
    return False


@compiled_without_refcounts
def _step(forest: Forest) -> int:
    """Return the distance that duals can move until an edge is tight or a blossom's dual is 0."""
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
                # Both ends move, so half of the slack suffices.
                step = min(step, slack_of(forest, forest.tight[x], x) // 2)
    return step


@compiled_without_refcounts
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


@compiled_without_refcounts
def _stage(forest: Forest) -> bool:
    """Match two more vertices; return False if all are matched."""
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
                expand_blossom(forest, b)


@compiled_without_refcounts
def _run(forest: Forest) -> None:
    """Match stage by stage, beginning with unmatched vertices."""
    while _stage(forest):
        pass


def _begin(costs: Array, bound: int) -> Forest:
    """Build the initial state: single vertices whose dual is the largest weight."""
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
    """Cheapest perfect matching of n vertices, with the dual solution that proves it.

    ``mate`` contains each vertex's partner. Duals are in quarters of a cost: ``potential[u] + potential[v]``
    plus the ``thickness`` of the blossoms that contain exactly one of u and v is at most four times the cost
    of the edge, and equal for mates. The sum of all potentials and thicknesses is four times the cost of the
    matching. ``members`` has shape ``(blossoms, n)``; blossoms have an odd number of vertices and a positive
    thickness.
    """

    mate: NDArray[np.int64]
    potential: NDArray[np.int64]
    thickness: NDArray[np.int64]
    members: NDArray[np.bool_]


def minimum_perfect_matching(costs: NDArray[np.int64]) -> PerfectMatching:
    """Compute the cheapest perfect matching of an even number of vertices.

    ``costs`` is symmetric, of shape ``(n, n)`` and non-negative; the diagonal is not read. (n + 1)² times the
    largest cost must be below 2⁶⁰. Cost: O(n³).
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
