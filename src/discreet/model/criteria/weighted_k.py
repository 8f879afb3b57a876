"""k-anonymity by survey weights (Benedetti and Franconi 1998): the estimated people of every class.

A row of a survey has a weight: the number of people of the population that it represents. The sum of a
class's weights estimates how many people match it (Benedetti and Franconi, 1998), without the population
table that ``model.criteria.k_map`` counts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError
from discreet.model.criteria.base import Criterion, Need, Parameter
from discreet.model.criterion_inputs import AttributeFeature, ClassValues, ReferenceTable, SensitiveAttribute

WEIGHT_UNIT = 1000
_MAX_SUM = 2**62
_ROUNDED_THOUSAND = 1000.000000001
"""A thousand raised by a relative 1e-12, to compensate for the rounding of three-decimal numbers as doubles.
"""


@dataclass(frozen=True)
class WeightedKAnonymity(Criterion):
    """The weights of a class's rows add up to at least ``value`` people.

    ``attribute`` is the column of weights. Weights are in thousandths, rounded down; NULL and negative
    numbers count 0. A union adds up the weights, so the criterion is growing.
    """

    name: ClassVar[str] = "weighted_k"
    title: ClassVar[str] = "k-anonymity by survey weights"
    citation: ClassVar[str] = "Benedetti and Franconi (1998)"
    parameter: ClassVar[Parameter] = Parameter(
        "the rows of every class represent at least this many people, by the weights in this column",
        most=10**12,
        stops=(2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000, 20000, 50000, 100000, 1000000),
    )
    need: ClassVar[Need] = Need.COUNTS
    growing: ClassVar[bool] = True
    compares: ClassVar[bool] = True
    by_distribution: ClassVar[bool] = False

    def scores(self, sizes: NDArray[np.int64], values: ClassValues | None) -> NDArray[np.int64]:
        """Return the sum of weights in thousandths of a person; 0 for a class without a weight."""
        assert values is not None
        assert values.of is not None
        assert values.owners is not None
        assert values.counts is not None
        result = np.zeros(len(sizes), np.int64)
        if len(values.owners):
            np.add.at(result, values.owners, values.counts * thousandths(values.of)[values.codes])
        return result

    @property
    def threshold(self) -> int:
        """Value in thousandths."""
        return int(self.value) * WEIGHT_UNIT

    def value_of(self, score: int) -> int:
        """Return the whole number of people in a score, within the parameter's bounds."""
        return min(max(score // WEIGHT_UNIT, int(self.parameter.least)), int(self.parameter.most))

    @property
    def required_feature(self) -> AttributeFeature | None:
        """Numbers."""
        return AttributeFeature.NUMBERS

    @property
    def promises(self) -> bool:
        """False: it does not protect the sensitive values in a class."""
        return False

    def audit_against(self, rows: str, whole: ReferenceTable) -> str:
        """Return SQL of the score from the rows by value.

        A class with a value outside the table gets no score.
        """
        weight = (
            f"CASE WHEN v.number > 0 THEN CAST(floor(v.number * exp(0) * {_ROUNDED_THOUSAND}) AS BIGINT) "
            "ELSE 0 END"
        )
        return (
            f"SELECT p.class, CAST(sum(p.n * {weight}) AS BIGINT) AS score FROM "
            f"(SELECT class, value, count(*) AS n FROM {rows} WHERE value IS NOT NULL GROUP BY class, value) "
            f"AS p LEFT JOIN {whole.values} AS v ON p.value = v.value "
            "GROUP BY p.class HAVING count(*) = count(v.value)"
        )


def thousandths(of: SensitiveAttribute) -> NDArray[np.int64]:
    """Return the weight of each code in thousandths, rounded down; zeros if the values are not numbers.

    Raises ``InputError`` if they add up to more than can be counted.
    """
    if of.numbers is None:
        return np.zeros(len(of.values), np.int64)
    weights = np.floor(np.maximum(of.numbers, 0) * _ROUNDED_THOUSAND)
    if float(weights @ of.rows) >= _MAX_SUM:
        raise InputError(
            "the weights add up to more than 4e15 people", allowed="number of people that each row represents"
        )
    return weights.astype(np.int64)
