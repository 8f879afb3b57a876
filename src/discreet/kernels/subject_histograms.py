"""Suppression histograms of every node with counted subjects, by compiled kernels.

A depth-first descent through the levels numbers each row type's class; subjects and values are counted class
by class at the last attribute. Distinct values are a maximum bipartite matching of values and subjects by
augmenting paths. Twin: ``lattice_rotation_twin``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.kernels.histograms import Histograms, NodeCollector, NodeGroups, PairSet, ScoreFunction
from discreet.kernels.lattice_rotation_plan import RotationPlan, extract_field
from discreet.kernels.numba_jit import compiled

Array = NDArray[Any]


@compiled
def number_merged_classes(classes: Array, ordinals: Array, size: int, result: Array) -> int:
    """Number pairs of class and ordinal (below ``size``) densely, in ``result``; return their number.

    Numbers are in order of first occurrence. Uses a hash table with open addressing, at most half full.
    """
    slots = 16
    while slots < 2 * len(classes):
        slots *= 2
    mask = np.uint64(slots - 1)
    keys = np.full(slots, -1, np.int64)
    numbers = np.empty(slots, np.int64)
    number = 0
    for i in range(len(classes)):
        key = classes[i] * size + ordinals[i]
        slot = (np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(20) & mask
        while keys[slot] != -1 and keys[slot] != key:
            slot = (slot + np.uint64(1)) & mask
        if keys[slot] == -1:
            keys[slot] = key
            numbers[slot] = number
            number += 1
        result[i] = numbers[slot]
    return number


@compiled
def group_entries(class_of: Array, owners: Array, classes: int) -> tuple[Array, Array]:
    """Sort the entries by class; return the order and each class's start.

    ``owners`` are the entries' row types.
    """
    starts = np.zeros(classes + 1, np.int64)
    for owner in owners:
        starts[class_of[owner] + 1] += 1
    for c in range(classes):
        starts[c + 1] += starts[c]
    ends = starts[:-1].copy()
    order = np.empty(len(owners), np.int64)
    for i in range(len(owners)):
        c = class_of[owners[i]]
        order[ends[c]] = i
        ends[c] += 1
    return order, starts


@compiled
def count_distinct_codes(order: Array, starts: Array, codes: Array, size: int) -> Array:
    """Count the distinct codes (below ``size``) of each class."""
    seen = np.full(size, -1, np.int64)
    result = np.zeros(len(starts) - 1, np.int64)
    for c in range(len(result)):
        for i in range(starts[c], starts[c + 1]):
            code = codes[order[i]]
            if seen[code] != c:
                seen[code] = c
                result[c] += 1
    return result


@compiled
def count_carried_values(
    order: Array, starts: Array, codes: Array, subjects: Array, size: int, named: int
) -> Array:
    """Count for each class the most values that the same number of different subjects carry.

    Codes are below ``size``, subjects below ``named``. Only classes in which a subject has several values
    need a matching; else the number of distinct values is the result.
    """
    slot = np.full(size, -1, np.int64)  # a code's number in the class, if ``marked``
    marked = np.full(size, -1, np.int64)
    only = np.empty(named, np.int64)  # a subject's first value in the class
    seen_in = np.full(named, -1, np.int64)
    holder = np.empty(named, np.int64)
    visited = np.full(named, -1, np.int64)
    result = np.zeros(len(starts) - 1, np.int64)
    stamp = 0
    for c in range(len(result)):
        values, people, several = 0, 0, False
        for i in range(starts[c], starts[c + 1]):
            code, subject = codes[order[i]], subjects[order[i]]
            if marked[code] != c:
                marked[code] = c
                slot[code] = values
                values += 1
            if seen_in[subject] != c:
                seen_in[subject] = c
                only[subject] = code
                holder[subject] = -1
                people += 1
            elif only[subject] != code:
                several = True
        if not several:
            result[c] = values
            continue
        part = order[starts[c] : starts[c + 1]]
        carriers, ends = _carriers(part, codes, subjects, slot, values)
        result[c], stamp = _match_values(carriers, ends, holder, visited, stamp, min(values, people))
    return result


@compiled
def _carriers(part: Array, codes: Array, subjects: Array, slot: Array, values: int) -> tuple[Array, Array]:
    """Return the subjects of each value of a class, value by value, and the bounds of each value."""
    ends = np.zeros(values + 1, np.int64)
    for entry in part:
        ends[slot[codes[entry]] + 1] += 1
    for v in range(values):
        ends[v + 1] += ends[v]
    next_free = ends[:-1].copy()
    carriers = np.empty(len(part), np.int64)
    for entry in part:
        v = slot[codes[entry]]
        carriers[next_free[v]] = subjects[entry]
        next_free[v] += 1
    return carriers, ends


@compiled
def _match_values(
    carriers: Array, ends: Array, holder: Array, visited: Array, stamp: int, most: int
) -> tuple[int, int]:
    """Match values with subjects, at most ``most``; return the number of matches and the next stamp.

    Depth-first search of augmenting paths with an explicit stack. Stamps replace clearing ``visited``.
    """
    values = len(ends) - 1
    at = np.empty(values, np.int64)  # the next carrier to try for a value on the path
    path = np.empty(values, np.int64)
    matched = 0
    for start in range(values):
        path[0], at[start], depth = start, ends[start], 0
        while depth >= 0:
            value = path[depth]
            if at[value] == ends[value + 1]:
                depth -= 1
                continue
            subject = carriers[at[value]]
            at[value] += 1
            if visited[subject] == stamp:
                continue
            visited[subject] = stamp
            other = holder[subject]
            if other < 0:
                for i in range(depth + 1):
                    holder[carriers[at[path[i]] - 1]] = path[i]
                matched += 1
                stamp += 1
                break
            depth += 1
            path[depth], at[other] = other, ends[other]
        if matched == most:
            break
    return matched, stamp + 1


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
            classes = int(number_merged_classes(class_of, ordinals, plan.sizes[depth][level], found))
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
        order, starts = group_entries(class_of, self.subjects.group, classes)
        sizes = count_distinct_codes(order, starts, self.subjects.codes, max(self.subjects.size, 1))
        distinct = tuple(self._distinct(sets, class_of, classes) for sets in self.sensitive)
        self.collector.take(node, NodeGroups(sizes, distinct, self.sensitive), rows)

    def _distinct(self, sets: PairSet, class_of: Array, classes: int) -> Array:
        assert sets.subjects is not None
        order, starts = group_entries(class_of, sets.group, classes)
        named = int(sets.subjects.max(initial=0)) + 1
        return count_carried_values(order, starts, sets.codes, sets.subjects, max(sets.size, 1), named)


def evaluate_by_subject(
    plan: RotationPlan,
    sensitive: tuple[PairSet, ...],
    subjects: PairSet,
    *,
    further: tuple[ScoreFunction, ...] = (),
    progress: Callable[[int], None] | None = None,
    room: Callable[[int], None] | None = None,
) -> Histograms:
    """Compute the histograms of all nodes, as ``lattice_rotation_twin.evaluate_twin`` does.

    A further score reads only sizes and distinct values: no cells, no population, no rows by value.
    """
    collector = NodeCollector(plan, len(sensitive), True, further, room)
    walk = _Descent(plan, subjects, sensitive, collector, progress)
    walk.descend(np.zeros(len(plan.source), np.int64), 0, 0)
    return collector.histograms()
