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

from discreet.lattice.evaluated_lattice import EvaluatedLattice
from discreet.measures.grouping_power import ImportanceMetric
from discreet.model.request import Request
from discreet.model.requirement import Requirement
from discreet.negotiation.partial_lattice import (
    NodeCounter,
    PartialLattice,
    compute_level_statistics,
    prepare_partial_lattice,
)
from papers.partial_comparison import (
    Effect,
    RequestComparison,
    compare_importance_metrics,
    compare_partial,
    count_effects,
    sum_comparisons,
)
from papers.partial_lattice import average_by_height, count_strict_matches
from tests.golden import negotiation_figures as paper
from tests.golden.conftest import AdultFrequencySet, AdultLattice

Comparisons = Callable[[str], dict[tuple[int, int, int, str], RequestComparison]]

LOW_MIDDLE_HIGH = {
    3: ("101", "211", "212"),
    4: ("1001", "2011", "2112"),
    5: ("11001", "21012", "22112"),
    6: ("111001", "211012", "222112"),
}
LIMITS = (32, 321, 3216)

# Levels by relative importance, as printed.
RANKED = (
    *("age 1", "age 4", "occupation 1", "occupation 2", "age 3", "education 3", "age 2", "education 4"),
    *("work_class 2", "marital_status 3", "marital_status 2", "race 2", "education 2", "work_class 1"),
    *("education 1", "marital_status 1", "race 1", "work_class 3", "race 0", "marital_status 0"),
    *("education 0", "work_class 0", "occupation 0", "age 0"),
)

# Requests by QI size, k, limit, levels: the paper's three exceptions among its exact answers.
EXCEPTIONS = {(3, 50, 321, "211"), (4, 3, 321, "2011"), (5, 10, 3216, "21012")}


def settings_of(size: int) -> list[tuple[int, int, str]]:
    low, middle, high = LOW_MIDDLE_HIGH[size]
    varied = [(k, 321, middle) for k in (3, 10, 50)]
    varied += [(10, 321, low), (10, 321, high)]
    return varied + [(10, limit, middle) for limit in LIMITS if limit != 321]


def request_for(size: int, k: int, limit: int, levels: str) -> Request:
    names = paper.ATTRIBUTES[size]
    highest = dict(zip(names, map(int, levels), strict=True))
    return Request.of(k=k, max_suppressed=limit, max_level=highest)


@pytest.fixture(scope="module")
def for_k(adult_lattice: AdultLattice) -> dict[int, EvaluatedLattice]:
    return {size: adult_lattice(names, None) for size, names in paper.ATTRIBUTES.items()}


@pytest.fixture(scope="module")
def comparisons(for_k: dict[int, EvaluatedLattice], adult_frequency_set: AdultFrequencySet) -> Comparisons:
    """Return a function that compares the paper's 28 requests with partial lattices of a percentage."""
    tables = {size: adult_frequency_set(names, None) for size, names in paper.ATTRIBUTES.items()}

    @cache
    def of(percent: str) -> dict[tuple[int, int, int, str], RequestComparison]:
        found = {}
        for size, table in tables.items():
            partial = prepare_partial_lattice(table, percent)
            asked = settings_of(size)
            compared = compare_partial(for_k[size], partial, [request_for(size, *one) for one in asked])
            found |= {(size, *one): c for one, c in zip(asked, compared, strict=True)}
        return found

    return of


def rounds_to(computed: float, printed: float, decimals: int) -> bool:
    return abs(computed - printed) <= 0.5 * 10**-decimals + 1e-9


def test_level_statistics_are_the_printed_ones(adult_frequency_set: AdultFrequencySet) -> None:
    """Level statistics equal the printed ones: 24 levels from 19 frequency sets.

    One frequency set is for the bottom, and one for each level above 0.
    """
    table = adult_frequency_set(paper.ATTRIBUTES[6], None)
    counter = NodeCounter(table)
    powers = {(p.attribute, p.level): p for p in compute_level_statistics(table, counter)}
    assert counter.counted == 19
    assert len(paper.GROUPING_POWER) == len(powers) == 24
    for attribute, level, groups, average, importance in paper.GROUPING_POWER:
        power = powers[attribute, level]
        assert power.groups == groups
        assert rounds_to(power.average_size, average, 2)
        assert rounds_to(power.relative_importance, importance, 2)
    ranked = sorted(powers.values(), key=lambda p: -p.relative_importance)
    printed = [(a, level, imp) for a, level, _, _, imp in paper.GROUPING_POWER]
    for place, name in enumerate(RANKED):
        attribute, level = name.split()
        (importance,) = [imp for a, lev, imp in printed if (a, lev) == (attribute, int(level))]
        assert rounds_to(ranked[place].relative_importance, importance, 2)


