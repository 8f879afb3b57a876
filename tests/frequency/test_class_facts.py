"""Class decisions of a frequency set equal those of plain Python, for any criteria and counting code path."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as given_settings
from hypothesis import strategies as st

from discreet.errors import InputError
from discreet.frequency.fact_counter import FactCounter, find_failing_classes
from discreet.model.requirement import Requirement
from tests.criteria_of_tests import Share
from tests.drawing import some_of
from tests.oracle.brute_lattice import signature_of
from tests.oracle.plain_criteria import fails, random_criteria
from tests.oracle.random_tables import frequency_set_of, random_frequency_set, random_hierarchy

SEEDS = st.integers(min_value=0, max_value=10**9)


@given(SEEDS, st.booleans())
@given_settings(max_examples=some_of(300), deadline=None)
def test_failing_classes_equal_plain_python(seed: int, by_subject: bool) -> None:
    random = np.random.default_rng(seed)
    subjects = int(random.integers(1, 12)) if by_subject else None
    table = random_frequency_set(
        random, attributes=2, height=2, leaves=5, rows=24, sensitive=2, subjects=subjects
    )
    classes = int(random.integers(1, 6))
    class_of = random.integers(-1, classes, table.row_types)
    requirement = random_criteria(random, table, monotone=False, counts=not by_subject)
    members = [np.flatnonzero(class_of == c).tolist() for c in range(classes)]
    occupied = [c for c in range(classes) if members[c]]
    expected = {c: fails(table, members[c], requirement) for c in occupied}

    found = find_failing_classes(table, class_of, classes, requirement)
    assert {c: bool(found[c]) for c in occupied} == expected
    counter = FactCounter.of(table, requirement)
    assert {c: not counter.holds(np.array(members[c])) for c in occupied} == expected
    some = random.permutation(np.flatnonzero(class_of >= 0))
    within = counter.failing(class_of[some], classes, some)
    assert {c: bool(within[c]) for c in occupied} == expected

    exact = FactCounter.of(table, requirement, exact=True).facts(class_of, classes)
    for c in occupied:
        counted = (exact.sizes[c], *(values.distinct[c] for values in exact.values if values is not None))
        assert counted == signature_of(table, members[c])


def test_rows_by_value_of_subjects_are_refused() -> None:
    hierarchy = random_hierarchy(np.random.default_rng(1), "q", 2, 1)
    rows = [((0,), (0,)), ((0,), (1,)), ((1,), (1,))]
    table = frequency_set_of([hierarchy], rows, ["s"], [2], [0, 0, 1])
    with pytest.raises(InputError, match=r"share\(s\)=0.5: share of a value counts") as error:
        FactCounter.of(table, Requirement(2, criteria=[Share(0.5)]))
    assert error.value.allowed == "criteria of subjects and of distinct values: k, l"

    one_row_each = frequency_set_of([hierarchy], rows, ["s"], [2], [0, 1, 2])
    everything = np.zeros(2, np.int64)
    assert not find_failing_classes(one_row_each, everything, 1, Requirement(criteria=[Share(0.7)])).any()
    assert find_failing_classes(one_row_each, everything, 1, Requirement(criteria=[Share(0.6)])).all()


def test_rows_by_value_that_were_not_counted_are_refused() -> None:
    hierarchy = random_hierarchy(np.random.default_rng(1), "q", 2, 1)
    table = frequency_set_of([hierarchy], [((0,), (0,)), ((1,), (1,))], ["s"], [2])
    object.__setattr__(table.sensitive[0], "counts", None)
    with pytest.raises(InputError, match="contains no rows by value of 's'"):
        FactCounter.of(table, Requirement(criteria=[Share(0.5)]))
    assert find_failing_classes(table, np.zeros(2, np.int64), 1, Requirement(l=3)).all()
