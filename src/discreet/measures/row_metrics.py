"""Metrics that put a release's classes beside the original's row types: KL divergence and usefulness."""

from __future__ import annotations

from math import fsum, inf

import numpy as np

from discreet.measures.comparison import ReleasePair
from discreet.measures.usefulness import usefulness_of


def divergence(comparison: ReleasePair) -> float | None:
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


def usefulness(comparison: ReleasePair) -> float | None:
    """Usefulness (``measures.usefulness``); suppressed rows are one more class.

    None where nothing tells which original rows each class was made of.
    """
    members = comparison.members
    if members is None:
        return comparison.stated
    return usefulness_of(comparison.frequency_set, members, comparison.numbers)
