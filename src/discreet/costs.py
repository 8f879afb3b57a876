"""Costs of nodes, which searches make least: each is a frozen value of its options.

::

    from discreet.costs import Loss

    table.search("optimal", k=5, cost=Loss(aggregate="rank", gs_factor=0.66))

A name stands for the cost with its defaults. ``docs/costs.md`` lists them with their formulas;
``discreet.extending`` adds one of your own.
"""

from discreet.measures.cell_costs import Entropy, Loss, Precision
from discreet.measures.class_costs import (
    Ambiguity,
    AverageClass,
    Discernibility,
    DiscernibilityStar,
    Height,
    NormalizedAverageClass,
)
from discreet.measures.costs import cost_named
from discreet.measures.named_cost import NamedCost
from discreet.measures.other_costs import Classification, Divergence, Payout

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
