"""Criteria whose score is a real measure of a class, in billionths (``fixed_point``)."""

from __future__ import annotations

from abc import ABC
from dataclasses import dataclass
from typing import ClassVar

from discreet.model.criteria import fixed_point
from discreet.model.criteria.base import Criterion


@dataclass(frozen=True)
class MeasuredCriterion(Criterion, ABC):
    """Asks that a measure reaches the value, or with ``reached`` False that it does not exceed it."""

    reached: ClassVar[bool] = False

    @property
    def threshold(self) -> int:
        """The value in billionths."""
        return fixed_point.least(self.value) if self.reached else fixed_point.most(self.value)

    def value_of(self, score: int) -> float:
        """The measure, within the parameter's bounds."""
        if self.reached:
            return max(fixed_point.measured(max(score, 0)), float(self.parameter.least))
        return min(fixed_point.measured(score), float(self.parameter.most))
