"""Synthetic tables of several sizes, their losses of several distributions: arbitrary queries of each.

The paper populates its schema with different numbers of tuples and distributions of the loss, and prints
nothing of what came out.
"""

from __future__ import annotations

from collections.abc import Mapping

from discreet.permutation.strategies import PartitionStrategy
from discreet.plots.chart import Scale
from discreet.reproduce.context import Context
from discreet.reproduce.permutation.arbitrary import errors_of, queries
from discreet.reproduce.permutation.classes import most_classes
from discreet.reproduce.permutation.errors import Curves, arbitrary, plot_of
from discreet.reproduce.permutation.microdata import SENSITIVE, Microdata, of_ages
from discreet.reproduce.permutation.strategies import GENERALIZATION, RANDOM, SEED, E, K, partitions
from discreet.reproduce.section import Section
from discreet.sample.losses import losses_table
from discreet.sample.synthetic import Distribution, SyntheticColumn, synthetic_table

ROWS, _QUICK_ROWS = (500, 1_000, 2_000, 4_000, 8_000), (500, 1_000)
_VALUES, _STEP, _CHOSEN = 400, 10, 100
_OPTIMIZED = (PartitionStrategy.MIN_SUM, PartitionStrategy.CONTIGUOUS_MIN_MAX)


def table_of(context: Context, rows: int, distribution: Distribution) -> Microdata:
    """People of Adult's ages whose loss, 10 to 4,000 in steps of 10, has nothing to do with their age."""
    age = losses_table(1, 0.0).columns[0]
    labels = tuple(str(_STEP * (code + 1)) for code in range(_VALUES))
    deviation = _VALUES / 8 if distribution is Distribution.NORMAL else None
    loss = SyntheticColumn(
        SENSITIVE, _VALUES, distribution, deviation=deviation, labels=labels, role="sensitive"
    )
    table = synthetic_table((age, loss), rows, seed=SEED)
    return of_ages(context, table, f"{distribution}-{rows}")


def shapes(context: Context) -> Section:
    """A table and a panel by distribution, rows across."""
    found = {distribution: _curves(context, distribution) for distribution in Distribution}
    tables = tuple(curves.table(f"shape_{name}", f"Losses: {name}") for name, curves in found.items())
    panels = [curves.panel(str(name), x_scale=Scale.LOG) for name, curves in found.items()]
    title = f"Relative error by rows and distribution of the loss, k = {K}, e = {E}"
    text = (
        f"Synthetic: people of Adult's ages, losses of up to {_VALUES} values from {_STEP} to "
        f"{_VALUES * _STEP:,} drawn by themselves. Arbitrary queries of {_CHOSEN} rows. {_told(found)} "
        "The paper names such tables and prints nothing of them."
    )
    caption = "Relative error of AVG against the number of rows; all are permuted."
    plot = plot_of("sizes-and-distributions", title, panels, caption)
    return Section("Tables of several sizes and distributions (synthetic)", text, tables, (plot,))


def _curves(context: Context, distribution: Distribution) -> Curves:
    curves = Curves("rows")
    sizes = _QUICK_ROWS if context.quick else ROWS
    drawn = {rows: table_of(context, rows, distribution) for rows in sizes}
    with context.reporter.stage(f"Asking tables of {distribution} losses"):
        for rows, data in drawn.items():
            groups = partitions(context, data, most_classes(data, K).labels, _OPTIMIZED)
            selected = arbitrary(rows, _CHOSEN, queries(context), SEED)
            curves.add(rows, errors_of(data, groups, selected))
    return curves


def _told(found: Mapping[Distribution, Curves]) -> str:
    """In how many tables the order is the one that the paper finds on Adult."""
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
