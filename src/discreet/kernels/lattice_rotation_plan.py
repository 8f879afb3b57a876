"""Rotation plan: packed keys, ordinals of every level, and the program of operations on them.

Ordinals of a level are dense and keep the depth-first order of the leaves, so generalization is a lookup that
keeps the order. The program (roll up, rotate, keep, tally) depends on the hierarchies only and is divided
into one task per sub-lattice for threads. Plain numpy.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

WORD_BITS = 64
_MOST_CELL_ATTRIBUTES = 2


def count_words_of(values: int) -> int:
    """Return the number of words of a bit set of ``values`` possible values."""
    return max(1, -(-values // WORD_BITS))


@dataclass(frozen=True)
class Tail:
    """End of the plan's order: positions where head, cells and the outer attribute begin."""

    head: int
    cells: int

    @property
    def outer(self) -> int:
        """Position of the outer attribute, the last of the order."""
        return self.head + self.cells


def order_attributes(levels: Sequence[int], values: Sequence[int]) -> tuple[tuple[int, ...], Tail]:
    """Choose the processing order and its tail from each attribute's numbers of levels and values.

    Head attributes are sorted by descending number of levels: states deep in the recursion are the most
    numerous, and then have the least work.
    """
    by_size = sorted(range(len(levels)), key=lambda a: (-levels[a], -values[a], a))
    binary = [a for a in by_size if levels[a] == 2 and values[a] == 2]
    others = [a for a in by_size if a not in binary]
    outer = (others or binary)[-1]
    cells = [a for a in binary if a != outer][-_MOST_CELL_ATTRIBUTES:]
    head = [a for a in by_size if a != outer and a not in cells]
    return (*head, *cells, outer), Tail(head=len(head), cells=len(cells))


@dataclass(frozen=True, eq=False)
class RotationPlan:
    """Row types packed and sorted, ready for rotation.

    ``order[i]`` is the attribute processed i-th; every other sequence over attributes is in that order.
    ``steps[i][l]`` maps ordinals of level ``l - 1`` to ordinals of level ``l`` (``steps[i][0]`` is the
    identity); ``sizes[i][l]`` is the number of ordinals of level ``l``. ``keys`` has shape ``(words, row
    types)``, sorted with the attribute processed first as the least significant. ``source`` is the row type
    of each position. ``strides`` are those of the lattice (mixed radix, original order). ``key_bits`` (32 or
    64) is the width of a word.
    """

    order: tuple[int, ...]
    steps: tuple[tuple[NDArray[np.uint64], ...], ...]
    sizes: tuple[tuple[int, ...], ...]
    word: tuple[int, ...]
    shift: tuple[int, ...]
    bits: tuple[int, ...]
    strides: tuple[int, ...]
    keys: NDArray[np.uint64]
    counts: NDArray[np.int64]
    source: NDArray[np.int64]
    key_bits: int
    tail: Tail

    @property
    def nodes(self) -> int:
        """Number of lattice nodes."""
        size = 1
        for levels in self.sizes:
            size *= len(levels)
        return size

    @property
    def words(self) -> int:
        """Number of 64-bit words of a key."""
        return int(self.keys.shape[0])


