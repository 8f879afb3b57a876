"""Look-ups of a lattice where something is asked of the whole release (``lattice.released``)."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from threading import Lock

import numpy as np

from discreet.kernels.histograms import Histograms
from discreet.lattice.bucketed import BucketedHistograms
from discreet.lattice.released import ReleasedNodes, Thresholds, parts_of, released
from discreet.lattice.scores import Relaxing
from discreet.model.criteria.of_release import ReleaseCriterion
from discreet.model.size_tails import Whole

_KEPT_BYTES = 256 * 10**6

Criteria = Sequence[ReleaseCriterion]


@dataclass(frozen=True, eq=False)
class ReleaseLookup:
    """Answers for every node of some histograms, of which sizes are rows; ``rows`` are the table's.

    The tails of the thresholds that were asked last are kept, as far as they are not too many.
    """

    histograms: Histograms | BucketedHistograms
    rows: int
    _kept: OrderedDict[tuple[int | None, ...], list[ReleasedNodes]] = field(
        default_factory=OrderedDict, repr=False
    )
    _lock: Lock = field(default_factory=Lock, repr=False)

    def suppression(self, thresholds: Thresholds, criteria: Criteria) -> Whole:
        """Rows to suppress at each node, shape ``(nodes,)``."""
        return self._of_parts(thresholds, lambda part: part.suppressed(criteria))

    def published_sums(self, thresholds: Thresholds, criteria: Criteria) -> tuple[Whole, Whole]:
        """The classes that each node publishes, and the sum of their squared sizes, of shape ``(nodes,)``."""
        return (
            self._of_parts(thresholds, lambda part: part.published(part.tails.total_classes, criteria)),
            self._of_parts(thresholds, lambda part: part.published(part.tails.total_squares, criteria)),
        )

    def suppressed(self, node: int, thresholds: Thresholds, criteria: Criteria) -> int:
        """Rows to suppress at one node."""
        return int(self._at(node, thresholds).suppressed(criteria)[0])

    def largest(
        self, node: int, thresholds: Thresholds, criteria: Criteria, name: str, limit: int
    ) -> int | None:
        """The largest score that the release's criteria of a name may ask at one node."""
        return self._at(node, thresholds).largest(criteria, name, limit)

    def largest_among(
        self, nodes: Whole, thresholds: Thresholds, criteria: Criteria, name: str, limit: int
    ) -> int | None:
        """The largest that one of some nodes reaches."""
        if len(nodes) == len(self.histograms.classes):
            found = [part.largest(criteria, name, limit) for part in self._parts(thresholds)]
        else:
            found = [self.largest(node, thresholds, criteria, name, limit) for node in nodes.tolist()]
        return max((score for score in found if score is not None), default=None)

    def largest_of_classes(self, node: int, how: Relaxing, criteria: Criteria, limit: int) -> int | None:
        """The largest score that criteria of classes may ask at one node.

        A stricter one may suppress fewer rows in the end, where the release's criteria hold of what it
        leaves. So nothing is concluded from one score to another: those of the node's classes are tried,
        from the largest on that keeps to the limit without the release's criteria.
        """
        most = self.histograms.largest(node, how.thresholds, how.parts, limit)
        if most is None:
            return None
        signatures = np.array(list(self.histograms.of(node)), np.int64).reshape(-1, len(how.thresholds))
        scores = np.unique(signatures[:, list(how.parts)])
        for score in [most, *scores[scores < most][::-1].tolist()]:
            if self.suppressed(node, how.asking(score), criteria) <= limit:
                return int(score)
        return None

    def beside(self, thresholds: Thresholds) -> Whole:
        """Rows that fail what is asked of classes alone, at each node."""
        return self.histograms.below(tuple(thresholds))

    def _at(self, node: int, thresholds: Thresholds) -> ReleasedNodes:
        histograms, place = self.histograms.at(node)
        return released(histograms, thresholds, self.rows, slice(place, place + 1))

    def _of_parts(self, thresholds: Thresholds, ask: Callable[[ReleasedNodes], Whole]) -> Whole:
        return np.concatenate([np.zeros(0, np.int64), *map(ask, self._parts(thresholds))])

    def _parts(self, thresholds: Thresholds) -> Iterator[ReleasedNodes]:
        key = tuple(thresholds)
        with self._lock:
            kept = self._kept.get(key)
            if kept is not None:
                self._kept.move_to_end(key)
        if kept is not None:
            yield from kept
            return
        made: list[ReleasedNodes] = []
        histograms, asked = self.histograms.told(thresholds)
        for nodes in parts_of(histograms):
            part = released(histograms, asked, self.rows, nodes)
            yield part
            if sum(each.nbytes for each in (*made, part)) <= _KEPT_BYTES:
                made.append(part)
        with self._lock:
            if len(made) == len(parts_of(histograms)):
                self._kept[key] = made
            while (
                len(self._kept) > 1 and sum(p.nbytes for ps in self._kept.values() for p in ps) > _KEPT_BYTES
            ):
                self._kept.popitem(last=False)
