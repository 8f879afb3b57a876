"""Leaf codes packed into words: sorted with positions, generalized in place, and grouped by equality.

A field contains the smallest leaf code of the shown value, so generalization changes fields but never their
positions. Equal keys are found by sorting; after two million keys the compiled hash takes over
(``kernels.key_grouping``).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from discreet.kernels.numba_import import has_numba
from discreet.model.hierarchy import GeneralizationHierarchy
from discreet.model.lattice import LatticeNode
from discreet.settings import compile_policy

_SORT_WORD_BITS, _HALF_WORD_BITS = 64, 32


def sort_with_positions(numbers: NDArray[np.uint64]) -> int | None:
    """Sort numbers in place, each followed by its original position in the low bits; return their number.

    Equal numbers keep their order. Returns None and does nothing if the largest number and a position do not
    fit into 64 bits.
    """
    bits = max(len(numbers) - 1, 0).bit_length()
    if int(numbers.max(initial=0)).bit_length() + bits > _SORT_WORD_BITS:
        return None
    numbers <<= np.uint64(bits)
    if bits <= _HALF_WORD_BITS:
        numbers |= np.arange(len(numbers), dtype=np.uint32)
    else:
        numbers |= np.arange(len(numbers), dtype=np.uint64)
    numbers.sort()
    return bits


_WORD = 64
_KEYS_BEFORE_KERNELS = 2_000_000
_MIX = (0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0xD6E8FEB86659FD93)
PackedKeys = NDArray[np.uint64]
"""Array of shape ``(words, keys)``."""

KeyGrouping = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]
"""Class of each key, position of one key per class, and sum of counts per class."""


class KeyFields:
    """Position of each attribute in a key, and the changes of its leaf codes per level."""

    def __init__(self, hierarchies: tuple[GeneralizationHierarchy, ...]) -> None:
        self._hierarchies = hierarchies
        self._word: list[int] = []
        self._shift: list[np.uint64] = []
        self._mask: list[np.uint64] = []
        self._changes: dict[tuple[int, int], PackedKeys] = {}
        self._grouped = 0
        # Fields are packed from the low bits of a word; an attribute never spans two words.
        used, word = _WORD, -1
        for hierarchy in hierarchies:
            width = max(hierarchy.null_code.bit_length(), 1)
            if used + width > _WORD:
                word, used = word + 1, 0
            self._word.append(word)
            self._shift.append(np.uint64(used))
            self._mask.append(np.uint64((1 << width) - 1))
            used += width
        self.words = word + 1

    def pack(self, codes: NDArray[np.int64]) -> PackedKeys:
        """Return the keys of rows of leaf codes, shape ``(rows, attributes)``."""
        keys = np.zeros((self.words, len(codes)), np.uint64)
        for i, (word, shift) in enumerate(zip(self._word, self._shift, strict=True)):
            keys[word] |= codes[:, i].astype(np.uint64) << shift
        return keys

    def codes(self, keys: PackedKeys) -> NDArray[np.int64]:
        """Return the smallest leaf code of each key's values, shape ``(keys, attributes)``."""
        columns = [self._column(keys, i).astype(np.int64) for i in range(len(self._hierarchies))]
        return np.stack(columns, axis=1)

    def generalized(self, keys: PackedKeys, source: LatticeNode, node: LatticeNode) -> PackedKeys:
        """Generalize the keys of classes at ``source`` to a higher node, without merging equal keys."""
        result = keys.copy()
        changed = []
        cleared = [0] * self.words
        for i, (old, new) in enumerate(zip(source, node, strict=True)):
            # At the top every field is 0: all such fields of a word are cleared with one mask.
            if old != new and new == self._hierarchies[i].height:
                cleared[self._word[i]] |= int(self._mask[i]) << int(self._shift[i])
            elif old != new:
                changed.append(i)
        for word, fields in enumerate(cleared):
            if fields:
                result[word] &= np.uint64(~fields & ((1 << _WORD) - 1))
        replace = _replace_field_compiled if self._compiled else _replace_field
        for i in changed:
            replace(result[self._word[i]], self._shift[i], self._mask[i], self._change(i, node[i]))
        return result

    def group(self, keys: PackedKeys, counts: NDArray[np.int64]) -> KeyGrouping:
        """Group equal keys as classes, by hashing or sorting, whichever is faster now."""
        self._grouped += keys.shape[1]
        return group_equal(keys, counts, compiled=self._compiled)

    @property
    def _compiled(self) -> bool:
        if self._grouped < _KEYS_BEFORE_KERNELS or compile_policy() == "never":
            return False
        return has_numba()

    def _column(self, keys: PackedKeys, attribute: int) -> PackedKeys:
        codes: PackedKeys = (keys[self._word[attribute]] >> self._shift[attribute]) & self._mask[attribute]
        return codes

    def _change(self, attribute: int, level: int) -> PackedKeys:
        """Return by leaf code (NULL last) its exclusive or with the smallest code of its value, shifted."""
        result = self._changes.get((attribute, level))
        if result is None:
            positions = self._hierarchies[attribute].level_map(level)
            _, first, inverse = np.unique(positions, return_index=True, return_inverse=True)
            smallest = first[inverse].astype(np.uint64)
            result = (smallest ^ np.arange(len(smallest), dtype=np.uint64)) << self._shift[attribute]
            self._changes[attribute, level] = result
        return result


