"""Bucketed scores for the compiled kernels, and histograms of them that give exact answers.

A real-valued score is stored as the number of edges that it reaches: slider stops and requested thresholds.
Another threshold becomes an edge by a new evaluation of the lattice. Nodes that decide a relaxation are
recounted class by class.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from threading import Lock
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from discreet.kernels.histograms import Histograms, cap_thresholds, find_largest_among
from discreet.kernels.lattice_rotation_plan import RotationPlan
from discreet.model.criteria.base import BoundCriterion, Criterion, KernelFormula
from discreet.model.frequency_set import FrequencySet, ValueSets

if TYPE_CHECKING:
    from discreet.kernels.class_scores import ReferenceDistribution, ScoreInputs
    from discreet.kernels.packed_values import LaneLayout


_Key = TypeVar("_Key")
_Value = TypeVar("_Value")

Edges = tuple[tuple[int, ...], ...]
"""Ascending edges of the buckets of each further score."""

_MOST_WORDS = 64
_LOGARITHMS = 1 << 16


def find_formulas(further: Sequence[BoundCriterion]) -> tuple[KernelFormula, ...] | None:
    """Return the formulas of further scores; None if one has no formula or no sensitive attribute."""
    found = []
    for one in further:
        formula = None if one.index is None else one.criterion.formula(1)
        if formula is None:
            return None
        found.append(formula)
    return tuple(found)


def choose_edges(further: Sequence[BoundCriterion], criteria: Sequence[Criterion]) -> Edges:
    """Return the edges of each further score: slider stops, requested thresholds and the lowest score."""
    found = []
    for one in further:
        stops = {replace(one.criterion, value=stop).threshold for stop in one.criterion.parameter.slider}
        for criterion in criteria:
            at = criterion.at(one.criterion.attribute or "") if criterion.of_attribute else criterion
            if at.score == one.criterion.score:
                stops.add(criterion.threshold)
        found.append(tuple(sorted(stops | {one.criterion.floor_score})))
    return tuple(found)


@dataclass(frozen=True, eq=False)
class CompiledScores:
    """Further scores of a table for the kernels; ``words`` contains each row type's packed rows."""

    further: tuple[BoundCriterion, ...]
    sensitive: tuple[ValueSets, ...]
    words: NDArray[np.uint64]
    lanes: LaneLayout

    @classmethod
    def of(
        cls, further: tuple[BoundCriterion, ...], table: FrequencySet, plan: RotationPlan
    ) -> CompiledScores | None:
        """Build the scores of a table; None if a formula is missing or a signature would not fit a word."""
        from discreet.kernels.class_scores import DISTANCES, FORMULAS, is_exact
        from discreet.kernels.packed_values import add_value_rows, empty_value_rows, lay_out_lanes

        formulas = find_formulas(further)
        known = formulas is not None and all(each.name in FORMULAS for each in formulas)
        if formulas is None or not known or table.subjects is not None:
            return None
        if any(sets.counts is None or sets.of is None for sets in table.sensitive):
            return None
        for one, formula in zip(further, formulas, strict=True):
            if formula.name in DISTANCES and not is_exact(_table_rows(table.sensitive[one.index or 0])):
                return None
        lanes = lay_out_lanes([_count_values(sets) for sets in table.sensitive])
        if int(lanes.words[-1]) > _MOST_WORDS:
            return None
        words = empty_value_rows(lanes, table.row_types)
        for index, sets in enumerate(table.sensitive):
            assert sets.counts is not None
            owners = np.repeat(np.arange(table.row_types), np.diff(sets.offsets))
            add_value_rows(lanes, index, owners, sets.codes.astype(np.int64), sets.counts, words)
        return cls(further, table.sensitive, words[plan.source], lanes)

    def bits(self, edges: Edges) -> int:
        """Return the bits of a signature without its size."""
        return sum(s.size.bit_length() for s in self.sensitive) + sum(len(e).bit_length() for e in edges)

    def scored(self, edges: Edges) -> ScoreInputs:
        """Return the kernels' inputs for these edges."""
        from discreet.kernels.class_scores import FORMULAS, ScoreInputs, make_reference_arrays

        number = len(self.further)
        table = np.zeros((number, max(s.size for s in self.sensitive)), np.float64)
        rows = [_table_rows(self.sensitive[one.index or 0]) for one in self.further]
        takes = any(f.logarithms is not None for f in find_formulas(self.further) or ())
        logarithms = np.zeros((number, _LOGARITHMS if takes else 1))
        formulas = [one.criterion.formula(_LOGARITHMS) for one in self.further]
        for i, formula in enumerate(formulas):
            table[i, : len(rows[i])] = rows[i]
            if formula is not None and formula.logarithms is not None:
                logarithms[i] = formula.logarithms
        scores = np.zeros((number, max((len(e) for e in edges), default=0) + 1), np.int64)
        for i, each in enumerate(edges):
            scores[i, : len(each)] = each
        return ScoreInputs(
            lanes=self.lanes,
            formulas=np.array([FORMULAS[f.name] for f in formulas if f is not None], np.int64),
            places=np.array([one.index for one in self.further], np.int64),
            numbers=np.array([[f.number] for f in formulas if f is not None]),
            table=table,
            totals=table.sum(axis=1),
            present=np.count_nonzero(table, axis=1),
            logarithms=logarithms,
            ground=make_reference_arrays(
                [
                    _reference_distribution(self.sensitive[one.index or 0], formula.name)
                    for one, formula in zip(self.further, formulas, strict=True)
                    if formula is not None
                ]
            ),
            edges=scores,
            ends=np.array([len(e) for e in edges], np.int64),
        )


