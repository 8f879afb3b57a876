"""Estimates of population uniques from the class sizes of a sample: Zayatz, Pitman, SNB and Dankar.

With N people, a sample of n records in u classes, s_j of them of size j, and the sampling fraction f = n/N:

- **Zayatz** (Zayatz, 1991): a class of one record in the sample is a class of one person in the population
  with the conditional probability s_1 P(1|1) / Σ s_j P(1|j), where P(1|j) is the hypergeometric probability
  that one of j people of the N is among the n. That share of the s_1 uniques, divided by f, is unique in the
  population.
- **Pitman** (Hoshino, 2001): class sizes follow Pitman's sampling formula with parameters θ and α. The
  likelihood is greatest where Σ_{i<u} 1/(θ + iα) = Σ_{i<n} 1/(θ + i) and Σ_{i<u} i/(θ + iα) = Σ s_j Σ_{i<j}
  1/(i − α). The population's uniques are Γ(θ + 1)/Γ(θ + α) N^α. For each α the first equation has one root θ,
  so both are solved by bracketing; if the likelihood falls from α = 0 on, α is 0 (Ewens's formula).
- **SNB** (Chen and Keller-McNulty, 1998): sizes in the population are one more than a negative binomial
  number with parameters α and β; K classes, by the estimate of Shlosser modified by Haas and Stokes (1998),
  and the expected s_1 and s_2 of a Bernoulli sample determine both. The uniques are K β^α. The quotient of
  s_2 and s_1 makes α the root of a quadratic for each β. β is found by bisection where the expected s_1
  crosses s_1, the one nearest to 1 if there are several.
- **Dankar** (Dankar et al., 2012): Pitman if f is at most 0.1, else the smaller of Zayatz and SNB.

Every estimate is a share of the population: 0 if no record is unique in the sample, at most 1, and NaN if a
model has no estimate: Pitman of only uniques, SNB without a class of two. Cost: Pitman evaluates its sums
over the entries of all releases together, some fifty times.
"""

from __future__ import annotations

from collections.abc import Callable
from math import lgamma

import numpy as np
from numpy.typing import NDArray

from discreet.model.criterion_inputs import SizeArray, SizeTails

EstimateArray = NDArray[np.float64]

_STEPS = 50
_LEAST_ALPHA = 1e-4
_TOLERANCE = 1e-14
_SMALL_FRACTION = 0.1
_ASYMPTOTIC_FROM = 10.0
_LOGITS = np.linspace(18.0, -18.0, 400)


def dankar(tails: SizeTails, population: int) -> EstimateArray:
    """Estimate the share of population uniques of each release by Dankar et al. (2012).

    Parameters
    ----------
    tails : SizeTails
        The class sizes of one or several releases, each a sample of the population.
    population : int
        Number of people in the population.

    Returns
    -------
    ndarray of float, shape ``(releases,)``
        Share of the population that is unique in it: 0 if no record is unique in the sample, at most 1,
        NaN if the models have no estimate.

    References
    ----------
    Dankar et al., 2012: Pitman's model if the sampling fraction is at most 0.1, otherwise the smaller of the
    estimates by Zayatz (1991) and by the shifted negative binomial model (Chen and Keller-McNulty, 1998).
    """
    fraction = _rows(tails) / population
    result = np.full(len(tails.starts), np.nan)
    small = fraction <= _SMALL_FRACTION
    if small.any():
        result[small] = pitman(_select_releases(tails, small), population)
    if not small.all():
        others = _select_releases(tails, ~small)
        result[~small] = np.fmin(snb(others, population), zayatz(others, population))
    return result


def zayatz(tails: SizeTails, population: int) -> EstimateArray:
    """Estimate the share of population uniques of each release by Zayatz."""
    return _estimate_each(tails, lambda sizes, classes: _zayatz(sizes, classes, population))


