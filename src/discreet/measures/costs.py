"""Costs of a node by name, for searches that look for the cheapest; the smaller the better.

With n rows, S of them suppressed, f the sizes of the classes that are published, D the leaves of an
attribute's hierarchy and m those under a row's value (NULL below the top: 1), d quasi-identifiers:

========= ===========================================================================================
height    the sum of the levels
precision the mean of level / height over the attributes (Sweeney 2002, 1 − Prec): 0 at height 0
loss      for each attribute x = (mean of m/D − 1/D) / (1 − 1/D), m = D for a suppressed row;
          (Π (1 + x))^(1/d) − 1 (ARX's Loss with domain shares)
aecs      n / (classes + 1 if S > 0): the average class, suppressed rows being one class
dm        Σ f² + n · S: discernibility (Bayardo and Agrawal 2005)
c-avg     n / classes / k (LeFevre and others 2006); k = 1 where none is asked, one class where none is left
entropy   bits by which a row's published values leave its leaves open: Σ over the attributes of
          log2(rows with the value / rows with the leaf), averaged over the rows (non-uniform entropy,
          de Waal and Willenborg 1999; Gionis and Tassa 2009); a suppressed row shows the whole domain
ambiguity the combinations of leaves that a row's values stand for, Π m, averaged over the rows
          (Goldberger and Tassa 2010); a suppressed row stands for Π D
========= ===========================================================================================

A weight multiplies an attribute's level / height, x, or bits; the other costs have no attribute's part.

All are *monotone*: while no row is suppressed, or the same rows are, they never fall on the way up the
lattice. Where suppression changes, only height and precision are: a higher node may suppress fewer rows.
``least`` bounds the cost of all nodes at or above one from below without counting any class, so a search
knows what it need not look at. Whole numbers are added as whole numbers and factors multiplied in ascending
order, so that costs that are equal by symmetry are equal to the last bit and the tie rule decides.

Cost: a table of a few numbers per level, counted once; then one pass over a node's failing classes, for
ambiguity over all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import fsum, prod
from typing import Any

import numpy as np

from discreet.measures.cell_sums import domain_sums, information_sums
from discreet.measures.cost_kinds import AmbiguityCost, CellCost, ClassSizeCost, Cost, LevelCost, OwnCost
from discreet.measures.loss import check_weights
from discreet.measures.node_statistics import NodeStatistics
from discreet.model.frequency_set import FrequencySet
from discreet.model.registry import Registry
from discreet.model.requirement import Requirement


@dataclass(frozen=True)
class NamedCost:
    """A cost that has a name, before it is given a table."""

    name: str
    meaning: str
    over: Callable[[FrequencySet, Requirement, Mapping[str, float]], Cost]


def node_cost(name: str, meaning: str, function: Callable[[NodeStatistics], float]) -> NamedCost:
    """A cost that is a function of one node's statistics, under a name; weights have no part in it.

    A function with a true attribute ``monotone`` is taken at its word: it never falls on the way up.
    """
    return NamedCost(name, meaning, lambda _table, _requirement, _weights: OwnCost(function, name))


def cost_named(name: str) -> NamedCost:
    """The cost of that name; ``InputError`` for a name that none has."""
    return COSTS.named(name)


def cost_over(
    name: str | None,
    function: Callable[[NodeStatistics], float] | None,
    frequency_set: FrequencySet,
    requirement: Requirement,
    weights: Mapping[str, float] | None = None,
) -> Cost:
    """The cost of that name, or of the user's own function where one is given, over a table.

    Without either it is the height. Raises ``InputError`` for an unknown name and for a weight that makes no
    sense.
    """
    given = dict(weights or {})
    check_weights(given, frequency_set.attributes)
    if function is not None:
        own = str(getattr(function, "__name__", ""))
        return OwnCost(function, name or (own if own.isidentifier() else "own"))
    return cost_named(name or "height").over(frequency_set, requirement, given)


def _height(table: FrequencySet, requirement: Requirement, weights: Mapping[str, float]) -> Cost:  # noqa: ARG001
    return LevelCost("height", tuple(tuple(map(float, range(h.height + 1))) for h in table.hierarchies))


def _precision(table: FrequencySet, requirement: Requirement, weights: Mapping[str, float]) -> Cost:  # noqa: ARG001
    number = max(len(table.hierarchies), 1)
    parts = tuple(
        tuple(
            weights.get(h.attribute, 1.0) * level / max(h.height, 1) / number for level in range(h.height + 1)
        )
        for h in table.hierarchies
    )
    return LevelCost("precision", parts)


def _loss(table: FrequencySet, requirement: Requirement, weights: Mapping[str, float]) -> Cost:  # noqa: ARG001
    rows, leaves = table.rows, [len(h.leaves) for h in table.hierarchies]
    factors = [weights.get(name, 1.0) for name in table.attributes]

    def join(sums: list[Any]) -> Any:
        parts = [
            1.0 + weight * ((total - rows) / (rows * (number - 1)))
            if rows and number > 1
            else 1.0 + 0.0 * total
            for total, number, weight in zip(sums, leaves, factors, strict=True)
        ]
        if parts and isinstance(parts[0], np.ndarray):
            return np.prod(parts, axis=0) ** (1.0 / len(parts)) - 1.0
        return prod(sorted(parts)) ** (1.0 / max(len(parts), 1)) - 1.0

    return CellCost("loss", domain_sums(table), join)


def _entropy(table: FrequencySet, requirement: Requirement, weights: Mapping[str, float]) -> Cost:  # noqa: ARG001
    rows = max(table.rows, 1)
    factors = [weights.get(name, 1.0) for name in table.attributes]

    def join(sums: list[Any]) -> Any:
        parts = [weight * total / rows for total, weight in zip(sums, factors, strict=True)]
        if parts and isinstance(parts[0], np.ndarray):
            return np.sum(parts, axis=0)
        return fsum(parts)

    return CellCost("entropy", information_sums(table), join)


def _aecs(table: FrequencySet, requirement: Requirement, weights: Mapping[str, float]) -> Cost:  # noqa: ARG001
    rows = table.rows

    def of_sizes(classes: Any, squares: Any, suppressed: Any) -> Any:  # noqa: ARG001
        return rows / np.maximum(classes + (suppressed > 0), 1)

    return ClassSizeCost("aecs", rows, requirement.least_rows, of_sizes)


def _dm(table: FrequencySet, requirement: Requirement, weights: Mapping[str, float]) -> Cost:  # noqa: ARG001
    rows = table.rows

    def of_sizes(classes: Any, squares: Any, suppressed: Any) -> Any:  # noqa: ARG001
        return squares + rows * suppressed

    return ClassSizeCost("dm", rows, requirement.least_rows, of_sizes)


def _c_avg(table: FrequencySet, requirement: Requirement, weights: Mapping[str, float]) -> Cost:  # noqa: ARG001
    rows, k = table.rows, requirement.k or 1

    def of_sizes(classes: Any, squares: Any, suppressed: Any) -> Any:  # noqa: ARG001
        return rows / np.maximum(classes, 1) / k

    return ClassSizeCost("c-avg", rows, requirement.least_rows, of_sizes)


def _ambiguity(table: FrequencySet, requirement: Requirement, weights: Mapping[str, float]) -> Cost:  # noqa: ARG001
    return AmbiguityCost(table)


_OWN = (
    NamedCost("height", "the sum of the levels", _height),
    NamedCost("precision", "the mean of level / height", _precision),
    NamedCost("loss", "the share of each domain that a value stands for (ARX's Loss)", _loss),
    NamedCost("aecs", "the average class size, suppressed rows being one class", _aecs),
    NamedCost("dm", "discernibility: squared class sizes, and all rows for each suppressed one", _dm),
    NamedCost("c-avg", "the average class size in multiples of k", _c_avg),
    NamedCost("entropy", "bits by which a row's values leave its leaves open", _entropy),
    NamedCost("ambiguity", "combinations of leaves that a row's values stand for", _ambiguity),
)

COSTS: Registry[NamedCost] = Registry("the cost", "discreet.costs", NamedCost, lambda: _OWN)
"""The named costs, other packages' included."""
