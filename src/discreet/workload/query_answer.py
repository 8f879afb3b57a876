"""Answers of aggregate queries over a generalized table, and a workload's error (LeFevre et al. 2006).

**Estimate**, by uniform spread: each row has, per attribute, one of the leaves of its cell, all equally
likely and independent of other attributes (NULL only if the cell is NULL). A group of f rows counts
f·|q∩R|/|R|. SUM and AVG follow from the expected rows per value; MIN and MAX are the first and last value
by which half a row is expected. Stated means are used for groups whose whole cell is selected.

**Sure bounds**: a group whose whole region is selected counts fully; one that may be in it counts for
nothing or fully, whichever is worse. For AVG, optional rows are added while they move the average further,
best first, which is optimal. Missing rows may have any values.

The error of a query is the distance of its estimate from the truth, also relative to it. A workload's
errors are means weighted by the queries; queries that one side cannot answer are left out and counted.

Cost: linear in the groups per box of the region, and in the values of the aggregated attribute.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError
from discreet.model.published_cells import Cells
from discreet.queries.aggregate_query import Aggregate, AggregateQuery
from discreet.queries.region import Box, Mask, find_region, restrict_region
from discreet.workload.answerable_table import AnswerableTable
from discreet.workload.interval_bounds import (
    GroupEnds,
    bound_aggregate,
    count_covered_codes,
    count_selected_codes,
    extremes_of_cells,
    mask_of_cells,
    type_of_products,
)

LEAST_EXPECTED_ROWS = 0.5
_NEGLIGIBLE = 1e-12


@dataclass(frozen=True)
class EstimatedAnswer:
    """Answer of a table: sure bounds ``lower`` and ``upper``, and an ``estimate`` by uniform spread.

    None represents NULL, the answer over no row: for ``estimate`` if no row is expected to be selected, for
    a bound if no row can be. If it is only possible that none is selected, bounds are those of the other
    cases, except that a SUM may then be 0.
    """

    estimate: float | None
    lower: float | None
    upper: float | None


def answer_query(query: AggregateQuery, table: AnswerableTable) -> EstimatedAnswer:
    """Answer one query from a table.

    Raises ``InputError`` for an attribute that the table lacks, or SUM, AVG, MIN, MAX of a non-numeric
    attribute. Cost: linear in the groups per box of the region.
    """
    unknown = [name for name in query.attributes if name not in table.domains]
    if unknown:
        raise InputError(
            f"a query refers to the unknown column '{unknown[0]}'", allowed=", ".join(table.domains)
        )
    region = find_region(query.predicate, table.domains)
    if query.attribute is None:
        return _answer_count(region, table)
    domain = table.domains[query.attribute]
    wanted = np.append(np.ones(domain.null_code, dtype=np.bool_), False)
    region = restrict_region(region, query.attribute, wanted)
    if query.aggregate is Aggregate.COUNT:
        return _answer_count(region, table)
    if not domain.is_numeric:
        raise InputError(
            f"{query.aggregate}({query.attribute}): not every value of '{query.attribute}' is a number",
            allowed="COUNT of any attribute; SUM, AVG, MIN and MAX of numbers",
        )
    return _answer_aggregate(query, region, table)


def _answer_count(region: Sequence[Box], table: AnswerableTable) -> EstimatedAnswer:
    spread = RegionSpread.of(region, table.table.cells, table.table.shown)
    lower = int(table.table.rows[spread.certain].sum())
    upper = int(table.table.rows[spread.possible].sum())
    if region:
        upper += table.missing
        lower += table.missing if _is_everything(region) else 0
    return EstimatedAnswer(spread.expected(table.table.rows), float(lower), float(upper))


def _answer_aggregate(
    query: AggregateQuery, region: Sequence[Box], table: AnswerableTable
) -> EstimatedAnswer:
    assert query.attribute is not None
    name = query.attribute
    index = table.table.attributes.index(name)
    cells, domain = table.table.cells[index], table.domains[name]
    spread = RegionSpread.of(region, table.table.cells, table.table.shown)
    expected = _ExpectedRows.of(spread, region, table, index)
    selected = spread.expected(table.table.rows)
    estimate = expected.answer(query.aggregate, domain.numbers) if selected > 0 else None
    masks = [mask_of_cells(box, cells) for box in region]
    low, high = _ends(cells, masks, spread.hits_anything, table.table.shown[:, index], domain.numbers)
    cell_codes = table.table.shown[:, index]
    of_classes = set(query.attributes) <= set(table.classes)
    attained = np.zeros(len(cell_codes), dtype=np.bool_)
    if of_classes and name in table.attained:
        attained = table.attained[name][cell_codes]
    ends = GroupEnds(table.table.rows, spread.certain, spread.possible, low, high, attained)
    if table.missing and region:
        values = domain.numbers[np.logical_or.reduce(masks)[:-1]]
        extremes = (float(values.min()), float(values.max()))
        ends = ends.with_missing(table.missing, _is_everything(region), extremes)
    mean = table.means.get(name) if of_classes else None
    means = None if mean is None else (mean.means[cell_codes], mean.half_units[cell_codes])
    lower, upper = bound_aggregate(query.aggregate, ends, means)
    if estimate is not None and lower is not None and upper is not None:
        estimate = min(max(estimate, lower), upper)
    return EstimatedAnswer(estimate, lower, upper)


@dataclass(frozen=True, eq=False)
class RegionSpread:
    """Intersection of each group with a region.

    ``share[b]`` is the share of each group's rows expected in box b. ``certain`` groups are completely in
    the region, ``possible`` ones may be; ``hits_anything[b]`` marks those that may be in box b.
    """

    share: list[NDArray[np.float64]]
    certain: NDArray[np.bool_]
    possible: NDArray[np.bool_]
    hits_anything: list[NDArray[np.bool_]]

    @classmethod
    def of(
        cls, region: Sequence[Box], columns: Sequence[Cells], cell_codes: NDArray[np.int64]
    ) -> RegionSpread:
        """Compute the intersection; group g has cell ``columns[i].labels[shown[g, i]]`` for attribute i."""
        attributes = [cells.attribute for cells in columns]
        names = [name for name in attributes if any(name in box for box in region)]
        places = [attributes.index(name) for name in names]
        groups = len(cell_codes)
        sizes = [count_covered_codes(columns[index]) for index in places]
        wide = type_of_products(sizes)
        products = np.ones(groups, dtype=wide)
        for index, size in zip(places, sizes, strict=True):
            products = products * size.astype(wide)[cell_codes[:, index]]
        inside = np.zeros(groups, dtype=wide)
        shares, hits = [], []
        for box in region:
            combinations, share = np.ones(groups, dtype=wide), np.ones(groups)
            for name, index, size in zip(names, places, sizes, strict=True):
                cells = columns[index]
                if name not in box:
                    combinations = combinations * size.astype(wide)[cell_codes[:, index]]
                    continue
                combinations = (
                    combinations * count_selected_codes(cells, box[name]).astype(wide)[cell_codes[:, index]]
                )
                share = share * _selected_share(cells, box[name])[cell_codes[:, index]]
            inside = inside + combinations
            shares.append(share)
            hits.append((combinations > 0).astype(np.bool_))
        possible = (inside > 0).astype(np.bool_)
        return cls(shares, (inside == products).astype(np.bool_) & possible, possible, hits)

    def expected(self, rows: NDArray[np.int64]) -> float:
        """Return the expected number of selected rows."""
        return float(sum((rows * share).sum() for share in self.share)) if self.share else 0.0


@dataclass(frozen=True, eq=False)
class _ExpectedRows:
    """Expected selected rows by value of one attribute, separately for cells with a stated mean."""

    by_value: NDArray[np.float64]
    by_mean: NDArray[np.float64]
    means: NDArray[np.float64]

    @classmethod
    def of(
        cls, spread: RegionSpread, region: Sequence[Box], table: AnswerableTable, index: int
    ) -> _ExpectedRows:
        cells = table.table.cells[index]
        table_means = table.means.get(cells.attribute)
        by_value, by_mean = np.zeros(cells.leaves), np.zeros(len(cells.labels))
        for box, share in zip(region, spread.share, strict=True):
            mask = mask_of_cells(box, cells)
            rows = np.bincount(
                table.table.shown[:, index], table.table.rows * share, minlength=len(cells.labels)
            )
            selected = count_selected_codes(cells, mask, nulls=False)
            if table_means is not None:
                fully = ~np.isnan(table_means.means) & (selected == cells.sizes())
                by_mean += np.where(fully, rows, 0.0)
                rows = np.where(fully, 0.0, rows)
            by_value += _sum_by_leaf(cells, rows / np.maximum(selected, 1)) * mask[:-1]
        means = np.full(len(by_mean), np.nan) if table_means is None else table_means.means
        return cls(by_value, by_mean, means)

    def answer(self, aggregate: Aggregate, numbers: NDArray[np.float64]) -> float:
        """Estimate the aggregate; some row must be expected."""
        found, from_mean = self.by_value > 0, self.by_mean > 0
        rows = float(self.by_value.sum() + self.by_mean.sum())
        values = np.concatenate([numbers[found], self.means[from_mean]])
        weights = np.concatenate([self.by_value[found], self.by_mean[from_mean]])
        if aggregate is Aggregate.SUM:
            return float((values * weights).sum())
        if aggregate is Aggregate.AVG:
            return float((values * weights).sum() / weights.sum())
        order = np.argsort(values if aggregate is Aggregate.MIN else -values, kind="stable")
        reached = np.cumsum(weights[order]) >= min(LEAST_EXPECTED_ROWS, rows) * (1 - 1e-12)
        return float(values[order][int(np.argmax(reached))])


def _ends(
    cells: Cells,
    masks: Sequence[Mask],
    hits: Sequence[NDArray[np.bool_]],
    cell_codes: NDArray[np.int64],
    numbers: NDArray[np.float64],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the least and greatest number of each group's selectable rows; infinite if there are none."""
    low, high = np.full(len(cell_codes), np.inf), np.full(len(cell_codes), -np.inf)
    for mask, hit in zip(masks, hits, strict=True):
        inside = np.where(mask[:-1], numbers, np.nan)
        least = extremes_of_cells(cells, np.where(np.isnan(inside), np.inf, inside), np.minimum)
        most = extremes_of_cells(cells, np.where(np.isnan(inside), -np.inf, inside), np.maximum)
        low = np.where(hit, np.minimum(low, least[cell_codes]), low)
        high = np.where(hit, np.maximum(high, most[cell_codes]), high)
    return low, high


