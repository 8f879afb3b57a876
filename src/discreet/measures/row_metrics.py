"""Metrics that put a release's classes beside the original's row types: KL divergence and usefulness."""

from __future__ import annotations

from math import fsum, inf

import numpy as np
from numpy.typing import NDArray

from discreet.measures.comparison import Comparison
from discreet.model.leaf_order import leaf_order


def divergence(comparison: Comparison) -> float | None:
    """KL divergence, in bits, of the release from the original (Kifer and Gehrke 2006).

    The original's distribution p over row types is compared with q, in which each row of the release is
    spread evenly over the combinations that its cells stand for (NULL is one where a cell covers it), a
    suppressed row over all: Σ p·log2(p/q). 0 where the release says everything; infinite where a row type is
    covered by no class and no row is suppressed. None where there are too many classes and row types.
    """
    if not comparison.can_cover:
        return None
    table, rows = comparison.frequency_set, comparison.rows
    if not rows:
        return 0.0
    nullable = [bool(counts[-1]) for counts in comparison.rows_of_codes]
    volume = np.ones(comparison.release.groups)
    everything = 1.0
    for i, cells in enumerate(comparison.release.cells):
        codes = np.add.reduceat(cells.last - cells.first + 1, cells.offsets[:-1])
        volume *= codes[comparison.release.shown[:, i]]
        everything *= len(comparison.hierarchies[i].leaves) + nullable[i]
    spread = np.full(table.row_types, comparison.suppressed / everything)
    for classes, row_types in comparison.covered():
        np.add.at(spread, row_types, (comparison.release.rows / volume)[classes])
    if not (spread > 0).all():
        return inf
    p = table.counts / rows
    return max(fsum((p * np.log2(p / (spread / rows))).tolist()), 0.0)


def usefulness(comparison: Comparison) -> float | None:
    """Usefulness (Loukides and Shao 2008): how far apart the original rows of a class are; lower is better.

    For each class the sum over the attributes of the range of its original values as a share of the table's
    range (numeric), or of its distinct values as a share of the table's (any other; NULL is a value); then
    the mean over the classes, 0 to the number of attributes. Suppressed rows, whose row types no class
    covers, are one more class. A constant attribute costs 0 where numeric, else 1. None where there are too
    many classes and row types.
    """
    if not comparison.can_cover:
        return None
    groups = comparison.release.groups
    total = groups + (comparison.suppressed > 0)
    if not total:
        return 0.0
    left = np.ones(comparison.frequency_set.row_types, dtype=np.bool_)
    apart = []
    for classes, row_types in comparison.covered():
        left[row_types] = False
        apart += _apart(comparison, classes, row_types)
    if comparison.suppressed:
        leftover = np.flatnonzero(left) if left.any() else np.arange(len(left))
        apart += _apart(comparison, np.zeros(len(leftover), dtype=np.int64), leftover)
    return fsum(apart) / total


def _apart(comparison: Comparison, classes: NDArray[np.int64], row_types: NDArray[np.int64]) -> list[float]:
    """Each attribute's part, added up over some classes, of which pairs with row types are given."""
    if not len(classes):
        return []
    dense = classes - int(classes.min())
    codes = comparison.frequency_set.codes[row_types]
    return [_attribute_apart(comparison, i, dense, codes[:, i]) for i in range(codes.shape[1])]


def _attribute_apart(
    comparison: Comparison, i: int, classes: NDArray[np.int64], codes: NDArray[np.int64]
) -> float:
    hierarchy = comparison.hierarchies[i]
    occurring = np.flatnonzero(comparison.rows_of_codes[i])
    numbers = leaf_order(hierarchy).numbers
    if numbers is None:
        pairs = np.unique(classes * (hierarchy.null_code + 1) + codes)
        return len(pairs) / max(len(occurring), 1)
    values = np.array([*(float(number) for number in numbers), np.nan])
    known = occurring[occurring < hierarchy.null_code]
    width = float(values[known].max() - values[known].min()) if len(known) else 0.0
    if not width:
        return 0.0
    found = codes < hierarchy.null_code
    low, high = np.full(int(classes.max()) + 1, np.inf), np.full(int(classes.max()) + 1, -np.inf)
    np.minimum.at(low, classes[found], values[codes[found]])
    np.maximum.at(high, classes[found], values[codes[found]])
    ranged = high >= low
    return float((high[ranged] - low[ranged]).sum()) / width
