"""k-anonymity (Samarati 2001; Sweeney 2002): at least k rows, or k subjects, in every class."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.model.criteria.base import Criterion, Need, Parameter
from discreet.model.criterion_inputs import ClassValues

LOW_K = 5
"""Smallest k that publishers commonly require."""


@dataclass(frozen=True)
class KAnonymity(Criterion):
    """A class has at least ``value`` rows, or distinct subjects if the spec names a subject.

    The score is that number. A union adds up the rows, so the criterion is growing.
    """

    name: ClassVar[str] = "k"
    title: ClassVar[str] = "k-anonymity"
    citation: ClassVar[str] = "Samarati (2001), Sweeney (2002)"
    parameter: ClassVar[Parameter] = Parameter("every class has at least so many rows (or subjects)")
    need: ClassVar[Need] = Need.SIZE
    of_attribute: ClassVar[bool] = False
    growing: ClassVar[bool] = True
    has_keyword: ClassVar[bool] = True
    counted_by_engines: ClassVar[bool] = True

    def scores(self, sizes: NDArray[np.int64], values: ClassValues | None) -> NDArray[np.int64]:
        """Return the sizes."""
        del values
        return sizes

    @property
    def least_rows(self) -> int:
        """Value: n subjects have at least n rows."""
        return self.threshold

    def warnings(self) -> tuple[tuple[str, str], ...]:
        """Return a warning for a k that publishers consider low."""
        if self.value >= LOW_K:
            return ()
        return (("low-k", f"k is {self.value}; publishers commonly require {LOW_K} or more."),)

    def audit_query(self, rows: str) -> str:
        """Return SQL that counts rows."""
        return f"SELECT class, count(*) AS score FROM {rows} GROUP BY class"
