"""The greedy: against plain loops, kernels against twins, requirements, outliers, and Theorem 4."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from discreet.errors import InputError, LimitReached, NoSolution
from discreet.frequency.class_requirement import ClassRequirement
from discreet.model.class_recoding import (
    OUTLIER,
    SUPPRESSED,
    ClassTest,
    PatternConstraints,
    PatternMask,
    RecodingModel,
    TieBreak,
)
from discreet.model.frequency_set import FrequencySet
from discreet.model.hierarchy import TOP, GeneralizationHierarchy
from discreet.model.requirement import Requirement
from discreet.patterns.components import bound_by_prices
from discreet.patterns.exact import solve_exactly
from discreet.patterns.fixed_parameter import solve_by_subsets
from discreet.patterns.greedy_assignment import (
    GreedyResult,
    assignment_cost,
    bound_from_walk,
    build_pattern_keys,
    growing_demand,
    open_walk,
    solve_greedily,
)
from discreet.patterns.masks import build_mask_from_constraints, build_mask_from_vectors
from discreet.patterns.two_anonymity import solve_two_anonymity
from discreet.settings import Settings
from papers.pattern_experiments import measure_quality
from tests.criteria_of_tests import Share
from tests.drawing import some_of
from tests.oracle.class_tests import TCloseness
from tests.oracle.plain_criteria import fails, random_criteria
from tests.oracle.plain_patterns import cheapest_cost, plain_greedy, shown
from tests.oracle.random_tables import random_frequency_set


def holds_of(
    table: FrequencySet, requirement: Requirement, test: ClassTest | None = None
) -> Callable[..., bool]:
    demand = ClassRequirement.of(table, requirement, test)
    return lambda members: demand.holds(np.array(members))


def random_case(seed: int, rows: int = 40) -> tuple[FrequencySet, Requirement]:
    random = np.random.default_rng(seed)
    table = random_frequency_set(random, attributes=4, height=3, leaves=4, rows=rows, sensitive=1)
    l = int(random.integers(1, 4)) if table.sensitive and random.random() < 0.6 else None
    return table, Requirement(int(random.integers(1, 7)), l)


def check_recoding(table: FrequencySet, found: GreedyResult, holds: Callable[..., bool]) -> None:
    """Check that each class shows its pattern's levels, meets the requirement, and is counted."""
    recoding, mask = found.recoding, found.mask
    assert found.cost == pytest.approx(assignment_cost(table, mask, found.pattern_of))
    members: dict[int, list[int]] = {}
    for row_type, of_class in zip(recoding.row_types.tolist(), recoding.classes.tolist(), strict=True):
        assert (of_class == SUPPRESSED) == (found.pattern_of[row_type] == OUTLIER)
        if of_class != SUPPRESSED:
            members.setdefault(of_class, []).append(row_type)
    for of_class, types in members.items():
        assert holds(types)
        node = mask.levels[found.pattern_of[types[0]]].tolist()
        for j, hierarchy in enumerate(table.hierarchies):
            (value,) = {shown(table, t, tuple(node))[j] for t in types}
            labels = (*hierarchy.labels[node[j]], None)
            assert recoding.cells[j].labels[recoding.shown[of_class, j]] == labels[value]
            assert (
                recoding.cells[j]
                .cover(recoding.shown[[of_class] * len(types), j], table.codes[types, j])
                .all()
            )
    assert sum(used.rows for used in recoding.patterns) == table.rows - recoding.suppressed
    assert sum(used.classes for used in recoding.patterns) == recoding.class_count


