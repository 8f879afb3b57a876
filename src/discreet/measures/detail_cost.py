"""The detail that a node takes from the rows, as a cost: what ``measures.granularity`` has without its norm.

A cell of m of the D leaves loses (m − 1)/D, a cell of a suppressed row what the top loses; both are added
over the rows and, each with its weight, over the attributes. Cost: one pass over the row types per attribute.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from discreet.measures.aggregates import Aggregate
from discreet.measures.cell_sums import LevelSum, rows_by_code
from discreet.measures.cost_kinds import CellCost
from discreet.measures.granularity import level_shares
from discreet.model.frequency_set import FrequencySet


def detail_cost(frequency_set: FrequencySet, weights: Mapping[str, float]) -> CellCost:
    """The cost of the nodes of a table; an attribute without a weight has 1."""
    sums, parts = [], []
    for i, hierarchy in enumerate(frequency_set.hierarchies):
        shares, rows = level_shares(hierarchy), rows_by_code(frequency_set, i)
        most = shares[-1].max(initial=0.0)
        sums.append(tuple(LevelSum(float((share * rows).sum()), most - share, rows) for share in shares))
        parts.append(partial(_weighted, weights.get(hierarchy.attribute, 1.0)))
    return CellCost("detail", tuple(sums), tuple(parts), Aggregate.SUM)


def _weighted(weight: float, total: Any) -> Any:
    return weight * total
