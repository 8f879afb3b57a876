"""Suppression against height, k and number of quasi-identifiers (Pilalidou and Vassiliadis).

A cumulative histogram of a node has, for each size, the rows in classes of at most this size, or with at
most this many distinct sensitive values: the rows that the next larger k or l suppresses.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from discreet.measures.grouping_power import grouping_power
from discreet.model.requirement import Requirement
from papers import negotiation_study
from papers.charts import AxisScale, Panel, Series, draw_chart
from papers.comparison import Comparison, Figure, Reading
from papers.negotiation_study import AdultStudy
from papers.section import Cell, ComparedTable, Plot, Section

_FIGURES = negotiation_study.NEGOTIATION_FIGURES
_PLOTTED_KS = (3, 10, 25, 50, 100)
_ZERO_OR_ONE = 1

RowCounts = NDArray[np.int64]
"""Suppressed rows of the nodes of one height."""


def suppression_sections(study: AdultStudy) -> Iterator[Section]:
    """Yield the data, then suppression by size, by k, and within a height, then grouping power."""
    yield _data(study)
    yield Section(
        "Suppression by height and number of quasi-identifiers",
        "k = 3, over the whole lattice. Averages are rounded, percentages rounded or cut.",
        (_averages(study), _percentages(study), _minima(study)),
        (_height_plot(study),),
    )
    yield Section(
        "Suppression by k",
        "The ratios of QI 5 are over the nodes whose levels are all 0 or 1.",
        (_effect_of_k(study), _ratios(study)),
        (_k_plot(study),),
    )
    yield Section(
        "Least, average and most within a height",
        "k = 3; QI 5 over the nodes whose levels are all 0 or 1. QI 3 gives the drop in percent of the "
        "height below, QI 5 in percent of this height.",
        tuple(_least_average_most(study, size) for size in (3, 5) if size in study.sizes),
    )
    if 6 in study.sizes:
        yield Section(
            "Grouping power of each level",
            "One attribute at the level, the others at 0. Level 0 takes the inverse of level 1.",
            (_grouping_power(study),),
        )


def _data(study: AdultStudy) -> Section:
    printed = _FIGURES["distinct_values"]
    counted = study.context.values("30162", tuple(printed))
    rows = tuple(
        (name, study.judge.compare("distinct_values", name, counted[name], value))
        for name, value in printed.items()
    )
    table = ComparedTable("distinct_values", "Distinct values", ("attribute", "ours / printed"), rows)
    return Section("The table", f"Adult, {study.of(3).evaluated.rows:,} rows, complete ones only.", (table,))


def _averages(study: AdultStudy) -> ComparedTable:
    return _by_size(study, "averages_k3", "Average suppressed rows, k = 3", lambda rows: float(rows.mean()))


def _percentages(study: AdultStudy) -> ComparedTable:
    every = study.of(3).evaluated.rows
    return _by_size(
        study,
        "average_percentages_k3",
        "The same in percent of all rows",
        lambda rows: float(rows.mean()) / every * 100,
        Reading.CUT,
    )


def _minima(study: AdultStudy) -> ComparedTable:
    return _by_size(study, "minima_k3", "Fewest suppressed rows, k = 3", lambda rows: int(rows.min()))


def _by_size(
    study: AdultStudy,
    name: str,
    title: str,
    figure: Callable[[RowCounts], Figure],
    reading: Reading = Reading.ROUNDED,
) -> ComparedTable:
    """Build a table for k = 3: heights in rows, numbers of quasi-identifiers in columns."""
    columns: list[list[Cell]] = []
    for size in study.sizes:
        heights = study.by_height(size, Requirement(k=3))
        found: list[Cell] = []
        for height, value in enumerate(_FIGURES[name][str(size)]):
            # The paper continues with zeros above the top of a lattice.
            ours = figure(heights[height]) if height < len(heights) else 0
            found.append(study.judge.compare(name, f"QI {size}, H{height}", ours, value, reading))
        columns.append(found)
    rows = tuple((str(height), *cells) for height, cells in enumerate(zip(*columns, strict=True)))
    return ComparedTable(name, title, ("height", *(f"QI {size}" for size in study.sizes)), rows)


def _effect_of_k(study: AdultStudy) -> ComparedTable:
    rows: list[tuple[Cell, ...]] = []
    for k, heights in _FIGURES["effect_of_k"].items():
        ours = study.by_height(3, Requirement(k=int(k)))
        for height, values in enumerate(heights):
            cells = _least_average_most_cells(study, "effect_of_k", f"k {k}, H{height}", ours[height], values)
            rows.append((k, str(height), *cells))
    columns = ("k", "height", "least", "average", "most")
    return ComparedTable("effect_of_k", "Suppressed rows, QI 3", columns, tuple(rows))


def _least_average_most_cells(
    study: AdultStudy, table: str, place: str, rows: RowCounts, printed: list[int]
) -> tuple[Cell, ...]:
    """Return the least, average and most suppressed rows of one height."""
    ours = {"least": int(rows.min()), "average": float(rows.mean()), "most": int(rows.max())}
    return tuple(
        study.judge.compare(table, f"{place}, {name}", figure, value)
        for (name, figure), value in zip(ours.items(), printed, strict=True)
    )


def _least_average_most(study: AdultStudy, size: int) -> ComparedTable:
    heights = study.by_height(size, Requirement(k=3), _ZERO_OR_ONE if size == 5 else None)
    averages = [float(rows.mean()) for rows in heights]
    every = study.of(size).evaluated.rows
    rows: list[tuple[Cell, ...]] = []
    for height, (*mab, share, drop) in enumerate(
        line if len(line) == 5 else [*line, None] for line in _FIGURES["min_average_max"][str(size)]
    ):
        place = f"QI {size}, H{height}"
        here, below = averages[height], averages[height - 1]
        ours_drop = None if height == 0 else (below - here) / (below if size == 3 else here) * 100
        cells = [
            *_least_average_most_cells(study, "min_average_max", place, heights[height], mab),
            study.judge.compare("min_average_max", f"{place}, share", here / every * 100, share, Reading.CUT),
            "–"
            if ours_drop is None
            else study.judge.compare("min_average_max", f"{place}, drop", ours_drop, drop, Reading.CUT),
        ]
        rows.append((str(height), *cells))
    columns = ("height", "least", "average", "most", "% of all rows", "% drop")
    return ComparedTable("min_average_max", f"Suppressed rows, QI {size}", columns, tuple(rows))


def _ratios(study: AdultStudy) -> ComparedTable:
    name = "ratios_of_minima"
    rows: list[tuple[Cell, ...]] = []
    for size in study.sizes:
        highest = _ZERO_OR_ONE if size == 5 else None
        minima = {
            k: [int(found.min()) for found in study.by_height(size, Requirement(k=k), highest)]
            for k in (3, 10, 25)
        }
        for height, printed_ratios in enumerate(_FIGURES[name][str(size)]):
            cells = (
                study.judge.compare(
                    name,
                    f"QI {size}, H{height}, {more}/{less}",
                    minima[more][height] / minima[less][height],
                    ratio,
                )
                for (more, less), ratio in zip(((10, 3), (25, 10)), printed_ratios, strict=True)
            )
            rows.append((f"QI {size}", str(height), *cells))
    columns = ("", "height", "k = 10 / k = 3", "k = 25 / k = 10")
    return ComparedTable(name, "Ratios of the least suppression", columns, tuple(rows))


def _grouping_power(study: AdultStudy) -> ComparedTable:
    evaluated = study.of(6).evaluated
    powers = {
        (p.attribute, p.level): p
        for p in grouping_power(evaluated.lattice, evaluated.rows, evaluated.classes())
    }
    rows: list[tuple[Cell, ...]] = []
    for attribute, level, groups, average, importance in _FIGURES["grouping_power"]["levels"]:
        power = powers[attribute, level]
        ours = (power.groups, power.average_size, power.relative_importance)
        cells = (
            study.judge.compare("grouping_power", f"{attribute} {level}, {name}", figure, value)
            for name, figure, value in zip(
                ("groups", "average", "importance"), ours, (groups, average, importance), strict=True
            )
        )
        rows.append((attribute, str(level), *cells))
    columns = ("attribute", "level", "groups", "average group size", "relative importance")
    return ComparedTable("grouping_power", "QI 6", columns, tuple(rows))


def _height_plot(study: AdultStudy) -> Plot:
    found = {size: study.by_height(size, Requirement(k=3)) for size in study.sizes}
    panels = [
        Panel(
            tuple(
                Series.of(f"QI {size}", range(len(heights)), [float(figure(rows)) for rows in heights])
                for size, heights in found.items()
            ),
            "height",
            f"{title} suppressed rows",
            y_scale=AxisScale.COUNTS,
        )
        for title, figure in (("average", np.mean), ("fewest", np.min))
    ]
    title = "Suppressed rows by height, k = 3"
    return Plot(
        "suppression-by-height",
        title,
        draw_chart(title, panels),
        "Each quasi-identifier more multiplies the suppressed rows and moves the drop to greater heights. "
        "The fewest fall much faster than the average: which node is chosen matters.",
    )


def _k_plot(study: AdultStudy) -> Plot:
    panels = []
    for size in study.sizes:
        heights = {k: study.by_height(size, Requirement(k=k)) for k in _PLOTTED_KS}
        panels.append(
            Panel(
                tuple(
                    Series.of(f"k = {k}", range(len(rows)), [float(r.mean()) for r in rows])
                    for k, rows in heights.items()
                ),
                "height",
                "average suppressed rows",
                title=f"QI {size}",
                y_scale=AxisScale.COUNTS,
            )
        )
    title = "Average suppressed rows by height and k"
    return Plot(
        "suppression-by-k",
        title,
        draw_chart(title, panels),
        "A greater k suppresses more at every height, most of all at low ones; the curves fall alike.",
    )


_SIZE = 3
_SIZES: Mapping[str, tuple[int, ...]] = {
    "k": (1, 2, 4, 9, 14, 24, 34, 49, 74, 99),
    "l": (1, 2, 3, 5, 8, 11, 14, 19),
}
_TICKS = {"k": (1.0, 2, 5, 10, 20, 50, 100), "l": (1.0, 2, 5, 10, 20)}
_AXIS_LABELS = {
    "k": "rows per class, at most",
    "l": f"distinct {negotiation_study.NEGOTIATION_SENSITIVE} per class, at most",
}


def histogram_section(study: AdultStudy) -> Section:
    """Build a table and a panel for k and for l."""
    found = {privacy: average_histograms(study, privacy, sizes) for privacy, sizes in _SIZES.items()}
    tables = tuple(_histogram_table(privacy, heights) for privacy, heights in found.items())
    panels = [_histogram_panel(privacy, heights) for privacy, heights in found.items()]
    title = f"Cumulative suppression histograms, QI {_SIZE}"
    text = (
        "Rows in classes of at most so many rows, or so many distinct values, on average over the nodes of "
        "each height: a limit of k suppresses those of at most k - 1. The charts of the paper are lost; its "
        "Theorem 2 says that no such count grows from a node to its generalizations, and each line here lies "
        "at or below those of lesser heights."
    )
    plot = Plot("cumulative-histograms", title, draw_chart(title, panels))
    return Section(title, text, tables, (plot,))


def average_histograms(study: AdultStudy, privacy: str, sizes: Sequence[int]) -> list[list[float]]:
    """Return, by height, the average over its nodes of the rows in classes of at most each size."""
    columns = [
        study.by_height(_SIZE, Requirement(k=size + 1) if privacy == "k" else Requirement(l=size + 1))
        for size in sizes
    ]
    return [[float(rows.mean()) for rows in of_height] for of_height in zip(*columns, strict=True)]


def _histogram_table(privacy: str, heights: Sequence[Sequence[float]]) -> ComparedTable:
    sizes = _SIZES[privacy]
    rows: list[tuple[Cell, ...]] = [
        (
            str(height),
            *(Comparison(f"H{height}, {size}", rows) for size, rows in zip(sizes, counts, strict=True)),
        )
        for height, counts in enumerate(heights)
    ]
    columns = ("height", *(str(size) for size in sizes))
    return ComparedTable(
        f"cumulative_{privacy}", f"{_AXIS_LABELS[privacy]}, average rows", columns, tuple(rows)
    )


def _histogram_panel(privacy: str, heights: Sequence[Sequence[float]]) -> Panel:
    """Build the panel of the lower eight heights; above these hardly any row is suppressed."""
    series = tuple(
        Series.of(f"height {height}", _SIZES[privacy], counts) for height, counts in enumerate(heights[:8])
    )
    return Panel(
        series,
        _AXIS_LABELS[privacy],
        "average rows",
        title=f"for {privacy}",
        x_scale=AxisScale.LOG,
        y_scale=AxisScale.COUNTS,
        x_ticks=_TICKS[privacy],
    )
