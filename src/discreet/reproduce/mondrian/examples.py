"""The examples: six patients, and an instance of Theorem 3."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from discreet.measures.class_sizes import ClassSizes
from discreet.model.class_recoding import ClassRecoding
from discreet.model.frequency_set import FrequencySet
from discreet.model.hierarchy import TOP, GeneralizationHierarchy
from discreet.model.requirement import Requirement
from discreet.mondrian.options import MondrianOptions, Summary
from discreet.mondrian.partition import partition
from discreet.plots.chart import Box, Mark, Panel, Series
from discreet.plots.draw import picture
from discreet.queries.parse import parse_workload
from discreet.reproduce.comparison import Comparison, Judge
from discreet.reproduce.context import Context
from discreet.reproduce.mondrian.tables import (
    BEST,
    FIGURES,
    SINGLE,
    counted,
    numbers,
    partitionings,
    sizes_of,
)
from discreet.reproduce.section import Cell, ComparedTable, Plot, Section
from discreet.workload.answer import QueryAnswer, answer
from discreet.workload.answerable import StatedMeans, of_recoding
from discreet.workload.labels import read_cells

PATIENTS = (
    ("25", "Male", "53711"),
    ("25", "Female", "53712"),
    ("26", "Male", "53711"),
    ("27", "Male", "53710"),
    ("27", "Female", "53712"),
    ("28", "Male", "53711"),
)
QUERIES = (
    "SELECT AVG(Age) FROM Patients WHERE Sex = 'Male'",
    "SELECT COUNT(*) FROM Patients WHERE Sex = 'Male' AND Age <= 26",
)


def six_patients() -> FrequencySet:
    """The six patients' quasi-identifiers."""
    hierarchies, columns = [], []
    for place, name in enumerate(("Age", "Sex", "Zipcode")):
        values = sorted({row[place] for row in PATIENTS})
        ancestors = (np.arange(len(values)), np.zeros(len(values), dtype=np.int64))
        hierarchies.append(GeneralizationHierarchy(name, (tuple(values), (TOP,)), ancestors, "values"))
        columns.append(np.array([values.index(row[place]) for row in PATIENTS]))
    return counted(hierarchies, columns)


def patients(context: Context, judge: Judge) -> Section:
    """Both partitionings of the six patients, their means, and the two queries."""
    table = six_patients()
    found = partitionings(table, 2, context.settings)
    sizes: list[tuple[Cell, ...]] = [
        (
            name,
            judge.compare("patients", f"{name}, sizes", _listed(_descending(recoding)), _listed(told)),
            Comparison(f"{name}, C_DM", sizes_of(recoding).discernibility),
            Comparison(f"{name}, C_AVG", sizes_of(recoding).normalized_average(2)),
        )
        for name, recoding, told in (
            (SINGLE, found[SINGLE], FIGURES["patients"]["single"]),
            (BEST, found[BEST], FIGURES["patients"]["multi"]),
        )
    ]
    means = partition(table, Requirement(2), context.settings, MondrianOptions(summary=Summary.MEANS))
    stated = [str(label).partition(" ")[0] for label in means.cells[0].labels]
    ages = [
        judge.compare("patients", f"mean {place}", float(ours), told)
        for place, (ours, told) in enumerate(
            zip(sorted(stated, key=float), FIGURES["patients"]["means"], strict=True), start=1
        )
    ]
    by_ranges, by_means = _answers(table, found[BEST], means=False), _answers(table, means, means=True)
    answered: list[tuple[Cell, ...]] = [
        (text, *(Comparison(f"{text}, {kind}", value) for kind, value in _answer_cells(r, m)))
        for text, r, m in zip(QUERIES, by_ranges, by_means, strict=True)
    ]
    columns = ("", "estimate from ranges", "from", "to", "estimate from means")
    tables = (
        ComparedTable("patients", "Class sizes at k = 2", ("", "classes", "C_DM", "C_AVG"), tuple(sizes)),
        ComparedTable("patient_means", "Mean ages by class", ("", "1", "2", "3"), (("age", *ages),)),
        ComparedTable("patient_queries", "The queries of the slides", columns, tuple(answered)),
    )
    text = (
        "Six patients by age, sex and zipcode. All three span their whole domains, so the first cut is a "
        "matter of the tie rule: the attribute of fewest values, which gives the slides' three pairs (age "
        "first would give two threes). Ranges answer COUNT, MIN and MAX, means SUM and AVG."
    )
    return Section("Six patients", text, tables)


