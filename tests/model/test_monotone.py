"""Criteria behave under unions as they declare, and callers that need more refuse them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as given_settings
from hypothesis import strategies as st

from discreet.errors import InputError
from discreet.model.criteria.base import Criterion
from discreet.model.criteria.distinct_diversity import DistinctDiversity
from discreet.model.criteria.k_anonymity import KAnonymity
from discreet.model.requirement import Requirement, is_growing, is_monotone, require_growing, require_monotone
from tests.criteria_of_tests import Share
from tests.drawing import some_of
from tests.oracle.plain_criteria import MostRows, fails
from tests.oracle.random_tables import frequency_set_of, random_hierarchy


@given(st.integers(min_value=0, max_value=10**9))
@given_settings(max_examples=some_of(200), deadline=None)
def test_declared_behaviour_of_unions_is_correct(seed: int) -> None:
    random = np.random.default_rng(seed)
    rows = [((i % 2,), (int(random.integers(0, 3)),)) for i in range(int(random.integers(2, 12)))]
    table = frequency_set_of([random_hierarchy(random, "q", 2, 1)], rows, ["s"], [3])
    criteria: list[Criterion] = [
        KAnonymity(int(random.integers(1, 6))),
        DistinctDiversity(int(random.integers(1, 4)), "s"),
        Share(float(random.choice([0.5, 0.75])), "s"),
    ]
    for criterion in criteria:
        requirement = Requirement(criteria=[criterion])
        one, other = (not fails(table, [i], requirement) for i in (0, 1))
        both = not fails(table, [0, 1], requirement)
        if criterion.monotone and one and other:
            assert both
        if criterion.growing and (one or other):
            assert both
        if min(int(table.counts[i]) for i in (0, 1)) < criterion.least_rows:
            assert not (one and other)


def test_requirement_declares_the_properties_of_all_its_criteria() -> None:
    plain = Requirement(3, 2)
    shares = Requirement(3, criteria=[Share(0.5)])
    sizes = Requirement(3, criteria=[MostRows(7)])
    assert [is_growing(r) for r in (plain, shares, sizes)] == [True, False, False]
    assert [is_monotone(r) for r in (plain, shares, sizes)] == [True, True, False]
    assert (plain.least_rows, shares.least_rows, Requirement(criteria=[Share(0.5)]).least_rows) == (3, 3, 1)
    assert (Requirement(3).of_values, plain.of_values, shares.of_values) == (False, True, True)


def test_other_criteria_are_refused_by_name() -> None:
    requirement = Requirement(3, criteria=[Share(0.5, "s"), MostRows(7)])
    with pytest.raises(InputError, match=r"most-rows=7 of this search: a largest size may fail") as error:
        require_monotone(requirement, "this search", advice="Do otherwise.")
    assert error.value.allowed == "criteria that hold for unions: k, share"
    with pytest.raises(InputError, match=r"share\(s\)=0.5 of this search: share of a value") as error:
        require_growing(requirement, "this search", advice="Do otherwise.")
    assert error.value.allowed == "criteria that no further row breaks: k"
    assert error.value.advice == "Do otherwise."
