"""Row-type keys wider than one word: sections of attributes, and lattices evaluated in two parts.

A key contains the fields of one section, the number of the tuple of later attributes and the number of the
head; keys are recoded at the end of a section. If that does not fit, the attribute with the most values is
evaluated at its lowest level and above it separately. Plain numpy.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.kernels.histograms import Histograms
from discreet.kernels.lattice_rotation_plan import (
    WORD_BITS,
    RotationPlan,
    Tail,
    extract_field,
    order_attributes,
    plan_rotation,
)

Array = NDArray[Any]


@dataclass(frozen=True)
class KeySection:
    """Layout of a section's keys: fields of its positions, number of the later tuple, number of the head.

    Fields are in the lowest bits, the section's first position first.
    """

    first: int
    stop: int
    later_shift: int
    later_bits: int
    head_bits: int

    @property
    def head_shift(self) -> int:
        """Lowest bit of the head's number."""
        return self.later_shift + self.later_bits if self.head_bits else 0

    @property
    def head(self) -> int:
        """Mask of the head's number."""
        return ((1 << self.head_bits) - 1) << self.head_shift

    @property
    def later(self) -> int:
        """Mask of the later tuple's number."""
        return ((1 << self.later_bits) - 1) << self.later_shift


@dataclass(frozen=True, eq=False)
class KeySections:
    """Sections of a plan, and its row types as keys of the first section.

    ``shifts`` are those of each position in its own section's keys; ``fields[s]`` are the keys of section s +
    1 (without a head) by the numbers of later tuples in section s.
    """

    parts: tuple[KeySection, ...]
    shifts: tuple[int, ...]
    keys: Array
    fields: tuple[Array, ...]

    def of(self, position: int) -> KeySection:
        """Return the section of a position."""
        return next(part for part in self.parts if position < part.stop)

    def field(self, plan: RotationPlan, position: int) -> int:
        """Return the mask of a position's field."""
        return ((1 << plan.bits[position]) - 1) << self.shifts[position]

    def head_of(self, plan: RotationPlan, part: KeySection, stop: int) -> int:
        """Return the mask of the head in a section's keys: all positions before ``stop``."""
        return part.head | sum(self.field(plan, at) for at in range(part.first, stop))


def split_sections(plan: RotationPlan) -> KeySections | None:
    """Split a plan with sorted row types into sections; None if a key would not fit a word."""
    key: Any = np.uint32 if plan.key_bits == 32 else np.uint64
    if plan.words == 1 and plan.shift[-1] + plan.bits[-1] <= WORD_BITS:
        part = KeySection(0, len(plan.order), plan.shift[-1] + plan.bits[-1], 0, 0)
        return KeySections((part,), plan.shift, plan.keys[0].astype(key), ())
    fresh = _find_tuple_starts(plan)
    parts = _choose_sections(plan, [int(np.count_nonzero(of_position)) for of_position in fresh])
    if parts is None:
        return None
    shifts = [
        int(np.sum(plan.bits[part.first : at])) for part in parts for at in range(part.first, part.stop)
    ]
    keys: Array = np.zeros(0, key)
    tables: list[Array] = []
    for part in reversed(parts):
        # The later tuple's number is the index of its key in the next section, built in the previous pass.
        later = keys
        keys = np.zeros(len(plan.counts), key)
        for at in range(part.first, part.stop):
            keys |= extract_field(plan, plan.keys, at) << key(shifts[at])
        if part.stop < len(plan.order):
            tables.append(later[fresh[part.stop]])
            keys |= (np.cumsum(fresh[part.stop]) - 1).astype(key) << key(part.later_shift)
    return KeySections(tuple(parts), tuple(shifts), keys, tuple(reversed(tables)))


