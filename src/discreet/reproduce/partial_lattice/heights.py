"""Partial against full at QI 5: average suppressed rows by height, as on a slide whose chart is lost."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from discreet.model.requirement import Requirement
from discreet.negotiation.partial import PartialLattice
from discreet.plots.chart import Scale, Series
from discreet.plots.draw import lines
from discreet.reproduce.comparison import Comparison
from discreet.reproduce.negotiation.study import Study
from discreet.reproduce.section import Cell, ComparedTable, Plot, Section

FULL, PARTIAL, LOW = "full", "partial", "levels 0 and 1"
_SIZE, _K = 5, 3

Averages = Mapping[int, float]
"""The average suppressed rows of the nodes of each height."""


def by_height(study: Study, partials: Mapping[int, PartialLattice]) -> Section:
    """The nodes of the full lattice, of the partial one, and those whose levels are all 0 or 1."""
    size = min(_SIZE, study.sizes[-1])
    requirement = Requirement(k=_K)
    found = {
        FULL: _averages(study.by_height(size, requirement)),
        PARTIAL: partial_averages(partials[size], requirement),
        LOW: _averages(study.by_height(size, requirement, 1)),
    }
    title = f"Average suppressed rows by height, QI {size}, k = {_K}"
    rows: list[tuple[Cell, ...]] = [
        (str(height), *(_cell(name, height, averages) for name, averages in found.items()))
        for height in found[FULL]
    ]
    table = ComparedTable("partial_by_height", title, ("height", *found), tuple(rows))
    series = [Series.of(name, list(a), list(a.values())) for name, a in found.items()]
    drawn = lines(title, series, x_label="height", y_label="average suppressed rows", y_scale=Scale.COUNTS)
    text = (
        "A slide of the paper compares the two and its chart is lost. Its figures of the same name for QI 5 "
        "are those of the nodes whose levels are all 0 or 1, so these stand beside. The nodes that Λ chooses "
        "suppress fewer rows than their height's average, but near the top, where only a few rows are left."
    )
    plot = Plot("by-height", title, drawn)
    return Section(f"Partial against full by height, QI {size}", text, (table,), (plot,))


def partial_averages(partial: PartialLattice, requirement: Requirement) -> Averages:
    """Of the prepared nodes of each height."""
    suppressed, heights = partial.suppression(requirement), partial.heights
    return {height: float(suppressed[heights == height].mean()) for height in np.unique(heights).tolist()}


def _averages(heights: list[NDArray[np.int64]]) -> Averages:
    return {height: float(rows.mean()) for height, rows in enumerate(heights)}


def _cell(name: str, height: int, averages: Averages) -> Comparison:
    return Comparison(f"H{height}, {name}", averages.get(height))
