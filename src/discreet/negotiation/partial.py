"""The partial lattice: suppression histograms of the most important nodes only.

The idea is that of Pilalidou and Vassiliadis.

Preparation has three parts, timed apart as the paper does: the grouping power of each level, from one
frequency set per level; the most important nodes, ranked by what their levels add up to; their histograms,
counted by roll-up from the lowest node to the highest. Any other node can be counted at run time, when a
request needs it; the paper does so for the request's own node alone.

The paper says "the top p % of the nodes". The most important nodes of the whole lattice all lie near its top,
where no request with bounded levels reaches; the paper's results (it compares every height, and finds nodes
below the request's own) are those of the top p % of each height, which is what is prepared here.

Differences from the paper: the nodes are enumerated in order of importance, so that lattices of any size
will do; ties have a rule; and a node is counted from the smallest node already counted below it, not from the
rows.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from itertools import islice
from threading import Lock
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from discreet.errors import LimitReached
from discreet.kernels.histograms import Histograms
from discreet.lattice.evaluate import lattice_of
from discreet.lattice.scores import further_bounds, relaxing, scores_of
from discreet.measures.grouping import GroupingPower, ImportanceMetric, level_importance
from discreet.model.criteria.base import Criterion, Score
from discreet.model.frequency_set import FrequencySet
from discreet.model.lattice import Lattice, LatticeNode, tie_key
from discreet.model.monotone import require_growing
from discreet.model.requirement import Requirement
from discreet.model.subject_rows import counting_rows
from discreet.negotiation.counting import (
    KEPT_BYTES,
    NodeCounter,
    NodeHistogram,
    bytes_of_histogram,
    stack_histograms,
)
from discreet.negotiation.importance import (
    Importance,
    metric_of,
    most_important,
    nodes_by_height,
    of_height,
    percentage_of,
    share_of,
)
from discreet.negotiation.level_statistics import level_statistics
from discreet.settings import Settings, memory_text

Progress = Callable[[int, int], None]
"""Called with the nodes done and the nodes in all."""

AFFORDABLE_CELLS = 3 * 10**8
"""Codes that counting the nodes of ``prepare_affordable`` reads at most, about."""

MOST_AFFORDABLE = 4096
"""Nodes that it aims at, at most."""

WHO = "partial lattices"
"""Who refuses criteria that are not growing: what a node tells of those above it is what they rest on."""

INSTEAD = "Evaluate the whole lattice: raise the memory limit, or give hierarchies fewer levels."

_CACHED_NODES = 1024


@dataclass(frozen=True)
class Preparation:
    """Seconds that the three parts of preparing a partial lattice took."""

    level_statistics: float
    node_scores: float
    histograms: float

    @property
    def overall(self) -> float:
        """Seconds in all."""
        return self.level_statistics + self.node_scores + self.histograms


@dataclass(frozen=True, eq=False)
class PartialLattice:
    """Some nodes of a lattice with their suppression histograms; the rest is counted when asked for.

    ``nodes`` has shape ``(nodes, quasi-identifiers)`` and is sorted by height, then in the paper's node order
    (decision 0004); arrays "by node" below follow it. ``powers`` are the level statistics behind the
    choice, ``metric`` what ranked the nodes. ``scores`` are those that can be asked.
    """

    lattice: Lattice
    sensitive_attributes: tuple[str, ...]
    rows: int
    metric: ImportanceMetric
    powers: tuple[GroupingPower, ...]
    nodes: NDArray[np.int64]
    histograms: Histograms
    scores: tuple[Score, ...]
    preparation: Preparation
    counter: NodeCounter = field(repr=False)
    _counted: OrderedDict[LatticeNode, Histograms] = field(default_factory=OrderedDict, repr=False)
    _lock: Lock = field(default_factory=Lock, repr=False)

    @property
    def size(self) -> int:
        """The number of nodes that have a histogram from the preparation."""
        return len(self.nodes)

    @cached_property
    def heights(self) -> NDArray[np.int64]:
        """The generalization height of each node, shape ``(nodes,)``, ascending."""
        heights: NDArray[np.int64] = self.nodes.sum(axis=1)
        return heights

    @property
    def nbytes(self) -> int:
        """Bytes of the histograms."""
        return self.histograms.nbytes

    def holds(self, node: LatticeNode) -> bool:
        """Whether a node's histogram was prepared."""
        return node in self._places

    def suppression(self, requirement: Requirement) -> NDArray[np.int64]:
        """Suppressed rows by node, shape ``(nodes,)``."""
        return self.histograms.below(self._thresholds(requirement))

    def suppressed(self, node: LatticeNode, requirement: Requirement) -> int:
        """Suppressed rows of any node of the lattice, counted now where it was not prepared."""
        histograms, place = self._find(node)
        return histograms.below_at(place, self._thresholds(requirement))

    def largest(self, node: LatticeNode, requirement: Requirement, name: str, limit: int) -> int | None:
        """The largest score for which any node suppresses at most ``limit`` rows; see ``NodeLookup``."""
        histograms, place = self._find(node)
        how = relaxing(requirement, name, self.scores, self.sensitive_attributes)
        if not how.parts:
            return None
        return how.reached(histograms.largest(place, how.thresholds, how.parts, limit))

    def at_hand(self) -> list[LatticeNode]:
        """Every node whose histogram is at hand: the prepared ones, then those counted at run time."""
        with self._lock:
            counted = list(self._counted)
        return [*self._places, *counted]

    def known(self, requirement: Requirement) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Every node whose histogram is at hand, run time's too, and its suppressed rows."""
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
        place = self._places.get(node)
        if place is not None:
            return self.histograms, place
        with self._lock:
            found = self._counted.get(node)
            if found is not None:
                self._counted.move_to_end(node)
                return found, 0
        # Counted outside the lock, since it takes long; counted twice, it is the same.
        found = _stacked([self.counter.histogram(node)], self.counter)
        with self._lock:
            self._counted[node] = found
            while len(self._counted) > _CACHED_NODES:
                self._counted.popitem(last=False)
        return found, 0

    @cached_property
    def _places(self) -> dict[LatticeNode, int]:
        return {tuple(node): i for i, node in enumerate(self.nodes.tolist())}

    def _thresholds(self, requirement: Requirement) -> tuple[int | None, ...]:
        return requirement.thresholds(self.scores, self.sensitive_attributes)


