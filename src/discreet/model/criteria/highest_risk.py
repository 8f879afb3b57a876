"""The highest risk of re-identification (El Emam and Dankar 2008): 1 / size of the smallest class."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.model.criteria.base import Criterion, Need, Parameter, ScoreKey
from discreet.model.criteria.k_anonymity import KAnonymity
from discreet.model.criterion_inputs import ClassValues


@dataclass(frozen=True)
class HighestRisk(Criterion):
    """One by the size of every class at most ``value``: k-anonymity, told as a risk.

    The score is the size, as it is k's, so that one count serves both. Sizes add up, so it is growing.
    """

    name: ClassVar[str] = "highest_risk"
    title: ClassVar[str] = "highest risk of re-identification"
    citation: ClassVar[str] = "El Emam and Dankar (2008)"
    parameter: ClassVar[Parameter] = Parameter(
        "in no class one by its rows (or subjects) is above this",
        least=1e-9,
        most=1,
        whole=False,
        stops=(0.01, 0.02, 0.04, 0.05, 0.075, 0.09, 0.1, 0.15, 0.2, 0.25, 0.33, 0.5),
    )
    need: ClassVar[Need] = Need.SIZE
    of_attribute: ClassVar[bool] = False
    growing: ClassVar[bool] = True
    floor: ClassVar[float] = 0.5

    def scores(self, sizes: NDArray[np.int64], values: ClassValues | None) -> NDArray[np.int64]:
        """The sizes."""
        del values
        return sizes

    @property
    def threshold(self) -> int:
        """The least size with a risk of at most the value."""
        return size_at_risk(self.value)

    @property
    def least_rows(self) -> int:
        """That size."""
        return self.threshold

    @property
    def counted(self) -> ScoreKey:
        """Sizes, which k asks for, too."""
        return ScoreKey(KAnonymity)

    def value_of(self, score: int) -> float:
        """The risk in a class of this size."""
        return 1 / max(score, 1)

    def audit_query(self, rows: str) -> str:
        """A count of rows."""
        return f"SELECT class, count(*) AS score FROM {rows} GROUP BY class"


def size_at_risk(risk: float) -> int:
    """The least size s with 1 / s of at most a risk above 0, both as doubles: 3 for what 1 / 3 is as one."""
    size = max(ceil(1 / risk), 1)
    # The reciprocal is rounded: the size beside it may be the one.
    while size > 1 and 1 / (size - 1) <= risk:
        size -= 1
    while 1 / size > risk:
        size += 1
    return size
