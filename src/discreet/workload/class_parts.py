"""Classes of one kind: the same attributes matter for what is selected, and as many of their values occur.

For each pattern of a unit, the values that a row of it takes of those that must occur, it is known whether
the row may be selected, and whether it may be left out. The rest is a cover (``workload.covering``).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.model.cells import Cells
from discreet.queries.region import Box, Mask
from discreet.workload.cell_codes import covered_codes, extreme, selected_codes
from discreet.workload.class_rows import BOUNDLESS, ByCode, ClassRows, Measure, Occurring
from discreet.workload.covering import ANY, Floats, Options, Patterns, Totals, Whole, cover

MOST_ATTRIBUTES = 4
MOST_ITEMS = 8
_WIDEST = 1 << 62


@dataclass(frozen=True, eq=False)
class ClassPart:
    """Some classes, in which the same attributes matter and as many values occur.

    ``units`` are their units, class by class, ``owner`` the place of each unit's class in ``classes``;
    ``items[j]`` are the codes that occur of the j-th attribute, shape ``(units, items)``. ``hits[b]`` says
    which patterns of each unit may lie in box b, ``leaves`` which may lie outside of all boxes.
    """

    of: ClassRows
    region: tuple[Box, ...]
    patterns: Patterns
    attributes: tuple[int, ...]
    classes: Whole
    units: Whole
    owner: Whole
    items: tuple[Whole, ...]
    hits: list[NDArray[np.bool_]]
    leaves: NDArray[np.bool_]

    def totals(self, measure: Measure, factor: float) -> Totals:
        """The cheapest totals of each class."""
        if isinstance(measure, ByCode):
            options = self._by_code(measure, factor)
            found = self._covered(options, self._rows, self.owner, factor)
            return found if measure.stated is None else self._with_means(found, measure)
        place = np.full(len(self.of.rows), -1)
        place[self.units] = np.arange(len(self.units))
        here = np.flatnonzero(place[measure.units] >= 0)
        unit = place[measure.units[here]]
        here, unit = here[np.argsort(unit, kind="stable")], np.sort(unit, kind="stable")
        amounts, numbers = measure.amounts[here][:, None], measure.numbers[here][:, None]
        selected = np.where(self._selected[unit], amounts, np.inf)
        options = Options.cheapest(
            selected, np.broadcast_to(numbers, selected.shape), self.leaves[unit], factor
        )
        return self._covered(options, measure.rows[here], self.owner[unit], factor, unit=unit)

    @property
    def _rows(self) -> Whole:
        return self.of.rows[self.units]

    @cached_property
    def _selected(self) -> NDArray[np.bool_]:
        found: NDArray[np.bool_] = np.logical_or.reduce([np.zeros_like(self.leaves), *self.hits])
        return found

    def _by_code(self, measure: ByCode, factor: float) -> Options:
        """The options of a row of each unit."""
        of = self.of
        cells, labels = of.cells[measure.place], of.shown[self.units, measure.place]
        selected = np.full(self.leaves.shape, np.inf)
        for box, hit in zip(self.region, self.hits, strict=True):
            mask = _mask(box, cells)
            inside = np.where(mask[:-1], np.clip(measure.low, -BOUNDLESS, BOUNDLESS), np.inf)
            anywhere = extreme(cells, inside, np.minimum)[labels]
            own = np.append(inside, np.inf)
            for place, pattern in enumerate(self.patterns.all):
                fixed = self._fixed(pattern, measure.place)
                found = anywhere if fixed is None else own[fixed]
                selected[:, place] = np.where(
                    hit[:, place], np.minimum(selected[:, place], found), selected[:, place]
                )
        return Options.cheapest(selected, np.ones_like(selected), self.leaves, factor)

    def _fixed(self, pattern: tuple[int, ...], attribute: int) -> Whole | None:
        """The code of an attribute in each unit under a pattern, None where it may be any."""
        if attribute not in self.attributes:
            return None
        at = self.attributes.index(attribute)
        return None if pattern[at] == ANY else self.items[at][:, pattern[at]]

    def _covered(
        self,
        options: Options,
        rows: Whole,
        owner: Whole,
        factor: float,
        *,
        unit: Whole | None = None,
    ) -> Totals:
        """Totals of rows of which ``rows[i]`` have the options of line i; ``owner`` is ascending.

        ``unit`` is the unit of each line, its own place where None.
        """
        number, items = len(self.classes), self.patterns.total
        free = Totals(
            _by_owner(rows * options.amounts[:, 0], owner, number),
            _by_owner(rows * options.numbers[:, 0], owner, number),
        )
        if not items:
            return free
        patterns = self.patterns
        if len(self.attributes) == 1:
            if len(owner) == number:
                return self._one_by_one(options, rows, free)
            if items > MOST_ITEMS:
                patterns, items = Patterns((2,)), 2
                options = Options(options.amounts[:, [0, 1, -1]], options.numbers[:, [0, 1, -1]])
        group = np.arange(len(owner)) if unit is None else unit
        line = _candidates(options, rows, group, items, factor)
        least = cover(patterns, options.rows(line), owner[line], number, factor)
        used = [
            _by_owner(column[line, 0], owner[line], number) for column in (options.amounts, options.numbers)
        ]
        fits = np.isfinite(least.amounts)
        return Totals(
            np.where(fits, free.amounts - used[0] + np.where(fits, least.amounts, 0.0), free.amounts),
            np.where(fits, free.numbers - used[1] + np.where(fits, least.numbers, 0.0), free.numbers),
        )

    def _one_by_one(self, options: Options, rows: Whole, free: Totals) -> Totals:
        """Of classes whose rows are alike, where values of one attribute occur: each takes a row."""
        fits = rows >= self.patterns.total
        more = [(column[:, 1:] - column[:, :1]).sum(axis=1) for column in (options.amounts, options.numbers)]
        return Totals(
            free.amounts + np.where(fits, more[0], 0.0), free.numbers + np.where(fits, more[1], 0.0)
        )

    def _with_means(self, found: Totals, measure: ByCode) -> Totals:
        """Of classes that are selected whole and state a mean, no less than it allows."""
        assert measure.stated is not None
        number = len(self.classes)
        labels = self.of.shown[self.units, measure.place]
        means, halves = (column[labels] for column in measure.stated)
        outside = np.bincount(self.owner, weights=self.leaves[:, 0], minlength=number)
        rows = np.bincount(self.owner, weights=self._rows, minlength=number)
        first = np.searchsorted(self.owner, np.arange(number))
        least = rows * (means - halves)[first]
        known = (outside == 0) & ~np.isnan(least)
        return Totals(np.where(known, np.maximum(found.amounts, least), found.amounts), found.numbers)


def _by_owner(amounts: Floats, owner: Whole, number: int) -> Floats:
    """The sum of the amounts of each of so many owners."""
    return np.bincount(owner, weights=amounts, minlength=number).astype(np.float64)


def _candidates(options: Options, rows: Whole, unit: Whole, items: int, factor: float) -> Whole:
    """The lines of rows that may have to hold an item, a line for each row.

    Of the rows of a unit those matter that are cheapest to select and cheapest to leave out: the ``items``
    rows nearest to a cost of 0 on both sides.
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


