"""How the parts of a cost, one for each attribute, become one: sum, maximum, means, rank.

``rank`` compares the largest parts first, then the next ones, and so on: an order of nodes that no single
number has (the aggregate function of that name in ARX). Its cost is a ``Ranked``: a number, the largest part,
that knows the others. Parts are cut off after ten decimals there, as ARX does, so that the rounding of a sum
does not decide where it should be left to the next part.

Every aggregate only ever rises with each part, so that bounds of parts are bounds of their aggregate.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from math import fsum, prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.model.cost_value import Ranked, parts_of

Floats = NDArray[np.float64]

_TENTH = 1e10
_NOISE = 1e-4
_ROUNDING = 1e-12


class Aggregate(StrEnum):
    """What is made of the attributes' parts."""

    SUM = "sum"
    MAXIMUM = "maximum"
    ARITHMETIC_MEAN = "arithmetic-mean"
    GEOMETRIC_MEAN = "geometric-mean"
    RANK = "rank"


def clearly_less(first: float, second: float) -> bool:
    """Whether a cost is less than another by more than rounding."""
    if isinstance(first, Ranked) or isinstance(second, Ranked):
        return parts_of(first) < parts_of(second)
    return first < second and second - first > min(rounding(first), rounding(second))


def rounding(cost: float) -> float:
    """Costs that lie no further apart are equal."""
    return _ROUNDING * (1.0 + abs(cost))


def rounding_of(costs: Floats) -> Floats:
    """``rounding`` of many."""
    found: Floats = _ROUNDING * (1.0 + np.abs(costs))
    return found


def joined(aggregate: Aggregate, parts: Sequence[float]) -> float:
    """The cost of a node; the order of the parts makes no difference to the last bit."""
    number = max(len(parts), 1)
    if aggregate is Aggregate.SUM:
        return fsum(parts)
    if aggregate is Aggregate.MAXIMUM:
        return float(max(parts, default=0.0))
    if aggregate is Aggregate.ARITHMETIC_MEAN:
        return fsum(parts) / number
    if aggregate is Aggregate.GEOMETRIC_MEAN:
        return float(prod(sorted(1.0 + part for part in parts)) ** (1.0 / number)) - 1.0
    descending = np.array(sorted(parts, reverse=True), dtype=np.float64)
    return Ranked(_cut_off(descending).tolist())


def joined_of(aggregate: Aggregate, columns: Sequence[Any], nodes: int) -> Floats:
    """The costs of many nodes, shape ``(nodes,)``; under rank ``(nodes, parts)``."""
    parts = np.stack(columns, axis=1).astype(np.float64) if columns else np.zeros((nodes, 0))
    number = max(len(columns), 1)
    found: Floats
    if aggregate is Aggregate.SUM:
        found = parts.sum(axis=1)
    elif aggregate is Aggregate.MAXIMUM:
        found = parts.max(axis=1, initial=0.0)
    elif aggregate is Aggregate.ARITHMETIC_MEAN:
        found = parts.sum(axis=1) / number
    elif aggregate is Aggregate.GEOMETRIC_MEAN:
        found = np.prod(1.0 + parts, axis=1) ** (1.0 / number) - 1.0
    else:
        found = _cut_off(-np.sort(-parts, axis=1))
    return found


def cost_at(costs: Floats, position: int) -> float:
    """One of many costs, as ``joined`` gives it."""
    return float(costs[position]) if costs.ndim == 1 else Ranked(costs[position].tolist())


def _cut_off(parts: Floats) -> Floats:
    """The parts without what is beyond ten decimals; a part just below a step for rounding alone is on it."""
    cut: Floats = np.floor(parts * _TENTH + _NOISE) / _TENTH
    return cut
