"""Registry of the costs of nodes, and costs built from what a user wrote: a name, or a function."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, TypeAlias

from discreet.measures.loss import relative_weights
from discreet.model.frequency_set import FrequencySet
from discreet.model.registry import Registry
from discreet.model.requirement import Requirement

if TYPE_CHECKING:
    from discreet.measures.cost_kinds import Cost
    from discreet.measures.node_statistics import NodeStatistics
from discreet.measures.named_costs import FunctionCost, NamedCost, node_cost, user_cost

__all__ = [
    "COSTS",
    "AnyCost",
    "FunctionCost",
    "NamedCost",
    "cost_named",
    "cost_over",
    "node_cost",
    "resolve_cost",
    "user_cost",
]


AnyCost: TypeAlias = "str | NamedCost | Callable[[NodeStatistics], float]"
"""A requested cost: its name, a declaration with options, or a function of a node's statistics."""


def cost_named(name: str, **options: object) -> NamedCost:
    """Return the cost of a name with options; raise ``InputError`` for an unknown name or option."""
    return COSTS.named(name).having(options)


def resolve_cost(cost: AnyCost) -> NamedCost:
    """Return the declaration of a cost; raise ``InputError`` for an unknown name."""
    if isinstance(cost, NamedCost):
        return cost
    return cost_named(cost) if isinstance(cost, str) else user_cost(cost)


def cost_over(
    cost: AnyCost,
    frequency_set: FrequencySet,
    requirement: Requirement,
    weights: Mapping[str, float] | None = None,
) -> Cost:
    """Build a cost over the nodes of a table.

    Parameters
    ----------
    cost : str, NamedCost or callable
        The cost's name, a declaration with options, or a function of a node's statistics.
    frequency_set : FrequencySet
        The table.
    requirement : Requirement
        The requirement of the search, which costs of class sizes read.
    weights : mapping of str to float, optional
        A weight of at least 0 per quasi-identifier, by default 1; only their ratios matter.

    Returns
    -------
    Cost
        The cost, with lower bounds for nodes that are not counted.

    Raises
    ------
    InputError
        For an unknown name, an invalid weight, or an option that this table does not allow.
    """
    return resolve_cost(cost).over(
        frequency_set, requirement, relative_weights(weights, frequency_set.attributes)
    )


def _built_in() -> Iterable[NamedCost]:
    from discreet.measures.special_purpose_costs import Classification, Divergence, Payout
    from discreet.measures.standard_costs import (
        Ambiguity,
        AverageClass,
        Discernibility,
        DiscernibilityStar,
        Entropy,
        Height,
        Loss,
        NormalizedAverageClass,
        Precision,
    )

    return (
        Height(),
        Precision(),
        Loss(),
        AverageClass(),
        Discernibility(),
        DiscernibilityStar(),
        NormalizedAverageClass(),
        Entropy(),
        Ambiguity(),
        Divergence(),
        Payout(),
        Classification(),
    )


COSTS: Registry[NamedCost] = Registry("the cost", "discreet.costs", NamedCost, _built_in)
"""All named costs, including those of other packages."""