@pytest.mark.parametrize("tie", [TieBreak.LAST_COLUMN_FIRST, TieBreak.FIRST_COLUMN_FIRST])
def test_greedy_classes_equal_plain_loops(tie: TieBreak, settings: Settings) -> None:
    made = 0
    for seed in range(some_of(80)):
        random = np.random.default_rng(seed)
        table = random_frequency_set(random, attributes=4, height=3, leaves=4, rows=40, sensitive=2)
        requirement = random_criteria(random, table)
        mask = build_mask_from_constraints(table, PatternConstraints(levels=seed % 2 == 0), settings)
        holds = passes(table, requirement)
        nodes = [tuple(mask.levels[place].tolist()) for place in mask.order(tie)]
        expected = plain_greedy(table, nodes, holds)
        if all(node is None for node in expected) and expected:
            with pytest.raises(NoSolution, match="no pattern can hold any"):
                solve_greedily(table, mask, requirement, settings, tie=tie)
            continue
        found = solve_greedily(table, mask, requirement, settings, tie=tie)
        ours = [None if p == OUTLIER else tuple(mask.levels[p].tolist()) for p in found.pattern_of.tolist()]
        assert ours == expected
        check_recoding(table, found, holds)
        assert found.bound is not None
        assert found.bound <= found.cost + 1e-9
        made += 1
    assert made > 20


def passes(table: FrequencySet, requirement: Requirement) -> Callable[[list[int]], bool]:
    return lambda members: not fails(table, members, requirement)


@pytest.mark.parametrize("tie", list(TieBreak))
def test_kernels_and_twins_agree(tie: TieBreak, settings: Settings) -> None:
    for seed in range(25):
        table, requirement = random_case(seed, rows=200)
        mask = build_mask_from_constraints(table, PatternConstraints(levels=seed % 2 == 0), settings)
        try:
            plain = solve_greedily(table, mask, requirement, settings, tie=tie, evaluator="twin")
        except NoSolution:
            continue
        fast = solve_greedily(table, mask, requirement, settings, tie=tie, evaluator="kernels")
        assert fast.pattern_of.tolist() == plain.pattern_of.tolist()
        assert fast.bound == plain.bound


def placed(table: FrequencySet, nodes: list[tuple[int, ...]], holds: Callable[[list[int]], bool]) -> int:
    found = plain_greedy(table, nodes, holds)
    return sum(int(n) for n, node in zip(table.counts, found, strict=True) if node is not None)


def test_best_tie_takes_the_pattern_that_places_most_rows(settings: Settings) -> None:
    for seed in range(some_of(25)):
        random = np.random.default_rng(seed)
        table = random_frequency_set(random, attributes=3, height=1, leaves=3, rows=20, sensitive=1)
        requirement = random_criteria(random, table)
        holds = passes(table, requirement)
        mask = build_mask_from_constraints(table, PatternConstraints(), settings)
        nodes = [tuple(node) for node in mask.levels.tolist()]
        taken = _most_rows_first(table, mask, nodes, holds)
        expected = plain_greedy(table, taken, holds)
        if any(node is not None for node in expected):
            found = solve_greedily(table, mask, requirement, settings, tie=TieBreak.BEST)
            assert [None if p == OUTLIER else nodes[p] for p in found.pattern_of.tolist()] == expected


def _most_rows_first(
    table: FrequencySet, mask: PatternMask, nodes: list[tuple[int, ...]], holds: Callable[[list[int]], bool]
) -> list[tuple[int, ...]]:
    """Choose, among patterns of equal cost, the one that places most rows, until none places any."""
    todo, taken = mask.order(TieBreak.LAST_COLUMN_FIRST).tolist(), []
    while todo:
        equal = [p for p in todo if mask.cost_ranks[p] == mask.cost_ranks[todo[0]]]
        rows = {p: placed(table, [*taken, nodes[p]], holds) for p in equal}
        best = max(equal, key=lambda p: (rows[p], -equal.index(p)))
        if rows[best] == placed(table, taken, holds):
            todo = [p for p in todo if p not in equal]
            continue
        taken.append(nodes[best])
        todo.remove(best)
    return taken


def lower_bound(table: FrequencySet, mask: PatternMask, requirement: Requirement) -> float:
    keys, demand = build_pattern_keys(table, mask), ClassRequirement.of(table, requirement)
    return bound_from_walk(table, mask, keys, open_walk(keys, growing_demand(demand, requirement), "auto"))


