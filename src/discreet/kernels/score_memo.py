"""A memory of classes' signatures by the rows of their values, so that few classes are scored twice.

Most classes of a node are classes of many others, and small ones with the same values are alike in all that a
criterion asks. A place is found by hashing; it keeps the last class that fell on it, whole, so that a class
is known only where every word is equal.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.kernels.bit_sets import copy_rows
from discreet.kernels.jit import compiled, inlined

Array = NDArray[Any]

PLACES = 1 << 15
"""How many classes are remembered, of one block of words each; a power of two."""
UNKNOWN = np.uint64(2**64 - 1)
"""No signature, since a signature leaves room for a size above it."""
# Odd, without a pattern in the bits.
_FIRST, _SECOND = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xC2B2AE3D27D4EB4F)
_THIRD, _FOURTH = np.uint64(0x165667B19E3779F9), np.uint64(0xD6E8FEB86659FD93)
_FOLD = np.uint64(32)


class Memo(NamedTuple):
    """One thread's memory: ``words`` (shape ``(places, 1, blocks, 4)``), and the signature of each place."""

    words: Array
    packed: Array


def memo(blocks: int, places: int = PLACES) -> Memo:
    """An empty one, for classes of so many blocks; the more these are, the fewer classes it keeps."""
    places >>= (blocks - 1).bit_length()
    return Memo(np.zeros((places, 1, blocks, 4), np.uint64), np.full(places, UNKNOWN))


@inlined
def mixed(words: Array, c: int, k: int) -> Any:
    """Four words of a class in one."""
    first = words[c, 0, k, 0] * _FIRST + words[c, 0, k, 1] * _SECOND
    return first + words[c, 0, k, 2] * _THIRD + words[c, 0, k, 3] * _FOURTH


@inlined
def place_of(words: Array, c: int, places: int) -> Any:
    """The place of a class's words, of so many, a power of two."""
    total = mixed(words, c, 0)
    for k in range(1, words.shape[2]):
        total = (total ^ (total >> _FOLD)) * _FIRST + mixed(words, c, k)
    total = (total ^ (total >> _FOLD)) * _SECOND
    # A product carries upwards only: the high bits depend on all.
    return np.int64(total >> _FOLD) & (places - 1)


@inlined
def difference(words: Array, c: int, others: Array, place: int, k: int) -> Any:
    """The bits in which four words differ."""
    first = (words[c, 0, k, 0] ^ others[place, 0, k, 0]) | (words[c, 0, k, 1] ^ others[place, 0, k, 1])
    second = (words[c, 0, k, 2] ^ others[place, 0, k, 2]) | (words[c, 0, k, 3] ^ others[place, 0, k, 3])
    return first | second


@inlined
def same(words: Array, c: int, others: Array, place: int) -> Any:
    """Whether two classes hold the same rows."""
    differ = difference(words, c, others, place, 0)
    for k in range(1, words.shape[2]):
        differ |= difference(words, c, others, place, k)
    return differ == np.uint64(0)


@compiled
def recall(words: Array, classes: int, memo: Memo, packed: Array, missed: Array, places: Array) -> int:
    """Signatures of classes from memory; those that are not known move to the front of ``words``.

    Their number is returned; ``missed`` says which they were, and ``places`` where to keep them.
    """
    kept, told = memo.words, memo.packed
    number = 0
    for c in range(classes):
        place = place_of(words, c, len(told))
        found = told[place]
        packed[c] = found
        # Moved in any case, and kept only where it is not known: no branch.
        missed[number] = c
        places[number] = place
        known = same(words, c, kept, place)
        copy_rows(words, c, words, number)
        number += (found == UNKNOWN) | (not known)
    return number


@compiled
def remember(
    words: Array, number: int, fresh: Array, memo: Memo, packed: Array, missed: Array, places: Array
) -> None:
    """Keep the signatures that ``recall`` did not know, now that they are told."""
    kept, told = memo.words, memo.packed
    for n in range(number):
        packed[missed[n]] = fresh[n]
        told[places[n]] = fresh[n]
        copy_rows(words, n, kept, places[n])
