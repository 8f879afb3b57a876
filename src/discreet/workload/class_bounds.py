"""Sure bounds from classes in which known values occur: the ends of ranges, the members of sets.

A class of three rows with the cell ``1 … 7`` has a row at 1 and a row at 7, so at most one of its rows is
between 2 and 5. Values of several attributes may occur in the same row or in different ones.

For each class the least (or greatest) total of its selected rows is exact (``item_cover``) for up to four
attributes and eight values together; for more, the first and the last value of each attribute are used,
which is still a bound. AVG is a ratio, solved by the iteration of Dinkelbach (1967) over totals of amount −
factor · number. MIN and MAX follow by bisection over the values.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.queries.aggregate_query import Aggregate
from discreet.queries.region import Box
from discreet.workload.interval_bounds import (
    AggregateBound,
    count_covered_codes,
    count_selected_codes,
    extremes_of_cells,
    mask_of_cells,
    type_of_products,
)
from discreet.workload.item_cover import (
    ANY_VALUE,
    FINITE_INFINITY,
    ClassRows,
    CodeMeasure,
    CoverTotals,
    FloatVector,
    IntegerVector,
    ItemPatterns,
    Measure,
    OccurringCodes,
    PatternOptions,
    RowMeasure,
    find_cheapest_cover,
)

MOST_EXACT_ATTRIBUTES = 4
MOST_EXACT_ITEMS = 8


@dataclass(frozen=True, eq=False)
class ClassPart:
    """Classes with the same relevant attributes and the same number of occurring values in each.

    ``units`` contains their units, sorted by class, ``owner`` the index of each unit's class in
    ``classes``; ``items[j]`` contains the occurring codes of the j-th attribute, shape ``(units, items)``.
    ``hits[b]`` marks the patterns of each unit that may be in box b, ``leaves`` those that may be outside
    all boxes.
    """

    of: ClassRows
    region: tuple[Box, ...]
    patterns: ItemPatterns
    attributes: tuple[int, ...]
    classes: IntegerVector
    units: IntegerVector
    owner: IntegerVector
    items: tuple[IntegerVector, ...]
    hits: list[NDArray[np.bool_]]
    leaves: NDArray[np.bool_]

    def totals(self, measure: Measure, factor: float) -> CoverTotals:
        """Compute the cheapest totals of each class."""
        if isinstance(measure, CodeMeasure):
            options = self._by_code(measure, factor)
            found = self._covered(options, self._rows, self.owner, factor)
            return found if measure.label_means is None else self._with_means(found, measure)
        position_of = np.full(len(self.of.rows), -1)
        position_of[self.units] = np.arange(len(self.units))
        here = np.flatnonzero(position_of[measure.units] >= 0)
        unit = position_of[measure.units[here]]
        here, unit = here[np.argsort(unit, kind="stable")], np.sort(unit, kind="stable")
        amounts, numbers = measure.amounts[here][:, None], measure.numbers[here][:, None]
        selected = np.where(self._selected[unit], amounts, np.inf)
        options = PatternOptions.cheapest(
            selected, np.broadcast_to(numbers, selected.shape), self.leaves[unit], factor
        )
        return self._covered(options, measure.rows[here], self.owner[unit], factor, unit=unit)

    @property
    def _rows(self) -> IntegerVector:
        return self.of.rows[self.units]

    @cached_property
    def _selected(self) -> NDArray[np.bool_]:
        result: NDArray[np.bool_] = np.logical_or.reduce([np.zeros_like(self.leaves), *self.hits])
        return result

    def _by_code(self, measure: CodeMeasure, factor: float) -> PatternOptions:
        """Return the options of a row of each unit."""
        of = self.of
        cells, labels = of.cells[measure.index], of.cell_codes[self.units, measure.index]
        selected = np.full(self.leaves.shape, np.inf)
        for box, hit in zip(self.region, self.hits, strict=True):
            mask = mask_of_cells(box, cells)
            inside = np.where(mask[:-1], np.clip(measure.low, -FINITE_INFINITY, FINITE_INFINITY), np.inf)
            anywhere = extremes_of_cells(cells, inside, np.minimum)[labels]
            own = np.append(inside, np.inf)
            for index, pattern in enumerate(self.patterns.all):
                fixed = self._fixed(pattern, measure.index)
                found = anywhere if fixed is None else own[fixed]
                selected[:, index] = np.where(
                    hit[:, index], np.minimum(selected[:, index], found), selected[:, index]
                )
        return PatternOptions.cheapest(selected, np.ones_like(selected), self.leaves, factor)

    def _fixed(self, pattern: tuple[int, ...], attribute: int) -> IntegerVector | None:
        """Return the code of an attribute in each unit under a pattern, or None if it is not fixed."""
        if attribute not in self.attributes:
            return None
        at = self.attributes.index(attribute)
        return None if pattern[at] == ANY_VALUE else self.items[at][:, pattern[at]]

    def _covered(
        self,
        options: PatternOptions,
        rows: IntegerVector,
        owner: IntegerVector,
        factor: float,
        *,
        unit: IntegerVector | None = None,
    ) -> CoverTotals:
        """Compute totals of rows: ``rows[i]`` rows have the options of line i; ``owner`` is ascending.

        ``unit`` is the unit of each line, by default its own index.
        """
        number, items = len(self.classes), self.patterns.total
        free = CoverTotals(
            _sum_by_owner(rows * options.amounts[:, 0], owner, number),
            _sum_by_owner(rows * options.numbers[:, 0], owner, number),
        )
        if not items:
            return free
        patterns = self.patterns
        if len(self.attributes) == 1:
            if len(owner) == number:
                return self._cover_equal_rows(options, rows, free)
            if items > MOST_EXACT_ITEMS:
                patterns, items = ItemPatterns((2,)), 2
                options = PatternOptions(options.amounts[:, [0, 1, -1]], options.numbers[:, [0, 1, -1]])
        group = np.arange(len(owner)) if unit is None else unit
        line = _candidate_lines(options, rows, group, items, factor)
        least = find_cheapest_cover(patterns, options.rows(line), owner[line], number, factor)
        used = [
            _sum_by_owner(column[line, 0], owner[line], number)
            for column in (options.amounts, options.numbers)
        ]
        fits = np.isfinite(least.amounts)
        return CoverTotals(
            np.where(fits, free.amounts - used[0] + np.where(fits, least.amounts, 0.0), free.amounts),
            np.where(fits, free.numbers - used[1] + np.where(fits, least.numbers, 0.0), free.numbers),
        )

    def _cover_equal_rows(
        self, options: PatternOptions, rows: IntegerVector, free: CoverTotals
    ) -> CoverTotals:
        """Compute totals of classes with equal rows and one attribute with items: each item takes one row."""
        fits = rows >= self.patterns.total
        more = [(column[:, 1:] - column[:, :1]).sum(axis=1) for column in (options.amounts, options.numbers)]
        return CoverTotals(
            free.amounts + np.where(fits, more[0], 0.0), free.numbers + np.where(fits, more[1], 0.0)
        )

    def _with_means(self, totals: CoverTotals, measure: CodeMeasure) -> CoverTotals:
        """Raise the totals of completely selected classes to the least that their stated mean allows."""
        assert measure.label_means is not None
        number = len(self.classes)
        labels = self.of.cell_codes[self.units, measure.index]
        means, halves = (column[labels] for column in measure.label_means)
        outside = np.bincount(self.owner, weights=self.leaves[:, 0], minlength=number)
        rows = np.bincount(self.owner, weights=self._rows, minlength=number)
        first = np.searchsorted(self.owner, np.arange(number))
        least = rows * (means - halves)[first]
        known = (outside == 0) & ~np.isnan(least)
        return CoverTotals(np.where(known, np.maximum(totals.amounts, least), totals.amounts), totals.numbers)


def _sum_by_owner(amounts: FloatVector, owner: IntegerVector, number: int) -> FloatVector:
    """Sum the amounts of each of ``number`` owners."""
    return np.bincount(owner, weights=amounts, minlength=number).astype(np.float64)


def _candidate_lines(
    options: PatternOptions, rows: IntegerVector, unit: IntegerVector, items: int, factor: float
) -> IntegerVector:
    """Return the lines of the rows that may have to contain an item, one line per row.

    Only the rows of a unit that are cheapest to select or cheapest to leave out matter: the ``items`` rows
    nearest to a cost of 0 on both sides.
    """
    copies = np.minimum(rows, items)
    line = np.repeat(np.arange(len(rows)), copies)
    costs = np.where(np.isfinite(options.amounts), options.amounts - factor * options.numbers, 0.0)
    extremes = costs[np.arange(len(costs)), np.abs(costs).argmax(axis=1)][line]
    side = extremes > 0
    order = np.lexsort((np.abs(extremes), side, unit[line]))
    group = unit[line][order] * 2 + side[order]
    starts = np.flatnonzero(np.append(True, group[1:] != group[:-1]))
    rank = np.arange(len(group)) - np.repeat(starts, np.diff(np.append(starts, len(group))))
    return np.sort(line[order[rank < items]], kind="stable")


def iterate_class_parts(of: ClassRows, region: tuple[Box, ...], measured: int | None) -> Iterator[ClassPart]:
    """Yield the classes that a region intersects; no row of any other class is selected."""
    relevant, met = _relevant_attributes(of, region, measured)
    wanted = _reduce_items(np.where(relevant, of.occurring_by_class, 0)[:, met], measured)
    kinds, kind = np.unique(wanted.T, axis=0, return_inverse=True)
    kind = kind.reshape(-1)
    order = of.units_by_class
    for index, counts in enumerate(kinds.tolist()):
        chosen = met[kind == index]
        at = np.full(of.number, -1)
        at[chosen] = np.arange(len(chosen))
        units = order[at[of.classes[order]] >= 0]
        attributes = tuple(i for i, count in enumerate(counts) if count)
        items = tuple(
            _occurring_codes(of.occurring[i], counts[i])[of.cell_codes[units, i]] for i in attributes
        )
        patterns = ItemPatterns(tuple(counts[i] for i in attributes))
        hits, leaves = _pattern_hits(of, region, units, attributes, items, patterns)
        yield ClassPart(
            of, region, patterns, attributes, chosen, units, at[of.classes[units]], items, hits, leaves
        )


def _occurring_codes(known: OccurringCodes, number: int) -> IntegerVector:
    """Return ``number`` occurring codes by label: all of them, or the first and the last."""
    result = np.zeros((len(known), number), dtype=np.int64)
    for label, codes in enumerate(known):
        if len(codes) == number:
            result[label] = codes
        elif len(codes) > number and number <= 2:
            result[label] = (codes[0], codes[-1])[:number]
    return result


def _reduce_items(numbers: IntegerVector, measured: int | None) -> IntegerVector:
    """Reduce attributes and items to those that are solved exactly; the aggregated attribute has priority."""
    found = numbers.copy()
    order = sorted(range(len(found)), key=lambda i: i != measured)
    class_count = np.zeros(found.shape[1], dtype=np.int64)
    for i in order:
        found[i, class_count >= MOST_EXACT_ATTRIBUTES] = 0
        class_count += found[i] > 0
    many = (class_count > 1) & (found.sum(axis=0) > MOST_EXACT_ITEMS)
    return np.where(many, np.minimum(found, 2), found)


def _relevant_attributes(
    of: ClassRows, region: tuple[Box, ...], measured: int | None
) -> tuple[NDArray[np.bool_], IntegerVector]:
    """Return a mask of attributes on which a class's answer depends, and the classes that a region meets."""
    found = np.zeros((len(of.cells), of.number), dtype=np.bool_)
    met = np.zeros(of.number, dtype=np.bool_)
    sizes = [count_covered_codes(cells) for cells in of.cells]
    for box in region:
        inside = {
            i: count_selected_codes(cells, box[cells.attribute])[of.cell_codes[:, i]]
            for i, cells in enumerate(of.cells)
            if cells.attribute in box
        }
        hit = np.ones(len(of.rows), dtype=np.bool_)
        for counts in inside.values():
            hit &= counts > 0
        met[of.classes[hit]] = True
        for i, counts in inside.items():
            found[i, of.classes[hit & (counts < sizes[i][of.cell_codes[:, i]])]] = True
        if measured is not None:
            wide = sizes[measured][of.cell_codes[:, measured]] > 1
            found[measured, of.classes[hit & wide]] = True
    return found, np.flatnonzero(met)


