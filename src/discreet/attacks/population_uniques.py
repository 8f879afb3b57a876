"""Rows that are likely to be alone in the population, of which the table is a sample.

Who is alone in the sample need not be alone in the population. How many are is estimated from the class sizes
by the four estimators of the criterion ``population-uniques`` (``model.population_estimates``): Pitman
(Hoshino 2001), Zayatz (1991), SNB (Chen and Keller-McNulty 1998), and the rule of Dankar et al. (2012) that
chooses among them.

The chance of a row's person is estimated, too (Benedetti and Franconi 1998; Capobianchi, Polettini and
Lucarelli 2001): with f rows in the sample and an estimate F of the people of the class, p = f/F, the people
F' follow a negative binomial distribution given f, and the chance is the mean of 1/F',

    E(1/F' | f) = p^f ∫ t^(f−1) / (1 − t(1 − p))^f dt over t from 0 to 1,

which for one row is p/(1 − p) · ln(1/p). F is here f · N/n, for all rows alike.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.attacks.declaration import Attack
from discreet.attacks.finding import Figure, Finding, FoundTable, Value, ValueKind, chance, columns, count
from discreet.attacks.grounds import Grounds, Side
from discreet.errors import InputError
from discreet.model import population_estimates as estimates
from discreet.model.option import OptionKind, option
from discreet.model.size_tails import SizeTails

Real = NDArray[np.float64]

_ESTIMATORS = {
    "Dankar": estimates.dankar,
    "Pitman": estimates.pitman,
    "Zayatz": estimates.zayatz,
    "SNB": estimates.snb,
}
_EXACT, _TERMS = 40, 30
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(200)


@dataclass(frozen=True)
class PopulationUniques(Attack):
    """Estimates of who is alone in the population, from its size."""

    name: ClassVar[str] = "population-uniques"
    title: ClassVar[str] = "Alone in the population"
    text: ClassVar[str] = "The table is a sample: how many of its rows are alone in the whole population?"
    source: ClassVar[str] = "Dankar et al. 2012; Benedetti and Franconi 1998"

    people: int | None = option(
        kind=OptionKind.WHOLE,
        least=1,
        metavar="N",
        shown="the number in the manifest",
        help="people in the population that the table is a sample of",
        label="People in the population",
    )

    def lacks(self, grounds: Grounds) -> tuple[str, str] | None:
        """The number of people must be told, or stand in the manifest."""
        if self._people(grounds) is None:
            return (
                "the size of the population is not known",
                "Say of how many people the table is a sample.",
            )
        return super().lacks(grounds)

    def run(self, grounds: Grounds) -> Finding:
        """Estimates of each side; ``InputError`` for fewer people than rows."""
        people = self._people(grounds) or 0
        figures: list[Figure] = [count("people", "people in the population", people)]
        sides = grounds.sides
        for side in sides:
            if side.total > people:
                raise InputError(
                    f"a population of {people:,} people has a sample of {side.total:,} rows",
                    advice="Say of how many people the table is a sample.",
                )
            risks = individual_risks(side.rows, (side.rows * people / max(side.total, 1)).astype(np.float64))
            mean = float((risks * side.rows).sum()) / max(side.total, 1)
            figures += [
                chance(f"fraction_{side.name}", f"sampling fraction, {side.title}", side.total / people),
                chance(
                    f"risk_{side.name}",
                    f"highest estimated chance, {side.title}",
                    float(risks.max(initial=0.0)),
                ),
                chance(f"mean_risk_{side.name}", f"mean estimated chance, {side.title}", mean),
            ]
        return self.found(grounds, tuple(figures), (_table(sides, people),))

    def _people(self, grounds: Grounds) -> int | None:
        told = None if grounds.manifest is None else grounds.manifest.population
        return told if self.people is None else self.people


def individual_risks(rows: NDArray[np.int64], people: Real) -> Real:
    """The mean chance of a row of classes of ``rows`` rows, which stand for about ``people`` people each.

    Both have shape ``(classes,)``, people at least as many as rows; a class of the whole population has 1/f.
    """
    share = np.minimum(rows / people, 1.0)
    # The mean of 1/F' is p/f · ₂F₁(1, 1; f + 1; 1 - p), a series of which few terms count where f is large.
    term = np.ones_like(share)
    series = np.ones_like(share)
    for i in range(1, _TERMS):
        term = term * i * (1 - share) / (rows + i)
        series = series + term
    found = share / np.maximum(rows, 1) * series
    near = np.flatnonzero((share < 1) & (rows <= _EXACT))
    for places in np.array_split(near, max(1, len(near) // 4096)):
        p, f = share[places, None], rows[places, None].astype(np.float64)
        # With z = 1 - t(1 - p) = p^u the pole at z = 0 is spread over u from 0 to 1.
        z = p ** ((_NODES + 1) / 2)
        inside = ((1 - z) / (1 - p)) ** (f - 1) * (p / z) ** f * z * -np.log(p) / (1 - p)
        found[places] = (inside * (_WEIGHTS / 2)).sum(axis=1)
    found[share >= 1] = 1.0 / np.maximum(rows[share >= 1], 1)
    return found


def _table(sides: tuple[Side, ...], people: int) -> FoundTable:
    rows: list[tuple[Value, ...]] = [
        ("alone in the table", *(int((side.rows == 1).sum()) for side in sides), *[None] * len(sides))
    ]
    for name, estimator in _ESTIMATORS.items():
        shares = [_share(side, people, estimator) for side in sides]
        rows.append(
            (f"alone in the population, by {name}", *(_people_of(s, people) for s in shares), *shares)
        )
    return FoundTable(
        "Uniques, counted and estimated",
        columns(
            "",
            *((side.title, ValueKind.COUNT) for side in sides),
            *((f"share of the population, {side.title}", ValueKind.CHANCE) for side in sides),
        ),
        tuple(rows),
        note="A dash: the estimator has no answer for these class sizes.",
    )


def _share(side: Side, people: int, estimator: Callable[[SizeTails, int], Real]) -> float | None:
    if not len(side.rows):
        return 0.0
    found = float(estimator(SizeTails.of_classes(side.rows), people)[0])
    return None if np.isnan(found) else found


def _people_of(share: float | None, people: int) -> int | None:
    return None if share is None else round(share * people)
