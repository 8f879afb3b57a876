"""Cumulative suppression histograms of QI 3, for k and for l: charts of the slides that are lost.

Of one node the cumulative histogram says for each size how many rows are in classes of at most that size, or
with at most that many distinct sensitive values: what a k or an l greater by one suppresses.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from discreet.model.requirement import Requirement
from discreet.plots.chart import Panel, Scale, Series
from discreet.plots.draw import picture
from discreet.reproduce.comparison import Comparison
from discreet.reproduce.negotiation import paper
from discreet.reproduce.negotiation.study import Study
from discreet.reproduce.section import Cell, ComparedTable, Plot, Section

_SIZE = 3
_SIZES: Mapping[str, tuple[int, ...]] = {
    "k": (1, 2, 4, 9, 14, 24, 34, 49, 74, 99),
    "l": (1, 2, 3, 5, 8, 11, 14, 19),
}
_TICKS = {"k": (1.0, 2, 5, 10, 20, 50, 100), "l": (1.0, 2, 5, 10, 20)}
_OF = {"k": "rows per class, at most", "l": f"distinct {paper.SENSITIVE} per class, at most"}


def section(study: Study) -> Section:
    """A table and a panel for k and for l."""
    found = {privacy: averages(study, privacy, sizes) for privacy, sizes in _SIZES.items()}
    tables = tuple(_table(privacy, heights) for privacy, heights in found.items())
    panels = [_panel(privacy, heights) for privacy, heights in found.items()]
    title = f"Cumulative suppression histograms, QI {_SIZE}"
    text = (
        "Rows in classes of at most so many rows, or so many distinct values, on average over the nodes of "
        "each height: a limit of k suppresses those of at most k - 1. The charts of the paper are lost; its "
        "Theorem 2 says that no such count grows from a node to its generalizations, and each line here lies "
        "at or below those of lesser heights."
    )
    plot = Plot("cumulative-histograms", title, picture(title, panels))
    return Section(title, text, tables, (plot,))


def averages(study: Study, privacy: str, sizes: Sequence[int]) -> list[list[float]]:
    """By height, the average over its nodes of the rows in classes of at most each size."""
    columns = [
        study.by_height(_SIZE, Requirement(k=size + 1) if privacy == "k" else Requirement(l=size + 1))
        for size in sizes
    ]
    return [[float(rows.mean()) for rows in of_height] for of_height in zip(*columns, strict=True)]


def _table(privacy: str, heights: Sequence[Sequence[float]]) -> ComparedTable:
    sizes = _SIZES[privacy]
    rows: list[tuple[Cell, ...]] = [
        (
            str(height),
            *(Comparison(f"H{height}, {size}", rows) for size, rows in zip(sizes, counts, strict=True)),
        )
        for height, counts in enumerate(heights)
    ]
    columns = ("height", *(str(size) for size in sizes))
    return ComparedTable(f"cumulative_{privacy}", f"{_OF[privacy]}, average rows", columns, tuple(rows))


def _panel(privacy: str, heights: Sequence[Sequence[float]]) -> Panel:
    """Every height but the top ones, where hardly a row is left."""
    series = tuple(
        Series.of(f"height {height}", _SIZES[privacy], counts) for height, counts in enumerate(heights[:8])
    )
    return Panel(
        series,
        _OF[privacy],
        "average rows",
        title=f"for {privacy}",
        x_scale=Scale.LOG,
        y_scale=Scale.COUNTS,
        x_ticks=_TICKS[privacy],
    )
