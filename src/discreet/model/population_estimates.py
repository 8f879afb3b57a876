"""How many records are unique in a population of which they are a sample, estimated from class sizes.

With N people, a sample of n records in u classes, s_j of them of size j, and the sampling fraction f = n/N:

* **Zayatz** (Zayatz, 1991): a class of one record in the sample is one of one person with the conditional
  probability s_1 P(1|1) / Σ s_j P(1|j), where P(1|j) is the hypergeometric chance that one of j people of the
  N is among the n. That share of the s_1 uniques, divided by f, is unique in the population.
* **Pitman** (Hoshino, 2001): class sizes follow Pitman's sampling formula with parameters θ and α, of which
  the likelihood is greatest where Σ_{i<u} 1/(θ + iα) = Σ_{i<n} 1/(θ + i) and Σ_{i<u} i/(θ + iα) =
  Σ s_j Σ_{i<j} 1/(i − α). The population's uniques are Γ(θ + 1)/Γ(θ + α) N^α. For each α the first has one
  root θ, so both are solved by bisection; where the likelihood falls from α = 0 on, α is 0 (Ewens's formula).
* **SNB** (Chen and Keller-McNulty, 1998): sizes in the population are one more than a negative binomial
  number with parameters α and β; K classes, by the estimate of Shlosser modified by Haas and Stokes (1998),
  and the expected s_1 and s_2 of a Bernoulli sample tell both. The uniques are K β^α. Their quotient makes α
  the root of a quadratic for each β, which is
  found by bisection where the expected s_1 crosses s_1, the β nearest to 1 where there are several.
* **Dankar** (Dankar et al., 2012): Pitman where f is at most 0.1, else the smaller of Zayatz and SNB.

Every estimate is a share of the population; 0 where no record is unique in the sample, 1 at most, and NaN
where a model has none: Pitman of uniques alone, SNB without a class of two.

Cost: Pitman evaluates its sums over the entries of all releases together, some fifty times.
"""

from __future__ import annotations

from collections.abc import Callable
from math import lgamma

import numpy as np
from numpy.typing import NDArray

from discreet.model.size_tails import SizeTails, Whole

Real = NDArray[np.float64]

_STEPS = 50
_LEAST_ALPHA = 1e-4
_SETTLED = 1e-14
_SMALL_FRACTION = 0.1
_FAR = 10.0
_LOGITS = np.linspace(18.0, -18.0, 400)


def dankar(tails: SizeTails, population: int) -> Real:
    """The share of population uniques of each release by the estimator of Dankar et al. (2012)."""
    fraction = _rows(tails) / population
    found = np.full(len(tails.starts), np.nan)
    small = fraction <= _SMALL_FRACTION
    if small.any():
        found[small] = pitman(_some(tails, small), population)
    if not small.all():
        others = _some(tails, ~small)
        found[~small] = np.fmin(snb(others, population), zayatz(others, population))
    return found


def zayatz(tails: SizeTails, population: int) -> Real:
    """The share by Zayatz."""
    return _each(tails, lambda sizes, classes: _zayatz(sizes, classes, population))


def snb(tails: SizeTails, population: int) -> Real:
    """The share by the shifted negative binomial model."""
    return _each(tails, lambda sizes, classes: _snb(sizes, classes, population))


def pitman(tails: SizeTails, population: int) -> Real:
    """The share by Pitman's model."""
    uniques, rows, classes = _uniques(tails), _rows(tails), _classes(tails)
    found = np.where(uniques > 0, np.nan, 0.0)
    told = (uniques > 0) & (rows > classes)
    if told.any():
        model = _PitmanModel(
            _some(tails, told), rows[told].astype(np.float64), classes[told].astype(np.float64)
        )
        with np.errstate(all="ignore"):  # far from the root sums are 0 or infinite
            found[told] = model.share(population)
    return found