def plan_rotation(
    codes: NDArray[np.int64],
    counts: NDArray[np.int64],
    level_maps: Sequence[Sequence[NDArray[np.int64]]],
    order: tuple[Sequence[int], Tail] | None = None,
    *,
    least_key_bits: int = 32,
    in_order: bool = True,
) -> RotationPlan:
    """Build the plan for row types ``codes`` (shape ``(row types, attributes)``) with ``counts``.

    ``level_maps[a][l]`` maps a code of attribute ``a`` to its position in level ``l`` and must be
    non-decreasing. ``order`` and its tail default to those of ``order_attributes``. Keys of one word are 32
    bits wide if they fit, or at least ``least_key_bits``. With ``in_order=False`` row types are not sorted.
    """
    columns, steps, sizes = [], [], []
    for a, of_attribute in enumerate(np.ascontiguousarray(codes.T)):
        column, attribute_steps = _dense_levels(of_attribute, level_maps[a])
        columns.append(column)
        steps.append(attribute_steps)
        sizes.append(tuple(_size(step) for step in attribute_steps))
    sequence, tail = order or order_attributes([len(s) for s in sizes], [s[0] for s in sizes])
    bits = [max(1, (sizes[a][0] - 1).bit_length()) for a in sequence]
    word, shift = _pack(bits)
    keys = np.zeros(((word[-1] if word else 0) + 1, len(counts)), np.uint64)
    for i, a in enumerate(sequence):
        keys[word[i]] |= (columns[a] << shift[i]).view(np.uint64)
    source = np.arange(len(counts))
    if in_order:
        source = np.lexsort(tuple(keys)) if keys.shape[0] > 1 else np.argsort(keys[0], kind="stable")
    return RotationPlan(
        order=tuple(sequence),
        steps=tuple(steps[a] for a in sequence),
        sizes=tuple(sizes[a] for a in sequence),
        word=tuple(word),
        shift=tuple(shift),
        bits=tuple(bits),
        strides=_strides(sizes, sequence),
        keys=np.ascontiguousarray(keys[:, source]) if in_order else keys,
        counts=(counts[source] if in_order else counts).astype(np.int64),
        source=source.astype(np.int64),
        key_bits=_key_bits(word, shift, bits, least_key_bits),
        tail=tail,
    )


def _dense_levels(
    codes: NDArray[np.int64], maps: Sequence[NDArray[np.int64]]
) -> tuple[NDArray[np.int64], tuple[NDArray[np.uint64], ...]]:
    """Return dense ordinals of one attribute's codes, and the step from each level to the next."""
    present = np.flatnonzero(np.bincount(codes, minlength=1))
    dense = np.zeros(int(present[-1]) + 1 if len(present) else 0, np.int64)
    dense[present] = np.arange(len(present))
    steps = [np.arange(len(present), dtype=np.uint64)]
    first = np.arange(len(present))
    for level in range(1, len(maps)):
        positions = maps[level][present]
        ordinals = np.zeros(len(present), np.int64)
        np.cumsum(positions[1:] != positions[:-1], out=ordinals[1:])
        steps.append(ordinals[first].astype(np.uint64))
        first = np.flatnonzero(np.diff(ordinals, prepend=-1))
    column = codes if len(dense) == len(present) else dense[codes]
    return column, tuple(steps)


def _size(step: NDArray[np.uint64]) -> int:
    return int(step[-1]) + 1 if len(step) else 0


def _pack(bits: Sequence[int]) -> tuple[list[int], list[int]]:
    """Return the word and the shift of each field."""
    word, shift, current, used = [], [], 0, 0
    for width in bits:
        if used + width > WORD_BITS:
            current, used = current + 1, 0
        word.append(current)
        shift.append(used)
        used += width
    return word, shift


def _key_bits(word: Sequence[int], shift: Sequence[int], bits: Sequence[int], least: int) -> int:
    fits = not word or (word[-1] == 0 and shift[-1] + bits[-1] <= 32)
    return max(32 if fits else 64, least)


def _strides(sizes: Sequence[Sequence[int]], order: Sequence[int]) -> tuple[int, ...]:
    strides = [1] * len(sizes)
    for a in range(len(sizes) - 2, -1, -1):
        strides[a] = strides[a + 1] * len(sizes[a + 1])
    return tuple(strides[a] for a in order)


def extract_field(plan: RotationPlan, keys: NDArray[Any], depth: int) -> NDArray[Any]:
    """Extract the ordinals of the attribute processed at ``depth`` from keys ``(words, groups)``."""
    kind = keys.dtype.type
    mask = kind((1 << plan.bits[depth]) - 1)
    field: NDArray[Any] = (keys[plan.word[depth]] >> kind(plan.shift[depth])) & mask
    return field


# Opcodes of a task's program; the loop is compiled, and integers dispatch without objects.
ROLL_UP, ROTATE, KEEP, TALLY = 0, 1, 2, 3


@dataclass(frozen=True, eq=False)
class RotationTask:
    """Sub-lattice with the program that evaluates it, beginning with the row types in buffer ``start``.

    ``prefix`` contains the fixed levels of its first head attributes. ``program`` has shape ``(operations,
    5)``: ROLL_UP (buffer, position, level, 0), ROTATE (buffer, position, to buffer, level), KEEP (buffer,
    position, 0, 0), TALLY (buffer, index of the node, 0, 0). KEEP replaces ROTATE if an attribute has a
    single ordinal.
    """

    prefix: tuple[int, ...]
    start: int
    program: NDArray[np.int64]


