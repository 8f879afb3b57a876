"""β-likeness (Cao and Karras 2012): the relative gain of a value in a class over the whole table."""

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
from discreet.model.option import option

BASIC, ENHANCED = "basic", "enhanced"
"""Variants: frequent values are bounded only by β, or additionally by the logarithm of their share."""


@dataclass(frozen=True)
class BetaLikeness(FloatCriterion):
    """A value's share q in a class is at most 1 + ``value`` times its share p in the table.

    NULL is not counted.

    The score is the largest gain (q - p) / p of a class. ``enhanced`` also requires that no gain is above -ln
    p, so that a frequent value cannot fill a class; a class with a larger gain fails for every β. Shares
    below the table's are not bounded. Both bounds apply to each value separately, and a union's share of a
    value is the weighted mean of both classes', so the criterion is monotone. It is not growing.

    The table's distribution is that of the input after the NULL policy, including rows suppressed later.
    """

    variant: str = option(
        BASIC,
        choices=(BASIC, ENHANCED),
        help="only β, or additionally at most the logarithm of a value's share",
    )

    name: ClassVar[str] = "beta"
    title: ClassVar[str] = "β-likeness"
    citation: ClassVar[str] = "Cao and Karras (2012)"
    parameter: ClassVar[Parameter] = Parameter(
        "no value's share of a class is more than this part above its share of the table",
        least=0,
        most=float_criterion.MAX_MEASURE,
        whole=False,
        stops=(0.1, 0.25, 0.5, 0.75, 1, 1.5, 2, 3, 4, 5, 7, 10),
    )
    need: ClassVar[Need] = Need.COUNTS
    monotone: ClassVar[bool] = True
    compares: ClassVar[bool] = True
    floor: ClassVar[float] = 10

    def scores(self, sizes: NDArray[np.int64], values: ClassValues | None) -> NDArray[np.int64]:
        """Return the score of each class's largest gain.

        A class without a value, or with a value that does not occur in the table, always fails.
        """
        distributions, table = ValueDistributions.of(values, len(sizes)), reference_rows(values)
        mine, theirs = distributions.scaled_shares(table)
        gain = np.maximum(mine - theirs, 0) / np.maximum(theirs, 1)
        beyond = theirs == 0
        if self.variant == ENHANCED:
            bound = -np.log(np.maximum(table[distributions.codes], 1) / float(max(table.sum(), 1)))
            beyond |= gain > bound * (1 + float_criterion.RELATIVE_ROUNDING)
        fails = distributions.empty | (distributions.largest(beyond.astype(np.float64)) > 0)
        return np.where(
            fails, float_criterion.NEVER_SCORE, float_criterion.score_at_most(distributions.largest(gain))
        )

    def formula(self, numbers: int) -> KernelFormula:
        """Return the formula of the largest gain."""
        del numbers
        return KernelFormula("largest-gain", float(self.variant == ENHANCED))

    def audit_against(self, rows: str, whole: ReferenceTable) -> str:
        """Return SQL of the largest gain over the table's distribution.

        A class with a value that does not occur in the table gets no score.
        """
        gain = "(n * whole - known * held) / (known * held)"
        having = " HAVING count(*) = count(held)"
        if self.variant == ENHANCED:
            bound = f"(0 - ln(held / whole)) * {1 + float_criterion.RELATIVE_ROUNDING!r}"
            having += f" AND sum(CASE WHEN {gain} > {bound} THEN 1 ELSE 0 END) = 0"
        score = float_criterion.score_in_sql("at_most", f"greatest(max({gain}), 0)")
        compared = compared_pair_query(rows, whole.values)
        return f"SELECT class, {score} AS score FROM ({compared}) AS q GROUP BY class{having}"
