"""The rotation plan in plain numpy: oracle of the compiled kernels, fallback, and the only path for the rare.

Keys of any width, sensitive attributes of any number of values, distinct subjects, scores beside size and
distinct values: everything is right here, if slower (about a tenth of the compiled kernels' speed; far less
with subjects).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.kernels.histograms import SMALL_LIMIT, Histograms
from discreet.kernels.matching import distinct_representatives
from discreet.kernels.plan import RotationPlan

Array = NDArray[Any]


@dataclass(frozen=True, eq=False)
class PairSet:
    """Codes of each row type as parallel arrays, sorted by ``group`` (a position in the plan's keys).

    ``subjects`` names the subject of each entry where subjects count. ``counts`` holds the rows of each entry
    where a score asks for them; codes then ascend within a group.
    """

    group: Array
    codes: Array
    size: int
    subjects: Array | None = None
    counts: Array | None = None


@dataclass(frozen=True, eq=False)
class Groups:
    """One node's classes as a further score reads them.

    ``sizes`` is what k counts, ``distinct[i]`` the distinct values of ``sets[i]``, each by class. ``people``
    are the population's by class, where they are counted; there are classes without rows then. ``cells()``,
    shape ``(classes, attributes)``, numbers what each class shows.
    """

    sizes: Array
    distinct: tuple[Array, ...]
    sets: tuple[PairSet, ...]
    people: Array | None = None
    cells: Callable[[], Array] | None = None


Scoring = Callable[[Groups], Array]
"""Tells a score of each class, whole numbers."""


@dataclass(frozen=True, eq=False)
class _State:
    """Groups at one prefix of levels: keys ``(words, groups)``, counts, a pair set per counted attribute.

    ``people`` are counted beside the rows where a population is.
    """

    keys: Array
    counts: Array
    sets: tuple[PairSet, ...]
    people: Array | None = None


def pair_set(
    plan: RotationPlan,
    offsets: Array,
    codes: Array,
    size: int,
    subjects: Array | None = None,
    counts: Array | None = None,
) -> PairSet:
    """A pair set in the plan's order from a compressed-row form in row-type order."""
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
    further: tuple[Scoring, ...] = (),
    people: Array | None = None,
    limit: int = SMALL_LIMIT,
    progress: Callable[[int], None] | None = None,
    room: Callable[[int], None] | None = None,
) -> Histograms:
    """Histograms of all nodes by depth-first rotation (design of ``kernels.rotation``, without a compiler).

    With ``subjects`` a class's size is its distinct subjects, and its distinct values per sensitive attribute
    are the largest number of different values that different subjects carry. Each of ``further`` is a column
    after them. ``progress`` is called with the number of nodes done since the last call, ``room`` with the
    bytes that the histograms take so far, and may raise. ``people`` are the population's, in the plan's
    order; row types may have no rows then, and classes without any are in no histogram. Cost: O(groups of all
    nodes · sets), in numpy passes.
    """
    collector = _Collector(plan, len(sensitive), subjects is not None, further, limit, room)
    keys = plan.keys.astype(np.uint32) if plan.key_bits == 32 else plan.keys
    counts = plan.counts if int(plan.counts.sum()) >= 2**32 else plan.counts.astype(np.uint32)
    state = _State(keys, counts, sensitive if subjects is None else (subjects, *sensitive), people)
    _descend(plan, state, 0, 0, collector, progress)
    return collector.histograms()


def _descend(
    plan: RotationPlan,
    state: _State,
    depth: int,
    node: int,
    collector: _Collector,
    progress: Callable[[int], None] | None,
) -> None:
    last = depth == len(plan.order) - 1
    for level in range(len(plan.steps[depth])):
        if level:
            state = _roll_up(plan, state, depth, level)
        here = node + level * plan.strides[depth]
        if last:
            collector.add(here, state)
        else:
            _descend(plan, _rotate(plan, state, depth, level), depth + 1, here, collector, progress)
    if last and progress is not None:
        progress(len(plan.steps[depth]))


