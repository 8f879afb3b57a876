"""Where the groups of a permuted release come from, once its rows are held."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.model.class_recoding import SUPPRESSED, ClassRecoding
from discreet.model.frequency_set import FrequencySet
from discreet.model.permutation import GroupRequirement
from discreet.permutation.near_groups import coordinates_of
from discreet.permutation.partitions import PartitionStrategy, partition
from discreet.permutation.recoding_groups import classes_of_node, classes_of_recoding
from discreet.permutation.row_types import row_types_of_rows
from discreet.permutation.sensitive import some_rows
from discreet.release.held import Chosen, HeldRows
from discreet.release.permuted import PermutedPlan
from discreet.verbs.reporting import Reporter


@dataclass(frozen=True, eq=False)
class Groups:
    """How groups are found.

    ``first`` is what is asked of the group of the smallest value; ``near`` are the places of the
    quasi-identifiers that are cut along; ``recoding`` has the classes that are groups, None for those of the
    levels that are shown.
    """

    counted: FrequencySet
    plan: PermutedPlan
    strategy: PartitionStrategy
    first: GroupRequirement | None
    merge_failing: bool
    near: list[int]
    recoding: ClassRecoding | None
    reporter: Reporter

    def choose(self, held: HeldRows) -> Chosen:
        """The groups of held rows."""
        column, rows, classes, codes = held.sensitive, None, None, None
        if self.strategy is PartitionStrategy.RECODING:
            classes = self._classes(held)
            if (classes == SUPPRESSED).any():
                rows = np.flatnonzero(classes != SUPPRESSED)
                column, classes = some_rows(column, rows), classes[rows]
        elif self.strategy is PartitionStrategy.QI_AWARE:
            codes = coordinates_of(held.hierarchies, held.codes())[:, self.near]
        found = partition(
            column,
            self.plan.requirement,
            self.strategy,
            first=self.first,
            quasi_identifiers=codes,
            classes=classes,
            merge_failing=self.merge_failing,
            notice=self.reporter.notice,
        )
        return Chosen(found, rows)

    def _classes(self, held: HeldRows) -> NDArray[np.int64]:
        """The class of each row: of the recoding, or of the levels that quasi-identifiers are shown at."""
        codes = held.codes()
        if self.recoding is None:
            return classes_of_node(held.hierarchies, self.plan.node, codes)
        return classes_of_recoding(self.recoding, row_types_of_rows(self.counted, codes))
