"""Costs, checked row by row against their definitions, with their bounds, aggregates and options."""

from __future__ import annotations

import math
import pickle
from itertools import product
from math import inf
from operator import le

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.errors import InputError
from discreet.measures.cell_sums import (
    CostAggregate,
    aggregate_columns,
    aggregate_parts,
    clearly_less,
    cost_at,
)
from discreet.measures.cost_kinds import ClassSizeCost, Cost, NodeClassSizes
from discreet.measures.cost_registry import COSTS, cost_named, cost_over
from discreet.measures.loss import LossTables
from discreet.measures.named_costs import NamedCost
from discreet.measures.node_statistics import NodeStatistics
from discreet.measures.standard_costs import Entropy, Loss, Precision
from discreet.model.frequency_set import FrequencySet
from discreet.model.lattice import Lattice, LatticeNode
from discreet.model.requirement import Requirement
from discreet.model.search_result import RankedCost, cost_as_json, cost_parts
from tests.drawing import some_of
from tests.oracle.brute_lattice import signature_of
from tests.oracle.plain_costs import classes_of, cost_by_hand
from tests.oracle.plain_criteria import fails
from tests.oracle.random_costs import random_cost
from tests.oracle.random_tables import frequency_set_of, random_frequency_set, random_hierarchy

NAMES = COSTS.names()
RISE_AND_FALL = ("payout", "classification")


def statistics_of(table: FrequencySet, node: LatticeNode, requirement: Requirement) -> NodeStatistics:
    """Return the statistics of a node, with its classes computed in plain Python."""
    wanted = (requirement.k or 0, *(l or 0 for l in requirement.l_of(table.sensitive_attributes)))
    classes = list(classes_of(table, node).values())
    first = np.array([types[0] for types in classes], dtype=np.int64)
    fails = [
        any(have < want for have, want in zip(signature_of(table, types), wanted, strict=True))
        for types in classes
    ]
    return NodeStatistics(
        node=node,
        hierarchies=table.hierarchies,
        requirement=requirement,
        class_sizes=np.array([int(table.counts[types].sum()) for types in classes], dtype=np.int64),
        failing=np.array(fails, dtype=np.bool_),
        codes_at=lambda positions: table.codes[first[positions]],
    )


def lattice_of(table: FrequencySet) -> Lattice:
    return Lattice(table.attributes, tuple(h.height for h in table.hierarchies))


def random_case(seed: int) -> tuple[FrequencySet, Requirement, dict[str, float]]:
    random = np.random.default_rng(seed)
    table = random_frequency_set(random, attributes=3, height=3, leaves=5, rows=14, sensitive=1)
    l = int(random.integers(1, 4)) if table.sensitive and random.random() < 0.5 else None
    requirement = Requirement(
        k=int(random.integers(1, 5)) if l is None or random.random() < 0.5 else None, l=l
    )
    weights = {name: float(random.integers(0, 4)) / 2 for name in table.attributes if random.random() < 0.3}
    return table, requirement, weights


@settings(max_examples=some_of(40), deadline=None)
@given(seed=st.integers(0, 10**6))
def test_costs_of_every_node_equal_their_definitions(seed: int) -> None:
    table, requirement, weights = random_case(seed)
    nodes = list(lattice_of(table).nodes())
    levels = np.array(nodes, dtype=np.int64)
    found = [statistics_of(table, node, requirement) for node in nodes]
    for named in costs_of_case(seed):
        cost = cost_over(named, table, requirement, weights)
        expected = [cost_by_hand(named, table, node, requirement, weights) for node in nodes]
        suppressed = np.array([s.suppressed for s in found], dtype=np.int64)
        bounds = cost.lower_bounds(levels, suppressed)
        for position, (node, s, value) in enumerate(zip(nodes, found, expected, strict=True)):
            assert about(cost.of(s), value)
            assert at_most(cost_at(bounds, position), value)
            assert at_most(cost.least(node, s.suppressed), value)
            known = cost.known(node, s.suppressed)
            assert known is None or about(known, value)
            if isinstance(cost, ClassSizeCost) and not cost.of_all:
                assert cost.of_sizes(s.classes, int((s.sizes**2).sum()), s.suppressed) == pytest.approx(value)


