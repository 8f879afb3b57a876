"""The partial lattices of Pilalidou and Vassiliadis on Adult: selection, answers, and their table.

Reading rules:

* The paper prepares the most important 5 % of the nodes of each height, not of the whole lattice: only then
  are there nodes below a request's own, and every height is part of the study of metrics.
* Its 28 requests: for each quasi-identifier k of 3, 10, 50, three greatest levels, and three limits of
  suppression, one varied at a time.
* Exact answers are equal if their heights are; answers that relax the height are equal if their nodes are.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import cache

import pytest

from discreet.measures.grouping_power import ImportanceMetric
from discreet.model.requirement import Requirement
from discreet.negotiation.partial_lattice import (
    NodeCounter,
    compute_level_statistics,
    prepare_partial_lattice,
)
from papers import negotiation_study
from papers.negotiation_study import AdultStudy
from papers.partial_comparison import (
    Effect,
    RequestComparison,
    compare_importance_metrics,
    compare_partial,
    count_effects,
    sum_comparisons,
)
from papers.partial_lattice import average_by_height, count_strict_matches, one_factor_requests
from tests.golden.conftest import rounds_to

Comparisons = Callable[[str], list[RequestComparison]]
RANKED = (
    *("age 1", "age 4", "occupation 1", "occupation 2", "age 3", "education 3", "age 2", "education 4"),
    *("work_class 2", "marital_status 3", "marital_status 2", "race 2", "education 2", "work_class 1"),
    *("education 1", "marital_status 1", "race 1", "work_class 3", "race 0", "marital_status 0"),
    *("education 0", "work_class 0", "occupation 0", "age 0"),
)
"""Levels by relative importance, as printed."""


@pytest.fixture(scope="module")
def comparisons(adult_study: AdultStudy) -> Comparisons:
    """Return a function that compares the paper's 28 requests with partial lattices of a percentage."""

    @cache
    def of(percent: str) -> list[RequestComparison]:
        found: list[RequestComparison] = []
        for size in adult_study.sizes:
            prepared = adult_study.of(size)
            partial = prepare_partial_lattice(prepared.frequency_set, percent)
            found += compare_partial(prepared.evaluated, partial, one_factor_requests(size))
        return found

    return of


def test_level_statistics_are_the_printed_ones(adult_study: AdultStudy) -> None:
    """24 levels from 19 frequency sets: one is for the bottom, and one for each level above 0."""
    table = adult_study.of(6).frequency_set
    counter = NodeCounter(table)
    powers = {f"{p.attribute} {p.level}": p for p in compute_level_statistics(table, counter)}
    assert counter.counted == 19
    rows = negotiation_study.NEGOTIATION_FIGURES["grouping_power"]["levels"]
    assert len(rows) == len(powers) == 24
    printed = {}
    for attribute, level, groups, average, importance in rows:
        power = powers[f"{attribute} {level}"]
        printed[f"{attribute} {level}"] = float(importance)
        assert power.groups == groups
        assert rounds_to(power.average_size, float(average), 2)
        assert rounds_to(power.relative_importance, float(importance), 2)
    ranked = sorted((p.relative_importance for p in powers.values()), reverse=True)
    assert all(rounds_to(one, printed[name], 2) for one, name in zip(ranked, RANKED, strict=True))


def test_partial_lattice_is_five_percent_of_each_height(adult_study: AdultStudy) -> None:
    sizes = []
    for size in adult_study.sizes:
        partial = prepare_partial_lattice(adult_study.of(size).frequency_set)
        assert set(partial.heights.tolist()) == set(range(sum(partial.lattice.heights) + 1))
        assert partial.metric is ImportanceMetric.LAMBDA
        sizes.append((size, partial.lattice.size, partial.size))
    assert sizes == [(3, 60, 10), (4, 180, 16), (5, 900, 52), (6, 3600, 189)]


def test_papers_requests_are_ten_exact_and_eighteen_relaxed(comparisons: Comparisons) -> None:
    assert Counter(c.full.outcome for c in comparisons("5%")) == {"exact": 10, "relaxed": 18}


EFFECTS = {
    # Printed are 6 the same, 1 other, 3 relaxed instead; at run time 8 and 2. One request differs: for QI 4,
    # k=10 and 3,216 rows, no node within 2011 of ours answers; one of the paper's does, at another height.
    (None, False): {Effect.SAME: 3, Effect.SAME_HEIGHT: 3, Effect.RELAXED: 4},
    (None, True): {Effect.SAME: 5, Effect.SAME_HEIGHT: 3, Effect.OTHER: 2},
    # Printed are 1 the same and 17 others; at run time 18 the same.
    ("max_suppressed", False): {Effect.OTHER: 18},
    ("max_suppressed", True): {Effect.SAME: 18},
    # Printed are 9 the same and 9 others of equal height, also at run time.
    ("height", False): {Effect.SAME: 9, Effect.SAME_HEIGHT: 9},
    ("height", True): {Effect.SAME: 9, Effect.SAME_HEIGHT: 9},
    # Printed are 1 other, 5 failed, 12 without a solution in either; at run time 6 the same.
    ("k", False): {Effect.OTHER: 1, Effect.FAILED: 5, Effect.NEITHER: 12},
    ("k", True): {Effect.SAME: 6, Effect.NEITHER: 12},
}


