"""Suppression histograms of every node with counted subjects, by compiled kernels.

A depth-first descent through the levels numbers each row type's class; subjects and values are counted class
by class at the last attribute. Twin: ``rotation_twin``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.kernels import subject_counts as kernels
from discreet.kernels.histograms import (
    SMALL_LIMIT,
    Histograms,
    NodeCollector,
    NodeGroups,
    PairSet,
    ScoreFunction,
)
from discreet.kernels.rotation_plan import RotationPlan, extract_field

Array = NDArray[Any]


@dataclass(frozen=True, eq=False)
class _Descent:
    """Constant data of the descent: pair sets in the plan's order, and the collector of nodes."""

    plan: RotationPlan
    subjects: PairSet
    sensitive: tuple[PairSet, ...]
    collector: NodeCollector
    progress: Callable[[int], None] | None

    def descend(self, class_of: Array, depth: int, node: int) -> None:
        """Process the attributes from ``depth`` on, given the classes by the attributes before."""
        plan = self.plan
        ordinals = extract_field(plan, plan.keys, depth).astype(np.int64)
        last = depth == len(plan.order) - 1
        for level, step in enumerate(plan.steps[depth]):
            if level:
                ordinals = step.astype(np.int64)[ordinals]
            found = np.empty_like(class_of)
            classes = int(kernels.number_merged_classes(class_of, ordinals, plan.sizes[depth][level], found))
            here = node + level * plan.strides[depth]
            if last:
                self.count(here, found, classes)
            else:
                self.descend(found, depth + 1, here)
        if last and self.progress is not None:
            self.progress(len(plan.steps[depth]))

    def count(self, node: int, class_of: Array, classes: int) -> None:
        """Count one node's classes."""
        rows = np.bincount(class_of, self.plan.counts, minlength=classes).astype(np.int64)
        order, starts = kernels.group_entries(class_of, self.subjects.group, classes)
        sizes = kernels.count_distinct_codes(order, starts, self.subjects.codes, max(self.subjects.size, 1))
        distinct = tuple(self._distinct(sets, class_of, classes) for sets in self.sensitive)
        self.collector.take(node, NodeGroups(sizes, distinct, self.sensitive), rows)

    def _distinct(self, sets: PairSet, class_of: Array, classes: int) -> Array:
        assert sets.subjects is not None
        order, starts = kernels.group_entries(class_of, sets.group, classes)
        named = int(sets.subjects.max(initial=0)) + 1
        return kernels.count_carried_values(
            order, starts, sets.codes, sets.subjects, max(sets.size, 1), named
        )


def evaluate_by_subject(
    plan: RotationPlan,
    sensitive: tuple[PairSet, ...],
    subjects: PairSet,
    *,
    further: tuple[ScoreFunction, ...] = (),
    limit: int = SMALL_LIMIT,
    progress: Callable[[int], None] | None = None,
    room: Callable[[int], None] | None = None,
) -> Histograms:
    """Compute the histograms of all nodes; arguments and result are as in ``rotation_twin.evaluate_twin``.

    A further score reads only sizes and distinct values: no cells, no population, no rows by value.
    """
    collector = NodeCollector(plan, len(sensitive), True, further, limit, room)
    walk = _Descent(plan, subjects, sensitive, collector, progress)
    walk.descend(np.zeros(len(plan.source), np.int64), 0, 0)
    return collector.histograms()
