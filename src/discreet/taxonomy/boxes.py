"""Whether boxes of whole numbers are disjoint."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

_FEW = 48
_PAIRS_AT_ONCE = 1 << 20


def overlap(low: NDArray[np.int64], high: NDArray[np.int64]) -> bool:
    """Whether two of the boxes ``low[b] … high[b]`` (both inclusive), shape ``(boxes, attributes)``, meet.

    Boxes that a cut through one attribute parts are compared no more. Where no cut parts a group of boxes
    they are compared pair by pair: quadratic, which only pinwheels need; boxes made by cutting do not.
    """
    waiting = [np.arange(len(low))]
    while waiting:
        boxes = waiting.pop()
        groups = _parted(low[boxes], high[boxes]) if len(boxes) > _FEW else None
        if groups is not None:
            waiting += [boxes[group] for group in groups]
        elif _some_pair_meets(low[boxes], high[boxes]):
            return True
    return False


def _parted(low: NDArray[np.int64], high: NDArray[np.int64]) -> list[NDArray[np.int64]] | None:
    """The groups that cuts through one attribute part, or None where no attribute has such a cut."""
    for i in range(low.shape[1]):
        order = np.argsort(low[:, i], kind="stable")
        reached = np.maximum.accumulate(high[order, i])
        cuts = np.flatnonzero(low[order[1:], i] > reached[:-1]) + 1
        if len(cuts):
            return np.split(order, cuts)
    return None


def _some_pair_meets(low: NDArray[np.int64], high: NDArray[np.int64]) -> bool:
    step = max(1, _PAIRS_AT_ONCE // max(len(low), 1))
    for start in range(0, len(low), step):
        end = min(start + step, len(low))
        meet = np.arange(start, end)[:, None] < np.arange(len(low))
        for i in range(low.shape[1]):
            meet &= (low[start:end, i, None] <= high[:, i]) & (low[:, i] <= high[start:end, i, None])
        if meet.any():
            return True
    return False
