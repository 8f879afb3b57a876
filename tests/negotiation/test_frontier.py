"""The frontier, checked pair by pair against its definition."""

from __future__ import annotations

import numpy as np

from discreet.measures.loss import LossTables
from discreet.model.lattice import node_height, tie_break_key
from discreet.model.requirement import Requirement
from discreet.negotiation.frontier import FrontierPoint, compute_frontier
from tests.drawing import some_of
from tests.oracle.brute_lattice import BruteLattice
from tests.oracle.random_tables import frequency_set_of, random_frequency_set, random_hierarchy


def undominated(brute: BruteLattice, requirement: Requirement, tables: LossTables) -> list[FrontierPoint]:
    points = [
        FrontierPoint(node, node_height(node), tables.loss_of_node(node), brute.suppressed(node, requirement))
        for node in brute.lattice.nodes()
    ]
    keys = [(p.height, round(p.loss, 12), p.suppressed) for p in points]
    kept = [
        point
        for point, key in zip(points, keys, strict=True)
        if not any(other != key and all(a <= b for a, b in zip(other, key, strict=True)) for other in keys)
    ]
    return sorted(kept, key=lambda p: (p.height, p.suppressed, tie_break_key(p.node)))


def test_the_frontier_is_what_no_node_dominates() -> None:
    sizes = set()
    for seed in range(some_of(300)):
        random = np.random.default_rng(seed)
        table = random_frequency_set(random, attributes=3, height=3, leaves=6, rows=30, sensitive=1)
        brute = BruteLattice(table)
        weights = {name: float(random.integers(0, 3)) for name in table.attributes if random.random() < 0.5}
        tables = LossTables.of(table, weights)
        l = int(random.integers(1, 4)) if table.sensitive else None
        requirement = Requirement(k=int(random.integers(1, 8)), l=l)
        found = compute_frontier(brute, requirement, tables)
        expected = undominated(brute, requirement, tables)
        assert [(p.node, p.height, p.suppressed) for p in found] == [
            (p.node, p.height, p.suppressed) for p in expected
        ]
        assert np.allclose([p.loss for p in found], [p.loss for p in expected], rtol=0, atol=1e-12)
        sizes.add(len(found))
    assert len(sizes) > 5


def test_nodes_that_agree_in_all_three_stand_together() -> None:
    """Nodes equal in all three coordinates form one point: two mirrored attributes are the same choice."""
    random = np.random.default_rng(0)
    hierarchies = [random_hierarchy(random, name, 2, 1) for name in ("left", "right")]
    table = frequency_set_of(hierarchies, [((0, 0), ()), ((0, 1), ()), ((1, 0), ()), ((1, 1), ())])
    points = compute_frontier(BruteLattice(table), Requirement(k=2), LossTables.of(table))
    assert [(p.node, p.suppressed) for p in points] == [((0, 0), 4), ((1, 0), 0), ((0, 1), 0)]
