"""The greedy of ``kernels.local_greedy`` in plain numpy: its oracle, and what runs where numba is missing.

Here a class may be asked to pass any test, given as a function of its row types; the kernel knows sizes and
distinct values only. Cost: one sort of the row types that remain, per node.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Holds = Callable[[NDArray[np.int64]], bool]
"""Whether row types, taken together, are a class that may be published."""


def take_classes_twin(
    masks: Array,
    need: int,
    keys: Array,
    rows: Array,
    types: NDArray[np.int64],
    classes: int,
    class_of: Array,
    made: Array,
    holds: Holds | None = None,
) -> tuple[NDArray[np.int64], int]:
    """Walk the nodes ``masks`` over the row types ``types``; the types that remain and the classes so far.

    ``keys`` has shape ``(words, all row types)``, ``rows`` all row types' counts. Fills ``class_of`` and
    ``made`` as the kernel does.
    """
    for node, mask in enumerate(masks):
        if not len(types):
            break
        masked = keys[:, types] & mask[:, np.newaxis]
        first, place = _groups(masked)
        sums = np.bincount(place, weights=rows[types], minlength=len(first))
        large = sums >= need
        if holds is not None:
            for group in np.flatnonzero(large).tolist():
                large[group] = holds(types[place == group])
        if not large.any():
            continue
        number = np.full(len(first), -1, np.int64)
        in_order = np.flatnonzero(large)[np.argsort(first[large], kind="stable")]
        number[in_order] = classes + np.arange(len(in_order))
        taken = large[place]
        class_of[types[taken]] = number[place[taken]]
        made[node] = len(in_order)
        classes += len(in_order)
        types = types[~taken]
    return types, classes


def _groups(masked: Array) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Equal columns: where each kind first stands, and the kind of each column."""
    if len(masked) == 1:
        _, first, place = np.unique(masked[0], return_index=True, return_inverse=True)
        return first, place
    _, first, place = np.unique(masked, axis=1, return_index=True, return_inverse=True)
    return first, place.reshape(-1)
