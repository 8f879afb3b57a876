"""Formulas of release metrics: loss, NCP, granularity, precision, entropy, ambiguity, KL divergence.

Cell metrics are one pass over the distinct cells of an attribute, ambiguity one pass over the classes;
suppressed rows count as cells that show the whole domain. Divergence and usefulness compare classes with the
row types of the original. For full-domain releases the metrics agree with the costs of the same names.
"""

from __future__ import annotations

from math import fsum, inf, prod

import numpy as np
from numpy.typing import NDArray

from discreet.measures.generalized_table import ReleasePair
from discreet.measures.loss import relative_weights
from discreet.measures.recoding_metrics import compute_usefulness
from discreet.model.hierarchy import GeneralizationHierarchy
from discreet.model.published_cells import Cells


def loss(comparison: ReleasePair) -> float:
    """Compute ARX's Loss: (Π (1 + w·x))^(1/d) − 1 with x = (mean of m/D − 1/D) / (1 − 1/D).

    From 0 to 1; weights are shares of the largest weight.
    """
    names = tuple(hierarchy.attribute for hierarchy in comparison.hierarchies)
    weights = relative_weights(comparison.weights, names)
    parts = [1.0 + weight * x for weight, x in zip(weights, attribute_losses(comparison), strict=True)]
    return float(prod(sorted(parts)) ** (1.0 / max(len(parts), 1))) - 1.0


def attribute_losses(comparison: ReleasePair) -> tuple[float, ...]:
    """Compute the unweighted x of each attribute.

    From 0 (every row keeps its leaf) to 1 (every row shows the top).
    """
    found = []
    for i, hierarchy in enumerate(comparison.hierarchies):
        leaves = len(hierarchy.leaves)
        if leaves <= 1 or not comparison.rows:
            found.append(0.0)
            continue
        covered = int((comparison.leaves[i] * comparison.rows_of_cells[i]).sum())
        covered += leaves * comparison.suppressed
        found.append((covered - comparison.rows) / (comparison.rows * (leaves - 1)))
    return tuple(found)


def granularity(comparison: ReleasePair) -> float:
    """Compute 1 − Σ (m − 1)/D over the cells, divided by its value where every cell shows its top."""
    domains = [len(h.leaves) for h in comparison.hierarchies]
    most = fsum(1.0 - 1.0 / leaves for leaves in domains)
    if not most * comparison.rows:
        return 1.0
    lost = [most * comparison.suppressed]
    for i, leaves in enumerate(domains):
        lost.append(float(((comparison.leaves[i] - 1) / leaves * comparison.rows_of_cells[i]).sum()))
    return 1.0 - fsum(lost) / (most * comparison.rows)


def normalized_certainty_penalty(comparison: ReleasePair) -> float:
    """Compute NCP: the sum over cells of a penalty from 0 (a single value) to 1 (the whole domain).

    A numeric cell costs its range as a share of the domain's range, any other cell the leaves that it covers
    as a share of all leaves; a single leaf costs nothing.
    """
    penalties = []
    for i, hierarchy in enumerate(comparison.hierarchies):
        penalty, most = _certainty_penalties(
            comparison.release.cells[i], len(hierarchy.leaves), comparison.numbers[i]
        )
        penalties.append(float((penalty * comparison.rows_of_cells[i]).sum()))
        penalties.append(most * comparison.suppressed)
    return fsum(penalties)


def global_certainty_penalty(comparison: ReleasePair) -> float:
    """Compute GCP: NCP as a share of the cells of the table, 0 to 1."""
    cells = comparison.rows * len(comparison.hierarchies)
    return normalized_certainty_penalty(comparison) / cells if cells else 0.0


def _certainty_penalties(
    cells: Cells, leaves: int, numbers: NDArray[np.float64] | None
) -> tuple[NDArray[np.float64], float]:
    """Return the penalty of each cell, and of a cell that shows the whole domain."""
    if numbers is None:
        sizes = cells.sizes()
        return np.where(sizes > 1, sizes / leaves, 0.0), float(leaves > 1)
    values = numbers[:leaves]
    width = float(values.max() - values.min())
    if not width:
        return np.zeros(len(cells.labels)), 0.0
    penalty = np.zeros(len(cells.labels))
    for cell in range(len(cells.labels)):
        intervals = range(int(cells.offsets[cell]), int(cells.offsets[cell + 1]))
        ranges = [values[cells.first[j] : cells.last[j] + 1] for j in intervals]
        ranges = [part for part in ranges if len(part)]
        if ranges:
            penalty[cell] = (max(p.max() for p in ranges) - min(p.min() for p in ranges)) / width
    return penalty, 1.0


def uniform_levels(comparison: ReleasePair) -> tuple[int | None, ...]:
    """Return for each attribute the lowest level at which every cell is one value of its hierarchy, or None.

    NULL cells fit any level below the top. An attribute without shown cells has level 0.
    """
    found: list[int | None] = []
    for i, hierarchy in enumerate(comparison.hierarchies):
        cells, used = comparison.release.cells[i], comparison.rows_of_cells[i] > 0
        first, last = cells.first[cells.offsets[:-1]], cells.last[cells.offsets[1:] - 1]
        generalized = used & (first < cells.leaves)
        contiguous = np.add.reduceat(cells.last - cells.first + 1, cells.offsets[:-1]) == last - first + 1
        level = next(
            (
                level
                for level in range(hierarchy.height + 1)
                if (_is_hierarchy_value(hierarchy, level, first, last) & contiguous)[generalized].all()
                and not (level == hierarchy.height and (used & ~generalized).any())
            ),
            None,
        )
        found.append(level)
    return tuple(found)