def _pattern_hits(
    of: ClassRows,
    region: tuple[Box, ...],
    units: IntegerVector,
    attributes: tuple[int, ...],
    items: tuple[IntegerVector, ...],
    patterns: ItemPatterns,
) -> tuple[list[NDArray[np.bool_]], NDArray[np.bool_]]:
    """Return masks of each unit's patterns that may be in each box, and that may be outside all boxes."""
    names = [i for i, cells in enumerate(of.cells) if any(cells.attribute in box for box in region)]
    sizes = {i: count_covered_codes(of.cells[i])[of.cell_codes[units, i]] for i in names}
    wide = type_of_products(sizes.values())
    shape = (len(units), len(patterns.all))
    inside, every_item = np.zeros(shape, dtype=wide), np.ones(shape, dtype=wide)
    fixed = {i: items[at] for at, i in enumerate(attributes)}

    def multiplied(
        product: NDArray[Any], i: int, counts: IntegerVector, of_items: IntegerVector | None
    ) -> None:
        """Multiply by the number of codes of an attribute that each pattern leaves."""
        for index, pattern in enumerate(patterns.all):
            item = pattern[attributes.index(i)] if i in fixed else ANY_VALUE
            product[:, index] *= (
                counts.astype(wide) if item == ANY_VALUE or of_items is None else of_items[:, item]
            )

    for i in names:
        multiplied(every_item, i, sizes[i], np.ones_like(fixed[i]).astype(wide) if i in fixed else None)
    hits = []
    for box in region:
        product = np.ones(shape, dtype=wide)
        for i in names:
            cells = of.cells[i]
            mask = mask_of_cells(box, cells)
            counts = count_selected_codes(cells, mask)[of.cell_codes[units, i]]
            multiplied(product, i, counts, mask[fixed[i]].astype(wide) if i in fixed else None)
        hits.append((product > 0).astype(np.bool_))
        inside = inside + product
    return hits, (inside < every_item).astype(np.bool_)


