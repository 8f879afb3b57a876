"""Criteria of the rows of each value equal plain fractions and are as monotone as they declare."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from math import log
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st

from discreet.errors import InputError
from discreet.model.criteria.alpha_deassociation import AlphaDeassociation
from discreet.model.criteria.base import Criterion
from discreet.model.criteria.beta_likeness import ENHANCED, BetaLikeness
from discreet.model.criteria.delta_disclosure import DeltaDisclosure
from discreet.model.criteria.entropy_diversity import GRASSBERGER, EntropyDiversity, grassberger_numbers
from discreet.model.criteria.float_criterion import NEVER_SCORE, SCORE_UNIT
from discreet.model.criteria.recursive_diversity import RecursiveDiversity
from discreet.model.criteria.registry import CRITERIA, criteria_from, plain_values
from discreet.model.criterion_inputs import ClassValues, SensitiveAttribute
from tests.criteria.plain_value_shares import Rows, grassberger, measure, passes
from tests.drawing import some_of

ALL: list[Criterion] = [
    EntropyDiversity(2),
    EntropyDiversity(2, estimator=GRASSBERGER),
    RecursiveDiversity(2),
    RecursiveDiversity(1.5, l=3),
    AlphaDeassociation(0.5),
    BetaLikeness(1),
    BetaLikeness(1, variant=ENHANCED),
    DeltaDisclosure(1),
]
NAMES = [str(plain_values([c])) for c in ALL]
VALUES = 4
CLASS = st.lists(st.integers(0, 6), min_size=VALUES, max_size=VALUES)
each_criterion = pytest.mark.parametrize("criterion", ALL, ids=NAMES)


def rows_of(counts: Sequence[int]) -> Rows:
    return {value: n for value, n in enumerate(counts) if n}


def scores(criterion: Criterion, classes: Sequence[Sequence[int]], table: Sequence[int]) -> list[int]:
    """Return each class's score; each class has two additional rows with a NULL value."""
    found = [(c, v, n) for c, counts in enumerate(classes) for v, n in enumerate(counts) if n]
    owners, codes, counts = np.array(found, np.int64).reshape(-1, 3).T
    distinct = np.bincount(owners, minlength=len(classes))
    sizes = np.array([sum(counts) + 2 for counts in classes])
    names = [f"v{value}" for value in range(len(table))]
    whole = SensitiveAttribute.of(names, np.array(table, np.int64))
    plain = ClassValues(distinct, owners, codes, counts, whole)
    return list(map(int, criterion.scores(sizes, plain)))


def table_of(classes: Sequence[Sequence[int]]) -> list[int]:
    return [sum(counts[value] for counts in classes) for value in range(VALUES)]


@each_criterion
@examples(max_examples=some_of(80), deadline=None)
@given(classes=st.lists(CLASS, min_size=1, max_size=6), data=st.data())
def test_scores_equal_plain_fractions(
    criterion: Criterion, classes: list[list[int]], data: st.DataObject
) -> None:
    table = table_of(classes)
    if not any(table):
        return
    values = st.sampled_from(criterion.parameter.slider) | st.integers(1, 30).map(lambda n: n / 8)
    value = data.draw(values.filter(lambda v: criterion.parameter.least <= v <= criterion.parameter.most))
    criterion = replace(criterion, value=value)
    for counts, score in zip(classes, scores(criterion, classes, table), strict=True):
        found = measure(criterion, rows_of(counts), rows_of(table))
        assert (score >= criterion.threshold) == passes(criterion, rows_of(counts), rows_of(table)), counts
        if found is None:
            assert score <= 0
            assert score < criterion.floor_score
        else:
            assert abs(Decimal(abs(score)) / SCORE_UNIT - found) <= Decimal("1.01") / SCORE_UNIT


@each_criterion
@examples(max_examples=some_of(60), deadline=None)
@given(classes=st.lists(CLASS, min_size=1, max_size=4))
def test_class_meets_the_value_of_its_score_and_none_stricter(
    criterion: Criterion, classes: list[list[int]]
) -> None:
    table = table_of(classes)
    if not any(table):
        return
    for counts, score in zip(classes, scores(criterion, classes, table), strict=True):
        if measure(criterion, rows_of(counts), rows_of(table)) is None:
            continue
        value = criterion.value_of(score)
        met = replace(criterion, value=value)
        assert met.threshold <= score
        stricter = value + (1e-8 if isinstance(criterion, EntropyDiversity) else -1e-8)
        if criterion.parameter.least <= stricter <= criterion.parameter.most:
            assert replace(criterion, value=stricter).threshold > score
        assert sum(counts) >= met.least_rows