def _replace_field(word: PackedKeys, shift: np.uint64, mask: np.uint64, change: PackedKeys) -> None:
    field_code = word >> shift
    field_code &= mask
    word ^= change.take(field_code.view(np.int64))


def _replace_field_compiled(word: PackedKeys, shift: np.uint64, mask: np.uint64, change: PackedKeys) -> None:
    from discreet.kernels.key_grouping import exchange_field

    exchange_field(word, shift, mask, change)


def group_equal(keys: PackedKeys, counts: NDArray[np.int64], *, compiled: bool) -> KeyGrouping:
    """Group equal keys as classes, by the compiled hash or by sorting; the order of classes is undefined."""
    if compiled:
        from discreet.kernels.key_grouping import group_equal_keys

        return group_equal_keys(keys, counts)
    order, starts = sort_packed_keys(keys)
    fresh = np.zeros(len(order), np.int64)
    fresh[starts[1:]] = 1
    class_of = np.empty(len(order), np.int64)
    class_of[order] = np.cumsum(fresh)
    sizes = np.add.reduceat(counts[order], starts) if len(order) else counts
    return class_of, order[starts], sizes


def sort_packed_keys(keys: PackedKeys) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return an order in which equal keys are adjacent, and the start of each run."""
    number = keys.shape[1]
    words = keys[[bool(word.any()) for word in keys]]
    if not len(words):
        return np.arange(number), np.zeros(min(number, 1), np.int64)
    if len(words) == 1:
        return _sort_word(words[0])
    # Sort by a 64-bit hash of the words; the exact sort is needed only if two keys have the same hash.
    mixed = np.zeros(number, np.uint64)
    for i, word in enumerate(words):
        mixed ^= word * np.uint64(_MIX[i % len(_MIX)])
        mixed ^= mixed >> np.uint64(29)
    order = np.argsort(mixed)
    ordered, mixed = words[:, order], mixed[order]
    starts = _starts(ordered)
    if len(starts) != len(_starts(mixed[np.newaxis])):
        order = np.lexsort(words)
        starts = _starts(words[:, order])
    return order, starts


def _sort_word(word: NDArray[np.uint64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return order and starts of keys of one word."""
    joined = word.copy()
    places = sort_with_positions(joined)
    if places is None:
        order = np.argsort(word)
        return order, _starts(word[order][np.newaxis])
    order = (joined & np.uint64((1 << places) - 1)).view(np.int64)
    joined >>= np.uint64(places)
    return order, _starts(joined[np.newaxis])


def _starts(ordered: PackedKeys) -> NDArray[np.int64]:
    """Return the positions where a key differs from the previous one."""
    fresh = np.ones(ordered.shape[1], np.bool_)
    differs = ordered[:, 1:] != ordered[:, :-1]
    fresh[1:] = differs[0] if len(differs) == 1 else differs.any(axis=0)
    return np.flatnonzero(fresh)
