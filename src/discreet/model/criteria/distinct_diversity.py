"""Distinct l-diversity (Machanavajjhala et al. 2006): at least l distinct sensitive values in every class."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.model.criteria.base import Criterion, Need, Parameter
from discreet.model.criterion_inputs import ClassValues


@dataclass(frozen=True)
class DistinctDiversity(Criterion):
    """A class has at least ``value`` distinct values of a sensitive attribute; NULL is not counted.

    The score is that number; if subjects count, it is the number of values that as many different subjects
    carry. A union contains the values of both classes, so the criterion is growing.
    """

    name: ClassVar[str] = "l"
    title: ClassVar[str] = "distinct l-diversity"
    citation: ClassVar[str] = "Machanavajjhala et al. (2006)"
    parameter: ClassVar[Parameter] = Parameter("every class has at least this many sensitive values")
    need: ClassVar[Need] = Need.DISTINCT
    growing: ClassVar[bool] = True
    has_keyword: ClassVar[bool] = True
    counted_by_engines: ClassVar[bool] = True

    def scores(self, sizes: NDArray[np.int64], values: ClassValues | None) -> NDArray[np.int64]:
        """Return the number of distinct values."""
        del sizes
        assert values is not None
        return values.distinct

    @property
    def least_rows(self) -> int:
        """Value: n distinct values require at least n rows."""
        return self.threshold

    @property
    def promises(self) -> bool:
        """False for l = 1, which allows a class with one value."""
        return bool(self.value >= 2)

    def audit_query(self, rows: str) -> str:
        """Return SQL that counts distinct values."""
        return f"SELECT class, count(DISTINCT value) AS score FROM {rows} GROUP BY class"
