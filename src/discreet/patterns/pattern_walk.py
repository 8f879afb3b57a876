"""Walk over patterns and the row types that remain, with compiled kernels or their numpy twins.

A row type is a key of bits, with one group of bits per attribute and used level; a pattern is a mask.
Two row types share a cell if their masked keys are equal. Groups never cross a word; keys take as many
words as they need.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from discreet.frequency.class_requirement import ClassRequirement
from discreet.frequency.kernel_choice import choose_kernels
from discreet.kernels.local_recoding_twin import (
    count_covered_rows_twin,
    find_first_cover_twin,
    take_classes_twin,
)
from discreet.model.class_recoding import SUPPRESSED, PatternMask
from discreet.model.frequency_set import FrequencySet
from discreet.model.request import Backend
from discreet.patterns.pattern_assignment import find_distinct

if TYPE_CHECKING:
    from discreet.kernels.greedy_cover import RemainingTypes


_WORD = 64


@dataclass(frozen=True, eq=False)
class PatternKeys:
    """Bit keys of row types and bit masks of patterns.

    ``keys`` has shape ``(words, row types)`` and ``masks`` ``(patterns, words)``, in the mask's order.
    """

    keys: NDArray[np.uint64]
    masks: NDArray[np.uint64]


def build_pattern_keys(frequency_set: FrequencySet, mask: PatternMask) -> PatternKeys:
    """Build the keys of a frequency set's row types and the masks of a mask's patterns."""
    words = _KeyWords(frequency_set.row_types, len(mask))
    for j, hierarchy in enumerate(frequency_set.hierarchies):
        wanted = mask.levels[:, j]
        used = [level for level in range(hierarchy.height) if (wanted == level).any()]
        codes, of_row_type = find_distinct(frequency_set.codes[:, j])
        if not len(codes):
            continue
        values = [find_distinct(hierarchy.level_map(level)[codes])[1] for level in used]
        # Each level needs only the digits that distinguish values with the same value one used level above.
        for number, value in enumerate(values):
            above = values[number + 1] if number + 1 < len(values) else np.zeros(len(codes), np.int64)
            first = np.full(int(above.max()) + 1, len(codes), np.int64)
            np.minimum.at(first, above, value)
            words.add((value - first[above])[of_row_type], wanted <= used[number])
    return PatternKeys(np.stack(words.keys), np.ascontiguousarray(np.stack(words.masks, axis=1)))


class _KeyWords:
    """First-fit packing of groups of bits into words."""

    def __init__(self, row_types: int, patterns: int) -> None:
        self._row_types, self._patterns = row_types, patterns
        self._used = [0]
        self.keys = [np.zeros(row_types, np.uint64)]
        self.masks = [np.zeros(patterns, np.uint64)]

    def add(self, digits: NDArray[np.int64], retained: NDArray[np.bool_]) -> None:
        """Add one group: each row type's digit, and the patterns that distinguish the digits."""
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
        self.masks[word][retained] |= np.uint64(((1 << bits) - 1) << shift)
        self._used[word] += bits


WalkNotice = Callable[[str], None]
_STEPS_WORTH_COMPILING = 1 << 25


def open_walk(
    keys: PatternKeys, demand: ClassRequirement, evaluator: Backend | str, notice: WalkNotice | None = None
) -> PatternWalk:
    """Open a walk over all row types; criteria other than k and l, or a class test, need the twins."""
    work = keys.masks.shape[0] * keys.keys.shape[1]
    worth, chosen = work >= _STEPS_WORTH_COMPILING, Backend(evaluator)
    if demand.plain and choose_kernels(
        ("patterns",), "walk over patterns", worth=worth, evaluator=chosen, notice=notice
    ):
        return _CompiledWalk(keys, demand)
    return _NumpyWalk(keys, demand)


class _CompiledWalk:
    """Walk with the kernels of ``kernels.greedy_cover``; the methods are those of ``_NumpyWalk``."""

    def __init__(self, keys: PatternKeys, demand: ClassRequirement) -> None:
        from discreet.kernels.greedy_cover import allocate_slots

        self._counts = demand.frequency_set.counts
        self._keys, self._need = keys.keys, np.int32(demand.need)
        self._values = demand.values()
        self._remaining_types = self._all_row_types()
        self._slots = allocate_slots(len(self._counts))
        self.remaining = len(self._counts)
        self.class_of = np.full(len(self._counts), SUPPRESSED, np.int64)
        self.classes = 0

    def _all_row_types(self) -> RemainingTypes:
        from discreet.kernels.greedy_cover import RemainingTypes

        return RemainingTypes(
            keys=self._keys.copy(),
            rows=np.minimum(self._counts, self._need).astype(np.int32),
            types=np.arange(len(self._counts)),
        )

    def take(self, masks: NDArray[np.uint64]) -> NDArray[np.int64]:
        from discreet.kernels.greedy_cover import take_classes

        made = np.zeros(len(masks), np.int64)
        self.remaining, self.classes = take_classes(
            masks,
            self._need,
            self._remaining_types,
            self.remaining,
            self.classes,
            self.class_of,
            made,
            self._values,
            self._slots,
        )
        return made

    def placed_rows(self, mask: NDArray[np.uint64]) -> int:
        from discreet.kernels.greedy_cover import count_covered_rows

        rest, remaining = self._remaining_types, self.remaining
        return int(
            count_covered_rows(
                mask[None], 0, self._need, rest, remaining, self._counts, self._values, self._slots
            )
        )

    def first_holding(self, masks: NDArray[np.uint64], first: NDArray[np.int64]) -> None:
        from discreet.kernels.greedy_cover import find_first_cover

        find_first_cover(masks, self._need, self._all_row_types(), self._values, first, self._slots)

    def finish(self) -> None:
        from discreet.kernels.precompilation import mark_compiled

        mark_compiled("patterns")


class _NumpyWalk:
    """Walk with the numpy twins of ``kernels.local_recoding_twin``.

    ``class_of`` contains the class of each row type, ``classes`` counts the classes.
    """

    def __init__(self, keys: PatternKeys, demand: ClassRequirement) -> None:
        self._counts = demand.frequency_set.counts
        self._keys, self._need = keys.keys, demand.need
        self._holds = None if demand.counts_only else demand.holds
        self._types = np.arange(len(self._counts))
        self.class_of = np.full(len(self._counts), SUPPRESSED, np.int64)
        self.classes = 0

    @property
    def remaining(self) -> int:
        """Number of row types without class."""
        return len(self._types)

    def take(self, masks: NDArray[np.uint64]) -> NDArray[np.int64]:
        """Take every publishable class of each pattern in turn; return the number of classes per pattern."""
        made = np.zeros(len(masks), np.int64)
        self._types, self.classes = take_classes_twin(
            masks,
            self._need,
            self._keys,
            self._counts,
            self._types,
            self.classes,
            self.class_of,
            made,
            self._holds,
        )
        return made

    def placed_rows(self, mask: NDArray[np.uint64]) -> int:
        """Count the rows that one pattern would place."""
        return count_covered_rows_twin(mask, self._need, self._keys, self._counts, self._types, self._holds)

    def first_holding(self, masks: NDArray[np.uint64], first: NDArray[np.int64]) -> None:
        """Replace negative entries of ``first`` by the first pattern with a publishable class of all rows."""
        find_first_cover_twin(masks, self._need, self._keys, self._counts, first, self._holds)

    def finish(self) -> None:
        """End the walk: a compiled one marks its kernels as available."""


PatternWalk = _CompiledWalk | _NumpyWalk
