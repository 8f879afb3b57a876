"""Criteria of class sizes: k-anonymity (Samarati 2001; Sweeney 2002), and the highest risk.

k-anonymity requires k rows, or k subjects, in every class; the highest risk of re-identification (El Emam and
Dankar 2008) is 1 / size of the smallest class.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError
from discreet.model.criteria.base import Criterion, Need, Parameter, ScoreKey
from discreet.model.criterion_inputs import ClassPopulation, ClassValues

LOW_K = 5
"""Smallest k that publishers commonly require."""


@dataclass(frozen=True)
class SizeCriterion(Criterion):
    """A criterion of the rows of each class, or of the people of the population who match it.

    The score is their number. A union adds up rows and people, so such a criterion is growing.
    """

    need: ClassVar[Need] = Need.SIZE
    of_attribute: ClassVar[bool] = False
    growing: ClassVar[bool] = True

    def scores(self, sizes: NDArray[np.int64], values: ClassValues | None) -> NDArray[np.int64]:
        """Return the sizes."""
        del values
        if self.of_population:
            raise InputError(f"{self}: {self.title} requires the population")
        return sizes

    def population_scores(self, sizes: NDArray[np.int64], population: ClassPopulation) -> NDArray[np.int64]:
        """Return the people matching each class, or -1 if the class has more rows than people."""
        return np.where(sizes <= population.people, population.people, -1)

    @property
    def least_rows(self) -> int:
        """Threshold: n subjects have at least n rows. It is 1 for people, whom rows do not bound."""
        return 1 if self.of_population else self.threshold

    @property
    def counted(self) -> ScoreKey:
        """Score of the class sizes, which k uses, too; its own score if people are counted."""
        return self.score if self.of_population else ScoreKey(KAnonymity)

    def audit_query(self, rows: str) -> str:
        """Return SQL that counts rows, or people."""
        if self.of_population:
            return f"SELECT class, CASE WHEN number > people THEN -1 ELSE people END AS score FROM {rows}"
        return f"SELECT class, count(*) AS score FROM {rows} GROUP BY class"


@dataclass(frozen=True)
class KAnonymity(SizeCriterion):
    """A class has at least ``value`` rows, or distinct subjects if the spec names a subject."""

    name: ClassVar[str] = "k"
    title: ClassVar[str] = "k-anonymity"
    citation: ClassVar[str] = "Samarati (2001), Sweeney (2002)"
    parameter: ClassVar[Parameter] = Parameter("every class has at least this many rows (or subjects)")
    has_keyword: ClassVar[bool] = True
    counted_by_engines: ClassVar[bool] = True

    def warnings(self) -> tuple[tuple[str, str], ...]:
        """Return a warning for a k that publishers consider low."""
        if self.value >= LOW_K:
            return ()
        return (("low-k", f"k is {self.value}; publishers commonly require {LOW_K} or more."),)


@dataclass(frozen=True)
class HighestRisk(SizeCriterion):
    """1 / size is at most ``value`` in every class: k-anonymity expressed as a risk."""

    name: ClassVar[str] = "highest_risk"
    title: ClassVar[str] = "highest risk of re-identification"
    citation: ClassVar[str] = "El Emam and Dankar (2008)"
    parameter: ClassVar[Parameter] = Parameter(
        "1 / rows (or subjects) of every class is at most this",
        least=1e-9,
        most=1,
        whole=False,
        stops=(0.01, 0.02, 0.04, 0.05, 0.075, 0.09, 0.1, 0.15, 0.2, 0.25, 0.33, 0.5),
    )
    floor: ClassVar[float] = 0.5

    @property
    def threshold(self) -> int:
        """Smallest size with a risk of at most the value."""
        return size_at_risk(self.value)

    def value_of(self, score: int) -> float:
        """Return the risk in a class of this size."""
        return 1 / max(score, 1)


def size_at_risk(risk: float) -> int:
    """Return the smallest size s with 1 / s of at most a positive risk, both as doubles.

    For example, 3 for the double nearest to 1 / 3.
    """
    size = max(ceil(1 / risk), 1)
    # The reciprocal is rounded, so the result may be one of the neighbouring sizes.
    while size > 1 and 1 / (size - 1) <= risk:
        size -= 1
    while 1 / size > risk:
        size += 1
    return size
