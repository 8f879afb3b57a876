"""Aggregates over attributes: a single node and many nodes agree, and ranks are compared per part."""

from __future__ import annotations

import pickle
from math import inf

import numpy as np
import pytest

from discreet.errors import InputError
from discreet.measures.cell_sums import (
    CostAggregate,
    aggregate_columns,
    aggregate_parts,
    clearly_less,
    cost_at,
)
from discreet.measures.cost_registry import cost_named
from discreet.measures.standard_costs import Loss
from discreet.model.search_result import RankedCost, cost_as_json, cost_parts


@pytest.mark.parametrize("aggregate", list(CostAggregate))
def test_aggregates_of_many_nodes_equal_those_of_one(aggregate: CostAggregate) -> None:
    columns = list(np.random.default_rng(0).random((3, 20)))
    costs = aggregate_columns(aggregate, columns, 20)
    for node in range(20):
        one = aggregate_parts(aggregate, [float(column[node]) for column in columns])
        assert cost_parts(cost_at(costs, node)) == pytest.approx(cost_parts(one), rel=1e-12)


def test_ranks_are_compared_by_largest_parts() -> None:
    low, high = RankedCost((0.5, 0.2)), RankedCost((0.5, 0.3))
    assert low < high
    assert low != high
    assert low <= high
    assert not low >= high
    assert clearly_less(low, high)
    assert not clearly_less(high, low)
    assert float(low) == 0.5
    assert -inf < low < inf
    assert pickle.loads(pickle.dumps(low)) == low
    assert cost_as_json(low) == [0.5, 0.2]
    assert cost_as_json(0.5) == 0.5


def test_costs_within_rounding_are_equal() -> None:
    assert not clearly_less(0.1, 0.1 + 1e-14)
    assert clearly_less(0.1, 0.1 + 1e-9)
    assert clearly_less(1.0, inf)
    assert clearly_less(-inf, 1.0)
    assert not clearly_less(inf, inf)


def test_cost_options_are_checked() -> None:
    assert cost_named("loss", aggregate="rank") == Loss(aggregate="rank")
    for options in ({"gs_factor": 1.5}, {"aggregate": "median"}, {"charge": "none"}):
        with pytest.raises(InputError):
            cost_named("loss", **options)
