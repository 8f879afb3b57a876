"""Entropy l-diversity (Machanavajjhala et al. 2006): an entropy of at least ln l in every class."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.model.criteria import float_criterion
from discreet.model.criteria.base import KernelFormula, Need, Parameter
from discreet.model.criteria.float_criterion import SQL_DOUBLE, FloatCriterion, ValueDistributions, pair_query
from discreet.model.criterion_inputs import ClassValues
from discreet.model.option import option

_SERIES = (1 / 24, -7 / 960, 31 / 8064, -127 / 30720)
"""Coefficients of digamma(x + 1/2) ≈ ln x plus these, divided by even powers of x, for large x."""

_STEPS = 16
"""Upward steps; after these the next term of the series is below 1e-14 for every integer."""


SHANNON, GRASSBERGER = "shannon", "grassberger"
"""Estimators of a class's entropy: from the rows directly, or corrected for small numbers of rows."""


@dataclass(frozen=True)
class EntropyDiversity(FloatCriterion):
    """Entropy of a sensitive attribute's values is at least ln ``value``; NULL is not counted.

    ``value`` need not be an integer. The score is the exponential of the entropy: the number of equally
    frequent values with the same uncertainty. Entropy is concave, and a union's distribution is the weighted
    mean of both, so the criterion is monotone. Additional rows of one value lower the entropy, so it is not
    growing.

    With the ``grassberger`` estimator, logarithms of numbers of rows are replaced by Grassberger's numbers
    (Grassberger, 2003, eq. 35), including that of the class's rows (Stammler et al., 2016). The estimator
    treats a class as a sample of a population, and may exceed the entropy of the class; the score never
    exceeds the number of values in the class. With this estimator the criterion is not monotone: one row of
    each of two values passes l = 2, two rows do not.
    """

    estimator: str = option(
        SHANNON,
        choices=(SHANNON, GRASSBERGER),
        help="the entropy of the class's rows, or an estimate of that of a population",
    )

    name: ClassVar[str] = "entropy_l"
    title: ClassVar[str] = "entropy l-diversity"
    citation: ClassVar[str] = "Machanavajjhala et al. (2006)"
    parameter: ClassVar[Parameter] = Parameter(
        "every class's values are as uncertain as this number of equally frequent values",
        least=1,
        most=float_criterion.MAX_MEASURE,
        whole=False,
        stops=(1.5, 2, 2.5, 3, 3.5, 4, 5, 6, 8, 10, 15, 20),
    )
    reached: ClassVar[bool] = True
    need: ClassVar[Need] = Need.COUNTS
    monotone: ClassVar[bool] = True
    floor: ClassVar[float] = 1.5

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.estimator == GRASSBERGER:
            # The class attribute is true for the definition, but not for this estimator.
            object.__setattr__(self, "monotone", False)

    def scores(self, sizes: NDArray[np.int64], values: ClassValues | None) -> NDArray[np.int64]:
        """Return the exponential of each class's entropy; 0 for a class without a value."""
        distributions = ValueDistributions.of(values, len(sizes))
        known = np.maximum(distributions.known, 1)
        spread = distributions.total(distributions.counts * self.logarithm(distributions.counts)) / known
        alike = np.exp(self.logarithm(known) - spread)
        if self.estimator == GRASSBERGER:
            alike = np.minimum(alike, distributions.distinct)
        return np.where(distributions.empty, 0, float_criterion.score_at_least(alike))

    def logarithm(self, numbers: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the estimator's logarithms of numbers of rows, which are at least 1."""
        if self.estimator == SHANNON:
            return np.log(numbers.astype(np.float64))
        return grassberger_numbers(numbers)

    @property
    def least_rows(self) -> int:
        """Value, rounded up: fewer rows have fewer values, and therefore less entropy."""
        return -(-self.threshold // float_criterion.SCORE_UNIT)

    @property
    def promises(self) -> bool:
        """False for l = 1, which allows a class with one value."""
        return bool(self.value > 1)

    def warnings(self) -> tuple[tuple[str, str], ...]:
        """Return a warning for the estimator that treats classes as samples."""
        if self.estimator == SHANNON:
            return ()
        text = "entropy_l uses Grassberger's estimate, which may exceed the entropy of a class."
        return (("estimated-entropy", text),)

    def formula(self, numbers: int) -> KernelFormula:
        """Return the entropy formula with the estimator's logarithms."""
        logarithms = np.zeros(numbers)
        logarithms[1:] = self.logarithm(np.arange(1, numbers))
        return KernelFormula("entropy", float(self.estimator == GRASSBERGER), logarithms)

    def audit_query(self, rows: str) -> str:
        """Return SQL of the score by the same formula; Grassberger's numbers come from their series."""
        logarithm = _logarithm_in_sql("known", self.estimator)
        each = _logarithm_in_sql("n", self.estimator)
        alike = f"exp(max({logarithm}) - sum(n * {each}) / max(known))"
        if self.estimator == GRASSBERGER:
            alike = f"least({alike}, count(*))"
        score = float_criterion.score_in_sql("at_least", alike)
        return f"SELECT class, {score} AS score FROM ({pair_query(rows)}) AS q GROUP BY class"


def grassberger_numbers(numbers: NDArray[np.int64]) -> NDArray[np.float64]:
    """Compute Grassberger's numbers of integers from 1 on (Grassberger, 2003, eqs. 30 and 31).

    For an even n the number is ln 2 plus the digamma function at (n + 1) / 2; for an odd n it is that of n -
    1.
    """
    half = (numbers // 2).astype(np.float64)
    up = half + _STEPS
    result = np.log(2 * up)
    for power, factor in enumerate(_SERIES, start=1):
        result += factor / up ** (2 * power)
    for step in range(_STEPS):
        result -= 2 / (2 * half + 2 * step + 1)
    return result


def _logarithm_in_sql(number: str, estimator: str) -> str:
    if estimator == SHANNON:
        return f"ln({number} * {SQL_DOUBLE})"
    half = f"floor({number} * {SQL_DOUBLE} / 2)"
    up = f"({half} + {_STEPS})"
    series = "".join(f" + ({factor!r}) / power({up}, {2 * i})" for i, factor in enumerate(_SERIES, start=1))
    steps = "".join(f" - 2 / (2 * {half} + {2 * step + 1})" for step in range(_STEPS))
    return f"(ln(2 * {up}){series}{steps})"
