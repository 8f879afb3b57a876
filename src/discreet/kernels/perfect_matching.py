"""Compiled minimum-weight perfect matching of a complete graph, with the dual solution that proves it.

Edmonds' primal-dual algorithm with blossoms, one alternating forest per stage, O(n³) for n vertices. It
runs as a maximum-weight matching of B - cost, B so large that no matching of fewer edges is heavier.

Vertices and blossoms count from 1 (0 is none); a blossom that is shrunk is a node above ``n``. Each pair of
nodes keeps its tightest edge by the ends it has among the vertices (``near``, ``far``). Slacks are doubled,
so that half of one between two even nodes is a whole number.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.kernels.local_jit import compiled_lean

Array = NDArray[Any]

_FREE, _EVEN, _ODD = -1, 0, 1
_NODES, _HEAD, _TAIL, _STAMP = 0, 1, 2, 3
_FAR = 1 << 60


class Forest(NamedTuple):
    """The state of a stage: n vertices, at most n + n // 2 nodes, arrays by node."""

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


@compiled_lean
def _slack(forest: Forest, a: int, b: int) -> int:
    """Twice the slack of the edge that nodes ``a`` and ``b`` keep."""
    u, v = forest.near[a, b], forest.far[a, b]
    slack: int = forest.dual[u] + forest.dual[v] - 2 * forest.weight[u, v]
    return slack


@compiled_lean
def _offer(forest: Forest, u: int, x: int) -> None:
    """Let the edge from vertex ``u`` be the tightest that reaches node ``x``, if it is."""
    if forest.tight[x] == 0 or _slack(forest, u, x) < _slack(forest, forest.tight[x], x):
        forest.tight[x] = u


@compiled_lean
def _find_tight(forest: Forest, x: int) -> None:
    """Find the tightest edge from an even vertex to node ``x``."""
    forest.tight[x] = 0
    for u in range(1, forest.weight.shape[0]):
        if forest.near[u, x] > 0 and forest.top[u] != x and forest.label[forest.top[u]] == _EVEN:
            _offer(forest, u, x)


@compiled_lean
def _enqueue(forest: Forest, x: int) -> None:
    """Put the vertices of node ``x`` into the queue."""
    n = forest.weight.shape[0] - 1
    forest.stack[0] = x
    depth = 1
    while depth > 0:
        depth -= 1
        x = forest.stack[depth]
        if x <= n:
            forest.queue[forest.marks[_TAIL]] = x
            forest.marks[_TAIL] += 1
        else:
            for i in range(forest.ring_size[x]):
                forest.stack[depth] = forest.ring[x, i]
                depth += 1


@compiled_lean
def _set_top(forest: Forest, x: int, top: int) -> None:
    """Let everything inside node ``x`` know that ``top`` is the outermost node around it."""
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


@compiled_lean
def _reverse(forest: Forest, b: int, start: int, end: int) -> None:
    """Turn a piece of a blossom's ring round."""
    end -= 1
    while start < end:
        kept = forest.ring[b, start]
        forest.ring[b, start] = forest.ring[b, end]
        forest.ring[b, end] = kept
        start += 1
        end -= 1


@compiled_lean
def _even_place(forest: Forest, b: int, child: int) -> int:
    """The place of ``child`` in the ring of ``b``, the ring turned so that it is even."""
    place = 0
    while forest.ring[b, place] != child:
        place += 1
    if place % 2 == 1:
        _reverse(forest, b, 1, forest.ring_size[b])
        place = forest.ring_size[b] - place
    return place


@compiled_lean
def _rotate(forest: Forest, b: int, place: int) -> None:
    """Begin a blossom's ring at ``place``."""
    size = forest.ring_size[b]
    _reverse(forest, b, 0, place)
    _reverse(forest, b, place, size)
    _reverse(forest, b, 0, size)


@compiled_lean
def _match(forest: Forest, u: int, v: int) -> None:
    """Match node ``u`` by the edge that it keeps to ``v``, and what lies inside ``u`` accordingly."""
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
        place = _even_place(forest, u, child)
        for i in range(place):
            forest.pairs[depth, 0], forest.pairs[depth, 1] = forest.ring[u, i], forest.ring[u, i ^ 1]
            depth += 1
        forest.pairs[depth, 0], forest.pairs[depth, 1] = child, v
        depth += 1
        _rotate(forest, u, place)


