"""The questions of ``kernels.pattern_cover`` in plain numpy: its oracle, and where numba is missing."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.kernels.local_greedy_twin import Holds

Array = NDArray[Any]


def placed_rows_twin(
    mask: Array, need: int, keys: Array, counts: Array, types: NDArray[np.int64], holds: Holds | None = None
) -> int:
    """The rows of the row types ``types`` in classes of ``mask``'s that are large and diverse enough."""
    return int(counts[types[_placed(mask, need, keys, counts, types, holds)]].sum())


def first_holding_twin(
    masks: Array, need: int, keys: Array, counts: Array, first: Array, holds: Holds | None = None
) -> None:
    """For each row type the first of ``masks`` in whose class of all row types it may be published."""
    types = np.arange(len(counts))
    for node, mask in enumerate(masks):
        unmet = first < 0
        if not unmet.any():
            break
        first[unmet & _placed(mask, need, keys, counts, types, holds)] = node


def _placed(
    mask: Array, need: int, keys: Array, counts: Array, types: NDArray[np.int64], holds: Holds | None
) -> NDArray[np.bool_]:
    if not len(types):
        return np.zeros(0, np.bool_)
    masked = keys[:, types] & mask[:, np.newaxis]
    kinds, place = np.unique(masked, axis=1, return_inverse=True)
    place = place.reshape(-1)
    large = np.bincount(place, weights=counts[types], minlength=kinds.shape[1]) >= need
    if holds is not None:
        for group in np.flatnonzero(large).tolist():
            large[group] = holds(types[place == group])
    placed: NDArray[np.bool_] = large[place]
    return placed