def _reference_distribution(sets: ValueSets, formula: str) -> ReferenceDistribution:
    from discreet.kernels.class_scores import HIERARCHICAL_DISTANCE, ORDERED_DISTANCE, ReferenceDistribution

    assert sets.of is not None
    levels = np.zeros((0, sets.size), np.int64)
    if formula == HIERARCHICAL_DISTANCE and sets.of.levels is not None:
        levels = sets.of.levels[1:-1]
    return ReferenceDistribution(sets.of.rows, sets.of.ranks, levels, formula == ORDERED_DISTANCE)


def _count_values(sets: ValueSets) -> NDArray[np.int64]:
    """Return the rows of each value over all row types."""
    assert sets.counts is not None
    counted = np.zeros(sets.size, np.int64)
    np.add.at(counted, sets.codes, sets.counts)
    return counted


def _table_rows(sets: ValueSets) -> NDArray[np.int64]:
    assert sets.of is not None
    return sets.of.rows


_Thresholds = Sequence[int | None]

_MOST_ADDED = 32
_RECOUNTS_BEFORE_EDGE = 6
_CACHED_NODES = 8
_CACHED_TABLES = 16


class LatestCache(Generic[_Key, _Value]):
    """Thread-safe cache of the latest values, as many as their total weight allows, and at least one."""

    def __init__(self, most: int, weight: Callable[[_Value], int] = lambda _: 1) -> None:
        self._most = most
        self._weight = weight
        self._values: OrderedDict[_Key, _Value] = OrderedDict()
        self._lock = Lock()

    def get(self, key: _Key) -> _Value | None:
        """Return a value, which becomes the latest, or None."""
        with self._lock:
            if key in self._values:
                self._values.move_to_end(key)
            return self._values.get(key)

    def put(self, key: _Key, value: _Value) -> None:
        """Store a value as the latest, and discard the oldest ones."""
        with self._lock:
            self._values[key] = value
            while len(self._values) > 1 and sum(map(self._weight, self._values.values())) > self._most:
                self._values.popitem(last=False)

    def __iter__(self) -> Iterator[_Key]:
        with self._lock:
            return iter(list(self._values))


