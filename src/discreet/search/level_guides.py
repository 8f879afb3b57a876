"""Which attribute to generalize first: guides for searches of lattices too large to look at every node.

A guide gives every step from one level to the next a score; steps of small score are taken first on the way
up, and taken back last on the way down.

* ``loss``: how much of the attribute's domain the step gives up;
* ``bits``: the bits of identity that the step takes away (the entropy of the attribute at the level below
  minus the level's own), negative: the most first;
* ``loss per bit``: the first divided by the second;
* ``lambda``: the negative gain in Λ = Σ log2(γ) · μ of Pilalidou and Vassiliadis: the steps that make the
  largest groups first. It needs each level's number of groups, so one count per level.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise

import numpy as np

from discreet.measures.cell_sums import domain_sums, rows_by_code
from discreet.measures.grouping import ImportanceMetric, grouping_power_of_levels, level_importance
from discreet.model.frequency_set import FrequencySet
from discreet.model.lattice import Lattice, LatticeNode

Guide = tuple[tuple[float, ...], ...]
"""``guide[i][level]``: the score of attribute i's step from that level to the next."""


def loss_guide(table: FrequencySet) -> Guide:
    """The share of the domain that each step gives up."""
    rows = max(table.rows, 1)
    return tuple(
        tuple((up.total - down.total) / (rows * max(len(h.leaves) - 1, 1)) for down, up in pairwise(sums))
        for h, sums in zip(table.hierarchies, domain_sums(table), strict=True)
    )


def bits_guide(table: FrequencySet) -> Guide:
    """The bits of identity that each step takes away, negative: the largest first."""
    guide = []
    for i, hierarchy in enumerate(table.hierarchies):
        rows = rows_by_code(table, i)
        entropies = []
        for level in range(hierarchy.height + 1):
            groups = np.bincount(hierarchy.level_map(level), weights=rows)
            share = groups[groups > 0] / max(rows.sum(), 1)
            entropies.append(float(-(share * np.log2(share)).sum()))
        guide.append(tuple(up - down for down, up in pairwise(entropies)))
    return tuple(guide)


def loss_per_bit_guide(table: FrequencySet) -> Guide:
    """The share of the domain given up for each bit of identity taken away."""
    return tuple(
        tuple(loss / max(-bits, 1e-9) for loss, bits in zip(losses, gains, strict=True))
        for losses, gains in zip(loss_guide(table), bits_guide(table), strict=True)
    )


def lambda_guide(lattice: Lattice, rows: int, groups: Callable[[LatticeNode], int]) -> Guide:
    """The negative gain in Λ; ``groups`` counts a node's classes and is asked once per level."""
    bottom = lattice.bottom
    counted = []
    ground = groups(bottom)
    for i, height in enumerate(lattice.heights):
        levels = [(*bottom[:i], level, *bottom[i + 1 :]) for level in range(1, height + 1)]
        counted.append([ground, *(groups(node) for node in levels)])
    scores = level_importance(
        lattice, grouping_power_of_levels(lattice, rows, counted), ImportanceMetric.LAMBDA
    )
    return tuple(tuple(float(down - up) for down, up in pairwise(part)) for part in scores)


def chain(guide: Guide, low: LatticeNode, high: LatticeNode) -> list[LatticeNode]:
    """The nodes from ``low`` to ``high``, each one step above the last, small scores first."""
    nodes = [low]
    node = list(low)
    while tuple(node) != high:
        free = [i for i, level in enumerate(node) if level < high[i]]
        chosen = min(free, key=lambda i: (guide[i][node[i]], i))
        node[chosen] += 1
        nodes.append(tuple(node))
    return nodes


def steps_down(guide: Guide, node: LatticeNode, low: LatticeNode) -> Iterator[int]:
    """The attributes that may go one level down, the largest score first."""
    free = [i for i, level in enumerate(node) if level > low[i]]
    return iter(sorted(free, key=lambda i: (-guide[i][node[i] - 1], i)))
