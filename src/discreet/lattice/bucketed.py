"""Histograms of scores in buckets, whose answers are those of the scores as they are.

A threshold that is an edge is answered by look-up. Another one parts a bucket: the lattice is evaluated again
with it as an edge, which the kernels do in the time of the first evaluation; then it is a look-up, too.
Where a relaxation asks how far a score may go, buckets bound it for all nodes at once, and only nodes that
may go furthest are counted again, class by class (``one_node``).
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.kernels.histograms import Histograms
from discreet.lattice.compiled_scores import Edges

Thresholds = Sequence[int | None]

_MOST_ADDED = 32
_MISSES = 6
_KEPT_NODES = 8
_KEPT_TABLES = 16


@dataclass(eq=False)
class BucketedHistograms:
    """Histograms of all nodes, as ``kernels.histograms.Histograms``, thresholds and scores as they are.

    ``count(edges)`` evaluates every node with such buckets, ``one(node)`` tells a node's classes as they are.
    ``first`` are the edges that stay; ``now`` is the evaluation with ``edges``.
    """

    count: Callable[[Edges], Histograms]
    one: Callable[[int], Histograms]
    first: Edges
    edges: Edges = ()
    now: Histograms = field(init=False)
    _added: list[tuple[int, int]] = field(default_factory=list)
    _kept: dict[int, Histograms] = field(default_factory=dict)
    _tables: dict[tuple[Any, ...], tuple[Histograms, NDArray[Any]]] = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock)

    def __post_init__(self) -> None:
        self.edges = self.first
        self.now = self.count(self.first)

    @property
    def classes(self) -> NDArray[np.int64]:
        """The classes of each node."""
        return self.now.classes

    @property
    def limit(self) -> int:
        """The largest size that is kept dense."""
        return self.now.limit

    @property
    def nbytes(self) -> int:
        """Bytes of all arrays."""
        return self.now.nbytes

    def told(self, thresholds: Thresholds) -> tuple[Histograms, tuple[int | None, ...]]:
        """Histograms in which each of some thresholds is an edge, and the thresholds there."""
        with self._lock:
            parts = len(thresholds) - len(self.edges)
            for i, threshold in enumerate(thresholds[parts:]):
                if threshold is not None and threshold not in self.edges[i]:
                    self._added.append((i, threshold))
            if any(threshold not in self.edges[i] for i, threshold in self._added):
                del self._added[:-_MOST_ADDED]
                added = [{edge for i, edge in self._added if i == place} for place in range(len(self.first))]
                self.edges = tuple(
                    tuple(sorted({*edges, *more})) for edges, more in zip(self.first, added, strict=True)
                )
                self.now = self.count(self.edges)
            return self.now, self._translated(thresholds)

    def _translated(self, thresholds: Thresholds) -> tuple[int | None, ...]:
        """Thresholds of buckets; where one is no edge, the bucket that it parts passes."""
        parts = len(thresholds) - len(self.edges)
        buckets = (
            None if least is None else bisect_right(edges, least)
            for edges, least in zip(self.edges, thresholds[parts:], strict=True)
        )
        return (*thresholds[:parts], *buckets)

    def below(self, thresholds: tuple[int | None, ...]) -> NDArray[np.int64]:
        """Rows to suppress per node; where one score is asked, by a table of its buckets.

        The table is made once for all else that is asked beside it, so that a slider looks up.
        """
        now, asked = self.told(thresholds)
        scores = range(len(asked) - len(self.edges), len(asked))
        slid = [place for place in scores if asked[place] is not None]
        if len(slid) != 1:
            return now.below(asked)
        place, other = slid[0], tuple(None if p == slid[0] else least for p, least in enumerate(asked))
        with self._lock:
            found = self._tables.get((place, other))
        if found is None or found[0] is not now:
            found = now, now.sliding(place, other)
            with self._lock:
                self._tables[place, other] = found
                while len(self._tables) > _KEPT_TABLES:
                    del self._tables[next(iter(self._tables))]
        table = found[1]
        return table[:, min(asked[place] or 0, table.shape[1] - 1)].astype(np.int64)

    def diverse(self, distinct: tuple[int | None, ...]) -> NDArray[Any]:
        """``Histograms.diverse``."""
        now, asked = self.told((None, *distinct))
        return now.diverse(asked[1:])

    def below_at(self, node: int, thresholds: tuple[int | None, ...]) -> int:
        """Rows to suppress at one node."""
        now, asked = self.told(thresholds)
        return now.below_at(node, asked)

    def at(self, node: int) -> tuple[Histograms, int]:
        """One node's classes as they are; those that were asked last are kept."""
        with self._lock:
            found = self._kept.get(node)
        if found is None:
            found = self.one(node)
            with self._lock:
                self._kept[node] = found
                while len(self._kept) > _KEPT_NODES:
                    del self._kept[next(iter(self._kept))]
        return found, 0

    def of(self, node: int) -> dict[tuple[int, ...], int]:
        """One node's histogram, scores as they are."""
        return self.at(node)[0].of(0)

    def largest(self, node: int, thresholds: Thresholds, parts: tuple[int, ...], limit: int) -> int | None:
        """``Histograms.largest``, of the node's classes as they are."""
        return self.at(node)[0].largest(0, thresholds, parts, limit)

    def largest_among(
        self, nodes: NDArray[np.int64], thresholds: Thresholds, parts: tuple[int, ...], limit: int
    ) -> int | None:
        """``Histograms.largest_among``: a node is counted again where its buckets may go furthest.

        Where several in turn do not, the best so far becomes an edge, and none is left that does not.
        """
        if all(part < len(thresholds) - len(self.edges) for part in parts):
            now, told = self.told(thresholds)
            return now.largest_among(nodes, told, parts, limit)
        best: int | None = None
        asked = [None if place in parts else least for place, least in enumerate(thresholds)]
        misses = 0
        self.told(asked)
        while len(nodes):
            now, told = self.told(asked) if misses >= _MISSES else (self.now, self._translated(asked))
            below = now.below(told)[nodes]
            nodes, below = nodes[below <= limit], below[below <= limit]
            if not len(nodes):
                break
            place = int(below.argmin())
            found = self.largest(int(nodes[place]), thresholds, parts, limit)
            nodes = np.delete(nodes, place)
            if found is None or (best is not None and found <= best):
                misses += 1
                continue
            best, misses = found, 0
            for part in parts:
                own = thresholds[part]
                asked[part] = best + 1 if own is None else min(own, best + 1)
        return best
