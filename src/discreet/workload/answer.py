"""Answers of aggregate queries over a table whose cells may be generalized (LeFevre et al. 2006).

**Estimate**, by uniform spread: each of a group's rows has, in every attribute, one of the leaves that its
cell covers, all equally likely and independent of the other attributes (NULL only where the cell is NULL). A
group of f rows thus counts f·|q∩R|/|R|: f where the predicate q covers its region R, 0 where they are apart.
For an aggregate of an attribute these expected rows are spread over its values, restricted to the predicate:
SUM and AVG follow from them, MIN and MAX are the first and last value by which half a row is expected. Where
cells state means, SUM and AVG use the mean of each group whose whole cell is selected.

**Sure bounds**, which hold whatever the rows really are: a group whose whole region is selected counts fully,
one that may lie in it counts for nothing or fully, whichever is worse. Here NULL is possible wherever a cell
may stand for it. For AVG the rows that need not be selected are added while they move the average on (best
first, which is optimal). Rows that the table lacks (``missing``) may be anything. Where cells end at values
that occur in each class, a class that is selected whole attains its ends, so range summaries give MIN and MAX
exactly.

The attributes that a query does not name do not matter. Cost: linear in the groups per box of the region, and
in the values of the aggregated attribute.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError
from discreet.model.cells import Cells
from discreet.queries.domain import Domain
from discreet.queries.query import Aggregate, AggregateQuery
from discreet.queries.region import Box, Mask, region_of, restricted
from discreet.workload.answerable import AnswerableTable
from discreet.workload.bounds import Ends, bounds_of
from discreet.workload.cell_codes import covered_codes, extreme, selected_codes

HALF_A_ROW = 0.5
_NEGLIGIBLE = 1e-12
_WIDEST = 1 << 62


@dataclass(frozen=True)
class QueryAnswer:
    """What a table says: between ``lower`` and ``upper`` surely, ``estimate`` by uniform spread.

    None stands for NULL, no row at all: of ``estimate`` where no row is expected to be selected, of a bound
    where no row can be. Where it is only possible that none is selected, bounds are those of the other cases,
    but that a SUM may then be 0.
    """

    estimate: float | None
    lower: float | None
    upper: float | None


def answer(query: AggregateQuery, table: AnswerableTable) -> QueryAnswer:
    """The answer of one query.

    Raises ``InputError`` for an attribute that the table lacks, or SUM, AVG, MIN, MAX of one that is not
    numeric.
    """
    _check_names(query, table)
    region = region_of(query.predicate, table.domains)
    if query.attribute is None:
        return _count(region, table)
    domain = table.domains[query.attribute]
    wanted = np.append(np.ones(domain.null_code, dtype=np.bool_), False)
    region = restricted(region, query.attribute, wanted)
    if query.aggregate is Aggregate.COUNT:
        return _count(region, table)
    _check_numeric(query, domain)
    return _aggregate(query, region, table)


def _count(region: Sequence[Box], table: AnswerableTable) -> QueryAnswer:
    spread = Spread.of(region, table.table.cells, table.table.shown)
    lower = int(table.table.rows[spread.certain].sum())
    upper = int(table.table.rows[spread.possible].sum())
    if region:
        upper += table.missing
        lower += table.missing if _is_everything(region) else 0
    return QueryAnswer(spread.expected(table.table.rows), float(lower), float(upper))


def _aggregate(query: AggregateQuery, region: Sequence[Box], table: AnswerableTable) -> QueryAnswer:
    assert query.attribute is not None
    name = query.attribute
    place = table.table.attributes.index(name)
    cells, domain = table.table.cells[place], table.domains[name]
    spread = Spread.of(region, table.table.cells, table.table.shown)
    expected = _ExpectedRows.of(spread, region, table, place)
    selected = spread.expected(table.table.rows)
    estimate = expected.answer(query.aggregate, domain.numbers) if selected > 0 else None
    masks = [_mask(box, name, cells.leaves) for box in region]
    low, high = _ends(cells, masks, spread.hits_anything, table.table.shown[:, place], domain.numbers)
    shown = table.table.shown[:, place]
    of_classes = set(query.attributes) <= set(table.classes)
    attained = np.zeros(len(shown), dtype=np.bool_)
    if of_classes and name in table.attained:
        attained = table.attained[name][shown]
    ends = Ends(table.table.rows, spread.certain, spread.possible, low, high, attained)
    if table.missing and region:
        ends = ends.with_missing(table.missing, _is_everything(region), _selected_ends(masks, domain))
    mean = table.means.get(name) if of_classes else None
    stated = None if mean is None else (mean.means[shown], mean.half_units[shown])
    lower, upper = bounds_of(query.aggregate, ends, stated)
    return QueryAnswer(_clipped(estimate, lower, upper), lower, upper)


def _clipped(estimate: float | None, lower: float | None, upper: float | None) -> float | None:
    if estimate is None or lower is None or upper is None:
        return estimate
    return min(max(estimate, lower), upper)


@dataclass(frozen=True, eq=False)
class Spread:
    """How each group meets a region.

    ``share[b]`` is the share of each group's rows expected in box b. ``certain`` groups lie in the region
    wholly, ``possible`` ones may; ``hits_anything[b]`` says which may lie in box b.
    """

    share: list[NDArray[np.float64]]
    certain: NDArray[np.bool_]
    possible: NDArray[np.bool_]
    hits_anything: list[NDArray[np.bool_]]

    @classmethod
    def of(cls, region: Sequence[Box], columns: Sequence[Cells], shown: NDArray[np.int64]) -> Spread:
        """How groups meet a region: group g shows ``columns[i].labels[shown[g, i]]`` for attribute i."""
        attributes = [cells.attribute for cells in columns]
        names = [name for name in attributes if any(name in box for box in region)]
        places = [attributes.index(name) for name in names]
        groups = len(shown)
        sizes = [covered_codes(columns[place]) for place in places]
        wide: Any = np.int64 if _product(size.max(initial=1) for size in sizes) < _WIDEST else object
        whole = np.ones(groups, dtype=wide)
        for place, size in zip(places, sizes, strict=True):
            whole = whole * size.astype(wide)[shown[:, place]]
        inside = np.zeros(groups, dtype=wide)
        shares, hits = [], []
        for box in region:
            combinations, share = np.ones(groups, dtype=wide), np.ones(groups)
            for name, place, size in zip(names, places, sizes, strict=True):
                cells = columns[place]
                if name not in box:
                    combinations = combinations * size.astype(wide)[shown[:, place]]
                    continue
                combinations = combinations * selected_codes(cells, box[name]).astype(wide)[shown[:, place]]
                share = share * _share(cells, box[name])[shown[:, place]]
            inside = inside + combinations
            shares.append(share)
            hits.append((combinations > 0).astype(np.bool_))
        possible = (inside > 0).astype(np.bool_)
        return cls(shares, (inside == whole).astype(np.bool_) & possible, possible, hits)

    def expected(self, rows: NDArray[np.int64]) -> float:
        """The expected number of selected rows."""
        return float(sum((rows * share).sum() for share in self.share)) if self.share else 0.0


@dataclass(frozen=True, eq=False)
class _ExpectedRows:
    """The expected selected rows by value of one attribute; those of cells with a stated mean apart."""

    by_value: NDArray[np.float64]
    by_mean: NDArray[np.float64]
    means: NDArray[np.float64]

    @classmethod
    def of(cls, spread: Spread, region: Sequence[Box], table: AnswerableTable, place: int) -> _ExpectedRows:
        cells = table.table.cells[place]
        stated = table.means.get(cells.attribute)
        by_value, by_mean = np.zeros(cells.leaves), np.zeros(len(cells.labels))
        for box, share in zip(region, spread.share, strict=True):
            mask = _mask(box, cells.attribute, cells.leaves)
            rows = np.bincount(
                table.table.shown[:, place], table.table.rows * share, minlength=len(cells.labels)
            )
            selected = selected_codes(cells, mask, nulls=False)
            if stated is not None:
                fully = ~np.isnan(stated.means) & (selected == cells.sizes())
                by_mean += np.where(fully, rows, 0.0)
                rows = np.where(fully, 0.0, rows)
            by_value += _over_values(cells, rows / np.maximum(selected, 1)) * mask[:-1]
        means = np.full(len(by_mean), np.nan) if stated is None else stated.means
        return cls(by_value, by_mean, means)

    def answer(self, aggregate: Aggregate, numbers: NDArray[np.float64]) -> float:
        """The estimate, of at least some expected row."""
        found, from_mean = self.by_value > 0, self.by_mean > 0
        rows = float(self.by_value.sum() + self.by_mean.sum())
        values = np.concatenate([numbers[found], self.means[from_mean]])
        weights = np.concatenate([self.by_value[found], self.by_mean[from_mean]])
        if aggregate is Aggregate.SUM:
            return float((values * weights).sum())
        if aggregate is Aggregate.AVG:
            return float((values * weights).sum() / weights.sum())
        order = np.argsort(values if aggregate is Aggregate.MIN else -values, kind="stable")
        reached = np.cumsum(weights[order]) >= min(HALF_A_ROW, rows) * (1 - 1e-12)
        return float(values[order][int(np.argmax(reached))])


def _ends(
    cells: Cells,
    masks: Sequence[Mask],
    hits: Sequence[NDArray[np.bool_]],
    shown: NDArray[np.int64],
    numbers: NDArray[np.float64],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The least and largest number that a selected row of each group may have; infinite where none may."""
    low, high = np.full(len(shown), np.inf), np.full(len(shown), -np.inf)
    for mask, hit in zip(masks, hits, strict=True):
        inside = np.where(mask[:-1], numbers, np.nan)
        least = extreme(cells, np.where(np.isnan(inside), np.inf, inside), np.minimum)
        most = extreme(cells, np.where(np.isnan(inside), -np.inf, inside), np.maximum)
        low = np.where(hit, np.minimum(low, least[shown]), low)
        high = np.where(hit, np.maximum(high, most[shown]), high)
    return low, high


