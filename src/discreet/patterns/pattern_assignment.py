"""Recoding from an assignment of rows to patterns.

Rows with the same pattern and the same values at its levels are one class, which shows these values.
Every class is counted again here, whatever method made the assignment.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InternalError
from discreet.frequency.class_requirement import ClassRequirement
from discreet.frequency.class_summary import MergedCells
from discreet.model.class_recoding import (
    OUTLIER,
    SUPPRESSED,
    ClassRecoding,
    ClassTest,
    OutlierPolicy,
    PatternCount,
    PatternMask,
    RecodingModel,
)
from discreet.model.frequency_set import FrequencySet
from discreet.model.hierarchy import GeneralizationHierarchy
from discreet.model.published_cells import Cells
from discreet.model.requirement import Requirement

_TABLE = 1 << 16


def find_distinct(values: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the distinct values, ascending, and the position of each value; values are at least 0."""
    size = int(values.max(initial=0)) + 1
    if size > 4 * len(values) + _TABLE:
        kinds, places = np.unique(values, return_inverse=True)
        return kinds, places
    # Small values are counted in a table, which is faster than a sort.
    table = np.zeros(size, np.int64)
    table[values] = 1
    kinds = np.flatnonzero(table)
    table[kinds] = np.arange(len(kinds))
    return kinds, table[values]


_LARGEST_KEY = 2**62


def recode_assignment(
    frequency_set: FrequencySet,
    mask: PatternMask,
    requirement: Requirement,
    patterns: NDArray[np.int64],
    *,
    row_types: NDArray[np.int64] | None = None,
    rows: NDArray[np.int64] | None = None,
    class_test: ClassTest | None = None,
) -> ClassRecoding:
    """Build the recoding in which part p, ``rows[p]`` rows of ``row_types[p]``, has ``patterns[p]``.

    A pattern is its position in the mask, or ``OUTLIER``, which suppresses the rows. Without ``row_types``
    and ``rows`` there is one part per row type. If the policy is to suppress and the class of all stars fails
    the requirement, its rows are suppressed. Raises ``InternalError`` if any other class fails it, or if rows
    are lost or counted twice.
    """
    if row_types is None or rows is None:
        row_types, rows = np.arange(frequency_set.row_types), frequency_set.counts
    row_types, patterns, rows = _join_parts(len(mask), row_types, patterns, rows)
    placed = np.zeros(frequency_set.row_types, np.int64)
    np.add.at(placed, row_types, rows)
    if not np.array_equal(placed, frequency_set.counts):
        raise InternalError("the rows assigned to patterns do not add up to the rows of the row types")
    demand = ClassRequirement.of(frequency_set, requirement, class_test)
    cell_codes = _values_of_parts(frequency_set, mask, row_types, patterns)
    classes = _number_classes(patterns, cell_codes)
    first, classes = _check_classes(demand, mask, row_types, patterns, rows, classes)
    cells, places = _merge_cells(frequency_set.hierarchies, cell_codes[first])
    counts = _count_patterns(mask, patterns, rows, classes, first)
    if not (np.diff(row_types) > 0).all():
        in_order = np.lexsort((classes, row_types))
        row_types, classes, rows = row_types[in_order], classes[in_order], rows[in_order]
    stars = (mask.levels == 0) | (mask.levels == np.array(mask.heights, np.int16))
    return ClassRecoding(
        model=RecodingModel.CELL_SUPPRESSION if stars.all() else RecodingModel.CELL_GENERALIZATION,
        attributes=frequency_set.attributes,
        requirement=requirement,
        cells=cells,
        shown=places,
        row_types=row_types,
        classes=classes,
        rows=rows,
        patterns=counts,
        class_test=class_test,
    )