def _selected_share(cells: Cells, mask: Mask) -> NDArray[np.float64]:
    """Return the expected share of each cell's rows that a mask selects: of its leaves, unless it is NULL.

    If leaves have weights, it is the share of the weights; leaves without any weight count alike.
    """
    is_null = cells.first[cells.offsets[:-1]] == cells.leaves
    leaves = count_selected_codes(cells, mask, nulls=False) / cells.sizes()
    if cells.weights is not None:
        total = _sum_leaf_weights(cells, cells.weights)
        some = total > 0
        leaves = np.where(
            some, _sum_leaf_weights(cells, cells.weights * mask) / np.where(some, total, 1.0), leaves
        )
    return np.where(is_null, float(mask[-1]), np.clip(leaves, 0.0, 1.0))


def _sum_leaf_weights(cells: Cells, weights: NDArray[np.float64]) -> NDArray[np.float64]:
    sums = np.concatenate([[0.0], np.cumsum(weights[:-1]), [0.0]])
    last = np.minimum(cells.last, cells.leaves - 1)
    first = np.minimum(cells.first, cells.leaves)
    return np.add.reduceat(sums[last + 1] - sums[first], cells.offsets[:-1])


def _sum_by_leaf(cells: Cells, weight: NDArray[np.float64]) -> NDArray[np.float64]:
    """Sum the weights of the cells that cover each leaf, shape ``(leaves,)``.

    Sums of differences leave rounding errors, so sums that are negligible compared with all weights count
    as 0. Cells of one value, the only ones in an original, are added without differences.
    """
    per_interval = np.repeat(weight, np.diff(cells.offsets))
    single = cells.first == cells.last
    found = np.zeros(cells.leaves + 1)
    np.add.at(found, cells.first[single], per_interval[single])
    if not single.all():
        steps = np.zeros(cells.leaves + 2)
        np.add.at(steps, cells.first[~single], per_interval[~single])
        np.subtract.at(steps, cells.last[~single] + 1, per_interval[~single])
        sums = np.cumsum(steps)[:-1]
        found = found + np.where(sums > _NEGLIGIBLE * per_interval.sum(), sums, 0.0)
    return found[: cells.leaves]