def _find_tuple_starts(plan: RotationPlan) -> list[NDArray[np.bool_]]:
    """Mark, per position, the row types whose tuple of attributes from it on differs from the previous.

    Row types are sorted with the last position as the most significant, so that equal tuples are adjacent.
    """
    found: list[NDArray[np.bool_]] = []
    differs = np.zeros(len(plan.counts), np.bool_)
    differs[:1] = True
    for position in range(len(plan.order) - 1, -1, -1):
        field = extract_field(plan, plan.keys, position)
        differs = differs.copy()
        differs[1:] |= field[1:] != field[:-1]
        found.append(differs)
    return found[::-1]


def _choose_sections(plan: RotationPlan, tuples: list[int]) -> list[KeySection] | None:
    """Choose the fewest sections; ``tuples`` counts the tuples of the attributes from each position on.

    The tail is in the last section. Returns None if a key would not fit a word.
    """
    parts: list[KeySection] = []
    first, last = 0, len(plan.order)
    while first < last:
        head = _head_bits(plan, first)
        for stop in range(last, first, -1):
            later_bits = 0 if stop == last else (tuples[stop] - 1).bit_length()
            later_shift = sum(plan.bits[first:stop])
            fits = later_shift + later_bits + head <= WORD_BITS
            if fits and (stop == last or stop <= plan.tail.head):
                parts.append(KeySection(first, stop, later_shift, later_bits, head))
                first = stop
                break
        else:
            return None
    return parts


