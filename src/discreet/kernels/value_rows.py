"""The rows of each sensitive value in a class, packed: what compiled scores read.

A word holds as many numbers side by side as fit, its *lanes*, each as wide as the rows that its value has in
the table: adding words adds the rows of every value at once, and no lane overflows. Values stand in ascending
order, and each attribute begins a word of its own. Few values occur in most classes, and only lanes that are
not empty are looked at.
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
WORD_BITS = 64
_NOTHING, _ONE = np.uint64(0), np.uint64(1)


class Lanes(NamedTuple):
    """Where a value's rows stand: in which word and how far to the left, by lane.

    Lanes are numbered through all attributes, ``first[p]`` being the first of attribute p, whose words are
    ``words[p]`` up to ``words[p + 1]``. ``lane_of_bit`` (shape ``(words, 64)``) tells the lane at each bit,
    ``masks`` the bits of each lane, at their place.
    """

    word: Array
    shifts: Array
    masks: Array
    lane_of_bit: Array
    first: Array
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


def lanes_of(most: Sequence[NDArray[np.int64]]) -> Lanes:
    """Lanes of attributes for numbers up to ``most``, by attribute and value."""
    word: list[int] = []
    shifts: list[int] = []
    first, words = [0], [0]
    for each in most:
        at, used = words[-1], 0
        for width in _widths(each):
            if used + width > WORD_BITS:
                at, used = at + 1, 0
            word.append(at)
            shifts.append(used)
            used += width
        first.append(len(word))
        words.append(at + 1)
    widths = np.array([width for each in most for width in _widths(each)], np.uint64)
    lane_of_bit = np.zeros((words[-1], WORD_BITS), np.int64)
    for lane, (at, shift, width) in enumerate(zip(word, shifts, widths.tolist(), strict=True)):
        lane_of_bit[at, shift : shift + width] = lane
    ones = ~_NOTHING >> (np.uint64(WORD_BITS) - widths)
    return Lanes(
        np.array(word, np.int64),
        np.array(shifts, np.uint64),
        ones << np.array(shifts, np.uint64),
        lane_of_bit,
        np.array(first),
        np.array(words),
    )


def _widths(most: NDArray[np.int64]) -> list[int]:
    return [max(1, int(number).bit_length()) for number in most]


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
    lane = lanes.first[place] + codes
    np.add.at(to, (owners, lanes.word[lane]), rows.astype(np.uint64) << lanes.shifts[lane])


@compiled
def unpack(words: Array, classes: int, place: int, lanes: Lanes, found: Occurring) -> None:
    """List the values of one attribute that occur in each class."""
    codes, counts, starts, known = found.codes, found.counts, found.starts, found.known
    shifts, masks, lane_of_bit = lanes.shifts, lanes.masks, lanes.lane_of_bit
    first, begin, end = lanes.first[place], lanes.words[place], lanes.words[place + 1]
    number = 0
    for c in range(classes):
        starts[c] = number
        total = 0
        for w in range(begin, end):
            word = words[c, 0, w >> 2, w & 3]
            while word != _NOTHING:
                # The lowest bit that is set lies in the first lane that is not empty.
                lane = lane_of_bit[w, np.int64(population((word & (~word + _ONE)) - _ONE))]
                rows = int((word & masks[lane]) >> shifts[lane])
                word &= ~masks[lane]
                codes[number] = lane - first
                counts[number] = rows
                total += rows
                number += 1
        known[c] = total
    starts[classes] = number
