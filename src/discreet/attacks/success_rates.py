"""How often guesses are right, how sure that is, and what they gain over guesses on a control set.

The interval of a rate is Wilson's (Wilson 1927). The risk of Giomi et al. 2023 is what a rate gains over the
control's, (rate − control) / (1 − control), by the middles of both intervals; its error follows from
theirs by propagation.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt


@dataclass(frozen=True)
class Rate:
    """So many guesses, of which ``right`` are right (an expected number may be no whole one)."""

    right: float
    guesses: int
    z: float

    @property
    def value(self) -> float:
        """The share of right guesses; 0 where there was none."""
        return self.right / self.guesses if self.guesses else 0.0

    @property
    def centre(self) -> float:
        """The middle of the interval; 0.5 where there was no guess."""
        n = self.guesses
        return (self.value + self.z**2 / (2 * n)) / (1 + self.z**2 / n) if n else 0.5

    @property
    def error(self) -> float:
        """Half of the interval's width."""
        n = self.guesses
        if not n:
            return 0.5
        spread = self.value * (1 - self.value) / n + self.z**2 / (4 * n * n)
        return self.z * sqrt(max(spread, 0.0)) / (1 + self.z**2 / n)

    @property
    def interval(self) -> tuple[float, float]:
        """Wilson's interval."""
        return _cut(self.centre - self.error), _cut(self.centre + self.error)


def risk_beyond(main: Rate, control: Rate) -> tuple[float, float, float]:
    """What guesses gain over the control's: the risk and the ends of its interval, all cut to 0 and 1."""
    left = 1 - control.centre
    value = (main.centre - control.centre) / left
    error = sqrt((main.error / left) ** 2 + ((main.centre - 1) / left**2 * control.error) ** 2)
    return _cut(value), _cut(value - error), _cut(value + error)


def _cut(value: float) -> float:
    return min(max(value, 0.0), 1.0)