class _PitmanModel:
    """The derivatives of the log-likelihood, of many releases at once."""

    def __init__(self, tails: SizeTails, rows: Real, classes: Real) -> None:
        self._sizes = tails.sizes.astype(np.float64)
        self._counts = tails.classes
        self._lengths = tails.ends - tails.starts
        self._ends = tails.ends
        self._rows, self._classes = rows, classes

    def share(self, population: int) -> Real:
        """The estimate."""
        every = np.arange(len(self._rows))
        low, high = np.full(len(every), _LEAST_ALPHA), np.full(len(every), 1.0 - 1e-13)
        ewens = self.slope(low, every) <= 0
        others = every[~ewens]
        alpha = np.zeros(len(every))
        alpha[others] = _crossing(lambda x, some: self.slope(x, others[some]), low[others], high[others])
        theta = self.theta(np.maximum(alpha, _LEAST_ALPHA), every)
        theta[ewens] = self.theta_of_ewens(every[ewens])
        logs = [lgamma(t + 1) - lgamma(t + a) for t, a in zip(theta.tolist(), alpha.tolist(), strict=True)]
        found: Real = np.exp(np.minimum(np.array(logs) + (alpha - 1) * np.log(population), 0.0))
        return found

    def theta(self, alpha: Real, releases: Whole) -> Real:
        """The root θ > −α of the first equation; its left side falls below its right one there."""
        rows, classes = self._rows[releases], self._classes[releases]

        def excess(theta: Real, some: Whole) -> Real:
            a = alpha[some]
            ours = np.log(_reciprocals(theta / a, classes[some]) / a)
            return ours - np.log(_reciprocals(theta, rows[some]))

        return _root(excess, -alpha)

    def theta_of_ewens(self, releases: Whole) -> Real:
        """The same for α = 0."""
        rows, classes = self._rows[releases], self._classes[releases]

        def excess(theta: Real, some: Whole) -> Real:
            found: Real = np.log((classes[some] - 1) / theta) - np.log(_reciprocals(theta, rows[some]))
            return found

        return _root(excess, np.zeros(len(releases)))

    def slope(self, alpha: Real, releases: Whole) -> Real:
        """The logarithm of the second equation's quotient: positive while the likelihood rises."""
        theta, classes, lengths = (
            self.theta(alpha, releases),
            self._classes[releases],
            self._lengths[releases],
        )
        first = (classes - 1) / alpha - theta / alpha**2 * _reciprocals(theta / alpha, classes)
        ends = np.cumsum(lengths)
        entries = np.arange(int(lengths.sum())) + np.repeat(self._ends[releases] - ends, lengths)
        shifted = self._sizes[entries] - np.repeat(alpha, lengths)
        sums = digamma(shifted) - np.repeat(digamma(1 - alpha), lengths)
        totals = np.append(0.0, np.cumsum(self._counts[entries] * sums))
        quotient: Real = np.log(first) - np.log(totals[ends] - totals[ends - lengths])
        return quotient


Excess = Callable[[Real, Whole], Real]
"""A function of each of some numbers, the first of whatever these places say."""


def _root(excess: Excess, above: Real) -> Real:
    """Where each of many functions of what is larger than ``above`` falls from above 0 to below."""
    low, high = np.full(len(above), -25.0), np.full(len(above), 25.0)
    return above + np.exp(_crossing(lambda x, some: excess(above[some] + np.exp(x), some), low, high))


