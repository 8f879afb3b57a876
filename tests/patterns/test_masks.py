"""Pattern masks: vectors, constraints, costs, and refusals."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as limited
from hypothesis import strategies as st

from discreet.errors import InputError, LimitReached
from discreet.measures.loss import LossTables
from discreet.model.class_recoding import Pattern, PatternConstraints, TieBreak
from discreet.model.frequency_set import FrequencySet
from discreet.patterns.masks import build_mask_from_constraints, build_mask_from_vectors
from discreet.settings import Settings
from tests.drawing import some_of
from tests.oracle.plain_patterns import allowed_patterns
from tests.oracle.random_tables import frequency_set_of, random_hierarchy

NAMES = ("q0", "q1", "q2", "q3", "q4")


def table_of(heights: tuple[int, ...], seed: int = 1) -> FrequencySet:
    random = np.random.default_rng(seed)
    hierarchies = [random_hierarchy(random, f"q{i}", 1 + 3 * (h > 0), h) for i, h in enumerate(heights)]
    rows = [(tuple(int(random.integers(0, len(h.leaves))) for h in hierarchies), ()) for _ in range(9)]
    return frequency_set_of(hierarchies, rows)


def names(most: int) -> st.SearchStrategy[tuple[str, ...]]:
    return st.lists(st.sampled_from(NAMES), max_size=most, unique=True).map(tuple)


GROUPS = st.lists(names(3), max_size=2).map(tuple)
CONSTRAINTS = st.builds(
    PatternConstraints,
    max_stars=st.none() | st.integers(0, 4),
    keep=names(2),
    generalize_together=GROUPS,
    exclusive=GROUPS,
    always_generalize=names(2),
    custom=st.none() | st.just(lambda pattern: sum(pattern.levels) % 2 == 0),
    levels=st.booleans(),
)


@limited(max_examples=some_of(200), deadline=None)
@given(CONSTRAINTS, st.tuples(*[st.integers(0, 3)] * 5))
def test_constraints_allow_the_patterns_of_a_filter(
    constraints: PatternConstraints, heights: tuple[int, ...]
) -> None:
    settings = Settings.from_environment(memory_limit="1GB")
    expected = list(allowed_patterns(NAMES, heights, constraints))
    table = table_of(heights)
    if not expected:
        with pytest.raises(InputError, match=r"contradict|custom constraint"):
            build_mask_from_constraints(table, constraints, settings, outliers="delete")
        return
    mask = build_mask_from_constraints(table, constraints, settings, outliers="delete")
    assert [tuple(node) for node in mask.levels.tolist()] == expected
    offered = build_mask_from_constraints(table, constraints, settings)
    assert {tuple(node) for node in offered.levels.tolist()} == {*expected, heights}
    assert offered.all_star is not None


def test_few_patterns_of_many_attributes_are_found_within_memory(settings: Settings) -> None:
    table = table_of((1,) * 40)
    small = replace(settings, memory_limit=1_000_000)
    together = (tuple(f"q{i}" for i in range(20)),)
    assert len(build_mask_from_constraints(table, PatternConstraints(max_stars=2), small)) == 1 + 40 + 780 + 1
    required = PatternConstraints(max_stars=21, generalize_together=together, always_generalize=("q3",))
    assert len(build_mask_from_constraints(table, required, small)) == 1 + 20 + 1
    with pytest.raises(LimitReached, match="patterns or more"):
        build_mask_from_constraints(table, PatternConstraints(), small)


def test_papers_constraints_leave_fifteen_patterns(settings: Settings) -> None:
    table = table_of((1,) * 9)
    constraints = PatternConstraints(
        max_stars=2, keep=("q2", "q8"), generalize_together=(("q1", "q4"),), exclusive=(("q0", "q5", "q6"),)
    )
    mask = build_mask_from_constraints(table, constraints, settings)
    assert len(mask) == 15
    assert sorted(mask.pattern_costs.tolist()) == [0, *[1] * 5, *[2] * 8, 9]


def test_vectors_are_read_in_every_form(settings: Settings) -> None:
    table = table_of((1, 3, 2))
    forms = [".*1", "□☆1", ". 3 1", "0,3,1", (0, 3, 1), Pattern((0, 3, 1), (1, 3, 2)), "-*1"]
    mask = build_mask_from_vectors(table, forms, settings, outliers="error")
    assert mask.levels.tolist() == [[0, 3, 1]]
    assert str(mask.pattern(0)) == ".*1"
    assert str(mask.pattern(-1)) == "***"
    assert mask.pattern(0).starred == (False, True, False)
    assert mask.pattern_costs.tolist() == [1.5]


def test_costs_are_levels_losses_or_tables_times_weights(settings: Settings) -> None:
    table = table_of((1, 3))
    losses = LossTables.of(table)
    weights = {"q1": 2.0}
    plain = build_mask_from_vectors(table, [(1, 2)], settings, weights=weights)
    assert plain.pattern_costs[0] == pytest.approx(1 + 2 * 2 / 3)
    for cost in ("loss", losses):
        mask = build_mask_from_vectors(table, [(1, 2)], settings, weights=weights, cost=cost)
        assert mask.pattern_costs[0] == pytest.approx(losses.tables[0][1] + 2 * losses.tables[1][2])


def test_ties_are_ordered_by_last_or_first_column(settings: Settings) -> None:
    mask = build_mask_from_vectors(
        table_of((1, 1, 1)), ["*..", ".*.", "..*", ".**", "*.*"], settings, outliers="error"
    )
    texts = [str(mask.pattern(place)) for place in range(5)]
    assert [texts[p] for p in mask.order(TieBreak.LAST_COLUMN_FIRST)] == ["..*", ".*.", "*..", ".**", "*.*"]
    assert [texts[p] for p in mask.order(TieBreak.FIRST_COLUMN_FIRST)] == ["*..", ".*.", "..*", "*.*", ".**"]
    assert [texts[p] for p in mask.order(TieBreak.AS_GIVEN)] == ["*..", ".*.", "..*", ".**", "*.*"]


def test_sums_of_weights_that_rounding_parts_are_ties(settings: Settings) -> None:
    weights = {"q0": 0.1, "q1": 0.2, "q2": 0.3}
    mask = build_mask_from_vectors(
        table_of((1, 1, 1)), ["**.", "..*"], settings, weights=weights, outliers="error"
    )
    assert len(set(mask.cost_ranks.tolist())) == 1


@pytest.mark.parametrize(
    ("vectors", "options", "message"),
    [
        ([], {}, "no pattern was given"),
        ([".."], {}, "has 2 entries for 3"),
        (["..x"], {}, "'x' in pattern"),
        (["..2"], {}, "level 2 of 'q2'"),
        (["..*"], {"outliers": "drop"}, "outliers 'drop'"),
        (["..*"], {"cost": "height"}, "cost 'height'"),
        (["..*"], {"weights": {"q0": -1.0}}, "weight -1.0 of 'q0'"),
        (["..*"], {"weights": {"age": 1.0}}, "'age', which is not a quasi-identifier"),
    ],
)
def test_invalid_mask_is_refused(
    vectors: list[str], options: dict[str, object], message: str, settings: Settings
) -> None:
    with pytest.raises(InputError, match=message):
        build_mask_from_vectors(table_of((1, 1, 1)), vectors, settings, **options)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("constraints", "message"),
    [
        (PatternConstraints(max_stars=-1), "at most -1 stars"),
        (PatternConstraints(keep=("age",)), "'age', which is not a quasi-identifier"),
        (
            PatternConstraints(keep=("q0",), always_generalize=("q0",)),
            "both required and never generalized: q0",
        ),
        (PatternConstraints(max_stars=1, always_generalize=("q0", "q1")), "need 2 stars, and 1 are allowed"),
        (
            PatternConstraints(always_generalize=("q0", "q1"), exclusive=(("q0", "q1"),)),
            "more than one attribute",
        ),
        (
            PatternConstraints(always_generalize=("q0",), generalize_together=(("q0", "q1"),), keep=("q1",)),
            "generalized: q0, q1",
        ),
        (PatternConstraints(custom=lambda _: False), "custom constraint"),
    ],
)
def test_contradictory_constraints_are_refused(
    constraints: PatternConstraints, message: str, settings: Settings
) -> None:
    with pytest.raises(InputError, match=message):
        build_mask_from_constraints(table_of((1, 1, 1)), constraints, settings)


def test_value_equal_to_the_star_is_refused(settings: Settings) -> None:
    table = table_of((1, 1))
    hierarchy = table.hierarchies[0]
    leaf = int(table.codes[0, 0])
    labels = tuple("*" if code == leaf else label for code, label in enumerate(hierarchy.leaves))
    starred = replace(table, hierarchies=(replace(hierarchy, labels=(labels, ("*",))), table.hierarchies[1]))
    with pytest.raises(InputError, match="a value of 'q0' equals its star"):
        build_mask_from_vectors(starred, ["*.", ".."], settings)
    assert len(build_mask_from_vectors(starred, [".*"], settings, outliers="delete")) == 1