@dataclass(eq=False)
class BucketedHistograms:
    """Histograms of all nodes with the interface of ``kernels.histograms.Histograms`` and exact scores.

    ``count(edges)`` evaluates every node with these buckets; ``one(node)`` returns a node's classes with
    exact scores. ``first`` are the permanent edges; ``current`` is the evaluation with ``edges``. Added edges
    are limited to the latest 32, and evaluating again replaces ``current``.
    """

    count: Callable[[Edges], Histograms]
    one: Callable[[int], Histograms]
    first: Edges
    edges: Edges = ()
    current: Histograms = field(init=False)
    _added: list[tuple[int, int]] = field(default_factory=list)
    _nodes: LatestCache[int, Histograms] = field(default_factory=lambda: LatestCache(_CACHED_NODES))
    _tables: LatestCache[Any, tuple[Histograms, NDArray[Any]]] = field(
        default_factory=lambda: LatestCache(_CACHED_TABLES)
    )
    _lock: Lock = field(default_factory=Lock)

    def __post_init__(self) -> None:
        self.edges = self.first
        self.current = self.count(self.first)

    @property
    def classes(self) -> NDArray[np.int64]:
        """Number of classes of each node."""
        return self.current.classes

    @property
    def limit(self) -> int:
        """Largest class size that is stored densely."""
        return self.current.limit

    @property
    def nbytes(self) -> int:
        """Bytes of all arrays."""
        return self.current.nbytes

    def translate(self, thresholds: _Thresholds) -> tuple[Histograms, tuple[int | None, ...]]:
        """Return histograms in which every threshold is an edge, and the thresholds as bucket numbers.

        Evaluates the lattice again if a threshold is not an edge yet. Cost: one evaluation.
        """
        with self._lock:
            parts = len(thresholds) - len(self.edges)
            for i, threshold in enumerate(thresholds[parts:]):
                if threshold is not None and threshold not in self.edges[i]:
                    self._added.append((i, threshold))
            if any(threshold not in self.edges[i] for i, threshold in self._added):
                del self._added[:-_MOST_ADDED]
                added = [{edge for i, edge in self._added if i == index} for index in range(len(self.first))]
                self.edges = tuple(
                    tuple(sorted({*edges, *more})) for edges, more in zip(self.first, added, strict=True)
                )
                self.current = self.count(self.edges)
            return self.current, self._translated(thresholds)

    def _translated(self, thresholds: _Thresholds) -> tuple[int | None, ...]:
        """Return thresholds as bucket numbers; a bucket that a threshold divides counts as passing."""
        parts = len(thresholds) - len(self.edges)
        buckets = (
            None if least is None else bisect_right(edges, least)
            for edges, least in zip(self.edges, thresholds[parts:], strict=True)
        )
        return (*thresholds[:parts], *buckets)

    def below(self, thresholds: tuple[int | None, ...]) -> NDArray[np.int64]:
        """Return the rows to suppress per node; a table answers if exactly one score has a threshold.

        The table is made once for all other thresholds, so that a slider only looks up.
        """
        current, translated = self.translate(thresholds)
        scores = range(len(translated) - len(self.edges), len(translated))
        slid = [index for index in scores if translated[index] is not None]
        if len(slid) != 1:
            return current.below(translated)
        index, other = slid[0], tuple(None if p == slid[0] else least for p, least in enumerate(translated))
        found = self._tables.get((index, other))
        if found is None or found[0] is not current:
            found = current, current.suppressed_by_threshold(index, other)
            self._tables.put((index, other), found)
        table = found[1]
        return table[:, min(translated[index] or 0, table.shape[1] - 1)].astype(np.int64)

    def diverse(self, distinct: tuple[int | None, ...]) -> NDArray[Any]:
        """Return ``Histograms.diverse`` of exact thresholds."""
        current, translated = self.translate((None, *distinct))
        return current.diverse(translated[1:])

    def below_at(self, node: int, thresholds: tuple[int | None, ...]) -> int:
        """Return the rows to suppress at one node."""
        current, translated = self.translate(thresholds)
        return current.below_at(node, translated)

    def at(self, node: int) -> tuple[Histograms, int]:
        """Return one node's histograms with exact scores, and its index there; the latest are cached."""
        found = self._nodes.get(node)
        if found is None:
            found = self.one(node)
            self._nodes.put(node, found)
        return found, 0

    def of(self, node: int) -> dict[tuple[int, ...], int]:
        """Return one node's histogram with exact scores."""
        return self.at(node)[0].of(0)

    def largest(self, node: int, thresholds: _Thresholds, parts: tuple[int, ...], limit: int) -> int | None:
        """Return ``Histograms.largest`` of the node's classes with exact scores."""
        return self.at(node)[0].largest(0, thresholds, parts, limit)

    def largest_among(
        self, nodes: NDArray[np.int64], thresholds: _Thresholds, parts: tuple[int, ...], limit: int
    ) -> int | None:
        """Return ``Histograms.largest_among``, recounting the nodes whose buckets allow the largest score.

        After several recounts in turn without progress the best score so far becomes an edge, which excludes
        all nodes that do not exceed it.
        """
        if all(part < len(thresholds) - len(self.edges) for part in parts):
            current, translated = self.translate(thresholds)
            return current.largest_among(nodes, translated, parts, limit)
        tried: list[int | None] = []

        def rows_below(score: int | None) -> NDArray[np.int64]:
            capped = cap_thresholds(thresholds, parts, score)
            # The same score again: the last recounted node did not exceed it.
            exhausted = tried.count(score) >= _RECOUNTS_BEFORE_EDGE
            tried.append(score)
            if exhausted or len(tried) == 1:
                current, translated = self.translate(capped)
                return current.below(translated)
            return self.current.below(self._translated(capped))

        return find_largest_among(
            nodes, limit, rows_below, lambda node: self.largest(node, thresholds, parts, limit), exact=False
        )
