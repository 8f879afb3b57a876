"""Single-dimension ordered-set partitioning: each attribute's ordered values are divided into intervals.

Definition: LeFevre et al. 2005, section 5.1.2. Values are ordered by ``model.hierarchy.order_leaves``, NULL
last; an interval with NULL and values is published as the top. One attribute is solved exactly by dynamic
programming. Several are NP-hard: the greedy repeatedly makes the allowable cut that saves most loss;
perturbed runs (fixed seed) follow, and the best is kept.

Cost: a pass over the row types of an interval per cut tried, at most one per value and run; the exact
solution takes O(values²).
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from discreet.model.class_recoding import ClassRecoding, RecodingModel
from discreet.model.hierarchy import GeneralizationHierarchy, order_leaves
from discreet.model.published_cells import Cells, range_label
from discreet.model.requirement import is_growing
from discreet.taxonomy.class_counts import ClassCounts
from discreet.taxonomy.value_tree import build_recoding_of_columns

_DISTURBED_RUNS = 8
_SEED = 5


class OrderedValues:
    """Occurring values of one attribute in order, with the cost of their intervals.

    ``ranks`` contains their positions in the attribute's order, ``value_index`` the index among them of each
    row type's value, ``rows`` the rows of each.
    """

    def __init__(
        self,
        hierarchy: GeneralizationHierarchy,
        codes: NDArray[np.int64],
        counts: NDArray[np.int64],
        weight: float,
    ) -> None:
        self.hierarchy = hierarchy
        self.order = order_leaves(hierarchy)
        self.ranks, self.value_index = np.unique(self.order.rank[codes], return_inverse=True)
        self.rows = np.bincount(self.value_index, counts, minlength=len(self.ranks))
        self.weight = weight

    @property
    def size(self) -> int:
        """Number of values."""
        return len(self.ranks)

    def cost(self, first: int | NDArray[np.int64], last: int | NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the weighted loss of a row in the interval from value ``first`` to ``last``: (m - 1)/D."""
        low, high, null = self.ranks[first], self.ranks[last], self.hierarchy.null_code
        leaves = np.where((high == null) & (low < null), null, high - low + 1)
        return np.asarray(self.weight * (leaves - 1) / null)

    def cells(self, starts: NDArray[np.int64]) -> Cells:
        """Return the intervals that start at these values as published cells, in order."""
        leaves, null = self.hierarchy.leaves, self.hierarchy.null_code
        labels: list[str | None] = []
        covers: list[NDArray[np.int64]] = []
        for first, last in zip(starts.tolist(), [*(starts[1:] - 1).tolist(), self.size - 1], strict=True):
            low, high = int(self.ranks[first]), int(self.ranks[last])
            if low == null:
                labels.append(None)
                covers.append(np.array([null]))
            elif high == null:
                labels.append(self.hierarchy.labels[-1][0])
                covers.append(np.arange(null + 1))
            else:
                codes = self.order.code[low : high + 1]
                ends = [leaves[int(codes[0])]] + ([leaves[int(codes[-1])]] if high > low else [])
                labels.append(range_label(ends))
                covers.append(np.sort(codes))
        runs = [np.split(cover, np.flatnonzero(np.diff(cover) > 1) + 1) for cover in covers]
        flat = [run for cover in runs for run in cover]
        return Cells(
            attribute=self.hierarchy.attribute,
            leaves=null,
            labels=tuple(labels),
            offsets=np.cumsum([0, *map(len, runs)]),
            first=np.array([run[0] for run in flat], dtype=np.int64),
            last=np.array([run[-1] for run in flat], dtype=np.int64),
        )


