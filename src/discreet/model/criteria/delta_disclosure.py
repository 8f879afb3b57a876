"""δ-disclosure privacy (Brickell and Shmatikov 2008): shares of a class within a factor of the table's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.model.criteria import float_criterion
from discreet.model.criteria.base import KernelFormula, Need, Parameter
from discreet.model.criteria.float_criterion import (
    FloatCriterion,
    ValueDistributions,
    compared_pair_query,
    reference_rows,
)
from discreet.model.criterion_inputs import ClassValues, ReferenceTable


@dataclass(frozen=True)
class DeltaDisclosure(FloatCriterion):
    """``|ln(q / p)|`` is below ``value`` for every value of the table.

    q is the value's share in a class, p that in the table. The condition covers every value of the table, so
    a class that lacks one fails: the logarithm of 0 is undefined. NULL is not counted. The score is the
    largest ``|ln(q / p)|``, which must be smaller than δ. A union's shares are weighted means of those of
    both classes, and the passing shares of each value are an interval, so the criterion is monotone. It is
    not growing. (If absent values passed, it would not even be monotone.)

    The table's distribution is that of the input after the NULL policy, including rows suppressed later.
    """

    name: ClassVar[str] = "delta_disclosure"
    title: ClassVar[str] = "δ-disclosure privacy"
    citation: ClassVar[str] = "Brickell and Shmatikov (2008)"
    parameter: ClassVar[Parameter] = Parameter(
        "every value's shares of a class and of the table differ by less than this, as natural logarithms",
        least=0,
        most=float_criterion.MAX_MEASURE,
        whole=False,
        stops=(0.1, 0.2, 0.3, 0.5, 0.7, 1, 1.25, 1.5, 2, 2.5, 3),
    )
    need: ClassVar[Need] = Need.COUNTS
    monotone: ClassVar[bool] = True
    compares: ClassVar[bool] = True
    floor: ClassVar[float] = 3

    def scores(self, sizes: NDArray[np.int64], values: ClassValues | None) -> NDArray[np.int64]:
        """Return the score of each class's largest logarithm.

        A class that lacks a value of the table, or has another value, always fails.
        """
        distributions, table = ValueDistributions.of(values, len(sizes)), reference_rows(values)
        mine, theirs = distributions.scaled_shares(table)
        factor = np.maximum(mine / np.maximum(theirs, 1), theirs / mine)
        lacks = distributions.total((theirs > 0).astype(np.float64)) < np.count_nonzero(table)
        lacks |= distributions.largest((theirs == 0).astype(np.float64)) > 0
        logarithm = np.log(np.maximum(distributions.largest(factor), 1))
        return np.where(
            distributions.empty | lacks,
            float_criterion.NEVER_SCORE,
            float_criterion.score_less_than(logarithm),
        )

    def formula(self, numbers: int) -> KernelFormula:
        """Return the formula of the largest logarithm."""
        del numbers
        return KernelFormula("largest-logarithm")

    def audit_against(self, rows: str, whole: ReferenceTable) -> str:
        """Return SQL of the largest logarithm relative to the table's distribution.

        A class with a value outside the table, or without one of the table's values, gets no score.
        """
        factor = "greatest(n * whole / (known * held), known * held / (n * whole))"
        score = float_criterion.score_in_sql("less_than", f"greatest(ln(max({factor})), 0)")
        return (
            f"SELECT class, {score} AS score FROM ({compared_pair_query(rows, whole.values)}) AS q "
            "GROUP BY class HAVING count(*) = max(number) AND count(*) = count(held)"
        )
