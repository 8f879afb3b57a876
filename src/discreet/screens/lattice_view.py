"""The nodes of a lattice in display order: by height, within a height by their number of classes.

The order does not depend on a requirement: a node keeps its position while k, l and the limits change; only
its suppressed rows change, which are looked up for all nodes at once. A partial lattice shows the prepared
nodes and those counted since, ordered by the product of their numbers of values.

Cost: one sort of the nodes; then one look-up and one gather per requirement.
"""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from discreet.measures.loss import LossTables
from discreet.measures.named_costs import NamedCost
from discreet.model.hierarchy import GeneralizationHierarchy
from discreet.model.lattice import LatticeNode
from discreet.model.requirement import Requirement
from discreet.negotiation.frontier import compute_frontier
from discreet.results.table_lattice import TableLattice
from discreet.results.table_partial_lattice import TablePartialLattice

_DECIMALS = 12


@dataclass(frozen=True, eq=False)
class LatticeView:
    """The nodes in display order; a node's position is its index here.

    ``levels`` has shape ``(nodes, quasi-identifiers)``, ``losses`` shape ``(nodes,)``: the loss of each node
    without suppressed rows. The nodes of height h have the positions ``starts[h]`` to ``starts[h + 1]``, end
    excluded.
    """

    source: TableLattice | TablePartialLattice
    levels: NDArray[np.int64]
    losses: NDArray[np.float64]
    starts: tuple[int, ...]
    order: NDArray[np.int64]

    @classmethod
    def of(cls, source: TableLattice | TablePartialLattice) -> LatticeView:
        """Build the view of a lattice; for a partial lattice, of its currently available nodes."""
        class_counts: NDArray[np.int64] | NDArray[np.float64]
        if isinstance(source, TableLattice):
            levels = source.lattice.all_levels()
            losses = source.loss_tables.losses
            class_counts = source.evaluated.classes()
        else:
            levels = np.array(source.partial.available_nodes(), dtype=np.int64).reshape(
                -1, len(source.lattice.heights)
            )
            losses = _losses_at(source.loss_tables, levels)
            class_counts = _log_values_at(source.frequency_set.hierarchies, levels)
        heights = levels.sum(axis=1)
        order = np.lexsort((np.arange(len(levels)), np.round(losses, _DECIMALS), class_counts, heights))
        widths = np.bincount(heights, minlength=sum(source.lattice.heights) + 1)
        starts = (0, *np.cumsum(widths).tolist())
        return cls(source, levels[order], losses[order], starts, order)

    @property
    def nodes(self) -> int:
        """The number of nodes shown."""
        return len(self.losses)

    @property
    def is_partial(self) -> bool:
        """True if the lattice may have more nodes than are shown."""
        return isinstance(self.source, TablePartialLattice)

    @property
    def is_current(self) -> bool:
        """True unless a partial lattice has counted more nodes since the view was built."""
        source = self.source
        return isinstance(source, TableLattice) or len(source.partial.available_nodes()) == self.nodes

    def suppression(self, requirement: Requirement) -> NDArray[np.int64]:
        """Return the suppressed rows of every node by position, shape ``(nodes,)``.

        -1 for a node of a partial lattice whose count is not known.
        """
        if isinstance(self.source, TableLattice):
            return self.source.evaluated.suppression(requirement)[self.order]
        known, rows = self.source.partial.known(requirement)
        found = dict(zip(map(tuple, known.tolist()), rows.tolist(), strict=True))
        return np.array([found.get(tuple(node), -1) for node in self.levels.tolist()], dtype=np.int64)

    def position(self, node: LatticeNode) -> int | None:
        """Return a node's position; None if a partial lattice has not counted it."""
        if isinstance(self.source, TableLattice):
            return int(self._positions[self.source.lattice.index(node)])
        return self._position_of_node.get(node)

    def frontier(self, requirement: Requirement) -> list[int]:
        """Return the positions, ascending, of the nodes not dominated in height, loss and suppressed rows."""
        if isinstance(self.source, TableLattice):
            points = compute_frontier(self.source.evaluated, requirement, self.source.loss_tables)
            return sorted(int(self._positions[self.source.lattice.index(point.node)]) for point in points)
        return _nondominated(self.starts, np.round(self.losses, _DECIMALS), self.suppression(requirement))

    def frontier_of_cost(self, requirement: Requirement, cost: NamedCost) -> dict[int, float]:
        """Return the nodes not dominated in a cost and suppression, by ascending position, with costs."""
        if isinstance(self.source, TableLattice):
            suppressed = self.source.evaluated.suppression(requirement)
            levels, places = self.source.lattice.all_levels(), self._positions
        else:
            suppressed = self.suppression(requirement)
            places = np.flatnonzero(suppressed >= 0)
            levels, suppressed = self.levels[places], suppressed[places]
        found = self.source.frontier_of_cost(requirement, cost, levels, suppressed)
        return dict(sorted((int(places[position]), value) for position, value in found.items()))

    @cached_property
    def _positions(self) -> NDArray[np.int64]:
        places = np.empty(len(self.order), dtype=np.int64)
        places[self.order] = np.arange(len(self.order))
        return places

    @cached_property
    def _position_of_node(self) -> dict[LatticeNode, int]:
        return {tuple(node): position for position, node in enumerate(self.levels.tolist())}


def _log_values_at(
    hierarchies: Sequence[GeneralizationHierarchy], levels: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Return the logarithm of the product of the numbers of values of each node's levels."""
    found = np.zeros(len(levels))
    for i, hierarchy in enumerate(hierarchies):
        found += np.log([max(1, len(labels)) for labels in hierarchy.labels])[levels[:, i]]
    return np.round(found, _DECIMALS)


def _losses_at(tables: LossTables, levels: NDArray[np.int64]) -> NDArray[np.float64]:
    factors = np.ones(len(levels))
    for i, table in enumerate(tables.tables):
        factors *= 1.0 + table[levels[:, i]]
    return factors ** (1.0 / max(len(tables.tables), 1)) - 1.0


def _nondominated(
    starts: tuple[int, ...], losses: NDArray[np.float64], suppressed: NDArray[np.int64]
) -> list[int]:
    """Return the positions of the nondominated nodes of a partial lattice.

    Nodes are read by ascending height and compared with the best suppression so far at each loss.
    """
    best: list[tuple[float, int]] = []
    found: list[int] = []
    for start, end in pairwise(starts):
        part = sorted(range(start, end), key=lambda position: (losses[position], suppressed[position]))
        retained: list[int] = []
        for position in part:
            key = (float(losses[position]), int(suppressed[position]))
            lower = best[: bisect_right(best, (key[0], key[1]))]
            beaten = any(rows <= key[1] for _, rows in lower)
            same = [(float(losses[other]), int(suppressed[other])) for other in retained]
            if not beaten and all(rows > key[1] or (loss, rows) == key for loss, rows in same):
                retained.append(position)
        for position in retained:
            insort(best, (float(losses[position]), int(suppressed[position])))
        found += retained
    return sorted(found)