class _IntervalPartition:
    """Intervals of every attribute; ``columns[i][t]`` is the first value of row type t's interval."""

    def __init__(self, values: Sequence[OrderedValues], counts: ClassCounts, limit: int) -> None:
        self.values = values
        self.counts = counts
        self.limit = limit
        self.columns = [np.zeros(len(v.value_index), dtype=np.int64) for v in values]
        self.ends = [{0: v.size - 1} for v in values]
        self.class_of = np.zeros(len(counts.rows), dtype=np.int64)
        self.failing = counts.failing_types(self.class_of)
        self.failing_rows = int(counts.rows[self.failing].sum())

    def saved_loss(self, i: int, first: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Return the cuts of an interval, by the first value of the right part, and the loss each saves."""
        v, last = self.values[i], self.ends[i][first]
        cuts = np.arange(first + 1, last + 1)
        rows = np.cumsum(v.rows[first : last + 1])
        left = rows[:-1] * v.cost(np.full(len(cuts), first), cuts - 1)
        right = (rows[-1] - rows[:-1]) * v.cost(cuts, np.full(len(cuts), last))
        return cuts, rows[-1] * v.cost(first, last) - left - right

    def cut(self, i: int, first: int, at: int) -> bool:
        """Cut the interval that starts at ``first``, unless too many rows would be in failing classes."""
        column, value_index = self.columns[i], self.values[i].value_index
        types = np.flatnonzero(column == first)
        right = value_index[types] >= at
        keys, divided = np.unique(self.class_of[types] * 2 + right, return_inverse=True)
        failing = self.counts.failing(divided, len(keys), types)[divided]
        rows = self.counts.rows[types]
        after = self.failing_rows - int(rows[self.failing[types]].sum()) + int(rows[failing].sum())
        if after > self.limit:
            return False
        column[types[right]] = at
        self.class_of[types] = int(self.class_of.max()) + 1 + divided
        self.failing[types] = failing
        self.failing_rows = after
        self.ends[i][at], self.ends[i][first] = self.ends[i][first], at - 1
        return True

    def total_loss(self) -> float:
        """Return the current loss; rows of failing classes have the greatest loss."""
        each = sum(
            v.cost(column, np.array([ends.get(f, 0) for f in range(v.size)])[column])
            for v, column, ends in zip(self.values, self.columns, self.ends, strict=True)
        )
        most = sum(v.weight * (v.hierarchy.null_code - 1) / v.hierarchy.null_code for v in self.values)
        return float((np.where(self.failing, most, each) * self.counts.rows).sum())


def search_ordered_single(counts: ClassCounts, limit: int, weights: Sequence[float]) -> ClassRecoding:
    """Return a recoding of the model with at most ``limit`` suppressed rows.

    The loss is minimal for a single attribute if no row may be suppressed and intervals that meet the
    requirement still meet it with further values. Raises ``NoSolution`` if there is no recoding.
    """
    counts.require_solution(limit)
    values = [
        OrderedValues(hierarchy, counts.table.codes[:, i], counts.rows, weights[i])
        for i, hierarchy in enumerate(counts.table.hierarchies)
    ]
    if len(values) == 1 and limit == 0 and is_growing(counts.requirement):
        starts = [find_least_loss_intervals(values[0], counts)]
    else:
        starts = [np.array(sorted(ends)) for ends in _find_best_partition(values, counts, limit).ends]
    return recoding_of_starts(counts, values, starts)


def recoding_of_starts(
    counts: ClassCounts, values: Sequence[OrderedValues], starts: Sequence[NDArray[np.int64]]
) -> ClassRecoding:
    """Build the recoding whose intervals start at these values; failing classes are suppressed."""
    cells = [v.cells(s) for v, s in zip(values, starts, strict=True)]
    columns = [
        np.searchsorted(s, v.value_index, side="right") - 1 for v, s in zip(values, starts, strict=True)
    ]
    return build_recoding_of_columns(counts, columns, cells, RecodingModel.ORDERED_SINGLE)


def find_least_loss_intervals(values: OrderedValues, counts: ClassCounts) -> NDArray[np.int64]:
    """Return the first value of each interval of the partition of one attribute with the least loss."""
    n = values.size
    least = np.full(n + 1, np.inf)
    least[0] = 0.0
    start_of = np.zeros(n + 1, dtype=np.int64)
    sums = np.concatenate([[0.0], np.cumsum(values.rows)])
    latest = -1
    for end in range(1, n + 1):
        while latest + 1 < end and _interval_meets(values, counts, latest + 1, end):
            latest += 1
        if latest < 0:
            continue
        starts = np.arange(latest + 1)
        total_loss = least[starts] + (sums[end] - sums[starts]) * values.cost(
            starts, np.full(len(starts), end - 1)
        )
        start_of[end] = int(total_loss.argmin())
        least[end] = total_loss[start_of[end]]
    found, at = [], n
    while at > 0:
        at = int(start_of[at])
        found.append(at)
    return np.array(found[::-1], dtype=np.int64)


def _interval_meets(values: OrderedValues, counts: ClassCounts, first: int, end: int) -> bool:
    types = np.flatnonzero((values.value_index >= first) & (values.value_index < end))
    return not counts.failing(np.zeros(len(types), dtype=np.int64), 1, types)[0]


def _find_best_partition(
    values: Sequence[OrderedValues], counts: ClassCounts, limit: int
) -> _IntervalPartition:
    random = np.random.default_rng(_SEED)
    found = []
    for run in range(1 + _DISTURBED_RUNS):
        factors = [np.exp(random.normal(size=v.size)) if run else np.ones(v.size) for v in values]
        partition = _IntervalPartition(values, counts, limit)
        _cut_all(partition, factors)
        found.append(partition)
    return min(found, key=_IntervalPartition.total_loss)


def _cut_all(partition: _IntervalPartition, factors: Sequence[NDArray[np.float64]]) -> None:
    """Make all allowable cuts, in descending order of the saved loss times its factor."""
    closed: list[set[int]] = [set() for _ in partition.values]
    waiting: list[tuple[float, int, int, int, int]] = []

    def offer(i: int, first: int) -> None:
        cuts, saved_loss = partition.saved_loss(i, first)
        for at, amount in zip(cuts.tolist(), (saved_loss * factors[i][cuts]).tolist(), strict=True):
            if at not in closed[i]:
                heapq.heappush(waiting, (-amount, i, first, partition.ends[i][first], at))

    for i in range(len(partition.values)):
        offer(i, 0)
    while waiting:
        _, i, first, last, at = heapq.heappop(waiting)
        if at in closed[i] or partition.ends[i][first] != last:
            continue
        closed[i].add(at)
        if partition.cut(i, first, at):
            offer(i, first)
            offer(i, at)
