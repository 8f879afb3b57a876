"""Suppression histograms of every lattice node as arrays (Pilalidou and Vassiliadis).

A class's signature is its size, its number of distinct values per sensitive attribute, then further scores. A
node's histogram counts rows by signature; suppressed rows are a sum over entries below a threshold. Sizes up
to ``limit`` are dense, larger ones are entries. ``NodeCollector`` builds the arrays node by node. Plain
numpy; the compiled sums (``suppressed_rows``) are used if numba is loaded already.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.kernels.lattice_rotation_plan import RotationPlan

SMALL_LIMIT = 64

_ALWAYS, _NEVER = int(np.iinfo(np.int64).min), int(np.iinfo(np.int64).max)
"""Thresholds that fail every entry and no entry."""


@dataclass(frozen=True, eq=False)
class Histograms:
    """Suppression histograms of every node; the module describes the layout.

    ``classes`` counts classes per node. ``small[node, s]`` is the number of rows in classes of at most s
    rows. If a population is counted, ``people`` is its number by entry and ``absent`` per node the number of
    people who match no class. ``partial`` states that sizes up to ``limit`` are in ``small`` only, without
    entries.
    """

    classes: NDArray[np.int64]
    small: NDArray[Any]
    starts: NDArray[np.int64]
    stops: NDArray[np.int64]
    signatures: NDArray[Any]
    rows: NDArray[Any]
    partial: bool
    people: NDArray[np.int64] | None = None
    absent: NDArray[np.int64] | None = None

    @property
    def limit(self) -> int:
        """Largest size that ``small`` covers."""
        return int(self.small.shape[1]) - 1

    @property
    def nbytes(self) -> int:
        """Bytes of all arrays."""
        arrays = (self.classes, self.small, self.starts, self.stops, self.signatures, self.rows)
        return sum(array.nbytes for array in arrays)

    def of(self, node: int) -> dict[tuple[int, ...], int]:
        """Return one node's whole histogram, rows by signature (for tests and display)."""
        result: dict[tuple[int, ...], int] = {}
        signatures, rows = self.entries(node)
        for signature, count in zip(signatures.T.tolist(), rows.tolist(), strict=True):
            key = tuple(signature)
            result[key] = result.get(key, 0) + count
        return dict(sorted(result.items()))

    def translate(self, thresholds: Sequence[int | None]) -> tuple[Histograms, tuple[int | None, ...]]:
        """Return histograms that answer some thresholds, and the thresholds there: both unchanged here."""
        return self, tuple(thresholds)

    def at(self, node: int) -> tuple[Histograms, int]:
        """Return histograms with a node's exact scores, and its index there: both unchanged here."""
        return self, node

    def below(self, thresholds: tuple[int | None, ...]) -> NDArray[np.int64]:
        """Return the rows to suppress per node: those with any part below its threshold (None: none).

        Cost: a lookup per node if only size has a threshold, within ``limit``; else one pass over the
        entries.
        """
        size, *distinct = thresholds
        only_size = all(threshold is None for threshold in distinct)
        if only_size and size is not None and size - 1 <= self.limit:
            return self.small[:, max(size - 1, 0)].astype(np.int64)
        if all(threshold is None for threshold in thresholds):
            return np.zeros(len(self.classes), np.int64)
        totals = self.small[:, -1].astype(np.int64) if self.partial else np.zeros(len(self.classes), np.int64)
        self._add_below(self._least(thresholds), totals)
        return totals

    def unmatched(self, thresholds: tuple[int | None, ...]) -> NDArray[np.int64]:
        """Return the people per node who match no class that meets the thresholds.

        A size threshold must not be the only one.
        """
        assert self.people is not None
        assert self.absent is not None
        return replace(self, rows=self.people).below(thresholds) + self.absent

    def diverse(self, distinct: tuple[int | None, ...]) -> NDArray[Any]:
        """Return ``small`` for classes that must also reach other scores, shape ``(nodes, limit + 1)``.

        Column s contains the rows to suppress for k = s + 1 and these thresholds, so that one pass over the
        entries answers every k up to ``limit + 1``.
        """
        thresholds = self._least(distinct)
        below = np.empty_like(self.small)
        # Use compiled sums only if numba is loaded: importing it takes longer than the pass in numpy.
        if "numba" in sys.modules:
            from discreet.kernels.suppressed_rows import cumulate_suppressed

            cumulate_suppressed(self.signatures, self.rows, self.starts, self.stops, thresholds, below)
            return below
        failing = (self.signatures[1:] < thresholds[:, np.newaxis]).any(axis=0)
        sizes = np.where(failing, 0, np.minimum(self.signatures[0], self.limit + 1))
        for node in range(len(below)):
            part = slice(int(self.starts[node]), int(self.stops[node]))
            tally = np.bincount(sizes[part], self.rows[part], minlength=self.limit + 2)
            below[node] = np.cumsum(tally[:-1])
        return below

    def suppressed_by_threshold(self, slot: int, thresholds: tuple[int | None, ...]) -> NDArray[Any]:
        """Return the rows to suppress for every threshold of one part, with given thresholds of the others.

        Column t, from 0 to one above the part's largest value, is for threshold t. The part has few values,
        such as buckets, none below 0; compiled kernels must be in use.
        """
        from discreet.kernels.suppressed_rows import cumulate_suppressed

        order = [slot, *(p for p in range(len(self.signatures)) if p != slot)]
        signatures = self.signatures[order]
        # Shifted by one, so that rows that fail in another part are separate in column 0.
        signatures[0] += 1
        columns = int(signatures[0].max(initial=0)) + 1
        below = np.empty((len(self.classes), columns), self.small.dtype)
        least = self._least([thresholds[p] for p in order[1:]])
        cumulate_suppressed(signatures, self.rows, self.starts, self.stops, least, below)
        return below

    def _least(self, thresholds: Sequence[int | None]) -> NDArray[np.int64]:
        """Return thresholds as numbers; a missing one is below every entry."""
        nothing = 0 if self.signatures.dtype.kind == "u" else _ALWAYS
        return np.array([nothing if least is None else least for least in thresholds], dtype=np.int64)

    def _add_below(self, thresholds: NDArray[np.int64], totals: NDArray[np.int64]) -> None:
        """Add suppressed rows per node, compiled if numba is loaded, else in numpy."""
        if "numba" in sys.modules:
            from discreet.kernels.suppressed_rows import sum_suppressed

            sum_suppressed(self.signatures, self.rows, self.starts, self.stops, thresholds, totals)
            return
        failing = np.zeros(len(self.rows), np.bool_)
        for column, threshold in zip(self.signatures, thresholds.tolist(), strict=True):
            failing |= column < threshold
        sums = np.zeros(len(self.rows) + 1, np.int64)
        np.cumsum(np.where(failing, self.rows, 0), dtype=np.int64, out=sums[1:])
        totals += sums[self.stops] - sums[self.starts]

    def below_at(self, node: int, thresholds: tuple[int | None, ...]) -> int:
        """Return the rows to suppress at one node."""
        size, *distinct = thresholds
        if size is not None and size - 1 <= self.limit and all(t is None for t in distinct):
            return int(self.small[node, max(size - 1, 0)])
        signatures, rows = self.entries(node)
        failing = np.zeros(len(rows), np.bool_)
        for column, threshold in zip(signatures, thresholds, strict=True):
            if threshold is not None:
                failing |= column < threshold
        return int(rows[failing].sum())

    def largest(
        self, node: int, thresholds: Sequence[int | None], parts: tuple[int, ...], limit: int
    ) -> int | None:
        """Return the largest t for which a node has at most ``limit`` suppressed rows.

        ``parts`` are the positions of the signature that t bounds from below, each at most at its own
        threshold if it has one; the other thresholds apply unchanged. None if no t is possible.
        """
        if parts == (0,) and self.small[node, -1] > limit and all(t is None for t in thresholds):
            return int(self.small[node].searchsorted(limit, side="right"))
        signatures, rows = self.entries(node)
        if not (parts and len(rows)):
            return None
        # Called for each relaxed part of each answer, on a few dozen entries: methods of arrays, because
        # numpy's functions around them would take twice the time.
        own = [_failing_thresholds(signatures[position], thresholds[position]) for position in parts]
        fails_at = own[0] if len(own) == 1 else np.minimum.reduce(own)
        for position, (column, threshold) in enumerate(zip(signatures, thresholds, strict=True)):
            if threshold is not None and position not in parts:
                fails_at = np.where(column < threshold, _ALWAYS, fails_at)
        sequence = fails_at.argsort(kind="stable")
        fails_at = fails_at[sequence]
        over = (rows[sequence].cumsum() > limit) & (fails_at < _NEVER)
        slot = int(over.argmax())
        if over[slot]:
            first = int(fails_at[slot])
            return None if first == _ALWAYS else first - 1
        return max(int(signatures[p].max()) for p in parts)

    def largest_among(
        self, nodes: NDArray[np.int64], thresholds: Sequence[int | None], parts: tuple[int, ...], limit: int
    ) -> int | None:
        """Return the largest t for which any node suppresses at most ``limit`` rows; see ``largest``.

        Cost: a pass over the entries per inspected node, of which there are few.
        """
        return find_largest_among(
            nodes,
            limit,
            lambda score: self.below(cap_thresholds(thresholds, parts, score)),
            lambda node: self.largest(node, thresholds, parts, limit),
            exact=True,
        )

    def entries(self, node: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return a node's signatures (shape ``(parts, entries)``) and rows, including dense sizes."""
        part = slice(int(self.starts[node]), int(self.stops[node]))
        signatures = self.signatures[:, part].astype(np.int64)
        rows = self.rows[part].astype(np.int64)
        if not self.partial:
            return signatures, rows
        below = self.small[node].astype(np.int64)
        dense = below[1:] - below[:-1]
        sizes = dense.nonzero()[0]
        return (
            np.concatenate((sizes[np.newaxis] + 1, signatures), axis=1),
            np.concatenate((dense[sizes], rows)),
        )


def cap_thresholds(
    thresholds: Sequence[int | None], parts: Sequence[int], score: int | None
) -> tuple[int | None, ...]:
    """Return thresholds with ``score`` for some parts, none above its own; None removes the parts' own."""
    result = list(thresholds)
    for part in parts:
        own = thresholds[part]
        result[part] = score if own is None or score is None else min(own, score)
    return tuple(result)


def find_largest_among(
    nodes: NDArray[np.int64],
    limit: int,
    rows_below: Callable[[int | None], NDArray[np.int64]],
    largest_at: Callable[[int], int | None],
    *,
    exact: bool,
) -> int | None:
    """Return the largest score of any node, with at most ``limit`` suppressed rows; None if there is none.

    ``rows_below(score)`` counts each node's rows to suppress, or a lower bound of them, if ``score`` is
    required, and ``largest_at(node)`` is one node's largest score. One node is inspected; nodes that exceed
    the limit for a larger score are dropped at once; the next one follows. If the counts are ``exact``, the
    next node has a larger score unless no node has.
    """
    best: int | None = None
    while True:
        below = rows_below(None if best is None else best + 1)[nodes]
        nodes, below = nodes[below <= limit], below[below <= limit]
        if not len(nodes):
            return best
        index = int(below.argmin())
        found = largest_at(int(nodes[index]))
        if found is not None and (best is None or found > best):
            best = found
        elif exact:
            return best
        nodes = np.delete(nodes, index)


def _failing_thresholds(column: NDArray[np.int64], threshold: int | None) -> NDArray[np.int64]:
    """Return the least t for which each entry fails; never if it meets its own threshold, which caps t."""
    return column + 1 if threshold is None else np.where(column < threshold, column + 1, _NEVER)


Array = NDArray[Any]


@dataclass(frozen=True, eq=False)
class PairSet:
    """Codes of each row type as parallel arrays, sorted by ``group`` (a position in the plan's keys).

    ``subjects`` is the subject of each entry if subjects count. ``counts`` contains the rows of each entry if
    a score needs them; codes then ascend within a group.
    """

    group: Array
    codes: Array
    size: int
    subjects: Array | None = None
    counts: Array | None = None


@dataclass(frozen=True, eq=False)
class NodeGroups:
    """Classes of one node as a further score reads them.

    ``sizes`` are the counts that k applies to, and ``distinct[i]`` the distinct values of ``sets[i]``, each
    by class. ``people`` is the population's number by class if it is counted; classes without rows occur
    then. ``cells()``, shape ``(classes, attributes)``, numbers the cell that each class shows.
    """

    sizes: Array
    distinct: tuple[Array, ...]
    sets: tuple[PairSet, ...]
    people: Array | None = None
    cells: Callable[[], Array] | None = None


ScoreFunction = Callable[[NodeGroups], Array]
"""Function that returns an integer score of each class."""


class NodeCollector:
    """Collector of each node's histogram for the arrays of ``Histograms``."""

    def __init__(
        self,
        plan: RotationPlan,
        sensitive: int,
        by_subject: bool,
        further: tuple[ScoreFunction, ...],
        room: Callable[[int], None] | None,
    ) -> None:
        self.further = further
        self.partial = not sensitive and not by_subject and not further
        wide = int(plan.counts.sum()) >= 2**32
        self.kind: type[np.uint32] | type[np.uint64] = np.uint64 if wide else np.uint32
        self.small = np.zeros((plan.nodes, SMALL_LIMIT + 1), self.kind)
        self.classes = np.zeros(plan.nodes, np.int64)
        parts = 1 + sensitive + len(further)
        dtype = np.int32 if further else self.kind
        self.signatures: list[Array] = [np.empty((parts, 0), dtype)] * plan.nodes
        self.rows: list[Array] = [np.empty(0, self.kind)] * plan.nodes
        self.people: list[Array] = [np.empty(0, np.int64)] * plan.nodes
        self.absent = np.zeros(plan.nodes, np.int64)
        self.room = room
        self.nbytes = self.small.nbytes

    def take_sizes(self, node: int, sizes: Array) -> None:
        """Add one node with class sizes only."""
        self.classes[node] = len(sizes)
        limit = self.small.shape[1] - 1
        tally = np.bincount(np.minimum(sizes, limit + 1), minlength=limit + 2)
        self.small[node] = tally[:-1]
        if tally[-1]:
            big = sizes[sizes > limit].astype(self.kind)
            self.signatures[node], self.rows[node] = big[np.newaxis], big

    def take(self, node: int, groups: NodeGroups, class_rows: Array) -> None:
        """Add one node's classes, with the rows of each."""
        self.classes[node] = np.count_nonzero(class_rows)
        scores = (score(groups) for score in self.further)
        columns = np.stack([groups.sizes, *groups.distinct, *scores])
        if groups.people is not None:
            there = class_rows > 0
            self.absent[node] = groups.people[~there].sum()
            columns, class_rows = columns[:, there], class_rows[there]
            _, self.people[node] = _sum_by_signature(columns, groups.people[there].astype(np.int64))
        signatures, rows = _sum_by_signature(columns, class_rows)
        limit = self.small.shape[1] - 1
        low = signatures[0] <= limit
        np.add.at(self.small[node], signatures[0, low], rows[low].astype(self.kind))
        self.signatures[node], self.rows[node] = self._narrowed(signatures), rows.astype(self.kind)
        self.nbytes += self.signatures[node].nbytes + self.rows[node].nbytes
        if self.room is not None:
            self.room(self.nbytes)

    def _narrowed(self, signatures: Array) -> Array:
        """Convert to the stored dtype: scores may be negative, sizes and distinct values are not."""
        if not self.further:
            return signatures.astype(self.kind)
        bounds = np.iinfo(np.int32)
        narrow = signatures.min(initial=0) >= bounds.min and signatures.max(initial=0) <= bounds.max
        return signatures.astype(np.int32) if narrow else signatures

    def histograms(self) -> Histograms:
        """Return all nodes' histograms."""
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


def _sum_by_signature(signatures: Array, rows: Array) -> tuple[Array, Array]:
    """Sum rows by signature, signatures ascending."""
    if not len(rows):
        return signatures, rows
    sequence = _sort_signatures(signatures)
    ordered = signatures[:, sequence]
    fresh = np.ones(len(rows), np.bool_)
    fresh[1:] = (ordered[:, 1:] != ordered[:, :-1]).any(axis=0)
    starts = np.flatnonzero(fresh)
    return ordered[:, starts], np.add.reduceat(rows[sequence], starts)


def _sort_signatures(signatures: Array) -> Array:
    """Return the order of signatures; sorts one word each if they fit, in a third of the time."""
    least, most = signatures.min(axis=1), signatures.max(axis=1)
    bits = [int(span).bit_length() for span in most - least]
    if sum(bits) > 62:
        return np.lexsort(signatures[::-1])
    word = np.zeros(signatures.shape[1], np.int64)
    for column, low, width in zip(signatures, least, bits, strict=True):
        word <<= width
        word |= (column - low).astype(np.int64)
    return np.argsort(word, kind="stable")