def _field(plan: RotationPlan, keys: Array, depth: int) -> Array:
    kind = keys.dtype.type
    mask = kind((1 << plan.bits[depth]) - 1)
    field: Array = (keys[plan.word[depth]] >> kind(plan.shift[depth])) & mask
    return field


def _cells(plan: RotationPlan, keys: Array) -> Array:
    """The fields of all attributes, in the plan's order, shape ``(groups, attributes)``."""
    return np.stack([_field(plan, keys, depth).astype(np.int64) for depth in range(len(plan.order))], axis=1)


def _roll_up(plan: RotationPlan, state: _State, depth: int, level: int) -> _State:
    """One level up in the attribute that is sorted last: neighbours merge, the order stays."""
    if plan.sizes[depth][level] == plan.sizes[depth][level - 1]:
        return state
    kind = state.keys.dtype.type
    word, shift = plan.word[depth], kind(plan.shift[depth])
    field = _field(plan, state.keys, depth)
    step = plan.steps[depth][level].astype(kind)
    keys = state.keys.copy()
    keys[word] -= (field - step.take(field)) << shift
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
    """The pair set of merged groups, duplicates removed or, where rows are counted, added up."""
    group = new_group[pairs.group]
    if pairs.counts is not None:
        return _added(pairs, group)
    columns = (pairs.codes, group) if pairs.subjects is None else (pairs.subjects, pairs.codes, group)
    sequence = np.lexsort(columns)
    fresh = np.zeros(len(sequence), np.bool_)
    fresh[:1] = True
    for column in columns:
        ordered = column[sequence]
        fresh[1:] |= ordered[1:] != ordered[:-1]
    kept = sequence[fresh]
    subjects = None if pairs.subjects is None else pairs.subjects[kept]
    return PairSet(group[kept], pairs.codes[kept], pairs.size, subjects)


def _added(pairs: PairSet, group: Array) -> PairSet:
    """The pairs of ``group`` and code, their rows added up."""
    assert pairs.counts is not None
    keys = group * max(pairs.size, 1) + pairs.codes
    sequence = np.argsort(keys, kind="stable")
    keys = keys[sequence]
    fresh = np.ones(len(keys), np.bool_)
    np.not_equal(keys[1:], keys[:-1], out=fresh[1:])
    starts = np.flatnonzero(fresh)
    counts = np.add.reduceat(pairs.counts[sequence], starts) if len(starts) else pairs.counts
    kept = sequence[starts]
    return PairSet(group[kept], pairs.codes[kept], pairs.size, None, counts)


def _rotate(plan: RotationPlan, state: _State, depth: int, level: int) -> _State:
    """A stable sort by the attribute just treated, so that the next one is the one sorted last."""
    if plan.sizes[depth][level] == 1:
        return state
    digit = _field(plan, state.keys, depth)
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


