"""A table whose cells may be generalized: groups of equal rows, each with one cell per attribute.

What a release says, ours or foreign, without the rows of the original that stand behind it. Each cell
covers some values of its attribute (``model.cells``): the metrics of a release and the answers of queries
follow from what is covered and how often.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from discreet.model.cells import Cells
from discreet.model.class_recoding import ClassRecoding
from discreet.model.frequency_set import FrequencySet


@dataclass(frozen=True, eq=False)
class GeneralizedTable:
    """Groups of rows.

    Group g has ``rows[g]`` rows and shows ``cells[i].labels[shown[g, i]]`` for attribute i; ``shown`` has
    shape ``(groups, attributes)`` and distinct rows.
    """

    cells: tuple[Cells, ...]
    shown: NDArray[np.int64]
    rows: NDArray[np.int64]

    @classmethod
    def as_it_stands(cls, frequency_set: FrequencySet) -> GeneralizedTable:
        """A table that shows every leaf, before anything is generalized."""
        cells = tuple(exact_cells(h.attribute, h.leaves) for h in frequency_set.hierarchies)
        return cls(cells, frequency_set.codes, frequency_set.counts)

    @classmethod
    def of_recoding(cls, recoding: ClassRecoding) -> GeneralizedTable:
        """What a recoding would publish, suppressed rows left out."""
        shown, rows = merged(recoding.shown, recoding.class_rows())
        return cls(recoding.cells, shown, rows)

    @property
    def attributes(self) -> tuple[str, ...]:
        """The attributes, in order."""
        return tuple(cells.attribute for cells in self.cells)

    @cached_property
    def total(self) -> int:
        """All rows."""
        return int(self.rows.sum())

    @property
    def groups(self) -> int:
        """The number of groups."""
        return len(self.rows)

    def project(self, attributes: Sequence[str]) -> GeneralizedTable:
        """The table of some of its attributes, in the order given; groups that become equal are one."""
        places = [self.attributes.index(name) for name in attributes]
        shown, rows = merged(self.shown[:, places], self.rows)
        return GeneralizedTable(tuple(self.cells[place] for place in places), shown, rows)

    def rows_of_cells(self, attribute: int) -> NDArray[np.int64]:
        """The rows that show each cell of an attribute, shape ``(cells,)``."""
        found = np.zeros(len(self.cells[attribute].labels), dtype=np.int64)
        np.add.at(found, self.shown[:, attribute], self.rows)
        return found


def exact_cells(attribute: str, values: Sequence[str]) -> Cells:
    """One cell per value of a domain, then one for NULL: what a table that is not generalized shows."""
    number = len(values)
    codes = np.arange(number + 1)
    return Cells(attribute, number, (*values, None), np.arange(number + 2), codes, codes)


def merged(shown: NDArray[np.int64], rows: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Distinct rows of ``shown`` that have any row of the table, in lexicographic order, with their rows."""
    kept = rows > 0
    shown, rows = shown[kept], rows[kept]
    if not len(rows):
        return shown, rows
    if shown.shape[1] == 0:
        return shown[:1], rows.sum(keepdims=True)
    order = np.lexsort(shown.T[::-1])
    ordered = shown[order]
    starts = np.flatnonzero(np.concatenate(([True], (ordered[1:] != ordered[:-1]).any(axis=1))))
    return ordered[starts], np.add.reduceat(rows[order], starts)
