"""Population uniqueness (Dankar et al. 2012): the estimated share of unique people.

The audit's estimate is plain Python and shares no code with ``model.population_estimates``: it computes sums
by Euler-Maclaurin and roots by Ridders's method, and loops where the search has a closed form.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from math import ceil, exp, isnan, lgamma, log, log1p, nan, sqrt
from typing import Any, ClassVar

import numpy as np

from discreet.errors import InputError
from discreet.model import population_estimates as estimates
from discreet.model.criteria.base import AuditedBy, Parameter
from discreet.model.criteria.release_level import ReleaseCriterion
from discreet.model.criterion_inputs import SizeArray, SizeTails
from discreet.model.population_estimates import EstimateArray

_SizeCounts = Mapping[int, int]

_EXPLICIT = 40
_LEAST_ALPHA = 1e-4


def audit_estimate(sizes: _SizeCounts, population: int, estimator: str) -> float:
    """Estimate the share of the population that is unique in it; NaN if the model has no estimate."""
    if not sizes.get(1):
        return 0.0
    if estimator == "dankar":
        fraction = sum(size * number for size, number in sizes.items()) / population
        if fraction <= 0.1:
            return _pitman(sizes, population)
        both = [_snb(sizes, population), _zayatz(sizes, population)]
        return min(share for share in both if not isnan(share))
    return {"pitman": _pitman, "zayatz": _zayatz, "snb": _snb}[estimator](sizes, population)


def _zayatz(sizes: _SizeCounts, population: int) -> float:
    rows = sum(size * number for size, number in sizes.items())
    weight, chance, expected = 0.0, 1.0, 0.0
    for size in range(1, max(sizes) + 1):
        weight = size * chance
        expected += sizes.get(size, 0) * weight
        # The next member of the class must not be among the others of the sample.
        chance *= max(population - rows - size + 1, 0) / max(population - size, 1)
    return min(sizes[1] * sizes[1] / expected / rows, 1.0)


def _pitman(sizes: _SizeCounts, population: int) -> float:
    rows = sum(size * number for size, number in sizes.items())
    classes = sum(sizes.values())
    if rows == classes:
        return nan

    def theta_of(alpha: float) -> float:
        return _falling_root(
            lambda theta: (
                _sum(lambda i: 1 / (theta + i * alpha), 1, classes, alpha, theta)
                - _sum(lambda i: 1 / (theta + i), 1, rows, 1.0, theta)
            ),
            alpha,
        )

    def slope(alpha: float) -> float:
        theta = theta_of(alpha)
        first = (classes - 1) / alpha - theta / alpha * _sum(
            lambda i: 1 / (theta + i * alpha), 1, classes, alpha, theta
        )
        return first - sum(
            number * _sum(lambda i: 1 / (i - alpha), 1, size, 1.0, -alpha) for size, number in sizes.items()
        )

    if slope(_LEAST_ALPHA) <= 0:
        alpha = 0.0
        theta = _falling_root(lambda t: (classes - 1) / t - _sum(lambda i: 1 / (t + i), 1, rows, 1.0, t), 0.0)
    else:
        alpha = _ridders_root(slope, _LEAST_ALPHA, 1 - 1e-13)
        theta = theta_of(alpha)
    logarithm = lgamma(theta + 1) - lgamma(theta + alpha) + (alpha - 1) * log(population)
    return exp(min(logarithm, 0.0))


def _sum(term: Callable[[float], float], first: int, end: int, step: float, base: float) -> float:
    """Return Σ 1/(base + i step) for i from ``first`` to ``end`` − 1; ``term`` returns one summand.

    Adds the first 40 summands and approximates the others by the Euler-Maclaurin formula.
    """
    few = min(end, first + _EXPLICIT)
    total = sum(term(i) for i in range(first, few))
    if few == end:
        return total
    a, b = base + few * step, base + (end - 1) * step
    ends = (1 / a + 1 / b) / 2 + step / 12 * (1 / a**2 - 1 / b**2) - step**3 / 120 * (1 / a**4 - 1 / b**4)
    return total + log(b / a) / step + ends + step**5 / 252 * (1 / a**6 - 1 / b**6)


def _falling_root(excess: Callable[[float], float], alpha: float) -> float:
    """Return the number above −``alpha`` at which ``excess`` changes from positive to negative."""
    return -alpha + exp(_ridders_root(lambda x: excess(-alpha + exp(x)), -25.0, 25.0))


def _ridders_root(function: Callable[[float], float], low: float, high: float) -> float:
    """Return the root of a function, positive at ``low`` and negative at ``high``, by Ridders's method."""
    above, below = function(low), function(high)
    for _ in range(100):
        middle = (low + high) / 2
        half = function(middle)
        root = sqrt(half * half - above * below)
        result = middle if root == 0 else middle + (middle - low) * half / root
        value = function(result)
        for point, number in ((middle, half), (result, value)):
            if number > 0 and point >= low:
                low, above = point, number
            elif number <= 0 and point <= high:
                high, below = point, number
        if value == 0 or high - low <= 2e-16 * max(abs(low), abs(high)):
            return result
    return (low + high) / 2


