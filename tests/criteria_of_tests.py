"""A test criterion outside of the package: it checks that the whole program supports new criteria."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest
from numpy.typing import NDArray

from discreet.model.criteria.base import Criterion, Need, Parameter
from discreet.model.criteria.registry import CRITERIA, register
from discreet.model.criterion_inputs import ClassValues


@dataclass(frozen=True)
class Share(Criterion):
    """At most ``value`` of a class's rows have one value; beyond ``spare`` rows of it."""

    spare: int = 0

    name: ClassVar[str] = "share"
    title: ClassVar[str] = "share of a value"
    citation: ClassVar[str] = "of this test"
    parameter: ClassVar[Parameter] = Parameter("the largest share", 0, 1, whole=False)
    need: ClassVar[Need] = Need.COUNTS
    monotone: ClassVar[bool] = True
    floor: ClassVar[float] = 0.9

    def scores(self, sizes: NDArray[np.int64], values: ClassValues | None) -> NDArray[np.int64]:
        """Return thousandths of the rows that have another value."""
        assert values is not None
        assert values.owners is not None
        assert values.counts is not None
        most = np.zeros(len(sizes), np.int64)
        np.maximum.at(most, values.owners, values.counts - self.spare)
        return 1000 - 1000 * most // np.maximum(sizes, 1)

    @property
    def threshold(self) -> int:
        """Return the threshold in thousandths."""
        return 1000 - round(1000 * self.value)

    def value_of(self, score: int) -> float:
        """Return the share."""
        return (1000 - score) / 1000

    def audit_query(self, rows: str) -> str:
        """Return the same score in SQL; without the remainder every database divides integers alike."""
        pairs = f"SELECT class, value, count(*) AS n FROM {rows} GROUP BY class, value"
        most = f"max(CASE WHEN value IS NULL OR n < {self.spare} THEN 0 ELSE n - {self.spare} END)"
        found = f"SELECT class, CAST(sum(n) AS BIGINT) AS n, 1000 * {most} AS m FROM ({pairs}) AS p"
        found += " GROUP BY class"
        return f"SELECT class, 1000 - CAST((m - m % n) / n AS BIGINT) AS score FROM ({found}) AS f"


@pytest.fixture
def share() -> Iterator[type[Criterion]]:
    """The criterion, registered for the duration of a test."""
    yield register(Share)
    CRITERIA.remove("share")
