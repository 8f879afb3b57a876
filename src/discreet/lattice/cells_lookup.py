"""Look-ups of a lattice where something is asked of what all classes show (``model.criteria.of_cells``).

Which classes go depends on which others are left, so scores are counted by the numpy twin for what is asked
beside: once for all values of the criterion, and again where something else asks for another threshold.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from threading import Lock

import numpy as np

from discreet.kernels.histograms import Histograms
from discreet.lattice.released import Thresholds
from discreet.lattice.scores import CellsScores, Relaxing
from discreet.model.criteria.base import Bound
from discreet.model.criteria.of_cells import CellsCriterion, Rule, Whole

_LEAST_MOST = 64
_KEPT = 4

Criteria = Sequence[CellsCriterion]
"""One of them."""


@dataclass(frozen=True, eq=False)
class CellsLookup:
    """Answers for every node; ``beside`` tells what is asked of classes, without what is asked of cells.

    ``everywhere(scores)`` counts all nodes and ``one(node, scores)`` a single one: the last part of a
    signature is the score. ``further`` are the parts of ``beside`` that are neither sizes nor distinct
    values, and ``rule`` tells which classes stay. The evaluations that were asked last are kept.
    """

    everywhere: Callable[[CellsScores], Histograms]
    one: Callable[[int, CellsScores], Histograms]
    beside: Callable[[Thresholds], Whole]
    signatures: Callable[[int], Whole]
    further: tuple[Bound, ...]
    rule: Rule
    _kept: OrderedDict[CellsScores, Histograms] = field(default_factory=OrderedDict, repr=False)
    _lock: Lock = field(default_factory=Lock, repr=False)

    def suppression(self, thresholds: Thresholds, criteria: Criteria) -> Whole:
        """Rows to suppress at each node, shape ``(nodes,)``."""
        histograms = self._all(thresholds, criteria[0])
        return histograms.below(_asking(histograms, criteria[0].threshold))

    def published_sums(self, thresholds: Thresholds, criteria: Criteria) -> tuple[Whole, Whole]:
        """The classes that each node publishes, and the sum of their squared sizes, of shape ``(nodes,)``."""
        histograms = self._all(thresholds, criteria[0])
        owners = np.repeat(np.arange(len(histograms.classes)), histograms.stops - histograms.starts)
        kept = histograms.signatures[-1] >= criteria[0].threshold
        owners, sizes = owners[kept], histograms.signatures[0, kept].astype(np.int64)
        rows = histograms.rows[kept].astype(np.int64)
        nodes = len(histograms.classes)
        classes, squares = np.zeros(nodes, np.int64), np.zeros(nodes, np.int64)
        np.add.at(classes, owners, rows // sizes)
        np.add.at(squares, owners, rows * sizes)
        return classes, squares

    def suppressed(self, node: int, thresholds: Thresholds, criteria: Criteria) -> int:
        """Rows to suppress at one node."""
        histograms, place = self._at(node, thresholds, criteria[0])
        return histograms.below_at(place, _asking(histograms, criteria[0].threshold))

    def largest(
        self, node: int, thresholds: Thresholds, criteria: Criteria, name: str, limit: int
    ) -> int | None:
        """The largest score that the criterion may ask at one node, as far as it was counted."""
        del name
        histograms, place = self._at(node, thresholds, criteria[0])
        last = len(histograms.signatures) - 1
        return _score(histograms.largest(place, _asking(histograms, None), (last,), limit))

    def largest_among(
        self, nodes: Whole, thresholds: Thresholds, criteria: Criteria, name: str, limit: int
    ) -> int | None:
        """The largest that one of some nodes reaches."""
        del name
        histograms = self._all(thresholds, criteria[0])
        last = len(histograms.signatures) - 1
        return _score(histograms.largest_among(nodes, _asking(histograms, None), (last,), limit))

    def largest_of_classes(self, node: int, how: Relaxing, criteria: Criteria, limit: int) -> int | None:
        """The largest score that criteria of classes may ask at one node: those of its classes are tried.

        A stricter one may suppress fewer rows in the end, so nothing is concluded from one to another.
        """
        scores = np.unique(self.signatures(node)[list(how.parts)])
        if len(how.parts) > 1 or how.thresholds[how.parts[0]] is not None:
            own = max(how.thresholds[part] or 0 for part in how.parts)
            scores = np.unique(np.minimum(scores, own))
        for score in scores[::-1].tolist():
            if self.suppressed(node, how.asking(score), criteria) <= limit:
                return int(score)
        return None

    def _scores(self, thresholds: Thresholds, criterion: CellsCriterion) -> CellsScores:
        """Counted up to twice the value that is asked, so that a slider may move a while."""
        most = max(_LEAST_MOST, 1 << (2 * criterion.threshold - 1).bit_length())
        lowest = type(criterion).parameter.least
        return CellsScores(replace(criterion, value=lowest), tuple(thresholds), self.further, most, self.rule)

    def _all(self, thresholds: Thresholds, criterion: CellsCriterion) -> Histograms:
        scores = self._scores(thresholds, criterion)
        found = self._found(scores)
        if found is None:
            found = self.everywhere(scores)
            with self._lock:
                self._kept[scores] = found
                while len(self._kept) > _KEPT:
                    self._kept.popitem(last=False)
        return found

    def _at(self, node: int, thresholds: Thresholds, criterion: CellsCriterion) -> tuple[Histograms, int]:
        scores = self._scores(thresholds, criterion)
        found = self._found(scores)
        return (self.one(node, scores), 0) if found is None else (found, node)

    def _found(self, scores: CellsScores) -> Histograms | None:
        with self._lock:
            for known, histograms in self._kept.items():
                if known.most >= scores.most and replace(known, most=scores.most) == scores:
                    self._kept.move_to_end(known)
                    return histograms
        return None


def _score(found: int | None) -> int | None:
    """What was found, unless it is that of classes that fail by themselves."""
    return None if found is None or found < 0 else found


def _asking(histograms: Histograms, least: int | None) -> tuple[int | None, ...]:
    return (*(None for _ in range(len(histograms.signatures) - 1)), least)
