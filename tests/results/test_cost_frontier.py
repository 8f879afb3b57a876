"""The frontier of a cost against enumeration: costs by definition, then pairwise comparison."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from discreet.cli.main import main
from discreet.lattice.evaluation import evaluate_lattice
from discreet.measures.cost_registry import COSTS, cost_named
from discreet.measures.named_costs import user_cost
from discreet.measures.node_statistics import NodeStatistics
from discreet.model.frequency_set import FrequencySet
from discreet.model.lattice import LatticeNode
from discreet.model.request import Request
from discreet.model.requirement import Requirement
from discreet.model.search_result import cost_parts
from discreet.model.table_spec import Attribute, AttributeRole, SourceSpec, TableSpec
from discreet.negotiation.frontier import compute_cost_frontier
from discreet.results.table_lattice import TableLattice
from discreet.settings import Settings
from discreet.spec.spec_reader import load_spec
from discreet.verbs.table import Table
from tests.drawing import some_of
from tests.oracle import plain_criteria
from tests.oracle.plain_costs import cost_by_hand
from tests.oracle.random_costs import random_cost
from tests.oracle.random_tables import random_frequency_set
from tests.web.negotiation import write_philosophers

CostsAndRows = dict[LatticeNode, tuple[float, int]]
"""The cost and the suppressed rows of each node."""


def rounded(cost: float) -> tuple[float, ...]:
    return tuple(round(part, 9) for part in cost_parts(cost))


def undominated(costs_and_rows: CostsAndRows) -> set[LatticeNode]:
    """Return the nodes that no other node dominates, compared pair by pair."""
    keys = {node: (rounded(cost), rows) for node, (cost, rows) in costs_and_rows.items()}
    return {
        node
        for node, key in keys.items()
        if not any(other != key and other[0] <= key[0] and other[1] <= key[1] for other in keys.values())
    }


def lattice_of(table: FrequencySet, requirement: Requirement, settings: Settings) -> TableLattice:
    evaluated = evaluate_lattice(
        table, settings, diversity=requirement.l is not None, criteria=requirement.others
    )
    role = AttributeRole.QUASI_IDENTIFIER
    attributes = tuple(Attribute(name, role, weight=1 + i) for i, name in enumerate(table.attributes))
    return TableLattice(evaluated, table, TableSpec(SourceSpec(Path("x.csv")), attributes), settings)


@pytest.mark.parametrize("name", COSTS.names())
def test_cost_frontier_contains_the_undominated_nodes(name: str, settings: Settings) -> None:
    sizes = set()
    for seed in range(some_of(25)):
        random = np.random.default_rng(seed)
        subjects = int(random.integers(2, 9)) if random.random() < 0.2 else None
        table = random_frequency_set(
            random, attributes=3, height=3, leaves=5, rows=20, sensitive=1, subjects=subjects
        )
        l = int(random.integers(1, 4)) if table.sensitive else None
        requirement = Requirement(k=int(random.integers(1, 7)), l=l)
        lattice, cost = lattice_of(table, requirement, settings), random_cost(random, name)
        weights = {attribute: 1.0 + i for i, attribute in enumerate(table.attributes)}
        costs_and_rows = {
            node: (
                cost_by_hand(cost, table, node, requirement, weights),
                plain_criteria.suppressed(table, node, requirement),
            )
            for node in lattice.lattice.nodes()
        }
        found = lattice.frontier_of(Request(requirement), cost)
        assert {point.node for point in found.points} == undominated(costs_and_rows)
        assert found.cost_name == name
        for point in found.points:
            expected, rows = costs_and_rows[point.node]
            assert point.suppressed == rows
            assert point.cost is not None
            assert cost_parts(point.cost) == pytest.approx(cost_parts(expected), rel=1e-9, abs=1e-9)
        for node in list(costs_and_rows)[:: max(len(costs_and_rows) // 5, 1)]:  # on the frontier or not
            summary = lattice.summary_of(node, requirement, cost)
            assert (summary.cost_name, summary.suppressed) == (name, costs_and_rows[node][1])
            assert summary.cost is not None
            assert cost_parts(summary.cost) == pytest.approx(
                cost_parts(costs_and_rows[node][0]), rel=1e-9, abs=1e-9
            )
        sizes.add(len(found.points))
    assert len(sizes) > 1


def test_user_cost_is_computed_for_every_node(settings: Settings) -> None:
    table = random_frequency_set(
        np.random.default_rng(5), attributes=3, height=2, leaves=5, rows=20, sensitive=0
    )
    requirement = Requirement(k=2)
    lattice = lattice_of(table, requirement, settings)

    def wide(node: NodeStatistics) -> float:
        return float(node.classes)

    costs_and_rows = {
        node: (cost_by_hand("height", table, node, requirement), lattice.suppressed(node, requirement))
        for node in lattice.lattice.nodes()
    }
    height = lattice.frontier_of(Request(requirement), user_cost(lambda node: float(node.height)))
    assert {point.node for point in height.points} == undominated(costs_and_rows)
    assert lattice.frontier(k=2, cost=wide).cost_name == "wide"


def test_nodes_above_the_best_are_never_counted() -> None:
    suppressed, bounds = np.array([0, 0, 1, 2, 2]), np.array([3.0, 4.0, 3.5, 1.0, 2.0])
    counted: list[int] = []

    def exact(shift: float) -> Callable[[int], float]:
        def cost(position: int) -> float:
            counted.append(position)
            return float(bounds[position]) + shift

        return cost

    assert compute_cost_frontier(suppressed, bounds, exact(0.0)) == {0: 3.0, 3: 1.0}
    assert counted == [0, 3]
    assert compute_cost_frontier(suppressed[:0], bounds[:0], exact(0.0)) == {}


def test_answers_report_their_cost(
    tmp_path: Path, settings: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    """Exact answers and relaxations report the cost under their own requirement, also on the command line."""
    spec = write_philosophers(tmp_path)
    table = Table(load_spec(spec), settings)
    for request in ({"k": 3}, {"k": 4, "max_level": {"age": 1, "work_class": 1, "education": 1}}):
        result = table.negotiate(**request, cost="dm")  # type: ignore[arg-type]
        assert result.cost_name == "dm"
        for answer in result.answers:
            node, options = answer.answer.node, answer.answer.requirement
            assert answer.cost == table.lattice().summary_of(node, options, cost_named("dm")).cost
            assert answer.cost == cost_by_hand(cost_named("dm"), table.frequency_set, node, options)
        assert "cost, dm" in str(result)
    assert table.negotiate(k=3).answers[0].cost is None
    assert main(["negotiate", str(spec), "--k", "3", "--cost", "dm", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["cost"] == "dm"
    assert document["answers"][0]["cost"] == table.negotiate(k=3, cost="dm").answers[0].cost
