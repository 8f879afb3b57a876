"""Metrics of the sizes of classes, which the release alone tells."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class ClassSizes:
    """How many classes have each size, and the rows that are suppressed.

    ``sizes`` ascend; ``numbers`` runs beside them. Suppressed rows are in no class.
    """

    sizes: NDArray[np.int64]
    numbers: NDArray[np.int64]
    suppressed: int = 0

    @classmethod
    def of(cls, numbers_by_size: Mapping[int, int], suppressed: int = 0) -> ClassSizes:
        """From a mapping of sizes to numbers of classes."""
        sizes = np.array(sorted(numbers_by_size), dtype=np.int64)
        numbers = np.array([numbers_by_size[size] for size in sizes.tolist()], dtype=np.int64)
        return cls(sizes, numbers, suppressed)

    @property
    def rows(self) -> int:
        """All rows, suppressed ones too."""
        return int((self.sizes * self.numbers).sum()) + self.suppressed

    @property
    def classes(self) -> int:
        """The number of classes."""
        return int(self.numbers.sum())

    @property
    def smallest(self) -> int | None:
        """Rows of the smallest class; None where there is none."""
        return int(self.sizes[0]) if len(self.sizes) else None

    @property
    def largest(self) -> int | None:
        """Rows of the largest class; None where there is none."""
        return int(self.sizes[-1]) if len(self.sizes) else None

    @property
    def mean(self) -> float | None:
        """Rows of a class on average; None where there is none."""
        return (self.rows - self.suppressed) / self.classes if self.classes else None

    @property
    def discernibility(self) -> int:
        """C_DM: the squares of the sizes, and all rows for each suppressed row (Bayardo and Agrawal)."""
        return int((self.sizes.astype(object) ** 2 * self.numbers).sum()) + self.rows * self.suppressed

    def normalized_average(self, k: int | None) -> float:
        """C_AVG: rows / classes / k (LeFevre and others); one class where there is none.

        Where no k was asked, the smallest class takes its place.
        """
        return self.rows / max(self.classes, 1) / max(k or self.smallest or 1, 1)
