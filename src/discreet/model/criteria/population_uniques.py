"""Population uniqueness (Dankar et al., 2012): the people who are unique in the population, estimated."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import ceil, isnan
from typing import Any, ClassVar

import numpy as np

from discreet.errors import InputError
from discreet.model import population_estimates as estimates
from discreet.model.criteria.audited_uniques import estimated
from discreet.model.criteria.base import AuditedBy, Parameter
from discreet.model.criteria.of_release import ReleaseCriterion
from discreet.model.population_estimates import Real
from discreet.model.size_tails import SizeTails, Whole

UNIT = 10**12
"""Shares of a population have scores in units of 1e-12."""

ESTIMATORS: dict[str, Callable[[SizeTails, int], Real]] = {
    "dankar": estimates.dankar,
    "pitman": estimates.pitman,
    "zayatz": estimates.zayatz,
    "snb": estimates.snb,
}
_RAISED = 1 + 1e-6
"""What estimates are raised by, so that the audit, which reckons otherwise, never finds more."""

_PEOPLE = Parameter("so many people are in the population", least=1)


@dataclass(frozen=True)
class PopulationUniques(ReleaseCriterion):
    """At most the share ``value`` of the ``population`` is unique in it, by an ``estimator``.

    The published records are a sample of so many people. Where the model has no estimate (see
    ``model.population_estimates``) the release fails; without a class of one record nobody is unique. The
    score is what is missing to 1, in units of 1e-12. Merging classes may raise an estimate, so it is not
    monotone. ``InputError`` for a population smaller than the table.
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
            self, "population", _PEOPLE.checked(f"the population of {self.name}", self.population)
        )
        if self.estimator not in ESTIMATORS:
            raise InputError(f"the estimator '{self.estimator}'", allowed=", ".join(ESTIMATORS))

    def tail_scores(self, tails: SizeTails) -> Whole:
        """By the estimate of tails with a class of one record, which are whole releases; 1 of others."""
        found = np.full(len(tails.sizes), UNIT)
        if not len(tails.sizes):
            return found
        filled = tails.starts[tails.ends > tails.starts]
        if int(tails.total_rows[filled].max()) > self.population:
            raise _too_few(self.population)
        shares = ESTIMATORS[self.estimator](SizeTails(tails.sizes, tails.classes, filled), self.population)
        scores = UNIT - np.ceil(np.minimum(shares * _RAISED, 1.0) * UNIT)
        found[filled] = np.where(np.isnan(shares), -1, np.nan_to_num(scores)).astype(np.int64)
        return found

    @property
    def threshold(self) -> int:
        """What must be missing, rounded up."""
        return UNIT - int(self.value * UNIT)

    def value_of(self, score: int) -> float:
        """The share; 1 where there is no estimate, which no value meets."""
        share = min((UNIT - score) / UNIT, 1.0)
        return share if UNIT - int(share * UNIT) <= score else min(float(np.nextafter(share, 2)), 1.0)

    def audit_score(self, sizes: Mapping[int, int]) -> int:
        """The estimate from the published classes, by a way of its own."""
        if sum(size * number for size, number in sizes.items()) > self.population:
            raise _too_few(self.population)
        share = estimated(sizes, self.population, self.estimator)
        return -1 if isnan(share) else UNIT - ceil(share * UNIT)


def _too_few(population: int) -> InputError:
    return InputError(
        f"a population of {population:,} people is smaller than the table",
        advice="Give the number of people of whom the table's are a sample.",
    )
