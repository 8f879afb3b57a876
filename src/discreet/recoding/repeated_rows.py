"""Whether rows of a release are so often alike that it pays to put them together and count them.

Sorting and keeping one row for each combination of a class and its other cells, with the number of such rows,
takes less memory and time than doing so with each row, where many are alike; where few are, it takes more.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from discreet.engines.base import Engine, SourceTable
from discreet.recoding.shown_classes import ShownClasses
from discreet.sql import recode_classes as sql

_FIRST_ROWS = 20_000
_MOST_CELLS = 2_000
_MOST_COLUMNS = 500
"""Beyond so many columns rows are hardly ever alike, and to ask takes the engine's memory for nothing."""
_PAYS = 4
"""With fewer rows alike than this, on the average, grouping costs more than it saves."""


def counting_pays(engine: Engine, table: SourceTable, others: Sequence[str], decided: ShownClasses) -> bool:
    """Whether the rows of a decided recoding should be counted, by an estimate of how many are alike.

    ``others`` are the cells beside the class, over the source ``s``. The first rows tell which there are and
    how often; they are taken to be independent of the classes. A wrong guess costs time alone.
    """
    least = engine.dialect.counts_rows
    if least is None or decided.kept < least or len(others) > _MOST_COLUMNS:
        return False
    cells = engine.fetch_arrays(sql.first_cells(table.relation, others, _FIRST_ROWS, _MOST_CELLS + 1))["n"]
    if len(cells) > _MOST_CELLS:
        return False
    return expected_combinations(decided.class_rows, cells) * _PAYS <= decided.kept


def expected_combinations(class_rows: NDArray[np.int64], cells: NDArray[np.int64]) -> float:
    """How many combinations of a class and other cells to expect, these being drawn independently.

    ``cells`` says how often each of the other cells occurs in a sample. A class of n rows has the cell of
    probability p by 1 - (1 - p)^n.
    """
    sizes, of_size = np.unique(class_rows, return_counts=True)
    counts, of_count = np.unique(cells, return_counts=True)
    found, rows = 0.0, int(cells.sum())
    for count, alike in zip(counts.tolist(), of_count.tolist(), strict=True):
        other = np.float64(1 - count / rows)
        found += alike * float(of_size @ (1 - other**sizes))
    return found
