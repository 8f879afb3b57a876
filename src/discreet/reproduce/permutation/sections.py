"""The permutation reproduction, section by section, and at its end the paper's orderings, each checked."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from discreet.reproduce.comparison import Comparison, Judge
from discreet.reproduce.context import Context
from discreet.reproduce.permutation import arbitrary, ranges
from discreet.reproduce.permutation.correlation import correlation
from discreet.reproduce.permutation.errors import AT_THE_ENDS, HOLDS, Ordering
from discreet.reproduce.permutation.microdata import QUASI_IDENTIFIERS, Microdata, adult
from discreet.reproduce.permutation.overhead import overhead
from discreet.reproduce.permutation.privacy import privacy
from discreet.reproduce.permutation.shapes import shapes
from discreet.reproduce.printed import deviations, printed
from discreet.reproduce.section import ComparedTable, Section

Experiment = Callable[[], tuple[Section, list[Ordering]]]
"""What is shown, and which findings it checks."""


def sections(context: Context) -> Iterator[Section]:
    """The table, arbitrary queries, ranges, correlation, k and e, other tables, overhead, orderings.

    ``InputError`` where Adult is missing, at once.
    """
    context.file("adult", "adult_30162.csv")
    judge = Judge.of(deviations("permutation"))
    data = adult(context)
    yield _table(data)
    found: list[Ordering] = []
    experiments: tuple[Experiment, ...] = (
        lambda: arbitrary.one_partition(context, data),
        lambda: arbitrary.several_partitions(context, data),
        lambda: ranges.of_age(context, data, "Range queries on age", "age-ranges"),
        lambda: ranges.of_age(
            context, adult(context, ("age",)), "Age as the only quasi-identifier", "age-alone"
        ),
        lambda: ranges.of_several(context, data),
        lambda: correlation(context),
        lambda: privacy(context, data),
    )
    for experiment in experiments:
        section, orderings = experiment()
        found += orderings
        yield section
    yield shapes(context)
    yield overhead(context)
    yield orderings_section(judge, found)


def orderings_section(judge: Judge, found: Sequence[Ordering]) -> Section:
    """What the paper finds, whether it holds here, and the figures that say so."""
    told = printed("permutation")["orderings"]
    rows = tuple(
        (
            told[ordering.name],
            judge.compare("orderings", ordering.name, ordering.verdict, HOLDS),
            ordering.figures,
        )
        for ordering in found
    )
    table = ComparedTable("orderings", "Here / in the paper", ("finding", "it", "by"), rows)
    text = (
        "The numbers of the paper's plots are lost; what its text finds is told here in our words and "
        f"checked. '{HOLDS}' stands for every place of its table that the last column does not leave out; "
        f"'{AT_THE_ENDS}' for its first and last place, where a step between them goes the other way: at the "
        "places that are named."
    )
    return Section("The paper's orderings", text, (table,))


def _table(data: Microdata) -> Section:
    values = np.unique(data.numbers)
    rows = (
        ("rows", Comparison("rows", data.rows)),
        ("distinct losses", Comparison("distinct", len(values))),
        ("least loss", Comparison("least", int(values[0]))),
        ("largest loss", Comparison("largest", int(values[-1]))),
        ("row types", Comparison("row types", data.frequency_set.row_types)),
    )
    text = (
        "Adult without unknown values, the rows with a capital loss. "
        f"{len(QUASI_IDENTIFIERS)} quasi-identifiers: {', '.join(QUASI_IDENTIFIERS)}."
    )
    return Section("The table", text, (ComparedTable("adult", "Adult", ("", "here"), rows),))
