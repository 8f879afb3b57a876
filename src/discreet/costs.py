"""Costs of nodes, which searches make least: each is a frozen value of its options.

::

    from discreet.costs import Loss

    table.search("optimal", k=5, cost=Loss(aggregate="rank", gs_factor=0.66))

A name stands for the cost with its defaults. ``docs/costs.md`` lists them with their formulas;
``discreet.extending`` adds one of your own.
"""

from discreet.measures.named_costs import NamedCost, cost_named
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

__all__ = [
    "Ambiguity",
    "AverageClass",
    "Classification",
    "Discernibility",
    "DiscernibilityStar",
    "Divergence",
    "Entropy",
    "Height",
    "Loss",
    "NamedCost",
    "NormalizedAverageClass",
    "Payout",
    "Precision",
    "cost_named",
]
