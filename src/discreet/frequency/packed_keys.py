"""Leaf codes of several attributes packed in words: generalized in place, and grouped by equality.

A key has a bit field per attribute, which holds the smallest leaf code of the value that is shown. So
generalizing replaces a field and never moves one, an attribute at its top is a cleared field, and an
attribute that is left out is one at its top. Keys take as many 64-bit words as they need.

Equal keys are found by sorting, each key with its place in the low bits of one word where both fit. Several
words are sorted by one word mixed from them; neighbours are compared by all words, and where the mixture put
two different keys on one place, the words themselves are sorted. So the result is exact. After two million
keys the compiled kernels (``kernels.group_keys``) take over where there are any: they hash, several times as
fast, and loading them pays for itself after a few hundred sorts.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from discreet.frequency.placed_sort import sort_with_places
from discreet.kernels.compiler import has_compiler
from discreet.model.hierarchy import GeneralizationHierarchy
from discreet.model.lattice import LatticeNode
from discreet.settings import compile_policy

_WORD = 64
_KEYS_BEFORE_KERNELS = 2_000_000
_MIX = (0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0xD6E8FEB86659FD93)
Keys = NDArray[np.uint64]
"""Shape ``(words, keys)``."""

Grouping = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]
"""The class of each key, the place of one key of each class, and each class's sum of counts."""


class KeyFields:
    """Where each attribute lies in a key, and what its leaf codes become at each level."""

    def __init__(self, hierarchies: tuple[GeneralizationHierarchy, ...]) -> None:
        self._hierarchies = hierarchies
        self._word: list[int] = []
        self._shift: list[np.uint64] = []
        self._mask: list[np.uint64] = []
        self._changes: dict[tuple[int, int], Keys] = {}
        self._grouped = 0
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

    def pack(self, codes: NDArray[np.int64]) -> Keys:
        """Keys of rows of leaf codes, shape ``(rows, attributes)``."""
        keys = np.zeros((self.words, len(codes)), np.uint64)
        for i, (word, shift) in enumerate(zip(self._word, self._shift, strict=True)):
            keys[word] |= codes[:, i].astype(np.uint64) << shift
        return keys

    def codes(self, keys: Keys) -> NDArray[np.int64]:
        """A leaf code per attribute of each key, shape ``(keys, attributes)``: the smallest of its value."""
        columns = [self._column(keys, i).astype(np.int64) for i in range(len(self._hierarchies))]
        return np.stack(columns, axis=1)

    def generalized(self, keys: Keys, source: LatticeNode, node: LatticeNode) -> Keys:
        """The keys of classes at ``source``, at a higher node; not merged."""
        result = keys.copy()
        changed = []
        cleared = [0] * self.words
        for i, (old, new) in enumerate(zip(source, node, strict=True)):
            if old != new and new == self._hierarchies[i].height:
                cleared[self._word[i]] |= int(self._mask[i]) << int(self._shift[i])
            elif old != new:
                changed.append(i)
        for word, fields in enumerate(cleared):
            if fields:
                result[word] &= np.uint64(~fields & ((1 << _WORD) - 1))
        replace = _replace_by_kernel if self._compiled else _replace_field
        for i in changed:
            replace(result[self._word[i]], self._shift[i], self._mask[i], self._change(i, node[i]))
        return result

    def group(self, keys: Keys, counts: NDArray[np.int64]) -> Grouping:
        """Equal keys as classes, by whichever way is faster now."""
        self._grouped += keys.shape[1]
        return group_equal(keys, counts, compiled=self._compiled)

    @property
    def _compiled(self) -> bool:
        if self._grouped < _KEYS_BEFORE_KERNELS or compile_policy() == "never":
            return False
        return has_compiler()

    def _column(self, keys: Keys, attribute: int) -> Keys:
        codes: Keys = (keys[self._word[attribute]] >> self._shift[attribute]) & self._mask[attribute]
        return codes

    def _change(self, attribute: int, level: int) -> Keys:
        """By leaf code (NULL last): its exclusive or with the smallest code of its value, in place."""
        found = self._changes.get((attribute, level))
        if found is None:
            positions = self._hierarchies[attribute].level_map(level)
            _, first, inverse = np.unique(positions, return_index=True, return_inverse=True)
            smallest = first[inverse].astype(np.uint64)
            found = (smallest ^ np.arange(len(smallest), dtype=np.uint64)) << self._shift[attribute]
            self._changes[attribute, level] = found
        return found


def _replace_field(word: Keys, shift: np.uint64, mask: np.uint64, change: Keys) -> None:
    held = word >> shift
    held &= mask
    word ^= change.take(held.view(np.int64))


def _replace_by_kernel(word: Keys, shift: np.uint64, mask: np.uint64, change: Keys) -> None:
    from discreet.kernels.group_keys import replace_field

    replace_field(word, shift, mask, change)


def group_equal(keys: Keys, counts: NDArray[np.int64], *, compiled: bool) -> Grouping:
    """Equal keys as classes, by the compiled hash or by sorting; classes are in no promised order."""
    if compiled:
        from discreet.kernels.group_keys import group_keys

        return group_keys(keys, counts)
    order, starts = sort_keys(keys)
    fresh = np.zeros(len(order), np.int64)
    fresh[starts[1:]] = 1
    class_of = np.empty(len(order), np.int64)
    class_of[order] = np.cumsum(fresh)
    sizes = np.add.reduceat(counts[order], starts) if len(order) else counts
    return class_of, order[starts], sizes


def sort_keys(keys: Keys) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """An order of the keys in which equal ones are neighbours, and where each run of them starts."""
    number = keys.shape[1]
    words = keys[[bool(word.any()) for word in keys]]
    if not len(words):
        return np.arange(number), np.zeros(min(number, 1), np.int64)
    if len(words) == 1:
        return _sort_word(words[0])
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
    """The same of keys of one word."""
    joined = word.copy()
    places = sort_with_places(joined)
    if places is None:
        order = np.argsort(word)
        return order, _starts(word[order][np.newaxis])
    order = (joined & np.uint64((1 << places) - 1)).view(np.int64)
    joined >>= np.uint64(places)
    return order, _starts(joined[np.newaxis])


def _starts(ordered: Keys) -> NDArray[np.int64]:
    """Where a key differs from the one before it."""
    fresh = np.ones(ordered.shape[1], np.bool_)
    differs = ordered[:, 1:] != ordered[:, :-1]
    fresh[1:] = differs[0] if len(differs) == 1 else differs.any(axis=0)
    return np.flatnonzero(fresh)
