"""k-map and δ-presence, checked against plain Python in every code path that judges nodes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import InputError
from discreet.frequency.fact_counter import FactCounter
from discreet.lattice.evaluation import evaluate_lattice
from discreet.model.criteria.base import Criterion
from discreet.model.criteria.delta_presence import DeltaPresence
from discreet.model.criteria.k_map import KMap
from discreet.model.criterion_inputs import ClassPopulation
from discreet.model.frequency_set import FrequencySet, Population
from discreet.model.lattice import LatticeNode
from discreet.model.request import Request
from discreet.model.requirement import Requirement
from discreet.negotiation.negotiator import Negotiator
from discreet.negotiation.partial_lattice import NodeCounter
from discreet.results.node_rows import preview_rows
from discreet.results.publish_result import count_suppressed_rows
from discreet.search.algorithms import load_algorithm
from discreet.search.frequency_sets import MemoryFrequencySets
from discreet.search.node_counts import StatisticsCounter
from discreet.search.search_problem import SearchProblem
from discreet.settings import Settings
from tests.criteria import plain_linkage as plain
from tests.drawing import NEW
from tests.oracle.random_tables import frequency_set_of, random_frequency_set

SEEDS = range(12 if NEW else 6)
Both = tuple[Counter[plain.Cells], Counter[plain.Cells]]
Judge = Callable[[FrequencySet, LatticeNode], set[plain.Cells]]


def drawn(seed: int) -> FrequencySet:
    """Return a small table with a population that contains it."""
    random = np.random.default_rng(seed)
    while True:
        table = random_frequency_set(random, attributes=3, height=2, leaves=4, rows=14, sensitive=2)
        if table.row_types:
            break
    rows = [
        tuple(codes)
        for codes, n in zip(table.codes.tolist(), table.counts.tolist(), strict=True)
        for _ in range(n)
    ]
    nulls = [h.null_code + (h.height > 0) for h in table.hierarchies]
    more = [
        tuple(int(random.integers(0, most)) for most in nulls) for _ in range(int(random.integers(0, 20)))
    ]
    people = frequency_set_of(table.hierarchies, [(codes, ()) for codes in [*rows, *more]])
    return replace(table, population=Population(people.codes, people.counts))


CASES: list[tuple[tuple[Criterion, ...], Judge]] = [
    ((KMap(k),), lambda table, node, k=k: plain.below_k_map(table, node, k))  # type: ignore[misc]
    for k in (1, 2, 3, 6)
]
CASES += [
    (
        (DeltaPresence(float(most), least=float(least)),),
        lambda table, node, least=least, most=most: plain.outside_presence(table, node, least, most),  # type: ignore[misc]
    )
    for least, most in [
        (Fraction(0), Fraction(1, 2)),
        (Fraction(0), Fraction(1)),
        (Fraction(1, 4), Fraction(3, 4)),
        (Fraction(1, 10), Fraction(1)),
    ]
]


def suppressed(
    table: FrequencySet, node: LatticeNode, judge: Judge, k: int = 1, criterion: Criterion | None = None
) -> int:
    rows, _ = plain.both_at(table, node)
    gone = judge(table, node) | {cells for cells, number in rows.items() if number < k}
    if isinstance(criterion, DeltaPresence):
        ends = Fraction(str(criterion.least)), Fraction(str(criterion.value))
        if plain.suppressed_rows_fail(table, node, gone, *ends):
            return table.rows
    return sum(rows[cells] for cells in gone)


def nodes_of(table: FrequencySet) -> list[LatticeNode]:
    return list(product(*(range(h.height + 1) for h in table.hierarchies)))


@pytest.mark.parametrize("seed", SEEDS)
def test_every_path_suppresses_the_same_rows(seed: int, settings: Settings) -> None:
    table = drawn(seed)
    criteria = [criterion for judged, _ in CASES for criterion in judged]
    evaluated = evaluate_lattice(table, settings, criteria=criteria)
    counter = NodeCounter(table, criteria=criteria)
    for (judged, judge), k in product(CASES, (None, 2)):
        requirement = Requirement(k, criteria=judged)
        statistics = StatisticsCounter(table, requirement, 10**6)
        held = MemoryFrequencySets(table, requirement, 10**9)
        for node in nodes_of(table):
            expected = suppressed(table, node, judge, k or 1, judged[0])
            assert evaluated.suppressed(node, requirement) == expected
            assert evaluated.suppression(requirement)[evaluated.lattice.index(node)] == expected
            assert count_suppressed_rows(table, node, requirement) == expected
            found = statistics.count(node)
            assert int(found.class_sizes[found.failing].sum()) == expected
            assert held.count(range(len(node)), node).suppressed() == expected
    for node in nodes_of(table):
        counted = counter.histogram(node)
        assert (
            counted.classes
            == evaluated.classes()[evaluated.lattice.index(node)]
            == len(plain.both_at(table, node)[0])
        )
        histogram = dict(zip(map(tuple, counted.signatures.T.tolist()), counted.rows.tolist(), strict=True))
        assert histogram == evaluated.histogram(node)


@pytest.mark.parametrize("seed", SEEDS)
def test_searches_find_the_nodes_of_enumeration(seed: int, settings: Settings) -> None:
    table = drawn(seed)
    for (criteria, judge), limit in product(CASES, (0, 3)):
        request = Request.of(criteria=criteria, max_suppressed=limit)
        right = {
            node: suppressed(table, node, judge, 1, criteria[0])
            for node in nodes_of(table)
            if suppressed(table, node, judge, 1, criteria[0]) <= min(limit, table.rows - 1)
        }
        for name in ("exhaustive", "optimal", "samarati", "incognito", "bottom-up", "anytime"):
            task = SearchProblem.of(table, request, settings)
            if not task.suppression_never_rises and name not in ("exhaustive", "optimal", "anytime"):
                with pytest.raises(InputError, match="δ-presence may fail where"):
                    load_algorithm(name)(task)
                continue
            if not task.suppression_never_rises and name == "anytime":
                continue
            found = {solution.node: solution.suppressed for solution in load_algorithm(name)(task).solutions}
            assert found.items() <= right.items()
            assert bool(found) == bool(right)
            if name == "exhaustive":
                assert found == right


@pytest.mark.parametrize("seed", SEEDS)
def test_negotiated_and_relaxed(seed: int, settings: Settings) -> None:
    table = drawn(seed)
    evaluated = evaluate_lattice(table, settings, criteria=[KMap(2), DeltaPresence(0.5)])
    negotiator = Negotiator(evaluated)
    heights = [sum(node) for node in nodes_of(table)]
    for criteria, judge in CASES[:5]:
        found = negotiator.negotiate(Request.of(criteria=criteria))
        right = [sum(node) for node in nodes_of(table) if not judge(table, node)]
        assert (found.exact is None) == (not right)
        if found.exact is not None:
            assert sum(found.exact.node) == min(right)
            assert max(heights) >= min(right)
        relaxed = found.relaxation(criteria[0].name)
        if relaxed is not None:
            weaker = relaxed.requirement.criteria[0]
            reached = [plain.both_at(table, node) for node in nodes_of(table)]
            if isinstance(weaker, KMap):
                best = max(min(people[cells] for cells in rows) for rows, people in reached)
                assert weaker.value == best
            else:
                least = min(max(Fraction(rows[c], people[c]) for c in rows) for rows, people in reached)
                assert weaker.value == pytest.approx(float(least), abs=1e-8)


@pytest.mark.parametrize("least", [Fraction(0), Fraction(1, 10), Fraction(1, 4)])
@pytest.mark.parametrize("seed", SEEDS)
def test_presence_is_relaxed_to_the_strictest_publishable_value(
    seed: int, least: Fraction, settings: Settings
) -> None:
    """With suppressed rows, the strictest δmax equals that of trying all possible values."""
    table = drawn(seed)
    criterion = DeltaPresence(0.01, least=float(least))
    evaluated = evaluate_lattice(table, settings, criteria=[criterion])
    shares = sorted({Fraction(a, b) for b in range(1, 40) for a in range(1, b + 1)})
    nodes = nodes_of(table)
    for node, k, limit in product(nodes[:: max(len(nodes) // 3, 1)], (1, 3), (0, 3, 8)):
        both = plain.both_at(table, node)
        small = {cells for cells, number in both[0].items() if number < k}

        def gone(most: Fraction, both: Both = both, small: set[plain.Cells] = small) -> int:
            failing = plain.outside(*both, least, most) | small
            if plain.fails_without(*both, failing, least, most):
                return table.rows
            return sum(both[0][cells] for cells in failing)

        limit = min(limit, table.rows - 1)
        requirement = Requirement(k, criteria=[criterion])
        score = evaluated.largest(node, requirement, "delta_presence", limit)
        right = next((share for share in shares if gone(share) <= limit), None)
        assert (score is None) == (right is None)
        if score is not None and right is not None:
            met = replace(criterion, value=criterion.value_of(score))
            assert met.value == pytest.approx(float(right), abs=2e-9)
            assert evaluated.suppressed(node, Requirement(k, criteria=[met])) <= limit


def test_preview_marks_the_suppressed_classes(settings: Settings) -> None:
    del settings
    for seed in SEEDS:
        table = drawn(seed)
        for criteria, judge in CASES:
            for node in nodes_of(table):
                failing = judge(table, node)
                if suppressed(table, node, judge, 1, criteria[0]) == table.rows:
                    failing = set(plain.both_at(table, node)[0])
                for row in preview_rows(table, node, Requirement(criteria=criteria), 5).rows:
                    assert row.suppressed == (tuple(row.after) in failing)


def test_classes_that_are_not_made_by_levels_are_refused() -> None:
    table = drawn(0)
    for criteria, _ in CASES:
        counter = FactCounter.of(table, Requirement(criteria=criteria))
        with pytest.raises(InputError, match="unless classes are made by levels"):
            counter.holds(np.arange(table.row_types))


def test_linkage_criteria_without_a_population_are_refused(settings: Settings) -> None:
    table = replace(drawn(0), population=None)
    for criteria, _ in CASES:
        with pytest.raises(InputError, match="needs the population, and the spec names none"):
            evaluate_lattice(table, settings, criteria=criteria)
        with pytest.raises(InputError, match="needs the population, and the spec names none"):
            FactCounter.of(table, Requirement(criteria=criteria))


# --- declared and refuted properties ----------------------------------------------------------------------

CLASSES = st.lists(st.tuples(st.integers(0, 8), st.integers(0, 8)), min_size=1, max_size=5)


def fails(criterion: Criterion, rows: int, people: int) -> bool:
    population = ClassPopulation(np.array([people]), absent=0)
    return bool(criterion.population_scores(np.array([rows]), population)[0] < criterion.threshold)


def suppressed_rows_fail(criterion: DeltaPresence, suppressed: int, unmatched: int) -> bool:
    found = criterion.suppressed_rows_fail(criterion.threshold, np.array([suppressed]), np.array([unmatched]))
    return bool(found[0])


@given(
    CLASSES, st.integers(1, 12), st.fractions(0, 1, max_denominator=6), st.fractions(0, 1, max_denominator=6)
)
def test_monotone_and_growing(classes: list[tuple[int, int]], k: int, one: Fraction, other: Fraction) -> None:
    """k-map and δ-presence are monotone and growing; a class has at least as many people as rows."""
    criteria = KMap(k), DeltaPresence(float(max(one, other)), least=float(min(one, other)))
    pairs = [(rows, rows + more) for rows, more in classes]
    rows, people = (sum(side) for side in zip(*pairs, strict=True))
    for criterion in criteria:
        judged = [fails(criterion, *pair) for pair in pairs if pair[0]]
        if rows and (
            (judged and not any(judged) and all(r for r, _ in pairs))
            or (criterion.growing and not all(judged))
        ):
            assert not fails(criterion, rows, people)


def test_presence_is_not_growing() -> None:
    assert not DeltaPresence.growing
    assert not fails(DeltaPresence(0.5), 1, 2)
    assert fails(DeltaPresence(0.5), 5, 6)


@pytest.mark.parametrize(
    ("value", "least", "rows", "people", "failing"),
    [
        (0.2, 0.0, 1, 5, False),
        (0.2, 0.0, 200_001, 1_000_000, True),
        (0.15, 0.05, 5, 100, False),
        (0.15, 0.05, 49_999, 1_000_000, True),
        (0.15, 0.05, 15, 100, False),
        (0.1, 0.0, 2, 1, True),
        (1.0, 0.0, 7, 7, False),
    ],
)
def test_presence_at_its_bounds_passes(
    value: float, least: float, rows: int, people: int, failing: bool
) -> None:
    assert fails(DeltaPresence(value, least=least), rows, people) is failing


@pytest.mark.parametrize(
    ("value", "least", "suppressed", "unmatched", "failing"),
    [
        (0.15, 0.05, 14, 102, False),
        (0.15, 0.05, 16, 102, True),
        (0.15, 0.05, 5, 102, True),
        (0.15, 0.05, 0, 24, True),
        (0.15, 0.05, 0, 0, False),
        (0.2, 0.1, 2, 10, False),
        (0.2, 0.1, 1, 10, False),
        (0.199999999, 0.1, 2, 10, True),
        (0.2, 0.100000001, 1, 10, True),
        (0.2, 0.0, 0, 10, False),
        (1.0, 0.01, 0, 1, True),
        (1.0, 0.01, 1, 1, False),
        (1.0, 0.01, 2, 1, True),
        (0.0, 0.0, 1, 10**9, True),
    ],
)
def test_people_that_match_no_published_class_may_fail_presence(
    value: float, least: float, suppressed: int, unmatched: int, failing: bool
) -> None:
    assert suppressed_rows_fail(DeltaPresence(value, least=least), suppressed, unmatched) is failing


def test_rows_without_people_fail_k_map() -> None:
    assert fails(KMap(2), 3, 2), "rows without people are no rows of the population"


# --- estimates --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("truncated", [False, True])
@pytest.mark.parametrize(("fraction", "significance"), [(0.3, 0.05), (0.05, 0.2), (0.9, 0.01), (0.01, 0.5)])
def test_estimated_k_map_needs_the_rows_of_plain_python(
    truncated: bool, fraction: float, significance: float
) -> None:
    estimator = "zero-truncated-poisson" if truncated else "poisson"
    needed = [0] + [plain.fewest_rows(k, fraction, significance, truncated=truncated) for k in range(1, 90)]
    assert needed == sorted(needed)
    sizes = np.arange(12)
    criterion = KMap(1, estimator=estimator, fraction=fraction, significance=significance)
    believed = criterion.scores(sizes, None).tolist()
    for k in range(1, 90):
        assert criterion.rows_needed(k) == needed[k]
        for size, score in enumerate(believed):
            assert (score >= k) == (size >= needed[k])


def test_estimated_k_map_is_negotiated_without_a_population(settings: Settings) -> None:
    table = replace(drawn(3), population=None)
    criterion = KMap(5, estimator="poisson", fraction=0.2, significance=0.2)
    evaluated = evaluate_lattice(table, settings, criteria=[criterion])
    for node in nodes_of(table):
        for k in (2, 5, 20):
            required = replace(criterion, value=k)
            same = Requirement(required.rows_needed(k))
            assert evaluated.suppressed(node, Requirement(criteria=[required])) == evaluated.suppressed(
                node, same
            )


def test_arx_takes_1000_of_the_united_states_for_3_rows() -> None:
    """ARX's own test of k-map: 30,162 rows of 318,622,525 people, at 1 %."""
    usa = 30_162 / 318_622_525
    assert (
        KMap(1000, estimator="zero-truncated-poisson", fraction=usa, significance=0.01).rows_needed(1000) == 3
    )


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"estimator": "guess"}, "guess"),
        ({"estimator": "poisson"}, r"fraction of k_map = 0\.0"),
        ({"estimator": "poisson", "fraction": 1.0}, "fraction of k_map"),
        ({"fraction": -0.5}, "fraction of k_map"),
        ({"estimator": "poisson", "fraction": 0.5, "significance": 0}, "significance of k_map"),
        ({"significance": float("nan")}, "significance"),
    ],
)
def test_invalid_fields_are_refused(fields: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        KMap(3, **fields)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="least of delta_presence"):
        DeltaPresence(0.5, least=1.5)
