"""Sets of sensitive values as bits, in forms that the compiler tells apart by an array's dimensions.

None: no sets are kept, and every call here compiles to nothing. One: ``(sets,)``, a single attribute of at
most 64 values. Three: ``(sets, 1, 2)``, a single attribute of at most 128 values, in two words. Two:
``(sets, words)``, any number of attributes and values, each attribute beginning a word of its own. The short
forms have no inner loop, which is what makes them several times as fast.

Four: ``(sets, 1, blocks, 4)``, the rows of each value, as numbers side by side in each word (``value_rows``),
words in blocks of four. Such sets are joined by adding their words: no number outgrows its lane.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.kernels.jit import inlined

Array = NDArray[Any]
BitSets = Any
_EMPTY = np.uint64(0)


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
    """Set j of ``target`` becomes set i of ``source``, in the form of four dimensions."""
    # The first block outside of the loop, since most sets have no other.
    copy_block(source, i, 0, target, j)
    for k in range(1, source.shape[2]):
        copy_block(source, i, k, target, j)


@inlined
def add_block(one: Array, i: int, other: Array, j: int, k: int, target: Array, to: int, kept: Any) -> None:
    """Add four words, as ``add_rows``."""
    a = one[i, 0, k, 0] + (other[j, 0, k, 0] & kept)
    b = one[i, 0, k, 1] + (other[j, 0, k, 1] & kept)
    c = one[i, 0, k, 2] + (other[j, 0, k, 2] & kept)
    d = one[i, 0, k, 3] + (other[j, 0, k, 3] & kept)
    target[to, 0, k, 0] = a
    target[to, 0, k, 1] = b
    target[to, 0, k, 2] = c
    target[to, 0, k, 3] = d


@inlined
def add_rows(one: Array, i: int, other: Array, j: int, target: Array, to: int, kept: Any) -> None:
    """Set ``to`` becomes set i of ``one``, and what the mask ``kept`` leaves of set j of ``other``."""
    add_block(one, i, other, j, 0, target, to, kept)
    for k in range(1, one.shape[2]):
        add_block(one, i, other, j, k, target, to, kept)


@inlined
def copy_set(source: BitSets, i: int, target: BitSets, j: int) -> None:
    """Set j of ``target`` becomes set i of ``source``."""
    # Decided as it is compiled: None and the number of dimensions belong to the type.
    if source is not None:
        if source.ndim == 1:
            target[j] = source[i]
        elif source.ndim == 3:
            target[j, 0, 0] = source[i, 0, 0]
            target[j, 0, 1] = source[i, 0, 1]
        elif source.ndim == 4:
            copy_rows(source, i, target, j)
        else:
            for w in range(source.shape[1]):
                target[j, w] = source[i, w]


@inlined
def join_set(source: BitSets, i: int, target: BitSets, j: int, fresh: bool) -> None:
    """Set j of ``target`` takes in set i of ``source``, or becomes it where ``fresh``."""
    if source is not None:
        if source.ndim == 1:
            target[j] = source[i] | (_EMPTY if fresh else target[j])
        elif source.ndim == 3:
            target[j, 0, 0] = source[i, 0, 0] | (_EMPTY if fresh else target[j, 0, 0])
            target[j, 0, 1] = source[i, 0, 1] | (_EMPTY if fresh else target[j, 0, 1])
        elif source.ndim == 4:
            # A mask, since four choices would be four branches.
            add_rows(source, i, target, j, target, j, _EMPTY if fresh else ~_EMPTY)
        else:
            for w in range(source.shape[1]):
                target[j, w] = source[i, w] | (_EMPTY if fresh else target[j, w])


@inlined
def clear_set(target: BitSets, j: int) -> None:
    """Set j becomes empty."""
    if target is not None:
        if target.ndim == 1:
            target[j] = _EMPTY
        elif target.ndim == 3:
            target[j, 0, 0] = _EMPTY
            target[j, 0, 1] = _EMPTY
        elif target.ndim == 4:
            for b in range(target.shape[2]):
                for w in range(4):
                    target[j, 0, b, w] = _EMPTY
        else:
            for w in range(target.shape[1]):
                target[j, w] = _EMPTY


@inlined
def population(word: Any) -> Any:
    """The number of bits that are set (a form that compilers turn into one instruction)."""
    # Bits are added in pairs, then in fours, then in bytes; the product adds the bytes up in the highest.
    word = word - ((word >> np.uint64(1)) & np.uint64(0x5555555555555555))
    word = (word & np.uint64(0x3333333333333333)) + ((word >> np.uint64(2)) & np.uint64(0x3333333333333333))
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return (word * np.uint64(0x0101010101010101)) >> np.uint64(56)


@inlined
def pack_distinct(bits: Array, i: int, words: Array, widths: Array) -> Any:
    """Distinct values of each sensitive attribute in set i, packed side by side (``widths`` bits each)."""
    if bits.ndim == 1:
        return population(bits[i])
    elif bits.ndim == 3:  # noqa: RET505 (the compiler drops the other branches of an if-else only)
        return population(bits[i, 0, 0]) + population(bits[i, 0, 1])
    else:
        packed = _EMPTY
        for attribute in range(len(widths)):
            distinct = _EMPTY
            for w in range(words[attribute], words[attribute + 1]):
                distinct += population(bits[i, w])
            packed = (packed << widths[attribute]) | distinct
        return packed


@inlined
def add_marginals(a: Any, b: Any, c: Any, d: Any, packed: Array) -> None:
    """Add the populations of the nine marginals (``tally_sizes.tally_rows``) of four words."""
    packed[0] += population(a)
    packed[1] += population(b)
    packed[2] += population(c)
    packed[3] += population(d)
    packed[4] += population(a | b)
    packed[5] += population(c | d)
    packed[6] += population(a | c)
    packed[7] += population(b | d)
    packed[8] += population(a | b | c | d)


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
