"""Node costs that searches minimize; each is an immutable value with its options.

::

    from discreet.costs import Loss

    table.search("optimal", k=5, cost=Loss(aggregate="rank", gs_factor=0.66))

The name of a cost selects the cost with its defaults. ``docs/costs.md`` lists all costs with their formulas;
``discreet.extending`` registers costs of your own.
"""

from discreet.measures.cost_registry import cost_named
from discreet.measures.named_costs import NamedCost
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
