"""Perfect and simplex matchings and 2-anonymity, checked against all partitions and integer programs."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from discreet.errors import InputError, LimitReached, NoSolution
from discreet.kernels.perfect_matching import minimum_perfect_matching
from discreet.model.class_recoding import OUTLIER, OutlierPolicy, PatternConstraints
from discreet.model.requirement import Requirement
from discreet.patterns import two_anonymity
from discreet.patterns.exact import solve_exactly
from discreet.patterns.masks import build_mask_from_constraints, build_mask_from_vectors
from discreet.patterns.two_anonymity import (
    SimplexMatching,
    TwoAnonymityResult,
    find_simplex_matching,
    solve_two_anonymity,
)
from discreet.settings import Settings
from tests.drawing import some_of
from tests.oracle.plain_assignment import least_cost
from tests.oracle.plain_matching import cheapest_partition
from tests.oracle.random_tables import random_frequency_set
from tests.oracle.starred_tables import starred_frequency_set

Indexes = NDArray[np.int64]
TWO = Requirement(2)


def symmetric(costs: Indexes) -> Indexes:
    upper = np.triu(costs, 1)
    return np.ascontiguousarray(upper + upper.T)


def random_pairs(random: np.random.Generator, n: int) -> Indexes:
    """Return costs of pairs: arbitrary, distances of short rows, or cheap only within groups."""
    kind = random.integers(0, 3)
    if kind == 0:
        return symmetric(random.integers(0, random.choice([2, 4, 30]), (n, n)))
    if kind == 1:
        rows = random.integers(0, 3, (n, 4))
        return symmetric((rows[:, None] != rows[None]).sum(axis=2))
    group = random.integers(0, max(n // 3, 1), n)
    near = random.integers(0, 3, (n, n))
    return symmetric(np.where(group[:, None] == group[None, :], near, near + 20))


def random_triples(random: np.random.Generator, pairs: Indexes) -> Indexes:
    """Return costs of triples at the simplex condition's minimum, or randomly above it."""
    half = (pairs[:, :, None] + pairs[:, None, :] + pairs[None, :, :] + 1) // 2
    above = random.integers(0, random.choice([1, 3, 20]), half.shape) * (random.random(half.shape) < 0.7)
    above = np.maximum.reduce([above.transpose(order) for order in ((0, 1, 2), (0, 2, 1), (1, 0, 2))])
    above = np.maximum.reduce([above.transpose(order) for order in ((0, 1, 2), (2, 0, 1), (1, 2, 0))])
    above = np.maximum(above, above.transpose(0, 2, 1))
    return np.asarray(half + above, np.int64)


@pytest.mark.parametrize("seed", range(some_of(60)))
def test_perfect_matching_is_proven_by_its_duals(seed: int) -> None:
    random = np.random.default_rng(seed)
    n = 2 * int(random.integers(1, 12))
    costs = random_pairs(random, n)
    found = minimum_perfect_matching(costs)
    everyone = np.arange(n)
    assert (found.mate[found.mate] == everyone).all()
    assert (found.mate != everyone).all()
    assert (found.members.sum(axis=1) % 2 == 1).all()
    assert (found.thickness > 0).all()
    cut = np.zeros((n, n), np.int64)
    for members, thickness in zip(found.members, found.thickness, strict=True):
        cut += thickness * (members[:, None] != members[None, :])
    slack = 4 * costs - found.potential[:, None] - found.potential[None, :] - cut
    assert (slack[~np.eye(n, dtype=bool)] >= 0).all()
    total = int(costs[everyone, found.mate].sum()) // 2
    assert found.potential.sum() + found.thickness.sum() == 4 * total


def check_partition(found: SimplexMatching, pairs: Indexes, triples: Indexes) -> None:
    assert sorted(v for edge in (*found.pairs, *found.triples) for v in edge) == list(range(len(pairs)))
    assert found.cost == sum(pairs[e] for e in found.pairs) + sum(triples[e] for e in found.triples)


@pytest.mark.parametrize("seed", range(some_of(200)))
def test_simplex_matching_is_the_cheapest_of_all_partitions(seed: int) -> None:
    random = np.random.default_rng(seed)
    pairs = random_pairs(random, int(random.integers(2, 11)))
    triples = random_triples(random, pairs)
    found = find_simplex_matching(pairs, triples)
    check_partition(found, pairs, triples)
    least = cheapest_partition(len(pairs), lambda e: int(pairs[e] if len(e) == 2 else triples[e]))
    assert found.cost == least


