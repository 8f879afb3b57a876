"""Mean relative errors of queries, (upper − lower) / actual, and experiments with arbitrary subsets.

One partition is published twice, generalized and permuted; then several partitions are permuted, of Adult
and of synthetic tables of several sizes and loss distributions. ``Ordering`` is a finding of the paper with
the figures that decide whether it holds (Zhang et al. 2007).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from discreet.permutation.partition_strategies import PartitionStrategy
from papers.aggregate_bounds import GroupedNumbers, SelectionBounds, bound_generalized, bound_permuted
from papers.charts import AxisScale, Panel, Series, draw_chart
from papers.comparison import Comparison, describe_ratios
from papers.permutation_data import (
    DEFAULT_E,
    DEFAULT_K,
    GENERALIZATION,
    LOSS_SENSITIVE,
    OPTIMIZED,
    PERMUTATION_SEED,
    RANDOM,
    BoxClasses,
    LeafMasks,
    Microdata,
    Partitions,
    age_losses,
    compute_partitions,
    generalize_to_most_classes,
)
from papers.reproduction import Context
from papers.section import Cell, ComparedTable, Plot, Section
from papers.synthetic_tables import ColumnDistribution, SyntheticColumn, generate_losses, generate_table

RowMasks = NDArray[np.bool_]
"""Rows that each query selects, at least one, shape ``(queries, rows)``."""


@dataclass(frozen=True)
class Error:
    """Mean relative errors of AVG and of SUM."""

    avg: float
    sum: float


HOLDS, AT_THE_ENDS, DOES_NOT = "holds", "at the ends only", "does not hold"


@dataclass(frozen=True)
class Ordering:
    """Finding of the paper: its name among the printed ones, the verdict, and the figures behind it."""

    name: str
    verdict: str
    figures: str

    @classmethod
    def of(cls, name: str, holds: bool, figures: str) -> Ordering:
        """Build a finding that is judged at every point of its table."""
        return cls(name, HOLDS if holds else DOES_NOT, figures)

    @classmethod
    def of_steps(cls, name: str, x: Sequence[float], *rising: Sequence[float], figures: str) -> Ordering:
        """Build a finding that series rise with ``x``.

        It holds if each step rises, and holds at the ends if only the last value exceeds the first; the
        text then names the points at which a step fails.
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
class ErrorCurves:
    """Errors by series along one axis, in the order of their addition."""

    label: str
    x: list[float] = field(default_factory=list)
    errors: dict[str, list[Error]] = field(default_factory=dict)

    def add(self, x: float, errors: Mapping[str, Error]) -> None:
        """Add one point of the axis."""
        self.x.append(x)
        for name, error in errors.items():
            self.errors.setdefault(name, []).append(error)

    def avg(self, name: str) -> list[float]:
        """Return the errors of AVG of one series."""
        return [error.avg for error in self.errors[name]]

    def table(self, name: str, title: str, note: str = "", *, sums: Sequence[str] = ()) -> ComparedTable:
        """Build a table: a row per point, a column per series, and a column of SUM for each of ``sums``."""
        rows = tuple(self._row(place) for place in range(len(self.x)))
        columns = (self.label, *self.errors, *(f"SUM: {series}" for series in sums))
        rows = tuple((*row, *self._sums(place, sums)) for place, row in enumerate(rows))
        return ComparedTable(name, title, columns, rows, note)

    def _row(self, place: int) -> tuple[Cell, ...]:
        shown = f"{self.x[place]:,.10g}"
        return (
            shown,
            *(Comparison(f"{shown}, {name}", errors[place].avg) for name, errors in self.errors.items()),
        )

    def _sums(self, place: int, names: Sequence[str]) -> Iterator[Cell]:
        for name in names:
            yield Comparison(f"{self.x[place]:g}, {name}, SUM", self.errors[name][place].sum)

    @property
    def coinciding(self) -> str:
        """Sentence on the series whose lines hide each other; empty if there are none."""
        by_line: dict[tuple[float, ...], list[str]] = {}
        for name in self.errors:
            by_line.setdefault(tuple(self.avg(name)), []).append(name)
        shown = [" and ".join(names) for names in by_line.values() if len(names) > 1]
        return f" One line: {'; '.join(shown)}." if shown else ""

    def panel(
        self, title: str = "", *, x_scale: AxisScale = AxisScale.LINEAR, y_scale: AxisScale = AxisScale.LINEAR
    ) -> Panel:
        """Build a panel of the errors of AVG as lines."""
        series = tuple(Series.of(name, self.x, self.avg(name)) for name in self.errors)
        ticks = tuple(self.x) if x_scale is not AxisScale.LINEAR else ()
        return Panel(
            series, self.label, "relative error", title, x_scale=x_scale, y_scale=y_scale, x_ticks=ticks
        )


