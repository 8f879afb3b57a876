"""Rotation in plain numpy: oracle, fallback without numba, and the path for rare cases.

Supports keys of any width, any number of sensitive values, distinct subjects, populations and scores without
a compiled formula. About a tenth of the kernels' speed, less with subjects.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.kernels.histograms import Histograms, NodeCollector, NodeGroups, PairSet, ScoreFunction
from discreet.kernels.lattice_rotation_plan import RotationPlan, extract_field
from discreet.kernels.matching import distinct_representatives

Array = NDArray[Any]


@dataclass(frozen=True, eq=False)
class _State:
    """Groups at one prefix of levels: keys ``(words, groups)``, counts, a pair set per counted attribute.

    ``people`` is the population's number by group, if a population is counted.
    """

    keys: Array
    counts: Array
    sets: tuple[PairSet, ...]
    people: Array | None = None


def make_pair_set(
    plan: RotationPlan,
    offsets: Array,
    codes: Array,
    size: int,
    subjects: Array | None = None,
    counts: Array | None = None,
) -> PairSet:
    """Build a pair set in the plan's order from a compressed-row form in row-type order."""
    lengths = np.diff(offsets)
    position = np.empty(len(plan.source), np.int64)
    position[plan.source] = np.arange(len(plan.source))
    group = np.repeat(position, lengths)
    sequence = np.argsort(group, kind="stable") if counts is None else np.lexsort((codes, group))
    named = None if subjects is None else subjects[sequence]
    rows = None if counts is None else counts[sequence].astype(np.int64)
    return PairSet(group[sequence], codes[sequence].astype(np.int64), size, named, rows)


def evaluate_twin(
    plan: RotationPlan,
    sensitive: tuple[PairSet, ...] = (),
    subjects: PairSet | None = None,
    *,
    further: tuple[ScoreFunction, ...] = (),
    people: Array | None = None,
    progress: Callable[[int], None] | None = None,
    room: Callable[[int], None] | None = None,
) -> Histograms:
    """Compute the histograms of all nodes by depth-first rotation in numpy (see ``lattice_rotation``).

    With ``subjects`` a class's size is its number of distinct subjects, and its distinct values per sensitive
    attribute are the largest number of different values that different subjects carry. Each of ``further``
    adds a column after them. ``progress`` is called with the number of nodes done since the last call,
    ``room`` with the bytes of the histograms so far, and may raise. ``people`` is the population's number by
    row type, in the plan's order; row types may have no rows then, and classes without rows are in no
    histogram. Cost: O(groups of all nodes · sets), in numpy passes.
    """
    by_subject = subjects is not None
    collector = NodeCollector(plan, len(sensitive), by_subject, further, room)

    def add(node: int, state: _State) -> None:
        _add(collector, node, state, plan, by_subject)

    keys = plan.keys.astype(np.uint32) if plan.key_bits == 32 else plan.keys
    counts = plan.counts if int(plan.counts.sum()) >= 2**32 else plan.counts.astype(np.uint32)
    state = _State(keys, counts, sensitive if subjects is None else (subjects, *sensitive), people)
    _descend(plan, state, 0, 0, add, progress)
    return collector.histograms()


def _descend(
    plan: RotationPlan,
    state: _State,
    depth: int,
    node: int,
    add: Callable[[int, _State], None],
    progress: Callable[[int], None] | None,
) -> None:
    last = depth == len(plan.order) - 1
    for level in range(len(plan.steps[depth])):
        if level:
            state = _roll_up(plan, state, depth, level)
        here = node + level * plan.strides[depth]
        if last:
            add(here, state)
        else:
            _descend(plan, _rotate(plan, state, depth, level), depth + 1, here, add, progress)
    if last and progress is not None:
        progress(len(plan.steps[depth]))


def _cells(plan: RotationPlan, keys: Array) -> Array:
    """Return the fields of all attributes, in the plan's order, shape ``(groups, attributes)``."""
    return np.stack(
        [extract_field(plan, keys, depth).astype(np.int64) for depth in range(len(plan.order))], axis=1
    )


def _roll_up(plan: RotationPlan, state: _State, depth: int, level: int) -> _State:
    """Roll up the attribute sorted last by one level: neighbours merge, the order is kept."""
    if plan.sizes[depth][level] == plan.sizes[depth][level - 1]:
        return state
    kind = state.keys.dtype.type
    word, shift = plan.word[depth], kind(plan.shift[depth])
    field = extract_field(plan, state.keys, depth)
    step = plan.steps[depth][level].astype(kind)
    keys = state.keys.copy()
    keys[word] -= (field - step[field]) << shift
    boundary = np.empty(keys.shape[1], np.bool_)
    boundary[:1] = True
    if len(keys) == 1:
        np.not_equal(keys[0, 1:], keys[0, :-1], out=boundary[1:])
    else:
        boundary[1:] = (keys[:, 1:] != keys[:, :-1]).any(axis=0)
    starts = np.flatnonzero(boundary)
    if len(starts) == len(boundary):
        return _State(keys, state.counts, state.sets, state.people)
    counts = np.add.reduceat(state.counts, starts, dtype=state.counts.dtype)
    merged = tuple(_merge(s, np.cumsum(boundary) - 1) for s in state.sets)
    people = None if state.people is None else np.add.reduceat(state.people, starts)
    return _State(keys[:, starts], counts, merged, people)