@settings(max_examples=some_of(30), deadline=None)
@given(seed=st.integers(0, 10**6))
def test_lower_bounds_hold_for_every_node_above(seed: int) -> None:
    table, requirement, weights = random_case(seed)
    nodes = list(lattice_of(table).nodes())
    found = {node: statistics_of(table, node, requirement) for node in nodes}
    rows = {node: suppressed_rows(table, node, requirement) for node in nodes}
    pairs = [(low, high) for low, high in product(nodes, nodes) if all(map(le, low, high))]
    for named in costs_of_case(seed):
        cost = cost_over(named, table, requirement, weights)
        costs = {node: cost.of(s) for node, s in found.items()}
        for low, high in pairs:
            s = found[high].suppressed
            assert at_most(cost.least(low, s), costs[high])
            fewer = np.array([0, s // 2, s])
            for bound in cost.cheap_lower_bounds(np.array([low] * 3), fewer):
                assert at_most(bound if bound.ndim == 0 else RankedCost(bound.tolist()), costs[high])
            if isinstance(cost, ClassSizeCost):
                sizes = NodeClassSizes.of(found[low].class_sizes)
                assert cost.lower_bound_above(sizes, s) <= costs[high] + 1e-9
            if cost.always_monotone or (cost.monotone and rows[low] == rows[high]):
                assert at_most(costs[low], costs[high])


def suppressed_rows(table: FrequencySet, node: LatticeNode, requirement: Requirement) -> set[int]:
    """Return the row types that a node suppresses."""
    classes = classes_of(table, node).values()
    return {t for types in classes if fails(table, types, requirement) for t in types}


def costs_of_case(seed: int) -> list[NamedCost]:
    """Return every cost with its defaults, and with randomly drawn options."""
    random = np.random.default_rng(seed + 1)
    return [*COSTS, *(random_cost(random, cost.name) for cost in COSTS if cost.options())]


def about(first: float, second: float) -> bool:
    """Return True if two costs are equal up to rounding."""
    pairs = zip(cost_parts(first), cost_parts(second), strict=True)
    return all(math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-9) for one, other in pairs)


def at_most(first: float, second: float) -> bool:
    """Return True if a cost is at most another, up to rounding."""
    return about(first, second) or next(
        (a < b for a, b in zip(cost_parts(first), cost_parts(second), strict=True) if abs(a - b) > 2e-10),
        True,
    )


def falls_somewhere(name: str, k: int) -> bool:
    """Return True if the cost decreases towards the top in some small table with suppressed rows."""
    for seed in range(some_of(200)):
        random = np.random.default_rng(seed)
        table = random_frequency_set(random, attributes=2, height=2, leaves=5, rows=14, sensitive=0)
        requirement = Requirement(k=k)
        cost = cost_over(name, table, requirement)
        lattice = lattice_of(table)
        for node in lattice.nodes():
            here = cost.of(statistics_of(table, node, requirement))
            for parent in lattice.parents(node):
                if cost.of(statistics_of(table, parent, requirement)) < here - 1e-9:
                    return True
    return False


@pytest.mark.parametrize("name", NAMES)
def test_monotone_costs_never_fall(name: str) -> None:
    hierarchy = random_hierarchy(np.random.default_rng(0), "a", 3, 1)
    cost = cost_over(name, frequency_set_of([hierarchy], [((0,), ()), ((1,), ())]), Requirement(k=2))
    assert cost.monotone is (name not in RISE_AND_FALL)
    assert falls_somewhere(name, k=3) != cost.always_monotone


@pytest.mark.parametrize("named", [Precision(charge="none"), Entropy(charge="none"), Loss(gs_factor=0)])
def test_costs_without_suppression_charge_are_always_monotone(named: NamedCost) -> None:
    table, requirement, _ = random_case(4)
    assert cost_over(named, table, requirement).always_monotone


def test_loss_without_suppression_equals_the_loss_tables() -> None:
    table, _, weights = random_case(4)
    tables = LossTables.of(table, weights)
    cost = cost_over("loss", table, Requirement(k=1), weights)
    losses = [cost.known(node, 0) for node in lattice_of(table).nodes()]
    assert losses == pytest.approx(tables.losses.tolist(), abs=1e-12)


def test_costs_equal_by_symmetry_are_equal_to_the_last_bit() -> None:
    random = np.random.default_rng(1)
    hierarchies = [random_hierarchy(np.random.default_rng(7), name, 6, 3) for name in "abcd"]
    rows = [(tuple(int(random.integers(0, 6)) for _ in range(4)), ()) for _ in range(30)]
    rows += [(codes[::-1], ()) for codes, _ in rows]
    table = frequency_set_of(hierarchies, rows)
    for name in set(NAMES) - {"classification"}:  # it predicts one attribute from the others
        cost = cost_over(name, table, Requirement(k=3))
        for node in [(0, 1, 2, 3), (1, 2, 0, 1), (3, 0, 0, 1)]:
            pair = [cost.of(statistics_of(table, n, Requirement(k=3))) for n in (node, node[::-1])]
            assert pair[0] == pair[1], name


def test_costs_of_an_empty_table_depend_on_levels_only() -> None:
    table = frequency_set_of([random_hierarchy(np.random.default_rng(0), "a", 4, 2)], [])
    for name in NAMES:
        cost = cost_over(name, table, Requirement(k=2))
        value = cost.of(statistics_of(table, (1,), Requirement(k=2)))
        assert value == {"height": 1.0, "precision": 0.5}.get(name, 0.0)
        assert cost.lower_bounds(np.array([[1]]), np.array([0])).tolist() == [value]


def test_costs_with_all_rows_suppressed_count_one_class() -> None:
    table = frequency_set_of(
        [random_hierarchy(np.random.default_rng(0), "a", 3, 1)], [((0,), ()), ((1,), ()), ((2,), ())]
    )
    requirement = Requirement(k=2)
    everything = statistics_of(table, (0,), requirement)
    assert (everything.classes, everything.suppressed, everything.height) == (0, 3, 0)
    for name, value in {"aecs": 3.0, "c-avg": 1.5, "dm": 9.0, "loss": 1.0, "ambiguity": 3.0}.items():
        assert cost_over(name, table, requirement).of(everything) == value


def test_ambiguity_beyond_one_word_is_exact() -> None:
    """64 attributes of four leaves have 4^64 combinations, more than one word holds."""
    random = np.random.default_rng(0)
    hierarchies = [random_hierarchy(random, f"a{i:02d}", 4, 1) for i in range(64)]
    table = frequency_set_of(hierarchies, [((0,) * 64, ()), ((1,) * 64, ())])
    cost = cost_over("ambiguity", table, Requirement(k=2))
    assert cost.of(statistics_of(table, (1,) * 64, Requirement(k=2))) == float(4**64)


def test_user_function_reads_node_statistics() -> None:
    table, _, _ = random_case(4)
    requirement = Requirement(k=2)
    cost: Cost = cost_over(lambda s: s.height + s.classes + len(s.codes), table, requirement)
    statistics = statistics_of(table, lattice_of(table).bottom, requirement)
    assert cost.of(statistics) == 2 * statistics.classes
    assert (cost.name, cost.monotone, cost.always_monotone) == ("own", False, False)
    with pytest.raises(InputError, match="returned NaN"):
        cost_over(lambda _: float("nan"), table, requirement).of(statistics)


def test_unknown_cost_and_weight_are_refused() -> None:
    with pytest.raises(InputError) as error:
        cost_named("beauty")
    assert error.value.allowed == ", ".join(NAMES)
    table, requirement, _ = random_case(4)
    with pytest.raises(InputError):
        cost_over("loss", table, requirement, {"nobody": 1.0})


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