def _crossing(function: Excess, low: Real, high: Real) -> Real:
    """Where each of many functions falls from above 0 to below, between two ends, by Ridders (1979).

    ``function`` is told the places of those that are asked: what has settled is left alone.
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
        for place, number in ((middle, half), (found, value)):
            inside = (place >= low) & (place <= high)
            rises = number > 0
            low, above = np.where(inside & rises, place, low), np.where(inside & rises, number, above)
            high, below = np.where(inside & ~rises, place, high), np.where(inside & ~rises, number, below)
        result[some] = found
        narrow = high - low <= 1e-15 * np.maximum(np.abs(low), np.abs(high))
        open_ones = ~(narrow | (np.abs(value) <= _SETTLED))
        some, low, high = some[open_ones], low[open_ones], high[open_ones]
        above, below = above[open_ones], below[open_ones]
    return result


def digamma(x: Real) -> Real:
    """The logarithmic derivative of Γ, of positive numbers: shifted beyond 10, an asymptotic series."""
    found, x = np.zeros_like(x), x.copy()
    small = np.flatnonzero(x < _FAR)
    if len(small):
        # Only what is near is shifted, which takes as long as all else.
        near = x[small]
        steps = sum(1 / (near + step) for step in range(int(_FAR)))
        found[small] -= steps
        x[small] += _FAR
    y = 1 / (x * x)
    series = y * (1 / 12 - y * (1 / 120 - y * (1 / 252 - y * (1 / 240 - y * (1 / 132)))))
    return found + np.log(x) - 0.5 / x - series


def _reciprocals(x: Real, number: Real) -> Real:
    """Σ 1/(x + i) for i from 1 to ``number`` − 1."""
    return digamma(x + number) - digamma(x + 1)


def _zayatz(sizes: Whole, classes: Whole, population: int) -> float:
    rows = int((sizes * classes).sum())
    steps = np.arange(1, int(sizes[-1]))
    # P(1|j) by P(1|1) is j times the product of (N - n + 1 - i) / (N - i) over i below j.
    with np.errstate(divide="ignore"):
        logs = np.log(np.maximum(population - rows + 1 - steps, 0)) - np.log(population - steps)
    chances = sizes * np.exp(np.append(0.0, np.cumsum(logs))[sizes - 1])
    uniques = float(classes[0])
    return uniques * uniques / float((classes * chances).sum()) / rows


def _snb(sizes: Whole, classes: Whole, population: int) -> float:
    rows = int((sizes * classes).sum())
    fraction = rows / population
    pairs = float(classes[1]) if len(sizes) > 1 and sizes[1] == 2 else 0.0
    if fraction >= 1:
        return float(classes[0]) / population
    if not pairs:
        return np.nan
    ones = float(classes[0])
    number = _shlosser(sizes.astype(np.float64), classes.astype(np.float64), fraction)

    def alpha_of(left: Real) -> Real:
        y = left * (1 - fraction)
        d = 1 - y
        a = fraction * left * y
        b = fraction * left * (2 - y) - 2 * pairs / ones * d * y
        c = -2 * pairs / ones * d * d
        root = np.sqrt(b * b - 4 * a * c)
        return np.where(b > 0, -2 * c / (b + root), (root - b) / (2 * a))

    def excess(logit: Real) -> Real:
        left = 1 / (1 + np.exp(logit))  # 1 − β, which is small where β is not
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


def _shlosser(sizes: Real, classes: Real, fraction: float) -> float:
    """The number of classes in the population."""
    left = (1 - fraction) ** sizes
    squared = fraction * fraction
    first = (sizes * squared * (1 - squared) ** (sizes - 1) * classes).sum()
    second = (left * ((1 + fraction) ** sizes - 1) * classes).sum()
    third = (left * classes).sum()
    fourth = (sizes * fraction * (1 - fraction) ** (sizes - 1) * classes).sum()
    return float(classes.sum() + classes[0] * first / second * (third / fourth) ** 2)


def _each(tails: SizeTails, estimate: Callable[[Whole, Whole], float]) -> Real:
    """An estimate of each release that has a class of one record, 0 of others."""
    found = np.zeros(len(tails.starts))
    for place, (start, end) in enumerate(zip(tails.starts.tolist(), tails.ends.tolist(), strict=True)):
        if end > start and tails.sizes[start] == 1:
            found[place] = estimate(tails.sizes[start:end], tails.classes[start:end])
    return _within(tails, found)


def _within(tails: SizeTails, share: Real) -> Real:
    return np.where(_uniques(tails) > 0, np.minimum(share, 1.0), 0.0)


def _uniques(tails: SizeTails) -> Whole:
    return _sums(tails, tails.classes * (tails.sizes == 1))


def _rows(tails: SizeTails) -> Whole:
    return _sums(tails, tails.sizes * tails.classes)


def _classes(tails: SizeTails) -> Whole:
    return _sums(tails, tails.classes)


def _sums(tails: SizeTails, values: Whole) -> Whole:
    totals = np.zeros(len(values) + 1, np.int64)
    np.cumsum(values, out=totals[1:])
    return totals[tails.ends] - totals[tails.starts]


def _some(tails: SizeTails, releases: NDArray[np.bool_]) -> SizeTails:
    """Some of the releases."""
    kept = np.repeat(releases, tails.ends - tails.starts)
    lengths = (tails.ends - tails.starts)[releases]
    return SizeTails(tails.sizes[kept], tails.classes[kept], np.cumsum(lengths) - lengths)