def class_parts(of: ClassRows, region: tuple[Box, ...], measured: int | None) -> Iterator[ClassPart]:
    """The classes that a region meets; no row of another is selected."""
    relevant, met = _relevant(of, region, measured)
    wanted = _reduced(np.where(relevant, of.occurring_by_class, 0)[:, met], measured)
    kinds, kind = np.unique(wanted.T, axis=0, return_inverse=True)
    kind = kind.reshape(-1)
    order = of.units_by_class
    for place, counts in enumerate(kinds.tolist()):
        chosen = met[kind == place]
        at = np.full(of.number, -1)
        at[chosen] = np.arange(len(chosen))
        units = order[at[of.classes[order]] >= 0]
        attributes = tuple(i for i, count in enumerate(counts) if count)
        items = tuple(_codes(of.occurring[i], counts[i])[of.shown[units, i]] for i in attributes)
        patterns = Patterns(tuple(counts[i] for i in attributes))
        hits, leaves = _hits(of, region, units, attributes, items, patterns)
        yield ClassPart(
            of, region, patterns, attributes, chosen, units, at[of.classes[units]], items, hits, leaves
        )


def _codes(known: Occurring, number: int) -> Whole:
    """So many codes that occur, by label: all, or the first and the last."""
    found = np.zeros((len(known), number), dtype=np.int64)
    for label, codes in enumerate(known):
        if len(codes) == number:
            found[label] = codes
        elif len(codes) > number and number <= 2:
            found[label] = (codes[0], codes[-1])[:number]
    return found


