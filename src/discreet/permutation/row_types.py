"""From rows to the row types of a frequency set: which row type each row is of."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InternalError
from discreet.model.frequency_set import FrequencySet

_WIDEST = 1 << 62


def row_types_of_rows(frequency_set: FrequencySet, codes: NDArray[np.int64]) -> NDArray[np.int64]:
    """The place in a frequency set of each row's row type, shape ``(rows,)``.

    ``codes`` are the rows' leaf codes, shape ``(rows, quasi-identifiers)``. Columns are packed one after the
    other into one number, and ranked again where it would grow beyond 62 bits: a sort per such step.
    ``InternalError`` where a row is of none.
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
    found = order[np.minimum(places, kinds - 1)]
    if not np.array_equal(known[found], packed[kinds:]):
        raise InternalError("rows are of no row type that was counted", advice="Please report this.")
    return found
