"""Costs of a node by name, for searches that look for the cheapest; the smaller the better.

Each is a declaration (``NamedCost``) with options; ``docs/costs.md`` has their formulas. Our own are in
``cell_costs`` (precision, loss, entropy), ``class_costs`` (height, class sizes, ambiguity) and
``other_costs`` (KL divergence, payout, classification).

Most are *monotone*: while no row is suppressed, or the same rows are, they never fall on the way up the
lattice. Where suppression changes, only those are that charge nothing for it: a higher node may suppress
fewer rows. ``least`` bounds the cost of all nodes at or above one from below without counting any class, so a
search knows what it need not look at. Whole numbers are added as whole numbers and factors multiplied in
ascending order, so that costs that are equal by symmetry are equal to the last bit and the tie rule decides.

Cost: a table of a few numbers per level, counted once; then one pass over a node's failing classes, for
costs of whole classes over all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, TypeAlias

from discreet.measures.loss import relative_weights
from discreet.measures.named_cost import FunctionCost, NamedCost, node_cost, own_cost
from discreet.model.frequency_set import FrequencySet
from discreet.model.registry import Registry
from discreet.model.requirement import Requirement

if TYPE_CHECKING:
    from discreet.measures.cost_kinds import Cost
    from discreet.measures.node_statistics import NodeStatistics

__all__ = [
    "COSTS",
    "AnyCost",
    "FunctionCost",
    "NamedCost",
    "cost_asked",
    "cost_named",
    "cost_over",
    "node_cost",
    "own_cost",
]

AnyCost: TypeAlias = "str | NamedCost | Callable[[NodeStatistics], float]"
"""How a cost is asked for: by its name, with options of its own, or as a function of a node's statistics."""


def cost_named(name: str, **options: object) -> NamedCost:
    """The cost of that name with these options; ``InputError`` for a name or an option that none has."""
    return COSTS.named(name).having(options)


def cost_asked(cost: AnyCost) -> NamedCost:
    """The declaration of a cost; ``InputError`` for a name that none has."""
    if isinstance(cost, NamedCost):
        return cost
    return cost_named(cost) if isinstance(cost, str) else own_cost(cost)


def cost_over(
    cost: AnyCost,
    frequency_set: FrequencySet,
    requirement: Requirement,
    weights: Mapping[str, float] | None = None,
) -> Cost:
    """A cost, or the one of that name, over a table.

    Raises ``InputError`` for an unknown name, for a weight that makes no sense, and for an option that this
    table does not allow.
    """
    return cost_asked(cost).over(
        frequency_set, requirement, relative_weights(weights, frequency_set.attributes)
    )


def _own() -> Iterable[NamedCost]:
    from discreet.measures.cell_costs import Entropy, Loss, Precision
    from discreet.measures.class_costs import (
        Ambiguity,
        AverageClass,
        Discernibility,
        DiscernibilityStar,
        Height,
        NormalizedAverageClass,
    )
    from discreet.measures.other_costs import Classification, Divergence, Payout

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


COSTS: Registry[NamedCost] = Registry("the cost", "discreet.costs", NamedCost, _own)
"""The named costs, other packages' included."""
