"""The rows of each sensitive value in a class, packed: what compiled scores read.

A word holds as many numbers side by side as fit, its *lanes*, each as wide as the most rows that any value
has in the table: adding words adds the rows of every value at once, and no lane overflows. Each attribute
begins a word of its own. Few values occur in most classes, and only lanes that are not empty are looked at.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.kernels.bit_sets import population
from discreet.kernels.jit import compiled

Array = NDArray[Any]
BLOCK = 4
_NOTHING, _ONE = np.uint64(0), np.uint64(1)


class Lanes(NamedTuple):
    """Where a value's rows stand: ``lane_of_bit`` of a word, the ``width`` in bits, ``mask`` of one lane.

    ``words`` bounds each attribute's words, ``lanes`` is how many there are in one.
    """

    width: Any
    mask: Any
    lanes: int
    lane_of_bit: Array
    words: Array


class Occurring(NamedTuple):
    """The values of an attribute that occur in some classes (scratch).

    Those of class c are ``codes[starts[c]:starts[c + 1]]``, ascending, with their rows in ``counts``;
    ``known[c]`` are the rows of all.
    """

    codes: Array
    counts: Array
    starts: Array
    known: Array


def lanes_of(most: int, values: Sequence[int]) -> Lanes:
    """Lanes for numbers up to ``most``, of attributes that have so many values."""
    width = max(1, most.bit_length())
    lanes = 64 // width
    bounds = np.cumsum([0, *(max(1, -(-size // lanes)) for size in values)])
    return Lanes(
        np.uint64(width),
        np.uint64((1 << width) - 1),
        lanes,
        np.minimum(np.arange(64) // width, lanes),
        bounds,
    )


def no_rows(lanes: Lanes, sets: int) -> Array:
    """So many empty sets, shape ``(sets, words)``, the words filled up to whole blocks of four."""
    return np.zeros((sets, -(-int(lanes.words[-1]) // BLOCK) * BLOCK), np.uint64)


def packed_rows(
    lanes: Lanes,
    place: int,
    owners: NDArray[np.int64],
    codes: NDArray[np.int64],
    rows: NDArray[np.int64],
    to: Array,
) -> None:
    """Add the ``rows`` of an attribute's values to their owners' sets in ``to`` (``no_rows``)."""
    word = lanes.words[place] + codes // lanes.lanes
    shift = (codes % lanes.lanes).astype(np.uint64) * lanes.width
    np.add.at(to, (owners, word), rows.astype(np.uint64) << shift)


@compiled
def unpack(
    words: Array,
    classes: int,
    first: int,
    last: int,
    width: Any,
    mask: Any,
    lanes: int,
    lane_of_bit: Array,
    codes: Array,
    counts: Array,
    starts: Array,
    known: Array,
) -> None:
    """List the values that occur in the words ``first`` to ``last`` of each class (``Occurring``)."""
    number = 0
    for c in range(classes):
        starts[c] = number
        total = 0
        for w in range(first, last):
            word = words[c, 0, w >> 2, w & 3]
            base = (w - first) * lanes
            while word != _NOTHING:
                # The lowest bit that is set lies in the first lane that is not empty.
                lane = lane_of_bit[np.int64(population((word & (~word + _ONE)) - _ONE))]
                shift = np.uint64(lane) * width
                rows = int((word >> shift) & mask)
                word &= ~(mask << shift)
                codes[number] = base + lane
                counts[number] = rows
                total += rows
                number += 1
        known[c] = total
    starts[classes] = number
