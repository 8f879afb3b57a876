"""The alternating forest of a weighted matching: tight edges, trees, and blossoms that shrink and expand.

Vertices and blossoms count from 1 (0 is none); a blossom that is shrunk is a node above ``n``. Each pair of
nodes keeps its tightest edge by the ends it has among the vertices (``near``, ``far``). Slacks are doubled,
so that half of one between two even nodes is a whole number.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from numpy.typing import NDArray

from discreet.kernels.local_jit import compiled_lean

Array = NDArray[Any]

FREE, EVEN, ODD = -1, 0, 1
NODES, HEAD, TAIL, _STAMP = 0, 1, 2, 3


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
def slack_of(forest: Forest, a: int, b: int) -> int:
    """Twice the slack of the edge that nodes ``a`` and ``b`` keep."""
    u, v = forest.near[a, b], forest.far[a, b]
    slack: int = forest.dual[u] + forest.dual[v] - 2 * forest.weight[u, v]
    return slack


@compiled_lean
def offer(forest: Forest, u: int, x: int) -> None:
    """Let the edge from vertex ``u`` be the tightest that reaches node ``x``, if it is."""
    if forest.tight[x] == 0 or slack_of(forest, u, x) < slack_of(forest, forest.tight[x], x):
        forest.tight[x] = u


@compiled_lean
def _find_tight(forest: Forest, x: int) -> None:
    """Find the tightest edge from an even vertex to node ``x``."""
    forest.tight[x] = 0
    for u in range(1, forest.weight.shape[0]):
        if forest.near[u, x] > 0 and forest.top[u] != x and forest.label[forest.top[u]] == EVEN:
            offer(forest, u, x)


@compiled_lean
def enqueue(forest: Forest, x: int) -> None:
    """Put the vertices of node ``x`` into the queue."""
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
    # Turning both pieces round and then the whole puts the second first, in place.
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
            # Nodes of the ring up to the child are matched in pairs: 0 with 1, 2 with 3, …
            forest.pairs[depth, 0], forest.pairs[depth, 1] = forest.ring[u, i], forest.ring[u, i ^ 1]
            depth += 1
        forest.pairs[depth, 0], forest.pairs[depth, 1] = child, v
        depth += 1
        _rotate(forest, u, place)


@compiled_lean
def augment(forest: Forest, u: int, v: int) -> None:
    """Flip the alternating path from the edge ``u``-``v`` to the root of ``u``."""
    while True:
        before = forest.top[forest.mate[u]]
        _match(forest, u, v)
        if before == 0:
            return
        _match(forest, before, forest.top[forest.parent[before]])
        u, v = forest.top[forest.parent[before]], before


@compiled_lean
def meeting(forest: Forest, u: int, v: int) -> int:
    """The node where the paths of ``u`` and ``v`` to their roots meet; 0 where they do not."""
    # A new number, so that no stamp of an earlier walk need be cleared.
    forest.marks[_STAMP] += 1
    while u > 0 or v > 0:
        if u > 0:
            if forest.stamp[u] == forest.marks[_STAMP]:
                return u
            forest.stamp[u] = forest.marks[_STAMP]
            u = forest.top[forest.mate[u]]
            if u > 0:
                u = forest.top[forest.parent[u]]
        # In turn, so that the cost is that of the shorter cycle and not of the longer path.
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
        enqueue(forest, y)
        x = forest.top[forest.parent[y]]


@compiled_lean
def shrink(forest: Forest, u: int, base: int, v: int) -> None:
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
    # That side was walked against the cycle's sense; turned round, the ring goes once along it.
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


@compiled_lean
def expand(forest: Forest, b: int) -> None:
    """Open an odd blossom whose dual is used up."""
    for i in range(forest.ring_size[b]):
        _set_top(forest, forest.ring[b, i], forest.ring[b, i])
    entered = forest.holder[b, forest.near[b, forest.parent[b]]]
    place = _even_place(forest, b, entered)
    for i in range(place // 2):
        odd, even = forest.ring[b, 2 * i], forest.ring[b, 2 * i + 1]
        forest.parent[odd] = forest.near[even, odd]
        forest.label[odd] = ODD
        forest.label[even] = EVEN
        forest.tight[odd] = 0
        _find_tight(forest, even)
        enqueue(forest, even)
    forest.label[entered] = ODD
    forest.parent[entered] = forest.parent[b]
    for i in range(place + 1, forest.ring_size[b]):
        forest.label[forest.ring[b, i]] = FREE
        _find_tight(forest, forest.ring[b, i])
    forest.top[b] = 0
