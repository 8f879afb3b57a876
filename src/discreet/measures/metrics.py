"""Registry of release metrics: name, definition, source, unit, and the better direction.

A metric reads a ``ReleasePair``; metrics of class sizes need only the release. Where a search can minimize
the same quantity, it is a cost of the same name (``measures.named_costs``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum
from math import isfinite
from typing import Any

from discreet.measures import release_metrics
from discreet.measures.generalized_table import ClassSizes, ReleasePair
from discreet.model.registry import Registry

MetricNumber = float | int | None


class Better(StrEnum):
    """Direction in which a metric is better for an analyst."""

    LOWER = "lower"
    HIGHER = "higher"
    NEITHER = "neither"


@dataclass(frozen=True)
class Metric:
    """A metric of releases.

    ``of`` returns None where the metric is undefined or too large to compute. ``of_table`` marks a metric
    that is informative for a table without generalization, for which most metrics are 0 or 1 by definition.
    """

    name: str
    title: str
    definition: str
    source: str
    unit: str
    better: Better
    of: Callable[[ReleasePair], MetricNumber]
    of_sizes: Callable[[ClassSizes, int | None], MetricNumber] | None = None
    of_table: bool = False


@dataclass(frozen=True)
class MetricValue:
    """A metric and its value; None where it is undefined."""

    metric: Metric
    value: MetricNumber

    @property
    def json_value(self) -> Any:
        """Value in JSON; an infinite one is the text ``infinite``."""
        return self.value if self.value is None or isfinite(self.value) else "infinite"


def metric_named(name: str) -> Metric:
    """Return the metric of a name; raise ``InputError`` for an unknown name."""
    return METRICS.named(name)


def metric_values(
    comparison: ReleasePair, metrics: Iterable[Metric] | None = None
) -> tuple[MetricValue, ...]:
    """Return the values of metrics, by default of all metrics, for a release and its original."""
    chosen = METRICS if metrics is None else metrics
    return tuple(MetricValue(metric, metric.of(comparison)) for metric in chosen)


def table_metric_values(comparison: ReleasePair) -> tuple[MetricValue, ...]:
    """Return the metrics that are informative for a table without generalization."""
    return metric_values(comparison, [metric for metric in METRICS if metric.of_table])


def size_metric_values(sizes: ClassSizes, k: int | None) -> tuple[MetricValue, ...]:
    """Return the metrics that an audit computes from class sizes; ``k`` normalizes C_AVG.

    If ``k`` is None, the size of the smallest class normalizes C_AVG.
    """
    return tuple(
        MetricValue(metric, metric.of_sizes(sizes, k)) for metric in METRICS if metric.of_sizes is not None
    )


def _size_metric(
    name: str,
    title: str,
    definition: str,
    source: str,
    unit: str,
    better: Better,
    of_sizes: Callable[[ClassSizes, int | None], MetricNumber],
    *,
    of_table: bool = True,
) -> Metric:
    def of(comparison: ReleasePair) -> MetricNumber:
        return of_sizes(comparison.class_sizes, comparison.k)

    return Metric(name, title, definition, source, unit, better, of, of_sizes, of_table)


_BUILT_IN: tuple[Metric, ...] = (
    _size_metric(
        "classes",
        "classes",
        "Number of equivalence classes; suppressed rows are in none.",
        "Bredereck et al. 2013 (output row types)",
        "classes",
        Better.HIGHER,
        lambda sizes, _: sizes.classes,
    ),
    _size_metric(
        "smallest-class",
        "smallest class",
        "Rows of the smallest class.",
        "Bredereck et al. 2013",
        "rows",
        Better.NEITHER,
        lambda sizes, _: sizes.smallest,
    ),
    _size_metric(
        "mean-class",
        "mean class",
        "Published rows divided by classes.",
        "Bredereck et al. 2013",
        "rows",
        Better.LOWER,
        lambda sizes, _: sizes.mean,
    ),
    _size_metric(
        "largest-class",
        "largest class",
        "Rows of the largest class.",
        "Bredereck et al. 2013",
        "rows",
        Better.LOWER,
        lambda sizes, _: sizes.largest,
    ),
    _size_metric(
        "c-dm",
        "discernibility C_DM",
        "The sum of the squares of the class sizes; a suppressed row adds all rows.",
        "Bayardo and Agrawal 2005; LeFevre et al. 2006",
        "rows²",
        Better.LOWER,
        lambda sizes, _: sizes.discernibility,
    ),
    _size_metric(
        "c-avg",
        "average class C_AVG",
        "All rows divided by classes, divided by k: 1 where every class has k rows.",
        "LeFevre, DeWitt and Ramakrishnan 2006",
        "times k",
        Better.LOWER,
        lambda sizes, k: sizes.normalized_average(k),
    ),
    _size_metric(
        "suppressed-rows",
        "suppressed rows",
        "Rows left out or starred, as the manifest says; without one, rows of stars and missing rows.",
        "Samarati 2001; Pilalidou and Vassiliadis",
        "rows",
        Better.LOWER,
        lambda sizes, _: sizes.suppressed,
        of_table=False,
    ),
    Metric(
        "suppressed-cells",
        "suppressed cells",
        "Cells that show their whole domain, those of suppressed rows included.",
        "Bredereck et al. 2013",
        "cells",
        Better.LOWER,
        release_metrics.suppressed_cells,
    ),
    Metric(
        "height",
        "height",
        "Sum of the levels of a full-domain release; none where an attribute shows several levels.",
        "Samarati 2001; Pilalidou and Vassiliadis",
        "levels",
        Better.LOWER,
        release_metrics.height,
    ),
    Metric(
        "precision",
        "precision",
        "1 − the mean of level / height over all cells.",
        "Sweeney 2002; Samarati 2001",
        "0 to 1",
        Better.HIGHER,
        release_metrics.precision,
    ),
    Metric(
        "loss",
        "loss",
        "(Π (1 + x))^(1/d) − 1, x an attribute's mean share of leaves covered, from 0 to 1.",
        "ARX's Loss; Iyengar 2002",
        "0 to 1",
        Better.LOWER,
        release_metrics.loss,
    ),
    Metric(
        "granularity",
        "granularity",
        "1 − the mean share of leaves that a cell covers beyond its own, normalized by the top's.",
        "ARX's granularity",
        "0 to 1",
        Better.HIGHER,
        release_metrics.granularity,
    ),
    Metric(
        "ncp",
        "normalized certainty penalty",
        "Sum over all cells of range / domain range (numbers) or leaves / all leaves (others).",
        "Xu and others 2006",
        "cells",
        Better.LOWER,
        release_metrics.normalized_certainty_penalty,
    ),
    Metric(
        "gcp",
        "global certainty penalty",
        "The normalized certainty penalty as a share of all cells.",
        "Ghinita and others 2007",
        "0 to 1",
        Better.LOWER,
        release_metrics.global_certainty_penalty,
    ),
    Metric(
        "entropy",
        "non-uniform entropy",
        "Bits by which a row's cells leave its leaves open, by the original's frequencies.",
        "de Waal and Willenborg 1999; Gionis and Tassa 2009",
        "bits per row",
        Better.LOWER,
        release_metrics.entropy,
    ),
    Metric(
        "kl-divergence",
        "KL divergence",
        "Σ p·log2(p/q) over the row types; q spreads each row evenly over what its cells cover.",
        "Kifer and Gehrke 2006",
        "bits",
        Better.LOWER,
        release_metrics.divergence,
    ),
    Metric(
        "ambiguity",
        "ambiguity",
        "Mean combinations of leaves that a row's cells cover.",
        "Goldberger and Tassa 2010",
        "combinations",
        Better.LOWER,
        release_metrics.ambiguity,
    ),
    Metric(
        "usefulness",
        "usefulness",
        "Mean over the classes of the spread of their original values, summed over attributes.",
        "Loukides and Shao 2008; Bredereck et al. 2013",
        "0 to attributes",
        Better.LOWER,
        release_metrics.usefulness,
        of_table=True,
    ),
)

METRICS: Registry[Metric] = Registry("the metric", "discreet.metrics", Metric, lambda: _BUILT_IN)
"""All metrics, including those of other packages."""
