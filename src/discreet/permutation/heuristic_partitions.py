"""Partitions without a global optimum: random, finest, quasi-identifier-aware, and equivalence classes.

Random groups close along a random order (Zhang et al. 2007, section 7.2). The finest partition of values
without distance has the most groups of k distinct values. The aware partition starts from the least sum,
moves rows of a shared value to the nearer group, and divides groups along quasi-identifiers as long as
both parts meet (k,e); no row's error grows. Groups may also be the classes of a recoding; failing
classes are refused or merged.

Cost: sorts of the rows; the aware partition about n·d·h for a group of n rows, d attributes and h
divisions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError, InternalError, RequirementNotMet
from discreet.model.class_recoding import SUPPRESSED, ClassRecoding
from discreet.model.frequency_set import FrequencySet
from discreet.model.hierarchy import GeneralizationHierarchy, order_leaves
from discreet.model.lattice import LatticeNode
from discreet.model.release_kind import GroupRequirement
from discreet.permutation.optimal_partitions import GroupNeed, PartitionLoops
from discreet.permutation.row_positions import DrawOrder, RowIntegers, draw_order, integer_dtype
from discreet.permutation.subject_groups import count_group_facts
from discreet.permutation.value_runs import (
    ValueParts,
    ValueRuns,
    assign_rows_to_groups,
    spread_ungrouped_rows,
)

RANDOM_LOOPS = ("close-groups",)


def partition_randomly(
    runs: ValueRuns, need: GroupNeed, loops: PartitionLoops, draw: DrawOrder
) -> RowIntegers:
    """Close groups along a drawn order of the rows, and return the group of each row."""
    valued = np.flatnonzero(runs.codes >= 0)
    order = valued[draw(len(valued))]
    found = loops.filled(len(order))
    units = runs.array if loops.compiled and runs.array is not None else runs.integers
    count = loops.run(
        "close-groups",
        *(loops.numbers(runs.codes[order]), loops.numbers(units), need.k, need.e),
        *(loops.filled(runs.distinct, -1), found),
    )
    if not count:
        raise InternalError("no group was closed although the whole column is a group")
    groups = np.full(len(runs.codes), -1, dtype=integer_dtype(len(runs.codes) + 1))
    groups[order] = found
    return spread_ungrouped_rows(groups, draw)


def partition_finest(runs: ValueRuns, k: int, draw: DrawOrder) -> RowIntegers:
    """Make as many groups of ``k`` distinct values as possible, and return the group of each row."""
    count = most_finest_groups(runs.counts, k)
    valued = np.flatnonzero(runs.codes >= 0)
    order = valued[draw(len(valued))]
    by_frequency = np.argsort(-runs.counts, kind="stable")
    rank = np.empty(runs.distinct, dtype=np.int64)
    rank[by_frequency] = np.arange(runs.distinct)
    order = order[np.argsort(rank[runs.codes[order]], kind="stable")]
    groups = np.full(len(runs.codes), -1, dtype=integer_dtype(len(runs.codes) + 1))
    groups[order] = np.arange(len(order)) % count
    return spread_ungrouped_rows(groups, draw)


def most_finest_groups(counts: RowIntegers, k: int) -> int:
    """Compute the maximal number of groups of ``k`` distinct values from the rows of each value."""
    low, high = 0, int(counts.sum()) // k
    while low < high:
        middle = (low + high + 1) // 2
        if int(np.minimum(counts, middle).sum()) >= k * middle:
            low = middle
        else:
            high = middle - 1
    return low


RowIndexes = NDArray[np.int64]
Coordinates = NDArray[np.float64]


def leaf_coordinates(
    hierarchies: Sequence[GeneralizationHierarchy], codes: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return each row's positions in the leaf order: numbers by value, others as published, NULL last.

    ``codes``, shape ``(rows, attributes)``, are leaf codes.
    """
    coordinates = np.empty(codes.shape, dtype=np.int64)
    for attribute, hierarchy in enumerate(hierarchies):
        coordinates[:, attribute] = order_leaves(hierarchy).rank[codes[:, attribute]]
    return coordinates


def partition_along_quasi_identifiers(
    runs: ValueRuns, need: GroupNeed, parts: ValueParts, quasi_identifiers: NDArray[np.int64], draw: DrawOrder
) -> NDArray[np.int64]:
    """Divide the groups of ``parts`` along quasi-identifiers, and return the group of each row.

    ``quasi_identifiers``, shape ``(rows, attributes)``, are coordinates: numbers, or codes in an order in
    which neighbours are similar.
    """
    coordinates = normalize_coordinates(quasi_identifiers)
    groups = assign_tied_rows(runs, parts, coordinates, assign_rows_to_groups(runs, parts, draw))
    return divide_groups(runs, need, coordinates, groups)


