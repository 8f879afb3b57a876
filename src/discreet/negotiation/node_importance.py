"""The most important nodes of a lattice of any size (importance of Pilalidou and Vassiliadis).

The importance of a node is a sum of one whole number per attribute, so nodes are enumerated in
descending order by best-first search over prefixes of levels, with the exact best completion of each
prefix from a small table. Ties within a height follow the paper's node order (decision 0004).

Cost: about n·(sum of all levels) heap entries for n nodes, whatever the size of the lattice.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from heapq import heappop, heappush
from itertools import islice

from discreet.errors import InputError
from discreet.measures.grouping_power import ImportanceMetric
from discreet.model.lattice import Lattice, LatticeNode
from discreet.model.request import SuppressionLimit

Importance = Sequence[Sequence[int]]
"""Each level's part of a node's importance: ``[i][level]``, attributes in the lattice's order."""

_IMPOSSIBLE = -(1 << 200)


def rank_nodes_of_height(importance: Importance, height: int) -> Iterator[LatticeNode]:
    """Yield every node of one height, the most important first."""
    parts = _in_tie_order(importance)
    yield from map(_in_lattice_order, _best_first(parts, _best_by_height(parts, height), height))


def select_most_important(lattice: Lattice, importance: Importance, percent: Fraction) -> list[LatticeNode]:
    """Return the most important ``percent`` of the nodes of each height, rounded up."""
    return [
        node
        for height, nodes in enumerate(count_nodes_by_height(lattice))
        for node in islice(rank_nodes_of_height(importance, height), count_of_percentage(percent, nodes))
    ]


def count_nodes_by_height(lattice: Lattice) -> list[int]:
    """Count the nodes of each height, from 0 up; exact for a lattice of any size."""
    counts = [1]
    for top in lattice.heights:
        longer = [0] * (len(counts) + top)
        for height, number in enumerate(counts):
            for level in range(top + 1):
                longer[height + level] += number
        counts = longer
    return counts


def parse_metric(name: str) -> ImportanceMetric:
    """Return the metric with a name; raise ``InputError`` for an unknown one."""
    if name not in tuple(ImportanceMetric):
        raise InputError(f"metric '{name}'", allowed=", ".join(ImportanceMetric))
    return ImportanceMetric(name)


def parse_percentage(percent: str | Fraction) -> Fraction:
    """Parse a percentage above 0 and at most 100 such as ``"5%"``; raise ``InputError`` for anything else."""
    result: Fraction | None = None
    if isinstance(percent, Fraction):
        result = percent
    elif percent.strip().endswith("%"):
        try:
            result = SuppressionLimit.parse(percent).percent
        except InputError:
            result = None
    if result is None or not 0 < result <= 100:
        raise InputError(
            f"percentage {percent} of a partial lattice",
            allowed="a percentage above 0% and up to 100%, such as 5%",
        )
    return result


def count_of_percentage(percent: Fraction, nodes: int) -> int:
    """Compute a percentage of a number of nodes, rounded up."""
    return -int(-percent * nodes // 100)


def _best_first(
    parts: Sequence[Sequence[int]], best: Sequence[Sequence[int]], height: int
) -> Iterator[LatticeNode]:
    """Yield the nodes of a height in the tie order's attribute order, the most important first.

    ``best[i][r]`` is the most that attributes i and later can add, where r is the height left for them.
    """
    heap: list[tuple[int, LatticeNode, int, int]] = [(-best[0][height], (), 0, height)]
    while heap:
        _, prefix, value, left = heappop(heap)
        i = len(prefix)
        if i == len(parts):
            yield prefix
            continue
        for level, part in enumerate(parts[i]):
            rest = left - level
            if rest < 0 or best[i + 1][rest] == _IMPOSSIBLE:
                continue
            reached = value + part
            heappush(heap, (-reached - best[i + 1][rest], (*prefix, level), reached, rest))


def _best_by_height(parts: Sequence[Sequence[int]], height: int) -> list[list[int]]:
    """Build the table ``best`` of ``_best_first`` for nodes of one height."""
    table = [[0] + [_IMPOSSIBLE] * height]
    for of_levels in reversed(parts):
        after = table[-1]
        table.append(
            [
                max(
                    (
                        part + after[left - level]
                        for level, part in enumerate(of_levels)
                        if level <= left and after[left - level] != _IMPOSSIBLE
                    ),
                    default=_IMPOSSIBLE,
                )
                for left in range(height + 1)
            ]
        )
    return table[::-1]


def _in_tie_order(importance: Importance) -> list[Sequence[int]]:
    return [*importance[-1:], *importance[:-1]]


def _in_lattice_order(levels: LatticeNode) -> LatticeNode:
    return (*levels[1:], *levels[:1])
