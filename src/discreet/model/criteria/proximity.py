"""(ε,m)-anonymity (Li, Tao and Xiao 2008): the share of a class with numbers near one another."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from math import floor
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.model.criteria import float_criterion
from discreet.model.criteria.base import Need, Parameter
from discreet.model.criteria.float_criterion import FloatCriterion
from discreet.model.criterion_inputs import AttributeFeature, ClassValues, ReferenceTable, SensitiveAttribute
from discreet.model.option import OptionKind, option

ABSOLUTE, RELATIVE = "absolute", "relative"
_NEAR = 1_000_000 * (1 + 1e-12)


@dataclass(frozen=True)
class Proximity(FloatCriterion):
    """For each number of a class, at most one in ``value`` of its rows is near it; NULL not counted.

    Near x is what differs from it by ``epsilon`` at most, or by ``epsilon`` times |x| where that is
    ``relative``. Numbers are told in millionths. The score is how many times the rows near one number are in
    the class, for the number with the most. It is not monotone: rows of another class may lie on both sides
    of a number, each near it and far from the other.
    """

    epsilon: float = option(
        0.0, kind=OptionKind.DECIMAL, least=0, most=1e9, help="how far apart near numbers are"
    )
    neighbourhood: str = option(
        ABSOLUTE,
        choices=(ABSOLUTE, RELATIVE),
        help="whether epsilon is a difference or a share of the number",
    )

    name: ClassVar[str] = "epsilon_m"
    title: ClassVar[str] = "(ε,m)-anonymity"
    citation: ClassVar[str] = "Li, Tao and Xiao (2008)"
    parameter: ClassVar[Parameter] = Parameter(
        "at most one in so many rows of a class is near any of its numbers",
        least=1,
        most=10**6,
        whole=False,
        stops=(1.25, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10, 15, 20),
    )
    reached: ClassVar[bool] = True
    need: ClassVar[Need] = Need.COUNTS
    compares: ClassVar[bool] = True
    by_distribution: ClassVar[bool] = False
    floor: ClassVar[float] = 1.25

    def scores(self, sizes: NDArray[np.int64], values: ClassValues | None) -> NDArray[np.int64]:
        """The rows of a class over those near the number that has the most; 0 of a class without a value."""
        assert values is not None
        assert values.of is not None
        assert values.owners is not None
        assert values.codes is not None
        assert values.counts is not None
        if values.of.numbers is None or not len(values.owners):
            return np.zeros(len(sizes), np.int64)
        low, high = _near(values.of, self.epsilon, self.neighbourhood)
        size, ranks = len(low), values.of.ranks[values.codes]
        order = np.argsort(values.owners * size + ranks)
        owners, ranks, counts = values.owners[order], ranks[order], values.counts[order]
        keys, before = owners * size + ranks, np.concatenate(([0], np.cumsum(counts)))
        first = np.searchsorted(keys, owners * size + low[ranks], side="left")
        last = np.searchsorted(keys, owners * size + high[ranks], side="right")
        most, known = np.zeros(len(sizes), np.int64), np.zeros(len(sizes), np.int64)
        np.maximum.at(most, owners, before[last] - before[first])
        np.add.at(known, owners, counts)
        return np.where(known == 0, 0, float_criterion.score_at_least(known / np.maximum(most, 1)))

    @property
    def least_rows(self) -> int:
        """The value, rounded up: each number has itself near it."""
        return -(-self.threshold // float_criterion.SCORE_UNIT)

    @property
    def asks(self) -> AttributeFeature | None:
        """Numbers."""
        return AttributeFeature.NUMBERS

    @property
    def promises(self) -> bool:
        """Not with m = 1: all rows may be near each other."""
        return bool(self.value > 1)

    def audit_lines(self, sizes: Mapping[int, int], values: int) -> int:
        """Every pair of values of a class."""
        return sum(number * min(size, values) ** 2 for size, number in sizes.items())

    def audit_against(self, rows: str, whole: ReferenceTable) -> str:
        """Each number of a class beside the others; none of a class with a value that is no number here."""
        counted = (
            "SELECT p.class, p.value, p.n, v.millionths, v.number FROM "
            f"(SELECT class, value, count(*) AS n FROM {rows} WHERE value IS NOT NULL GROUP BY class, value) "
            f"AS p LEFT JOIN {whole.values} AS v ON p.value = v.value"
        )
        factor = self.epsilon * _NEAR
        # A number with a point is a decimal to some engines: only what is multiplied by a double is one.
        reach = f"{floor(factor)}" if self.neighbourhood == ABSOLUTE else f"floor(abs(a.number) * {factor!r})"
        near = f"abs(b.millionths - a.millionths) <= {reach}"
        score = float_criterion.score_in_sql("at_least", "max(known) * exp(0) / max(near)")
        return (
            f"WITH counted AS ({counted}), totals AS (SELECT class, sum(n) AS known FROM counted "
            "GROUP BY class HAVING count(*) = count(millionths)) "
            f"SELECT class, {score} AS score FROM (SELECT a.class, max(t.known) AS known, sum(b.n) AS near "
            "FROM counted AS a JOIN counted AS b ON a.class = b.class JOIN totals AS t ON a.class = t.class "
            f"WHERE {near} GROUP BY a.class, a.value) AS q GROUP BY class"
        )


@lru_cache(maxsize=64)
def _near(
    of: SensitiveAttribute, epsilon: float, neighbourhood: str
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The first and the last place that is near each place in the order of the numbers."""
    assert of.numbers is not None
    assert of.millionths is not None
    order = np.argsort(of.ranks)
    millionths, numbers = of.millionths[order], of.numbers[order]
    factor = epsilon * _NEAR
    reach = np.full(len(order), factor) if neighbourhood == ABSOLUTE else np.abs(numbers) * factor
    reach = np.floor(np.minimum(reach, 2.0**60)).astype(np.int64)
    low = np.searchsorted(millionths, millionths - reach, side="left")
    high = np.searchsorted(millionths, millionths + reach, side="right") - 1
    return low, high
