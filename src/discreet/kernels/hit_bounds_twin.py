"""What the hits of groups stand for, key by key, in plain numpy: the twin of ``kernels.hit_bounds``."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

MOST = (1 << 63) - 1
"""The end of a key that no hit has."""


class GroupedValues(NamedTuple):
    """The values of every group in order, one group behind the other.

    Group ``first`` + i has ``values[starts[i]:starts[i + 1]]``, ascending; ``upto[j]`` is the sum of the
    first j of all.
    """

    first: int
    starts: Array
    values: Array
    upto: Array


class HitBounds(NamedTuple):
    """What hits stand for, by key: shape ``(keys,)``, and ``(keys, 6)`` of ``ends``.

    These are the least and the largest value of the least among the hits, and the one expected, then the same
    of the largest. ``expected`` is the sum that is.
    """

    hits: Array
    sum_lower: Array
    sum_upper: Array
    expected: Array
    ends: Array

    @classmethod
    def of_none(cls, keys: int) -> HitBounds:
        """Those of no hits."""
        hits, lower, upper = np.zeros((3, keys), dtype=np.int64)
        return cls(hits, lower, upper, np.zeros(keys), np.tile([MOST] * 3 + [-MOST] * 3, (keys, 1)))


def bound_hits_twin(packed: Array, bits: int, grouped: GroupedValues, found: HitBounds) -> None:
    """As ``hit_bounds.bound_hits``; numbers may come in any order."""
    pairs, hits = np.unique(packed.astype(np.int64), return_counts=True)
    group, key = (pairs >> bits) - grouped.first, pairs & ((1 << bits) - 1)
    begin, end = grouped.starts[group], grouped.starts[group + 1]
    rows, upto, values = end - begin, grouped.upto, grouped.values
    total = (upto[end] - upto[begin]).astype(np.float64)
    np.add.at(found.hits, key, hits)
    np.add.at(found.sum_lower, key, upto[begin + hits] - upto[begin])
    np.add.at(found.sum_upper, key, upto[end] - upto[end - hits])
    np.add.at(found.expected, key, hits * total / rows)
    rank = np.floor((rows + 1.0) / (hits + 1) + 0.5).astype(np.int64)
    rank = np.clip(rank, 1, rows)
    for place, line in enumerate((begin, end - hits, begin + rank - 1)):
        np.minimum.at(found.ends[:, place], key, values[line])
    for place, line in enumerate((begin + hits - 1, end - 1, end - rank)):
        np.maximum.at(found.ends[:, 3 + place], key, values[line])
