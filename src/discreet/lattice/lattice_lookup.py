"""Lookups on an evaluated lattice for criteria of a release, of all shown cells or of suppressed rows.

Release criteria read the tails of each node's class sizes, sorted once per thresholds. Criteria of cells are
counted by the numpy twin and cached. Criteria of the suppressed rows suppress all rows of a node that fails
them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.kernels.histograms import Histograms
from discreet.lattice.score_buckets import BucketedHistograms, LatestCache
from discreet.lattice.scores import CellsScore, ScoreRelaxation
from discreet.model.criteria.base import BoundCriterion, Criterion, ScoreKey
from discreet.model.criteria.release_level import CellsCriterion, Integers, PeelingRule, ReleaseCriterion
from discreet.model.criterion_inputs import SizeArray, SizeTails
from discreet.model.requirement import threshold_mask

Thresholds = Sequence[int | None]

_ENTRIES_AT_ONCE = 2_000_000
_ANY = int(np.iinfo(np.int64).max)


@dataclass(frozen=True, eq=False)
class NodeLookup(ABC):
    """Lookup of suppressed rows for criteria that depend on all classes of a node."""

    histograms: Histograms | BucketedHistograms

    def class_suppression(self, thresholds: Thresholds) -> SizeArray:
        """Return the rows of each node that fail the class criteria only."""
        return self.histograms.below(tuple(thresholds))

    @abstractmethod
    def suppression(self, thresholds: Thresholds, criteria: Sequence[Any]) -> SizeArray:
        """Return the rows to suppress at each node, shape ``(nodes,)``."""

    @abstractmethod
    def suppressed(self, node: int, thresholds: Thresholds, criteria: Sequence[Any]) -> int:
        """Return the rows to suppress at one node."""

    @abstractmethod
    def largest_of_classes(
        self, node: int, how: ScoreRelaxation, criteria: Sequence[Any], limit: int
    ) -> int | None:
        """Return the largest score that the relaxed class criteria can require at one node.

        None if no score keeps the suppressed rows within ``limit``.
        """

    def _first_passing(
        self, scores: SizeArray, node: int, how: ScoreRelaxation, criteria: Sequence[Any], limit: int
    ) -> int | None:
        """Return the first of some scores that suppresses at most ``limit`` rows of a node."""
        for score in scores.tolist():
            if self.suppressed(node, how.thresholds_for(score), criteria) <= limit:
                return int(score)
        return None


@dataclass(frozen=True, eq=False)
class NodeTails:
    """Tails of class sizes of some nodes under class thresholds; ``rows`` is the table's number of rows.

    A tail contains the classes of one node of at least a certain size.
    """

    tails: SizeTails
    rows: int
    _scores: dict[ScoreKey, SizeArray] = field(default_factory=dict, repr=False)

    @property
    def nbytes(self) -> int:
        """Approximate bytes of the tails and of the cached scores."""
        return 8 * len(self.tails.sizes) * (4 + len(self._scores))

    def first(self, criteria: Sequence[ReleaseCriterion]) -> SizeArray:
        """Return the tail that each node publishes, -1 if no tail meets the criteria, shape ``(nodes,)``."""
        holds = np.ones(len(self.tails.sizes), np.bool_)
        for criterion in criteria:
            holds &= self.scores(criterion) >= criterion.threshold
        return self.tails.first(holds)

    def suppressed(self, criteria: Sequence[ReleaseCriterion]) -> SizeArray:
        """Return the rows that each node suppresses, including those of classes that fail."""
        return self.rows - self.published(self.tails.total_rows, criteria)

    def published(self, values: SizeArray, criteria: Sequence[ReleaseCriterion]) -> SizeArray:
        """Return an entry of ``values`` (one per tail) for the tail that each node publishes; 0 if none."""
        return np.append(values, 0)[self.first(criteria)]

    def largest(self, criteria: Sequence[ReleaseCriterion], name: str, limit: int) -> int | None:
        """Return the largest score that the criteria named ``name`` can require at any node.

        At most ``limit`` rows are suppressed. If several criteria have that name, none is raised above its
        own threshold; a single one may be. A node publishes its first tail that meets the criteria, so the
        score of any tail within the limit can be reached.
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

    def scores(self, criterion: ReleaseCriterion) -> SizeArray:
        """Return the score of every tail; cached because sliders repeat the query."""
        result = self._scores.get(criterion.score)
        if result is None:
            result = self._scores[criterion.score] = criterion.tail_scores(self.tails)
        return result