@each_criterion
@examples(max_examples=some_of(150), deadline=None)
@given(one=CLASS, other=CLASS, rest=CLASS, data=st.data())
def test_unions_of_passing_classes_pass(
    criterion: Criterion, one: list[int], other: list[int], rest: list[int], data: st.DataObject
) -> None:
    """Criteria declared monotone hold for unions of passing classes in any table."""
    table = table_of([one, other, rest])
    union = [a + b for a, b in zip(one, other, strict=True)]
    if not any(table) or not criterion.monotone:
        return
    found = scores(criterion, [one, other, union], table)
    value = data.draw(st.sampled_from([criterion.value, *criterion.parameter.slider]))
    threshold = replace(criterion, value=value).threshold
    assert found[2] >= min(*found[:2], threshold)
    assert found[2] >= min(found[:2])


def test_grassbergers_estimate_is_not_monotone() -> None:
    """Grassberger's estimate is not monotone: one row of each of two values passes, two rows of each fail."""
    each_criterion = EntropyDiversity(2, estimator=GRASSBERGER)
    found = scores(each_criterion, [[1, 1], [1, 1], [2, 2]], [4, 4])
    assert [score >= each_criterion.threshold for score in found] == [True, True, False]
    assert not each_criterion.monotone
    assert EntropyDiversity(2).monotone
    assert not replace(each_criterion, value=3).monotone


def test_delta_disclosure_with_passing_absent_values_would_not_be_monotone() -> None:
    """If absent values passed, δ-disclosure would not be monotone.

    Half of the table has the second value; a class without it, joined by few rows, has too few rows of it.
    """
    each_criterion, classes = DeltaDisclosure(1), [[9, 0], [1, 1], [10, 1]]
    assert [n > 0 for n in classes[0]] == [True, False]
    found = scores(each_criterion, classes, [50, 50])
    assert [score >= each_criterion.threshold for score in found] == [False, True, False]
    assert abs(log(10 / 11 / 0.5)) < 1 < abs(log(1 / 11 / 0.5))


@pytest.mark.parametrize(
    ("criterion", "passing", "failing", "table"),
    [
        (EntropyDiversity(2), [1, 1], [5, 0], [50, 50]),
        (RecursiveDiversity(2), [1, 1], [5, 0], [50, 50]),
        (AlphaDeassociation(0.5), [1, 1], [5, 0], [50, 50]),
        (BetaLikeness(0.2), [1, 1], [5, 0], [50, 50]),
        (BetaLikeness(0.2, variant=ENHANCED), [1, 1], [5, 0], [50, 50]),
        (DeltaDisclosure(0.3), [1, 1], [5, 0], [50, 50]),
    ],
    ids=str,
)
def test_criteria_are_not_growing(
    criterion: Criterion, passing: list[int], failing: list[int], table: list[int]
) -> None:
    """A passing class may fail once suppressed rows join it, so nothing is monotone with suppression."""
    union = [a + b for a, b in zip(passing, failing, strict=True)]
    found = scores(criterion, [passing, failing, union], table)
    assert [score >= criterion.threshold for score in found] == [True, False, False]
    assert not criterion.growing


