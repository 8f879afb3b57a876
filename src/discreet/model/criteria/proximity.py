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
    """For each number of a class, at most one in ``value`` of its rows is near it; NULL is not counted.

    A number is near x if it differs from x by at most ``epsilon``, or by ``epsilon`` times |x| if the
    neighbourhood is ``relative``. Numbers are in millionths. The score is the rows of the class divided by
    the rows near one number, for the number with the most rows near it. The criterion is not monotone: rows
    of another class may be on both sides of a number, each near it and far from the other.
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
        "at most one in this many rows of a class is near any of its numbers",
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
        """Return the score: each class's rows divided by the rows near its densest number.

        It is 0 for a class without a value.
        """
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
        """Value, rounded up: each number is near itself."""
        return -(-self.threshold // float_criterion.SCORE_UNIT)

    @property
    def required_feature(self) -> AttributeFeature | None:
        """Numbers."""
        return AttributeFeature.NUMBERS

    @property
    def promises(self) -> bool:
        """False for m = 1, which allows all rows to be near each other."""
        return bool(self.value > 1)

    def audit_lines(self, sizes: Mapping[int, int], values: int) -> int:
        """Return the number of pairs of values within classes, which the SQL joins."""
        return sum(number * min(size, values) ** 2 for size, number in sizes.items())

    def audit_against(self, rows: str, whole: ReferenceTable) -> str:
        """Return SQL that compares each number of a class with the others.

        A class with a value that is not a number of the table gets no score.
        """
        counted = (
            "SELECT p.class, p.value, p.n, v.millionths, v.number FROM "
            f"(SELECT class, value, count(*) AS n FROM {rows} WHERE value IS NOT NULL GROUP BY class, value) "
            f"AS p LEFT JOIN {whole.values} AS v ON p.value = v.value"
        )
        factor = self.epsilon * _NEAR
        # Some engines read a literal with a point as a decimal; multiplication by a double makes it a double.
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
    """Return the first and the last position that is near each position in the order of the numbers."""
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
