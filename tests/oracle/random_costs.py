"""Costs with options drawn at random, for the oracles."""

from __future__ import annotations

import numpy as np

from discreet.measures.cost_registry import COSTS
from discreet.measures.named_costs import NamedCost
from discreet.model.option import OptionKind

_FACTORS = (0.0, 0.2, 0.5, 0.7, 1.0)
_AMOUNTS = (0.0, 5.0, 60.0, 1500.0)


def random_cost(random: np.random.Generator, name: str | None = None) -> NamedCost:
    """Draw any cost, or the named one; each option sometimes differs from its default."""
    cost = COSTS.named(name or str(random.choice(COSTS.names())))
    options: dict[str, object] = {}
    for each in cost.options():
        if random.random() < 0.5:
            continue
        if each.choices:
            options[each.name] = str(random.choice(each.choices))
        elif each.kind is OptionKind.DECIMAL and each.most == 1:
            options[each.name] = float(random.choice(_FACTORS))
        elif each.kind is OptionKind.DECIMAL:
            options[each.name] = float(random.choice(_AMOUNTS))
    return cost.having(options)