def split_tasks(plan: RotationPlan, at_least: int) -> list[RotationTask]:
    """Divide the lattice into at least ``at_least`` tasks if it has that many parts, largest first."""
    tail, fixed, parts = plan.tail, 0, 1
    while parts < at_least and fixed < tail.head:
        parts *= len(plan.steps[fixed])
        fixed += 1
    rest = np.array([[TALLY, 0, 0, 0, 0]])
    for position in range(tail.head - 1, fixed - 1, -1):
        rest = _all_levels(plan, position, rest)
    return [_make_task(plan, prefix, rest) for prefix in _prefixes(plan, fixed)]


def _make_task(plan: RotationPlan, prefix: tuple[int, ...], rest: NDArray[np.int64]) -> RotationTask:
    """Make the task of a prefix: its operations alternate buffers 0 and 1, then ``rest`` in buffer 0."""
    # Start in the buffer from which the last rotation ends in buffer 0, where ``rest`` begins.
    turns = sum(not _has_one_ordinal(plan, position, level) for position, level in enumerate(prefix))
    start = now = turns % 2
    operations = []
    for position, level in enumerate(prefix):
        operations += [
            [ROLL_UP, now, position, step, 0] for step in range(1, level + 1) if _merges(plan, position, step)
        ]
        if _has_one_ordinal(plan, position, level):
            operations.append([KEEP, now, position, 0, 0])
        else:
            operations.append([ROTATE, now, position, 1 - now, level])
            now = 1 - now
    own = np.array(operations, dtype=np.int64).reshape(-1, 5)
    return RotationTask(
        prefix, start, np.concatenate([own, _shift_program(rest, 0, _lowest_node(plan, prefix))])
    )


def _has_one_ordinal(plan: RotationPlan, position: int, level: int) -> bool:
    """Return whether the attribute has a single ordinal at a level."""
    return plan.sizes[position][level] == 1


def _merges(plan: RotationPlan, position: int, level: int) -> bool:
    """Return whether a level has fewer ordinals than the one below."""
    return plan.sizes[position][level] != plan.sizes[position][level - 1]


def _prefixes(plan: RotationPlan, fixed: int) -> list[tuple[int, ...]]:
    prefixes: list[tuple[int, ...]] = [()]
    for position in range(fixed):
        prefixes = [(*p, level) for p in prefixes for level in range(len(plan.steps[position]))]
    # Lowest prefixes first: their states are the largest, so the longest tasks start first.
    return sorted(prefixes, key=sum)


def _lowest_node(plan: RotationPlan, prefix: tuple[int, ...]) -> int:
    """Return the index of the lowest node with these levels."""
    return sum(level * stride for level, stride in zip(prefix, plan.strides, strict=False))


def _all_levels(plan: RotationPlan, position: int, rest: NDArray[np.int64]) -> NDArray[np.int64]:
    """Build the program from one head attribute on, given ``rest`` from the next; both use buffer 0.

    A state at its attribute's top is not needed again, so the rest works in its buffer.
    """
    top = len(plan.steps[position]) - 1
    parts = []
    for level in range(top + 1):
        if level and _merges(plan, position, level):
            parts.append(np.array([[ROLL_UP, 0, position, level, 0]]))
        handed_down = level == top and _has_one_ordinal(plan, position, level)
        parts.append(
            np.array([[KEEP, 0, position, 0, 0] if handed_down else [ROTATE, 0, position, 1, level]])
        )
        parts.append(_shift_program(rest, 0 if handed_down else 1, level * plan.strides[position]))
    return np.concatenate(parts)


def _shift_program(program: NDArray[np.int64], buffers: int, nodes: int) -> NDArray[np.int64]:
    """Return the program shifted by some buffers and nodes."""
    moved = program.copy()
    moved[:, 1] += buffers
    moved[program[:, 0] == ROTATE, 3] += buffers
    moved[program[:, 0] == TALLY, 2] += nodes
    return moved