@pytest.mark.parametrize(("part", "runtime"), EFFECTS)
def test_effects_on_answers_equal_the_paper(
    comparisons: Comparisons, part: str | None, runtime: bool
) -> None:
    assert count_effects(comparisons("5%"), part, runtime=runtime) == EFFECTS[part, runtime]


def test_relaxing_max_suppressed_finds_lower_nodes_that_suppress_more(comparisons: Comparisons) -> None:
    for comparison in comparisons("5%"):
        ours, true = (n.relaxation("max_suppressed") for n in (comparison.partial, comparison.full))
        if ours is not None and true is not None:
            assert ours.suppressed > true.suppressed
            assert sum(ours.node) < sum(true.node)


def test_same_solution_has_three_readings(comparisons: Comparisons) -> None:
    """The printed 6 and 8 count other nodes of equal height; 4 and 6 suppress as few rows, 3 and 5 equal."""
    for runtime, counts in ((False, ("4", "3")), (True, ("6", "5"))):
        readings = count_strict_matches(comparisons("5%"), runtime=runtime)
        assert tuple(of_parts[0] for of_parts in readings.values()) == counts
        assert len({of_parts[1:] for of_parts in readings.values()}) == 1


def test_average_by_height_of_the_prepared_nodes_equals_the_paper(adult_study: AdultStudy) -> None:
    """Averages by height of QI 5, k = 3, differ from those of the full lattice (10,458, 7,795, 5,537)."""
    partial = prepare_partial_lattice(adult_study.of(5).frequency_set, "5%")
    averages = average_by_height(partial, Requirement(k=3))
    assert [round(averages[height]) for height in (0, 1, 2)] == [10_458, 4_514, 2_169]


@pytest.mark.parametrize(("percent", "same_nodes", "same_heights"), [("1%", 2, 12), ("10%", 16, 18)])
def test_percentage_matters_only_for_the_height(
    comparisons: Comparisons, percent: str, same_nodes: int, same_heights: int
) -> None:
    """The percentage matters only for relaxing the height: else p "does not change practically anything"."""
    found = comparisons(percent)
    for part, runtime in EFFECTS:
        if part != "height" and (part, runtime) != ("k", False):
            assert count_effects(found, part, runtime=runtime) == EFFECTS[part, runtime]
    height = count_effects(found, "height", runtime=True)
    assert height[Effect.SAME] == same_nodes
    assert height[Effect.SAME] + height[Effect.SAME_HEIGHT] == same_heights


def test_visited_nodes_are_as_many_as_printed(comparisons: Comparisons) -> None:
    """At most 1,792 are printed for the whole lattice and 94 for the partial one.

    Charts are compared as far as legible; the numbers are positions among the requests. The paper does not
    say how visits of a partial lattice are counted; ours are 79.
    """
    visits = [c.visited for c in comparisons("5%")]
    assert [max(each[i] for each in visits) for i in (0, 1)] == [1792, 79]
    assert visits[24][0] == 1792
    read = {8: 50, 9: 80, 10: 60, 14: 120, 15: 280, 16: 420, 17: 370, 18: 160, 21: 1000, 22: 1800, 23: 1700}
    for position, nodes in read.items():
        assert visits[position][0] == pytest.approx(nodes, rel=0.06), position


def test_lambda_is_the_best_metric_where_suppression_is_not_small(adult_study: AdultStudy) -> None:
    """The paper: with small suppressions Γ and Λ win about equally often; without them Λ by a small margin.

    It also found that sums work better than products; so do ours for Λ, but not for Γ over all heights.
    """
    lattices = [adult_study.of(size).evaluated for size in adult_study.sizes]
    found = [c for evaluated in lattices for c in compare_importance_metrics(evaluated, (3, 10, 50))]
    sums = {str(s.metric): s for s in sum_comparisons(found)}
    assert all((s.heights, s.absent, s.large) == (171, 0, 89) for s in sums.values())
    assert {name: (s.misses, s.large_misses, round(s.large_deviation, 3)) for name, s in sums.items()} == {
        "gamma": (65, 25, 0.194),
        "mu": (104, 51, 0.317),
        "gamma-mu": (69, 23, 0.107),
        "lambda": (68, 16, 0.034),
    }
    metrics = ("lambda-product", "gamma-product")
    products = [
        c
        for evaluated in lattices
        for c in compare_importance_metrics(evaluated, (3, 10, 50), metrics=metrics)
    ]
    of_products = {str(s.metric): (s.misses, s.large_misses) for s in sum_comparisons(products)}
    assert of_products == {"lambda-product": (95, 39), "gamma-product": (58, 15)}
