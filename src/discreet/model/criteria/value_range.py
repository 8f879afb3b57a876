"""The e of (k,e)-anonymity (Zhang et al. 2007): the range of the numbers in every class."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.model.criteria.base import Criterion, Need, Parameter
from discreet.model.criterion_inputs import AttributeFeature, ClassValues, ReferenceTable

RANGE_UNIT = 10**6


@dataclass(frozen=True)
class ValueRange(Criterion):
    """The largest number of a class is at least ``value`` above its smallest; NULL is not counted.

    Numbers are in millionths. The range of a union contains those of both classes, so the criterion is
    growing. The k of (k,e) counts distinct numbers: the criterion l.
    """

    name: ClassVar[str] = "range_e"
    title: ClassVar[str] = "range of a sensitive number"
    citation: ClassVar[str] = "Zhang et al. (2007)"
    parameter: ClassVar[Parameter] = Parameter(
        "the largest and the smallest number of every class differ by at least this much",
        least=0,
        most=10**9,
        whole=False,
        stops=(1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000, 20000, 50000),
    )
    need: ClassVar[Need] = Need.COUNTS
    growing: ClassVar[bool] = True
    compares: ClassVar[bool] = True
    by_distribution: ClassVar[bool] = False
    floor: ClassVar[float] = 1 / RANGE_UNIT

    def scores(self, sizes: NDArray[np.int64], values: ClassValues | None) -> NDArray[np.int64]:
        """Return the range of each class in millionths; -1 for a class without a value."""
        assert values is not None
        assert values.of is not None
        assert values.owners is not None
        millionths = values.of.millionths
        if millionths is None or not len(values.owners):
            return np.full(len(sizes), -1)
        numbers = millionths[values.codes]
        least, most = np.full(len(sizes), np.iinfo(np.int64).max), np.full(len(sizes), -1)
        np.minimum.at(least, values.owners, numbers)
        np.maximum.at(most, values.owners, numbers)
        return np.where(most < 0, -1, most - np.minimum(least, most))

    @property
    def threshold(self) -> int:
        """Value in millionths, rounded up."""
        return ceil(Fraction(str(self.value)) * RANGE_UNIT)

    def value_of(self, score: int) -> float:
        """Return the range of a score."""
        return min(max(score, 0) / RANGE_UNIT, 1e9)

    @property
    def required_feature(self) -> AttributeFeature | None:
        """Numbers."""
        return AttributeFeature.NUMBERS

    @property
    def promises(self) -> bool:
        """False for e = 0, which allows a class with one value."""
        return bool(self.value > 0)

    def audit_against(self, rows: str, whole: ReferenceTable) -> str:
        """Return SQL of the range; a class with a value outside the table gets no score."""
        return (
            "SELECT p.class, max(v.millionths) - min(v.millionths) AS score FROM "
            f"(SELECT DISTINCT class, value FROM {rows} WHERE value IS NOT NULL) AS p "
            f"LEFT JOIN {whole.values} AS v ON p.value = v.value "
            "GROUP BY p.class HAVING count(*) = count(v.value)"
        )
