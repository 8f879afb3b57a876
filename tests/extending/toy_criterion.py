"""Homogeneity: no sensitive value has more than a share of the rows of any class."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.criteria import ClassValues, Criterion, Need, Parameter, option, register

UNIT = 1_000_000  # scores are whole numbers: shares are in millionths


@dataclass(frozen=True)
class Homogeneity(Criterion):
    """At most the share ``value`` of a class's rows have the same sensitive value, NULL not counted.

    The score is the share of the rows that do not have the most frequent value, in millionths, rounded down.
    It is monotone: counts and sizes of two classes add up, so the largest share of their union is at most
    that of one of them.
    """

    base: str = option("rows", choices=("rows", "values"), help="all rows, or those that have a value")

    name: ClassVar[str] = "homogeneity"
    title: ClassVar[str] = "homogeneity of a sensitive value"
    citation: ClassVar[str] = "an example"
    parameter: ClassVar[Parameter] = Parameter(
        "the largest share of a class's rows that have the same value",
        least=0,
        most=1,
        whole=False,
        stops=(0.2, 0.25, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9),
    )
    need: ClassVar[Need] = Need.COUNTS
    monotone: ClassVar[bool] = True
    floor: ClassVar[float] = 0.9

    def scores(self, sizes: NDArray[np.int64], values: ClassValues | None) -> NDArray[np.int64]:
        """Return the share of rows without the most frequent value, in millionths."""
        assert values is not None
        assert values.owners is not None
        assert values.counts is not None
        most, rows = np.zeros_like(sizes), sizes
        np.maximum.at(most, values.owners, values.counts)
        if self.base == "values":
            rows = np.zeros_like(sizes)
            np.add.at(rows, values.owners, values.counts)
        return UNIT - -(-UNIT * most // np.maximum(rows, 1))

    @property
    def threshold(self) -> int:
        """Return the least share of rows without the most frequent value, in millionths."""
        return UNIT - round(UNIT * self.value)

    def value_of(self, score: int) -> float:
        """Return the largest share in classes of this score."""
        return (UNIT - score) / UNIT

    def audit_query(self, rows: str) -> str:
        """Return SQL of the score: count by value first, then by class."""
        known = "CASE WHEN value IS NULL THEN 0 ELSE number END"
        base = "number" if self.base == "rows" else known
        share = f"1e6 * max({known}) / CASE WHEN sum({base}) = 0 THEN 1 ELSE sum({base}) END"
        return (
            f"SELECT class, {UNIT} - CAST(ceil({share}) AS BIGINT) AS score FROM "
            f"(SELECT class, value, count(*) AS number FROM {rows} GROUP BY class, value) AS counted "
            "GROUP BY class"
        )


register(Homogeneity)
