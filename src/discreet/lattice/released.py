"""Criteria of the whole release, asked of many nodes at once.

A node's histogram tells how many classes of each size fail in nothing by themselves, so it tells every tail
(``model.size_tails``): what is left without the smallest. The first tail that meets the release's criteria
is what the node publishes. The tails of all nodes are one array, sorted once for the thresholds of the other
criteria; each criterion's scores of all tails are another. A parameter moved is then one comparison.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from discreet.kernels.histograms import Histograms
from discreet.model.criteria.base import Score
from discreet.model.criteria.of_release import ReleaseCriterion
from discreet.model.judge import below
from discreet.model.size_tails import SizeTails, Whole

Thresholds = Sequence[int | None]

_ENTRIES_AT_ONCE = 2_000_000
_ANY = int(np.iinfo(np.int64).max)


@dataclass(frozen=True, eq=False)
class ReleasedNodes:
    """The tails of some nodes under thresholds of the criteria of classes; ``rows`` are the table's."""

    tails: SizeTails
    rows: int
    _scores: dict[Score, Whole] = field(default_factory=dict, repr=False)

    @property
    def nbytes(self) -> int:
        """Bytes of the tails and of what was scored so far, about."""
        return 8 * len(self.tails.sizes) * (4 + len(self._scores))

    def first(self, criteria: Sequence[ReleaseCriterion]) -> Whole:
        """The tail that each node publishes, -1 where none holds, shape ``(nodes,)``."""
        holds = np.ones(len(self.tails.sizes), np.bool_)
        for criterion in criteria:
            holds &= self.scores(criterion) >= criterion.threshold
        return self.tails.first(holds)

    def suppressed(self, criteria: Sequence[ReleaseCriterion]) -> Whole:
        """The rows that each node suppresses, those of classes that fail by themselves included."""
        return self.rows - self.published(self.tails.total_rows, criteria)

    def published(self, values: Whole, criteria: Sequence[ReleaseCriterion]) -> Whole:
        """A number of each tail, of what each node publishes; 0 where that is nothing."""
        return np.append(values, 0)[self.first(criteria)]

    def largest(self, criteria: Sequence[ReleaseCriterion], name: str, limit: int) -> int | None:
        """The largest score that the criteria of a name may ask for at most ``limit`` rows, at any node.

        Several of a name are not asked more than their own; a single one may be. A node publishes its first
        tail that holds, so what any tail within the limit has will do.
        """
        mine = [criterion for criterion in criteria if criterion.name == name]
        fits = self.rows - self.tails.total_rows <= limit
        for criterion in criteria:
            if criterion.name != name:
                fits &= self.scores(criterion) >= criterion.threshold
        if not fits.any():
            return None
        reached = np.full(int(fits.sum()), _ANY)
        for criterion in mine:
            scores = self.scores(criterion)[fits]
            enough = (len(mine) > 1) & (scores >= criterion.threshold)
            reached = np.where(enough, reached, np.minimum(reached, scores))
        most = max(criterion.threshold for criterion in mine)
        return min(int(reached.max()), most) if len(mine) > 1 else int(reached.max())

    def scores(self, criterion: ReleaseCriterion) -> Whole:
        """The score of every tail; kept, as sliders ask again."""
        found = self._scores.get(criterion.score)
        if found is None:
            found = self._scores[criterion.score] = criterion.tail_scores(self.tails)
        return found


def released(
    histograms: Histograms, thresholds: Thresholds, rows: int, nodes: slice = slice(None)
) -> ReleasedNodes:
    """The tails of some nodes: classes that meet ``thresholds`` of a signature's parts, sizes being rows."""
    starts, stops = histograms.starts[nodes], histograms.stops[nodes]
    lengths = stops - starts
    owners = np.repeat(np.arange(len(starts)), lengths)
    entries = np.arange(len(owners)) + np.repeat(starts - (np.cumsum(lengths) - lengths), lengths)
    kept = ~below(list(histograms.signatures[:, entries]), thresholds)
    owners, entries = owners[kept], entries[kept]
    sizes = histograms.signatures[0, entries].astype(np.int64)
    counts = histograms.rows[entries].astype(np.int64)
    if histograms.partial:
        # Entries of small sizes are dense there; they are told apart by size alone.
        dense = np.diff(histograms.small[nodes].astype(np.int64), axis=1)
        dense[:, : max((thresholds[0] or 1) - 1, 0)] = 0
        node, size = np.nonzero(dense)
        owners, sizes = np.append(owners, node), np.append(sizes, size + 1)
        counts = np.append(counts, dense[node, size])
    return ReleasedNodes(_tails(owners, sizes, counts, len(starts)), rows)


def _tails(owners: Whole, sizes: Whole, rows: Whole, nodes: int) -> SizeTails:
    """Rows by node and size, in order, each size of a node once."""
    order = np.lexsort((sizes, owners))
    owners, sizes, rows = owners[order], sizes[order], rows[order]
    opens = np.ones(len(owners), np.bool_)
    opens[1:] = (owners[1:] != owners[:-1]) | (sizes[1:] != sizes[:-1])
    first = np.flatnonzero(opens)
    classes = np.add.reduceat(rows, first) // sizes[first] if len(first) else rows
    return SizeTails(sizes[first], classes, np.searchsorted(owners[first], np.arange(nodes)))


def parts_of(histograms: Histograms) -> list[slice]:
    """The nodes in parts that are looked at together, so that a large lattice takes no more memory."""
    entries = histograms.stops - histograms.starts + (histograms.limit if histograms.partial else 0)
    part = np.cumsum(entries) // _ENTRIES_AT_ONCE
    cuts = [0, *(np.flatnonzero(np.diff(part)) + 1).tolist(), len(entries)]
    return [slice(a, b) for a, b in pairwise(cuts) if b > a]
