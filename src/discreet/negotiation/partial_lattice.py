"""The partial lattice: suppression histograms of the most important nodes (Pilalidou and Vassiliadis).

Preparation has three parts, timed separately as in the paper: the grouping power of each level, from one
frequency set per level; the most important nodes of each height; their histograms, counted by roll-up
from the lowest node to the highest. Any other node is counted at run time when a request needs it.

Differences from the paper: nodes are enumerated in order of importance, so that lattices of any size are
possible; ties have a rule; a node is counted from the smallest counted node below it instead of the
rows.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from heapq import heappop, heappush
from itertools import islice
from threading import Lock
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError, LimitReached
from discreet.frequency.fact_counter import FactCounter
from discreet.frequency.node_classes import NodeClassCounter
from discreet.frequency.rollup import roll_up
from discreet.kernels.histograms import SMALL_LIMIT, Histograms
from discreet.lattice.evaluation import build_lattice
from discreet.lattice.scores import bind_further_scores, list_scores, resolve_relaxation
from discreet.measures.grouping_power import (
    GroupingPower,
    ImportanceMetric,
    level_grouping_power,
    level_importance,
)
from discreet.model.criteria.base import Criterion, ScoreKey
from discreet.model.frequency_set import FrequencySet, drop_unneeded_subjects
from discreet.model.lattice import Lattice, LatticeNode, tie_break_key
from discreet.model.request import SuppressionLimit
from discreet.model.requirement import Requirement, require_growing
from discreet.settings import Settings, format_memory

Importance = Sequence[Sequence[int]]
"""Each level's part of a node's importance: ``[i][level]``, attributes in the lattice's order."""

_IMPOSSIBLE = -(1 << 200)


def rank_nodes_of_height(importance: Importance, height: int) -> Iterator[LatticeNode]:
    """Yield every node of one height, the most important first."""
    parts = _in_tie_order(importance)
    yield from map(_in_lattice_order, _best_first(parts, _best_by_height(parts, height), height))


def select_most_important(lattice: Lattice, importance: Importance, percent: Fraction) -> list[LatticeNode]:
    """Return the most important ``percent`` of the nodes of each height, rounded up."""
    return [
        node
        for height, nodes in enumerate(count_nodes_by_height(lattice))
        for node in islice(rank_nodes_of_height(importance, height), count_of_percentage(percent, nodes))
    ]


def count_nodes_by_height(lattice: Lattice) -> list[int]:
    """Count the nodes of each height, from 0 up; exact for a lattice of any size."""
    counts = [1]
    for top in lattice.heights:
        longer = [0] * (len(counts) + top)
        for height, number in enumerate(counts):
            for level in range(top + 1):
                longer[height + level] += number
        counts = longer
    return counts


def parse_metric(name: str) -> ImportanceMetric:
    """Return the metric with a name; raise ``InputError`` for an unknown one."""
    if name not in tuple(ImportanceMetric):
        raise InputError(f"metric '{name}'", allowed=", ".join(ImportanceMetric))
    return ImportanceMetric(name)


def parse_percentage(percent: str | Fraction) -> Fraction:
    """Parse a percentage above 0 and at most 100 such as ``"5%"``; raise ``InputError`` for anything else."""
    result: Fraction | None = None
    if isinstance(percent, Fraction):
        result = percent
    elif percent.strip().endswith("%"):
        try:
            result = SuppressionLimit.parse(percent).percent
        except InputError:
            result = None
    if result is None or not 0 < result <= 100:
        raise InputError(
            f"percentage {percent} of a partial lattice",
            allowed="a percentage above 0% and up to 100%, such as 5%",
        )
    return result