def snb(tails: SizeTails, population: int) -> EstimateArray:
    """Estimate the share of population uniques of each release by the shifted negative binomial model."""
    return _estimate_each(tails, lambda sizes, classes: _snb(sizes, classes, population))


def pitman(tails: SizeTails, population: int) -> EstimateArray:
    """Estimate the share of population uniques of each release by Pitman's model."""
    uniques, rows, classes = _uniques(tails), _rows(tails), _classes(tails)
    result = np.where(uniques > 0, np.nan, 0.0)
    estimable = (uniques > 0) & (rows > classes)
    if estimable.any():
        model = _PitmanModel(
            _select_releases(tails, estimable),
            rows[estimable].astype(np.float64),
            classes[estimable].astype(np.float64),
        )
        with np.errstate(all="ignore"):  # far from the root sums are 0 or infinite
            result[estimable] = model.share(population)
    return result


class _PitmanModel:
    """Derivatives of Pitman's log-likelihood, of several releases at once."""

    def __init__(self, tails: SizeTails, rows: EstimateArray, classes: EstimateArray) -> None:
        self._sizes = tails.sizes.astype(np.float64)
        self._counts = tails.classes
        self._lengths = tails.ends - tails.starts
        self._ends = tails.ends
        self._rows, self._classes = rows, classes

    def share(self, population: int) -> EstimateArray:
        """Return the estimated share of each release."""
        every = np.arange(len(self._rows))
        low, high = np.full(len(every), _LEAST_ALPHA), np.full(len(every), 1.0 - 1e-13)
        ewens = self.slope(low, every) <= 0
        others = every[~ewens]
        alpha = np.zeros(len(every))
        alpha[others] = _find_crossing(lambda x, some: self.slope(x, others[some]), low[others], high[others])
        theta = self.theta(np.maximum(alpha, _LEAST_ALPHA), every)
        theta[ewens] = self.theta_of_ewens(every[ewens])
        logs = [lgamma(t + 1) - lgamma(t + a) for t, a in zip(theta.tolist(), alpha.tolist(), strict=True)]
        result: EstimateArray = np.exp(np.minimum(np.array(logs) + (alpha - 1) * np.log(population), 0.0))
        return result

    def theta(self, alpha: EstimateArray, releases: SizeArray) -> EstimateArray:
        """Return the root θ > −α of the first equation, at which its left side falls below its right side."""
        rows, classes = self._rows[releases], self._classes[releases]

        def excess(theta: EstimateArray, some: SizeArray) -> EstimateArray:
            a = alpha[some]
            ours = np.log(_reciprocal_sum(theta / a, classes[some]) / a)
            return ours - np.log(_reciprocal_sum(theta, rows[some]))

        return _find_root(excess, -alpha)

    def theta_of_ewens(self, releases: SizeArray) -> EstimateArray:
        """Return the root θ of the first equation for α = 0."""
        rows, classes = self._rows[releases], self._classes[releases]

        def excess(theta: EstimateArray, some: SizeArray) -> EstimateArray:
            result: EstimateArray = np.log((classes[some] - 1) / theta) - np.log(
                _reciprocal_sum(theta, rows[some])
            )
            return result

        return _find_root(excess, np.zeros(len(releases)))

    def slope(self, alpha: EstimateArray, releases: SizeArray) -> EstimateArray:
        """Return the logarithm of the second equation's quotient: positive while the likelihood rises."""
        theta, classes, lengths = (
            self.theta(alpha, releases),
            self._classes[releases],
            self._lengths[releases],
        )
        first = (classes - 1) / alpha - theta / alpha**2 * _reciprocal_sum(theta / alpha, classes)
        ends = np.cumsum(lengths)
        entries = np.arange(int(lengths.sum())) + np.repeat(self._ends[releases] - ends, lengths)
        shifted = self._sizes[entries] - np.repeat(alpha, lengths)
        sums = digamma(shifted) - np.repeat(digamma(1 - alpha), lengths)
        totals = np.append(0.0, np.cumsum(self._counts[entries] * sums))
        quotient: EstimateArray = np.log(first) - np.log(totals[ends] - totals[ends - lengths])
        return quotient


