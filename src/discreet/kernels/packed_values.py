"""Sensitive values of classes packed into words: bit sets, and row counts per value side by side.

The form is determined by the number of array dimensions at compile time, because numba drops the branches of
other dimensions: one word (1), any number of words (2), two words (3), blocks of four words with one lane per
value (4), or no sets (5). Sets are joined by or, counts by addition.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.kernels.numba_jit import compiled, inlined

Array = NDArray[Any]
_EMPTY = np.uint64(0)
NO_SETS = np.zeros((0, 1, 1, 1, 1), np.uint64)
"""Sets of groups without sensitive values; never indexed."""


@inlined
def copy_block(source: Array, i: int, k: int, target: Array, j: int) -> None:
    """Copy four words, all read before any is written."""
    a, b, c, d = source[i, 0, k, 0], source[i, 0, k, 1], source[i, 0, k, 2], source[i, 0, k, 3]
    target[j, 0, k, 0] = a
    target[j, 0, k, 1] = b
    target[j, 0, k, 2] = c
    target[j, 0, k, 3] = d


@inlined
def copy_rows(source: Array, i: int, target: Array, j: int) -> None:
    """Copy set i of ``source`` to set j of ``target``, in the form of four dimensions."""
    # The first block is outside the loop, because most sets have only one.
    copy_block(source, i, 0, target, j)
    for k in range(1, source.shape[2]):
        copy_block(source, i, k, target, j)


@inlined
def add_block(
    one: Array, i: int, other: Array, j: int, k: int, target: Array, to: int, selected: Any
) -> None:
    """Add four words as ``add_rows`` does."""
    a = one[i, 0, k, 0] + (other[j, 0, k, 0] & selected)
    b = one[i, 0, k, 1] + (other[j, 0, k, 1] & selected)
    c = one[i, 0, k, 2] + (other[j, 0, k, 2] & selected)
    d = one[i, 0, k, 3] + (other[j, 0, k, 3] & selected)
    target[to, 0, k, 0] = a
    target[to, 0, k, 1] = b
    target[to, 0, k, 2] = c
    target[to, 0, k, 3] = d


@inlined
def add_rows(one: Array, i: int, other: Array, j: int, target: Array, to: int, selected: Any) -> None:
    """Store set i of ``one`` plus set j of ``other``, masked by ``selected``, in set ``to`` of ``target``."""
    add_block(one, i, other, j, 0, target, to, selected)
    for k in range(1, one.shape[2]):
        add_block(one, i, other, j, k, target, to, selected)


@inlined
def copy_set(source: Array, i: int, target: Array, j: int) -> None:
    """Copy set i of ``source`` to set j of ``target``."""
    if source.ndim == 1:
        target[j] = source[i]
    elif source.ndim == 3:
        target[j, 0, 0] = source[i, 0, 0]
        target[j, 0, 1] = source[i, 0, 1]
    elif source.ndim == 4:
        copy_rows(source, i, target, j)
    elif source.ndim == 2:
        for w in range(source.shape[1]):
            target[j, w] = source[i, w]


@inlined
def union_set(source: Array, i: int, target: Array, j: int, fresh: bool) -> None:
    """Join set i of ``source`` into set j of ``target``, or replace it if ``fresh``."""
    if source.ndim == 1:
        target[j] = source[i] | (_EMPTY if fresh else target[j])
    elif source.ndim == 3:
        target[j, 0, 0] = source[i, 0, 0] | (_EMPTY if fresh else target[j, 0, 0])
        target[j, 0, 1] = source[i, 0, 1] | (_EMPTY if fresh else target[j, 0, 1])
    elif source.ndim == 4:
        # A mask, because four conditional values would become four branches.
        add_rows(source, i, target, j, target, j, _EMPTY if fresh else ~_EMPTY)
    elif source.ndim == 2:
        for w in range(source.shape[1]):
            target[j, w] = source[i, w] | (_EMPTY if fresh else target[j, w])


@inlined
def clear_set(target: Array, j: int) -> None:
    """Empty set j of ``target``."""
    if target.ndim == 1:
        target[j] = _EMPTY
    elif target.ndim == 3:
        target[j, 0, 0] = _EMPTY
        target[j, 0, 1] = _EMPTY
    elif target.ndim == 4:
        for b in range(target.shape[2]):
            for w in range(4):
                target[j, 0, b, w] = _EMPTY
    elif target.ndim == 2:
        for w in range(target.shape[1]):
            target[j, w] = _EMPTY


@inlined
def popcount(word: Any) -> Any:
    """Count the bits that are set, in a form that compilers translate to one instruction."""
    # Sums of bits in pairs, in fours, in bytes; the product adds up the bytes in the highest byte.
    word = word - ((word >> np.uint64(1)) & np.uint64(0x5555555555555555))
    word = (word & np.uint64(0x3333333333333333)) + ((word >> np.uint64(2)) & np.uint64(0x3333333333333333))
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return (word * np.uint64(0x0101010101010101)) >> np.uint64(56)


@inlined
def pack_distinct(bits: Array, i: int, words: Array, widths: Array) -> Any:
    """Pack the distinct values of each sensitive attribute in set i side by side (``widths`` bits each)."""
    if bits.ndim == 1:
        return popcount(bits[i])
    elif bits.ndim == 3:  # noqa: RET505 (the compiler drops the other branches of an if-else only)
        return popcount(bits[i, 0, 0]) + popcount(bits[i, 0, 1])
    else:
        packed = _EMPTY
        for attribute in range(len(widths)):
            distinct = _EMPTY
            for w in range(words[attribute], words[attribute + 1]):
                distinct += popcount(bits[i, w])
            packed = (packed << widths[attribute]) | distinct
        return packed


@inlined
def add_marginals(a: Any, b: Any, c: Any, d: Any, packed: Array) -> None:
    """Add the bit counts of the nine marginals (``size_tallies.tally_rows``) of four words."""
    packed[0] += popcount(a)
    packed[1] += popcount(b)
    packed[2] += popcount(c)
    packed[3] += popcount(d)
    packed[4] += popcount(a | b)
    packed[5] += popcount(c | d)
    packed[6] += popcount(a | c)
    packed[7] += popcount(b | d)
    packed[8] += popcount(a | b | c | d)


@inlined
def pack_marginals(bits: Array, i: int, words: Array, widths: Array, packed: Array) -> None:
    """Fill ``packed`` as ``pack_distinct`` does, for the nine marginals of the four sets from i on."""
    for m in range(9):
        packed[m] = 0
    if bits.ndim == 1:
        add_marginals(bits[i], bits[i + 1], bits[i + 2], bits[i + 3], packed)
    elif bits.ndim == 3:
        a, b, c, d = bits[i, 0, 0], bits[i + 1, 0, 0], bits[i + 2, 0, 0], bits[i + 3, 0, 0]
        add_marginals(a, b, c, d, packed)
        a, b, c, d = bits[i, 0, 1], bits[i + 1, 0, 1], bits[i + 2, 0, 1], bits[i + 3, 0, 1]
        add_marginals(a, b, c, d, packed)
    else:
        for attribute in range(len(widths)):
            for m in range(9):
                packed[m] <<= widths[attribute]
            for w in range(words[attribute], words[attribute + 1]):
                add_marginals(bits[i, w], bits[i + 1, w], bits[i + 2, w], bits[i + 3, w], packed)


WORDS_PER_BLOCK = 4
LANE_WORD_BITS = 64
_NOTHING, _ONE = np.uint64(0), np.uint64(1)


class LaneLayout(NamedTuple):
    """Position of each value's rows in the packed words: word and shift, by lane.

    Lanes are numbered through all attributes; ``first[p]`` is the first lane of attribute p, whose words are
    ``words[p]`` to ``words[p + 1]``. ``lane_of_bit`` (shape ``(words, 64)``) is the lane at each bit,
    ``masks`` the bits of each lane, in position.
    """

    word: Array
    shifts: Array
    masks: Array
    lane_of_bit: Array
    first: Array
    words: Array


class OccurringValues(NamedTuple):
    """Values of an attribute that occur in some classes (scratch).

    Values of class c are ``codes[starts[c]:starts[c + 1]]``, ascending, with their rows in ``counts``;
    ``known[c]`` is the sum of these rows.
    """

    codes: Array
    counts: Array
    starts: Array
    known: Array


def lay_out_lanes(most: Sequence[NDArray[np.int64]]) -> LaneLayout:
    """Arrange lanes for counts up to ``most``, by attribute and value; no lane spans two words."""
    word: list[int] = []
    shifts: list[int] = []
    first, words = [0], [0]
    for each in most:
        at, used = words[-1], 0
        for width in _lane_widths(each):
            if used + width > LANE_WORD_BITS:
                at, used = at + 1, 0
            word.append(at)
            shifts.append(used)
            used += width
        first.append(len(word))
        words.append(at + 1)
    widths = np.array([width for each in most for width in _lane_widths(each)], np.uint64)
    lane_of_bit = np.zeros((words[-1], LANE_WORD_BITS), np.int64)
    for lane, (at, shift, width) in enumerate(zip(word, shifts, widths.tolist(), strict=True)):
        lane_of_bit[at, shift : shift + width] = lane
    ones = ~_NOTHING >> (np.uint64(LANE_WORD_BITS) - widths)
    return LaneLayout(
        np.array(word, np.int64),
        np.array(shifts, np.uint64),
        ones << np.array(shifts, np.uint64),
        lane_of_bit,
        np.array(first),
        np.array(words),
    )


def _lane_widths(most: NDArray[np.int64]) -> list[int]:
    return [max(1, int(number).bit_length()) for number in most]


def empty_value_rows(lanes: LaneLayout, sets: int) -> Array:
    """Return ``sets`` empty sets, shape ``(sets, words)``, with words padded to whole blocks of four."""
    return np.zeros((sets, -(-int(lanes.words[-1]) // WORDS_PER_BLOCK) * WORDS_PER_BLOCK), np.uint64)


def add_value_rows(
    lanes: LaneLayout,
    slot: int,
    owners: NDArray[np.int64],
    codes: NDArray[np.int64],
    rows: NDArray[np.int64],
    to: Array,
) -> None:
    """Add the ``rows`` of an attribute's values to their owners' sets in ``to`` (``empty_value_rows``)."""
    lane = lanes.first[slot] + codes
    np.add.at(to, (owners, lanes.word[lane]), rows.astype(np.uint64) << lanes.shifts[lane])


@compiled
def unpack_values(
    words: Array, classes: int, slot: int, lanes: LaneLayout, occurring_values: OccurringValues
) -> None:
    """List the values of one attribute that occur in each class."""
    codes, counts, starts, known = (
        occurring_values.codes,
        occurring_values.counts,
        occurring_values.starts,
        occurring_values.known,
    )
    shifts, masks, lane_of_bit = lanes.shifts, lanes.masks, lanes.lane_of_bit
    first, begin, end = lanes.first[slot], lanes.words[slot], lanes.words[slot + 1]
    number = 0
    for c in range(classes):
        starts[c] = number
        total = 0
        for w in range(begin, end):
            word = words[c, 0, w >> 2, w & 3]
            while word != _NOTHING:
                # The lowest bit that is set belongs to the first lane that is not empty.
                lane = lane_of_bit[w, np.int64(popcount((word & (~word + _ONE)) - _ONE))]
                rows = int((word & masks[lane]) >> shifts[lane])
                word &= ~masks[lane]
                codes[number] = lane - first
                counts[number] = rows
                total += rows
                number += 1
        known[c] = total
    starts[classes] = number
