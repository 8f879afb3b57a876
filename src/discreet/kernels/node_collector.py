"""Gathering the histograms of nodes one by one, and what each node's classes are told as."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.kernels.histograms import Histograms
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


class NodeCollector:
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
        self.further = further
        self.partial = not sensitive and not by_subject and not further
        wide = int(plan.counts.sum()) >= 2**32
        self.kind: type[np.uint32] | type[np.uint64] = np.uint64 if wide else np.uint32
        self.small = np.zeros((plan.nodes, limit + 1), self.kind)
        self.classes = np.zeros(plan.nodes, np.int64)
        parts = 1 + sensitive + len(further)
        kept = np.int32 if further else self.kind
        self.signatures: list[Array] = [np.empty((parts, 0), kept)] * plan.nodes
        self.rows: list[Array] = [np.empty(0, self.kind)] * plan.nodes
        self.people: list[Array] = [np.empty(0, np.int64)] * plan.nodes
        self.absent = np.zeros(plan.nodes, np.int64)
        self.room = room
        self.nbytes = self.small.nbytes

    def take_sizes(self, node: int, sizes: Array) -> None:
        """Take in one node of which sizes alone are asked."""
        self.classes[node] = len(sizes)
        limit = self.small.shape[1] - 1
        tally = np.bincount(np.minimum(sizes, limit + 1), minlength=limit + 2)
        self.small[node] = tally[:-1]
        if tally[-1]:
            big = sizes[sizes > limit].astype(self.kind)
            self.signatures[node], self.rows[node] = big[np.newaxis], big

    def take(self, node: int, groups: Groups, class_rows: Array) -> None:
        """Take in one node's classes, and the rows of each."""
        self.classes[node] = np.count_nonzero(class_rows)
        scores = (score(groups) for score in self.further)
        columns = np.stack([groups.sizes, *groups.distinct, *scores])
        if groups.people is not None:
            there = class_rows > 0
            self.absent[node] = groups.people[~there].sum()
            columns, class_rows = columns[:, there], class_rows[there]
            _, self.people[node] = _summed(columns, groups.people[there].astype(np.int64))
        signatures, rows = _summed(columns, class_rows)
        limit = self.small.shape[1] - 1
        low = signatures[0] <= limit
        np.add.at(self.small[node], signatures[0, low], rows[low].astype(self.kind))
        self.signatures[node], self.rows[node] = self._narrowed(signatures), rows.astype(self.kind)
        self.nbytes += self.signatures[node].nbytes + self.rows[node].nbytes
        if self.room is not None:
            self.room(self.nbytes)

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
    sequence = _ascending(signatures)
    ordered = signatures[:, sequence]
    fresh = np.ones(len(rows), np.bool_)
    fresh[1:] = (ordered[:, 1:] != ordered[:, :-1]).any(axis=0)
    starts = np.flatnonzero(fresh)
    return ordered[:, starts], np.add.reduceat(rows[sequence], starts)


def _ascending(signatures: Array) -> Array:
    """The order of signatures, by one word each where they fit: a third of the time."""
    least, most = signatures.min(axis=1), signatures.max(axis=1)
    bits = [int(span).bit_length() for span in most - least]
    if sum(bits) > 62:
        return np.lexsort(signatures[::-1])
    word = np.zeros(signatures.shape[1], np.int64)
    for column, low, width in zip(signatures, least, bits, strict=True):
        word <<= width
        word |= (column - low).astype(np.int64)
    return np.argsort(word, kind="stable")