def make_plot(name: str, title: str, panels: Sequence[Panel], caption: str) -> Plot:
    """Build a plot whose caption is also its description."""
    return Plot(name, title, draw_chart(title, panels, description=caption), caption)


def permuted_error(data: Microdata, labels: NDArray[np.int64], selected: RowMasks) -> Error:
    """Compute the error of a release with values permuted within groups."""
    values = GroupedNumbers.of(data.column, labels)
    return _relative_error(data, selected, bound_permuted(values, values.hits(selected)))


def generalized_error(classes: BoxClasses, masks: LeafMasks, selected: RowMasks) -> Error:
    """Compute the error of a generalized release.

    A class inside the query counts with all rows, a class that overlaps it with any number of its rows.
    """
    values = GroupedNumbers.of(classes.data.column, classes.labels)
    return _relative_error(classes.data, selected, bound_generalized(values, *classes.meets(masks)))


def generalized_subset_error(classes: BoxClasses, selected: RowMasks) -> Error:
    """Compute the error of a generalized release for a given selection of rows.

    A class counts with all rows if the selection contains all of them, whatever the condition is.
    """
    values = GroupedNumbers.of(classes.data.column, classes.labels)
    hits = values.hits(selected)
    return _relative_error(classes.data, selected, bound_generalized(values, hits == values.sizes, hits > 0))


def mean_error(errors: Sequence[Error]) -> Error:
    """Return the mean over several partitions."""
    return Error(float(np.mean([e.avg for e in errors])), float(np.mean([e.sum for e in errors])))


def draw_subsets(rows: int, chosen: int, queries: int, seed: int) -> RowMasks:
    """Draw queries that select ``chosen`` of the rows; all subsets are equally likely."""
    generator = np.random.default_rng([seed, chosen])
    found = np.zeros((queries, rows), dtype=np.bool_)
    for query in range(queries):
        found[query, generator.choice(rows, chosen, replace=False)] = True
    return found


def _relative_error(data: Microdata, selected: RowMasks, bounds: SelectionBounds) -> Error:
    total = selected @ data.numbers
    average = total / selected.sum(axis=1)
    of_avg = (bounds.avg_upper - bounds.avg_lower) / average
    of_sum = (bounds.sum_upper - bounds.sum_lower) / total
    return Error(float(of_avg.mean()), float(of_sum.mean()))


GENERALIZED, PERMUTED = "generalized", "permuted"
SUBSET_SIZES = (10, 25, 50, 100, 200, 400, 800, 1200)
_QUERIES, _QUICK_QUERIES = 500, 100
_STABLE_SHARE = 0.9


def query_count(context: Context) -> int:
    """Return the number of queries over which each error is averaged."""
    return _QUICK_QUERIES if context.quick else _QUERIES


def one_partition_section(context: Context, data: Microdata) -> tuple[Section, list[Ordering]]:
    """Compare the groups of an l-diverse generalization, published generalized and permuted."""
    classes = generalize_to_most_classes(data, DEFAULT_K)
    curves = ErrorCurves("rows selected")
    with context.reporter.stage("Asking arbitrary queries"):
        for chosen in SUBSET_SIZES:
            selected = draw_subsets(data.rows, chosen, query_count(context), PERMUTATION_SEED)
            generalized = generalized_subset_error(classes, selected)
            curves.add(
                chosen, {GENERALIZED: generalized, PERMUTED: permuted_error(data, classes.labels, selected)}
            )
    title = f"Relative error, {classes.count} groups of an l-diverse generalization, l = {DEFAULT_K}"
    text = (
        f"Each error is the mean over {query_count(context):,} random subsets of so many rows. The groups "
        f"are the classes of the full-domain generalization with l = {DEFAULT_K} that has the most of them: "
        f"{classes.levels}, where * is the top. As in the paper most quasi-identifiers are generalized to "
        "nothing. A class counts as known to be selected where all its rows are, the reading that favours "
        "generalization most."
    )
    table = curves.table("one_partition", title, sums=(GENERALIZED, PERMUTED))
    panel = curves.panel(x_scale=AxisScale.LOG)
    plot = make_plot(
        "arbitrary-queries", title, [panel], "Relative error of AVG against the number of rows selected."
    )
    section = Section("Arbitrary queries: generalization against permutation", text, (table,), (plot,))
    return section, _one_partition_orderings(curves)