@compiled_lean
def _augment(forest: Forest, u: int, v: int) -> None:
    """Flip the alternating path from the edge ``u``-``v`` to the root of ``u``."""
    while True:
        before = forest.top[forest.mate[u]]
        _match(forest, u, v)
        if before == 0:
            return
        _match(forest, before, forest.top[forest.parent[before]])
        u, v = forest.top[forest.parent[before]], before


@compiled_lean
def _meeting(forest: Forest, u: int, v: int) -> int:
    """The node where the paths of ``u`` and ``v`` to their roots meet; 0 where they do not."""
    forest.marks[_STAMP] += 1
    while u > 0 or v > 0:
        if u > 0:
            if forest.stamp[u] == forest.marks[_STAMP]:
                return u
            forest.stamp[u] = forest.marks[_STAMP]
            u = forest.top[forest.mate[u]]
            if u > 0:
                u = forest.top[forest.parent[u]]
        u, v = v, u
    return 0


@compiled_lean
def _walk(forest: Forest, b: int, x: int, base: int) -> None:
    """Put the nodes from ``x`` up to ``base`` into the ring of ``b``."""
    while x != base:
        y = forest.top[forest.mate[x]]
        size = forest.ring_size[b]
        forest.ring[b, size], forest.ring[b, size + 1] = x, y
        forest.ring_size[b] = size + 2
        _enqueue(forest, y)
        x = forest.top[forest.parent[y]]


@compiled_lean
def _shrink(forest: Forest, u: int, base: int, v: int) -> None:
    """Shrink the odd cycle through ``u``, ``base`` and ``v`` to a blossom."""
    n = forest.weight.shape[0] - 1
    b = n + 1
    while b <= forest.marks[_NODES] and forest.top[b] > 0:
        b += 1
    forest.marks[_NODES] = max(forest.marks[_NODES], b)
    forest.dual[b] = 0
    forest.label[b] = _EVEN
    forest.mate[b] = forest.mate[base]
    forest.ring[b, 0] = base
    forest.ring_size[b] = 1
    _walk(forest, b, u, base)
    _reverse(forest, b, 1, forest.ring_size[b])
    _walk(forest, b, v, base)
    _set_top(forest, b, b)
    for x in range(1, forest.marks[_NODES] + 1):
        forest.near[b, x] = forest.near[x, b] = 0
    for x in range(1, n + 1):
        forest.holder[b, x] = 0
    for i in range(forest.ring_size[b]):
        child = forest.ring[b, i]
        for x in range(1, forest.marks[_NODES] + 1):
            if forest.near[child, x] > 0 and (
                forest.near[b, x] == 0 or _slack(forest, child, x) < _slack(forest, b, x)
            ):
                forest.near[b, x], forest.far[b, x] = forest.near[child, x], forest.far[child, x]
                forest.near[x, b], forest.far[x, b] = forest.far[child, x], forest.near[child, x]
        for x in range(1, n + 1):
            if forest.holder[child, x] > 0:
                forest.holder[b, x] = child
    _find_tight(forest, b)


