"""Evaluated lattice: queries for the suppressed rows of each node under any parameters of its criteria.

Results are cached per thresholds. Dense tables answer every k up to a limit (Pilalidou and Vassiliadis).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.kernels.histograms import Histograms, find_largest_among
from discreet.lattice.lattice_lookup import CellsLookup, NodeLookup, ReleaseLookup, RestLookup
from discreet.lattice.score_buckets import BucketedHistograms, LatestCache
from discreet.lattice.scores import resolve_relaxation
from discreet.model.criteria.base import Criterion, ScoreKey
from discreet.model.criteria.release_level import CellsCriterion
from discreet.model.criterion_inputs import SizeArray
from discreet.model.hierarchy import GeneralizationHierarchy
from discreet.model.lattice import Lattice, LatticeNode
from discreet.model.requirement import (
    Requirement,
    check_compatible,
    subject_count_error,
    uncounted_attributes_error,
)

_CACHED_REQUIREMENTS = 256
SplitRequirement = tuple[tuple[int | None, ...], tuple[Any, ...]]
"""Thresholds of classes, and the criteria that thresholds cannot express."""
_TABLE_BYTES = 64 * 10**6


@dataclass(frozen=True, eq=False)
class EvaluatedLattice:
    """Lattice with the suppression histogram of every node (Pilalidou and Vassiliadis).

    ``rows`` is the number of rows of the table after the NULL policy. ``scores`` names the parts of the
    histograms' signatures, in order; only criteria of these scores can be queried. Criteria of the whole
    release read class sizes, so they need sizes that count rows (``counts_rows``). Criteria of every
    sensitive attribute need all of them counted (``has_all_sensitive``). Without ``sensitive_attributes``, or
    if the lattice was evaluated for k only, no criterion of sensitive values can be queried.
    """

    lattice: Lattice
    hierarchies: tuple[GeneralizationHierarchy, ...]
    sensitive_attributes: tuple[str, ...]
    rows: int
    histograms: Histograms | BucketedHistograms
    scores: tuple[ScoreKey, ...]
    counts_rows: bool = True
    has_all_sensitive: bool = True
    cells: CellsLookup | None = None
    _cache: LatestCache[SplitRequirement, SizeArray] = field(
        default_factory=lambda: LatestCache(_CACHED_REQUIREMENTS), repr=False
    )
    _tables: LatestCache[tuple[int | None, ...], NDArray[Any]] = field(
        default_factory=lambda: LatestCache(_TABLE_BYTES, lambda table: table.nbytes), repr=False
    )

    def classes(self) -> NDArray[np.int64]:
        """Return the number of equivalence classes of each node, shape ``(nodes,)``, in mixed-radix order."""
        return self.histograms.classes

    def suppression(self, requirement: Requirement) -> NDArray[np.int64]:
        """Return the rows to suppress at each node, shape ``(nodes,)``, in mixed-radix order; read-only."""
        thresholds, criteria = self._split(requirement)
        found = self._cache.get((thresholds, criteria))
        if found is not None:
            return found
        # Counted outside the cache's lock: two threads may count the same thresholds, which costs time but
        # is harmless.
        lookup = self._lookup(criteria)
        result = lookup.suppression(thresholds, criteria) if criteria else self._counted(thresholds)
        # All callers share this array.
        result.setflags(write=False)
        self._cache.put((thresholds, criteria), result)
        return result

    def published_sums(self, requirement: Requirement) -> tuple[NDArray[np.int64], NDArray[np.int64]] | None:
        """Return the number of published classes of each node and the sum of their squared sizes.

        Both have shape ``(nodes,)``. None if the requirement has no criterion of the release; the histograms
        are sufficient then.
        """
        thresholds, criteria = self._split(requirement)
        if not criteria or criteria[0].judges_suppressed_rows:
            return None
        return self._of_release(criteria).published_sums(thresholds, criteria)

    def _counted(self, thresholds: tuple[int | None, ...]) -> NDArray[np.int64]:
        """Count suppressed rows by a dense table of the other thresholds (cached for all k) or a pass."""
        size, other = thresholds[0] or 1, thresholds[1:]
        if isinstance(self.histograms, BucketedHistograms):
            return self.histograms.below(thresholds)
        if size - 1 > self.histograms.limit or all(threshold is None for threshold in other):
            return self.histograms.below(thresholds)
        table = self._tables.get(other)
        if table is None:
            table = self.histograms.diverse(other)
            self._tables.put(other, table)
        return table[:, size - 1].astype(np.int64)

    def suppressed(self, node: LatticeNode, requirement: Requirement) -> int:
        """Return the rows to suppress at one node."""
        thresholds, criteria = self._split(requirement)
        index = self.lattice.index(node)
        if criteria:
            return self._lookup(criteria).suppressed(index, thresholds, criteria)
        return self.histograms.below_at(index, thresholds)

    def largest(self, node: LatticeNode, requirement: Requirement, name: str, limit: int) -> int | None:
        """Return the largest score to which a criterion can be relaxed for at most ``limit`` suppressed rows.

        All other criteria of the requirement stay in force. If the criterion of that name applies to several
        attributes, no attribute's threshold is raised above its own. None if no score is sufficient, or if
        the requirement has no such criterion.
        """
        index, (thresholds, criteria) = self.lattice.index(node), self._split(requirement)
        if any(criterion.name == name and criterion.of_release for criterion in criteria):
            return self._of_release(criteria).largest(index, thresholds, criteria, name, limit)
        how = resolve_relaxation(requirement.of_classes, name, self.scores, self.sensitive_attributes)
        if not how.parts:
            return None
        if criteria:
            return how.reached(self._lookup(criteria).largest_of_classes(index, how, criteria, limit))
        return how.reached(self.histograms.largest(index, how.thresholds, how.parts, limit))

    def largest_among(
        self, nodes: NDArray[np.int64], requirement: Requirement, name: str, limit: int
    ) -> int | None:
        """Return the largest score that any of ``nodes`` (mixed-radix indices) reaches; see ``largest``.

        Nodes that cannot exceed the best score so far are dropped together, so that few nodes are inspected.
        """
        thresholds, criteria = self._split(requirement)
        if any(criterion.name == name and criterion.of_release for criterion in criteria):
            return self._of_release(criteria).largest_among(nodes, thresholds, criteria, name, limit)
        how = resolve_relaxation(requirement.of_classes, name, self.scores, self.sensitive_attributes)
        if not how.parts:
            return None
        if criteria:
            lookup = self._lookup(criteria)
            found = find_largest_among(
                nodes,
                limit,
                lambda score: lookup.class_suppression(how.thresholds_for(score)),
                lambda node: lookup.largest_of_classes(node, how, criteria, limit),
                exact=False,
            )
            return how.reached(found)
        return how.reached(self.histograms.largest_among(nodes, how.thresholds, how.parts, limit))

    def histogram(self, node: LatticeNode) -> dict[tuple[int, ...], int]:
        """Return a node's rows per signature (class size, distinct values per attribute, further scores)."""
        return self.histograms.of(self.lattice.index(node))

    def _split(self, requirement: Requirement) -> SplitRequirement:
        """Split a requirement into thresholds of classes and criteria that the thresholds cannot express.

        Raises ``InputError`` for incompatible criteria, for criteria of the release if subjects are counted,
        and for criteria of every attribute if some attributes were not counted.
        """
        check_compatible(requirement.criteria)
        of_cells = requirement.of_cells
        criteria: tuple[Criterion, ...] = requirement.of_release if of_cells is None else (of_cells,)
        if not criteria:
            return (
                requirement.thresholds(self.scores, self.sensitive_attributes),
                tuple(criterion for criterion in requirement.criteria if criterion.judges_suppressed_rows),
            )
        if criteria and not self.counts_rows:
            raise subject_count_error(criteria[0])
        if of_cells is not None and of_cells.of_every_attribute and not self.has_all_sensitive:
            raise uncounted_attributes_error(of_cells)
        requirement.bound(self.sensitive_attributes)
        return requirement.of_classes.thresholds(self.scores, self.sensitive_attributes), criteria

    def _lookup(self, criteria: Sequence[Criterion]) -> NodeLookup:
        return self._rest if criteria and criteria[0].judges_suppressed_rows else self._of_release(criteria)

    def _of_release(self, criteria: Sequence[Criterion]) -> CellsLookup | ReleaseLookup:
        """Return the lookup of release criteria: of cells if one criterion is of cells, else of sizes."""
        if self.cells is not None and any(isinstance(one, CellsCriterion) for one in criteria):
            return self.cells
        return self._release

    @cached_property
    def _release(self) -> ReleaseLookup:
        return ReleaseLookup(self.histograms, self.rows)

    @cached_property
    def _rest(self) -> RestLookup:
        assert isinstance(self.histograms, Histograms)  # the numpy twin counts populations
        return RestLookup(self.histograms, self.rows, self.scores)