def _one_partition_orderings(curves: ErrorCurves) -> list[Ordering]:
    wide, narrow = curves.avg(GENERALIZED), curves.avg(PERMUTED)
    most = [x for x in curves.x if x <= 0.6 * curves.x[-1] + 100]
    flat = min(wide[: len(most)]) / wide[0]
    beyond = f"{wide[-1]:.2f} with {curves.x[-1]:,.0f}"
    ratios = [w / n for w, n in zip(wide, narrow, strict=True)]
    return [
        Ordering.of(
            "generalized_over_twice",
            min(wide[: len(most)]) > 2,
            f"{min(wide[: len(most)]):.2f} to {max(wide):.2f} with up to {most[-1]:,.0f} rows selected; "
            f"{beyond}",
        ),
        Ordering.of(
            "permuted_below_generalized",
            min(ratios) > 1,
            describe_ratios(ratios),
        ),
        Ordering.of_steps(
            "permuted_falls",
            curves.x,
            [-error for error in narrow],
            figures=f"from {narrow[0]:.2f} with {curves.x[0]:g} rows to {narrow[-1]:.2f}",
        ),
        Ordering.of(
            "generalized_stays",
            flat > _STABLE_SHARE,
            f"{wide[0]:.2f} with {curves.x[0]:g} rows, {flat * wide[0]:.2f} or more with up to "
            f"{most[-1]:,.0f}; {beyond}; to stay is read as {_STABLE_SHARE:.0%} of the first, a threshold of "
            "ours",
        ),
    ]


def several_partitions_section(context: Context, data: Microdata) -> tuple[Section, list[Ordering]]:
    """Compare permutation over the partitions of all strategies."""
    classes = generalize_to_most_classes(data, DEFAULT_K)
    with context.reporter.stage("Partitioning by every strategy"):
        found = compute_partitions(context, data, classes.labels)
    curves = ErrorCurves("rows selected")
    with context.reporter.stage("Asking arbitrary queries of every partition"):
        for chosen in SUBSET_SIZES:
            curves.add(
                chosen,
                errors_by_partition(
                    data, found, draw_subsets(data.rows, chosen, query_count(context), PERMUTATION_SEED)
                ),
            )
    title = f"Relative error by partition, k = {DEFAULT_K}, e = {DEFAULT_E}"
    text = (
        f"All are permuted. The groups of generalization have {DEFAULT_K} distinct losses each, and no "
        "range is required of them, which favours them. Random groups are the mean over several draws. AVG "
        "and SUM have the same relative error, for the rows selected are counted exactly."
    )
    plot = make_plot(
        "partitions",
        title,
        [curves.panel(x_scale=AxisScale.LOG)],
        f"Relative error of AVG against the number of rows selected, by partition.{curves.coinciding}",
    )
    tables = (groups_table(data, found), curves.table("several_partitions", title))
    return Section("Arbitrary queries: partitioning strategies", text, tables, (plot,)), partition_orderings(
        curves
    )


def errors_by_partition(data: Microdata, found: Partitions, selected: RowMasks) -> Mapping[str, Error]:
    """Return the error of each partition; several draws of one strategy are averaged."""
    return {
        name: mean_error([permuted_error(data, labels, selected) for labels in drawn])
        for name, drawn in found.items()
    }


def groups_table(data: Microdata, found: Partitions) -> ComparedTable:
    """Build the table of the number of groups and their ranges, by partition."""
    rows: list[tuple[Cell, ...]] = []
    for name, drawn in found.items():
        counted = [_group_ranges(data, labels) for labels in drawn]
        groups, total, largest = (float(np.mean([c[i] for c in counted])) for i in range(3))
        rows.append(
            (
                name,
                Comparison(f"{name}, groups", round(groups)),
                Comparison(f"{name}, sum", round(total)),
                Comparison(f"{name}, largest", round(largest)),
            )
        )
    columns = ("partition", "groups", "sum of ranges", "largest range")
    return ComparedTable("groups", f"Groups, k = {DEFAULT_K}, e = {DEFAULT_E}", columns, tuple(rows))


def _group_ranges(data: Microdata, labels: NDArray[np.int64]) -> tuple[int, int, int]:
    order = np.lexsort((data.numbers, labels))
    first = np.flatnonzero(np.append(True, np.diff(labels[order]) != 0))
    last = np.append(first[1:], len(order)) - 1
    ranges = data.numbers[order][last] - data.numbers[order][first]
    return len(first), int(ranges.sum()), int(ranges.max())