def _head_bits(plan: RotationPlan, first: int) -> int:
    """Return the bits of a head's number: each head has at least two groups; isolated ones are removed."""
    if not first:
        return 0
    heads = 1
    for sizes in plan.sizes[:first]:
        heads *= sizes[0]
    return max(min(heads, len(plan.counts) // 2) - 1, 0).bit_length()


@dataclass(frozen=True, eq=False)
class LatticeFace:
    """Plan of a part of a lattice, its row types' sensitive values, and its nodes in the whole lattice."""

    plan: RotationPlan
    bits: NDArray[np.uint64] | None
    nodes: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class _FaceTable:
    """Row types: a column of ordinals by attribute, and the ordinals of each level."""

    columns: list[NDArray[np.int64]]
    levels: list[list[NDArray[np.int64]]]
    counts: NDArray[np.int64]
    bits: NDArray[np.uint64] | None
    added: bool


def split_faces(
    plan: RotationPlan, bits: NDArray[np.uint64] | None, *, added: bool
) -> tuple[LatticeFace, LatticeFace]:
    """Split the lattice of a plan without sections into two faces.

    ``bits`` are the row types' sensitive values; those of equal row types are ``added`` (rows of each value)
    or joined (sets).
    """
    table = _unpack_plan(plan, bits, added)
    several = [a for a, levels in enumerate(table.levels) if len(levels) > 1]
    split = max(several, key=lambda a: (len(table.levels[a][0]), -a))
    shape = [len(levels) for levels in table.levels]
    nodes = np.arange(prod(shape)).reshape(shape)
    lowest = (slice(None),) * split + (slice(0, 1),)
    above = (slice(None),) * split + (slice(1, None),)
    return (
        _make_face(_join_single_levels(_restrict_levels(table, split, 0, 1)), nodes[lowest].ravel()),
        _make_face(
            _merge_equal_types(_restrict_levels(table, split, 1, len(table.levels[split]))),
            nodes[above].ravel(),
        ),
    )


def join_faces(nodes: int, parts: list[tuple[LatticeFace, Histograms]]) -> Histograms:
    """Join the histograms of the faces to those of the whole lattice."""
    first = parts[0][1]
    small: Array = np.empty((nodes, first.small.shape[1]), np.result_type(*(h.small for _, h in parts)))
    classes, starts, stops = (np.empty(nodes, np.int64) for _ in range(3))
    offset = 0
    for face, found in parts:
        small[face.nodes], classes[face.nodes] = found.small, found.classes
        starts[face.nodes], stops[face.nodes] = found.starts + offset, found.stops + offset
        offset += len(found.rows)
    return Histograms(
        classes=classes,
        small=small,
        starts=starts,
        stops=stops,
        signatures=np.concatenate([found.signatures for _, found in parts], axis=1),
        rows=np.concatenate([found.rows for _, found in parts]),
        partial=first.partial,
    )


def _unpack_plan(plan: RotationPlan, bits: NDArray[np.uint64] | None, added: bool) -> _FaceTable:
    columns: list[NDArray[np.int64]] = [np.zeros(0, np.int64)] * len(plan.order)
    levels: list[list[NDArray[np.int64]]] = [[]] * len(plan.order)
    for position, attribute in enumerate(plan.order):
        columns[attribute] = extract_field(plan, plan.keys, position).astype(np.int64)
        found = [plan.steps[position][0].astype(np.int64)]
        for step in plan.steps[position][1:]:
            found.append(step.astype(np.int64)[found[-1]])
        levels[attribute] = found
    return _FaceTable(columns, levels, plan.counts, bits, added)


def _restrict_levels(table: _FaceTable, attribute: int, low: int, stop: int) -> _FaceTable:
    """Return the table with only levels ``low`` to ``stop`` of an attribute."""
    columns, levels = list(table.columns), list(table.levels)
    at = levels[attribute][low]
    columns[attribute] = at[columns[attribute]]
    first = np.flatnonzero(np.diff(at, prepend=-1))
    levels[attribute] = [level[first] for level in levels[attribute][low:stop]]
    return _FaceTable(columns, levels, table.counts, table.bits, table.added)


def _join_single_levels(table: _FaceTable) -> _FaceTable:
    """Join the attributes with one level: the first gets their tuples, the others one value."""
    single = [a for a, levels in enumerate(table.levels) if len(levels) == 1 and len(levels[0]) > 1]
    if len(single) < 2:
        return table
    columns, levels = list(table.columns), list(table.levels)

    def paired(tuples: NDArray[np.int64], attribute: int) -> NDArray[np.int64]:
        pairs = tuples * len(levels[attribute][0]) + columns[attribute]
        places: NDArray[np.int64] = np.unique(pairs, return_inverse=True)[1].astype(np.int64)
        return places

    tuples = reduce(paired, single[1:], columns[single[0]])
    for attribute in single[1:]:
        columns[attribute], levels[attribute] = np.zeros_like(tuples), [np.zeros(1, np.int64)]
    columns[single[0]], levels[single[0]] = tuples, [np.arange(int(tuples.max(initial=0)) + 1)]
    return _FaceTable(columns, levels, table.counts, table.bits, table.added)


def _merge_equal_types(table: _FaceTable) -> _FaceTable:
    """Merge equal row types."""
    sequence = np.lexsort(table.columns)
    fresh = np.zeros(len(sequence), np.bool_)
    fresh[:1] = True
    columns = [column[sequence] for column in table.columns]
    for column in columns:
        fresh[1:] |= column[1:] != column[:-1]
    starts = np.flatnonzero(fresh)
    bits = None
    if table.bits is not None:
        join = np.add if table.added else np.bitwise_or
        bits = join.reduceat(table.bits[sequence], starts, axis=0)
    return _FaceTable(
        [column[starts] for column in columns],
        table.levels,
        np.add.reduceat(table.counts[sequence], starts),
        bits,
        table.added,
    )


def _make_face(table: _FaceTable, nodes: NDArray[np.int64]) -> LatticeFace:
    """Build the face of a table; attributes with one level and several values are processed first."""
    numbers = [len(levels) for levels in table.levels]
    values = [len(levels[0]) for levels in table.levels]
    first = [a for a in range(len(numbers)) if numbers[a] == 1 and values[a] > 1]
    rest = [a for a in range(len(numbers)) if a not in first]
    order = None
    if first and rest:
        places, tail = order_attributes([numbers[a] for a in rest], [values[a] for a in rest])
        order = (*first, *(rest[slot] for slot in places)), Tail(tail.head + len(first), tail.cells)
    plan = plan_rotation(
        np.stack(table.columns, axis=1), table.counts, table.levels, order, least_key_bits=64
    )
    return LatticeFace(plan, None if table.bits is None else table.bits[plan.source], nodes)