def _stacked(found: Sequence[NodeHistogram], counter: NodeCounter) -> Histograms:
    table = counter.frequency_set
    return stack_histograms(
        found,
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
    by_height: bool = True,
    diversity: bool = True,
    criteria: Sequence[Criterion] = (),
    settings: Settings | None = None,
    progress: Progress | None = None,
) -> PartialLattice:
    """The most important ``percent`` of the nodes of each height, rounded up, with their histograms.

    Without ``by_height`` it is the most important of the whole lattice. ``diversity`` and ``criteria`` say
    what can be asked beside k, as of ``evaluate_lattice``. Raises ``InputError`` for a percentage that is not
    above 0 and at most 100, an unknown metric, or a criterion that is not growing; ``LimitReached`` where the
    histograms would not fit the memory limit of ``settings``, before any work.
    """
    share = percentage_of(percent)
    require_growing(Requirement(criteria=criteria), WHO, advice=INSTEAD)
    counted = _asked_of(frequency_set, diversity, criteria)
    if settings is not None:
        _check_memory(frequency_set, share, settings, len(further_bounds(criteria, counted)))

    def choose(lattice: Lattice, importance: Importance) -> list[LatticeNode]:
        return most_important(lattice, importance, share, by_height=by_height)

    return _prepare(counted, choose, metric_of(metric), criteria, progress, settings)