def partition_orderings(curves: ErrorCurves, prefix: str = "") -> list[Ordering]:
    """Judge that optimized is below random and random below generalization, at every point."""
    optimized = [max(each) for each in zip(*(curves.avg(name) for name in OPTIMIZED), strict=True)]
    random, generalization = curves.avg(RANDOM), curves.avg(GENERALIZATION)
    return [
        Ordering.of(f"{prefix}optimized_below_random", *_compare_curves(curves, optimized, random)),
        Ordering.of(f"{prefix}random_below_generalization", *_compare_curves(curves, random, generalization)),
    ]


def _compare_curves(curves: ErrorCurves, small: Sequence[float], large: Sequence[float]) -> tuple[bool, str]:
    ratios = [l / s for s, l in zip(small, large, strict=True)]
    first = f"{small[0]:.2f} against {large[0]:.2f} at {curves.x[0]:g} {curves.label}"
    return min(ratios) > 1, f"{describe_ratios(ratios, 2)}; {first}"


SHAPE_ROWS, _QUICK_ROWS = (500, 1_000, 2_000, 4_000, 8_000), (500, 1_000)
_VALUES, _STEP, _SHAPE_SUBSET = 400, 10, 100
_SHAPE_STRATEGIES = (PartitionStrategy.MIN_SUM, PartitionStrategy.CONTIGUOUS_MIN_MAX)


def shape_table(context: Context, rows: int, distribution: ColumnDistribution) -> Microdata:
    """Generate people of Adult's ages whose loss, 10 to 4,000 in steps of 10, is independent of age."""
    age = generate_losses(1, 0.0).columns[0]
    labels = tuple(str(_STEP * (code + 1)) for code in range(_VALUES))
    deviation = _VALUES / 8 if distribution is ColumnDistribution.NORMAL else None
    loss = SyntheticColumn(
        LOSS_SENSITIVE, _VALUES, distribution, deviation=deviation, labels=labels, role="sensitive"
    )
    table = generate_table((age, loss), rows, seed=PERMUTATION_SEED)
    return age_losses(context, table, f"{distribution}-{rows}")


def shapes_section(context: Context) -> Section:
    """Build a table and a panel per distribution, with one point per number of rows."""
    found = {distribution: _shape_curves(context, distribution) for distribution in ColumnDistribution}
    tables = tuple(curves.table(f"shape_{name}", f"Losses: {name}") for name, curves in found.items())
    panels = [curves.panel(str(name), x_scale=AxisScale.LOG) for name, curves in found.items()]
    title = f"Relative error by rows and distribution of the loss, k = {DEFAULT_K}, e = {DEFAULT_E}"
    text = (
        f"Synthetic: people of Adult's ages, losses of up to {_VALUES} values from {_STEP} to "
        f"{_VALUES * _STEP:,} drawn by themselves. Arbitrary queries of {_SHAPE_SUBSET} rows. "
        f"{_describe_orders(found)} "
        "The paper names such tables and prints nothing of them."
    )
    caption = "Relative error of AVG against the number of rows; all are permuted."
    plot = make_plot("sizes-and-distributions", title, panels, caption)
    return Section("Tables of several sizes and distributions (synthetic)", text, tables, (plot,))


def _shape_curves(context: Context, distribution: ColumnDistribution) -> ErrorCurves:
    curves = ErrorCurves("rows")
    sizes = _QUICK_ROWS if context.quick else SHAPE_ROWS
    drawn = {rows: shape_table(context, rows, distribution) for rows in sizes}
    with context.reporter.stage(f"Asking tables of {distribution} losses"):
        for rows, data in drawn.items():
            groups = compute_partitions(
                context, data, generalize_to_most_classes(data, DEFAULT_K).labels, _SHAPE_STRATEGIES
            )
            selected = draw_subsets(rows, _SHAPE_SUBSET, query_count(context), PERMUTATION_SEED)
            curves.add(rows, errors_by_partition(data, groups, selected))
    return curves


def _describe_orders(found: Mapping[ColumnDistribution, ErrorCurves]) -> str:
    """Count in words the tables whose order is the one that the paper finds on Adult."""
    triples = [
        each
        for curves in found.values()
        for each in zip(
            curves.avg(PartitionStrategy.MIN_SUM), curves.avg(RANDOM), curves.avg(GENERALIZATION), strict=True
        )
    ]
    holding = sum(optimized < random < generalization for optimized, random, generalization in triples)
    return (
        "The least sum errs less than random groups, and these less than those of generalization, in "
        f"{holding} of {len(triples)} tables."
    )
