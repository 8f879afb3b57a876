"""Least levels: cells that show more than a request allows are raised to it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from discreet.model.cells import Cells
from discreet.model.class_recoding import ClassRecoding
from discreet.model.hierarchy import GeneralizationHierarchy


def raised_cells(
    recoding: ClassRecoding, hierarchies: Sequence[GeneralizationHierarchy], levels: Sequence[int]
) -> ClassRecoding:
    """The recoding with every cell, a value of its hierarchy, at the attribute's level or above."""
    shown = recoding.shown.copy()
    cells = list(recoding.cells)
    for i, (hierarchy, level) in enumerate(zip(hierarchies, levels, strict=True)):
        if level:
            cells[i], places = _raised(cells[i], hierarchy, level)
            shown[:, i] = places[shown[:, i]]
    return replace(recoding, cells=tuple(cells), shown=shown)


def _raised(cells: Cells, hierarchy: GeneralizationHierarchy, level: int) -> tuple[Cells, NDArray[np.int64]]:
    """The cells at ``level`` or above, and where each former cell is among them."""
    found: dict[str | None, tuple[int, int]] = {}
    places = np.empty(len(cells.labels), np.int64)
    for cell, label in enumerate(cells.labels):
        first, last = int(cells.first[cells.offsets[cell]]), int(cells.last[cells.offsets[cell + 1] - 1])
        text, ends = label, (first, last)
        if level == hierarchy.height:
            text, ends = hierarchy.labels[-1][0], (0, hierarchy.null_code)
        elif label is not None and last < hierarchy.null_code:
            ancestors = hierarchy.ancestors[level]
            place = int(ancestors[first])
            if place == int(ancestors[last]):
                begin, end = np.searchsorted(ancestors, [place, place + 1]).tolist()
                text, ends = hierarchy.labels[level][place], (begin, end - 1)
        least, greatest = found.get(text, ends)
        found[text] = (min(least, ends[0]), max(greatest, ends[1]))
        places[cell] = list(found).index(text)
    intervals = np.array(list(found.values()), np.int64).reshape(-1, 2)
    raised = Cells(
        attribute=cells.attribute,
        leaves=cells.leaves,
        labels=tuple(found),
        offsets=np.arange(len(found) + 1, dtype=np.int64),
        first=intervals[:, 0],
        last=intervals[:, 1],
    )
    return raised, places