@pytest.mark.parametrize(
    ("criterion", "counts", "table", "met"),
    [
        *[(EntropyDiversity(l), [7] * l, [70] * l, True) for l in (1, 2, 3, 5, 6, 7, 10, 49)],
        *[(EntropyDiversity(l), [7] * (l - 1) + [8], [70] * l, False) for l in (2, 3, 10)],
        (EntropyDiversity(2.828427124), [2, 1, 1], [9, 9, 9], True),
        (EntropyDiversity(2.828427125), [2, 1, 1], [9, 9, 9], False),
        (RecursiveDiversity(2), [2, 1], [9, 9], False),
        (RecursiveDiversity(2.000000001), [2, 1], [9, 9], True),
        (RecursiveDiversity(0.3), [3, 5, 5], [9, 9, 9], False),
        (RecursiveDiversity(1, l=3), [1, 1, 1], [9, 9, 9], False),
        (AlphaDeassociation(0.2), [1] * 5, [9] * 5, True),
        (AlphaDeassociation(0.7), [7, 3], [9, 9], True),
        (AlphaDeassociation(0.6999999999), [7, 3], [9, 9], False),
        (AlphaDeassociation(1), [7], [9], True),
        (BetaLikeness(0.2), [6, 4], [50, 50], True),
        (BetaLikeness(0.199999999), [6, 4], [50, 50], False),
        (BetaLikeness(0), [5, 5], [50, 50], True),
        (BetaLikeness(3, variant=ENHANCED), [4], [1, 3], False),
        (BetaLikeness(3), [4], [1, 3], True),
        (BetaLikeness(0, variant=ENHANCED), [4], [9], True),
        (DeltaDisclosure(0), [5, 5], [50, 50], False),
        (DeltaDisclosure(0.000000001), [5, 5], [50, 50], True),
        (DeltaDisclosure(log(2)), [2, 2, 4], [25, 50, 25], False),
        (DeltaDisclosure(log(2) + 1e-8), [2, 2, 4], [25, 50, 25], True),
        (DeltaDisclosure(9), [2, 2], [1, 1, 1], False),
    ],
    ids=str,
)
def test_value_equal_to_the_parameter_passes_unless_less_is_required(
    criterion: Criterion, counts: list[int], table: list[int], met: bool
) -> None:
    """A value equal to the parameter passes, or fails if the definition requires less."""
    assert (scores(criterion, [counts], table)[0] >= criterion.threshold) is met


@each_criterion
def test_class_without_a_value_fails(criterion: Criterion) -> None:
    weakest = 1 if isinstance(criterion, EntropyDiversity) else criterion.parameter.most
    criterion = replace(criterion, value=weakest)
    found = scores(criterion, [[0, 0, 0], [1, 1, 1]], [1, 1, 1])
    assert [score >= criterion.threshold for score in found] == [False, True]
    assert criterion.parameter.least <= criterion.value_of(found[0]) <= criterion.parameter.most


def test_grassbergers_numbers_equal_their_definition() -> None:
    numbers = np.array([*range(1, 300), 999, 1000, 10**4, 10**5])
    expected = [float(grassberger(int(n))) for n in numbers]
    assert np.abs(grassberger_numbers(numbers) - expected).max() < 1e-13


def test_estimate_never_exceeds_the_number_of_values() -> None:
    each_criterion = EntropyDiversity(2, estimator=GRASSBERGER)
    assert scores(each_criterion, [[1, 1], [1, 1, 1], [1], [10**6, 10**6]], [9] * 3)[:3] == [
        2 * SCORE_UNIT,
        3 * SCORE_UNIT,
        SCORE_UNIT,
    ]
    assert each_criterion.warnings()[0][0] == "estimated-entropy"
    assert EntropyDiversity(2).warnings() == ()


@pytest.mark.parametrize(
    ("kind", "fields", "allowed"),
    [
        (EntropyDiversity, {"estimator": "renyi"}, "shannon, grassberger"),
        (BetaLikeness, {"variant": "strong"}, "basic, enhanced"),
        (RecursiveDiversity, {"l": 1}, "a whole number of at least 2"),
        (RecursiveDiversity, {"l": 2.5}, "a whole number of at least 2"),
        (RecursiveDiversity, {"value": 0}, "a number from 1e-09 to 1e+09"),
        (AlphaDeassociation, {"value": 1.1}, "a number from 1e-06 to 1"),
    ],
)
def test_invalid_fields_are_refused(kind: type[Criterion], fields: dict[str, Any], allowed: str) -> None:
    with pytest.raises(InputError, match=kind.name) as error:
        kind(**({"value": 1} | fields))
    assert error.value.allowed == allowed


def test_criteria_are_registered_and_survive_plain_values() -> None:
    assert {c.name for c in ALL} <= set(CRITERIA.names())
    for criterion in ALL:
        plain = plain_values([criterion])
        assert criteria_from(plain) == (criterion,)
    assert EntropyDiversity(1).promises is AlphaDeassociation(1).promises is False
    assert NEVER_SCORE < -SCORE_UNIT * 10**9