def _join_parts(
    patterns_in_all: int, row_types: NDArray[np.int64], patterns: NDArray[np.int64], rows: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Merge parts with the same row type and pattern."""
    if bool((np.diff(row_types) > 0).all()) and bool((rows > 0).all()):
        return row_types, patterns, rows
    pairs, inverse = np.unique(row_types * (patterns_in_all + 1) + patterns + 1, return_inverse=True)
    total = np.zeros(len(pairs), np.int64)
    np.add.at(total, inverse, rows)
    nonempty = total > 0
    types, shifted = np.divmod(pairs[nonempty], patterns_in_all + 1)
    return types, shifted - 1, total[nonempty]


def _values_of_parts(
    frequency_set: FrequencySet, mask: PatternMask, row_types: NDArray[np.int64], patterns: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return the shown values of each part as numbers of level and value, shape ``(parts, attributes)``."""
    cell_codes = np.empty((len(row_types), len(mask.attributes)), np.int64)
    for j, hierarchy in enumerate(frequency_set.hierarchies):
        # int64: the mask's levels are int16, and their products with values would overflow.
        levels = np.where(patterns == OUTLIER, hierarchy.height, mask.levels[:, j][patterns]).astype(np.int64)
        values = np.stack([hierarchy.level_map(level) for level in range(hierarchy.height + 1)])
        cell_codes[:, j] = (
            levels * (hierarchy.null_code + 1) + values[levels, frequency_set.codes[row_types, j]]
        )
    return cell_codes


def _number_classes(patterns: NDArray[np.int64], cell_codes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Number the class of each part; ``SUPPRESSED`` for outliers."""
    keys, radix = patterns + 1, int(patterns.max(initial=0)) + 2
    for column in (cell_codes[:, j] for j in range(cell_codes.shape[1])):
        size = int(column.max(initial=0)) + 1
        if radix * size >= _LARGEST_KEY:
            kinds, keys = find_distinct(keys)
            radix = len(kinds) + 1
        keys = keys * size + column
        radix *= size
    classes = np.full(len(patterns), SUPPRESSED, np.int64)
    placed = patterns != OUTLIER
    classes[placed] = find_distinct(keys[placed])[1]
    return classes


def _check_classes(
    demand: ClassRequirement,
    mask: PatternMask,
    row_types: NDArray[np.int64],
    patterns: NDArray[np.int64],
    rows: NDArray[np.int64],
    classes: NDArray[np.int64],
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the first part of each class, and the classes.

    A failing class of all stars is suppressed; any other raises ``InternalError``.
    """
    placed = np.flatnonzero(classes != SUPPRESSED)
    order = placed[np.argsort(classes[placed], kind="stable")]
    starts = np.flatnonzero(np.diff(classes[order], prepend=-2) != 0)
    first = order[starts]
    failing = np.flatnonzero(~_classes_meet(demand, row_types, rows, order, starts))
    if len(failing):
        stars = mask.outliers is OutlierPolicy.SUPPRESS and mask.all_star is not None
        if len(failing) > 1 or not stars or patterns[first[failing[0]]] != mask.all_star:
            raise InternalError("a class of the rows assigned to a pattern does not meet the requirement")
        gone = int(failing[0])
        first = np.delete(first, gone)
        classes = np.where(classes == gone, SUPPRESSED, classes - (classes > gone))
    return first, classes


def _classes_meet(
    demand: ClassRequirement,
    row_types: NDArray[np.int64],
    rows: NDArray[np.int64],
    order: NDArray[np.int64],
    starts: NDArray[np.int64],
) -> NDArray[np.bool_]:
    """Check whether each class meets the requirement."""
    if not len(order):
        return np.zeros(0, np.bool_)
    result: NDArray[np.bool_] = np.add.reduceat(rows[order], starts) >= demand.need
    if demand.counts_only:
        return result
    if len(np.unique(row_types)) != len(row_types):
        raise InternalError("row types whose sensitive values must stay together were split")
    members = np.split(row_types[order], starts[1:])
    return np.array([demand.holds(types) for types in members], np.bool_)


def _merge_cells(
    hierarchies: Sequence[GeneralizationHierarchy], cell_codes: NDArray[np.int64]
) -> tuple[tuple[Cells, ...], NDArray[np.int64]]:
    """Merge the cells of each attribute, and return the index of the cell that each class shows."""
    places = np.empty(cell_codes.shape, np.int64)
    found = []
    for j, hierarchy in enumerate(hierarchies):
        kinds, inverse = find_distinct(cell_codes[:, j])
        merged = MergedCells(hierarchy)
        places[:, j] = merged.add(_cells_of_kinds(hierarchy, kinds))[inverse]
        found.append(merged.cells())
    return tuple(found), places


def _cells_of_kinds(hierarchy: GeneralizationHierarchy, kinds: NDArray[np.int64]) -> Cells:
    labels: list[str | None] = []
    intervals = []
    for level, value in zip(*np.divmod(kinds, hierarchy.null_code + 1), strict=True):
        if level == hierarchy.height:
            labels.append(hierarchy.labels[level][0])
            intervals.append((0, hierarchy.null_code))
        elif value == len(hierarchy.labels[level]):
            labels.append(None)
            intervals.append((hierarchy.null_code, hierarchy.null_code))
        else:
            labels.append(hierarchy.labels[level][value])
            begin, end = np.searchsorted(hierarchy.ancestors[level], [value, value + 1]).tolist()
            intervals.append((begin, end - 1))
    ends = np.array(intervals, np.int64).reshape(-1, 2)
    return Cells(
        hierarchy.attribute,
        hierarchy.null_code,
        tuple(labels),
        np.arange(len(labels) + 1),
        ends[:, 0],
        ends[:, 1],
    )


def _count_patterns(
    mask: PatternMask,
    patterns: NDArray[np.int64],
    rows: NDArray[np.int64],
    classes: NDArray[np.int64],
    first: NDArray[np.int64],
) -> tuple[PatternCount, ...]:
    """Count the classes and rows of the used patterns, cheapest first."""
    retained = classes != SUPPRESSED
    of_rows = np.zeros(len(mask), np.int64)
    np.add.at(of_rows, patterns[retained], rows[retained])
    of_classes = np.bincount(patterns[first], minlength=len(mask))
    used = np.flatnonzero(of_classes)
    used = used[np.lexsort((used, mask.cost_ranks[used]))]
    return tuple(PatternCount(mask.pattern(p), int(of_classes[p]), int(of_rows[p])) for p in used.tolist())
