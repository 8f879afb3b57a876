"""The last look at a recoding: every class counted again from the frequency set, before anybody gets it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InternalError
from discreet.frequency.class_demand import Demand
from discreet.model.class_recoding import SUPPRESSED, ClassRecoding
from discreet.model.frequency_set import FrequencySet
from discreet.model.lattice import LatticeNode


def check_classes(
    frequency_set: FrequencySet, demand: Demand, recoding: ClassRecoding, high: LatticeNode
) -> None:
    """Raise ``InternalError`` where a class fails or rises above ``high``, or rows are lost."""
    placed = np.zeros(frequency_set.row_types, np.int64)
    np.add.at(placed, recoding.row_types, recoding.rows)
    if not np.array_equal(placed, frequency_set.counts):
        raise InternalError("local recoding lost rows")
    kept = recoding.classes != SUPPRESSED
    classes, row_types = recoding.classes[kept], recoding.row_types[kept]
    if int(recoding.class_rows().min(initial=demand.need)) < demand.need:
        raise InternalError("local recoding made a class with too few rows")
    if not demand.counts_only:
        _check_values(demand, classes, row_types)
    for i, hierarchy in enumerate(frequency_set.hierarchies):
        if high[i] < hierarchy.height:
            value = hierarchy.level_map(high[i])[frequency_set.codes[row_types, i]]
            if len(np.unique(classes * (len(hierarchy.leaves) + 2) + value)) != recoding.class_count:
                raise InternalError("local recoding made a class above the greatest levels")


def _check_values(demand: Demand, classes: NDArray[np.int64], row_types: NDArray[np.int64]) -> None:
    order = np.argsort(classes, kind="stable")
    ends = np.flatnonzero(np.append(np.diff(classes[order]) != 0, True)) + 1
    if len(np.unique(row_types)) != len(row_types):
        raise InternalError("local recoding split a row type whose sensitive values must stay together")
    if not all(demand.holds(types) for types in np.split(row_types[order], ends[:-1])):
        raise InternalError("local recoding made a class that fails")
