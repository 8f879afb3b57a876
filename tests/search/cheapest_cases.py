"""Random problems of the searches, ways of the optimal search, and the check of its results."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from discreet.errors import LimitReached
from discreet.measures.named_costs import NamedCost
from discreet.model.request import Request
from discreet.model.search_result import SearchResult, cost_parts
from discreet.search import candidate_nodes, search_problem
from discreet.search.node_costs import FilteredOptimum
from discreet.search.search_problem import Marking, SearchProblem
from discreet.settings import Settings
from tests.oracle.cheapest_node import cheapest
from tests.oracle.plain_criteria import random_criteria
from tests.oracle.random_costs import random_cost
from tests.oracle.random_tables import random_frequency_set

SETTINGS = Settings(memory_limit=10**9, threads=1, private_log=Path("unused"))

WAYS = ("filtered", "evaluated", "searched")
"""Ways of the optimal search: by subsets of attributes, by the evaluated lattice, by branch and bound."""


@contextmanager
def by_way(way: str, attributes: int = 1) -> Iterator[None]:
    """Force one way of the optimal search; subsets grow by ``attributes``, so that small tables have some."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(candidate_nodes, "_FEWEST", attributes)
        patch.setattr(candidate_nodes, "_smaller_subset_size", lambda number: number - attributes)
        if way != "filtered":
            patch.setattr(FilteredOptimum, "of", lambda *_: None)
        if way == "searched":
            patch.setattr(search_problem, "evaluate_lattice", _does_not_fit)
        yield


def _does_not_fit(*_: object, **__: object) -> None:
    raise LimitReached("it does not fit")


def random_criteria_task(seed: int, *, suppressing: bool, monotone: bool = True) -> SearchProblem:
    """Return a small table under some criteria, with bounds and sometimes a limit."""
    random = np.random.default_rng(seed)
    table = random_frequency_set(random, attributes=3, height=3, leaves=5, rows=24, sensitive=2)
    low = tuple(int(random.integers(0, h.height + 1)) * int(random.random() < 0.2) for h in table.hierarchies)
    high = tuple(h.height for h in table.hierarchies)
    return SearchProblem(
        table=table,
        requirement=random_criteria(random, table, monotone=monotone),
        limit=int(random.integers(0, table.rows // 2 + 1)) if suppressing else 0,
        low=low,
        high=high,
        settings=SETTINGS,
        marking=Marking.TRANSITIVE if random.random() < 0.5 else Marking.DIRECT,
    )


def random_task(seed: int, settings: Settings, **options: Any) -> tuple[SearchProblem, NamedCost]:
    """Return a task over a small table and its cost, sometimes with NULLs, limit, l, bounds or weights."""
    random = np.random.default_rng(seed)
    subjects = int(random.integers(2, 9)) if random.random() < 0.2 else None
    table = random_frequency_set(
        random, attributes=4, height=3, leaves=5, rows=20, sensitive=2, subjects=subjects
    )
    l = int(random.integers(1, 4)) if table.sensitive and random.random() < 0.5 else None
    k = int(random.integers(1, 6)) if l is None or random.random() < 0.5 else None
    limit = f"{random.choice([0, 0, 10, 30, 100])}%"
    highs = {h.attribute: int(random.integers(0, h.height + 1)) for h in table.hierarchies}
    high = {name: level for name, level in highs.items() if random.random() < 0.2}
    low = {
        n: int(random.integers(0, high.get(n, 1) + 1))
        for n, h in highs.items()
        if random.random() < 0.1 and h
    }
    low = {name: min(level, highs[name]) for name, level in low.items()}
    weights = {name: float(random.integers(0, 4)) / 2 for name in table.attributes if random.random() < 0.3}
    cost = random_cost(random)
    request = Request.of(k=k, l=l, max_suppressed=limit, max_level=high, min_level=low)
    return SearchProblem.of(table, request, settings, cost=cost, weights=weights, **options), cost


def assert_cheapest(result: SearchResult, task: SearchProblem, cost: NamedCost) -> None:
    """Assert that the result is the oracle's, its bound tight, and that it reports completeness."""
    expected = cheapest(task, cost)
    assert result.complete
    assert (result.rows, result.limit, result.cost_name) == (task.rows, task.limit, cost.name)
    if expected is None:
        assert result.solutions == ()
        assert result.gap is None
        return
    (solution,) = result.solutions
    assert (solution.node, solution.suppressed, solution.minimal) == expected[:3]
    assert solution.cost is not None
    assert cost_parts(solution.cost) == pytest.approx(cost_parts(expected[3]), rel=1e-9, abs=1e-9)
    assert result.gap == pytest.approx(0.0, abs=1e-9)


def too_small(settings: Settings) -> Settings:
    """Return settings under which no lattice is evaluated."""
    return replace(settings, memory_limit=100_000)
