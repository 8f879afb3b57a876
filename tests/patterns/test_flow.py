"""Row assignment, checked against all assignments."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from discreet.patterns.fixed_parameter import assign_by_flow
from tests.drawing import some_of


@pytest.mark.parametrize("seed", range(some_of(30)))
def test_the_flow_is_the_cheapest_assignment(seed: int) -> None:
    random = np.random.default_rng(seed)
    types, cells, k = int(random.integers(1, 4)), int(random.integers(0, 3)), int(random.integers(1, 4))
    counts = random.integers(1, 4, size=types)
    pairs = [(i, c) for i in range(types) for c in range(cells) if random.random() < 0.7]
    costs = random.integers(0, 5, size=cells)
    outlier_cost = 6 if random.random() < 0.5 else None
    best = None
    for taken in product(*(range(int(counts[i]) + 1) for i, _ in pairs)):
        left, held = counts.copy(), np.zeros(cells, np.int64)
        cost = 0
        for rows, (i, c) in zip(taken, pairs, strict=True):
            left[i] -= rows
            held[c] += rows
            cost += rows * int(costs[c])
        if (left < 0).any() or (held < k).any() or (outlier_cost is None and left.any()):
            continue
        cost += (outlier_cost or 0) * int(left.sum())
        best = cost if best is None else min(best, cost)
    found = assign_by_flow(counts, pairs, costs, k, outlier_cost)
    assert (None if found is None else found.cost) == best
    if found is not None:
        placed = np.zeros(types, np.int64)
        np.add.at(placed, [i for i, _ in pairs], found.rows)
        assert (placed + found.left == counts).all()