Residual = Callable[[EstimateArray, SizeArray], EstimateArray]
"""A vectorized function whose second argument contains the indices of the elements of the first."""


def _find_root(excess: Residual, above: EstimateArray) -> EstimateArray:
    """Return for each function the number above ``above`` at which it changes from positive to negative."""
    low, high = np.full(len(above), -25.0), np.full(len(above), 25.0)
    return above + np.exp(_find_crossing(lambda x, some: excess(above[some] + np.exp(x), some), low, high))


def _find_crossing(function: Residual, low: EstimateArray, high: EstimateArray) -> EstimateArray:
    """Return where each function falls from positive to negative between two ends, by Ridders (1979).

    ``function`` receives the indices of the elements to evaluate: elements that have converged are skipped.
    """
    some = np.arange(len(low))
    above, below, result = function(low, some), function(high, some), low.copy()
    for _ in range(_STEPS):
        if not len(some):
            break
        middle = (low + high) / 2
        half = function(middle, some)
        root = np.sqrt(half * half - above * below)
        found = np.where(root > 0, middle + (middle - low) * half / np.where(root > 0, root, 1.0), middle)
        value = function(found, some)
        for point, number in ((middle, half), (found, value)):
            inside = (point >= low) & (point <= high)
            rises = number > 0
            low, above = np.where(inside & rises, point, low), np.where(inside & rises, number, above)
            high, below = np.where(inside & ~rises, point, high), np.where(inside & ~rises, number, below)
        result[some] = found
        narrow = high - low <= 1e-15 * np.maximum(np.abs(low), np.abs(high))
        open_ones = ~(narrow | (np.abs(value) <= _TOLERANCE))
        some, low, high = some[open_ones], low[open_ones], high[open_ones]
        above, below = above[open_ones], below[open_ones]
    return result


def digamma(x: EstimateArray) -> EstimateArray:
    """Compute the digamma function of positive numbers by an asymptotic series, after a shift beyond 10."""
    found, x = np.zeros_like(x), x.copy()
    small = np.flatnonzero(x < _ASYMPTOTIC_FROM)
    if len(small):
        # The shift takes as long as the rest, so it is applied only to small numbers.
        near = x[small]
        steps = sum(1 / (near + step) for step in range(int(_ASYMPTOTIC_FROM)))
        found[small] -= steps
        x[small] += _ASYMPTOTIC_FROM
    y = 1 / (x * x)
    series = y * (1 / 12 - y * (1 / 120 - y * (1 / 252 - y * (1 / 240 - y * (1 / 132)))))
    return found + np.log(x) - 0.5 / x - series


def _reciprocal_sum(x: EstimateArray, number: EstimateArray) -> EstimateArray:
    """Return Σ 1/(x + i) for i from 1 to ``number`` − 1."""
    return digamma(x + number) - digamma(x + 1)


def _zayatz(sizes: SizeArray, classes: SizeArray, population: int) -> float:
    rows = int((sizes * classes).sum())
    steps = np.arange(1, int(sizes[-1]))
    # P(1|j) / P(1|1) is j times the product of (N - n + 1 - i) / (N - i) over i below j.
    with np.errstate(divide="ignore"):
        logs = np.log(np.maximum(population - rows + 1 - steps, 0)) - np.log(population - steps)
    chances = sizes * np.exp(np.append(0.0, np.cumsum(logs))[sizes - 1])
    uniques = float(classes[0])
    return uniques * uniques / float((classes * chances).sum()) / rows