def _descending(recoding: ClassRecoding) -> list[int]:
    return sorted(recoding.class_rows().tolist(), reverse=True)


def _listed(sizes: Sequence[int]) -> str:
    return ", ".join(map(str, sizes))


def _answers(table: FrequencySet, recoding: ClassRecoding, *, means: bool) -> list[QueryAnswer]:
    release = of_recoding(table, recoding, attained=True)
    if means:
        age = recoding.cells[0]
        read = read_cells(table.hierarchies[0], age.labels, nullable=False)
        release = replace(release, means={"Age": StatedMeans(read.means, read.half_units)})
    return [answer(query, release) for query in parse_workload(";".join(QUERIES))]


def _answer_cells(ranges: QueryAnswer, means: QueryAnswer) -> list[tuple[str, float | None]]:
    return [
        ("estimate", ranges.estimate),
        ("lower", ranges.lower),
        ("upper", ranges.upper),
        ("means", means.estimate),
    ]


def theorem_3(context: Context, *, k: int = 3, rows: int = 60) -> Section:
    """A minimal single-dimensional partitioning with a class of nearly all rows.

    k rows lie in the strip y = 0, at both ends of x; all others at y = 1, spread over x. Cut between the
    strips first: then no cut of x is allowable, since it would divide the k.
    """
    x = np.concatenate([np.array([0, rows - 1] + [0] * (k - 2)), np.arange(rows - k)])
    y = np.concatenate([np.zeros(k, dtype=np.int64), np.ones(rows - k, dtype=np.int64)])
    table = counted([numbers("X", rows), numbers("Y", 2)], [x, y])
    multi = partitionings(table, k, context.settings)[BEST]
    strips = ClassSizes.of({k: 1, rows - k: 1})
    copies = int(table.counts.max())
    bound = 2 * 2 * (k - 1) + copies
    cells: list[tuple[Cell, ...]] = [
        (name, Comparison(f"{name}, largest", s.largest), Comparison(f"{name}, classes", s.classes))
        for name, s in (("single-dimensional, y first", strips), (BEST, sizes_of(multi)))
    ]
    text = (
        f"{k} rows at the ends of x in one strip, {rows - k} in the other. Once the strips are parted, no "
        f"single-dimensional cut of x is allowable (it would divide the {k}), so a class of {rows - k} of "
        f"{rows} rows stays: with more rows it grows with them (Theorem 3). A multidimensional partitioning "
        f"cuts each strip by itself: no class has more than 2d(k − 1) + m = {bound} rows (Theorem 1)."
    )
    title = f"{rows} rows, k = {k}"
    columns = ("", "largest class", "classes")
    plot = Plot("theorem-3", "Theorem 3", picture("Theorem 3", [partition_panel(table, multi, BEST)]))
    return Section("Theorem 3", text, (ComparedTable("theorem_3", title, columns, tuple(cells)),), (plot,))


def partition_panel(table: FrequencySet, recoding: ClassRecoding, title: str) -> Panel:
    """The classes of a partition of two attributes as boxes around the points that occur."""
    part = recoding.row_types, recoding.classes
    boxes = []
    for c in range(recoding.class_count):
        held = table.codes[part[0][part[1] == c]]
        (left, bottom), (right, top) = held.min(axis=0).tolist(), held.max(axis=0).tolist()
        boxes.append(Box(left - 0.4, bottom - 0.4, right + 0.4, top + 0.4))
    x, y = table.codes[:, 0].tolist(), table.codes[:, 1].tolist()
    names = table.attributes
    return Panel(
        (Series.of("row types", x, y),),
        names[0],
        names[1],
        title=f"{title}: {len(boxes)} classes",
        mark=Mark.BOXES,
        boxes=tuple(boxes),
    )