def _is_everything(region: Sequence[Box]) -> bool:
    """Check whether a region contains every row, whatever its values (one box without a restriction)."""
    return any(all(mask.all() for mask in box.values()) for box in region)


_ROUNDING_SLACK = 1e-9


@dataclass(frozen=True)
class QueryError:
    """Truth, answer of the release and error of one query (None: no comparison)."""

    query: AggregateQuery
    truth: float | None
    answer: EstimatedAnswer

    @property
    def absolute(self) -> float | None:
        """Distance of the estimate from the truth."""
        truth, estimate = self.truth, self.answer.estimate
        if self.query.aggregate is Aggregate.SUM or (truth is None and estimate is None):
            truth, estimate = truth or 0.0, estimate or 0.0
        return None if truth is None or estimate is None else abs(estimate - truth)

    @property
    def relative(self) -> float | None:
        """Absolute error as a share of the truth; None if the truth is 0 or missing."""
        return self.absolute / abs(self.truth) if self.truth and self.absolute is not None else None

    @property
    def holds(self) -> bool:
        """True if the truth is within the sure bounds."""
        lower, upper = self.answer.lower, self.answer.upper
        if self.truth is None:
            return True
        if lower is None or upper is None:
            return False
        slack = _ROUNDING_SLACK * max(1.0, abs(lower), abs(upper))
        return lower - slack <= self.truth <= upper + slack

    def as_json(self) -> dict[str, Any]:
        """Return the query's part of ``discreet inspect --workload --json``."""
        return {
            "query": self.query.text,
            "weight": self.query.weight,
            "truth": self.truth,
            "estimate": self.answer.estimate,
            "lower": self.answer.lower,
            "upper": self.answer.upper,
            "absolute_error": self.absolute,
            "relative_error": self.relative,
        }


