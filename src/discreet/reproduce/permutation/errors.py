"""Relative errors of queries, (upper - lower) / actual, averaged; and their tables and plots."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from discreet.permutation.group_bounds import (
    GroupedValues,
    SelectionBounds,
    generalized_bounds,
    permuted_bounds,
)
from discreet.plots.chart import Panel, Scale, Series
from discreet.plots.draw import picture
from discreet.reproduce.comparison import Comparison
from discreet.reproduce.permutation.classes import Classes, Masks
from discreet.reproduce.permutation.microdata import Microdata
from discreet.reproduce.section import Cell, ComparedTable, Plot

Selected = NDArray[np.bool_]
"""Which rows each query selects, one row at least, shape ``(queries, rows)``."""


@dataclass(frozen=True)
class Error:
    """Mean relative errors of AVG and of SUM."""

    avg: float
    sum: float


HOLDS, AT_THE_ENDS, DOES_NOT = "holds", "at the ends only", "does not hold"


@dataclass(frozen=True)
class Ordering:
    """One of the paper's findings: its name among the printed ones, what becomes of it, by which figures."""

    name: str
    verdict: str
    figures: str

    @classmethod
    def of(cls, name: str, holds: bool, figures: str) -> Ordering:
        """A finding that is judged at every place of its table."""
        return cls(name, HOLDS if holds else DOES_NOT, figures)

    @classmethod
    def of_steps(cls, name: str, x: Sequence[float], *rising: Sequence[float], figures: str) -> Ordering:
        """A finding that series rise with ``x``: from each place to the next, or from the first to the last
        only; then the places that each step fails at are told.
        """
        failing = [
            f"{at:,.10g}"
            for place, at in enumerate(x)
            if place and not all(values[place] > values[place - 1] for values in rising)
        ]
        if not failing:
            return cls(name, HOLDS, figures)
        ends = all(values[-1] > values[0] for values in rising)
        return cls(name, AT_THE_ENDS if ends else DOES_NOT, f"{figures}; not at {', '.join(failing)}")


@dataclass
class Curves:
    """Errors by series along one axis, in the order in which they were added."""

    label: str
    x: list[float] = field(default_factory=list)
    errors: dict[str, list[Error]] = field(default_factory=dict)

    def add(self, x: float, errors: Mapping[str, Error]) -> None:
        """One more place on the axis."""
        self.x.append(x)
        for name, error in errors.items():
            self.errors.setdefault(name, []).append(error)

    def avg(self, name: str) -> list[float]:
        """The errors of AVG of one series."""
        return [error.avg for error in self.errors[name]]

    def table(self, name: str, title: str, note: str = "", *, sums: Sequence[str] = ()) -> ComparedTable:
        """A row per place, a column per series; for those in ``sums`` SUM has a column of its own."""
        rows = tuple(self._row(place) for place in range(len(self.x)))
        columns = (self.label, *self.errors, *(f"SUM: {series}" for series in sums))
        rows = tuple((*row, *self._sums(place, sums)) for place, row in enumerate(rows))
        return ComparedTable(name, title, columns, rows, note)

    def _row(self, place: int) -> tuple[Cell, ...]:
        told = f"{self.x[place]:,.10g}"
        return (
            told,
            *(Comparison(f"{told}, {name}", errors[place].avg) for name, errors in self.errors.items()),
        )

    def _sums(self, place: int, names: Sequence[str]) -> Iterator[Cell]:
        for name in names:
            yield Comparison(f"{self.x[place]:g}, {name}, SUM", self.errors[name][place].sum)

    @property
    def coinciding(self) -> str:
        """A sentence on the series whose lines hide each other; nothing where there are none."""
        by_line: dict[tuple[float, ...], list[str]] = {}
        for name in self.errors:
            by_line.setdefault(tuple(self.avg(name)), []).append(name)
        told = [" and ".join(names) for names in by_line.values() if len(names) > 1]
        return f" One line: {'; '.join(told)}." if told else ""

    def panel(
        self, title: str = "", *, x_scale: Scale = Scale.LINEAR, y_scale: Scale = Scale.LINEAR
    ) -> Panel:
        """The errors of AVG as lines."""
        series = tuple(Series.of(name, self.x, self.avg(name)) for name in self.errors)
        ticks = tuple(self.x) if x_scale is not Scale.LINEAR else ()
        return Panel(
            series, self.label, "relative error", title, x_scale=x_scale, y_scale=y_scale, x_ticks=ticks
        )


def plot_of(name: str, title: str, panels: Sequence[Panel], caption: str) -> Plot:
    """A plot with its caption as the description."""
    return Plot(name, title, picture(title, panels, description=caption), caption)


def permuted_error(data: Microdata, labels: NDArray[np.int64], selected: Selected) -> Error:
    """The error where sensitive values are permuted within groups."""
    values = GroupedValues.of(data.column, labels)
    return _error(data, selected, permuted_bounds(values, values.hits(selected)))


def generalized_error(classes: Classes, masks: Masks, selected: Selected) -> Error:
    """The error where quasi-identifiers are generalized: a class inside the query counts whole, one that
    overlaps it with any of its rows.
    """
    values = GroupedValues.of(classes.data.column, classes.labels)
    return _error(classes.data, selected, generalized_bounds(values, *classes.meets(masks)))


def generalized_subset_error(classes: Classes, selected: Selected) -> Error:
    """The same for a selection of rows whatever its condition: a class counts whole where all its rows do."""
    values = GroupedValues.of(classes.data.column, classes.labels)
    hits = values.hits(selected)
    return _error(classes.data, selected, generalized_bounds(values, hits == values.sizes, hits > 0))


def mean_error(errors: Sequence[Error]) -> Error:
    """The mean over several partitions."""
    return Error(float(np.mean([e.avg for e in errors])), float(np.mean([e.sum for e in errors])))


def arbitrary(rows: int, chosen: int, queries: int, seed: int) -> Selected:
    """Queries that select ``chosen`` of the rows, all such subsets being equally likely."""
    generator = np.random.default_rng([seed, chosen])
    found = np.zeros((queries, rows), dtype=np.bool_)
    for query in range(queries):
        found[query, generator.choice(rows, chosen, replace=False)] = True
    return found


def _error(data: Microdata, selected: Selected, bounds: SelectionBounds) -> Error:
    total = selected @ data.numbers
    average = total / selected.sum(axis=1)
    of_avg = (bounds.avg_upper - bounds.avg_lower) / average
    of_sum = (bounds.sum_upper - bounds.sum_lower) / total
    return Error(float(of_avg.mean()), float(of_sum.mean()))
