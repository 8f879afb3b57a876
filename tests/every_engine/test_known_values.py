"""Tests of criteria that compare classes with the whole table: the SQL of an audit equals plain fractions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import HealthCheck, example, given
from hypothesis import settings as examples
from hypothesis import strategies as st

from discreet.audit.class_audit import audit_source
from discreet.errors import InputError
from discreet.model.audit_report import AuditReport
from discreet.model.criteria.base import Criterion
from discreet.model.criteria.float_criterion import SCORE_UNIT
from discreet.model.criteria.p_sensitivity import PSensitivity
from discreet.model.criteria.proximity import Proximity
from discreet.model.criteria.t_closeness import TCloseness
from discreet.model.criteria.value_range import ValueRange
from discreet.model.criteria.weighted_k import WeightedKAnonymity
from discreet.model.criterion_inputs import SensitiveAttribute
from discreet.model.requirement import Requirement
from tests.criteria.known_tables import PATHS, WAGES, in_order, known
from tests.criteria.plain_known_values import p_sensitive, proximity, t_closeness, value_range
from tests.drawing import some_of
from tests.every_engine.places import SLOW_ON_SPARK, Place, once_on_spark
from tests.every_engine.test_counting import drawn_enough

Rows = list[tuple[str, str | None]]
ILL: Rows = [("a", "flu"), ("a", "ulcer"), ("a", "flu"), ("b", "gout"), ("b", None), ("c", "angina")]
CLASSES = st.sampled_from(["a", "b", "é"])
ILLNESSES = st.lists(st.tuples(CLASSES, st.sampled_from([*PATHS, None])), min_size=1, max_size=30)
INCOMES = st.lists(st.tuples(CLASSES, st.sampled_from([*WAGES, None])), min_size=1, max_size=30)


def audited(
    place: Place, rows: Rows, criterion: Criterion, whole: Mapping[str, SensitiveAttribute] | None = None
) -> AuditReport:
    source = place.put({"q": ("VARCHAR", [q for q, _ in rows]), "s": ("VARCHAR", [s for _, s in rows])})
    with place.connect(source) as engine:
        return audit_source(
            engine,
            source,
            quasi_identifiers=["q"],
            sensitive=["s"],
            requirement=Requirement(criteria=[criterion]),
            known=whole or {},
        )


def classes_of(rows: Rows) -> list[list[str]]:
    return [[s for q, s in rows if q == name and s is not None] for name in sorted({q for q, _ in rows})]


def compared(report: AuditReport, measures: list[Fraction | None], value: float) -> None:
    """Check that the reported class is the farthest, and that as many fail as by the plain measures."""
    [found] = report.criteria
    most = Fraction(str(value))
    assert found.failing_classes == sum(each is None or each > most for each in measures)
    if None in measures:
        assert found.found is None
    else:
        worst = max(each for each in measures if each is not None)
        assert abs(Fraction(found.found) - worst) <= Fraction(101, 100 * SCORE_UNIT)


@once_on_spark("distance", ["equal", "ordered", "hierarchical"], "hierarchical")
@examples(max_examples=some_of(15), suppress_health_check=[HealthCheck.function_scoped_fixture])
@example(rows=ILL, more=["flu", "gout"], percent=20)
@given(rows=ILLNESSES, more=st.lists(st.sampled_from(list(PATHS)), max_size=6), percent=st.integers(0, 60))
def test_the_publisher_s_table(
    place: Place, distance: str, rows: Rows, more: list[str], percent: int
) -> None:
    if drawn_enough(place):
        return
    whole = [s for _, s in rows if s is not None] + more
    criterion = TCloseness(percent / 100, distance=distance)
    report = audited(place, rows, criterion, {"s": known(whole)})
    order = in_order(known(whole))
    measures = [t_closeness(held, whole, distance, order, PATHS) for held in classes_of(rows)]
    compared(report, measures, criterion.value)
    assert not any("compares classes" in str(warning) for warning in report.warnings)


@SLOW_ON_SPARK
@pytest.mark.parametrize("distance", ["equal", "ordered"])
@examples(max_examples=some_of(15), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows=INCOMES, percent=st.integers(0, 60))
def test_the_published_table(place: Place, distance: str, rows: Rows, percent: int) -> None:
    if drawn_enough(place):
        return
    whole = [s for _, s in rows if s is not None]
    criterion = TCloseness(percent / 100, distance=distance)
    report = audited(place, rows, criterion)
    measures = [t_closeness(held, whole, distance, in_order(known(whole)), {}) for held in classes_of(rows)]
    compared(report, measures, criterion.value)
    assert any("the distribution of the published rows is used" in str(w) for w in report.warnings)


@SLOW_ON_SPARK
@pytest.mark.parametrize("distance", ["equal", "ordered", "hierarchical"])
def test_a_value_that_the_publisher_s_table_lacks_fails(place: Place, distance: str) -> None:
    criterion = TCloseness(1, distance=distance)
    whole = known(["flu", "ulcer", "gout", "flu"])
    report = audited(place, ILL, criterion, {"s": whole})
    assert (report.criteria[0].failing_classes, report.criteria[0].found) == (1, None)
    assert audited(place, ILL[:-1], criterion, {"s": whole}).passed


@SLOW_ON_SPARK
def test_what_a_release_does_not_tell_is_refused(place: Place) -> None:
    with pytest.raises(InputError, match="needs the hierarchy of 's'"):
        audited(place, ILL, TCloseness(1, distance="hierarchical"))
    with pytest.raises(InputError, match="needs an order of 's'"):
        audited(place, ILL, TCloseness(1, distance="ordered"))


@SLOW_ON_SPARK
def test_a_class_exactly_as_far_as_asked_passes(place: Place) -> None:
    rows: Rows = [("a", "1")] * 3 + [("a", "2")] * 2 + [("b", "1")] + [("b", "2")] * 4
    for distance in ("equal", "ordered"):
        exact = TCloseness(0.2, distance=distance)
        assert audited(place, rows, exact).passed
        assert not audited(place, rows, replace(exact, value=0.199999999)).passed
    assert audited(place, [(q, s) for q in "ab" for s in "1123"], TCloseness(0, distance="ordered")).passed


@once_on_spark("level", [0, 1, 2, 3, 7], 2)
@examples(max_examples=some_of(10), suppress_health_check=[HealthCheck.function_scoped_fixture])
@example(rows=ILL)
@given(rows=ILLNESSES)
def test_groups_of_a_level(place: Place, level: int, rows: Rows) -> None:
    if drawn_enough(place):
        return
    whole = known([s for _, s in rows if s is not None] + ["flu"])
    [found] = audited(place, rows, PSensitivity(2, level=level), {"s": whole}).criteria
    measures = [p_sensitive(held, level, PATHS) for held in classes_of(rows)]
    assert found.failing_classes == sum(each < 2 for each in measures)
    if all(measures):
        assert found.found == min(measures)


@SLOW_ON_SPARK
@examples(max_examples=some_of(10), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows=INCOMES, epsilon=st.sampled_from([0, 0.5, 1, 3, 60]), relative=st.booleans())
def test_numbers(place: Place, rows: Rows, epsilon: float, relative: bool) -> None:
    if drawn_enough(place):
        return
    neighbourhood = "relative" if relative else "absolute"
    [found] = audited(place, rows, ValueRange(3)).criteria
    ranges = [value_range(held) for held in classes_of(rows)]
    assert found.failing_classes == sum(each is None or each < 3 for each in ranges)
    if None not in ranges:
        assert found.found == min(each for each in ranges if each is not None)
    [found] = audited(place, rows, WeightedKAnonymity(30)).criteria
    people = [sum(max(Fraction(text), Fraction(0)) for text in held) for held in classes_of(rows)]
    assert found.failing_classes == sum(each < 30 for each in people)
    asked = Proximity(2, epsilon=epsilon, neighbourhood=neighbourhood)
    [found] = audited(place, rows, asked).criteria
    near = [proximity(held, Fraction(str(epsilon)), neighbourhood) for held in classes_of(rows)]
    assert found.failing_classes == sum(each is None or each < 2 for each in near)
    if None not in near:
        worst = min(each for each in near if each is not None)
        assert abs(Fraction(found.found) - worst) <= Fraction(101, 100 * SCORE_UNIT)