def _snb(sizes: _SizeCounts, population: int) -> float:
    rows = sum(size * number for size, number in sizes.items())
    fraction = rows / population
    if fraction >= 1:
        return sizes[1] / population
    if not sizes.get(2):
        return nan
    number = _shlosser(sizes, fraction)

    def ones(alpha: float, left: float) -> float:
        y = left * (1 - fraction)
        missed = exp(alpha * log1p(-left * fraction / (1 - y)))
        return number * fraction * missed * (1 + alpha * y / (1 - y))

    def alpha_of(left: float) -> float:
        y = left * (1 - fraction)

        def lacking(x: float) -> float:
            alpha = exp(x)
            pairs = fraction * alpha * left * (2 - (1 - alpha) * y)
            return sizes[2] / sizes[1] - pairs / (2 * (1 - y) * (1 - y + alpha * y))

        return exp(_ridders_root(lacking, -60.0, 60.0))

    def excess(logit: float) -> float:
        left = 1 / (1 + exp(logit))
        return ones(alpha_of(left), left) - sizes[1]

    def signed(sign: int, logit: float) -> float:
        return sign * excess(logit)

    def share_at(logit: float) -> float:
        left = 1 / (1 + exp(logit))
        return min(number * exp(alpha_of(left) * log1p(-left)) / population, 1.0)

    logits = [18 - 36 * i / 399 for i in range(400)]
    before = excess(logits[0])
    for high, low in pairwise(logits):
        after = excess(low)
        if before * after < 0:
            sign = 1 if after > 0 else -1
            return share_at(_ridders_root(partial(signed, sign), low, high))
        before = after
    return nan


def _shlosser(sizes: _SizeCounts, fraction: float) -> float:
    first = second = third = fourth = 0.0
    for size, number in sizes.items():
        missed = (1 - fraction) ** size
        first += number * size * fraction**2 * (1 - fraction**2) ** (size - 1)
        second += number * missed * ((1 + fraction) ** size - 1)
        third += number * missed
        fourth += number * size * fraction * (1 - fraction) ** (size - 1)
    return sum(sizes.values()) + sizes[1] * first / second * (third / fourth) ** 2


UNIQUES_UNIT = 10**12
"""Scores per unit: shares of a population have scores in units of 1e-12."""

ESTIMATORS: dict[str, Callable[[SizeTails, int], EstimateArray]] = {
    "dankar": estimates.dankar,
    "pitman": estimates.pitman,
    "zayatz": estimates.zayatz,
    "snb": estimates.snb,
}
_RAISED = 1 + 1e-6
"""Factor by which estimates are raised, so that the audit's different computation never finds more."""

_POPULATION = Parameter("number of people in the population", least=1)


@dataclass(frozen=True)
class PopulationUniques(ReleaseCriterion):
    """At most the share ``value`` of the ``population`` is unique in it, by an ``estimator``.

    The published records are a sample of a population of ``population`` people. If the model has no estimate
    (see ``model.population_estimates``), the release fails; without a class of one record no person is
    unique. The score is 1 minus the share, in units of 1e-12. Merging classes may raise an estimate, so the
    criterion is not monotone. Raises ``InputError`` for a population smaller than the table.
    """

    population: Any = 330_000_000
    estimator: str = "dankar"

    name: ClassVar[str] = "population_uniques"
    title: ClassVar[str] = "share of population uniques"
    citation: ClassVar[str] = "Dankar et al. (2012)"
    parameter: ClassVar[Parameter] = Parameter(
        "at most this share of the population is unique in it, by an estimate",
        least=0,
        most=1,
        whole=False,
        stops=(0.0, 1e-7, 1e-6, 1e-5, 1e-4, 0.001, 0.01, 0.02, 0.05, 0.1, 0.2),
    )
    audited_by: ClassVar[AuditedBy] = AuditedBy.SCORE
    floor: ClassVar[float] = 0.2

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(
            self, "population", _POPULATION.checked(f"the population of {self.name}", self.population)
        )
        if self.estimator not in ESTIMATORS:
            raise InputError(f"the estimator '{self.estimator}'", allowed=", ".join(ESTIMATORS))

    def tail_scores(self, tails: SizeTails) -> SizeArray:
        """Return the scores of tails from the estimate.

        Only a whole release, the first tail, can contain classes of one record; all other tails have share 0.
        """
        result = np.full(len(tails.sizes), UNIQUES_UNIT)
        if not len(tails.sizes):
            return result
        filled = tails.starts[tails.ends > tails.starts]
        if int(tails.total_rows[filled].max()) > self.population:
            raise _population_too_small(self.population)
        shares = ESTIMATORS[self.estimator](SizeTails(tails.sizes, tails.classes, filled), self.population)
        scores = UNIQUES_UNIT - np.ceil(np.minimum(shares * _RAISED, 1.0) * UNIQUES_UNIT)
        result[filled] = np.where(np.isnan(shares), -1, np.nan_to_num(scores)).astype(np.int64)
        return result

    @property
    def threshold(self) -> int:
        """1 minus the value, rounded up."""
        return UNIQUES_UNIT - int(self.value * UNIQUES_UNIT)

    def value_of(self, score: int) -> float:
        """Return the share of a score; 1 without an estimate, whose score no value meets."""
        share = min((UNIQUES_UNIT - score) / UNIQUES_UNIT, 1.0)
        return (
            share
            if UNIQUES_UNIT - int(share * UNIQUES_UNIT) <= score
            else min(float(np.nextafter(share, 2)), 1.0)
        )

    def audit_score(self, sizes: Mapping[int, int]) -> int:
        """Return the score of the published classes by the audit's independent estimate."""
        if sum(size * number for size, number in sizes.items()) > self.population:
            raise _population_too_small(self.population)
        share = audit_estimate(sizes, self.population, self.estimator)
        return -1 if isnan(share) else UNIQUES_UNIT - ceil(share * UNIQUES_UNIT)


def _population_too_small(population: int) -> InputError:
    return InputError(
        f"a population of {population:,} people is smaller than the table",
        advice="Give the number of people of whom the table's are a sample.",
    )
