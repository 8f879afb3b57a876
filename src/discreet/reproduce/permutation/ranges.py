"""Range queries: windows of age over partitions that keep age, and ranges of several quasi-identifiers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from discreet.permutation.partitions import PartitionStrategy
from discreet.plots.chart import Scale
from discreet.printing.document import count
from discreet.reproduce.comparison import times_smaller
from discreet.reproduce.context import Context
from discreet.reproduce.permutation.arbitrary import GENERALIZED, errors_of, of_partitions, queries
from discreet.reproduce.permutation.classes import Classes, Masks, most_classes, selected
from discreet.reproduce.permutation.errors import Curves, Error, Ordering, generalized_error, plot_of
from discreet.reproduce.permutation.microdata import Microdata
from discreet.reproduce.permutation.strategies import GENERALIZATION, SEED, K, Partitions, partitions
from discreet.reproduce.section import Section

WIDTHS, _QUICK_WIDTHS = (1, 2, 5, 10, 15, 20, 30, 40, 60), (1, 2, 5, 15, 60)
_SHARES = (20, 30, 40, 50, 60, 70, 80, 90)
_RESTRICTED = 3
_AGE_LEVEL = 2
_OUTLIERS = 0.01


def windows(data: Microdata, width: int) -> Masks:
    """Every window of ``width`` years of age that selects a row."""
    place = data.frequency_set.attributes.index("age")
    ages = np.array([int(leaf) for leaf in data.hierarchies[place].leaves])
    mask = np.stack(
        [(ages >= low) & (ages < low + width) for low in range(ages.min(), ages.max() - width + 2)]
    )
    return _asking({place: mask}, data)


def ranges(data: Microdata, share: int, number: int) -> Masks:
    """Random ranges of ``share`` percent of the leaves of three quasi-identifiers, drawn for each query."""
    draw = np.random.default_rng([SEED, share])
    masks = {i: np.ones((number, len(h.leaves)), dtype=np.bool_) for i, h in enumerate(data.hierarchies)}
    for query in range(number):
        for place in draw.choice(len(masks), min(_RESTRICTED, len(masks)), replace=False).tolist():
            leaves = masks[place].shape[1]
            length = max(1, round(share * leaves / 100))
            low = int(draw.integers(0, leaves - length + 1))
            masks[place][query] = (np.arange(leaves) >= low) & (np.arange(leaves) < low + length)
    return _asking(masks, data)


def _asking(masks: Masks, data: Microdata) -> Masks:
    some = np.flatnonzero(selected(data, masks).any(axis=1))
    return {place: mask[some] for place, mask in masks.items()}


def of_age(context: Context, data: Microdata, title: str, name: str) -> tuple[Section, list[Ordering]]:
    """Windows of age, over a generalization that keeps age."""
    classes = most_classes(data, K, max_level={"age": _AGE_LEVEL}, suppressed=_OUTLIERS)
    with context.reporter.stage(f"Asking ranges of age: {title}"):
        found = partitions(context, classes.data, classes.labels)
        curves = window_curves(classes, found, _QUICK_WIDTHS if context.quick else WIDTHS)
    text = (
        f"SELECT AVG(capital_loss) WHERE age BETWEEN x AND x + width - 1, the mean over every x. As in the "
        f"paper a generalization is taken that keeps age, and outliers that forbid it are left out: "
        f"{count(classes.dropped, 'row')}. Levels: {classes.levels}; "
        f"{count(classes.count, 'class', 'classes')}. '{GENERALIZED}' and '{GENERALIZATION}' have the same "
        "groups: the former publishes them generalized, the latter permuted, as all others are."
    )
    plot = plot_of(
        name,
        title,
        [curves.panel(y_scale=Scale.LOG)],
        f"Relative error of AVG against the width of a window of age.{curves.coinciding}",
    )
    return Section(title, text, (curves.table(name.replace("-", "_"), title),), (plot,)), _of_age(
        curves, name
    )


def window_curves(classes: Classes, found: Partitions, widths: Sequence[int]) -> Curves:
    """Errors of windows of age: generalized classes, then every partition permuted."""
    curves = Curves("years")
    for width in widths:
        masks = windows(classes.data, width)
        rows = selected(classes.data, masks)
        errors: dict[str, Error] = {GENERALIZED: generalized_error(classes, masks, rows)}
        curves.add(width, errors | dict(errors_of(classes.data, found, rows)))
    return curves


def of_several(context: Context, data: Microdata) -> tuple[Section, list[Ordering]]:
    """Ranges of three quasi-identifiers, over the generalization that the arbitrary queries have."""
    classes, curves = most_classes(data, K), Curves("% of the leaves")
    title = "Range queries over all quasi-identifiers"
    with context.reporter.stage("Asking ranges of several quasi-identifiers"):
        found = partitions(context, data, classes.labels)
        for share in _SHARES[1::2] if context.quick else _SHARES:
            masks = ranges(data, share, queries(context))
            rows = selected(data, masks)
            errors: dict[str, Error] = {GENERALIZED: generalized_error(classes, masks, rows)}
            curves.add(share, errors | dict(errors_of(data, found, rows)))
    text = (
        "Each query asks for AVG(capital_loss) over random ranges of so many percent of the leaves of three "
        f"quasi-identifiers, drawn for each query, in the order of the hierarchies. Levels: {classes.levels}."
    )
    plot = plot_of(
        "several-ranges",
        title,
        [curves.panel(y_scale=Scale.LOG)],
        f"Relative error of AVG against the length of the ranges.{curves.coinciding}",
    )
    wide, narrow = curves.avg(GENERALIZED), curves.avg(GENERALIZATION)
    ratios = [w / n for w, n in zip(wide, narrow, strict=True)]
    orderings = [
        Ordering.of(
            "several_permuted_below_generalized",
            min(ratios) > 1,
            times_smaller(ratios),
        ),
        *of_partitions(curves, "several_"),
    ]
    return Section(title, text, (curves.table("several_ranges", title),), (plot,)), orderings


def _of_age(curves: Curves, name: str) -> list[Ordering]:
    wide, narrow = curves.avg(GENERALIZED), curves.avg(GENERALIZATION)
    prefix = name.replace("-", "_")
    below = [w / n for w, n in zip(wide, narrow, strict=True)]
    optimized = curves.avg(PartitionStrategy.MIN_SUM)
    against = [n / o for n, o in zip(narrow, optimized, strict=True)]
    return [
        Ordering.of(
            f"{prefix}_permuted_below_generalized",
            min(below) > 1,
            times_smaller(below),
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
