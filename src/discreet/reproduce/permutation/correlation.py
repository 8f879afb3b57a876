"""Synthetic tables in which the loss follows age, more or less: windows of age over every partition."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from discreet.permutation.partitions import PartitionStrategy
from discreet.plots.chart import Scale
from discreet.reproduce.context import Context
from discreet.reproduce.permutation.arbitrary import GENERALIZED, errors_of
from discreet.reproduce.permutation.classes import most_classes, selected
from discreet.reproduce.permutation.errors import Curves, Error, Ordering, generalized_error, plot_of
from discreet.reproduce.permutation.microdata import synthetic
from discreet.reproduce.permutation.ranges import windows
from discreet.reproduce.permutation.strategies import GENERALIZATION, RANDOM, E, K, partitions
from discreet.reproduce.section import Section
from discreet.sample.losses import PER_YEAR

DEVIATIONS = (0, 1, 5, 20, 50, 100, 200, 500, 2000)
_ROWS, _WIDTH = 3_000, 20
_STRONG = 50
_OPTIMIZED = (
    PartitionStrategy.MIN_SUM,
    PartitionStrategy.CONTIGUOUS_MIN_MAX,
    PartitionStrategy.QI_AWARE,
)
"""Not the exact least maximum, which thousands of distinct losses make slow."""


def correlation(context: Context) -> tuple[Section, list[Ordering]]:
    """The errors against the standard deviation of the loss at one age."""
    curves, levels = Curves("deviation"), []
    drawn = {
        deviation: synthetic(context, _ROWS, deviation)
        for deviation in (DEVIATIONS[::2] if context.quick else DEVIATIONS)
    }
    with context.reporter.stage("Asking tables of several correlations") as progress:
        for done, (deviation, data) in enumerate(drawn.items()):
            classes = most_classes(data, K)
            levels.append(f"{deviation}: {classes.count}")
            masks = windows(data, _WIDTH)
            rows = selected(data, masks)
            errors: dict[str, Error] = {GENERALIZED: generalized_error(classes, masks, rows)}
            found = partitions(context, data, classes.labels, _OPTIMIZED)
            errors |= dict(errors_of(data, found, rows))
            curves.add(deviation, errors)
            progress(done + 1, len(drawn))
    title = f"Windows of {_WIDTH} years, by the loss's deviation at one age"
    text = (
        f"{_ROWS:,} people of Adult's schema, age alone a quasi-identifier. The loss is {PER_YEAR} a year of "
        f"age and normal noise of so much standard deviation (the paper's variances are lost): 0 is a strict "
        f"dependence, 2,000 nearly none. k = {K}, e = {E}; of generalization only {K} distinct losses are "
        f"asked. Its classes by deviation: {', '.join(levels)}."
    )
    plot = plot_of(
        "correlation",
        title,
        [curves.panel(x_scale=Scale.COUNTS, y_scale=Scale.LOG)],
        f"Relative error of AVG against the standard deviation of the loss at one age.{curves.coinciding}",
    )
    return Section("Correlation", text, (curves.table("correlation", title),), (plot,)), _orderings(curves)


def _orderings(curves: Curves) -> list[Ordering]:
    generalization = curves.avg(GENERALIZATION)
    optimized, random = curves.avg(PartitionStrategy.MIN_SUM), curves.avg(RANDOM)
    strong = [i for i, x in enumerate(curves.x) if 0 < x <= _STRONG]
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
            f"that, up to {_STRONG}",
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
            f"{_span(poor, strong)} times the error of generalization up to {_STRONG}",
        ),
    ]


def _span(values: Sequence[float], places: Sequence[int]) -> str:
    chosen = [values[place] for place in places]
    return f"{min(chosen):.1f} to {max(chosen):.1f}"
