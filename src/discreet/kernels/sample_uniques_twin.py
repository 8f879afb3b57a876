"""The minimal uniques of ``kernels.sample_uniques`` in plain numpy: a sort per set, smaller sets first."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


def find_minimal_twin(
    codes: Array, single: Array, largest: int, progress: Callable[[int, int], None] | None = None
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """All minimal sets of up to ``largest`` columns, as places of row types and masks.

    ``codes`` has shape ``(columns, row types)``; ``single`` says which row types are one row.
    """
    width = len(codes)
    alone_by: dict[tuple[int, ...], Array] = {}
    rows, masks = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
    total, done = sum(comb(width, size) for size in range(1, largest + 1)), 0
    for size in range(1, largest + 1):
        for chosen in combinations(range(width), size):
            alone = _alone(codes[list(chosen)], single)
            minimal = alone.copy()
            for smaller in combinations(chosen, size - 1):
                if smaller:
                    minimal &= ~alone_by[smaller]
            alone_by[chosen] = alone
            places = np.flatnonzero(minimal)
            rows.append(places)
            masks.append(np.full(len(places), sum(1 << column for column in chosen)))
            done += 1
            if progress is not None:
                progress(done, total)
        for smaller in combinations(range(width), size - 1):
            alone_by.pop(smaller, None)
    return np.concatenate(rows), np.concatenate(masks)


def _alone(codes: Array, single: Array) -> NDArray[np.bool_]:
    """Which row types are one row that nobody shares these values with."""
    order = np.lexsort(codes)
    ordered = codes[:, order]
    differs = (ordered[:, 1:] != ordered[:, :-1]).any(axis=0)
    edge = np.concatenate(([True], differs, [True]))
    found = np.empty(codes.shape[1], dtype=np.bool_)
    found[order] = edge[:-1] & edge[1:]
    found &= single.astype(np.bool_)
    return found