def test_a_partial_lattice_is_five_percent_of_each_height(adult_frequency_set: AdultFrequencySet) -> None:
    sizes = []
    for size, names in paper.ATTRIBUTES.items():
        partial: PartialLattice = prepare_partial_lattice(adult_frequency_set(names, None))
        assert set(partial.heights.tolist()) == set(range(sum(partial.lattice.heights) + 1))
        assert partial.metric is ImportanceMetric.LAMBDA
        sizes.append((size, partial.lattice.size, partial.size))
    assert sizes == [(3, 60, 10), (4, 180, 16), (5, 900, 52), (6, 3600, 189)]


def test_the_paper_s_requests_are_ten_exact_and_eighteen_relaxed(comparisons: Comparisons) -> None:
    found = comparisons("5%")
    assert len(found) == 28
    assert Counter(c.full.outcome for c in found.values()) == {"exact": 10, "relaxed": 18}


def counted(comparisons: Comparisons, percent: str, part: str | None, runtime: bool) -> Counter[Effect]:
    return count_effects(comparisons(percent).values(), part, runtime=runtime)


def test_exact_answers(comparisons: Comparisons) -> None:
    """Exact answers: printed are 6 the same, 1 other, 3 relaxed instead; at run time 8 and 2.

    One request differs. For QI 4, k=10 and 3,216 rows, no node within 2011 of ours answers; one of the
    paper's does, at another height than the lowest. The paper does not print which node that is.
    """
    same = {Effect.SAME: 3, Effect.SAME_HEIGHT: 3}
    assert counted(comparisons, "5%", None, False) == same | {Effect.RELAXED: 4}
    at_run_time = {Effect.SAME: 5, Effect.SAME_HEIGHT: 3, Effect.OTHER: 2}
    assert counted(comparisons, "5%", None, True) == at_run_time
    relaxed = {
        asked
        for asked, comparison in comparisons("5%").items()
        if comparison.effect(None, runtime=False) is Effect.RELAXED
    }
    assert relaxed == EXCEPTIONS | {(4, 10, 3216, "2011")}


def test_the_same_solution_is_told_in_three_readings(comparisons: Comparisons) -> None:
    """ "The same solution" has three readings.

    The printed 6 and 8 count other nodes of equal height; 4 and 6 suppress equally few rows, 3 and 5 are
    equal.
    """
    found = list(comparisons("5%").values())
    for runtime, counts in ((False, ("4", "3")), (True, ("6", "5"))):
        readings = count_strict_matches(found, runtime=runtime)
        assert tuple(of_parts[0] for of_parts in readings.values()) == counts
        assert len({of_parts[1:] for of_parts in readings.values()}) == 1


def test_the_average_by_height_of_the_prepared_nodes(adult_frequency_set: AdultFrequencySet) -> None:
    """Averages by height of QI 5, k = 3, differ from those of the full lattice (10,458, 7,795, 5,537)."""
    averages = average_by_height(
        prepare_partial_lattice(adult_frequency_set(paper.ATTRIBUTES[5]), "5%"), Requirement(k=3)
    )
    assert [round(averages[height]) for height in (0, 1, 2)] == [10_458, 4_514, 2_169]


def test_relaxing_max_suppressed(comparisons: Comparisons) -> None:
    """Relaxing max_suppressed: printed are 1 the same and 17 others; at run time 18 the same."""
    assert counted(comparisons, "5%", "max_suppressed", False) == {Effect.OTHER: 18}
    assert counted(comparisons, "5%", "max_suppressed", True) == {Effect.SAME: 18}
    for comparison in comparisons("5%").values():
        ours, true = (n.relaxation("max_suppressed") for n in (comparison.partial, comparison.full))
        if ours is not None and true is not None:
            assert ours.suppressed > true.suppressed
            assert sum(ours.node) < sum(true.node)


