"""Costs of whole classes: average size, discernibility, ambiguity; and the height, which has no classes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.measures.ambiguity_cost import AmbiguityCost
from discreet.measures.cost_kinds import ClassSizeCost, Cost, LevelCost
from discreet.measures.named_cost import NamedCost
from discreet.model.frequency_set import FrequencySet
from discreet.model.requirement import Requirement


@dataclass(frozen=True, kw_only=True)
class Height(NamedCost):
    """The sum of the levels (Samarati 2001)."""

    name = "height"
    meaning = "the sum of the levels"

    def over(self, table: FrequencySet, requirement: Requirement, weights: tuple[float, ...]) -> Cost:  # noqa: ARG002
        """The cost of the nodes of a table."""
        return LevelCost(self.name, tuple(tuple(map(float, range(h.height + 1))) for h in table.hierarchies))


@dataclass(frozen=True, kw_only=True)
class AverageClass(NamedCost):
    """n / (classes + 1 if any row is suppressed): the average class, suppressed rows being one class."""

    name = "aecs"
    meaning = "the average class size, suppressed rows being one class"

    def over(self, table: FrequencySet, requirement: Requirement, weights: tuple[float, ...]) -> Cost:  # noqa: ARG002
        """The cost of the nodes of a table."""
        rows = table.rows

        def of_sizes(classes: Any, squares: Any, suppressed: Any) -> Any:  # noqa: ARG001
            return rows / np.maximum(classes + (suppressed > 0), 1)

        return ClassSizeCost(self.name, rows, requirement.least_rows, of_sizes)


@dataclass(frozen=True, kw_only=True)
class Discernibility(NamedCost):
    """Σ f² + n · S: every row costs the rows it cannot be told from (Bayardo and Agrawal 2005)."""

    name = "dm"
    meaning = "discernibility: squared class sizes, and all rows for each suppressed one"

    def over(self, table: FrequencySet, requirement: Requirement, weights: tuple[float, ...]) -> Cost:  # noqa: ARG002
        """The cost of the nodes of a table."""
        rows = table.rows

        def of_sizes(classes: Any, squares: Any, suppressed: Any) -> Any:  # noqa: ARG001
            return squares + rows * suppressed

        return ClassSizeCost(self.name, rows, requirement.least_rows, of_sizes)


@dataclass(frozen=True, kw_only=True)
class DiscernibilityStar(NamedCost):
    """DM*: Σ f² over all classes, as if none were suppressed (ARX's monotonic discernability)."""

    name = "dm-star"
    meaning = "discernibility DM*: squared class sizes, suppressed classes like the others"

    def over(self, table: FrequencySet, requirement: Requirement, weights: tuple[float, ...]) -> Cost:  # noqa: ARG002
        """The cost of the nodes of a table."""

        def of_sizes(classes: Any, squares: Any, suppressed: Any) -> Any:  # noqa: ARG001
            return squares

        return ClassSizeCost(self.name, table.rows, 1, of_sizes, of_all=True)


@dataclass(frozen=True, kw_only=True)
class NormalizedAverageClass(NamedCost):
    """n / classes / k (LeFevre and others 2006); k = 1 where none is asked, one class where none is left."""

    name = "c-avg"
    meaning = "the average class size in multiples of k"

    def over(self, table: FrequencySet, requirement: Requirement, weights: tuple[float, ...]) -> Cost:  # noqa: ARG002
        """The cost of the nodes of a table."""
        rows, k = table.rows, requirement.k or 1

        def of_sizes(classes: Any, squares: Any, suppressed: Any) -> Any:  # noqa: ARG001
            return rows / np.maximum(classes, 1) / k

        return ClassSizeCost(self.name, rows, requirement.least_rows, of_sizes)


@dataclass(frozen=True, kw_only=True)
class Ambiguity(NamedCost):
    """Π m averaged over the rows: combinations of leaves that a row's values stand for, suppressed Π D."""

    name = "ambiguity"
    meaning = "combinations of leaves that a row's values stand for"

    def over(self, table: FrequencySet, requirement: Requirement, weights: tuple[float, ...]) -> Cost:  # noqa: ARG002
        """The cost of the nodes of a table."""
        return AmbiguityCost(table)
