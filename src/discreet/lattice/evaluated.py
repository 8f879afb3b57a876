"""The evaluated lattice: the suppression of every node, for every parameter of some criteria, by look-up."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.kernels.histograms import Histograms
from discreet.lattice.scores import relaxing
from discreet.model.criteria.base import Score
from discreet.model.hierarchy import GeneralizationHierarchy
from discreet.model.lattice import Lattice, LatticeNode
from discreet.model.requirement import Requirement

_CACHED_REQUIREMENTS = 256
_TABLE_BYTES = 64 * 10**6


@dataclass(frozen=True, eq=False)
class EvaluatedLattice:
    """Every node of a lattice with its suppression histogram (Pilalidou and Vassiliadis).

    ``rows`` are the table's rows after the NULL policy. ``scores`` are those of the histograms' signatures,
    part by part: what can be asked, and nothing else. Without ``sensitive_attributes`` (or evaluated for k
    alone) nothing of sensitive values can be.
    """

    lattice: Lattice
    hierarchies: tuple[GeneralizationHierarchy, ...]
    sensitive_attributes: tuple[str, ...]
    rows: int
    histograms: Histograms
    scores: tuple[Score, ...]
    _cache: OrderedDict[tuple[int | None, ...], NDArray[np.int64]] = field(
        default_factory=OrderedDict, repr=False
    )
    _tables: OrderedDict[tuple[int | None, ...], NDArray[Any]] = field(
        default_factory=OrderedDict, repr=False
    )
    _lock: Lock = field(default_factory=Lock, repr=False)

    def classes(self) -> NDArray[np.int64]:
        """The number of equivalence classes of each node, shape ``(nodes,)``, mixed-radix order."""
        return self.histograms.classes

    def suppression(self, requirement: Requirement) -> NDArray[np.int64]:
        """Rows to suppress at each node, shape ``(nodes,)``, mixed-radix order; read-only."""
        thresholds = self._thresholds(requirement)
        with self._lock:
            found = self._cache.get(thresholds)
            if found is not None:
                self._cache.move_to_end(thresholds)
                return found
        # Outside the lock: two threads may count the same, which costs time and harms nothing.
        result = self._counted(thresholds)
        # Everybody who asks gets this very array.
        result.setflags(write=False)
        with self._lock:
            self._cache[thresholds] = result
            while len(self._cache) > _CACHED_REQUIREMENTS:
                self._cache.popitem(last=False)
        return result

    def _counted(self, thresholds: tuple[int | None, ...]) -> NDArray[np.int64]:
        """By the dense table of the thresholds beside size, made once for every k in it; else by a pass."""
        size, other = thresholds[0] or 1, thresholds[1:]
        if size - 1 > self.histograms.limit or all(threshold is None for threshold in other):
            return self.histograms.below(thresholds)
        with self._lock:
            table = self._tables.get(other)
        if table is None:
            table = self.histograms.diverse(other)
            with self._lock:
                self._tables[other] = table
                while len(self._tables) > 1 and len(self._tables) * table.nbytes > _TABLE_BYTES:
                    self._tables.popitem(last=False)
        return table[:, size - 1].astype(np.int64)

    def suppressed(self, node: LatticeNode, requirement: Requirement) -> int:
        """Rows to suppress at one node."""
        return self.histograms.below_at(self.lattice.index(node), self._thresholds(requirement))

    def largest(self, node: LatticeNode, requirement: Requirement, name: str, limit: int) -> int | None:
        """The largest score to which a criterion can be relaxed for at most ``limit`` suppressed rows.

        All else that the requirement asks is kept, and where the criterion of that name asks several
        attributes, none is taken above its own threshold. None where no score will do, or none is asked.
        """
        thresholds, parts = relaxing(requirement, name, self.scores, self.sensitive_attributes)
        return self.histograms.largest(self.lattice.index(node), thresholds, parts, limit) if parts else None

    def largest_among(
        self, nodes: NDArray[np.int64], requirement: Requirement, name: str, limit: int
    ) -> int | None:
        """The largest that any of these nodes (indices in mixed-radix order) reaches: see ``largest``.

        Nodes that cannot exceed what one of them reaches are left out together, so that few are looked into.
        """
        thresholds, parts = relaxing(requirement, name, self.scores, self.sensitive_attributes)
        return self.histograms.largest_among(nodes, thresholds, parts, limit) if parts else None

    def histogram(self, node: LatticeNode) -> dict[tuple[int, ...], int]:
        """Rows by signature (class size, distinct values per attribute, further scores) at one node."""
        return self.histograms.of(self.lattice.index(node))

    def _thresholds(self, requirement: Requirement) -> tuple[int | None, ...]:
        return requirement.thresholds(self.scores, self.sensitive_attributes)