def test_relaxing_the_height(comparisons: Comparisons) -> None:
    """Relaxing the height: printed are 9 the same and 9 others of equal height, also at run time."""
    for runtime in (False, True):
        found = counted(comparisons, "5%", "height", runtime)
        assert found == {Effect.SAME: 9, Effect.SAME_HEIGHT: 9}


def test_relaxing_k(comparisons: Comparisons) -> None:
    """Relaxing k: printed are 1 other, 5 failed, 12 without a solution in either; at run time 6 the same."""
    found = counted(comparisons, "5%", "k", False)
    assert found == {Effect.OTHER: 1, Effect.FAILED: 5, Effect.NEITHER: 12}
    assert counted(comparisons, "5%", "k", True) == {Effect.SAME: 6, Effect.NEITHER: 12}


@pytest.mark.parametrize(("percent", "same_nodes", "same_heights"), [("1%", 2, 12), ("10%", 16, 18)])
def test_the_percentage_matters_for_the_height_only(
    comparisons: Comparisons, percent: str, same_nodes: int, same_heights: int
) -> None:
    """The percentage matters only for relaxing the height: else p "does not change practically anything"."""
    for part, runtimes in ((None, (False, True)), ("max_suppressed", (False, True)), ("k", (True,))):
        for runtime in runtimes:
            found = counted(comparisons, percent, part, runtime)
            assert found == counted(comparisons, "5%", part, runtime)
    height = counted(comparisons, percent, "height", True)
    assert height[Effect.SAME] == same_nodes
    assert height[Effect.SAME] + height[Effect.SAME_HEIGHT] == same_heights


def test_visited_nodes(comparisons: Comparisons) -> None:
    """Visited nodes: at most 1,792 are printed for the whole lattice and 94 for the partial one.

    Charts are compared as far as legible. The paper does not say how visits of a partial lattice are counted;
    ours are 79.
    """
    found = comparisons("5%")
    assert max(c.visited[0] for c in found.values()) == 1792
    assert found[6, 10, 321, "111001"].visited[0] == 1792
    assert max(c.visited[1] for c in found.values()) == 79
    charts = {
        (4, 10, 321, "2011"): 50,
        (4, 50, 321, "2011"): 80,
        (4, 10, 321, "1001"): 60,
        (5, 3, 321, "21012"): 120,
        (5, 10, 321, "21012"): 280,
        (5, 50, 321, "21012"): 420,
        (5, 10, 321, "11001"): 370,
        (5, 10, 321, "22112"): 160,
        (6, 3, 321, "211012"): 1000,
        (6, 10, 321, "211012"): 1800,
        (6, 50, 321, "211012"): 1700,
    }
    for asked, read in charts.items():
        assert found[asked].visited[0] == pytest.approx(read, rel=0.06)


def test_lambda_is_the_best_metric_where_suppression_is_not_small(
    for_k: dict[int, EvaluatedLattice],
) -> None:
    """Λ is the best metric where suppression is not small.

    The paper: with small suppressions Γ and Λ win about equally often; without them Λ wins by a small margin.
    It also found that sums work better than products; so do ours for Λ, but not for Γ over all heights.
    """
    found = [c for evaluated in for_k.values() for c in compare_importance_metrics(evaluated, (3, 10, 50))]
    sums = {str(s.metric): s for s in sum_comparisons(found)}
    assert all((s.heights, s.absent, s.large) == (171, 0, 89) for s in sums.values())
    assert {name: s.misses for name, s in sums.items()} == {
        "gamma": 65,
        "mu": 104,
        "gamma-mu": 69,
        "lambda": 68,
    }
    assert {name: (s.large_misses, round(s.large_deviation, 3)) for name, s in sums.items()} == {
        "gamma": (25, 0.194),
        "mu": (51, 0.317),
        "gamma-mu": (23, 0.107),
        "lambda": (16, 0.034),
    }
    products = [
        c
        for evaluated in for_k.values()
        for c in compare_importance_metrics(
            evaluated, (3, 10, 50), metrics=("lambda-product", "gamma-product")
        )
    ]
    of_products = {str(s.metric): (s.misses, s.large_misses) for s in sum_comparisons(products)}
    assert of_products == {"lambda-product": (95, 39), "gamma-product": (58, 15)}