def _reduced(numbers: Whole, measured: int | None) -> Whole:
    """At most as many attributes and items as are solved exactly; what is aggregated comes first."""
    found = numbers.copy()
    order = sorted(range(len(found)), key=lambda i: i != measured)
    kept = np.zeros(found.shape[1], dtype=np.int64)
    for i in order:
        found[i, kept >= MOST_ATTRIBUTES] = 0
        kept += found[i] > 0
    many = (kept > 1) & (found.sum(axis=0) > MOST_ITEMS)
    return np.where(many, np.minimum(found, 2), found)


def _relevant(
    of: ClassRows, region: tuple[Box, ...], measured: int | None
) -> tuple[NDArray[np.bool_], Whole]:
    """By attribute, whether the answer of a class depends on it; then the classes that a region meets."""
    found = np.zeros((len(of.cells), of.number), dtype=np.bool_)
    met = np.zeros(of.number, dtype=np.bool_)
    sizes = [covered_codes(cells) for cells in of.cells]
    for box in region:
        inside = {
            i: selected_codes(cells, box[cells.attribute])[of.shown[:, i]]
            for i, cells in enumerate(of.cells)
            if cells.attribute in box
        }
        hit = np.ones(len(of.rows), dtype=np.bool_)
        for counts in inside.values():
            hit &= counts > 0
        met[of.classes[hit]] = True
        for i, counts in inside.items():
            found[i, of.classes[hit & (counts < sizes[i][of.shown[:, i]])]] = True
        if measured is not None:
            wide = sizes[measured][of.shown[:, measured]] > 1
            found[measured, of.classes[hit & wide]] = True
    return found, np.flatnonzero(met)


def _hits(
    of: ClassRows,
    region: tuple[Box, ...],
    units: Whole,
    attributes: tuple[int, ...],
    items: tuple[Whole, ...],
    patterns: Patterns,
) -> tuple[list[NDArray[np.bool_]], NDArray[np.bool_]]:
    """Which patterns of each unit may lie in each box, and which outside of all."""
    names = [i for i, cells in enumerate(of.cells) if any(cells.attribute in box for box in region)]
    sizes = {i: covered_codes(of.cells[i])[of.shown[units, i]] for i in names}
    wide: Any = np.int64 if prod(int(size.max(initial=1)) for size in sizes.values()) < _WIDEST else object
    shape = (len(units), len(patterns.all))
    inside, whole = np.zeros(shape, dtype=wide), np.ones(shape, dtype=wide)
    fixed = {i: items[at] for at, i in enumerate(attributes)}

    def multiplied(product: NDArray[Any], i: int, counts: Whole, of_items: Whole | None) -> None:
        """Multiply by the codes of an attribute that each pattern leaves."""
        for place, pattern in enumerate(patterns.all):
            item = pattern[attributes.index(i)] if i in fixed else ANY
            product[:, place] *= counts.astype(wide) if item == ANY or of_items is None else of_items[:, item]

    for i in names:
        multiplied(whole, i, sizes[i], np.ones_like(fixed[i]).astype(wide) if i in fixed else None)
    hits = []
    for box in region:
        product = np.ones(shape, dtype=wide)
        for i in names:
            cells = of.cells[i]
            mask = _mask(box, cells)
            counts = selected_codes(cells, mask)[of.shown[units, i]]
            multiplied(product, i, counts, mask[fixed[i]].astype(wide) if i in fixed else None)
        hits.append((product > 0).astype(np.bool_))
        inside = inside + product
    return hits, (inside < whole).astype(np.bool_)


def _mask(box: Box, cells: Cells) -> Mask:
    return box.get(cells.attribute, np.ones(cells.leaves + 1, dtype=np.bool_))