def compute_tails(
    histograms: Histograms, thresholds: Thresholds, rows: int, nodes: slice = slice(None)
) -> NodeTails:
    """Compute the tails of some nodes from the classes that meet ``thresholds``; sizes must count rows."""
    starts, stops = histograms.starts[nodes], histograms.stops[nodes]
    lengths = stops - starts
    owners = np.repeat(np.arange(len(starts)), lengths)
    entries = np.arange(len(owners)) + np.repeat(starts - (np.cumsum(lengths) - lengths), lengths)
    retained = ~threshold_mask(list(histograms.signatures[:, entries]), thresholds)
    owners, entries = owners[retained], entries[retained]
    sizes = histograms.signatures[0, entries].astype(np.int64)
    counts = histograms.rows[entries].astype(np.int64)
    if histograms.partial:
        # Partial histograms store entries of small sizes densely, by size only; add them to the listed
        # entries.
        dense = np.diff(histograms.small[nodes].astype(np.int64), axis=1)
        dense[:, : max((thresholds[0] or 1) - 1, 0)] = 0
        node, size = np.nonzero(dense)
        owners, sizes = np.append(owners, node), np.append(sizes, size + 1)
        counts = np.append(counts, dense[node, size])
    return NodeTails(_sort_tails(owners, sizes, counts, len(starts)), rows)


def _sort_tails(owners: SizeArray, sizes: SizeArray, rows: SizeArray, nodes: int) -> SizeTails:
    """Aggregate rows by node and size, in ascending order, with one entry per size of a node."""
    order = np.lexsort((sizes, owners))
    owners, sizes, rows = owners[order], sizes[order], rows[order]
    opens = np.ones(len(owners), np.bool_)
    opens[1:] = (owners[1:] != owners[:-1]) | (sizes[1:] != sizes[:-1])
    first = np.flatnonzero(opens)
    classes = np.add.reduceat(rows, first) // sizes[first] if len(first) else rows
    return SizeTails(sizes[first], classes, np.searchsorted(owners[first], np.arange(nodes)))


def split_nodes(histograms: Histograms) -> list[slice]:
    """Split the nodes into slices of bounded entries, so that a large lattice takes no more memory."""
    entries = histograms.stops - histograms.starts + (histograms.limit if histograms.partial else 0)
    part = np.cumsum(entries) // _ENTRIES_AT_ONCE
    cuts = [0, *(np.flatnonzero(np.diff(part)) + 1).tolist(), len(entries)]
    return [slice(a, b) for a, b in pairwise(cuts) if b > a]


_CACHED_BYTES = 256 * 10**6


def _tail_bytes(parts: list[NodeTails]) -> int:
    return sum(part.nbytes for part in parts)


ReleaseCriteria = Sequence[ReleaseCriterion]


