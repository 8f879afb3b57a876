"""Arbitrary queries: subsets of the rows, over one partition published in two ways, and over several."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from discreet.plots.chart import Scale
from discreet.reproduce.comparison import Comparison, times_smaller
from discreet.reproduce.context import Context
from discreet.reproduce.permutation.classes import most_classes
from discreet.reproduce.permutation.errors import (
    Curves,
    Error,
    Ordering,
    Selected,
    arbitrary,
    generalized_subset_error,
    mean_error,
    permuted_error,
    plot_of,
)
from discreet.reproduce.permutation.microdata import Microdata
from discreet.reproduce.permutation.strategies import (
    GENERALIZATION,
    OPTIMIZED,
    RANDOM,
    SEED,
    E,
    K,
    Partitions,
    partitions,
)
from discreet.reproduce.section import Cell, ComparedTable, Section

GENERALIZED, PERMUTED = "generalized", "permuted"
CHOSEN = (10, 25, 50, 100, 200, 400, 800, 1200)
_QUERIES, _QUICK_QUERIES = 500, 100
_STAYS = 0.9


def queries(context: Context) -> int:
    """How many queries each error is the mean of."""
    return _QUICK_QUERIES if context.quick else _QUERIES


def one_partition(context: Context, data: Microdata) -> tuple[Section, list[Ordering]]:
    """The groups of an l-diverse generalization, generalized and permuted."""
    classes = most_classes(data, K)
    curves = Curves("rows selected")
    with context.reporter.stage("Asking arbitrary queries"):
        for chosen in CHOSEN:
            selected = arbitrary(data.rows, chosen, queries(context), SEED)
            generalized = generalized_subset_error(classes, selected)
            curves.add(
                chosen, {GENERALIZED: generalized, PERMUTED: permuted_error(data, classes.labels, selected)}
            )
    title = f"Relative error, {classes.count} groups of an l-diverse generalization, l = {K}"
    text = (
        f"Each error is the mean over {queries(context):,} random subsets of so many rows. The groups are "
        f"the classes of the full-domain generalization with l = {K} that has the most of them: "
        f"{classes.levels}, where * is the top. As in the paper most quasi-identifiers are generalized to "
        "nothing. A class counts as known to be selected where all its rows are, the reading that favours "
        "generalization most."
    )
    table = curves.table("one_partition", title, sums=(GENERALIZED, PERMUTED))
    panel = curves.panel(x_scale=Scale.LOG)
    plot = plot_of(
        "arbitrary-queries", title, [panel], "Relative error of AVG against the number of rows selected."
    )
    section = Section("Arbitrary queries: generalization against permutation", text, (table,), (plot,))
    return section, _of_one_partition(curves)


def _of_one_partition(curves: Curves) -> list[Ordering]:
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
            times_smaller(ratios),
        ),
        Ordering.of_steps(
            "permuted_falls",
            curves.x,
            [-error for error in narrow],
            figures=f"from {narrow[0]:.2f} with {curves.x[0]:g} rows to {narrow[-1]:.2f}",
        ),
        Ordering.of(
            "generalized_stays",
            flat > _STAYS,
            f"{wide[0]:.2f} with {curves.x[0]:g} rows, {flat * wide[0]:.2f} or more with up to "
            f"{most[-1]:,.0f}; {beyond}; to stay is read as {_STAYS:.0%} of the first, a threshold of ours",
        ),
    ]


def several_partitions(context: Context, data: Microdata) -> tuple[Section, list[Ordering]]:
    """Permutation over the partitions of every strategy."""
    classes = most_classes(data, K)
    with context.reporter.stage("Partitioning by every strategy"):
        found = partitions(context, data, classes.labels)
    curves = Curves("rows selected")
    with context.reporter.stage("Asking arbitrary queries of every partition"):
        for chosen in CHOSEN:
            curves.add(chosen, errors_of(data, found, arbitrary(data.rows, chosen, queries(context), SEED)))
    title = f"Relative error by partition, k = {K}, e = {E}"
    text = (
        f"All are permuted. The groups of generalization have {K} distinct losses each, and no range is "
        "asked of them, which favours them. Random groups are the mean over several draws. AVG and SUM have "
        "the same relative error, for the rows selected are counted exactly."
    )
    plot = plot_of(
        "partitions",
        title,
        [curves.panel(x_scale=Scale.LOG)],
        f"Relative error of AVG against the number of rows selected, by partition.{curves.coinciding}",
    )
    tables = (groups_table(data, found), curves.table("several_partitions", title))
    return Section("Arbitrary queries: partitioning strategies", text, tables, (plot,)), of_partitions(curves)


def errors_of(data: Microdata, found: Partitions, selected: Selected) -> Mapping[str, Error]:
    """The error of each partition; several draws of one strategy are averaged."""
    return {
        name: mean_error([permuted_error(data, labels, selected) for labels in drawn])
        for name, drawn in found.items()
    }


def groups_table(data: Microdata, found: Partitions) -> ComparedTable:
    """The groups of each partition, and their ranges."""
    rows: list[tuple[Cell, ...]] = []
    for name, drawn in found.items():
        counted = [_ranges(data, labels) for labels in drawn]
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
    return ComparedTable("groups", f"Groups, k = {K}, e = {E}", columns, tuple(rows))


def _ranges(data: Microdata, labels: NDArray[np.int64]) -> tuple[int, int, int]:
    order = np.lexsort((data.numbers, labels))
    first = np.flatnonzero(np.append(True, np.diff(labels[order]) != 0))
    last = np.append(first[1:], len(order)) - 1
    ranges = data.numbers[order][last] - data.numbers[order][first]
    return len(first), int(ranges.sum()), int(ranges.max())


def of_partitions(curves: Curves, prefix: str = "") -> list[Ordering]:
    """Optimized below random, random below generalization, at every place."""
    optimized = [max(each) for each in zip(*(curves.avg(name) for name in OPTIMIZED), strict=True)]
    random, generalization = curves.avg(RANDOM), curves.avg(GENERALIZATION)
    return [
        Ordering.of(f"{prefix}optimized_below_random", *_below(curves, optimized, random)),
        Ordering.of(f"{prefix}random_below_generalization", *_below(curves, random, generalization)),
    ]


def _below(curves: Curves, small: Sequence[float], large: Sequence[float]) -> tuple[bool, str]:
    ratios = [l / s for s, l in zip(small, large, strict=True)]
    first = f"{small[0]:.2f} against {large[0]:.2f} at {curves.x[0]:g} {curves.label}"
    return min(ratios) > 1, f"{times_smaller(ratios, 2)}; {first}"