def test_lower_bound_is_below_every_assignment(settings: Settings) -> None:
    tight = 0
    for seed in range(some_of(80)):
        random = np.random.default_rng(seed)
        table = random_frequency_set(random, attributes=2, height=2, leaves=3, rows=7, sensitive=1)
        if table.row_types > 5 or not table.rows:
            continue
        requirement = random_criteria(random, table)
        mask = build_mask_from_constraints(table, PatternConstraints(levels=seed % 2 == 0), settings)
        best = cheapest_cost(table, mask, passes(table, requirement))
        bound = lower_bound(table, mask, requirement)
        assert bound <= best + 1e-9
        tight += bound == pytest.approx(best)
    assert tight > 5


def a_case(settings: Settings) -> tuple[FrequencySet, PatternMask]:
    table = random_frequency_set(
        np.random.default_rng(8), attributes=3, height=2, leaves=4, rows=30, sensitive=2
    )
    return table, build_mask_from_constraints(table, PatternConstraints(), settings)


@pytest.mark.parametrize("solve", [solve_exactly, solve_by_subsets, solve_two_anonymity, bound_by_prices])
def test_exact_methods_refuse_criteria_other_than_k(solve: Callable[..., object], settings: Settings) -> None:
    table, mask = a_case(settings)
    with pytest.raises(InputError, match=r"the exact solution for k=2, share=0.9") as error:
        solve(table, mask, Requirement(2, criteria=[Share(0.9)]), settings)
    assert error.value.advice == "Use the greedy for other requirements."


def test_class_test_is_applied_to_every_class(settings: Settings) -> None:
    random = np.random.default_rng(3)
    table = random_frequency_set(random, attributes=3, height=2, leaves=4, rows=60, sensitive=1)
    while not table.sensitive or table.rows < 30:
        table = random_frequency_set(random, attributes=3, height=2, leaves=4, rows=60, sensitive=1)
    sets = table.sensitive[0]
    assert sets.counts is not None
    whole = np.bincount(sets.codes, weights=sets.counts, minlength=sets.size).astype(np.int64)
    test = TCloseness(0.3, whole)
    mask = build_mask_from_constraints(table, PatternConstraints(levels=True), settings)
    found = solve_greedily(table, mask, Requirement(2), settings, class_test=test)
    check_recoding(table, found, holds_of(table, Requirement(2), test))
    assert found.cost >= solve_greedily(table, mask, Requirement(2), settings).cost


def test_outliers_follow_their_policy(settings: Settings) -> None:
    table = flat_table([(0, 0)] * 5 + [(1, 0)] * 2 + [(0, 1)] * 2)
    suppress = solve_greedily(
        table, build_mask_from_vectors(table, [".."], settings), Requirement(3), settings
    )
    assert (suppress.outliers, suppress.cost) == (0, 8.0)
    assert [str(used.pattern) for used in suppress.recoding.patterns] == ["..", "**"]
    delete = build_mask_from_vectors(table, [".."], settings, outliers="delete")
    assert solve_greedily(table, delete, Requirement(3), settings).outliers == 4
    assert solve_greedily(table, delete, Requirement(3), settings, limit=4).recoding.suppressed == 4
    with pytest.raises(NoSolution, match="at most 3 may be"):
        solve_greedily(table, delete, Requirement(3), settings, limit=3)
    with pytest.raises(NoSolution, match="4 of 9 rows fit no pattern, and outliers are an error"):
        solve_greedily(
            table,
            build_mask_from_vectors(table, [".."], settings, outliers="error"),
            Requirement(3),
            settings,
        )
    with pytest.raises(NoSolution, match="no pattern can hold any of the 9 rows"):
        solve_greedily(table, delete, Requirement(6), settings)


def test_class_of_all_stars_below_k_is_never_published(settings: Settings) -> None:
    table = flat_table([(0, 0)] * 5 + [(1, 1)] * 2)
    found = solve_greedily(table, build_mask_from_vectors(table, [".."], settings), Requirement(3), settings)
    assert found.outliers == 2
    assert found.recoding.class_rows().tolist() == [5]
    assert measure_quality(table, found.recoding).types == 2