def _share(cells: Cells, mask: Mask) -> NDArray[np.float64]:
    """The share of each cell's rows that a mask is expected to select: of its leaves, unless it is NULL.

    Where leaves have weights, the share of these; of leaves without any, all count alike.
    """
    alone = cells.first[cells.offsets[:-1]] == cells.leaves
    leaves = selected_codes(cells, mask, nulls=False) / cells.sizes()
    if cells.weights is not None:
        whole = _weighed(cells, cells.weights)
        some = whole > 0
        leaves = np.where(some, _weighed(cells, cells.weights * mask) / np.where(some, whole, 1.0), leaves)
    return np.where(alone, float(mask[-1]), np.clip(leaves, 0.0, 1.0))


def _weighed(cells: Cells, weights: NDArray[np.float64]) -> NDArray[np.float64]:
    sums = np.concatenate([[0.0], np.cumsum(weights[:-1]), [0.0]])
    last = np.minimum(cells.last, cells.leaves - 1)
    first = np.minimum(cells.first, cells.leaves)
    return np.add.reduceat(sums[last + 1] - sums[first], cells.offsets[:-1])


def _over_values(cells: Cells, weight: NDArray[np.float64]) -> NDArray[np.float64]:
    """The sum of the weights of the cells that cover each leaf, shape ``(leaves,)``.

    Differences leave a trace of rounding where cells end, so what is negligible beside all weights is none;
    cells of one value, which an original has alone, are added without differences.
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


def _mask(box: Box, name: str, leaves: int) -> Mask:
    return box.get(name, np.ones(leaves + 1, dtype=np.bool_))


def _selected_ends(masks: Sequence[Mask], domain: Domain) -> tuple[float, float]:
    union = np.logical_or.reduce(masks)[:-1]
    return float(domain.numbers[union].min()), float(domain.numbers[union].max())


def _is_everything(region: Sequence[Box]) -> bool:
    """Whether a region is true of any row at all, whatever its values (one box without a restriction)."""
    return any(all(mask.all() for mask in box.values()) for box in region)


def _product(sizes: Any) -> int:
    found = 1
    for size in sizes:
        found *= int(size)
    return found


def _check_numeric(query: AggregateQuery, domain: Domain) -> None:
    if not domain.is_numeric:
        raise InputError(
            f"{query.aggregate}({query.attribute}): not every value of '{query.attribute}' is a number",
            allowed="COUNT of any attribute; SUM, AVG, MIN and MAX of numbers",
        )


def _check_names(query: AggregateQuery, table: AnswerableTable) -> None:
    unknown = [name for name in query.attributes if name not in table.domains]
    if unknown:
        raise InputError(
            f"a query names '{unknown[0]}', which the table does not have", allowed=", ".join(table.domains)
        )
