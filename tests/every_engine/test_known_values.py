"""Tests of criteria that compare classes with the whole table: the SQL of an audit equals plain fractions."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from discreet.errors import InputError
from discreet.model.audit_report import CriterionFinding
from discreet.model.criteria.float_criterion import SCORE_UNIT
from discreet.model.criteria.p_sensitivity import PSensitivity
from discreet.model.criteria.proximity import Proximity
from discreet.model.criteria.t_closeness import TCloseness
from discreet.model.criteria.value_range import ValueRange
from discreet.model.criteria.weighted_k import WeightedKAnonymity
from tests.criteria.known_tables import PATHS, WAGES, in_order, known
from tests.criteria.plain_known_values import p_sensitive, proximity, t_closeness, value_range
from tests.every_engine.auditing import audited, drawn, drawn_enough, texts
from tests.every_engine.places import SLOW_ON_SPARK, Place

Rows = list[tuple[str, str | None]]
ILL: Rows = [("a", "flu"), ("a", "ulcer"), ("a", "flu"), ("b", "gout"), ("b", None), ("c", "angina")]
CLASSES = st.sampled_from(["a", "b", "é"])
ILLNESSES = st.lists(st.tuples(CLASSES, st.sampled_from([*PATHS, None])), min_size=1, max_size=30)
INCOMES = st.lists(st.tuples(CLASSES, st.sampled_from([*WAGES, None])), min_size=1, max_size=30)


def classes_of(rows: Rows) -> list[list[str]]:
    return [[s for q, s in rows if q == name and s is not None] for name in sorted({q for q, _ in rows})]


def compared(found: CriterionFinding, measures: list[Fraction | None], value: float) -> None:
    """Check that the reported class is the farthest, and that as many fail as by the plain measures."""
    most = Fraction(str(value))
    assert found.failing_classes == sum(each is None or each > most for each in measures)
    check_worst(found, [None if each is None else -each for each in measures], -1)


def check_worst(found: CriterionFinding, measures: list[Fraction | None], sign: int = 1) -> None:
    """Check the reported number: the least measure, with this sign."""
    if None in measures:
        assert found.found is None
    else:
        worst = sign * min(each for each in measures if each is not None)
        assert abs(Fraction(found.found) - worst) <= Fraction(101, 100 * SCORE_UNIT)


@drawn(15)
@example(rows=ILL, more=["flu", "gout"], percent=20)
@given(rows=ILLNESSES, more=st.lists(st.sampled_from(list(PATHS)), max_size=6), percent=st.integers(0, 60))
def test_criteria_of_the_publishers_table_equal_plain_counting(
    place: Place, rows: Rows, more: list[str], percent: int
) -> None:
    if drawn_enough(place):
        return
    whole = [s for _, s in rows if s is not None] + more
    order, classes = in_order(known(whole)), classes_of(rows)
    criteria = [TCloseness(percent / 100, distance=each) for each in ("equal", "ordered", "hierarchical")]
    report = audited(place, place.put(texts(rows)), *criteria, known={"s": known(whole)})
    for found, criterion in zip(report.criteria, criteria, strict=True):
        measures = [t_closeness(held, whole, criterion.distance, order, PATHS) for held in classes]
        compared(found, measures, criterion.value)
    assert not any("compares classes" in str(warning) for warning in report.warnings)


@SLOW_ON_SPARK
@drawn(15)
@given(rows=INCOMES, percent=st.integers(0, 60))
def test_criteria_of_the_published_table_equal_plain_counting(place: Place, rows: Rows, percent: int) -> None:
    if drawn_enough(place):
        return
    whole = [s for _, s in rows if s is not None]
    criteria = [TCloseness(percent / 100, distance=distance) for distance in ("equal", "ordered")]
    report = audited(place, place.put(texts(rows)), *criteria)
    for found, criterion in zip(report.criteria, criteria, strict=True):
        order = in_order(known(whole))
        measures = [t_closeness(held, whole, criterion.distance, order, {}) for held in classes_of(rows)]
        compared(found, measures, criterion.value)
    assert any("the distribution of the published rows is used" in str(w) for w in report.warnings)


@SLOW_ON_SPARK
def test_value_missing_from_the_publishers_table_fails(place: Place) -> None:
    criteria = [TCloseness(1, distance=each) for each in ("equal", "ordered", "hierarchical")]
    whole = {"s": known(["flu", "ulcer", "gout", "flu"])}
    for found in audited(place, place.put(texts(ILL)), *criteria, known=whole).criteria:
        assert (found.failing_classes, found.found) == (1, None)
    assert audited(place, place.put(texts(ILL[:-1])), *criteria, known=whole).passed


@SLOW_ON_SPARK
def test_distance_that_needs_more_than_the_release_is_refused(place: Place) -> None:
    source = place.put(texts(ILL))
    for distance, words in (
        ("hierarchical", "needs the hierarchy of 's'"),
        ("ordered", "needs an order of 's'"),
    ):
        with pytest.raises(InputError, match=words):
            audited(place, source, TCloseness(1, distance=distance))


@SLOW_ON_SPARK
def test_class_at_the_exact_distance_passes(place: Place) -> None:
    source = place.put(texts([("a", "1")] * 3 + [("a", "2")] * 2 + [("b", "1")] + [("b", "2")] * 4))
    for distance in ("equal", "ordered"):
        exact = TCloseness(0.2, distance=distance)
        assert audited(place, source, exact).passed
        assert not audited(place, source, replace(exact, value=0.199999999)).passed
    equal = place.put(texts([(q, s) for q in "ab" for s in "1123"]))
    assert audited(place, equal, TCloseness(0, distance="ordered")).passed


@drawn(10)
@example(rows=ILL)
@given(rows=ILLNESSES)
def test_groups_of_a_level_are_counted(place: Place, rows: Rows) -> None:
    if drawn_enough(place):
        return
    levels = (0, 1, 2, 3, 7) if place.name != "spark" else (2,)
    whole = {"s": known([s for _, s in rows if s is not None] + ["flu"])}
    criteria = [PSensitivity(2, level=level) for level in levels]
    report = audited(place, place.put(texts(rows)), *criteria, known=whole)
    for level, found in zip(levels, report.criteria, strict=True):
        measures = [p_sensitive(held, level, PATHS) for held in classes_of(rows)]
        assert found.failing_classes == sum(each < 2 for each in measures)
        if all(measures):
            assert found.found == min(measures)


@SLOW_ON_SPARK
@drawn(10)
@given(rows=INCOMES, epsilon=st.sampled_from([0, 0.5, 1, 3, 60]), relative=st.booleans())
def test_criteria_of_numbers_equal_plain_counting(
    place: Place, rows: Rows, epsilon: float, relative: bool
) -> None:
    if drawn_enough(place):
        return
    neighbourhood, classes = "relative" if relative else "absolute", classes_of(rows)
    near = Proximity(2, epsilon=epsilon, neighbourhood=neighbourhood)
    criteria = ValueRange(3), WeightedKAnonymity(30), near
    ranges, people, nearby = audited(place, place.put(texts(rows)), *criteria).criteria
    widths = [value_range(held) for held in classes]
    assert ranges.failing_classes == sum(each is None or each < 3 for each in widths)
    check_worst(ranges, widths)
    weights = [sum(max(Fraction(text), Fraction(0)) for text in held) for held in classes]
    assert people.failing_classes == sum(each < 30 for each in weights)
    expected = [proximity(held, Fraction(str(epsilon)), neighbourhood) for held in classes]
    assert nearby.failing_classes == sum(each is None or each < 2 for each in expected)
    check_worst(nearby, expected)
