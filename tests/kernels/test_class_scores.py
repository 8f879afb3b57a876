"""Compiled class distances equal those of t-closeness to the last digit."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st
from numpy.typing import NDArray

from discreet.kernels.class_scores import make_distance_scratch, score_classes
from discreet.kernels.lattice_rotation_plan import plan_rotation
from discreet.kernels.packed_values import OccurringValues
from discreet.lattice.score_buckets import CompiledScores
from discreet.model.criteria.base import BoundCriterion
from discreet.model.criteria.float_criterion import NEVER_SCORE, SCORE_UNIT
from discreet.model.criteria.t_closeness import TCloseness
from discreet.model.criterion_inputs import ClassValues, SensitiveAttribute
from tests.criteria.known_tables import PATHS, in_order, known
from tests.criteria.plain_known_values import t_closeness
from tests.drawing import some_of
from tests.oracle.random_tables import frequency_set_of, random_hierarchy

every_distance = pytest.mark.parametrize("distance", ["equal", "ordered", "hierarchical"])
ILL = st.sampled_from(list(PATHS))


def compiled(criterion: TCloseness, of: SensitiveAttribute, classes: NDArray[np.int64]) -> list[int] | None:
    """Return the scores of the kernels, or None if they leave them to the numpy twin."""
    hierarchies = [random_hierarchy(np.random.default_rng(0), "q", 1, 1)]
    table = frequency_set_of(hierarchies, [((0,), (0,))], ["s"], [len(of.rows)])
    table = replace(table, sensitive=(replace(table.sensitive[0], of=of),))
    plan = plan_rotation(table.codes, table.counts, [[h.level_map(0) for h in hierarchies]])
    scores_of = CompiledScores.of((BoundCriterion(criterion, 0),), table, plan)
    if scores_of is None:
        return None
    owners, codes = np.nonzero(classes)
    starts = np.searchsorted(owners, np.arange(len(classes) + 1))
    found = OccurringValues(codes, classes[owners, codes], starts, classes.sum(axis=1))
    scores, working = np.zeros(len(classes), np.int64), make_distance_scratch(len(of.rows))
    nothing: Any = np.zeros(1, np.int64)
    score_classes(scores_of.scored(((0,),)), 0, len(classes), found, nothing, working, scores)
    assert not working.sums.any()
    assert not working.seen.any()
    return list(map(int, scores))


def by_the_criterion(criterion: TCloseness, of: SensitiveAttribute, classes: NDArray[np.int64]) -> list[int]:
    owners, codes = np.nonzero(classes)
    values = ClassValues((classes > 0).sum(axis=1), owners, codes, classes[owners, codes], of)
    return list(map(int, criterion.scores(classes.sum(axis=1), values)))


def random_attribute(random: np.random.Generator, size: int, most: int) -> SensitiveAttribute:
    """Return numbers (some of them equal) or leaves of a hierarchy as values; some have no row."""
    hierarchy = random_hierarchy(random, "s", size, int(random.integers(1, 5)))
    names = random.permutation(hierarchy.leaves).tolist()
    of = SensitiveAttribute.of(names, random.integers(0, most, size), hierarchy)
    if random.random() < 0.5:
        numbers = [f"{number % 17}.{'0' * (number // 17 + 1)}" for number in range(size)]
        of = replace(of, ranks=SensitiveAttribute.of(random.permutation(numbers).tolist(), of.rows).ranks)
    return of


@every_distance
@examples(max_examples=some_of(150), deadline=None)
@given(st.integers(0, 2**32), st.sampled_from([1, 2, 5, 14, 63, 64, 65, 150]), st.sampled_from([2, 9, 4000]))
def test_distances_are_those_of_the_criterion(distance: str, seed: int, size: int, most: int) -> None:
    random = np.random.default_rng(seed)
    of = random_attribute(random, size, most)
    # Parts of the table, from none of its rows to all of them: a class may contain no value.
    shares = random.choice([0, 0.05, 0.3, 1], (12, 1)) * random.random((12, size))
    classes = np.concatenate([random.binomial(of.rows, shares), of.rows[np.newaxis]])
    occupied = np.flatnonzero(of.rows)[:5]
    classes = np.concatenate([classes, np.eye(size, dtype=np.int64)[occupied], np.diag(of.rows)[occupied]])
    criterion = TCloseness(0.2, "s", distance=distance)
    assert compiled(criterion, of, classes) == by_the_criterion(criterion, of, classes)


@every_distance
@examples(max_examples=some_of(80), deadline=None)
@given(group_rows=st.lists(st.lists(ILL, max_size=9), min_size=1, max_size=4), more=st.lists(ILL, min_size=1))
def test_distances_equal_plain_fractions(distance: str, group_rows: list[list[str]], more: list[str]) -> None:
    table = [value for values in group_rows for value in values] + more
    of = known(table)
    classes = np.array([[values.count(value) for value in of.values] for values in group_rows], np.int64)
    scores = compiled(TCloseness(0.2, "s", distance=distance), of, classes)
    assert scores is not None
    for values, found in zip(group_rows, scores, strict=True):
        expected = t_closeness(values, table, distance, in_order(of), PATHS)
        if expected is None:
            assert found == NEVER_SCORE
        else:
            assert abs(Fraction(-found, SCORE_UNIT) - expected) <= Fraction(101, 100 * SCORE_UNIT)


@every_distance
def test_work_beyond_whole_numbers_is_left_to_the_twin(distance: str) -> None:
    of = known(list(PATHS))
    classes = np.ones((1, len(PATHS)), np.int64)
    criterion = TCloseness(0.2, "s", distance=distance)
    assert compiled(criterion, of, classes) == [0]
    assert compiled(criterion, replace(of, rows=of.rows * 2**28), classes) is None
