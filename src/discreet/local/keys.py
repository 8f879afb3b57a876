"""Row types as keys of bit fields, one per attribute, and what each level of each leaf loses.

See ``kernels.local_trees`` for the form. A cell's loss is ARX's: (m − 1) / D for a value that stands for m of
the hierarchy's D leaves, and NULL below the top stands for itself alone (``measures.granularity``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from discreet.measures.granularity import level_shares
from discreet.model.frequency_set import FrequencySet
from discreet.model.hierarchy import GeneralizationHierarchy
from discreet.model.lattice import LatticeNode

if TYPE_CHECKING:
    from discreet.kernels.local_trees import Trees

_WORD = 64


@dataclass(frozen=True, eq=False)
class KeySpace:
    """The keys of a frequency set's row types, within level limits.

    ``keys`` has shape ``(words, row types)``. Of attribute j the levels ``levels[j]`` are told apart (all of
    them, unless its field would not fit one word) and ``node_masks[j]``, shape ``(levels, words)``, are the
    bits that remain at each. ``losses[j]``, shape ``(levels, leaves + 1)``, is the weighted loss of a cell by
    level and leaf code: a level below the least allowed loses as much as that one, a level above the greatest
    is infinite. ``level_masks``, ``word`` and ``losses`` are what ``trees`` holds as arrays.
    """

    frequency_set: FrequencySet
    keys: NDArray[np.uint64]
    levels: tuple[tuple[int, ...], ...]
    allowed: tuple[tuple[int, ...], ...]
    node_masks: tuple[NDArray[np.uint64], ...]
    level_masks: tuple[tuple[int, ...], ...]
    word: tuple[int, ...]
    losses: tuple[NDArray[np.float64], ...]
    weights: tuple[float, ...]

    @property
    def words(self) -> int:
        """The words of a key."""
        return len(self.keys)

    @property
    def forbidden(self) -> NDArray[np.uint64]:
        """The bits in which members of one class must agree: those at the greatest levels and above."""
        mask = np.zeros(self.words, np.uint64)
        for j, allowed in enumerate(self.allowed):
            mask |= self.node_masks[j][self.levels[j].index(allowed[-1])]
        return mask

    @property
    def worst(self) -> float:
        """The loss of one suppressed row: every cell at its top."""
        tops = (1.0 - 1.0 / len(h.leaves) for h in self.frequency_set.hierarchies)
        return sum(weight * top for weight, top in zip(self.weights, tops, strict=True))

    def granularity_of(self, loss: float) -> float:
        """The granularity, by the weights, of a recoding whose rows lose so much in all."""
        most = self.worst * self.frequency_set.rows
        return 1.0 - loss / most if most else 1.0

    def trees(self) -> Trees:
        """The hierarchies as the kernels read them."""
        return trees_of(self)


def key_space(
    frequency_set: FrequencySet,
    low: LatticeNode,
    high: LatticeNode,
    weights: Mapping[str, float] | None = None,
) -> KeySpace:
    """Keys and losses of a frequency set between the nodes ``low`` and ``high``."""
    given = dict(weights or {})
    fields = [
        _Field.of(hierarchy, (low[j], high[j])) for j, hierarchy in enumerate(frequency_set.hierarchies)
    ]
    places, words = _places([field.bits for field in fields])
    keys = np.zeros((words, frequency_set.row_types), np.uint64)
    node_masks, level_masks, losses = [], [], []
    for j, (hierarchy, field, (word, shift)) in enumerate(
        zip(frequency_set.hierarchies, fields, places, strict=True)
    ):
        keys[word] |= (field.codes << np.uint64(shift))[frequency_set.codes[:, j]]
        masks = [(((1 << field.bits) - 1) >> at << at) << shift for at in (*field.starts, field.bits)]
        wide = np.zeros((len(masks), words), np.uint64)
        wide[:, word] = np.array(masks, np.uint64)
        node_masks.append(wide)
        level_masks.append(tuple(masks[:-1]))
        shares = level_shares(hierarchy)[list(field.levels)] * given.get(hierarchy.attribute, 1.0)
        losses.append(_limited(shares, field.levels, low[j], high[j]))
    return KeySpace(
        frequency_set=frequency_set,
        keys=keys,
        levels=tuple(field.levels for field in fields),
        allowed=tuple(
            tuple(level for level in field.levels if low[j] <= level <= high[j])
            for j, field in enumerate(fields)
        ),
        node_masks=tuple(node_masks),
        level_masks=tuple(level_masks),
        word=tuple(word for word, _ in places),
        losses=tuple(losses),
        weights=tuple(given.get(name, 1.0) for name in frequency_set.attributes),
    )


def trees_of(space: KeySpace) -> Trees:
    """The hierarchies of a key space as the kernels read them."""
    from discreet.kernels.local_trees import Trees

    numbers = [len(masks) for masks in space.level_masks]
    sizes = [table.size for table in space.losses]
    return Trees(
        word=np.array(space.word, np.int64),
        first=np.cumsum([0, *numbers]).astype(np.int64),
        masks=np.array([mask for masks in space.level_masks for mask in masks], np.uint64),
        base=np.cumsum([0, *sizes[:-1]]).astype(np.int64),
        width=np.array([table.shape[1] for table in space.losses], np.int64),
        losses=np.concatenate([table.ravel() for table in space.losses]),
    )


@dataclass(frozen=True, eq=False)
class _Field:
    """One attribute's field: the levels told apart, where each level's bits start, and each leaf's bits."""

    levels: tuple[int, ...]
    starts: tuple[int, ...]
    bits: int
    codes: NDArray[np.uint64]

    @classmethod
    def of(cls, hierarchy: GeneralizationHierarchy, limits: tuple[int, int]) -> _Field:
        """All levels where they fit one word, else every other one, as often as needed."""
        levels = list(range(hierarchy.height + 1))
        needed = {0, hierarchy.height, *limits}
        while True:
            digits = _digits(hierarchy, levels)
            widths = [int(column.max(initial=0)).bit_length() for column in digits]
            droppable = [level for level in levels if level not in needed]
            if sum(widths) <= _WORD or not droppable:
                break
            gone = set(droppable[::2])
            levels = [level for level in levels if level not in gone]
        starts = np.cumsum([0, *widths]).tolist()
        codes = np.zeros(hierarchy.null_code + 1, np.uint64)
        for column, start in zip(digits, starts, strict=False):
            codes |= column.astype(np.uint64) << np.uint64(start)
        return cls(tuple(levels), tuple(starts[:-1]), starts[-1], codes)


def _digits(hierarchy: GeneralizationHierarchy, levels: Sequence[int]) -> list[NDArray[np.int64]]:
    """For each level below the top, each leaf's (and NULL's) place among its siblings there."""
    found = []
    for level, above in pairwise(levels):
        child, parent = hierarchy.level_map(level), hierarchy.level_map(above)
        first = np.full(int(parent.max()) + 1, len(child), np.int64)
        np.minimum.at(first, parent, child)
        found.append(child - first[parent])
    return found


def _places(bits: Sequence[int]) -> tuple[list[tuple[int, int]], int]:
    """A word and a shift for each field, none across two words; and the number of words."""
    places, word, used = [], 0, 0
    for width in bits:
        if used + width > _WORD:
            word, used = word + 1, 0
        places.append((word, used))
        used += width
    return places, word + 1


def _limited(
    shares: NDArray[np.float64], levels: Sequence[int], least: int, greatest: int
) -> NDArray[np.float64]:
    table: NDArray[np.float64] = shares.copy()
    for place, level in enumerate(levels):
        if level < least:
            table[place] = shares[levels.index(least)]
        elif level > greatest:
            table[place] = np.inf
    return table
