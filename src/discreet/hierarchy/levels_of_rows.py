"""One level of a hierarchy's table: the values of a column, and which of them each row has."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from operator import ne

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Level:
    """One column of the table: its values in order of first appearance, and the value of each row."""

    labels: tuple[str, ...]
    codes: NDArray[np.int64]

    @classmethod
    def of(cls, column: Sequence[str]) -> Level:
        """A column, row by row."""
        differs = np.fromiter(map(ne, column[1:], column), np.bool_, max(len(column) - 1, 0))
        if differs.all():
            return cls.of_runs(column, np.arange(len(column)), len(column))
        starts = np.concatenate(([0], np.flatnonzero(differs) + 1))
        return cls.of_runs([column[start] for start in starts.tolist()], starts, len(column))

    @classmethod
    def of_runs(cls, values: Sequence[str], starts: NDArray[np.int64], rows: int) -> Level:
        """A column by its runs of equal values, each of which is looked up once, and where they start."""
        labels = tuple(dict.fromkeys(values))
        codes = np.arange(len(values))
        if len(labels) < len(values):
            positions = dict(zip(labels, range(len(labels)), strict=True))
            codes = np.fromiter(map(positions.__getitem__, values), np.int64, len(values))
        if len(values) < rows:
            codes = np.repeat(codes, np.diff(starts, append=rows))
        return cls(labels, codes)

    def value(self, row: int) -> str:
        """The value of a row."""
        return self.labels[int(self.codes[row])]
