"""The chance that an attacker names a published row's person right, by what the attacker knows.

The terms are those of El Emam and Dankar (2008) and, for the marketer, of Dankar and El Emam (2010).

- **Prosecutor**: the attacker knows that the person is in the release. The chance is 1/f, f the rows of the
  class.
- **Journalist**: the attacker does not know it, and has a file of the whole population. The chance is 1/F, F
  the people of that file who look like the class. Where F < f the file misses people who are in the release;
  f counts then.
- **Marketer**: the attacker tries everybody. The expected share named right is the mean over all rows of the
  chance, (1/n) Σ f/F over the classes; without a population file it is the prosecutor's mean, classes/n.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError
from discreet.measures.risk import prosecutor_risk


@dataclass(frozen=True)
class ReidentificationRisk:
    """Chances over the rows of a table, each from 0 to 1; a table without rows has none: all zero.

    ``over`` rows have a chance above the threshold that was asked.
    """

    highest: float
    mean: float
    over: int
    rows: int

    def as_json(self) -> dict[str, Any]:
        """The document's part."""
        return {
            "highest": self.highest,
            "mean": self.mean,
            "rows_over_threshold": self.over,
            "share_over_threshold": self.over / self.rows if self.rows else 0.0,
        }


@dataclass(frozen=True)
class PopulationRisk:
    """The journalist's risk, with what the population file had to offer.

    ``people`` were counted; ``incomplete`` ones lack a matched value and hide nobody. In ``thin`` classes the
    file has fewer people than the release has rows.
    """

    risk: ReidentificationRisk
    people: int
    incomplete: int
    thin: int

    def as_json(self) -> dict[str, Any]:
        """The document's part."""
        return {
            **self.risk.as_json(),
            "people": self.people,
            "incomplete_people": self.incomplete,
            "classes_with_fewer_people_than_rows": self.thin,
        }


def threshold_of(text: str, name: str = "threshold") -> Fraction:
    """A chance as an exact fraction, from ``0.05`` or ``5%``; ``InputError`` unless above 0 and at most 1."""
    given = text.strip()
    try:
        number = Fraction(given[:-1]) / 100 if given.endswith("%") else Fraction(given)
    except (ValueError, ZeroDivisionError):
        number = Fraction(0)
    if not 0 < number <= 1:
        raise InputError(f"{name} '{text}'", allowed="a share above 0 and at most 1, such as 0.05 or 5%")
    return number


def risk_of(
    rows: NDArray[np.int64], hidden_among: NDArray[np.int64], threshold: Fraction
) -> ReidentificationRisk:
    """The risk of classes of ``rows`` rows, each person hidden among so many people (at least 1 each)."""
    total = int(rows.sum())
    if not total:
        return ReidentificationRisk(0.0, 0.0, 0, 0)
    over = int(rows[hidden_among < _least_number(threshold)].sum())
    return ReidentificationRisk(
        highest=1.0 / int(hidden_among.min()),
        mean=float((rows / hidden_among).sum()) / total,
        over=over,
        rows=total,
    )


def _least_number(threshold: Fraction) -> int:
    """The least number n of people with a chance 1/n of no more than the threshold."""
    return -(-threshold.denominator // threshold.numerator)


def prosecutor(rows: NDArray[np.int64], threshold: Fraction) -> ReidentificationRisk:
    """The prosecutor's risk of classes of so many rows, at least 1 each."""
    risk = prosecutor_risk(rows)
    over = int(rows[rows < _least_number(threshold)].sum())
    return ReidentificationRisk(risk.highest, risk.mean, over, int(rows.sum()))


def journalist(
    rows: NDArray[np.int64],
    people: NDArray[np.int64],
    threshold: Fraction,
    *,
    counted: int,
    incomplete: int,
) -> PopulationRisk:
    """The journalist's risk; ``people[c]`` of the population look like class c."""
    risk = risk_of(rows, np.maximum(people, rows), threshold)
    return PopulationRisk(risk, counted, incomplete, int((people < rows).sum()))