@dataclass(frozen=True, eq=False)
class ReleaseLookup(NodeLookup):
    """Lookup of criteria of the release's class sizes, for histograms whose sizes count rows.

    ``rows`` is the table's number of rows. The tails of the latest thresholds are cached if they take at most
    256 MB.
    """

    rows: int
    _cache: LatestCache[tuple[int | None, ...], list[NodeTails]] = field(
        default_factory=lambda: LatestCache(_CACHED_BYTES, _tail_bytes), repr=False
    )

    def suppression(self, thresholds: Thresholds, criteria: ReleaseCriteria) -> SizeArray:
        """Return the rows to suppress at each node, shape ``(nodes,)``."""
        return self._of_parts(thresholds, lambda part: part.suppressed(criteria))

    def published_sums(
        self, thresholds: Thresholds, criteria: ReleaseCriteria
    ) -> tuple[SizeArray, SizeArray]:
        """Return the number of published classes of each node and the sum of their squared sizes.

        Both have shape ``(nodes,)``.
        """
        return (
            self._of_parts(thresholds, lambda part: part.published(part.tails.total_classes, criteria)),
            self._of_parts(thresholds, lambda part: part.published(part.tails.total_squares, criteria)),
        )

    def suppressed(self, node: int, thresholds: Thresholds, criteria: ReleaseCriteria) -> int:
        """Return the rows to suppress at one node."""
        return int(self._at(node, thresholds).suppressed(criteria)[0])

    def largest(
        self, node: int, thresholds: Thresholds, criteria: ReleaseCriteria, name: str, limit: int
    ) -> int | None:
        """Return the largest score that the release criteria named ``name`` can require at one node."""
        return self._at(node, thresholds).largest(criteria, name, limit)

    def largest_among(
        self, nodes: SizeArray, thresholds: Thresholds, criteria: ReleaseCriteria, name: str, limit: int
    ) -> int | None:
        """Return the largest score that any of ``nodes`` reaches."""
        if len(nodes) == len(self.histograms.classes):
            found = [part.largest(criteria, name, limit) for part in self._parts(thresholds)]
        else:
            found = [self.largest(node, thresholds, criteria, name, limit) for node in nodes.tolist()]
        return max((score for score in found if score is not None), default=None)

    def largest_of_classes(
        self, node: int, how: ScoreRelaxation, criteria: ReleaseCriteria, limit: int
    ) -> int | None:
        """Return the largest score that class criteria can require at one node.

        A stricter class criterion may suppress fewer rows in the end if the remaining classes meet the
        release criteria. Suppression is therefore not monotone in the score, and no bisection is possible:
        the scores of the node's classes are tried in descending order, beginning with the largest one that
        keeps to the limit without the release criteria.
        """
        most = self.histograms.largest(node, how.thresholds, how.parts, limit)
        if most is None:
            return None
        signatures = np.array(list(self.histograms.of(node)), np.int64).reshape(-1, len(how.thresholds))
        scores = np.unique(signatures[:, list(how.parts)])
        descending = np.append(most, scores[scores < most][::-1])
        return self._first_passing(descending, node, how, criteria, limit)

    def _at(self, node: int, thresholds: Thresholds) -> NodeTails:
        histograms, index = self.histograms.at(node)
        return compute_tails(histograms, thresholds, self.rows, slice(index, index + 1))

    def _of_parts(self, thresholds: Thresholds, ask: Callable[[NodeTails], SizeArray]) -> SizeArray:
        return np.concatenate([np.zeros(0, np.int64), *map(ask, self._parts(thresholds))])

    def _parts(self, thresholds: Thresholds) -> Iterator[NodeTails]:
        key = tuple(thresholds)
        cached = self._cache.get(key)
        if cached is not None:
            yield from cached
            return
        made: list[NodeTails] = []
        histograms, translated = self.histograms.translate(thresholds)
        parts = split_nodes(histograms)
        for nodes in parts:
            part = compute_tails(histograms, translated, self.rows, nodes)
            yield part
            # Cache only if all parts together are small; the generator yields the part in any case.
            if sum(each.nbytes for each in (*made, part)) <= _CACHED_BYTES:
                made.append(part)
        if len(made) == len(parts):
            self._cache.put(key, made)


_MIN_COUNTED_SCORE = 64
_CACHED_EVALUATIONS = 4

CellsCriteria = Sequence[CellsCriterion]
"""Sequence of exactly one criterion: no two criteria of cells are combined."""