def test_recoding_model_depends_on_stars_or_levels(settings: Settings) -> None:
    random = np.random.default_rng(5)
    table = random_frequency_set(random, attributes=4, height=3, leaves=4, rows=60, sensitive=0)
    while max(h.height for h in table.hierarchies) < 2:
        table = random_frequency_set(random, attributes=4, height=3, leaves=4, rows=60, sensitive=0)
    for levels, model in ((False, RecodingModel.CELL_SUPPRESSION), (True, RecodingModel.CELL_GENERALIZATION)):
        mask = build_mask_from_constraints(table, PatternConstraints(levels=levels), settings)
        assert solve_greedily(table, mask, Requirement(2), settings).recoding.model is model


@pytest.mark.parametrize("m", [3, 4, 6])
def test_theorem_4_is_tight(m: int, settings: Settings) -> None:
    """Theorem 4 is tight for k = m: k rows of ones, and k − 1 rows per column with a distinct value in it."""
    rows = [(0,) * m] * m
    rows += [tuple(1 + r if j == i else 0 for j in range(m)) for i in range(m) for r in range(m - 1)]
    table = flat_table(rows)
    vectors = ["." * m, *("." * i + "*" + "." * (m - 1 - i) for i in range(m)), "*" * m]
    mask = build_mask_from_vectors(table, vectors, settings)
    found = solve_greedily(table, mask, Requirement(k=m), settings)
    assert found.cost == (m - 1) * m * m
    assert found.bound is not None
    assert found.bound <= m * m <= found.cost
    assert found.gap == pytest.approx((found.cost - found.bound) / found.cost)


def test_bad_options_are_refused(settings: Settings) -> None:
    table = flat_table([(0, 0)] * 3)
    mask = build_mask_from_vectors(table, [".."], settings)
    with pytest.raises(InputError, match="tie order 'worst'"):
        solve_greedily(table, mask, Requirement(2), settings, tie="worst")
    with pytest.raises(InputError, match="no privacy criterion"):
        solve_greedily(table, mask, Requirement(), settings)
    tiny = Settings(memory_limit=100, threads=1, private_log=settings.private_log)
    with pytest.raises(LimitReached, match="row types need"):
        solve_greedily(table, mask, Requirement(2), tiny)


def test_empty_table_has_no_classes(settings: Settings) -> None:
    table = flat_table([(0, 0)])
    empty = FrequencySet(table.hierarchies, table.codes[:0], table.counts[:0])
    found = solve_greedily(empty, build_mask_from_vectors(empty, [".."], settings), Requirement(2), settings)
    assert (found.recoding.class_count, found.cost, found.bound) == (0, 0.0, 0.0)


def flat_table(rows: list[tuple[int, ...]]) -> FrequencySet:
    """Return rows of small numbers under hierarchies of value and star."""
    codes, counts = np.unique(np.array(rows), axis=0, return_counts=True)
    hierarchies = []
    for j in range(codes.shape[1]):
        leaves = tuple(str(value) for value in range(int(codes[:, j].max()) + 2))
        ancestors = (np.arange(len(leaves)), np.zeros(len(leaves), np.int64))
        hierarchies.append(GeneralizationHierarchy(f"q{j}", (leaves, (TOP,)), ancestors, "flat"))
    return FrequencySet(tuple(hierarchies), codes.astype(np.int64), counts.astype(np.int64))


@pytest.mark.parametrize("leaves", [20_000, 33_000])
def test_attributes_of_many_values_are_recoded(leaves: int, settings: Settings) -> None:
    """Attributes with many values are recoded; a level times the value count exceeds 16 bits."""
    halves = np.arange(leaves) // 2
    levels = (np.arange(leaves), halves, halves // 2, np.zeros(leaves, np.int64))
    labels = tuple(tuple(map(str, range(int(level.max()) + 1))) for level in levels[:-1])
    hierarchy = GeneralizationHierarchy("q0", (*labels, ("*",)), levels, "test")
    table = FrequencySet((hierarchy,), np.arange(leaves)[:, np.newaxis], np.ones(leaves, np.int64))
    mask = build_mask_from_vectors(table, ["2", "*"], settings)
    found = solve_greedily(table, mask, Requirement(2), settings)
    assert found.recoding.class_count == leaves // 4 + (leaves % 4 > 1)
    check_recoding(table, found, holds_of(table, Requirement(2)))
