"""Keys of any width in one word: the attributes in sections, of which a key holds one at a time.

The rotation treats attributes one after the other. Those that it has treated, the *head*, only have to be
told apart any more: a number of the head does. Those that come *later* only have to be told apart so far: a
number of their tuple does, and a table says which fields it stands for. So a key holds the fields of one
section of the attributes, the number of the later tuple and the number of the head. Behind the last attribute
of a section the keys are coded again (``rotation.recode``): heads are numbered as they follow each other in
the sort order, and later tuples become the next section's fields.

A key of 64 bits or fewer is one section. There are at most as many tuples as row types, so that several
sections hold what would fill many words: with two million row types or fewer, any number of attributes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.kernels.plan import WORD_BITS, RotationPlan, field_of

Array = NDArray[Any]


@dataclass(frozen=True)
class Section:
    """Where a section's keys hold what: its positions' fields, the later tuple's number, the head's number.

    Fields lie in the lowest bits, the section's first position first.
    """

    first: int
    stop: int
    later_shift: int
    later_bits: int
    head_bits: int

    @property
    def head_shift(self) -> int:
        """Where the head's number begins."""
        return self.later_shift + self.later_bits if self.head_bits else 0

    @property
    def head(self) -> int:
        """The mask of the head's number."""
        return ((1 << self.head_bits) - 1) << self.head_shift

    @property
    def later(self) -> int:
        """The mask of the later tuple's number."""
        return ((1 << self.later_bits) - 1) << self.later_shift


@dataclass(frozen=True, eq=False)
class Sections:
    """The sections of a plan, and its row types as keys of the first.

    ``shifts`` are those of each position in its own section's keys; ``fields[s]`` are the keys of section
    s + 1 (without a head) by the numbers of later tuples in section s.
    """

    parts: tuple[Section, ...]
    shifts: tuple[int, ...]
    keys: Array
    fields: tuple[Array, ...]

    def of(self, position: int) -> Section:
        """The section of a position."""
        return next(part for part in self.parts if position < part.stop)

    def field(self, plan: RotationPlan, position: int) -> int:
        """The mask of a position's field."""
        return ((1 << plan.bits[position]) - 1) << self.shifts[position]

    def head_of(self, plan: RotationPlan, part: Section, stop: int) -> int:
        """The mask of the head in a section's keys: all positions before ``stop``."""
        return part.head | sum(self.field(plan, at) for at in range(part.first, stop))


def sections_of(plan: RotationPlan) -> Sections | None:
    """The sections of a plan whose row types are in order; None where a key would not fit a word."""
    key: Any = np.uint32 if plan.key_bits == 32 else np.uint64
    if plan.words == 1 and plan.shift[-1] + plan.bits[-1] <= WORD_BITS:
        part = Section(0, len(plan.order), plan.shift[-1] + plan.bits[-1], 0, 0)
        return Sections((part,), plan.shift, plan.keys[0].astype(key), ())
    fresh = _fresh(plan)
    parts = _parts(plan, [int(np.count_nonzero(of_position)) for of_position in fresh])
    if parts is None:
        return None
    shifts = [
        int(np.sum(plan.bits[part.first : at])) for part in parts for at in range(part.first, part.stop)
    ]
    keys: Array = np.zeros(0, key)
    tables: list[Array] = []
    for part in reversed(parts):
        # The number of later tuples is that of the tuples which the keys after it were made of.
        later = keys
        keys = np.zeros(len(plan.counts), key)
        for at in range(part.first, part.stop):
            keys |= field_of(plan, plan.keys, at) << key(shifts[at])
        if part.stop < len(plan.order):
            tables.append(later[fresh[part.stop]])
            keys |= (np.cumsum(fresh[part.stop]) - 1).astype(key) << key(part.later_shift)
    return Sections(tuple(parts), tuple(shifts), keys, tuple(reversed(tables)))


def _fresh(plan: RotationPlan) -> list[NDArray[np.bool_]]:
    """For each position: where the tuple of the attributes from it on differs from the row type before.

    Row types are sorted with the last position as the most significant, so that such tuples are neighbours.
    """
    found: list[NDArray[np.bool_]] = []
    differs = np.zeros(len(plan.counts), np.bool_)
    differs[:1] = True
    for position in range(len(plan.order) - 1, -1, -1):
        field = field_of(plan, plan.keys, position)
        differs = differs.copy()
        differs[1:] |= field[1:] != field[:-1]
        found.append(differs)
    return found[::-1]


def _parts(plan: RotationPlan, tuples: list[int]) -> list[Section] | None:
    """The fewest positions that begin a section; ``tuples`` are those of the attributes from each on.

    The tail is in the last section.
    """
    parts: list[Section] = []
    first, last = 0, len(plan.order)
    while first < last:
        head = _head_bits(plan, first)
        for stop in range(last, first, -1):
            later_bits = 0 if stop == last else (tuples[stop] - 1).bit_length()
            later_shift = sum(plan.bits[first:stop])
            fits = later_shift + later_bits + head <= WORD_BITS
            if fits and (stop == last or stop <= plan.tail.head):
                parts.append(Section(first, stop, later_shift, later_bits, head))
                first = stop
                break
        else:
            return None
    return parts


def _head_bits(plan: RotationPlan, first: int) -> int:
    """The bits of a head's number: each head has two groups or more, for isolated ones are set apart."""
    if not first:
        return 0
    heads = 1
    for sizes in plan.sizes[:first]:
        heads *= sizes[0]
    return max(min(heads, len(plan.counts) // 2) - 1, 0).bit_length()
