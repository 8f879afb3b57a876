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
    """1 / size is at most ``value`` in every class: k-anonymity expressed as a risk.

    The score is the size, as for k, so one count serves both. Sizes add up, so the criterion is growing.
    """

    name: ClassVar[str] = "highest_risk"
    title: ClassVar[str] = "highest risk of re-identification"
    citation: ClassVar[str] = "El Emam and Dankar (2008)"
    parameter: ClassVar[Parameter] = Parameter(
        "1 / rows (or subjects) of every class is at most this",
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
        """Return the sizes."""
        del values
        return sizes

    @property
    def threshold(self) -> int:
        """Smallest size with a risk of at most the value."""
        return size_at_risk(self.value)

    @property
    def least_rows(self) -> int:
        """Smallest size with a risk of at most the value."""
        return self.threshold

    @property
    def counted(self) -> ScoreKey:
        """Score of the class sizes, which k uses, too."""
        return ScoreKey(KAnonymity)

    def value_of(self, score: int) -> float:
        """Return the risk in a class of this size."""
        return 1 / max(score, 1)

    def audit_query(self, rows: str) -> str:
        """Return SQL that counts rows."""
        return f"SELECT class, count(*) AS score FROM {rows} GROUP BY class"


def size_at_risk(risk: float) -> int:
    """Return the smallest size s with 1 / s of at most a positive risk, both as doubles.

    For example, 3 for the double nearest to 1 / 3.
    """
    size = max(ceil(1 / risk), 1)
    # The reciprocal is rounded, so the result may be one of the neighbouring sizes.
    while size > 1 and 1 / (size - 1) <= risk:
        size -= 1
    while 1 / size > risk:
        size += 1
    return size
