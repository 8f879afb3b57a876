"""Range queries over permuted and generalized tables: age, several quasi-identifiers, correlated losses.

Windows of age are queried over partitions that keep age, and over synthetic tables whose loss depends on age
to different degrees (Zhang et al. 2007).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from discreet.permutation.partition_strategies import PartitionStrategy
from discreet.printing.document import format_quantity
from papers.charts import AxisScale
from papers.comparison import describe_ratios
from papers.permutation_data import (
    DEFAULT_E,
    DEFAULT_K,
    GENERALIZATION,
    PERMUTATION_SEED,
    RANDOM,
    BoxClasses,
    LeafMasks,
    Microdata,
    Partitions,
    compute_partitions,
    generalize_to_most_classes,
    select_rows,
    synthetic_losses,
)
from papers.permutation_errors import (
    GENERALIZED,
    Error,
    ErrorCurves,
    Ordering,
    errors_by_partition,
    generalized_error,
    make_plot,
    partition_orderings,
    query_count,
)
from papers.reproduction import Context
from papers.section import Section
from papers.synthetic_tables import PER_YEAR

WIDTHS, _QUICK_WIDTHS = (1, 2, 5, 10, 15, 20, 30, 40, 60), (1, 2, 5, 15, 60)
_SHARES = (20, 30, 40, 50, 60, 70, 80, 90)
_RESTRICTED = 3
_AGE_LEVEL = 2
_OUTLIERS = 0.01


def age_windows(data: Microdata, width: int) -> LeafMasks:
    """Return every window of ``width`` years of age that selects a row."""
    place = data.frequency_set.attributes.index("age")
    ages = np.array([int(leaf) for leaf in data.hierarchies[place].leaves])
    mask = np.stack(
        [(ages >= low) & (ages < low + width) for low in range(ages.min(), ages.max() - width + 2)]
    )
    return _selecting({place: mask}, data)


def draw_ranges(data: Microdata, share: int, number: int) -> LeafMasks:
    """Draw ranges of ``share`` percent of the leaves of three quasi-identifiers, new ones per query."""
    draw = np.random.default_rng([PERMUTATION_SEED, share])
    masks = {i: np.ones((number, len(h.leaves)), dtype=np.bool_) for i, h in enumerate(data.hierarchies)}
    for query in range(number):
        for place in draw.choice(len(masks), min(_RESTRICTED, len(masks)), replace=False).tolist():
            leaves = masks[place].shape[1]
            length = max(1, round(share * leaves / 100))
            low = int(draw.integers(0, leaves - length + 1))
            masks[place][query] = (np.arange(leaves) >= low) & (np.arange(leaves) < low + length)
    return _selecting(masks, data)


def _selecting(masks: LeafMasks, data: Microdata) -> LeafMasks:
    some = np.flatnonzero(select_rows(data, masks).any(axis=1))
    return {place: mask[some] for place, mask in masks.items()}


def age_section(context: Context, data: Microdata, title: str, name: str) -> tuple[Section, list[Ordering]]:
    """Compare windows of age, over a generalization that keeps age."""
    classes = generalize_to_most_classes(data, DEFAULT_K, max_level={"age": _AGE_LEVEL}, suppressed=_OUTLIERS)
    with context.reporter.stage(f"Asking ranges of age: {title}"):
        found = compute_partitions(context, classes.data, classes.labels)
        curves = window_curves(classes, found, _QUICK_WIDTHS if context.quick else WIDTHS)
    text = (
        f"SELECT AVG(capital_loss) WHERE age BETWEEN x AND x + width - 1, the mean over every x. As in the "
        f"paper a generalization is taken that keeps age, and outliers that forbid it are left out: "
        f"{format_quantity(classes.dropped, 'row')}. Levels: {classes.levels}; "
        f"{format_quantity(classes.count, 'class', 'classes')}. '{GENERALIZED}' and '{GENERALIZATION}' have "
        "the same groups: the former publishes them generalized, the latter permuted, as all others are."
    )
    plot = make_plot(
        name,
        title,
        [curves.panel(y_scale=AxisScale.LOG)],
        f"Relative error of AVG against the width of a window of age.{curves.coinciding}",
    )
    return Section(title, text, (curves.table(name.replace("-", "_"), title),), (plot,)), _age_orderings(
        curves, name
    )


def window_curves(classes: BoxClasses, found: Partitions, widths: Sequence[int]) -> ErrorCurves:
    """Return the errors of windows of age: generalized classes, then every partition permuted."""
    curves = ErrorCurves("years")
    for width in widths:
        masks = age_windows(classes.data, width)
        rows = select_rows(classes.data, masks)
        errors: dict[str, Error] = {GENERALIZED: generalized_error(classes, masks, rows)}
        curves.add(width, errors | dict(errors_by_partition(classes.data, found, rows)))
    return curves


def of_several(context: Context, data: Microdata) -> tuple[Section, list[Ordering]]:
    """Compare ranges of three quasi-identifiers, over the generalization of the arbitrary queries."""
    classes, curves = generalize_to_most_classes(data, DEFAULT_K), ErrorCurves("% of the leaves")
    title = "Range queries over all quasi-identifiers"
    with context.reporter.stage("Asking ranges of several quasi-identifiers"):
        found = compute_partitions(context, data, classes.labels)
        for share in _SHARES[1::2] if context.quick else _SHARES:
            masks = draw_ranges(data, share, query_count(context))
            rows = select_rows(data, masks)
            errors: dict[str, Error] = {GENERALIZED: generalized_error(classes, masks, rows)}
            curves.add(share, errors | dict(errors_by_partition(data, found, rows)))
    text = (
        "Each query asks for AVG(capital_loss) over random ranges of so many percent of the leaves of three "
        f"quasi-identifiers, drawn for each query, in the order of the hierarchies. Levels: {classes.levels}."
    )
    plot = make_plot(
        "several-ranges",
        title,
        [curves.panel(y_scale=AxisScale.LOG)],
        f"Relative error of AVG against the length of the ranges.{curves.coinciding}",
    )
    wide, narrow = curves.avg(GENERALIZED), curves.avg(GENERALIZATION)
    ratios = [w / n for w, n in zip(wide, narrow, strict=True)]
    orderings = [
        Ordering.of(
            "several_permuted_below_generalized",
            min(ratios) > 1,
            describe_ratios(ratios),
        ),
        *partition_orderings(curves, "several_"),
    ]
    return Section(title, text, (curves.table("several_ranges", title),), (plot,)), orderings


def _age_orderings(curves: ErrorCurves, name: str) -> list[Ordering]:
    wide, narrow = curves.avg(GENERALIZED), curves.avg(GENERALIZATION)
    prefix = name.replace("-", "_")
    below = [w / n for w, n in zip(wide, narrow, strict=True)]
    optimized = curves.avg(PartitionStrategy.MIN_SUM)
    against = [n / o for n, o in zip(narrow, optimized, strict=True)]
    return [
        Ordering.of(
            f"{prefix}_permuted_below_generalized",
            min(below) > 1,
            describe_ratios(below),
        ),
        Ordering.of_steps(
            f"{prefix}_falls",
            curves.x,
            [-error for error in wide],
            [-error for error in narrow],
            figures=f"generalized from {wide[0]:.2f} to {wide[-1]:.3f}, "
            f"permuted from {narrow[0]:.2f} to {narrow[-1]:.3f}",
        ),
        Ordering.of(
            f"{prefix}_generalization_not_competitive",
            min(against) > 1,
            f"{min(against):.2f} to {max(against):.2f} times the error of the least sum",
        ),
    ]


DEVIATIONS = (0, 1, 5, 20, 50, 100, 200, 500, 2000)
_CORRELATION_ROWS, _WINDOW_WIDTH = 3_000, 20
_STRONG_DEVIATION = 50
_OPTIMIZED_STRATEGIES = (
    PartitionStrategy.MIN_SUM,
    PartitionStrategy.CONTIGUOUS_MIN_MAX,
    PartitionStrategy.QI_AWARE,
)
"""Strategies without the exact least maximum, which is slow with thousands of distinct losses."""


def correlation_section(context: Context) -> tuple[Section, list[Ordering]]:
    """Measure the errors against the standard deviation of the loss at one age."""
    curves, levels = ErrorCurves("deviation"), []
    drawn = {
        deviation: synthetic_losses(context, _CORRELATION_ROWS, deviation)
        for deviation in (DEVIATIONS[::2] if context.quick else DEVIATIONS)
    }
    with context.reporter.stage("Asking tables of several correlations") as progress:
        for done, (deviation, data) in enumerate(drawn.items()):
            classes = generalize_to_most_classes(data, DEFAULT_K)
            levels.append(f"{deviation}: {classes.count}")
            masks = age_windows(data, _WINDOW_WIDTH)
            rows = select_rows(data, masks)
            errors: dict[str, Error] = {GENERALIZED: generalized_error(classes, masks, rows)}
            found = compute_partitions(context, data, classes.labels, _OPTIMIZED_STRATEGIES)
            errors |= dict(errors_by_partition(data, found, rows))
            curves.add(deviation, errors)
            progress(done + 1, len(drawn))
    title = f"Windows of {_WINDOW_WIDTH} years, by the loss's deviation at one age"
    text = (
        f"{_CORRELATION_ROWS:,} people of Adult's schema, age as the only quasi-identifier. The loss is "
        f"{PER_YEAR} a year of age and normal noise of so much standard deviation (the paper's variances are "
        f"lost): 0 is a strict dependence, 2,000 nearly none. k = {DEFAULT_K}, e = {DEFAULT_E}; of "
        f"generalization only {DEFAULT_K} distinct losses are required. Its classes by deviation: "
        f"{', '.join(levels)}."
    )
    plot = make_plot(
        "correlation",
        title,
        [curves.panel(x_scale=AxisScale.COUNTS, y_scale=AxisScale.LOG)],
        f"Relative error of AVG against the standard deviation of the loss at one age.{curves.coinciding}",
    )
    return Section(
        "Correlation", text, (curves.table("correlation", title),), (plot,)
    ), _correlation_orderings(curves)


def _correlation_orderings(curves: ErrorCurves) -> list[Ordering]:
    generalization = curves.avg(GENERALIZATION)
    optimized, random = curves.avg(PartitionStrategy.MIN_SUM), curves.avg(RANDOM)
    strong = [i for i, x in enumerate(curves.x) if 0 < x <= _STRONG_DEVIATION]
    against = [generalization[i] / optimized[i] for i in range(len(curves.x))]
    poor = [random[i] / generalization[i] for i in range(len(curves.x))]
    first, last = strong[0], len(curves.x) - 1
    return [
        Ordering.of(
            "drops_then_rises",
            generalization[0] > generalization[first]
            and all(earlier < later for earlier, later in pairwise(generalization[first:])),
            f"{generalization[0]:.2f} at 0, {generalization[first]:.2f} at {curves.x[first]:g}, "
            f"{generalization[last]:.2f} at {curves.x[last]:,.0f}",
        ),
        Ordering.of(
            "competitive_if_correlated",
            all(against[i] < poor[i] for i in strong),
            f"{_span(against, strong)} times the error of the least sum, random {_span(poor, strong)} times "
            f"that, up to {_STRONG_DEVIATION}",
        ),
        Ordering.of(
            "not_competitive_without",
            against[last] > poor[last],
            f"{against[last]:.1f} times the error of the least sum, random {poor[last]:.1f} times that, at "
            f"{curves.x[last]:,.0f}",
        ),
        Ordering.of(
            "random_is_poor",
            all(poor[i] > 1 for i in strong),
            f"{_span(poor, strong)} times the error of generalization up to {_STRONG_DEVIATION}",
        ),
    ]


def _span(values: Sequence[float], places: Sequence[int]) -> str:
    chosen = [values[place] for place in places]
    return f"{min(chosen):.1f} to {max(chosen):.1f}"