def _snb(sizes: SizeArray, classes: SizeArray, population: int) -> float:
    rows = int((sizes * classes).sum())
    fraction = rows / population
    pairs = float(classes[1]) if len(sizes) > 1 and sizes[1] == 2 else 0.0
    if fraction >= 1:
        return float(classes[0]) / population
    if not pairs:
        return np.nan
    ones = float(classes[0])
    number = _shlosser(sizes.astype(np.float64), classes.astype(np.float64), fraction)

    def alpha_of(left: EstimateArray) -> EstimateArray:
        y = left * (1 - fraction)
        d = 1 - y
        a = fraction * left * y
        b = fraction * left * (2 - y) - 2 * pairs / ones * d * y
        c = -2 * pairs / ones * d * d
        root = np.sqrt(b * b - 4 * a * c)
        return np.where(b > 0, -2 * c / (b + root), (root - b) / (2 * a))

    def excess(logit: EstimateArray) -> EstimateArray:
        left = 1 / (1 + np.exp(logit))  # 1 − β, which is small if β is near 1
        alpha, d = alpha_of(left), 1 - left * (1 - fraction)
        power = np.exp(alpha * np.log1p(-left * fraction / d))
        return number * fraction * power * (1 + alpha * (1 - d) / d) - ones

    with np.errstate(all="ignore"):
        signs = np.sign(excess(_LOGITS))
        changes = np.flatnonzero(signs[1:] * signs[:-1] < 0)
        if not len(changes):
            return np.nan
        low, high = _LOGITS[changes[0]], _LOGITS[changes[0] + 1]
        for _ in range(_STEPS + 10):
            middle = (low + high) / 2
            low, high = (middle, high) if np.sign(excess(middle)) == signs[changes[0]] else (low, middle)
        left = np.array(1 / (1 + np.exp((low + high) / 2)))
        share = number * np.exp(alpha_of(left) * np.log1p(-left)) / population
        return float(min(share, 1.0))


def _shlosser(sizes: EstimateArray, classes: EstimateArray, fraction: float) -> float:
    """Estimate the number of classes in the population."""
    left = (1 - fraction) ** sizes
    squared = fraction * fraction
    first = (sizes * squared * (1 - squared) ** (sizes - 1) * classes).sum()
    second = (left * ((1 + fraction) ** sizes - 1) * classes).sum()
    third = (left * classes).sum()
    fourth = (sizes * fraction * (1 - fraction) ** (sizes - 1) * classes).sum()
    return float(classes.sum() + classes[0] * first / second * (third / fourth) ** 2)


def _estimate_each(tails: SizeTails, estimate: Callable[[SizeArray, SizeArray], float]) -> EstimateArray:
    """Estimate the share of each release with a class of one record; 0 for others."""
    found = np.zeros(len(tails.starts))
    for index, (start, end) in enumerate(zip(tails.starts.tolist(), tails.ends.tolist(), strict=True)):
        if end > start and tails.sizes[start] == 1:
            found[index] = estimate(tails.sizes[start:end], tails.classes[start:end])
    return _bounded_share(tails, found)


def _bounded_share(tails: SizeTails, share: EstimateArray) -> EstimateArray:
    return np.where(_uniques(tails) > 0, np.minimum(share, 1.0), 0.0)


def _uniques(tails: SizeTails) -> SizeArray:
    return _sums(tails, tails.classes * (tails.sizes == 1))


def _rows(tails: SizeTails) -> SizeArray:
    return _sums(tails, tails.sizes * tails.classes)


def _classes(tails: SizeTails) -> SizeArray:
    return _sums(tails, tails.classes)


def _sums(tails: SizeTails, values: SizeArray) -> SizeArray:
    totals = np.zeros(len(values) + 1, np.int64)
    np.cumsum(values, out=totals[1:])
    return totals[tails.ends] - totals[tails.starts]


def _select_releases(tails: SizeTails, releases: NDArray[np.bool_]) -> SizeTails:
    """Return the tails of the selected releases."""
    selected = np.repeat(releases, tails.ends - tails.starts)
    lengths = (tails.ends - tails.starts)[releases]
    return SizeTails(tails.sizes[selected], tails.classes[selected], np.cumsum(lengths) - lengths)
