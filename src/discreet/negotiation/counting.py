"""Suppression histograms of single nodes, each counted from the nearest node that is kept.

Cost: a roll-up of the smallest kept state below the node (``frequency.node_classes``), and one sort of its
classes' signatures. Where scores beside sizes and distinct values are asked, each node is rolled up from the
row types (``frequency.rollup``), which is slower.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.frequency.class_facts import FactCounter
from discreet.frequency.node_classes import ClassCounter
from discreet.frequency.rollup import roll_up
from discreet.kernels.histograms import SMALL_LIMIT, Histograms
from discreet.lattice.scores import further_bounds
from discreet.model.criteria.base import Criterion
from discreet.model.frequency_set import FrequencySet
from discreet.model.lattice import LatticeNode
from discreet.model.requirement import Requirement
from discreet.model.subject_rows import counting_rows

KEPT_BYTES = 256 * 2**20
"""What a counter's kept states may hold."""


@dataclass(frozen=True, eq=False)
class NodeHistogram:
    """The rows of one node by signature: a class's size, its distinct values per attribute, further scores.

    ``signatures`` has shape ``(1 + sensitive attributes + further scores, entries)``, ``rows`` shape
    ``(entries,)``.
    """

    classes: int
    signatures: NDArray[np.int64]
    rows: NDArray[np.int64]


class NodeCounter:
    """Counts nodes of one frequency set. Threads may share it: they take turns.

    ``criteria`` are what will be asked beside k and l. ``InputError`` where the frequency set cannot tell.
    """

    def __init__(
        self,
        frequency_set: FrequencySet,
        *,
        criteria: Sequence[Criterion] = (),
        kept_bytes: int = KEPT_BYTES,
    ) -> None:
        self.frequency_set = frequency_set = counting_rows(frequency_set) if criteria else frequency_set
        self.further = further_bounds(criteria, frequency_set)
        self.counted = 0
        asked = Requirement(criteria=(bound.criterion for bound in self.further))
        self._facts = FactCounter.of(frequency_set, asked, exact=True) if self.further else None
        subjects = [] if frequency_set.subjects is None else [frequency_set.subjects]
        self._classes = ClassCounter(frequency_set, [*subjects, *frequency_set.sensitive], kept_bytes)
        self._lock = Lock()

    def histogram(self, node: LatticeNode) -> NodeHistogram:
        """A node's suppression histogram."""
        # The counter rolls up from states that it keeps and drops, so threads take turns.
        with self._lock:
            self.counted += 1
            if self._facts is not None:
                return self._scored(node, self._facts)
            found = self._classes.count(node)
        sizes = [found.sizes] if self.frequency_set.subjects is None else []
        return NodeHistogram(found.classes, *_summed(np.stack([*sizes, *found.distinct]), found.sizes))

    def _scored(self, node: LatticeNode, counter: FactCounter) -> NodeHistogram:
        if not self.frequency_set.row_types:
            parts = 1 + len(self.frequency_set.sensitive) + len(self.further)
            return NodeHistogram(0, np.empty((parts, 0), np.int64), np.empty(0, np.int64))
        found = roll_up(self.frequency_set, node)
        facts = counter.at_node(found)
        distinct = [values.distinct for values in facts.values if values is not None]
        further = [bound.scores(facts) for bound in self.further]
        return NodeHistogram(
            found.classes, *_summed(np.stack([facts.sizes, *distinct, *further]), found.counts)
        )

    def classes(self, node: LatticeNode) -> int:
        """A node's number of equivalence classes."""
        with self._lock:
            self.counted += 1
            return self._classes.classes(node)


def stack_histograms(
    found: Sequence[NodeHistogram], sensitive: int, rows: int, *, by_subject: bool, further: int = 0
) -> Histograms:
    """The histograms of several nodes in one, in their order; ``rows`` are the table's.

    Signatures have ``sensitive`` counts of distinct values and as many ``further`` scores.
    """
    kind: type[np.uint32] | type[np.uint64] = np.uint64 if rows >= 2**32 else np.uint32
    signed = np.dtype(np.int64 if further else kind)  # further scores may be negative
    partial = not sensitive and not by_subject and not further
    small = np.zeros((len(found), SMALL_LIMIT + 1), kind)
    signatures: list[NDArray[Any]] = [np.empty((1 + sensitive + further, 0), signed)]
    entries: list[NDArray[Any]] = [np.empty(0, kind)]
    for i, histogram in enumerate(found):
        sizes = histogram.signatures[0]
        low = sizes <= SMALL_LIMIT
        np.add.at(small[i], sizes[low], histogram.rows[low].astype(kind))
        kept = ~low if partial else np.ones(len(low), np.bool_)
        signatures.append(histogram.signatures[:, kept].astype(signed))
        entries.append(histogram.rows[kept].astype(kind))
    np.cumsum(small, axis=1, out=small)
    stops = np.cumsum([len(e) for e in entries[1:]], dtype=np.int64)
    return Histograms(
        classes=np.array([h.classes for h in found], dtype=np.int64),
        small=small,
        starts=np.append(np.int64(0), stops)[: len(found)],
        stops=stops,
        signatures=np.concatenate(signatures, axis=1),
        rows=np.concatenate(entries),
        partial=partial,
    )


def bytes_of_histogram(frequency_set: FrequencySet, further: int = 0) -> int:
    """Bytes that one node's histogram takes at most, about; with ``further`` scores each class is listed."""
    parts = 2 + len(frequency_set.sensitive) + further
    distinct = min(frequency_set.row_types, int((2 * frequency_set.rows) ** 0.5) + 1)
    entries = distinct if parts == 2 else min(frequency_set.row_types, 64 * distinct)
    entries = frequency_set.row_types if further else entries
    return 8 * (SMALL_LIMIT + 1) + 8 * parts * entries


def _summed(
    signatures: NDArray[np.int64], rows: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Rows added up by signature, signatures ascending."""
    if not len(rows):
        return signatures, rows
    sequence = np.lexsort(signatures[::-1])
    ordered = signatures[:, sequence]
    starts = np.flatnonzero(np.append(True, (ordered[:, 1:] != ordered[:, :-1]).any(axis=0)))
    return ordered[:, starts], np.add.reduceat(rows[sequence], starts)
