"""p-sensitivity, ranges and proximity equal plain counting; unions refute those that are not monotone."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st

import discreet
from discreet.errors import InputError
from discreet.lattice.evaluation import evaluate_lattice
from discreet.model.criteria.base import Criterion
from discreet.model.criteria.float_criterion import SCORE_UNIT
from discreet.model.criteria.p_sensitivity import PSensitivity
from discreet.model.criteria.proximity import Proximity
from discreet.model.criteria.value_range import ValueRange
from discreet.model.requirement import Requirement
from discreet.settings import Settings
from tests.criteria.known_tables import PATHS, WAGES, Classes, scores
from tests.criteria.plain_known_values import p_sensitive, proximity, value_range
from tests.criteria.test_t_closeness import Row, classes_of, people, published, spec
from tests.drawing import some_of

__all__ = ["spec"]

ILL, WAGE = st.sampled_from(list(PATHS)), st.sampled_from([*WAGES, "9.0", "10.5"])
NUMBERS = st.lists(st.lists(WAGE, max_size=9), min_size=1, max_size=5)
EPSILONS = st.sampled_from([0, 0.1, 0.5, 1, 2.5, 27.5, 200])


@examples(max_examples=some_of(100), deadline=None)
@given(st.lists(st.lists(ILL, max_size=8), min_size=1, max_size=5), st.integers(0, 5))
def test_p_sensitivity_scores_equal_plain_counts(classes: Classes, level: int) -> None:
    table = [value for held in classes for value in held]
    found = scores(PSensitivity(2, level=level), classes, table)
    assert found == [p_sensitive(held, level, PATHS) for held in classes]


@examples(max_examples=some_of(100), deadline=None)
@given(NUMBERS)
def test_value_range_scores_equal_plain_ranges(classes: Classes) -> None:
    table = [value for held in classes for value in held]
    for held, score in zip(classes, scores(ValueRange(1), classes, table), strict=True):
        found = value_range(held)
        assert score == (-1 if found is None else found * 10**6)
        assert (score >= ValueRange(2.5).threshold) == (found is not None and found >= Fraction(5, 2))


@examples(max_examples=some_of(150), deadline=None)
@given(NUMBERS, EPSILONS, st.sampled_from(["absolute", "relative"]), st.sampled_from([1, 1.5, 2, 3]))
def test_proximity_scores_equal_plain_python(
    classes: Classes, epsilon: float, neighbourhood: str, m: float
) -> None:
    table = [value for held in classes for value in held]
    criterion = Proximity(m, epsilon=epsilon, neighbourhood=neighbourhood)
    for held, score in zip(classes, scores(criterion, classes, table), strict=True):
        found = proximity(held, Fraction(str(epsilon)), neighbourhood)
        assert (score >= criterion.threshold) == (found is not None and found >= Fraction(str(m)))
        if found is not None:
            assert abs(Fraction(score, SCORE_UNIT) - found) <= Fraction(101, 100 * SCORE_UNIT)


@examples(max_examples=some_of(100), deadline=None)
@given(
    st.lists(ILL, min_size=1), st.lists(ILL), st.integers(0, 3), st.lists(WAGE, min_size=1), st.lists(WAGE)
)
def test_growing_criteria_grow(
    ill: list[str], ills: list[str], level: int, wage: list[str], wages: list[str]
) -> None:
    one, both = scores(PSensitivity(1, level=level), [ill, ill + ills], ill + ills)
    assert both >= one
    one, both = scores(ValueRange(1), [wage, wage + wages], wage + wages)
    assert both >= one
    assert PSensitivity.growing
    assert ValueRange.growing


def test_proximity_is_not_monotone() -> None:
    one, other = ["5", "9"], ["4", "6"]
    criterion = Proximity(2, epsilon=1)
    found = scores(criterion, [one, other, one + other], one + other)
    assert [score >= criterion.threshold for score in found] == [True, True, False]
    assert (Proximity.monotone, Proximity.growing) == (False, False)


CRITERIA: list[Criterion] = [
    PSensitivity(3, "ill", level=1),
    PSensitivity(2, "ill", level=2),
    ValueRange(100, "wage"),
    Proximity(2.5, "wage", epsilon=3),
    Proximity(2, "wage", epsilon=0.25, neighbourhood="relative"),
]


def passes(criterion: Criterion, held: list[Row]) -> bool:
    """Judge one class in plain Python; wages are never NULL."""
    if isinstance(criterion, PSensitivity):
        return p_sensitive([row[2] for row in held if row[2]], criterion.level, PATHS) >= criterion.value
    numbers = [row[3] for row in held]
    if isinstance(criterion, Proximity):
        found = proximity(numbers, Fraction(str(criterion.epsilon)), criterion.neighbourhood)
    else:
        found = value_range(numbers)
    return found is not None and found >= Fraction(str(criterion.value))


@pytest.mark.parametrize("criterion", CRITERIA, ids=str)
def test_every_node_and_a_release_meet_the_criterion_of_plain_python(
    criterion: Criterion, spec: Path, settings: Settings, tmp_path: Path
) -> None:
    table = discreet.open(spec)
    requirement = Requirement(2, criteria=[criterion])
    evaluated = evaluate_lattice(table.frequency_set, settings, criteria=[criterion])
    for levels in [(a, c) for a in range(4) for c in range(2)]:
        held = classes_of(people(), levels)
        expected = sum(len(c) for c in held if len(c) < 2 or not passes(criterion, c))
        assert evaluated.suppressed(levels, requirement) == expected
    release = table.publish(
        {"age": 1, "city": 0}, tmp_path / "out.csv", k=2, criteria=[criterion], max_suppressed="99%"
    )
    assert release.audit.passed
    assert all(passes(criterion, held) for held in published(release.path))
    assert discreet.audit(release.path, spec=spec).passed


@pytest.mark.parametrize("criterion", CRITERIA, ids=str)
def test_mondrian_meets_monotone_criteria(criterion: Criterion, spec: Path, tmp_path: Path) -> None:
    table = discreet.open(spec)
    if isinstance(criterion, Proximity):
        with pytest.raises(InputError, match=r"epsilon_m\(wage"):
            table.publish("mondrian", tmp_path / "out.csv", k=2, criteria=[criterion])
        return
    for model in ("mondrian", "local"):
        release = table.publish(model, tmp_path / f"{model}.csv", k=2, criteria=[criterion])
        classes = published(release.path)
        assert len(classes) > 1
        assert all(passes(criterion, held) for held in classes)