class _Collector:
    """Gathers each node's histogram into the arrays of ``Histograms``."""

    def __init__(
        self,
        plan: RotationPlan,
        sensitive: int,
        by_subject: bool,
        further: tuple[Scoring, ...],
        limit: int,
        room: Callable[[int], None] | None,
    ) -> None:
        self.plan = plan
        self.by_subject = by_subject
        self.further = further
        self.partial = not sensitive and not by_subject and not further
        wide = int(plan.counts.sum()) >= 2**32
        self.kind: type[np.uint32] | type[np.uint64] = np.uint64 if wide else np.uint32
        self.small = np.zeros((plan.nodes, limit + 1), self.kind)
        self.classes = np.zeros(plan.nodes, np.int64)
        self.parts = 1 + sensitive + len(further)
        kept = np.int32 if further else self.kind
        self.signatures: list[Array] = [np.empty((self.parts, 0), kept)] * plan.nodes
        self.rows: list[Array] = [np.empty(0, self.kind)] * plan.nodes
        self.people: list[Array] = [np.empty(0, np.int64)] * plan.nodes
        self.absent = np.zeros(plan.nodes, np.int64)
        self.room = room
        self.nbytes = self.small.nbytes

    def add(self, node: int, state: _State) -> None:
        """Take in one node's groups."""
        self.classes[node] = len(state.counts) if state.people is None else np.count_nonzero(state.counts)
        limit = self.small.shape[1] - 1
        if self.partial:
            sizes = state.counts
            tally = np.bincount(np.minimum(sizes, limit + 1), minlength=limit + 2)
            self.small[node] = tally[:-1]
            if tally[-1]:
                big = sizes[sizes > limit].astype(self.kind)
                self.signatures[node], self.rows[node] = big[np.newaxis], big
            return
        class_rows = state.counts.astype(np.int64)
        columns = np.stack(self._columns(state, class_rows))
        if state.people is not None:
            there = class_rows > 0
            self.absent[node] = state.people[~there].sum()
            columns, class_rows = columns[:, there], class_rows[there]
            _, self.people[node] = _summed(columns, state.people[there].astype(np.int64))
        signatures, rows = _summed(columns, class_rows)
        low = signatures[0] <= limit
        np.add.at(self.small[node], signatures[0, low], rows[low].astype(self.kind))
        self.signatures[node], self.rows[node] = self._narrowed(signatures), rows.astype(self.kind)
        self.nbytes += self.signatures[node].nbytes + self.rows[node].nbytes
        if self.room is not None:
            self.room(self.nbytes)

    def _columns(self, state: _State, class_rows: Array) -> list[Array]:
        """Sizes, distinct values, further scores."""
        counted = [_distinct(s, len(state.counts)) for s in state.sets]
        sizes = counted.pop(0) if self.by_subject else class_rows
        sets = state.sets[1:] if self.by_subject else state.sets
        groups = Groups(sizes, tuple(counted), sets, state.people, partial(_cells, self.plan, state.keys))
        return [sizes, *counted, *(score(groups) for score in self.further)]

    def _narrowed(self, signatures: Array) -> Array:
        """In the kind of numbers that is kept: scores may be negative, sizes and distinct values are not."""
        if not self.further:
            return signatures.astype(self.kind)
        bounds = np.iinfo(np.int32)
        narrow = signatures.min(initial=0) >= bounds.min and signatures.max(initial=0) <= bounds.max
        return signatures.astype(np.int32) if narrow else signatures

    def histograms(self) -> Histograms:
        """All nodes' histograms."""
        stops = np.cumsum([len(r) for r in self.rows]).astype(np.int64)
        if self.partial:
            np.multiply(self.small, np.arange(self.small.shape[1]), out=self.small, casting="unsafe")
        np.cumsum(self.small, axis=1, out=self.small)
        return Histograms(
            classes=self.classes,
            small=self.small,
            starts=np.concatenate(([0], stops[:-1])).astype(np.int64),
            stops=stops,
            signatures=np.concatenate(self.signatures, axis=1),
            rows=np.concatenate(self.rows),
            partial=self.partial,
            people=np.concatenate(self.people),
            absent=self.absent,
        )


def _summed(signatures: Array, rows: Array) -> tuple[Array, Array]:
    """Rows summed by signature, signatures ascending."""
    if not len(rows):
        return signatures, rows
    sequence = np.lexsort(signatures[::-1])
    ordered = signatures[:, sequence]
    fresh = np.ones(len(rows), np.bool_)
    fresh[1:] = (ordered[:, 1:] != ordered[:, :-1]).any(axis=0)
    starts = np.flatnonzero(fresh)
    return ordered[:, starts], np.add.reduceat(rows[sequence], starts)


def _distinct(pairs: PairSet, groups: int) -> Array:
    """Distinct codes of each group; with subjects, distinct representatives."""
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