@pytest.mark.parametrize("seed", range(some_of(100)))
def test_any_start_ends_at_the_cheapest_partition(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(seed)
    n = int(random.integers(3, 11))
    pairs = random_pairs(random, n)
    triples = random_triples(random, pairs)
    numbers = [t for t in range(n // 3 + 1) if (n - 3 * t) % 2 == 0]
    names = random.permutation(n).tolist()
    start = [tuple(sorted(names[3 * t : 3 * t + 3])) for t in range(int(random.choice(numbers)))]
    monkeypatch.setattr(two_anonymity._ExchangeSearch, "_start", lambda search: search.chosen.extend(start))
    found = find_simplex_matching(pairs, triples)
    check_partition(found, pairs, triples)
    assert found.cost == cheapest_partition(n, lambda e: int(pairs[e] if len(e) == 2 else triples[e]))


def test_triples_are_made_of_odd_distant_groups() -> None:
    group = np.repeat(np.arange(6), 3)
    pairs = symmetric(np.where(group[:, None] == group[None, :], 2, 20))
    triples = np.asarray((pairs[:, :, None] + pairs[:, None, :] + pairs[None, :, :]) // 2, np.int64)
    steps: list[tuple[int, int]] = []
    found = find_simplex_matching(pairs, triples, lambda done, n: steps.append((done, n)))
    assert found.cost == 18
    assert found.triples == tuple((i, i + 1, i + 2) for i in range(0, 18, 3))
    assert (found.pairs, found.steps, steps) == ((), 3, [(6, 18), (12, 18), (18, 18)])


def cost_of(found: TwoAnonymityResult) -> float:
    assert (found.recoding.class_rows() >= 2).all()
    assert found.recoding.suppressed == found.rows[found.patterns == OUTLIER].sum()
    return found.cost


@pytest.mark.parametrize("seed", range(some_of(120)))
def test_two_anonymity_costs_the_best_of_all_assignments(seed: int, settings: Settings) -> None:
    random = np.random.default_rng(seed)
    table = random_frequency_set(random, attributes=3, height=2, leaves=3, rows=7, sensitive=0)
    heights = [h.height for h in table.hierarchies]
    vectors = {tuple(int(random.integers(0, h + 1)) for h in heights) for _ in range(random.integers(1, 4))}
    weights = {name: float(random.integers(0, 5)) / 2 for name in table.attributes}
    policy = list(OutlierPolicy)[random.integers(0, 3)]
    mask = build_mask_from_vectors(table, sorted(vectors), settings, weights=weights, outliers=policy)
    if not table.rows:
        return
    least = least_cost(table, mask, 2)
    nothing_kept = policy is OutlierPolicy.DELETE and least == mask.top_cost * table.rows
    try:
        cost = cost_of(solve_two_anonymity(table, mask, TWO, settings))
    except NoSolution:
        assert least is None or nothing_kept
    else:
        assert cost == pytest.approx(least)


@pytest.mark.parametrize("policy", OutlierPolicy)
def test_two_anonymity_costs_the_optimum_of_the_integer_program(
    policy: OutlierPolicy, settings: Settings
) -> None:
    random = np.random.default_rng(5)
    rows = [tuple("abcdef"[v] for v in row) for row in random.integers(0, 6, (45, 4))]
    rows += rows[:3] * 20
    table = starred_frequency_set(rows, ["a", "b", "c", "d"])
    most = 4 if policy is OutlierPolicy.ERROR else 2
    mask = build_mask_from_constraints(table, PatternConstraints(max_stars=most), settings, outliers=policy)
    found = solve_two_anonymity(table, mask, TWO, settings)
    assert cost_of(found) == solve_exactly(table, mask, TWO, settings).cost
    assert found.vertices < len(rows) + 1


def test_impossible_two_anonymity_is_refused(settings: Settings) -> None:
    table = starred_frequency_set([("a", "b"), ("c", "d"), ("a", "e")], ["x", "y"])
    mask = build_mask_from_vectors(table, [".*"], settings, outliers="error")
    with pytest.raises(NoSolution):
        solve_two_anonymity(table, mask, TWO, settings)
    with pytest.raises(InputError) as raised:
        solve_two_anonymity(table, mask, Requirement(3), settings)
    assert raised.value.allowed == "k=2"
    small = Settings(memory_limit=100, threads=1, private_log=settings.private_log)
    with pytest.raises(LimitReached):
        solve_two_anonymity(table, mask, TWO, small)


def test_single_row_can_only_be_deleted(settings: Settings) -> None:
    table = starred_frequency_set([("a", "b")], ["x", "y"])
    mask = build_mask_from_vectors(table, [".*"], settings)
    with pytest.raises(NoSolution):
        solve_two_anonymity(table, mask, TWO, settings)
    free = build_mask_from_vectors(table, [".*"], settings, outliers="delete")
    with pytest.raises(NoSolution):
        solve_two_anonymity(table, free, TWO, settings)


def test_row_without_partner_is_suppressed_unless_all_are_published(settings: Settings) -> None:
    table = starred_frequency_set([("a", "b"), ("a", "c"), ("a", "d"), ("e", "f")], ["x", "y"])
    mask = build_mask_from_vectors(table, [".*"], settings)
    assert solve_two_anonymity(table, mask, TWO, settings).cost == 6
    found = solve_two_anonymity(table, mask, TWO, settings, publish_all=False)
    assert (found.cost, found.recoding.suppressed) == (5, 1)