def normalize_coordinates(quasi_identifiers: NDArray[np.int64]) -> Coordinates:
    """Scale coordinates to shares of each attribute's range in the table."""
    coordinates = quasi_identifiers.astype(np.float64)
    if not len(coordinates):
        return coordinates
    spans = coordinates.max(axis=0) - coordinates.min(axis=0)
    shares: Coordinates = (coordinates - coordinates.min(axis=0)) / np.where(spans > 0, spans, 1.0)
    return shares


def assign_tied_rows(
    runs: ValueRuns, parts: ValueParts, coordinates: Coordinates, groups: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Assign the rows of a value that two groups share to the nearer group; numbers of rows are kept."""
    groups = groups.copy()
    values, first, times = np.unique(parts.values, return_index=True, return_counts=True)
    for value, index in zip(values[times == 2].tolist(), first[times == 2].tolist(), strict=True):
        left, right = int(parts.groups[index]), int(parts.groups[index + 1])
        rows = np.flatnonzero(runs.codes == value)
        others = runs.codes != value
        towards = coordinates[others & (groups == right)].mean(axis=0) - coordinates[
            others & (groups == left)
        ].mean(axis=0)
        order = rows[np.argsort(coordinates[rows] @ towards, kind="stable")]
        groups[order] = np.repeat([left, right], parts.rows[index : index + 2])
    return groups


def divide_groups(
    runs: ValueRuns, need: GroupNeed, coordinates: Coordinates, groups: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Divide every group along quasi-identifiers as long as both parts meet the requirement."""
    order = np.argsort(groups, kind="stable")
    waiting = np.split(order, np.flatnonzero(np.diff(groups[order])) + 1)
    divider = _GroupDivider(runs, need, coordinates)
    result = np.empty_like(groups)
    count = 0
    while waiting:
        rows = waiting.pop()
        halves = divider.halves(rows)
        if halves is None:
            result[rows] = count
            count += 1
        else:
            waiting += halves
    return result


@dataclass(frozen=True, eq=False)
class _GroupDivider:
    """Search for a cut of a group's rows into two groups that meet the requirement."""

    runs: ValueRuns
    need: GroupNeed
    coordinates: Coordinates

    def halves(self, rows: RowIndexes) -> tuple[RowIndexes, RowIndexes] | None:
        codes = self.runs.codes[rows]
        values, inner, counts = np.unique(codes, return_inverse=True, return_counts=True)
        valued = values >= 0
        # Both halves need k values, and a value with a single row can be in only one of them.
        if int(np.minimum(counts[valued], 2).sum()) < 2 * self.need.k:
            return None
        own = self.coordinates[rows]
        widths = own.max(axis=0) - own.min(axis=0)
        attributes = [a for a in np.argsort(-widths, kind="stable").tolist() if widths[a] > 0]
        for repaired in (False, True):
            for attribute in attributes:
                right, cut = _median_cut(own[:, attribute])
                if repaired:
                    right = _repair_cut(right, np.abs(own[:, attribute] - cut), inner)
                if self._meets(values, inner[right]) and self._meets(values, inner[~right]):
                    return rows[~right], rows[right]
        return None

    def _meets(self, values: RowIndexes, inner: RowIndexes) -> bool:
        present = values[np.bincount(inner, minlength=len(values)) > 0]
        present = present[present >= 0]
        if len(present) < self.need.k:
            return False
        units = self.runs.units
        return units is None or int(units[present[-1]]) - int(units[present[0]]) >= self.need.e


def _median_cut(coordinates: Coordinates) -> tuple[NDArray[np.bool_], float]:
    """Mark the rows to the right of the cut nearest to the median, and return it; both sides have rows."""
    ordered = np.sort(coordinates)
    half = len(ordered) // 2
    above = int(np.searchsorted(ordered, ordered[half], side="right"))
    below = int(np.searchsorted(ordered, ordered[half], side="left"))
    at = above if below == 0 or (above < len(ordered) and above - half < half - below) else below
    cut = float(ordered[at - 1] + ordered[at]) / 2
    return coordinates >= ordered[at], cut


def _repair_cut(right: NDArray[np.bool_], distances: Coordinates, inner: RowIndexes) -> NDArray[np.bool_]:
    """Spread values over both sides: if all rows of a value are on one side, the nearest to the cut moves.

    Applies to values with several rows, NULL included.
    """
    size = int(inner.max()) + 1
    counts = np.bincount(inner, minlength=size)
    on_right = np.bincount(inner[right], minlength=size)
    missing = (counts > 1) & ((on_right == 0) | (on_right == counts))
    order = np.lexsort((distances, inner))
    # The first of each value's rows, which are adjacent and sorted by distance.
    nearest = order[np.cumsum(counts) - counts]
    moved = right.copy()
    moved[nearest[missing]] ^= True
    return moved


_WIDEST = 1 << 62


def find_row_types(frequency_set: FrequencySet, codes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Find the position in a frequency set of each row's row type, shape ``(rows,)``.

    ``codes`` are the rows' leaf codes, shape ``(rows, quasi-identifiers)``. Columns are packed one after the
    other into one number, and ranked again before it would exceed 62 bits: one sort per ranking. Raises
    ``InternalError`` if a row has no row type.
    """
    kinds = frequency_set.row_types
    both = np.concatenate([frequency_set.codes, codes])
    packed = np.zeros(len(both), dtype=np.int64)
    span = 1
    for i, hierarchy in enumerate(frequency_set.hierarchies):
        size = hierarchy.null_code + 1
        if span * size > _WIDEST:
            distinct, packed = np.unique(packed, return_inverse=True)
            span = len(distinct)
        packed = packed * size + both[:, i]
        span *= size
    known = packed[:kinds]
    order = np.argsort(known)
    places = np.searchsorted(known[order], packed[kinds:])
    result = order[np.minimum(places, kinds - 1)]
    if not np.array_equal(known[result], packed[kinds:]):
        raise InternalError("some rows have a row type that was not counted", advice="Please report this.")
    return result


def partition_by_classes(
    runs: ValueRuns,
    need: GroupNeed,
    classes: NDArray[np.int64],
    requirement: GroupRequirement,
    *,
    merge_failing: bool,
) -> NDArray[np.int64]:
    """Use each row's class as its group; rows without class (``SUPPRESSED``) count as a failing one.

    Raises ``RequirementNotMet`` if a class fails and ``merge_failing`` is False.
    """
    _, groups = np.unique(classes, return_inverse=True)
    facts = count_group_facts(runs, groups, int(groups.max()) + 1)
    failing = ~facts.meets(need.k, need.e)
    if (classes == SUPPRESSED).any():
        failing[0] = True
    if not failing.any():
        return groups
    if not merge_failing:
        rows = int(facts.rows[failing].sum())
        raise RequirementNotMet(
            f"{int(failing.sum()):,} of {facts.count:,} classes, {rows:,} rows, do not meet {requirement}",
            allowed="classes that meet it as groups, or merging those that do not",
            advice="Generalize further, relax the requirement, or merge failing classes.",
        )
    merged = np.flatnonzero(failing)
    groups[failing[groups]] = merged[0]
    rest = count_group_facts(runs, groups, facts.count)
    if not bool(rest.meets(need.k, need.e)[merged[0]]) and not failing.all():
        rows_of = np.where(failing, np.iinfo(np.int64).max, facts.rows)
        groups[groups == merged[0]] = int(rows_of.argmin())
    return np.unique(groups, return_inverse=True)[1]


def row_classes_at_node(
    hierarchies: Sequence[GeneralizationHierarchy], node: LatticeNode, codes: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return the class of each row at a full-domain node; ``codes``, (rows, attributes), are leaf codes."""
    classes = np.zeros(len(codes), dtype=np.int64)
    for attribute, (hierarchy, level) in enumerate(zip(hierarchies, node, strict=True)):
        ancestors = hierarchy.level_map(level)[codes[:, attribute]]
        classes = np.unique(classes * (int(ancestors.max(initial=0)) + 1) + ancestors, return_inverse=True)[1]
    return classes


def row_classes_of_recoding(
    recoding: ClassRecoding, row_types: NDArray[np.int64], draw: DrawOrder = draw_order
) -> NDArray[np.int64]:
    """Return the class of each row, given its row type; ``SUPPRESSED`` for none.

    If the rows of a row type belong to several classes, the assignment is drawn. Raises ``InputError`` if the
    rows are not those that the recoding counted.
    """
    order = draw(len(row_types))
    order = order[np.argsort(row_types[order], kind="stable")]
    counted = np.repeat(recoding.row_types, recoding.rows)
    if not np.array_equal(counted, row_types[order]):
        raise InputError("the recoding counts other rows than these", advice="Recode the same table.")
    classes = np.empty(len(row_types), dtype=np.int64)
    classes[order] = np.repeat(recoding.classes, recoding.rows)
    return classes
