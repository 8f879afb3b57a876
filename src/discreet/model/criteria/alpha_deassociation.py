"""The α of (α,k)-anonymity (Wong et al. 2006): the largest share of one sensitive value in a class."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.model.criteria import float_criterion
from discreet.model.criteria.base import KernelFormula, Need, Parameter
from discreet.model.criteria.float_criterion import FloatCriterion, ValueDistributions, pair_query
from discreet.model.criterion_inputs import ClassValues


@dataclass(frozen=True)
class AlphaDeassociation(FloatCriterion):
    """No value has more than the share ``value`` of a class's rows; NULL is not counted.

    The score is the largest share; k is a separate criterion. A union's shares are weighted means of those of
    both classes, so the criterion is monotone; it is not growing.
    """

    name: ClassVar[str] = "alpha"
    title: ClassVar[str] = "α-deassociation"
    citation: ClassVar[str] = "Wong et al. (2006)"
    parameter: ClassVar[Parameter] = Parameter(
        "at most this share of a class's rows has one sensitive value",
        least=1e-6,
        most=1,
        whole=False,
        stops=(0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9),
    )
    need: ClassVar[Need] = Need.COUNTS
    monotone: ClassVar[bool] = True
    floor: ClassVar[float] = 0.9

    def scores(self, sizes: NDArray[np.int64], values: ClassValues | None) -> NDArray[np.int64]:
        """Return the score of each class's largest share."""
        distributions = ValueDistributions.of(values, len(sizes))
        share = distributions.largest(distributions.counts.astype(np.float64)) / np.maximum(
            distributions.known, 1
        )
        return np.where(
            distributions.empty, float_criterion.NEVER_SCORE, float_criterion.score_at_most(share)
        )

    @property
    def least_rows(self) -> int:
        """Fewest rows that can pass: in smaller classes one row exceeds the share."""
        return ceil(1 / float(self.value) * (1 - 2 * float_criterion.RELATIVE_ROUNDING))

    @property
    def promises(self) -> bool:
        """False for α = 1, which allows a class with one value."""
        return bool(self.value < 1)

    def formula(self, numbers: int) -> KernelFormula:
        """Return the formula of the largest share."""
        del numbers
        return KernelFormula("largest-share")

    def audit_query(self, rows: str) -> str:
        """Return SQL of the score of the largest share."""
        score = float_criterion.score_in_sql("at_most", "max(n / known)")
        return f"SELECT class, {score} AS score FROM ({pair_query(rows)}) AS q GROUP BY class"
