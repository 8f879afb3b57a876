"""Row types as keys of bits, and patterns as masks: two row types share a cell where their masked keys agree.

An attribute has one group of bits per level that any pattern uses below the top: the value's place among
those with the same value at the next such level, so that a level is told by its group and those above.
Values that do not occur take no place. Groups never cross a word; keys take as many words as they need.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.model.frequency_set import FrequencySet
from discreet.model.pattern import PatternMask
from discreet.patterns.distinct import distinct

_WORD = 64


@dataclass(frozen=True, eq=False)
class PatternKeys:
    """``keys`` has shape ``(words, row types)`` and ``masks`` ``(patterns, words)``, in the mask's order."""

    keys: NDArray[np.uint64]
    masks: NDArray[np.uint64]


def pattern_keys(frequency_set: FrequencySet, mask: PatternMask) -> PatternKeys:
    """Keys of a frequency set's row types and masks of a mask's patterns."""
    words = _Words(frequency_set.row_types, len(mask))
    for j, hierarchy in enumerate(frequency_set.hierarchies):
        wanted = mask.levels[:, j]
        used = [level for level in range(hierarchy.height) if (wanted == level).any()]
        codes, of_row_type = distinct(frequency_set.codes[:, j])
        if not len(codes):
            continue
        values = [distinct(hierarchy.level_map(level)[codes])[1] for level in used]
        for number, value in enumerate(values):
            above = values[number + 1] if number + 1 < len(values) else np.zeros(len(codes), np.int64)
            first = np.full(int(above.max()) + 1, len(codes), np.int64)
            np.minimum.at(first, above, value)
            words.add((value - first[above])[of_row_type], wanted <= used[number])
    return PatternKeys(np.stack(words.keys), np.ascontiguousarray(np.stack(words.masks, axis=1)))


class _Words:
    """Words that groups of bits are put into, first where they fit."""

    def __init__(self, row_types: int, patterns: int) -> None:
        self._row_types, self._patterns = row_types, patterns
        self._used = [0]
        self.keys = [np.zeros(row_types, np.uint64)]
        self.masks = [np.zeros(patterns, np.uint64)]

    def add(self, digits: NDArray[np.int64], kept: NDArray[np.bool_]) -> None:
        """One group: each row type's digit, and the patterns that tell digits apart."""
        bits = int(digits.max(initial=0)).bit_length()
        if bits == 0:
            return
        word = next((w for w, used in enumerate(self._used) if used + bits <= _WORD), len(self._used))
        if word == len(self._used):
            self._used.append(0)
            self.keys.append(np.zeros(self._row_types, np.uint64))
            self.masks.append(np.zeros(self._patterns, np.uint64))
        shift = self._used[word]
        self.keys[word] |= digits.astype(np.uint64) << np.uint64(shift)
        self.masks[word][kept] |= np.uint64(((1 << bits) - 1) << shift)
        self._used[word] += bits