def _merge(pairs: PairSet, new_group: Array) -> PairSet:
    """Return the pair set of merged groups, without duplicates or, if rows are counted, with rows summed."""
    group = new_group[pairs.group]
    if pairs.counts is not None:
        return _add_counts(pairs, group)
    columns = (pairs.codes, group) if pairs.subjects is None else (pairs.subjects, pairs.codes, group)
    sequence = np.lexsort(columns)
    fresh = np.zeros(len(sequence), np.bool_)
    fresh[:1] = True
    for column in columns:
        ordered = column[sequence]
        fresh[1:] |= ordered[1:] != ordered[:-1]
    distinct = sequence[fresh]
    subjects = None if pairs.subjects is None else pairs.subjects[distinct]
    return PairSet(group[distinct], pairs.codes[distinct], pairs.size, subjects)


def _add_counts(pairs: PairSet, group: Array) -> PairSet:
    """Return the pairs of ``group`` and code with their rows summed."""
    assert pairs.counts is not None
    keys = group * max(pairs.size, 1) + pairs.codes
    sequence = np.argsort(keys, kind="stable")
    keys = keys[sequence]
    fresh = np.ones(len(keys), np.bool_)
    np.not_equal(keys[1:], keys[:-1], out=fresh[1:])
    starts = np.flatnonzero(fresh)
    counts = np.add.reduceat(pairs.counts[sequence], starts) if len(starts) else pairs.counts
    firsts = sequence[starts]
    return PairSet(group[firsts], pairs.codes[firsts], pairs.size, None, counts)


def _rotate(plan: RotationPlan, state: _State, depth: int, level: int) -> _State:
    """Sort stably by the attribute just processed, so that the next one is sorted last."""
    if plan.sizes[depth][level] == 1:
        return state
    digit = extract_field(plan, state.keys, depth)
    # A byte is sorted by radix sort.
    if plan.sizes[depth][level] <= 256:
        digit = digit.astype(np.uint8)
    sequence = np.argsort(digit, kind="stable")
    position = np.empty(len(sequence), np.int64) if state.sets else sequence
    if state.sets:
        position[sequence] = np.arange(len(sequence))
    moved = tuple(_move(s, position) for s in state.sets)
    people = None if state.people is None else state.people.take(sequence)
    return _State(state.keys.take(sequence, axis=1), state.counts.take(sequence), moved, people)


def _move(pairs: PairSet, position: Array) -> PairSet:
    group = position[pairs.group]
    sequence = np.argsort(group, kind="stable")
    subjects = None if pairs.subjects is None else pairs.subjects[sequence]
    counts = None if pairs.counts is None else pairs.counts[sequence]
    return PairSet(group[sequence], pairs.codes[sequence], pairs.size, subjects, counts)


def _add(collector: NodeCollector, node: int, state: _State, plan: RotationPlan, by_subject: bool) -> None:
    """Add one node's groups to the collector."""
    if collector.partial:
        collector.take_sizes(node, state.counts)
        return
    class_rows = state.counts.astype(np.int64)
    counted = [_distinct(s, len(state.counts)) for s in state.sets]
    sizes = counted.pop(0) if by_subject else class_rows
    sets = state.sets[1:] if by_subject else state.sets
    groups = NodeGroups(sizes, tuple(counted), sets, state.people, partial(_cells, plan, state.keys))
    collector.take(node, groups, class_rows)


def _distinct(pairs: PairSet, groups: int) -> Array:
    """Count the distinct codes of each group; with subjects, distinct representatives."""
    if pairs.subjects is None:
        return np.bincount(pairs.group, minlength=groups)
    starts = np.searchsorted(pairs.group, np.arange(groups + 1))
    result = np.zeros(groups, np.int64)
    for g in range(groups):
        part = slice(int(starts[g]), int(starts[g + 1]))
        subjects, codes = pairs.subjects[part], pairs.codes[part]
        values = np.unique(codes)
        if len(np.unique(subjects)) == len(subjects):
            result[g] = len(values)
        else:
            result[g] = distinct_representatives(zip(subjects.tolist(), codes.tolist(), strict=True))
    return result
