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
from discreet.model.criteria.base import Parameter, ScoreKey
from discreet.model.criteria.k_anonymity import SizeCriterion
from discreet.model.criterion_inputs import ClassValues
from discreet.model.option import OptionKind, option


class Estimator(StrEnum):
    """Methods to determine how many people match a class: counted in a population table, or estimated."""

    COUNTED = "counted"
    POISSON = "poisson"
    ZERO_TRUNCATED = "zero-truncated-poisson"


_LARGEST_K = 10**9
_TAIL_REACH = 9


@dataclass(frozen=True)
class KMap(SizeCriterion):
    """At least ``value`` people match each class, as counted in the population table or as estimated.

    With ``estimator`` ``counted`` the score is the number of people of the spec's population whose
    generalized quasi-identifiers are those of the class. Without a population table, ``poisson`` and
    ``zero-truncated-poisson`` (El Emam and Dankar, 2008) treat the table as a sample of the share
    ``fraction`` of its population. A class of f rows is assumed to match k people if k people would have at
    least f rows in the sample with probability at most ``significance``, or if f is at least k. The rows of a
    class that matches k people are assumed to be Poisson with the mean ``fraction`` · k, conditional on at
    least one row if the distribution is truncated. The score is the largest such k.

    People add up, and the estimates never fall as classes grow, so the criterion is growing.
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
        "every class matches at least this many people of the population", most=_LARGEST_K
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("fraction", "significance"):
            value = getattr(self, name)
            # Counting uses neither parameter, so ``fraction`` may keep its default 0.
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
        """True if people are counted instead of estimated."""
        return self.estimator == Estimator.COUNTED

    def scores(self, sizes: NDArray[np.int64], values: ClassValues | None) -> NDArray[np.int64]:
        """Return the number of people estimated from each size."""
        kinds, kind = np.unique(super().scores(sizes, values), return_inverse=True)
        found = [
            _estimated_people(self.estimator, self.fraction, self.significance, n) for n in kinds.tolist()
        ]
        return np.array(found, dtype=np.int64)[kind.ravel()]

    def rows_needed(self, k: int) -> int:
        """Return the smallest number of rows of a class for which k people are estimated; at most k."""
        return _rows_needed(self.estimator, self.fraction, self.significance, k)

    @property
    def least_rows(self) -> int:
        """Number of rows that the estimate needs; 1 if people are counted, which rows do not bound."""
        return 1 if self.of_population else self.rows_needed(self.threshold)

    @property
    def counted(self) -> ScoreKey:
        """Its own score: estimates differ from sizes."""
        return self.score

    def audit_query(self, rows: str) -> str:
        """Return SQL that counts people, or compares the number of rows with those that several k need."""
        if self.of_population:
            return super().audit_query(rows)
        steps = sorted({*map(int, self.parameter.stops), self.threshold}, reverse=True)
        cases = " ".join(f"WHEN count(*) >= {self.rows_needed(k)} THEN {k}" for k in steps)
        return f"SELECT class, CASE {cases} ELSE 1 END AS score FROM {rows} GROUP BY class"


@lru_cache(maxsize=1 << 16)
def _estimated_people(estimator: str, fraction: float, significance: float, rows: int) -> int:
    """Return the largest k for which a class of ``rows`` rows is assumed to match k people, by bisection."""

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
    """Return the least number of rows that k people reach with probability at most ``significance``."""
    low, high = 0, k
    while high - low > 1:
        middle = (low + high) // 2
        if _tail(estimator, middle, fraction * k) <= significance:
            high = middle
        else:
            low = middle
    return high


def _tail(estimator: str, rows: int, mean: float) -> float:
    """Return the probability of ``rows`` or more rows.

    For the truncated distribution, it is conditional on at least one row.

    Terms too far from the mean to affect the sum are omitted.
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
