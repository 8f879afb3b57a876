"""Look-ups of a lattice where the suppressed rows of a node are judged as well (``Criterion.of_rest``).

Nothing may be published of a node whose suppressed rows fail, so all of its rows count as suppressed. A
stricter value may suppress more rows and pass: nothing is concluded from one to another.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from discreet.kernels.histograms import Histograms
from discreet.lattice.released import Thresholds
from discreet.lattice.scores import Relaxing
from discreet.model.criteria.base import Criterion, Score
from discreet.model.criteria.of_cells import Whole

Criteria = Sequence[Criterion]


@dataclass(frozen=True, eq=False)
class RestLookup:
    """Answers for every node of some histograms; ``scores`` are the parts of a signature."""

    histograms: Histograms
    rows: int
    scores: tuple[Score, ...]

    def suppression(self, thresholds: Thresholds, criteria: Criteria) -> Whole:
        """Rows to suppress at each node, shape ``(nodes,)``."""
        asked = tuple(thresholds)
        rows, people = self.histograms.below(asked), self.histograms.unmatched(asked)
        return np.where(self._fails(asked, criteria, rows, people), self.rows, rows)

    def suppressed(self, node: int, thresholds: Thresholds, criteria: Criteria) -> int:
        """Rows to suppress at one node."""
        return int(self._of(node).suppression(thresholds, criteria)[0])

    def largest_of_classes(self, node: int, how: Relaxing, criteria: Criteria, limit: int) -> int | None:
        """The largest score that the criteria of a name may ask at one node.

        Between the scores of two of its classes the same rows are suppressed, and they may bound the score.
        """
        alone = self._of(node)
        ends = np.unique(alone.histograms.signatures[list(how.parts)].astype(np.int64)).tolist()
        bounded = any(self.scores.index(one.score) in how.parts for one in criteria)

        def passes(score: int) -> bool:
            return int(alone.suppression(how.asking(score), criteria)[0]) <= limit

        for place in range(len(ends) - 1, -1, -1):
            if passes(ends[place]):
                return int(ends[place])
            low = ends[place - 1] + 1 if place else 0
            if bounded and low < ends[place] and passes(low):
                # The same rows go from here on: only what is asked of them grows.
                return low + bisect_left(range(low, ends[place]), True, key=lambda t: not passes(t)) - 1
        return None

    def beside(self, thresholds: Thresholds) -> Whole:
        """Rows that fail what is asked of classes alone, at each node."""
        return self.histograms.below(tuple(thresholds))

    def _of(self, node: int) -> RestLookup:
        """Of one node alone."""
        whole = self.histograms
        entries, at = slice(int(whole.starts[node]), int(whole.stops[node])), slice(node, node + 1)
        assert whole.people is not None
        assert whole.absent is not None
        alone = replace(
            whole,
            classes=whole.classes[at],
            small=whole.small[at],
            starts=np.zeros(1, np.int64),
            stops=np.array([entries.stop - entries.start]),
            signatures=whole.signatures[:, entries],
            rows=whole.rows[entries],
            people=whole.people[entries],
            absent=whole.absent[at],
        )
        return RestLookup(alone, self.rows, self.scores)

    def _fails(
        self, asked: Sequence[int | None], criteria: Criteria, rows: Whole, people: Whole
    ) -> NDArray[np.bool_]:
        fails = np.zeros(len(rows), np.bool_)
        for one in criteria:
            threshold = asked[self.scores.index(one.score)]
            if threshold is not None:
                fails |= one.rest_fails(threshold, rows, people)
        return fails
