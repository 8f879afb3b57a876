"""Exact methods, checked against each other, all assignments and set cover, with their bounds and cuts."""

from __future__ import annotations

import sys
from dataclasses import replace
from itertools import combinations, product
from pathlib import Path

import numpy as np
import pytest

from discreet.errors import InputError, LimitReached, NoSolution
from discreet.model.class_recoding import OUTLIER, SUPPRESSED, OutlierPolicy, PatternConstraints, PatternMask
from discreet.model.frequency_set import FrequencySet
from discreet.model.requirement import Requirement
from discreet.patterns import exact
from discreet.patterns.components import (
    ProblemComponent,
    bound_by_prices,
    bound_component_by_prices,
    compute_row_prices,
    reduce_cover,
)
from discreet.patterns.exact import solve_exactly
from discreet.patterns.exact_problem import ExactResult, build_pattern_table, find_cells
from discreet.patterns.fixed_parameter import MOST_CELLS, solve_by_subsets
from discreet.patterns.greedy_assignment import solve_greedily
from discreet.patterns.integer_program import (
    CellLimits,
    IntegerProgram,
    bound_by_cheapest_cells,
    find_cell_limits,
)
from discreet.patterns.masks import build_mask_from_constraints, build_mask_from_vectors
from discreet.settings import Settings
from tests.drawing import some_of
from tests.oracle.plain_assignment import least_cost
from tests.oracle.random_tables import random_frequency_set
from tests.oracle.starred_tables import (
    Set,
    set_cover_rows,
    smallest_cover,
    starred_file,
    starred_frequency_set,
)


def random_mask(random: np.random.Generator, table: FrequencySet, settings: Settings) -> PatternMask:
    """Return one to three patterns at any levels, with any policy and weights in halves."""
    heights = [h.height for h in table.hierarchies]
    vectors = {tuple(int(random.integers(0, h + 1)) for h in heights) for _ in range(random.integers(1, 4))}
    weights = {name: float(random.integers(0, 5)) / 2 for name in table.attributes}
    policy = list(OutlierPolicy)[random.integers(0, 3)]
    return build_mask_from_vectors(table, sorted(vectors), settings, weights=weights, outliers=policy)


def random_table(random: np.random.Generator) -> FrequencySet:
    return random_frequency_set(random, attributes=3, height=2, leaves=3, rows=7, sensitive=0)


def not_counted(*_: object, **__: object) -> None:
    """Return None, which disables solutions that counting proves."""


def checked(table: FrequencySet, mask: PatternMask, k: int, found: ExactResult) -> float:
    """Check that a result is consistent, and return its cost."""
    costs = np.append(mask.pattern_costs, mask.top_cost)[found.patterns]
    assert found.cost == pytest.approx(float((costs * found.rows).sum()))
    placed = np.zeros(table.row_types, np.int64)
    np.add.at(placed, found.row_types, found.rows)
    assert (placed == table.counts).all()
    assert (found.recoding.class_rows() >= k).all()
    assert found.recoding.suppressed == found.rows[found.patterns == OUTLIER].sum()
    if mask.outliers is not OutlierPolicy.DELETE:
        assert not (found.recoding.classes == SUPPRESSED).any()
    assert found.start_cost is None or found.cost <= found.start_cost + 1e-9
    assert found.bound <= found.cost
    return found.cost


