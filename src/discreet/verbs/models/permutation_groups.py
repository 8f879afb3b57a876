"""Choice of the groups of a permuted release, once its rows are staged.

Loaded on demand: it imports 45 modules of ``permutation`` and ``release``.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.model.class_recoding import SUPPRESSED, ClassRecoding
from discreet.model.frequency_set import FrequencySet
from discreet.model.release_kind import GroupRequirement
from discreet.permutation.heuristic_partitions import (
    find_row_types,
    leaf_coordinates,
    row_classes_at_node,
    row_classes_of_recoding,
)
from discreet.permutation.partition_strategies import PartitionStrategy
from discreet.permutation.partitions import partition_rows
from discreet.permutation.sensitive_column import select_rows
from discreet.release.permutation_staging import ChosenGroups, StagedRows
from discreet.release.permuted_publication import PermutedPlan
from discreet.verbs.run_context import Reporter


@dataclass(frozen=True, eq=False)
class GroupSelection:
    """Selection of the groups of a permuted release.

    ``first`` is the requirement of the group with the smallest value; ``near`` are the indexes of the
    quasi-identifiers to cut along; ``recoding`` has the classes that become groups, None for the classes of
    the published levels.
    """

    counted: FrequencySet
    plan: PermutedPlan
    strategy: PartitionStrategy
    first: GroupRequirement | None
    merge_failing: bool
    cut_along: list[int]
    recoding: ClassRecoding | None
    reporter: Reporter

    def choose(self, staged: StagedRows) -> ChosenGroups:
        """Partition the staged rows into groups."""
        column, rows, classes, codes = staged.sensitive, None, None, None
        if self.strategy is PartitionStrategy.RECODING:
            classes = self._classes(staged)
            if (classes == SUPPRESSED).any():
                rows = np.flatnonzero(classes != SUPPRESSED)
                column, classes = select_rows(column, rows), classes[rows]
        elif self.strategy is PartitionStrategy.QI_AWARE:
            codes = leaf_coordinates(staged.hierarchies, staged.codes())[:, self.cut_along]
        found = partition_rows(
            column,
            self.plan.requirement,
            self.strategy,
            first=self.first,
            quasi_identifiers=codes,
            classes=classes,
            merge_failing=self.merge_failing,
            notice=self.reporter.notice,
        )
        return ChosenGroups(found, rows)

    def _classes(self, staged: StagedRows) -> NDArray[np.int64]:
        """Return the class of each row: of the recoding, or of the published levels."""
        codes = staged.codes()
        if self.recoding is None:
            return row_classes_at_node(staged.hierarchies, self.plan.node, codes)
        return row_classes_of_recoding(self.recoding, find_row_types(self.counted, codes))