@dataclass(frozen=True, eq=False)
class ClassBounds:
    """Bounds of aggregates over classes of rows in a region of disjoint boxes."""

    rows: ClassRows
    region: tuple[Box, ...]
    measured: int | None = None

    @cached_property
    def counts(self) -> tuple[int, int]:
        """Least and greatest number of selected rows."""
        counted = self.rows.counted
        return int(self._total(counted)), -int(self._total(counted.negated()))

    def bounds(self, aggregate: Aggregate, measure: Measure) -> tuple[AggregateBound, AggregateBound]:
        """Compute the least and greatest answer; None if no row with a value can be selected.

        Upper bounds are negated lower bounds of the negated measure.
        """
        if aggregate is Aggregate.COUNT:
            counted = self._counted(measure)
            return self._total(counted), -self._total(counted.negated())
        if self._total(self._counted(measure).negated()) == 0:
            return None, None
        negated = measure.negated()
        if aggregate is Aggregate.SUM:
            return self._sum(measure), -self._sum(negated)
        if aggregate is Aggregate.AVG:
            return self._average(measure), -self._average(negated)
        if aggregate is Aggregate.MIN:
            return self._least(measure), self._greatest_minimum(measure)
        return -self._greatest_minimum(negated), -self._least(negated)

    def _counted(self, measure: Measure) -> Measure:
        if isinstance(measure, RowMeasure):
            return replace(measure, amounts=measure.numbers)
        return self.rows.counted

    def _total(self, measure: Measure) -> float:
        return float(self._totals(measure, 0.0).amounts.sum())

    def _sum(self, measure: Measure) -> float:
        totals = self._totals(measure, 0.0).amounts
        return -np.inf if (totals < -FINITE_INFINITY / 2).any() else float(totals.sum())

    def _average(self, measure: Measure) -> float:
        """Compute the least average of at least one row by Dinkelbach's iteration."""
        if self._sum(measure) == -np.inf:
            return -np.inf
        amounts = measure.low if isinstance(measure, CodeMeasure) else measure.amounts
        finite = amounts[np.isfinite(amounts) & (np.abs(amounts) < FINITE_INFINITY)]
        factor = float(finite.max(initial=0.0)) + 1.0
        while True:
            totals = self._totals(measure, factor)
            number = float(totals.numbers.sum())
            if not number:
                return factor
            lower = float(totals.amounts.sum()) / number
            if lower >= factor:
                return lower
            factor = lower

    def _least(self, measure: Measure) -> float:
        """Return the least value that a selected row may have."""
        values = np.unique(_low_ends(measure))

        def reached(value: float) -> bool:
            hits = _replace_values(measure, lambda low: np.where(low <= value, -1.0, 0.0), _low_ends)
            return bool(self._total(hits) < 0)

        return float(values[bisect_left(values, True, key=reached)])

    def _greatest_minimum(self, measure: Measure) -> float:
        """Return the greatest possible minimum of the selected rows, if at least one is selected."""
        values = np.unique(_high_ends(measure))
        most = float(self.rows.rows.sum()) + 1

        def passed(value: float) -> bool:
            below = _replace_values(measure, lambda high: np.where(high < value, 1.0, 0.0), _high_ends)
            if self._total(below) > 0:
                return False
            some = _replace_values(measure, lambda high: np.where(high < value, most, -1.0), _high_ends)
            return bool((self._totals(some, 0.0).amounts < 0).any())

        failing = bisect_left(values, True, key=lambda value: not passed(value))
        return float(values[max(failing - 1, 0)])

    def _totals(self, measure: Measure, factor: float) -> CoverTotals:
        """Compute the cheapest totals of each class."""
        amounts, numbers = np.zeros(self.rows.number), np.zeros(self.rows.number)
        for part in self.parts:
            found = part.totals(measure, factor)
            amounts[part.classes], numbers[part.classes] = found.amounts, found.numbers
        return CoverTotals(amounts, numbers)

    @cached_property
    def parts(self) -> list[ClassPart]:
        """Classes grouped by relevant attributes and numbers of occurring values."""
        return list(iterate_class_parts(self.rows, self.region, self.measured))


def _low_ends(measure: Measure) -> FloatVector:
    return measure.low if isinstance(measure, CodeMeasure) else measure.amounts[measure.numbers > 0]


def _high_ends(measure: Measure) -> FloatVector:
    return measure.high if isinstance(measure, CodeMeasure) else measure.amounts[measure.numbers > 0]


def _replace_values(
    measure: Measure, weight: Callable[[FloatVector], FloatVector], ends: Callable[[Measure], FloatVector]
) -> Measure:
    """Return the measure with each value replaced by a weight."""
    if isinstance(measure, CodeMeasure):
        weights = weight(ends(measure))
        return CodeMeasure(measure.index, weights, weights)
    return replace(measure, amounts=np.where(measure.numbers > 0, weight(measure.amounts), 0.0))