@dataclass(frozen=True)
class WorkloadError:
    """Errors of a workload's queries, in its order, and their weighted means.

    ``mean_absolute``, its standard ``deviation`` over the queries, and ``root_mean_square`` are in the
    queries' own units; ``mean_relative`` is a ratio, which may exceed 1. Each is None if no query can be
    compared in this way.
    """

    queries: tuple[QueryError, ...]

    @property
    def mean_absolute(self) -> float | None:
        """Weighted mean of the absolute errors."""
        return self._mean(lambda q: q.absolute)

    @property
    def mean_relative(self) -> float | None:
        """Weighted mean of the relative errors of queries whose truth is not 0."""
        return self._mean(lambda q: q.relative)

    @property
    def root_mean_square(self) -> float | None:
        """Root of the weighted mean of the squared errors."""
        squares = self._mean(lambda q: None if q.absolute is None else q.absolute**2)
        return None if squares is None else sqrt(squares)

    @property
    def deviation(self) -> float | None:
        """Weighted standard deviation of the absolute errors."""
        mean = self.mean_absolute
        if mean is None:
            return None
        squares = self._mean(lambda q: None if q.absolute is None else (q.absolute - mean) ** 2)
        return None if squares is None else sqrt(squares)

    @property
    def unanswered(self) -> int:
        """Number of queries for which one side has no row."""
        return sum(1 for query in self.queries if query.absolute is None)

    @property
    def outside(self) -> int:
        """Number of queries whose truth is outside the sure bounds."""
        return sum(1 for query in self.queries if not query.holds)

    def _mean(self, value: Callable[[QueryError], float | None]) -> float | None:
        pairs = [(q.query.weight, found) for q in self.queries if (found := value(q)) is not None]
        weights = sum(weight for weight, _ in pairs)
        return sum(weight * found for weight, found in pairs) / weights if weights > 0 else None

    def as_json(self) -> dict[str, Any]:
        """Return the document's part, with every query."""
        return {
            "mean_absolute_error": self.mean_absolute,
            "standard_deviation": self.deviation,
            "root_mean_square_error": self.root_mean_square,
            "mean_relative_error": self.mean_relative,
            "unanswered": self.unanswered,
            "outside_bounds": self.outside,
            "queries": [query.as_json() for query in self.queries],
        }


def measure_workload_error(
    queries: Sequence[AggregateQuery],
    original: AnswerableTable,
    release: AnswerableTable,
    progress: Callable[[int, int], None] | None = None,
) -> WorkloadError:
    """Answer every query on both tables and compare; raise ``InputError`` if a query cannot be answered."""
    found = []
    for number, query in enumerate(queries):
        found.append(QueryError(query, answer_query(query, original).estimate, answer_query(query, release)))
        if progress is not None:
            progress(number + 1, len(queries))
    return WorkloadError(tuple(found))