@dataclass(frozen=True, eq=False)
class CellsLookup(NodeLookup):
    """Lookup of a criterion of cells, counted by the numpy twin and cached.

    ``histograms`` are those of the class criteria, without the criterion of cells. ``count_all(scores)``
    counts all nodes and ``one(node, scores)`` a single one; the last part of their signatures is the
    criterion's score. ``further`` are the parts of signatures that are neither sizes nor distinct values.
    ``rule`` decides which classes are published. The latest evaluations are cached.
    """

    count_all: Callable[[CellsScore], Histograms]
    one: Callable[[int, CellsScore], Histograms]
    further: tuple[BoundCriterion, ...]
    rule: PeelingRule
    _cache: LatestCache[CellsScore, Histograms] = field(
        default_factory=lambda: LatestCache(_CACHED_EVALUATIONS), repr=False
    )

    def suppression(self, thresholds: Thresholds, criteria: CellsCriteria) -> Integers:
        """Return the rows to suppress at each node, shape ``(nodes,)``."""
        histograms = self._all(thresholds, criteria[0])
        return histograms.below(_score_threshold(histograms, criteria[0].threshold))

    def published_sums(self, thresholds: Thresholds, criteria: CellsCriteria) -> tuple[Integers, Integers]:
        """Return the number of published classes of each node and the sum of their squared sizes.

        Both have shape ``(nodes,)``.
        """
        histograms = self._all(thresholds, criteria[0])
        owners = np.repeat(np.arange(len(histograms.classes)), histograms.stops - histograms.starts)
        retained = histograms.signatures[-1] >= criteria[0].threshold
        owners, sizes = owners[retained], histograms.signatures[0, retained].astype(np.int64)
        rows = histograms.rows[retained].astype(np.int64)
        nodes = len(histograms.classes)
        classes, squares = np.zeros(nodes, np.int64), np.zeros(nodes, np.int64)
        np.add.at(classes, owners, rows // sizes)
        np.add.at(squares, owners, rows * sizes)
        return classes, squares

    def suppressed(self, node: int, thresholds: Thresholds, criteria: CellsCriteria) -> int:
        """Return the rows to suppress at one node."""
        histograms, index = self._at(node, thresholds, criteria[0])
        return histograms.below_at(index, _score_threshold(histograms, criteria[0].threshold))

    def largest(
        self, node: int, thresholds: Thresholds, criteria: CellsCriteria, name: str, limit: int
    ) -> int | None:
        """Return the largest score that the criterion can require at one node, up to the counted maximum."""
        del name
        histograms, index = self._at(node, thresholds, criteria[0])
        last = len(histograms.signatures) - 1
        return _own_score(histograms.largest(index, _score_threshold(histograms, None), (last,), limit))

    def largest_among(
        self, nodes: Integers, thresholds: Thresholds, criteria: CellsCriteria, name: str, limit: int
    ) -> int | None:
        """Return the largest score that any of ``nodes`` reaches."""
        del name
        histograms = self._all(thresholds, criteria[0])
        last = len(histograms.signatures) - 1
        return _own_score(histograms.largest_among(nodes, _score_threshold(histograms, None), (last,), limit))

    def largest_of_classes(
        self, node: int, how: ScoreRelaxation, criteria: CellsCriteria, limit: int
    ) -> int | None:
        """Return the largest score that class criteria can require at one node.

        A stricter criterion may suppress fewer rows in the end, so no bisection is possible: every score of
        the node's classes is tried.
        """
        signatures = np.array(list(self.histograms.of(node)), np.int64).T
        scores = np.unique(signatures[list(how.parts)])
        if len(how.parts) > 1 or how.thresholds[how.parts[0]] is not None:
            own = max(how.thresholds[part] or 0 for part in how.parts)
            scores = np.unique(np.minimum(scores, own))
        return self._first_passing(scores[::-1], node, how, criteria, limit)

    def _scores(self, thresholds: Thresholds, criterion: CellsCriterion) -> CellsScore:
        """Return the score to count: up to twice the requested value, so that a slider can move a while."""
        most = max(_MIN_COUNTED_SCORE, 1 << (2 * criterion.threshold - 1).bit_length())
        lowest = type(criterion).parameter.least
        return CellsScore(replace(criterion, value=lowest), tuple(thresholds), self.further, most, self.rule)

    def _all(self, thresholds: Thresholds, criterion: CellsCriterion) -> Histograms:
        scores = self._scores(thresholds, criterion)
        result = self._found(scores)
        if result is None:
            result = self.count_all(scores)
            self._cache.put(scores, result)
        return result

    def _at(self, node: int, thresholds: Thresholds, criterion: CellsCriterion) -> tuple[Histograms, int]:
        scores = self._scores(thresholds, criterion)
        found = self._found(scores)
        return (self.one(node, scores), 0) if found is None else (found, node)

    def _found(self, scores: CellsScore) -> Histograms | None:
        for known in self._cache:
            if known.most >= scores.most and replace(known, most=scores.most) == scores:
                return self._cache.get(known)
        return None


def _own_score(score: int | None) -> int | None:
    """Return the found score, or None for -1, the score of classes that fail their own criteria."""
    return None if score is None or score < 0 else score


def _score_threshold(histograms: Histograms, least: int | None) -> tuple[int | None, ...]:
    return (*(None for _ in range(len(histograms.signatures) - 1)), least)


RestCriteria = Sequence[Criterion]


@dataclass(frozen=True, eq=False)
class RestLookup(NodeLookup):
    """Lookup of criteria of the suppressed rows; ``scores`` are the parts of a signature."""

    histograms: Histograms
    rows: int
    scores: tuple[ScoreKey, ...]

    def suppression(self, thresholds: Thresholds, criteria: RestCriteria) -> Integers:
        """Return the rows to suppress at each node, shape ``(nodes,)``."""
        bounds = tuple(thresholds)
        rows, people = self.histograms.below(bounds), self.histograms.unmatched(bounds)
        return np.where(self._fails(bounds, criteria, rows, people), self.rows, rows)

    def suppressed(self, node: int, thresholds: Thresholds, criteria: RestCriteria) -> int:
        """Return the rows to suppress at one node."""
        return int(self._of(node).suppression(thresholds, criteria)[0])

    def largest_of_classes(
        self, node: int, how: ScoreRelaxation, criteria: RestCriteria, limit: int
    ) -> int | None:
        """Return the largest score that the relaxed criteria can require at one node.

        Between the scores of two of its classes the same rows are suppressed, but a criterion of the
        suppressed rows may bound the score there.
        """
        node_lookup = self._of(node)
        ends = np.unique(node_lookup.histograms.signatures[list(how.parts)].astype(np.int64)).tolist()
        bounded = any(self.scores.index(one.score) in how.parts for one in criteria)

        def passes(score: int) -> bool:
            return int(node_lookup.suppression(how.thresholds_for(score), criteria)[0]) <= limit

        for index in range(len(ends) - 1, -1, -1):
            if passes(ends[index]):
                return int(ends[index])
            low = ends[index - 1] + 1 if index else 0
            if bounded and low < ends[index] and passes(low):
                # From here to the class's score the same rows are suppressed and only the requirement grows:
                # bisect.
                return low + bisect_left(range(low, ends[index]), True, key=lambda t: not passes(t)) - 1
        return None

    def _of(self, node: int) -> RestLookup:
        """Return the lookup restricted to one node."""
        all_nodes = self.histograms
        entries, at = slice(int(all_nodes.starts[node]), int(all_nodes.stops[node])), slice(node, node + 1)
        assert all_nodes.people is not None
        assert all_nodes.absent is not None
        node_lookup = replace(
            all_nodes,
            classes=all_nodes.classes[at],
            small=all_nodes.small[at],
            starts=np.zeros(1, np.int64),
            stops=np.array([entries.stop - entries.start]),
            signatures=all_nodes.signatures[:, entries],
            rows=all_nodes.rows[entries],
            people=all_nodes.people[entries],
            absent=all_nodes.absent[at],
        )
        return RestLookup(node_lookup, self.rows, self.scores)

    def _fails(
        self, thresholds: Sequence[int | None], criteria: RestCriteria, rows: Integers, people: Integers
    ) -> NDArray[np.bool_]:
        fails = np.zeros(len(rows), np.bool_)
        for one in criteria:
            threshold = thresholds[self.scores.index(one.score)]
            if threshold is not None:
                fails |= one.suppressed_rows_fail(threshold, rows, people)
        return fails