@compiled_lean
def _expand(forest: Forest, b: int) -> None:
    """Open an odd blossom whose dual is used up."""
    for i in range(forest.ring_size[b]):
        _set_top(forest, forest.ring[b, i], forest.ring[b, i])
    entered = forest.holder[b, forest.near[b, forest.parent[b]]]
    place = _even_place(forest, b, entered)
    for i in range(place // 2):
        odd, even = forest.ring[b, 2 * i], forest.ring[b, 2 * i + 1]
        forest.parent[odd] = forest.near[even, odd]
        forest.label[odd] = _ODD
        forest.label[even] = _EVEN
        forest.tight[odd] = 0
        _find_tight(forest, even)
        _enqueue(forest, even)
    forest.label[entered] = _ODD
    forest.parent[entered] = forest.parent[b]
    for i in range(place + 1, forest.ring_size[b]):
        forest.label[forest.ring[b, i]] = _FREE
        _find_tight(forest, forest.ring[b, i])
    forest.top[b] = 0


@compiled_lean
def _use(forest: Forest, a: int, b: int) -> bool:
    """Take a tight edge from an even node: grow, shrink, or augment (then true)."""
    end, u, v = forest.near[a, b], forest.top[forest.near[a, b]], forest.top[forest.far[a, b]]
    if forest.label[v] == _FREE:
        forest.parent[v] = end
        forest.label[v] = _ODD
        even = forest.top[forest.mate[v]]
        forest.tight[v] = forest.tight[even] = 0
        forest.label[even] = _EVEN
        _enqueue(forest, even)
    elif forest.label[v] == _EVEN:
        base = _meeting(forest, u, v)
        if base == 0:
            _augment(forest, u, v)
            _augment(forest, v, u)
            return True
        _shrink(forest, u, base, v)
    return False


@compiled_lean
def _scan(forest: Forest) -> bool:
    """Use the tight edges of the vertices in the queue; true where one augments."""
    while forest.marks[_HEAD] < forest.marks[_TAIL]:
        u = forest.queue[forest.marks[_HEAD]]
        forest.marks[_HEAD] += 1
        if forest.label[forest.top[u]] == _ODD:
            continue
        for v in range(1, forest.weight.shape[0]):
            if u != v and forest.top[u] != forest.top[v]:
                if _slack(forest, u, v) == 0:
                    if _use(forest, u, v):
                        return True
                else:
                    _offer(forest, u, forest.top[v])
    return False


@compiled_lean
def _step(forest: Forest) -> int:
    """How far the duals can move before an edge becomes tight or a blossom is used up."""
    n = forest.weight.shape[0] - 1
    step = _FAR
    for b in range(n + 1, forest.marks[_NODES] + 1):
        if forest.top[b] == b and forest.label[b] == _ODD:
            step = min(step, forest.dual[b] // 2)
    for x in range(1, forest.marks[_NODES] + 1):
        if forest.top[x] == x and forest.tight[x] > 0:
            if forest.label[x] == _FREE:
                step = min(step, _slack(forest, forest.tight[x], x))
            elif forest.label[x] == _EVEN:
                step = min(step, _slack(forest, forest.tight[x], x) // 2)
    return step


@compiled_lean
def _move(forest: Forest, step: int) -> None:
    """Move the duals of vertices and blossoms by ``step``."""
    n = forest.weight.shape[0] - 1
    for u in range(1, n + 1):
        if forest.label[forest.top[u]] == _EVEN:
            forest.dual[u] -= step
        elif forest.label[forest.top[u]] == _ODD:
            forest.dual[u] += step
    for b in range(n + 1, forest.marks[_NODES] + 1):
        if forest.top[b] == b:
            if forest.label[b] == _EVEN:
                forest.dual[b] += 2 * step
            elif forest.label[b] == _ODD:
                forest.dual[b] -= 2 * step


@compiled_lean
def _stage(forest: Forest) -> bool:
    """Match two more vertices; false where all are matched."""
    n = forest.weight.shape[0] - 1
    forest.marks[_HEAD] = forest.marks[_TAIL] = 0
    for x in range(1, forest.marks[_NODES] + 1):
        forest.label[x] = _FREE
        forest.tight[x] = 0
    for x in range(1, forest.marks[_NODES] + 1):
        if forest.top[x] == x and forest.mate[x] == 0:
            forest.parent[x] = 0
            forest.label[x] = _EVEN
            _enqueue(forest, x)
    if forest.marks[_TAIL] == 0:
        return False
    while True:
        if _scan(forest):
            return True
        _move(forest, _step(forest))
        forest.marks[_HEAD] = forest.marks[_TAIL] = 0
        for x in range(1, forest.marks[_NODES] + 1):
            t = forest.tight[x]
            if (
                forest.top[x] == x
                and t > 0
                and forest.top[t] != x
                and _slack(forest, t, x) == 0
                and _use(forest, t, x)
            ):
                return True
        for b in range(n + 1, forest.marks[_NODES] + 1):
            if forest.top[b] == b and forest.label[b] == _ODD and forest.dual[b] == 0:
                _expand(forest, b)


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
