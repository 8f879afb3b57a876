"""Cell suppression: each cell of a row shows its own value or ``*``, row by row.

Definition (LeFevre et al. 2005, section 5.2): a local recoding whose cells are suppressed one by one. To
find the fewest is NP-hard for k of 3 and more.

The search is greedy over patterns, each the attributes that keep their values: in ascending order of what a
row loses by it, the rows that agree in a pattern's attributes and are enough become a class and leave. Rows
left at the end, too few for a class, join the class that loses least by it, type by type. A class then shows
every value in which all its rows agree. Rows of one type stay together. The lattice-guided greedy of local
recoding does the same over all levels of the hierarchies.

Cost: a pass over the row types that are left for each of the 2^d patterns, of at most ``MOST_ATTRIBUTES``
attributes. No row is suppressed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product

import numpy as np
from numpy.typing import NDArray

from discreet.errors import LimitReached
from discreet.frequency.class_cells import Summary
from discreet.frequency.class_summary import classes_to_recoding
from discreet.model.class_recoding import ClassRecoding, RecodingModel
from discreet.model.frequency_set import FrequencySet
from discreet.taxonomy.class_counts import ClassCounts, classes_of_columns
from discreet.taxonomy.full_domain import two_levels
from discreet.taxonomy.top_down import with_distinct_classes

MOST_ATTRIBUTES = 16


def cell_suppression(
    frequency_set: FrequencySet, counts: ClassCounts, weights: Sequence[float]
) -> ClassRecoding:
    """A cell suppression; ``NoSolution`` where not even one class of all rows is good enough.

    ``LimitReached`` for more than ``MOST_ATTRIBUTES`` quasi-identifiers.
    """
    counts.require_solution(0)
    hierarchies = frequency_set.hierarchies
    if len(hierarchies) > MOST_ATTRIBUTES:
        raise LimitReached(
            f"{len(hierarchies)} quasi-identifiers have {1 << len(hierarchies):,} patterns",
            allowed=f"at most {MOST_ATTRIBUTES} quasi-identifiers for the cell-suppression model",
            advice="Use the cell-generalization model, which takes any number.",
        )
    most = np.array([w * (h.null_code - 1) / h.null_code for w, h in zip(weights, hierarchies, strict=True)])
    class_of = _by_patterns(frequency_set, counts, most)
    class_of = _leftovers_joined(frequency_set, class_of, most)
    flat = replace(frequency_set, hierarchies=tuple(map(two_levels, hierarchies)))
    found = classes_to_recoding(
        flat, class_of, counts.requirement, RecodingModel.CELL_SUPPRESSION, Summary.LCA
    )
    return with_distinct_classes(found)


def patterns(most: NDArray[np.float64]) -> Iterator[NDArray[np.bool_]]:
    """The attributes that keep their values, in ascending order of what the others lose."""
    kept = np.array(list(product((True, False), repeat=len(most))))
    yield from kept[np.argsort((~kept) @ most, kind="stable")]


def _by_patterns(
    frequency_set: FrequencySet, counts: ClassCounts, most: NDArray[np.float64]
) -> NDArray[np.int64]:
    """The class of each row type, -1 for those that are left over."""
    found = np.full(frequency_set.row_types, -1, dtype=np.int64)
    sizes = [hierarchy.null_code + 1 for hierarchy in frequency_set.hierarchies]
    left = np.arange(frequency_set.row_types)
    number = 0
    for kept in patterns(most):
        if not len(left):
            break
        attributes = np.flatnonzero(kept).tolist()
        class_of = np.zeros(len(left), dtype=np.int64)
        if attributes:
            columns = [frequency_set.codes[left, i] for i in attributes]
            class_of = classes_of_columns(columns, [sizes[i] for i in attributes])
        leaves = ~counts.failing_types(class_of, left)
        numbers, renumbered = np.unique(class_of[leaves], return_inverse=True)
        found[left[leaves]] = number + renumbered
        number += len(numbers)
        left = left[~leaves]
    return found


def _leftovers_joined(
    frequency_set: FrequencySet, class_of: NDArray[np.int64], most: NDArray[np.float64]
) -> NDArray[np.int64]:
    """Put each row type that is left over into the class that loses least by it."""
    left = np.flatnonzero(class_of < 0)
    if not len(left):
        return class_of
    class_of = class_of.copy()
    kept = np.flatnonzero(class_of >= 0)
    number = int(class_of.max()) + 1
    rows = np.bincount(class_of[kept], frequency_set.counts[kept], minlength=number)
    first = np.zeros(number, dtype=np.int64)
    first[class_of[kept[::-1]]] = kept[::-1]
    values = frequency_set.codes[first]
    differs = frequency_set.codes[kept] != values[class_of[kept]]
    starred = np.zeros((number, len(most)), dtype=np.bool_)
    np.logical_or.at(starred, class_of[kept], differs)
    for t in left.tolist():
        new = (values != frequency_set.codes[t]) & ~starred
        lost = (new @ most) * rows + ((new | starred) @ most) * frequency_set.counts[t]
        joined = int(lost.argmin())
        class_of[t] = joined
        starred[joined] |= new[joined]
        rows[joined] += frequency_set.counts[t]
    return class_of