def _is_hierarchy_value(
    hierarchy: GeneralizationHierarchy, level: int, first: NDArray[np.int64], last: NDArray[np.int64]
) -> NDArray[np.bool_]:
    """Return whether codes ``first … last`` are the leaves of one value of a level; NULL joins the top."""
    if level == hierarchy.height:
        last = np.minimum(last, len(hierarchy.leaves) - 1)
    ancestors = hierarchy.ancestors[level]
    starts = np.searchsorted(ancestors, np.arange(len(hierarchy.labels[level]) + 1))
    ancestor = ancestors[np.minimum(first, len(ancestors) - 1)]
    same: NDArray[np.bool_] = (starts[ancestor] == first) & (starts[ancestor + 1] - 1 == last)
    return same


def height(comparison: ReleasePair) -> float | None:
    """Compute the sum of the levels of a full-domain release; None if an attribute shows several levels."""
    levels = uniform_levels(comparison)
    known = [level for level in levels if level is not None]
    return float(sum(known)) if len(known) == len(levels) else None


def precision(comparison: ReleasePair) -> float:
    """Compute Prec: 1 − the mean of level / height over all cells (Sweeney).

    An attribute that shows one level has that level; in other attributes a cell has the lowest level at which
    one value covers it. A suppressed row shows the top, NULL level 0; an attribute of height 0 loses nothing.
    """
    cells = comparison.rows * len(comparison.hierarchies)
    if not cells:
        return 1.0
    lost = []
    for i, (hierarchy, level) in enumerate(
        zip(comparison.hierarchies, uniform_levels(comparison), strict=True)
    ):
        if hierarchy.height:
            release_cells = comparison.release.cells[i]
            levels = _covering_levels(release_cells, hierarchy)
            if level is not None:
                levels = np.where(
                    release_cells.first[release_cells.offsets[:-1]] == release_cells.leaves, 0, level
                )
            lost.append(int((levels * comparison.rows_of_cells[i]).sum()) / hierarchy.height)
            lost.append(float(comparison.suppressed))
    return 1.0 - fsum(lost) / cells


def _covering_levels(cells: Cells, hierarchy: GeneralizationHierarchy) -> NDArray[np.int64]:
    """Return the lowest level at which one value covers each cell; 0 for a cell of only NULL."""
    first, last = cells.first[cells.offsets[:-1]], cells.last[cells.offsets[1:] - 1]
    levels = np.full(len(first), hierarchy.height, dtype=np.int64)
    for level in range(hierarchy.height - 1, -1, -1):
        level_map = hierarchy.level_map(level)
        levels[level_map[first] == level_map[last]] = level
    levels[first == cells.leaves] = 0
    return levels


def entropy(comparison: ReleasePair) -> float:
    """Compute the non-uniform entropy, in bits per row.

    The mean over rows of Σ over the attributes of log2(rows that a cell covers / rows with the row's own
    leaf). Frequencies are the original's.
    """
    if not comparison.rows:
        return 0.0
    found = []
    for i, cells in enumerate(comparison.release.cells):
        rows = comparison.frequency_set.rows_by_code[i]
        sums = np.concatenate([[0], np.cumsum(rows)])
        covered = np.add.reduceat(sums[cells.last + 1] - sums[cells.first], cells.offsets[:-1])
        used = comparison.rows_of_cells[i] > 0
        bits = comparison.rows_of_cells[i][used] * np.log2(np.maximum(covered[used], 1))
        occurring = rows[rows > 0]
        found.append(float(bits.sum()) - float((occurring * np.log2(occurring)).sum()))
        found.append(comparison.suppressed * float(np.log2(comparison.rows)))
    return max(fsum(found) / comparison.rows, 0.0)


def ambiguity(comparison: ReleasePair) -> float:
    """Compute the mean over the rows of the combinations of leaves that a row's cells cover."""
    if not comparison.rows:
        return 0.0
    combinations = np.ones(comparison.release.groups)
    for i, leaves in enumerate(comparison.leaves):
        combinations *= leaves[comparison.release.shown[:, i]]
    everything = prod(float(len(h.leaves)) for h in comparison.hierarchies)
    total = float((combinations * comparison.release.rows).sum()) + everything * comparison.suppressed
    return total / comparison.rows


def suppressed_cells(comparison: ReleasePair) -> int:
    """Count the cells that show the whole domain of attributes with more than one leaf.

    Cells of suppressed rows count.
    """
    result = comparison.suppressed * len(comparison.hierarchies)
    for i, hierarchy in enumerate(comparison.hierarchies):
        if len(hierarchy.leaves) > 1:
            full = comparison.leaves[i] == len(hierarchy.leaves)
            result += int(comparison.rows_of_cells[i][full].sum())
    return result


def divergence(comparison: ReleasePair) -> float | None:
    """Compute the KL divergence, in bits, of the release from the original (Kifer and Gehrke 2006).

    Compares the original's distribution p over row types with q, in which each row of the release is spread
    evenly over the combinations that its cells cover (NULL is one where a cell covers it), and a suppressed
    row over all combinations: Σ p·log2(p/q). The divergence is 0 where the release has all the detail of the
    original, and infinite where no class covers a row type and no row is suppressed. None if there are too
    many pairs of classes and row types.
    """
    if not comparison.can_cover:
        return None
    table, rows = comparison.frequency_set, comparison.rows
    if not rows:
        return 0.0
    nullable = [bool(counts[-1]) for counts in comparison.frequency_set.rows_by_code]
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


def usefulness(comparison: ReleasePair) -> float | None:
    """Compute usefulness (``measures.recoding_metrics``); suppressed rows are an additional class.

    Returns the recorded usefulness, or None, if the original rows of each class cannot be determined.
    """
    members = comparison.members
    if members is None:
        return comparison.stated
    return compute_usefulness(comparison.frequency_set, members, comparison.numbers)
