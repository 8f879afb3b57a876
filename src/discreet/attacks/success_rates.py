"""Rates of right guesses with their intervals, and what they gain over the rates on a control set.

The people are a sample; the release is given. Where guesses are counted, the interval of a rate is Wilson's
(Wilson 1927). Where each guess has a known chance, the rate is the mean of these chances, and its variance is
theirs divided by their number: less than that of as many single trials, often by far. The interval is then
Wilson's for the number of trials that have this variance (the effective sample size of Kish 1965), with the
largest chance as the unit. It equals Wilson's where every chance is 0 or 1.

The risk of Giomi et al. 2023 is what a rate gains over the control's, (rate − control) / (1 − control), by
the middles of both intervals; its error follows from theirs by propagation.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, sqrt

from discreet.attacks.guesses import Chances


@dataclass(frozen=True)
class Rate:
    """The share of right guesses.

    ``right`` is the number of right guesses, or its expected value, of ``guesses``. ``variance`` is that of
    the guesses' chances, None for guesses that were counted; ``most`` is the largest chance of a guess.
    """

    right: float
    guesses: int
    z: float
    variance: float | None = None
    most: float = 1.0

    @property
    def value(self) -> float:
        """The share of right guesses; 0 where there was none."""
        return self.right / self.guesses if self.guesses else 0.0

    @property
    def trials(self) -> float:
        """The number of single trials, each worth 0 or ``most``, that have the variance of the rate."""
        single = self._share * (1 - self._share)
        if self.variance is None or single == 0:
            return self.guesses
        if not self.variance:
            return inf
        return max(self.guesses * single * self.most**2 / self.variance, self.guesses)

    @property
    def centre(self) -> float:
        """The middle of the interval; 0.5 where there was no guess."""
        if not self.guesses:
            return 0.5
        n = self.trials
        return self.most * (self._share + self.z**2 / (2 * n)) / (1 + self.z**2 / n)

    @property
    def error(self) -> float:
        """Half of the interval's width."""
        if not self.guesses:
            return 0.5
        n = self.trials
        spread = self._share * (1 - self._share) / n + self.z**2 / (4 * n * n)
        return self.most * self.z * sqrt(spread) / (1 + self.z**2 / n)

    @property
    def interval(self) -> tuple[float, float]:
        """The ends of the interval."""
        return _cut(self.centre - self.error), _cut(self.centre + self.error)

    @property
    def _share(self) -> float:
        """The rate in units of the largest chance."""
        return min(self.value / self.most, 1.0)


def mean_rates(samples: Sequence[Chances], z: float, most: float | None = None) -> tuple[Rate, ...]:
    """Return the mean chance of each sample of people.

    ``most`` is the largest chance that anybody may have; None is the largest in all samples.
    """
    if most is None:
        most = max(float(each.right[each.rows > 0].max(initial=0.0)) for each in samples) or 1.0
    return tuple(_mean_rate(each, z, most) for each in samples)


def _mean_rate(sample: Chances, z: float, most: float) -> Rate:
    guesses = int(sample.rows.sum())
    if not guesses:
        return Rate(0.0, 0, z, 0.0, most)
    right = float((sample.right * sample.rows).sum())
    around = sample.right - right / guesses
    return Rate(right, guesses, z, float((around * around * sample.rows).sum()) / guesses, most)


def risk_beyond(main: Rate, control: Rate) -> tuple[float, float, float]:
    """Return what guesses gain over the control's: the risk and the ends of its interval, cut to 0 and 1."""
    left = 1 - control.centre
    if left <= 0:
        return 0.0, 0.0, 1.0
    value = (main.centre - control.centre) / left
    error = sqrt((main.error / left) ** 2 + ((main.centre - 1) / left**2 * control.error) ** 2)
    return _cut(value), _cut(value - error), _cut(value + error)


def _cut(value: float) -> float:
    return min(max(value, 0.0), 1.0)