def prepare_affordable(
    frequency_set: FrequencySet,
    settings: Settings,
    metric: ImportanceMetric | str = ImportanceMetric.LAMBDA,
    *,
    diversity: bool = True,
    criteria: Sequence[Criterion] = (),
    progress: Progress | None = None,
) -> PartialLattice:
    """As many nodes as some seconds and a quarter of the memory limit allow, each height the same number.

    The number follows from the table's size alone (``AFFORDABLE_CELLS``), so that every run answers alike;
    each height has at least one node. ``InputError`` for a criterion that is not growing.
    """
    require_growing(Requirement(criteria=criteria), WHO, advice=INSTEAD)
    counted = _asked_of(frequency_set, diversity, criteria)
    further = len(further_bounds(criteria, counted))

    def choose(lattice: Lattice, importance: Importance) -> list[LatticeNode]:
        heights = sum(lattice.heights) + 1
        each = max(affordable_nodes(frequency_set, settings, further) // heights, 1)
        return [node for h in range(heights) for node in islice(of_height(importance, h), each)]

    return _prepare(counted, choose, metric_of(metric), criteria, progress, settings)


def affordable_nodes(frequency_set: FrequencySet, settings: Settings, further: int = 0) -> int:
    """How many nodes ``prepare_affordable`` aims at; ``further`` scores are asked beside k and l."""
    sets = (*frequency_set.sensitive, *([] if frequency_set.subjects is None else [frequency_set.subjects]))
    cells = frequency_set.codes.size + 4 * sum(len(s.codes) for s in sets)
    by_memory = settings.memory_limit // 4 // bytes_of_histogram(frequency_set, further)
    return max(min(AFFORDABLE_CELLS // max(cells, 1), by_memory, MOST_AFFORDABLE), 1)


def _asked_of(frequency_set: FrequencySet, diversity: bool, criteria: Sequence[Criterion]) -> FrequencySet:
    """The frequency set with what is asked of it: no sensitive values where none are."""
    counted = counting_rows(frequency_set) if criteria else frequency_set
    of_values = diversity or any(criterion.of_attribute for criterion in criteria)
    return counted if of_values else replace(counted, sensitive=())


def _prepare(
    counted: FrequencySet,
    choose: Callable[[Lattice, Importance], list[LatticeNode]],
    metric: ImportanceMetric,
    criteria: Sequence[Criterion],
    progress: Progress | None,
    settings: Settings | None,
) -> PartialLattice:
    kept_bytes = KEPT_BYTES if settings is None else min(KEPT_BYTES, settings.memory_limit // 4)
    lattice = lattice_of(counted)
    counter = NodeCounter(counted, criteria=criteria, kept_bytes=kept_bytes)
    start = perf_counter()
    powers = level_statistics(counted, counter)
    statistics_end = perf_counter()
    chosen = choose(lattice, level_importance(lattice, powers, metric))
    chosen.sort(key=lambda node: (sum(node), tie_key(node)))
    scores_end = perf_counter()
    found = []
    for node in chosen:
        found.append(counter.histogram(node))
        if progress is not None:
            progress(len(found), len(chosen))
    histograms = _stacked(found, counter)
    end = perf_counter()
    return PartialLattice(
        lattice=lattice,
        sensitive_attributes=counted.sensitive_attributes,
        rows=counted.rows,
        metric=metric,
        powers=powers,
        nodes=np.array(chosen, dtype=np.int64).reshape(len(chosen), len(lattice.heights)),
        histograms=histograms,
        scores=scores_of(counted.sensitive_attributes, counter.further),
        preparation=Preparation(statistics_end - start, scores_end - statistics_end, end - scores_end),
        counter=counter,
    )


def _check_memory(frequency_set: FrequencySet, percent: Fraction, settings: Settings, further: int) -> None:
    nodes = sum(share_of(percent, number) for number in nodes_by_height(lattice_of(frequency_set)))
    needed = nodes * bytes_of_histogram(frequency_set, further)
    if needed > settings.memory_limit:
        raise LimitReached(
            f"{nodes:,} nodes are {float(percent):g}% of the lattice; their histograms would take about "
            f"{memory_text(needed)}",
            allowed=f"{memory_text(settings.memory_limit)} (--memory-limit, DISCREET_MEMORY_LIMIT)",
            advice="Ask for a smaller percentage, or raise the limit.",
        )
