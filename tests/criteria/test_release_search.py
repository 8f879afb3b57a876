"""Searches under criteria of a whole release, and which conclusions hold from one release to another."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st

from discreet.errors import InputError
from discreet.frequency.class_requirement import ClassRequirement
from discreet.measures.cost_registry import COSTS, cost_named
from discreet.model.class_recoding import requirement_test
from discreet.model.criteria.release_level import ReleaseCriterion
from discreet.model.criteria.release_shares import AverageRisk, RecordsAtRisk, SampleUniques
from discreet.model.requirement import Requirement
from discreet.search.algorithms import EVERY_SOLUTION, load_algorithm
from discreet.search.node_counts import StatisticsCounter
from discreet.search.search_problem import SearchProblem, require_countable_in_database
from discreet.settings import Settings
from discreet.taxonomy.class_counts import ClassCounts
from discreet.taxonomy.full_domain import search_full_domain
from tests.criteria.plain_release import plain_rest, plain_share
from tests.criteria.released_lattice import random_lkc, random_release
from tests.criteria_of_tests import Share
from tests.drawing import some_of
from tests.oracle import brute_search, plain_criteria
from tests.oracle.random_tables import frequency_set_of, random_frequency_set, random_hierarchy
from tests.search.cheapest_cases import assert_cheapest, too_small

SETTINGS = Settings(memory_limit=10**9, threads=1, private_log=Path("log.jsonl"))
SEEDS = st.integers(0, 10**9)
each_kind = pytest.mark.parametrize("kind", ["sizes", "cells"])


def random_task(
    seed: int, *, suppressing: bool, kind: str = "sizes", monotone: bool = False
) -> SearchProblem:
    """Return a small table with criteria of the release and, unless ``monotone``, some class criteria."""
    random = np.random.default_rng(seed)
    table = random_frequency_set(random, attributes=3, height=3, leaves=5, rows=24, sensitive=1)
    if kind == "cells":
        others = [Share(0.75)] if suppressing and table.sensitive else []
        requirement = Requirement(criteria=(*others, random_lkc(random, table)))
    else:
        requirement = random_release(random, table, classes=False)
        if not monotone:
            further = plain_criteria.random_criteria(random, table, monotone=False).criteria
            requirement = Requirement(criteria=(*requirement.criteria, *further))
    return SearchProblem(
        table=table,
        requirement=requirement,
        limit=int(random.integers(0, table.rows // 2 + 1)) if suppressing else 0,
        low=(0,) * len(table.hierarchies),
        high=tuple(h.height for h in table.hierarchies),
        settings=SETTINGS,
    )


def solutions_of(task: SearchProblem) -> dict[tuple[int, ...], int]:
    return plain_criteria.every_solution(
        task.frequency_set, task.requirement, task.limit, (task.low, task.high)
    )


@each_kind
@given(seed=SEEDS)
@examples(max_examples=some_of(35), deadline=None)
def test_search_without_suppression_finds_the_nodes_of_enumeration(kind: str, seed: int) -> None:
    """A node that passes implies that the nodes above it pass, which the searches rely on."""
    task = random_task(seed, suppressing=False, kind=kind, monotone=True)
    expected = solutions_of(task)
    for node in expected:
        above = (tuple(a + (i == j) for j, a in enumerate(node)) for i in range(len(node)))
        assert all(n in expected for n in above if all(a <= b for a, b in zip(n, task.high, strict=True)))
    for name in (*EVERY_SOLUTION, "exhaustive"):
        found = load_algorithm(name)(task)
        assert {s.node: s.suppressed for s in found.solutions} == expected, name
    best = brute_search.preferred(expected)
    assert [s.node for s in load_algorithm("samarati")(task).solutions] == ([best] if best else [])
    if kind == "sizes":
        cheap = replace(task, node_budget=10**6, cost=cost_named("loss"))
        assert_cheapest(load_algorithm("anytime")(cheap), cheap, cost_named("loss"))


@each_kind
@given(seed=SEEDS, little=st.booleans())
@examples(max_examples=some_of(35), deadline=None)
def test_exhaustive_search_judges_every_node(kind: str, seed: int, little: bool) -> None:
    task = random_task(seed, suppressing=True, kind=kind)
    if little:
        task = replace(task, settings=too_small(SETTINGS))
    found = load_algorithm("exhaustive")(task)
    assert {s.node: s.suppressed for s in found.solutions} == solutions_of(task)
    for name in ("loss", "dm") if kind == "cells" else ():
        cheap = replace(task, cost=cost_named(name))
        assert_cheapest(load_algorithm("optimal")(cheap), cheap, cost_named(name))


@given(SEEDS, st.booleans(), st.sampled_from(sorted(COSTS.names())))
@examples(max_examples=some_of(80), deadline=None)
def test_cheapest_node_is_that_of_enumeration(seed: int, suppressing: bool, name: str) -> None:
    task = replace(random_task(seed, suppressing=suppressing), cost=cost_named(name))
    assert_cheapest(load_algorithm("optimal")(task), task, cost_named(name))
    assert_cheapest(
        load_algorithm("optimal")(replace(task, settings=too_small(SETTINGS))), task, cost_named(name)
    )


@given(SEEDS)
@examples(max_examples=some_of(40), deadline=None)
def test_full_domain_model_suppresses_the_same_classes(seed: int) -> None:
    task = random_task(seed, suppressing=True)
    if not task.rows or not solutions_of(task):
        return
    table = task.frequency_set
    found = search_full_domain(table, ClassCounts(table, task.requirement), task.limit, SETTINGS, {})
    counter = StatisticsCounter(table, task.requirement, 0)
    assert found.suppressed in {counter.count(node).suppressed for node in task.lattice.nodes()}
    kept = found.classes >= 0
    sizes = [int(size) for size in np.bincount(found.classes[kept], found.rows[kept])]
    assert plain_rest(sizes, task.requirement) == sizes


def small_task(limit: int, *criteria: ReleaseCriterion) -> SearchProblem:
    hierarchies = [random_hierarchy(np.random.default_rng(1), f"q{i}", 2, 1) for i in range(2)]
    table = frequency_set_of(hierarchies, [((i % 2, i // 2 % 2), (i % 3,)) for i in range(8)], ["s"], [3])
    return SearchProblem(table, Requirement(criteria=criteria), limit, (0, 0), (1, 1), SETTINGS)


@pytest.mark.parametrize("name", [*EVERY_SOLUTION, "samarati", "anytime"])
def test_searches_that_conclude_between_nodes_refuse_suppression(name: str) -> None:
    search = load_algorithm(name)
    with pytest.raises(InputError, match=rf"average_risk=0.5 of the search {name}.* all classes") as error:
        search(small_task(3, AverageRisk(0.5)))
    assert "exhaustive" in str(error.value.advice)
    assert search(small_task(0, AverageRisk(0.5))).complete


def test_models_that_make_single_classes_refuse_release_criteria() -> None:
    task = small_task(0, SampleUniques(0.1))
    refusing: tuple[Callable[[], object], ...] = (
        lambda: requirement_test(task.requirement, ("s",)),
        lambda: ClassRequirement.of(task.frequency_set, task.requirement),
        lambda: ClassCounts(task.frequency_set, task.requirement).failing(np.zeros(4, np.int64), 1),
    )
    for refuse in refusing:
        with pytest.raises(InputError, match=r"sample_uniques=0.1 of .* all classes of a release together"):
            refuse()
    with pytest.raises(InputError, match="a search in the database cannot compute share of sample uniques"):
        require_countable_in_database(task.requirement)


SIZES = st.lists(st.integers(1, 9), min_size=2, max_size=9)


@given(SIZES, st.data())
@examples(max_examples=some_of(200), deadline=None)
def test_merging_classes_raises_no_share(sizes: list[int], data: st.DataObject) -> None:
    """A release that meets a ``monotone`` criterion still meets it after two of its classes are merged."""
    places = st.integers(0, len(sizes) - 1)
    first, second = data.draw(st.lists(places, min_size=2, max_size=2, unique=True))
    merged = [size for i, size in enumerate(sizes) if i not in (first, second)]
    merged.append(sizes[first] + sizes[second])
    for criterion in (
        AverageRisk(0.5),
        RecordsAtRisk(0.5),
        RecordsAtRisk(0.5, above=0.34),
        SampleUniques(0.5),
    ):
        assert criterion.monotone
        assert plain_share(criterion, merged) <= plain_share(criterion, sizes), criterion


def test_higher_node_may_suppress_more_rows() -> None:
    """Suppression may increase at a higher node, so a suppression limit is refused.

    Two single records form a class of two, and then all classes of two are suppressed.
    """
    requirement = Requirement(criteria=[AverageRisk(0.4)])
    assert plain_rest([3, 3, 2, 2, 1, 1, 1, 1], requirement) == [3, 3, 2, 2]
    assert plain_rest([3, 3, 2, 2, 2, 1, 1], requirement) == [3, 3]


def test_stricter_class_criterion_may_suppress_fewer_rows() -> None:
    """Nine of ten classes of two fail the class criterion; the average risk then allows the rest."""
    requirement = Requirement(criteria=[AverageRisk(0.4)])
    assert sum(plain_rest([2] * 10 + [3] * 5, requirement)) == 15
    assert sum(plain_rest([2] + [3] * 5, requirement)) == 17