@pytest.mark.parametrize("seed", range(some_of(60)))
def test_all_exact_methods_agree_with_every_assignment_tried(
    seed: int, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    if seed % 2:
        monkeypatch.setattr(exact, "find_counted_plan", not_counted)
    random = np.random.default_rng(seed)
    table = random_table(random)
    if not table.rows:
        return
    mask, k = random_mask(random, table, settings), int(random.integers(1, 5))
    expected = least_cost(table, mask, k)
    if mask.outliers is OutlierPolicy.DELETE and expected == mask.top_cost * table.rows:
        return
    for method in (solve_exactly, solve_by_subsets):
        if expected is None:
            with pytest.raises(NoSolution):
                method(table, mask, Requirement(k=k), settings)
            continue
        found = method(table, mask, Requirement(k=k), settings)
        assert checked(table, mask, k, found) == pytest.approx(expected)
        assert (found.status, found.gap) == ("optimal", 0.0)


@pytest.mark.parametrize("seed", range(some_of(25)))
def test_integer_program_equals_the_fixed_parameter_method(seed: int, settings: Settings) -> None:
    random = np.random.default_rng(1000 + seed)
    rows = [tuple(str(v) for v in random.integers(0, 2, size=3)) for _ in range(int(random.integers(8, 30)))]
    table = starred_frequency_set(rows, ("a", "b", "c"))
    policy = list(OutlierPolicy)[random.integers(0, 3)]
    mask = build_mask_from_vectors(
        table, ["..*", ".*.", "*.."][: int(random.integers(1, 4))], settings, outliers=policy
    )
    k, everybody = int(random.integers(2, 6)), bool(seed % 2)
    try:
        expected = solve_by_subsets(table, mask, Requirement(k=k), settings, publish_all=everybody)
    except NoSolution:
        with pytest.raises(NoSolution):
            solve_exactly(table, mask, Requirement(k=k), settings, publish_all=everybody)
        return
    found = solve_exactly(table, mask, Requirement(k=k), settings, publish_all=everybody)
    assert (found.cost, found.recoding.suppressed < k) == (expected.cost, expected.recoding.suppressed < k)
    if everybody:
        assert checked(table, mask, k, found) == checked(table, mask, k, expected)


@pytest.mark.parametrize("seed", range(6))
def test_theorem_1_reduces_set_cover(seed: int, settings: Settings) -> None:
    random = np.random.default_rng(seed)
    elements = 9
    sets: list[Set] = [(0, 1, 2), (3, 4, 5), (6, 7, 8)]
    for _ in range(6):
        a, b, c = sorted(int(u) for u in random.choice(elements, 3, replace=False))
        sets.append((a, b, c))
    sets = sets[int(random.integers(0, 3)) :]
    cover = smallest_cover(elements, sets)
    table = starred_frequency_set(set_cover_rows(elements, sets), ("a", "b", "c"))
    mask = build_mask_from_vectors(table, [".**", "*.."], settings, outliers=OutlierPolicy.ERROR)
    if cover is None:
        with pytest.raises(NoSolution):
            solve_exactly(table, mask, Requirement(k=3), settings)
        return
    found = solve_exactly(table, mask, Requirement(k=3), settings)
    assert checked(table, mask, 3, found) == 4 * elements + 3 * len(sets) + 3 * cover


def test_class_of_all_stars_is_empty_or_large_enough(settings: Settings) -> None:
    rows = [("a", "x")] * 3 + [("b", "x")] * 5 + [("c", "y")]
    table = starred_frequency_set(rows, ("one", "two"))
    free = build_mask_from_vectors(table, [".."], settings, outliers=OutlierPolicy.DELETE)
    stars = build_mask_from_vectors(table, [".."], settings)
    deleted = solve_exactly(table, free, Requirement(k=3), settings)
    assert (deleted.cost, deleted.recoding.suppressed) == (2.0, 1)
    kept = solve_exactly(table, stars, Requirement(k=3), settings)
    assert (kept.cost, kept.recoding.suppressed, kept.status) == (6.0, 0, "optimal")
    assert sorted(kept.recoding.class_rows().tolist()) == [3, 3, 3]
    rest = solve_exactly(table, stars, Requirement(k=3), settings, publish_all=False)
    assert (rest.cost, rest.recoding.suppressed, rest.status) == (2.0, 1, "optimal")


def test_time_limit_returns_the_best_solution_with_its_bound(settings: Settings) -> None:
    random = np.random.default_rng(3)
    rows = [tuple(str(v) for v in random.integers(0, 3, size=5)) for _ in range(60)]
    table = starred_frequency_set(rows, ("a", "b", "c", "d", "e"))
    mask = build_mask_from_vectors(table, ["...**", "..**.", "*...*", ".*.*.", "**..."], settings)
    limited = solve_exactly(table, mask, Requirement(k=3), settings, time_limit=1e-6)
    proven = solve_exactly(table, mask, Requirement(k=3), settings)
    assert (limited.status, proven.status) == ("time limit", "optimal")
    assert limited.bound <= proven.cost <= limited.cost == limited.start_cost
    assert 0 < limited.gap < 1
    assert (limited.recoding.class_rows() >= 3).all()


def test_components_do_not_depend_on_threads(settings: Settings) -> None:
    random = np.random.default_rng(8)
    rows = [tuple(str(v) for v in random.integers(0, 3, size=4)) for _ in range(120)]
    table = starred_frequency_set(rows, ("a", "b", "c", "d"))
    mask = build_mask_from_vectors(table, ["...*", "*..."], settings)
    one, two = (
        solve_exactly(table, mask, Requirement(k=4), replace(settings, threads=threads)) for threads in (1, 2)
    )
    assert one.cost == two.cost
    assert one.size == two.size


@pytest.mark.parametrize("library", ["highspy", "networkx"])
def test_missing_library_names_the_extra(
    library: str, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = starred_frequency_set([("a",), ("a",)], ("one",))
    mask = build_mask_from_vectors(table, ["."], settings)
    monkeypatch.setitem(sys.modules, library, None)
    method = solve_exactly if library == "highspy" else solve_by_subsets
    with pytest.raises(InputError, match=r"discreet\[exact\]"):
        method(table, mask, Requirement(k=2), settings)


def test_exact_methods_refuse_invalid_problems(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(1)
    rows = [tuple(str(v) for v in random.integers(0, 4, size=3)) for _ in range(200)]
    table = starred_frequency_set(rows, ("a", "b", "c"))
    mask = build_mask_from_vectors(table, ["..*", "*.."], settings)
    with pytest.raises(LimitReached, match="cells"):
        solve_by_subsets(table, mask, Requirement(k=2), settings)
    assert MOST_CELLS < 32
    monkeypatch.setattr(exact, "find_counted_plan", not_counted)
    with pytest.raises(LimitReached, match="hold more than"):
        solve_exactly(table, mask, Requirement(k=6), replace(settings, memory_limit=1000))
    with pytest.raises(InputError, match="only k"):
        solve_exactly(table, mask, Requirement(k=2, l=2), settings)
    with pytest.raises(InputError, match="time limit"):
        solve_exactly(table, mask, Requirement(k=2), settings, time_limit=0.0)
    with pytest.raises(NoSolution, match="200 rows"):
        solve_exactly(table, mask, Requirement(k=201), settings)


def test_progress_counts_components(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    table = starred_frequency_set([("a", "x"), ("a", "y"), ("b", "x"), ("b", "y")] * 2, ("one", "two"))
    mask = build_mask_from_vectors(table, [".*"], settings)
    monkeypatch.setattr(exact, "find_counted_plan", not_counted)
    steps: list[tuple[int, int]] = []
    solve_exactly(table, mask, Requirement(k=3), settings, progress=lambda *at: steps.append(at))
    assert steps == [(1, 2), (2, 2)]


def component_of(fits: list[list[int]], rows: list[int]) -> ProblemComponent:
    """Return a component of cells by the part types that fit them; every part type is one row type."""
    pair_cells, types = zip(*((cell, kind) for cell, kinds in enumerate(fits) for kind in kinds), strict=True)
    return ProblemComponent(
        rows=np.array(rows),
        costs=np.ones(len(fits), np.int64),
        cells=np.arange(len(fits)),
        types=np.array(types),
        pair_cells=np.array(pair_cells),
        bounds=np.arange(len(rows) + 1),
        originals=np.arange(len(rows)),
    )


def used_together(fits: list[list[int]], rows: list[int], k: int) -> set[frozenset[int]]:
    """Return the sets of cells with at least k rows, over all assignments of rows to a cell or to none."""
    owners = [kind for kind, many in enumerate(rows) for _ in range(many)]
    ways = [[None, *(cell for cell, kinds in enumerate(fits) if kind in kinds)] for kind in owners]
    return {
        frozenset(cell for cell in range(len(fits)) if chosen.count(cell) >= k) for chosen in product(*ways)
    }


def allowed(room: CellLimits, used: frozenset[int]) -> bool:
    counts = np.bincount(
        room.sets, weights=[cell in used for cell in room.cells.tolist()], minlength=len(room.most)
    )
    return bool((counts <= room.most).all())


@pytest.mark.parametrize("seed", range(some_of(40)))
def test_every_use_of_cells_is_within_the_limits(seed: int) -> None:
    random = np.random.default_rng(seed)
    kinds, k = int(random.integers(2, 5)), int(random.integers(2, 4))
    fits = [np.flatnonzero(random.random(kinds) < 0.7).tolist() or [0] for _ in range(random.integers(2, 5))]
    rows = random.integers(1, 3, kinds).tolist()
    room = find_cell_limits(component_of(fits, rows), k)
    for used in used_together(fits, rows, k):
        assert allowed(room, used), (fits, rows, k, used)


def test_too_many_shared_cells_give_no_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("discreet.patterns.integer_program._MOST_SHARED_PAIRS", 3)
    room = find_cell_limits(component_of([[0, 1], [1, 2], [0, 2]], [1, 1, 1]), 2)
    assert (len(room.sets), len(room.cells), len(room.most)) == (0, 0, 0)


@pytest.mark.parametrize("seed", range(some_of(12)))
def test_prices_of_any_k_rows_are_at_most_the_cells_cost(seed: int, settings: Settings) -> None:
    random = np.random.default_rng(seed)
    rows = [tuple(str(v) for v in random.integers(0, 3, size=3)) for _ in range(14)]
    table = starred_frequency_set(rows, ("a", "b", "c"))
    weights = {"a": 1.0, "b": 2.0, "c": 1.5}
    mask = build_mask_from_vectors(table, ["..*", ".*.", "*.."], settings, weights=weights)
    k = int(random.integers(2, 4))
    steps, _ = build_pattern_table(table, mask)
    assert (steps.steps, steps.outlier_cost) == (2, 9)
    for component in reduce_cover(find_cells(steps, k, 10**9), steps.counts).components:
        prices = compute_row_prices(component, k, steps.outlier_cost)
        assert (prices <= steps.outlier_cost * 65_536).all()
        for cell, cost in enumerate(component.costs):
            members = component.types[component.pair_cells == cell]
            each = [int(prices[i]) for i in members for _ in range(component.rows[i])]
            assert all(sum(chosen) <= k * cost * 65_536 for chosen in combinations(each, k))
        program = IntegerProgram(k, steps.outlier_cost)
        assert (
            bound_component_by_prices(component, k, steps.outlier_cost)
            >= bound_by_cheapest_cells(component, program) - 1
        )
    optimum = solve_exactly(table, mask, Requirement(k=k), settings)
    assert bound_by_prices(table, mask, Requirement(k=k), settings) <= optimum.cost


def test_prices_beat_counting_on_cmc(data_dir: Path, settings: Settings) -> None:
    table = starred_file(data_dir / "cmc" / "cmc.csv")
    mask = build_mask_from_constraints(table, PatternConstraints(max_stars=2), settings)
    requirement = Requirement(k=5)
    counting = solve_greedily(table, mask, requirement, settings).bound or 0.0
    prices = bound_by_prices(table, mask, requirement, settings)
    assert counting < prices <= 8065
    assert prices > 0.94 * 8065
    assert bound_by_prices(table, mask, requirement, settings, time_limit=1e-9) <= prices