def count_of_percentage(percent: Fraction, nodes: int) -> int:
    """Compute a percentage of a number of nodes, rounded up."""
    return -int(-percent * nodes // 100)


def _best_first(
    parts: Sequence[Sequence[int]], best: Sequence[Sequence[int]], height: int
) -> Iterator[LatticeNode]:
    """Yield the nodes of a height in the tie order's attribute order, the most important first.

    ``best[i][r]`` is the most that attributes i and later can add, where r is the height left for them.
    """
    heap: list[tuple[int, LatticeNode, int, int]] = [(-best[0][height], (), 0, height)]
    while heap:
        _, prefix, value, left = heappop(heap)
        i = len(prefix)
        if i == len(parts):
            yield prefix
            continue
        for level, part in enumerate(parts[i]):
            rest = left - level
            if rest < 0 or best[i + 1][rest] == _IMPOSSIBLE:
                continue
            reached = value + part
            heappush(heap, (-reached - best[i + 1][rest], (*prefix, level), reached, rest))


def _best_by_height(parts: Sequence[Sequence[int]], height: int) -> list[list[int]]:
    """Build the table ``best`` of ``_best_first`` for nodes of one height."""
    table = [[0] + [_IMPOSSIBLE] * height]
    for of_levels in reversed(parts):
        after = table[-1]
        table.append(
            [
                max(
                    (
                        part + after[left - level]
                        for level, part in enumerate(of_levels)
                        if level <= left and after[left - level] != _IMPOSSIBLE
                    ),
                    default=_IMPOSSIBLE,
                )
                for left in range(height + 1)
            ]
        )
    return table[::-1]


def _in_tie_order(importance: Importance) -> list[Sequence[int]]:
    return [*importance[-1:], *importance[:-1]]


def _in_lattice_order(levels: LatticeNode) -> LatticeNode:
    return (*levels[1:], *levels[:1])


CACHE_BYTES = 256 * 2**20
"""Maximal size of a counter's stored states."""


@dataclass(frozen=True, eq=False)
class CountedHistogram:
    """Rows of one node by signature: class size, distinct values per attribute, further scores.

    ``signatures`` has shape ``(1 + sensitive attributes + further scores, entries)``, ``rows`` shape
    ``(entries,)``.
    """

    classes: int
    signatures: NDArray[np.int64]
    rows: NDArray[np.int64]


class NodeCounter:
    """Counter of nodes of one frequency set; thread-safe.

    ``criteria`` are those that requests may contain in addition to k and l. Raises ``InputError`` if the
    frequency set cannot evaluate one.
    """

    def __init__(
        self,
        frequency_set: FrequencySet,
        *,
        criteria: Sequence[Criterion] = (),
        cache_bytes: int = CACHE_BYTES,
    ) -> None:
        self.frequency_set = frequency_set = (
            drop_unneeded_subjects(frequency_set) if criteria else frequency_set
        )
        self.further = bind_further_scores(criteria, frequency_set)
        self.counted = 0
        requirement = Requirement(criteria=(bound.criterion for bound in self.further))
        self._facts = FactCounter.of(frequency_set, requirement, exact=True) if self.further else None
        subjects = [] if frequency_set.subjects is None else [frequency_set.subjects]
        self._classes = NodeClassCounter(frequency_set, [*subjects, *frequency_set.sensitive], cache_bytes)
        self._lock = Lock()

    def histogram(self, node: LatticeNode) -> CountedHistogram:
        """Count the suppression histogram of a node."""
        # The counter stores and drops the states that it rolls up from, so threads must take turns.
        with self._lock:
            self.counted += 1
            if self._facts is not None:
                return self._scored(node, self._facts)
            found = self._classes.count(node)
        sizes = [found.sizes] if self.frequency_set.subjects is None else []
        return CountedHistogram(
            found.classes, *_sum_by_signature(np.stack([*sizes, *found.distinct]), found.sizes)
        )

    def _scored(self, node: LatticeNode, counter: FactCounter) -> CountedHistogram:
        if not self.frequency_set.row_types:
            parts = 1 + len(self.frequency_set.sensitive) + len(self.further)
            return CountedHistogram(0, np.empty((parts, 0), np.int64), np.empty(0, np.int64))
        found = roll_up(self.frequency_set, node)
        facts = counter.at_node(found)
        distinct = [values.distinct for values in facts.values if values is not None]
        further = [bound.scores(facts) for bound in self.further]
        return CountedHistogram(
            found.classes, *_sum_by_signature(np.stack([facts.sizes, *distinct, *further]), found.counts)
        )

    def classes(self, node: LatticeNode) -> int:
        """Count the equivalence classes of a node."""
        with self._lock:
            self.counted += 1
            return self._classes.classes(node)


def stack_histograms(
    counted: Sequence[CountedHistogram], sensitive: int, rows: int, *, by_subject: bool, further: int = 0
) -> Histograms:
    """Stack the histograms of several nodes in their order; ``rows`` are the table's.

    Signatures contain ``sensitive`` counts of distinct values and ``further`` scores.
    """
    kind: type[np.uint32] | type[np.uint64] = np.uint64 if rows >= 2**32 else np.uint32
    signed = np.dtype(np.int64 if further else kind)  # further scores may be negative
    partial = not sensitive and not by_subject and not further
    small = np.zeros((len(counted), SMALL_LIMIT + 1), kind)
    signatures: list[NDArray[Any]] = [np.empty((1 + sensitive + further, 0), signed)]
    entries: list[NDArray[Any]] = [np.empty(0, kind)]
    for i, histogram in enumerate(counted):
        sizes = histogram.signatures[0]
        low = sizes <= SMALL_LIMIT
        np.add.at(small[i], sizes[low], histogram.rows[low].astype(kind))
        retained = ~low if partial else np.ones(len(low), np.bool_)
        signatures.append(histogram.signatures[:, retained].astype(signed))
        entries.append(histogram.rows[retained].astype(kind))
    np.cumsum(small, axis=1, out=small)
    stops = np.cumsum([len(e) for e in entries[1:]], dtype=np.int64)
    return Histograms(
        classes=np.array([h.classes for h in counted], dtype=np.int64),
        small=small,
        starts=np.append(np.int64(0), stops)[: len(counted)],
        stops=stops,
        signatures=np.concatenate(signatures, axis=1),
        rows=np.concatenate(entries),
        partial=partial,
    )


def histogram_bytes(frequency_set: FrequencySet, further: int = 0) -> int:
    """Estimate the maximal size of a node's histogram in bytes; ``further`` scores list every class."""
    parts = 2 + len(frequency_set.sensitive) + further
    distinct = min(frequency_set.row_types, int((2 * frequency_set.rows) ** 0.5) + 1)
    entries = distinct if parts == 2 else min(frequency_set.row_types, 64 * distinct)
    entries = frequency_set.row_types if further else entries
    return 8 * (SMALL_LIMIT + 1) + 8 * parts * entries


def _sum_by_signature(
    signatures: NDArray[np.int64], rows: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Sum rows by signature; signatures are returned in ascending order."""
    if not len(rows):
        return signatures, rows
    sequence = np.lexsort(signatures[::-1])
    ordered = signatures[:, sequence]
    starts = np.flatnonzero(np.append(True, (ordered[:, 1:] != ordered[:, :-1]).any(axis=0)))
    return ordered[:, starts], np.add.reduceat(rows[sequence], starts)


def compute_level_statistics(
    frequency_set: FrequencySet, counter: NodeCounter | None = None
) -> tuple[GroupingPower, ...]:
    """Compute the number of groups, γ and μ of every level, attribute by attribute, from level 0 up.

    Cost: one roll-up per level above 0, and one for the bottom. A ``counter`` of the same frequency set may
    be passed; it keeps the smaller states.
    """
    counting = counter or NodeCounter(frequency_set)
    lattice = build_lattice(frequency_set)
    bottom = counting.classes(lattice.bottom)
    groups = []
    for i, top in enumerate(lattice.heights):
        before, after = lattice.bottom[:i], lattice.bottom[i + 1 :]
        above = (counting.classes((*before, level, *after)) for level in range(1, top + 1))
        groups.append([bottom, *above])
    return level_grouping_power(lattice, frequency_set.rows, groups)


PreparationProgress = Callable[[int, int], None]
"""Called with the number of finished nodes and the total."""

AFFORDABLE_CELLS = 3 * 10**8
"""Approximate maximum of codes that ``prepare_affordable`` reads to count its nodes."""

MOST_AFFORDABLE_NODES = 4096
"""Maximal number of nodes of ``prepare_affordable``."""

PARTIAL_LATTICES = "partial lattices"
"""Subject of the message that refuses criteria that are not growing: bounds of other nodes need growth."""

EVALUATION_ADVICE = "Evaluate the whole lattice: raise the memory limit, or give hierarchies fewer levels."

_CACHED_NODES = 1024


@dataclass(frozen=True)
class PreparationTimes:
    """Seconds of the three parts of preparing a partial lattice."""

    level_statistics: float
    node_scores: float
    histograms: float

    @property
    def overall(self) -> float:
        """Total seconds."""
        return self.level_statistics + self.node_scores + self.histograms


@dataclass(frozen=True, eq=False)
class PartialLattice:
    """Some nodes of a lattice with their suppression histograms; other nodes are counted on request.

    ``nodes`` has shape ``(nodes, quasi-identifiers)`` and is sorted by height, then in the paper's node order
    (decision 0004); arrays "by node" below follow it. ``powers`` are the level statistics behind the choice,
    ``metric`` the ranking. ``scores`` are those that requests may contain.
    """

    lattice: Lattice
    sensitive_attributes: tuple[str, ...]
    rows: int
    metric: ImportanceMetric
    powers: tuple[GroupingPower, ...]
    nodes: NDArray[np.int64]
    histograms: Histograms
    scores: tuple[ScoreKey, ...]
    preparation: PreparationTimes
    counter: NodeCounter = field(repr=False)
    _counted: OrderedDict[LatticeNode, Histograms] = field(default_factory=OrderedDict, repr=False)
    _lock: Lock = field(default_factory=Lock, repr=False)

    @property
    def size(self) -> int:
        """Number of nodes whose histograms were prepared."""
        return len(self.nodes)

    @cached_property
    def heights(self) -> NDArray[np.int64]:
        """Generalization height of each node, shape ``(nodes,)``, ascending."""
        heights: NDArray[np.int64] = self.nodes.sum(axis=1)
        return heights

    @property
    def nbytes(self) -> int:
        """Size of the histograms in bytes."""
        return self.histograms.nbytes

    def is_prepared(self, node: LatticeNode) -> bool:
        """Check whether a node's histogram was prepared."""
        return node in self._positions

    def suppression(self, requirement: Requirement) -> NDArray[np.int64]:
        """Return the suppressed rows by node, shape ``(nodes,)``."""
        return self.histograms.below(self._thresholds(requirement))

    def suppressed(self, node: LatticeNode, requirement: Requirement) -> int:
        """Return the suppressed rows of any node of the lattice; count the node if it was not prepared."""
        histograms, index = self._find(node)
        return histograms.below_at(index, self._thresholds(requirement))

    def largest(self, node: LatticeNode, requirement: Requirement, name: str, limit: int) -> int | None:
        """Return the largest score at which a node suppresses at most ``limit`` rows; see ``NodeQueries``."""
        histograms, index = self._find(node)
        how = resolve_relaxation(requirement, name, self.scores, self.sensitive_attributes)
        if not how.parts:
            return None
        return how.reached(histograms.largest(index, how.thresholds, how.parts, limit))

    def available_nodes(self) -> list[LatticeNode]:
        """List every node with a histogram: the prepared ones, then those counted at run time."""
        with self._lock:
            counted = list(self._counted)
        return [*self._positions, *counted]

    def known(self, requirement: Requirement) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return all nodes with a histogram, even those counted at run time, and their suppressed rows."""
        with self._lock:
            counted = dict(self._counted)
        thresholds = self._thresholds(requirement)
        levels = np.array(list(counted), dtype=np.int64).reshape(len(counted), self.nodes.shape[1])
        rows = [histograms.below_at(0, thresholds) for histograms in counted.values()]
        return (
            np.concatenate([self.nodes, levels]),
            np.concatenate([self.suppression(requirement), np.array(rows, dtype=np.int64)]),
        )

    def _find(self, node: LatticeNode) -> tuple[Histograms, int]:
        index = self._positions.get(node)
        if index is not None:
            return self.histograms, index
        with self._lock:
            found = self._counted.get(node)
            if found is not None:
                self._counted.move_to_end(node)
                return found, 0
        # Counting takes long, so the lock is free; two threads may count a node twice, with equal results.
        found = _stack([self.counter.histogram(node)], self.counter)
        with self._lock:
            self._counted[node] = found
            while len(self._counted) > _CACHED_NODES:
                self._counted.popitem(last=False)
        return found, 0

    @cached_property
    def _positions(self) -> dict[LatticeNode, int]:
        return {tuple(node): i for i, node in enumerate(self.nodes.tolist())}

    def _thresholds(self, requirement: Requirement) -> tuple[int | None, ...]:
        return requirement.thresholds(self.scores, self.sensitive_attributes)


def _stack(counted: Sequence[CountedHistogram], counter: NodeCounter) -> Histograms:
    table = counter.frequency_set
    return stack_histograms(
        counted,
        len(table.sensitive),
        table.rows,
        by_subject=table.subjects is not None,
        further=len(counter.further),
    )


def prepare_partial_lattice(
    frequency_set: FrequencySet,
    percent: str | Fraction = "5%",
    metric: ImportanceMetric | str = ImportanceMetric.LAMBDA,
    *,
    criteria: Sequence[Criterion] = (),
    settings: Settings | None = None,
    progress: PreparationProgress | None = None,
) -> PartialLattice:
    """Prepare the most important ``percent`` of the nodes of each height, rounded up, with their histograms.

    ``criteria`` are those that requests may contain in addition to k and l, as in ``evaluate_lattice``.
    Raises ``InputError`` for a percentage that is not above 0 and at most 100, an unknown metric, or a
    criterion that is not growing; ``LimitReached`` before any work if the histograms would not fit the memory
    limit of ``settings``.

    Cost: one roll-up per level and per chosen node.

    References
    ----------
    Pilalidou and Vassiliadis, *Online negotiation for privacy preserving data publishing*. Slides,
    University of Ioannina.
    """
    share = parse_percentage(percent)
    require_growing(Requirement(criteria=criteria), PARTIAL_LATTICES, advice=EVALUATION_ADVICE)
    counted = drop_unneeded_subjects(frequency_set) if criteria else frequency_set
    if settings is not None:
        _check_memory(frequency_set, share, settings, len(bind_further_scores(criteria, counted)))

    def choose(lattice: Lattice, importance: Importance) -> list[LatticeNode]:
        return select_most_important(lattice, importance, share)

    return _prepare(counted, choose, parse_metric(metric), criteria, progress, settings)


def prepare_affordable(
    frequency_set: FrequencySet,
    settings: Settings,
    *,
    criteria: Sequence[Criterion] = (),
    progress: PreparationProgress | None = None,
) -> PartialLattice:
    """Prepare as many nodes as fit some seconds and a quarter of the memory limit, equally many per height.

    The number follows from the table's size only (``AFFORDABLE_CELLS``), so every run gives the same answers;
    each height has at least one node. Raises ``InputError`` for a criterion that is not growing.
    """
    require_growing(Requirement(criteria=criteria), PARTIAL_LATTICES, advice=EVALUATION_ADVICE)
    counted = drop_unneeded_subjects(frequency_set) if criteria else frequency_set
    further = len(bind_further_scores(criteria, counted))

    def choose(lattice: Lattice, importance: Importance) -> list[LatticeNode]:
        heights = sum(lattice.heights) + 1
        each = max(affordable_node_count(frequency_set, settings, further) // heights, 1)
        return [node for h in range(heights) for node in islice(rank_nodes_of_height(importance, h), each)]

    return _prepare(counted, choose, ImportanceMetric.LAMBDA, criteria, progress, settings)


def affordable_node_count(frequency_set: FrequencySet, settings: Settings, further: int = 0) -> int:
    """Compute the number of nodes of ``prepare_affordable``, with ``further`` scores next to k and l."""
    sets = (*frequency_set.sensitive, *([] if frequency_set.subjects is None else [frequency_set.subjects]))
    cells = frequency_set.codes.size + 4 * sum(len(s.codes) for s in sets)
    by_memory = settings.memory_limit // 4 // histogram_bytes(frequency_set, further)
    return max(min(AFFORDABLE_CELLS // max(cells, 1), by_memory, MOST_AFFORDABLE_NODES), 1)


def _prepare(
    counted: FrequencySet,
    choose: Callable[[Lattice, Importance], list[LatticeNode]],
    metric: ImportanceMetric,
    criteria: Sequence[Criterion],
    progress: PreparationProgress | None,
    settings: Settings | None,
) -> PartialLattice:
    cache_bytes = CACHE_BYTES if settings is None else min(CACHE_BYTES, settings.memory_limit // 4)
    lattice = build_lattice(counted)
    counter = NodeCounter(counted, criteria=criteria, cache_bytes=cache_bytes)
    start = perf_counter()
    powers = compute_level_statistics(counted, counter)
    statistics_end = perf_counter()
    chosen = choose(lattice, level_importance(lattice, powers, metric))
    chosen.sort(key=lambda node: (sum(node), tie_break_key(node)))
    scores_end = perf_counter()
    found = []
    for node in chosen:
        found.append(counter.histogram(node))
        if progress is not None:
            progress(len(found), len(chosen))
    histograms = _stack(found, counter)
    end = perf_counter()
    return PartialLattice(
        lattice=lattice,
        sensitive_attributes=counted.sensitive_attributes,
        rows=counted.rows,
        metric=metric,
        powers=powers,
        nodes=np.array(chosen, dtype=np.int64).reshape(len(chosen), len(lattice.heights)),
        histograms=histograms,
        scores=list_scores(counted.sensitive_attributes, counter.further),
        preparation=PreparationTimes(statistics_end - start, scores_end - statistics_end, end - scores_end),
        counter=counter,
    )


def _check_memory(frequency_set: FrequencySet, percent: Fraction, settings: Settings, further: int) -> None:
    nodes = sum(
        count_of_percentage(percent, number) for number in count_nodes_by_height(build_lattice(frequency_set))
    )
    needed = nodes * histogram_bytes(frequency_set, further)
    if needed > settings.memory_limit:
        raise LimitReached(
            f"{nodes:,} nodes are {float(percent):g}% of the lattice; their histograms need about "
            f"{format_memory(needed)}",
            allowed=f"{format_memory(settings.memory_limit)} (--memory-limit, DISCREET_MEMORY_LIMIT)",
            advice="Request a smaller percentage, or raise the limit.",
        )
