"""k-map (Sweeney 2002): at least k people of a population match every class."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from math import isfinite, lgamma, log
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError
from discreet.model.criteria.base import Criterion, Need, Parameter
from discreet.model.criterion_inputs import ClassPopulation, ClassValues
from discreet.model.option import OptionKind, option


class Estimator(StrEnum):
    """How many people match a class: counted in a population table, or estimated from its rows."""

    COUNTED = "counted"
    POISSON = "poisson"
    ZERO_TRUNCATED = "zero-truncated-poisson"


_LARGEST_K = 10**9
_TAIL_REACH = 9


@dataclass(frozen=True)
class KMap(Criterion):
    """At least ``value`` people match each class: those of the population table, or so many by an estimate.

    With ``estimator`` ``counted`` the score is the number of people of the spec's population whose
    generalized quasi-identifiers are those of the class. Without a population table, ``poisson`` and
    ``zero-truncated-poisson`` (El Emam and Dankar, 2008) take the table for a sample of the share
    ``fraction`` of its population. A class of f rows is believed to match k people where k people would have
    shown so many rows at most with the probability ``significance``, or where f is k itself: the rows of a
    class that matches k people are taken to be Poisson with the mean ``fraction`` · k, given that it has a
    row where the distribution is truncated. The score is the largest such k.

    People add up and the estimates never fall as classes grow, so it is growing.
    """

    estimator: str = option(
        Estimator.COUNTED, choices=Estimator, help="people are counted, or estimated from the rows of a class"
    )
    fraction: float = option(
        0.0, kind=OptionKind.DECIMAL, help="of an estimate: the share of its population that the table is"
    )
    significance: float = option(
        0.05, kind=OptionKind.DECIMAL, help="of an estimate: the probability of an error that is accepted"
    )

    name: ClassVar[str] = "k_map"
    title: ClassVar[str] = "k-map"
    citation: ClassVar[str] = "Sweeney (2002), El Emam and Dankar (2008)"
    parameter: ClassVar[Parameter] = Parameter(
        "every class matches at least so many people of the population", most=_LARGEST_K
    )
    need: ClassVar[Need] = Need.SIZE
    of_attribute: ClassVar[bool] = False
    growing: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("fraction", "significance"):
            value = getattr(self, name)
            # What is counted needs neither, and may leave them as they are proposed.
            low_end = self.estimator == Estimator.COUNTED and name == "fraction"
            right = isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value)
            if not right or not (0 < value < 1 or (low_end and value == 0)):
                raise InputError(
                    f"{name} of {self.name} = {value}",
                    allowed="a number above 0 and below 1",
                    advice="The fraction is the table's rows divided by the people of its population."
                    if name == "fraction"
                    else None,
                )
            object.__setattr__(self, name, float(value))

    @property
    def of_population(self) -> bool:
        """Where people are counted, and not estimated."""
        return self.estimator == Estimator.COUNTED

    def scores(self, sizes: NDArray[np.int64], values: ClassValues | None) -> NDArray[np.int64]:
        """The people that the sizes let believe in."""
        del values
        if self.of_population:
            raise InputError(f"{self}: {self.title} was asked without the population")
        kinds, kind = np.unique(sizes, return_inverse=True)
        found = [
            _estimated_people(self.estimator, self.fraction, self.significance, n) for n in kinds.tolist()
        ]
        return np.array(found, dtype=np.int64)[kind.ravel()]

    def scores_beside(self, sizes: NDArray[np.int64], population: ClassPopulation) -> NDArray[np.int64]:
        """The people who match, as long as the rows are theirs."""
        return np.where(sizes <= population.people, population.people, -1)

    def rows_needed(self, k: int) -> int:
        """The fewest rows of a class that let believe in k people; k of them always do."""
        return _rows_needed(self.estimator, self.fraction, self.significance, k)

    @property
    def least_rows(self) -> int:
        """What the estimate needs; nothing is known where people are counted."""
        return 1 if self.of_population else self.rows_needed(self.threshold)

    def audit_query(self, rows: str) -> str:
        """A count of people; or of rows, which are held against what each of some k needs."""
        if self.of_population:
            return f"SELECT class, CASE WHEN number > people THEN -1 ELSE people END AS score FROM {rows}"
        steps = sorted({*map(int, self.parameter.stops), self.threshold}, reverse=True)
        cases = " ".join(f"WHEN count(*) >= {self.rows_needed(k)} THEN {k}" for k in steps)
        return f"SELECT class, CASE {cases} ELSE 1 END AS score FROM {rows} GROUP BY class"


@lru_cache(maxsize=1 << 16)
def _estimated_people(estimator: str, fraction: float, significance: float, rows: int) -> int:
    """The largest k of which a class with so many rows is believed to match as many people, by bisection."""

    def right(k: int) -> bool:
        return k <= rows or _tail(estimator, rows, fraction * k) <= significance

    low, high = rows, max(2 * rows, 1)
    while high < _LARGEST_K and right(high):
        low, high = high, min(2 * high, _LARGEST_K)
    if right(high):
        return high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if right(middle) else (low, middle)
    return low


@lru_cache(maxsize=4096)
def _rows_needed(estimator: str, fraction: float, significance: float, k: int) -> int:
    """The least number of rows that a class of k people has, or more, with at most that probability."""
    low, high = 0, k
    while high - low > 1:
        middle = (low + high) // 2
        if _tail(estimator, middle, fraction * k) <= significance:
            high = middle
        else:
            low = middle
    return high


def _tail(estimator: str, rows: int, mean: float) -> float:
    """The probability of so many rows or more; of classes with a row, where the distribution is truncated.

    Terms so far from the mean that they add nothing are left out.
    """
    if rows <= 0:
        return 1.0
    reach = int(_TAIL_REACH * (mean**0.5 + _TAIL_REACH))
    last = max(rows, int(mean)) + reach
    least = max(rows, int(mean) - reach)
    if least > last:
        return 1.0
    numbers = np.arange(least, last + 1, dtype=np.float64)
    logarithms = np.zeros(len(numbers))
    logarithms[1:] = np.cumsum(np.log(mean / numbers[1:]))
    first = least * log(mean) - mean - lgamma(least + 1)
    tail = float(np.exp(first + logarithms).sum())
    return min(tail, 1.0) if estimator == Estimator.POISSON else min(tail / -float(np.expm1(-mean)), 1.0)
